package embedding

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/nlpodyssey/safetensors"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A Model2Vec model is a table with a vector for each token. The vector of a text
// is the mean of the vectors of its tokens. It needs no other process and takes
// microseconds. https://github.com/MinishLab/model2vec

// maxTokens is how many tokens of a text count, unless config.json has max_length.
const maxTokens = 512

// model2Vec is a model. It is immutable.
type model2Vec struct {
	tokenizer *tokenizer
	vectors   *tensor // a row for each token
	weights   *tensor // the weight of each token, nil if all weights are 1
	normalize bool
	maxTokens int
}

var _ Model = (*model2Vec)(nil)

func openModel2Vec(dir string) (Model, error) {
	weights, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return nil, err
	}

	words, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		return nil, err
	}

	// The config is optional: models in the folder 0_StaticEmbedding have none.
	config, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}

	m := &model2Vec{}
	if err := m.readWeights(weights); err != nil {
		return nil, fmt.Errorf("model.safetensors: %w", err)
	}

	settings := struct {
		Normalize bool `json:"normalize"`
		MaxLength int  `json:"max_length"`
	}{}
	if len(config) > 0 {
		if err := json.Unmarshal(config, &settings); err != nil {
			return nil, fmt.Errorf("config.json: %w", err)
		}
	}

	m.normalize, m.maxTokens = settings.Normalize, cmp.Or(max(settings.MaxLength, 0), maxTokens)
	if m.tokenizer, err = readTokenizer(words); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}

	return m, m.validate()
}

// readWeights reads the vectors, and the weights if there are any.
func (m *model2Vec) readWeights(data []byte) error {
	file, err := safetensors.Deserialize(data)
	if err != nil {
		return fmt.Errorf("the file is incomplete or of another format: %w", err)
	}
	if _, mapped := file.Tensor("mapping"); mapped {
		return errors.New("models with a quantized vocabulary (a tensor named mapping) are not supported")
	}

	// Files of sentence-transformers have another name for the same matrix.
	m.vectors, err = newTensor(file, "embeddings")
	if m.vectors == nil && err == nil {
		m.vectors, err = newTensor(file, "embedding.weight")
	}
	if err != nil {
		return err
	}
	if m.vectors == nil || m.vectors.cols < 2 {
		return errors.New("there is no matrix named embeddings: it is not a Model2Vec model")
	}

	m.weights, err = newTensor(file, "weights")

	return err
}

// validate checks that every token has a row, so that embedding needs no checks.
func (m *model2Vec) validate() error {
	tokens := m.tokenizer.size
	if m.weights != nil && m.weights.rows*m.weights.cols < tokens {
		return fmt.Errorf("%d tokens, but %d weights", tokens, m.weights.rows)
	}
	if m.vectors.rows < tokens {
		return fmt.Errorf("%d tokens, but %d vectors", tokens, m.vectors.rows)
	}

	return nil
}

// Embed implements Model. It refuses a text without any word that the model
// knows, because the text would have no vector.
func (m *model2Vec) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if vectors[i] = m.vector(text); vectors[i] == nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "texts", "one has no word that the model knows; "+
				"its language or script may not be the model's")
		}
	}

	return vectors, nil
}

// vector returns the mean of the vectors of the tokens, nil without tokens or if
// the vectors cancel out.
func (m *model2Vec) vector(text string) []float32 {
	tokens := m.tokenizer.tokens(text)
	tokens = tokens[:min(len(tokens), m.maxTokens)]
	mean := make([]float32, m.vectors.cols)
	known := 0

	for _, token := range tokens {
		if token == m.tokenizer.words.unknown {
			// But it counts towards maxTokens, as in the original.
			continue
		}
		known++
		weight := float32(1)
		if m.weights != nil {
			weight = float32(m.weights.at(token))
		}
		m.vectors.addRow(mean, token, weight)
	}

	var squares float64

	for i := range mean {
		mean[i] /= float32(max(known, 1))
		squares += float64(mean[i]) * float64(mean[i])
	}

	if squares == 0 {
		return nil
	}

	if m.normalize {
		for i := range mean {
			mean[i] = float32(float64(mean[i]) / math.Sqrt(squares))
		}
	}

	return mean
}

// Close implements Model. The model holds nothing but memory.
func (m *model2Vec) Close() error { return nil }
