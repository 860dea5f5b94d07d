package main

import (
	"context"
	"errors"
	"runtime"
	"strconv"

	"github.com/philippgille/chromem-go"
)

// chromemEngine is chromem-go in memory: it compares a query with every vector, on
// all cores.
type chromemEngine struct {
	facts *chromem.Collection
}

func (e *chromemEngine) load(ctx context.Context, c *corpus, clock *clock) (err error) {
	noModel := func(context.Context, string) ([]float32, error) {
		return nil, errors.New("every vector is handed in")
	}
	if e.facts, err = chromem.NewDB().CreateCollection("facts", nil, noModel); err != nil {
		return err
	}
	own := c.ownVectors()
	for start := 0; start < c.len(); start += batchRows {
		docs := make([]chromem.Document, min(batchRows, c.len()-start))
		for i := range docs {
			row := start + i
			docs[i] = chromem.Document{ID: strconv.Itoa(row), Content: c.texts[row], Embedding: own(row), Metadata: map[string]string{"trial": trial(c, row)}}
		}
		if err := e.facts.AddDocuments(ctx, docs, runtime.NumCPU()); err != nil {
			return err
		}
		clock.progress("added", e.facts.Count(), c.len())
	}
	return nil
}

func (e *chromemEngine) ways() []way {
	return []way{
		{"vectors, exact", byMeaning, false, e.asker(nil)},
		{"vectors, exact, filter", byMeaning, true, e.asker(map[string]string{"trial": rareValue})},
	}
}

func (e *chromemEngine) asker(where map[string]string) func(context.Context, *question) ([]int, error) {
	return func(ctx context.Context, q *question) ([]int, error) {
		hits, err := e.facts.QueryEmbedding(ctx, q.vector, ten, where, nil)
		if err != nil {
			return nil, err
		}
		rows := make([]int, len(hits))
		for i, h := range hits {
			if rows[i], err = strconv.Atoi(h.ID); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
}

func (e *chromemEngine) close() error { return nil }

// trial is the filtered field, for engines that do not store a context.
func trial(c *corpus, row int) string {
	if c.rare[row] {
		return rareValue
	}
	return "routine"
}
