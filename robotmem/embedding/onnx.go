//go:build onnx

package embedding

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/pipelines"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	onnxFile = "model.onnx"
	// onnxBatch keeps a request of full-length texts within the time limit: in
	// Go alone a model of MiniLM's size takes some 0.15 s for a short text.
	onnxBatch = 8
	// sentenceOutput is what models name the output that needs no pooling.
	sentenceOutput = "sentence_embedding"
)

// onnx runs a model in this process, in Go alone, one text at a time.
type onnx struct {
	pipeline *pipelines.FeatureExtractionPipeline
	turn     chan struct{} // holds one element while nobody computes
}

var _ backend = (*onnx)(nil)

// openONNX reads model.onnx and tokenizer.json in dir.
func openONNX(dir string, o Options) (robotmem.Embedder, error) {
	identity, name, err := onnxIdentity(dir)
	if err != nil {
		return nil, err
	}
	session, err := hugot.NewGoSession()
	if err != nil {
		return nil, invalid("the runtime of ONNX models: %w", err)
	}
	b := &onnx{turn: make(chan struct{}, 1)}
	b.turn <- struct{}{}
	if b.pipeline, err = onnxPipeline(session, dir); err != nil {
		return nil, invalid("the model in %s: %w", dir, errors.Join(err, session.Destroy()))
	}
	o.Batch = min(o.Batch, onnxBatch)
	e := newEmbedder(identity, name, b, o, nil)
	e.close = sync.OnceFunc(func() {
		<-b.turn // and never given back
		if err := session.Destroy(); err != nil {
			e.log.Warn("the runtime of the model did not end well", "error", err)
		}
		close(b.turn)
	})
	return e, nil
}

// onnxIdentity returns the identity of the model and its folder's name.
func onnxIdentity(dir string) (identity, name string, err error) {
	// The hub keeps models in a folder of their own, where the runtime cannot
	// find them.
	if _, err := os.Stat(filepath.Join(dir, "onnx", onnxFile)); err == nil {
		return "", "", invalid("%s has its model in the folder onnx: move %s up, beside tokenizer.json", dir, onnxFile)
	}
	hash := sha256.New()
	for _, needed := range []string{onnxFile, "tokenizer.json"} {
		f, err := os.Open(filepath.Join(dir, needed))
		if err != nil {
			return "", "", missingFile(dir, needed, err)
		}
		_, err = io.Copy(hash, f)
		f.Close()
		if err != nil {
			return "", "", invalid("%w", err)
		}
	}
	if name, err = folderName(dir); err != nil {
		return "", "", err
	}
	return fmt.Sprintf("onnx:%s@%x", name, hash.Sum(nil)[:4]), name, nil
}

// onnxPipeline prefers the output that the model pooled itself. Without one the
// tokens' vectors are averaged, which is wrong for models that put the meaning
// into the first token.
func onnxPipeline(session *hugot.Session, dir string) (p *pipelines.FeatureExtractionPipeline, err error) {
	defer recovered(&err)
	config := hugot.FeatureExtractionConfig{
		ModelPath: dir, OnnxFilename: onnxFile, Name: sentenceOutput,
		Options: []hugot.FeatureExtractionOption{pipelines.WithOutputName(sentenceOutput)},
	}
	if p, err = hugot.NewPipeline(session, config); err == nil {
		return p, nil
	}
	var pooling struct {
		First bool `json:"pooling_mode_cls_token"`
		Mean  bool `json:"pooling_mode_mean_tokens"`
	}
	if data, err := os.ReadFile(filepath.Join(dir, "1_Pooling", "config.json")); err == nil {
		if json.Unmarshal(data, &pooling) == nil && pooling.First && !pooling.Mean {
			return nil, fmt.Errorf("it wants the first token's vector, and only means are made: use an export with the output %s", sentenceOutput)
		}
	}
	config.Name, config.Options = "mean", nil
	return hugot.NewPipeline(session, config)
}

// embed implements backend. The context is looked at between texts.
func (b *onnx) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	defer recovered(&err)
	select {
	case _, open := <-b.turn:
		if !open {
			return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("the embedder is closed")}
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { b.turn <- struct{}{} }()
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := b.pipeline.RunPipeline([]string{text})
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, out.Embeddings...)
	}
	return vectors, nil
}

// recovered makes a panic an error: the runtime panics on shapes and operators
// that it does not know, and a robot must not stop for that.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("stopped: %v", r)
	}
}

// explain implements backend.
func (b *onnx) explain(err error) *robotmem.Error { return explainLocal(err) }
