package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const (
	nodeName      = "robotmem"
	nodeWordsName = "robotmem-words"
)

// node is a robotmem node on a file. With meaning set it has an embedder; otherwise it
// ranks by words only.
type node struct {
	meaning bool

	dir  string
	e    *local.Node
	rows map[int64]int // by memory
}

func (n *node) load(ctx context.Context, c *corpus, clock *clock) (err error) {
	if n.dir, err = os.MkdirTemp("", "robotmem-compare-"); err != nil {
		return err
	}
	// The other engines rank by the words of a text alone, so what else counts has no weight here: words of
	// the context, outcomes, the episode around a memory, and that it is from the real world.
	weights := map[string]float64{"vector": meaningWeight, "context": 0, "evidence": 0, "neighbours": 0}
	o := local.Options{RealWeight: 1, Weights: weights, Fusion: "rrf"}
	if n.meaning {
		clock.unpaid(func() { o.Embedder = newCachedVectors(c) })
	}
	if n.e, err = local.Open(ctx, filepath.Join(n.dir, "memory.db"), o); err != nil {
		return err
	}
	if err := n.learn(ctx, c, clock); err != nil {
		return err
	}
	if n.meaning {
		if err := n.e.Reembed(ctx, func(done, total int64) { clock.progress("vectors", int(done), int(total)) }); err != nil {
			return err
		}
		s, err := n.e.Stats(ctx, &admin.StatsRequest{})
		if err != nil {
			return err
		}
		if s.Backlog != 0 {
			return fmt.Errorf("%d memories have no vector", s.Backlog)
		}
	}
	return n.e.Warm(ctx)
}

func (n *node) learn(ctx context.Context, c *corpus, clock *clock) error {
	n.rows = make(map[int64]int, c.len())
	clock.pause() // while facts are generated
	defer clock.resume()
	_, err := facts(c.len(), func(batch []robotmem.LearnRequest) error {
		clock.resume()
		defer clock.pause()
		// The other engines store duplicates too.
		res, err := n.e.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: batch, KeepDuplicates: true})
		if err != nil {
			return err
		}
		for _, r := range res.Results {
			if r.Error != nil {
				return fmt.Errorf("row %d: %s", len(n.rows), r.Error.Detail)
			}
			n.rows[r.MemoryID] = len(n.rows)
		}
		clock.progress("learnt", len(n.rows), c.len())
		return nil
	})
	return err
}

func (n *node) ways() []way {
	rare := robotmem.Object{rarePath: rareValue}
	if !n.meaning {
		return []way{
			{"words", byWords, false, n.asker("bm25_only", nil, question.asWords)},
			{"words, filter", byWords, true, n.asker("bm25_only", rare, question.asWords)},
		}
	}
	return []way{
		{"hybrid", byBoth, false, n.asker("hybrid", nil, question.asWords)},
		{"hybrid, filter", byBoth, true, n.asker("hybrid", rare, question.asWords)},
		{"meaning", byMeaning, false, n.asker("vec_only", nil, question.withoutWords)},
		{"meaning, filter", byMeaning, true, n.asker("vec_only", rare, question.withoutWords)},
	}
}

// asker returns a recall that must have the given mode and no degraded signal.
func (n *node) asker(mode string, filter robotmem.Object, spell func(question) string) func(context.Context, *question) ([]int, error) {
	anyConfidence := 0.0
	return func(ctx context.Context, q *question) ([]int, error) {
		res, err := n.e.Recall(ctx, &robotmem.RecallRequest{Query: spell(*q), N: ten, MinConfidence: &anyConfidence, ContextFilter: filter})
		if err != nil {
			return nil, err
		}
		if res.Mode != mode || len(res.Degraded) > 0 && len(res.Memories) > 0 {
			return nil, fmt.Errorf("answered by %s, degraded %v, want %s", res.Mode, res.Degraded, mode)
		}
		if slices.ContainsFunc(res.Notes, func(note string) bool { return strings.Contains(note, "shares a word") }) {
			return nil, nil // what passes the filter, which no other engine answers
		}
		rows := make([]int, len(res.Memories))
		for i := range res.Memories {
			rows[i] = n.rows[res.Memories[i].MemoryID]
		}
		return rows, nil
	}
}

func (n *node) close() error {
	var err error
	if n.e != nil {
		err = n.e.Close()
	}
	if n.dir != "" {
		err = errors.Join(err, os.RemoveAll(n.dir))
	}
	return err
}

func (q question) asWords() string { return q.text }

// withoutWords returns the question's number in binary, with ! for 1 and ? for 0. It
// contains no words, so that a node with an embedder ranks by the vector only.
func (q question) withoutWords() string {
	return strings.NewReplacer("1", "!", "0", "?").Replace(fmt.Sprintf("%b", q.number))
}

// cachedVectors is an embedder with precomputed vectors, so that only the search is
// measured and not a model.
type cachedVectors struct {
	eval.WordVectors
	known map[string][]float32
}

var _ robotmem.Embedder = (*cachedVectors)(nil)

func newCachedVectors(c *corpus) *cachedVectors {
	known := make(map[string][]float32, c.len()+2*len(c.questions))
	for row, s := range c.texts {
		known[s] = c.vector(row)
	}
	for _, q := range c.questions {
		known[q.asWords()], known[q.withoutWords()] = q.vector, q.vector
	}
	return &cachedVectors{known: known}
}

// Embed implements robotmem.Embedder.
func (v *cachedVectors) Embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, s := range texts {
		if known, ok := v.known[s]; ok {
			out[i] = slices.Clone(known) // the caller may change it
			continue
		}
		made, err := v.WordVectors.Embed(ctx, purpose, texts[i:i+1])
		if err != nil {
			return nil, err
		}
		out[i] = made[0]
	}
	return out, nil
}
