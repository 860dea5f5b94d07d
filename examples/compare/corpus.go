package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

const (
	// dims is the dimension of the vectors of eval.WordVectors.
	dims = 384
	// ten is the number of results of each query.
	ten = 10
	// batchRows is the number of rows per batch, for engines with batches.
	batchRows = 5000

	rarePath  = "task.trial"
	rareValue = "rare"
)

// corpus is the input of every engine: row i is texts[i], vector(i) and rare[i].
// Engines return these row numbers.
type corpus struct {
	texts     []string
	rare      []bool    // of the rare trial, 1 in 1,000
	vectors   []float32 // row after row, each of length 1
	questions []question
}

// question is a query for every engine, by its words or by its vector.
type question struct {
	number int
	text   string
	vector []float32 // of length 1
}

func (c *corpus) len() int { return len(c.texts) }

func (c *corpus) vector(row int) []float32 { return c.vectors[row*dims : (row+1)*dims : (row+1)*dims] }

// ownVectors copies the vectors for an engine that keeps references to them, so that
// the measured memory of the engine includes them.
func (c *corpus) ownVectors() func(row int) []float32 {
	own := corpus{vectors: slices.Clone(c.vectors)}
	return own.vector
}

// facts generates the rows again, with their contexts, in batches. The corpus does
// not store contexts, because a context takes more memory than the rest of a row.
func facts(n int, each func(batch []robotmem.LearnRequest) error) (*eval.Facts, error) {
	f := eval.NewFacts()
	for start := 0; start < n; start += batchRows {
		batch := make([]robotmem.LearnRequest, min(batchRows, n-start))
		for i := range batch {
			batch[i] = f.Fact(start + i)
		}
		if err := each(batch); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// newCorpus generates n rows and the questions with all vectors, so that the
// measured times do not include the time of a model.
func newCorpus(ctx context.Context, n, questions int, progress progress) (*corpus, error) {
	c := &corpus{texts: make([]string, 0, n), rare: make([]bool, 0, n), vectors: make([]float32, 0, n*dims)}
	var model eval.WordVectors
	f, err := facts(n, func(batch []robotmem.LearnRequest) error {
		texts := make([]string, len(batch))
		for i, r := range batch {
			texts[i] = r.Insight
			task, _ := r.Context["task"].(map[string]any)
			c.rare = append(c.rare, task["trial"] == rareValue)
		}
		vectors, err := embed(ctx, &model, robotmem.ForMemory, texts)
		for _, v := range vectors {
			c.vectors = append(c.vectors, v...)
		}
		c.texts = append(c.texts, texts...)
		progress("rows and their vectors", len(c.texts), n)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range questions {
		text := f.Query()
		vectors, err := embed(ctx, &model, robotmem.ForQuestion, []string{text})
		if err != nil {
			return nil, err
		}
		c.questions = append(c.questions, question{number: i, text: text, vector: vectors[0]})
	}
	return c, nil
}

// embed returns vectors of length 1.
func embed(ctx context.Context, model *eval.WordVectors, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	vectors, err := model.Embed(ctx, purpose, texts)
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		if len(v) != dims {
			return nil, fmt.Errorf("a vector of %d numbers, want %d", len(v), dims)
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for i := range v {
			v[i] = float32(float64(v[i]) / math.Sqrt(sum))
		}
	}
	return vectors, nil
}
