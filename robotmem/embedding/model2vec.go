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

	"github.com/robotmem/robotmem-go/robotmem"
)

// A Model2Vec model is a table with a vector for each token. The vector of a text
// is the mean of the vectors of its tokens. It needs no other process and takes
// microseconds. https://github.com/MinishLab/model2vec

// maxTokens is how many tokens of a text count, unless config.json has
// max_length.
const maxTokens = 512

// model2Vec is a model. It is immutable.
type model2Vec struct {
	tokenizer *tokenizer
	vectors   *tensor
	rows      *tensor // the row of vectors for each token, nil if token i has row i
	weights   *tensor // the weight of each token, nil if all weights are 1
	normalize bool
	maxTokens int
	maxRunes  int // a text is cut to this length before it is tokenized
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
	config, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	tensors, err := readTensors(weights)
	if err != nil {
		return nil, fmt.Errorf("model.safetensors: %w", err)
	}
	m := &model2Vec{vectors: tensors["embeddings"], rows: tensors["mapping"], weights: tensors["weights"]}
	if m.vectors == nil { // the name in files of sentence-transformers
		m.vectors = tensors["embedding.weight"]
	}
	if m.vectors == nil || m.vectors.cols < 2 {
		return nil, errors.New("model.safetensors has no matrix named embeddings: it is not a Model2Vec model")
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
	m.maxRunes = m.maxTokens * m.tokenizer.medianRunes
	return m, m.validate()
}

// validate checks that every token has a row, so that embedding needs no checks.
func (m *model2Vec) validate() error {
	tokens := m.tokenizer.size
	if m.weights != nil && m.weights.rows < tokens {
		return fmt.Errorf("%d tokens, but %d weights", tokens, m.weights.rows)
	}
	if m.rows == nil {
		if m.vectors.rows < tokens {
			return fmt.Errorf("%d tokens, but %d vectors", tokens, m.vectors.rows)
		}
		return nil
	}
	if m.rows.rows < tokens {
		return fmt.Errorf("%d tokens, but a mapping of %d", tokens, m.rows.rows)
	}
	for i := range m.rows.rows {
		if row := m.rows.at(i); row < 0 || row >= float64(m.vectors.rows) || row != math.Trunc(row) {
			return fmt.Errorf("token %d is mapped to row %v of %d", i, row, m.vectors.rows)
		}
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
			return nil, robotmem.Errorf(robotmem.Invalid, "texts", "one has no word that the model knows; its language or script may not be the model's")
		}
	}
	return vectors, nil
}

// vector returns the mean of the vectors of the tokens, nil without tokens or if
// the vectors cancel out.
func (m *model2Vec) vector(text string) []float32 {
	tokens := m.tokenizer.tokens(firstRunes(text, m.maxRunes))
	tokens = tokens[:min(len(tokens), m.maxTokens)]
	mean := make([]float32, m.vectors.cols)
	known := 0
	for _, token := range tokens {
		if token == m.tokenizer.words.unknown {
			continue // but it counts towards maxTokens, as in the original
		}
		known++
		row, weight := token, float32(1)
		if m.rows != nil {
			row = int(m.rows.at(token))
		}
		if m.weights != nil {
			weight = float32(m.weights.at(token))
		}
		m.vectors.addRow(mean, row, weight)
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

// firstRunes returns the first n runes of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
