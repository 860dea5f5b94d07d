// Package onnx runs sentence embedding models in the ONNX format, in Go alone.
//
// It is a module of its own, as its libraries would add 12 MB to every robotmem
// for the few that use it. A program hands its Runtime to embedding.Open:
//
//	o := embedding.Options{Runtimes: map[string]embedding.Runtime{"onnx": onnx.Runtime()}}
//	e, err := embedding.Open("onnx:all-MiniLM-L6-v2", o)
//
// `make onnx` in the root of the source code builds bin/robotmem-onnx, the
// program robotmem with this embedder.
package onnx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/pipelines"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

const (
	modelFile     = "model.onnx"
	tokenizerFile = "tokenizer.json"
	// sentenceOutput is the usual name of an output that needs no pooling.
	sentenceOutput = "sentence_embedding"
)

// Runtime reads folders with model.onnx and tokenizer.json.
func Runtime() embedding.Runtime {
	return embedding.Runtime{Files: []string{modelFile, tokenizerFile}, Prompts: true, Open: open}
}

// model computes one text at a time.
type model struct {
	pipeline *pipelines.FeatureExtractionPipeline

	idle  chan struct{} // holds one element while no call uses the pipeline; closed by Close
	close func() error
}

var _ embedding.Model = (*model)(nil)

func open(dir string) (embedding.Model, error) {
	for _, name := range []string{modelFile, tokenizerFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}

	session, err := hugot.NewGoSession()
	if err != nil {
		return nil, fmt.Errorf("the runtime: %w", err)
	}

	m := &model{idle: make(chan struct{}, 1)}
	m.idle <- struct{}{}
	m.close = sync.OnceValue(func() error {
		// Not put back: no call starts again.
		<-m.idle
		defer close(m.idle)
		return session.Destroy()
	})
	if m.pipeline, err = newPipeline(session, dir); err != nil {
		return nil, errors.Join(err, session.Destroy())
	}

	return m, nil
}

// Close implements embedding.Model. It waits for the call in progress.
func (m *model) Close() error { return m.close() }

// newPipeline prefers the output that the model pooled itself. Without one the tokens' vectors
// are averaged, which is wrong for models that are trained to use the vector of the first token.
func newPipeline(session *hugot.Session, dir string) (p *pipelines.FeatureExtractionPipeline, err error) {
	defer recovered(&err)
	config := hugot.FeatureExtractionConfig{
		ModelPath: dir, OnnxFilename: modelFile, Name: sentenceOutput,
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

// Embed implements embedding.Model. It checks the context between texts.
func (m *model) Embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	defer recovered(&err)

	select {
	case _, open := <-m.idle:
		if !open {
			return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("the embedder is closed")}
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	defer func() { m.idle <- struct{}{} }()

	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := m.pipeline.RunPipeline([]string{text})
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, out.Embeddings...)
	}

	return vectors, nil
}

// recovered turns a panic into an error: the runtime panics on shapes and
// operators that it does not know, and robotmem must go on without them.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("stopped: %v", r)
	}
}
