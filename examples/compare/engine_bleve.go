package main

import (
	"context"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"
)

// bleveEngine is bleve with its scorch index in memory. Each batch makes one segment;
// the index in memory never merges segments.
type bleveEngine struct {
	index bleve.Index
}

func (e *bleveEngine) load(ctx context.Context, c *corpus, clock *clock) (err error) {
	if e.index, err = bleve.NewUsing("", bleveMapping(), scorch.Name, scorch.Name, nil); err != nil {
		return err
	}
	batch := e.index.NewBatch()
	for row, s := range c.texts {
		if err := batch.Index(strconv.Itoa(row), map[string]string{"insight": s, "trial": trial(c, row)}); err != nil {
			return err
		}
		if batch.Size() < bleveBatch && row+1 < c.len() {
			continue
		}
		if err := e.index.Batch(batch); err != nil {
			return err
		}
		batch.Reset()
		clock.progress("indexed", row+1, c.len())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// bleveBatch is the batch size with the fastest queries; 5,000 and 100,000 are slower
// by a few percent.
const bleveBatch = 25000

// bleveMapping indexes stemmed English words, ranked by BM25, and the trial as one
// term. It stores no texts.
func bleveMapping() mapping.IndexMapping {
	words := bleve.NewTextFieldMapping()
	words.Analyzer = en.AnalyzerName
	words.Store, words.IncludeTermVectors, words.IncludeInAll, words.DocValues = false, false, false, false
	exact := bleve.NewTextFieldMapping()
	exact.Analyzer = keyword.Name
	exact.Store, exact.IncludeTermVectors, exact.IncludeInAll, exact.DocValues = false, false, false, false

	fact := bleve.NewDocumentStaticMapping()
	fact.AddFieldMappingsAt("insight", words)
	fact.AddFieldMappingsAt("trial", exact)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = fact
	m.ScoringModel = index.BM25Scoring
	return m
}

func (e *bleveEngine) ways() []way {
	return []way{
		{"words", byFTS5, false, func(ctx context.Context, q *question) ([]int, error) {
			return e.ask(ctx, anyWord(q))
		}},
		{"words, filter", byFTS5, true, func(ctx context.Context, q *question) ([]int, error) {
			rare := bleve.NewTermQuery(rareValue)
			rare.SetField("trial")
			rare.SetBoost(0) // a filter without influence on the score
			return e.ask(ctx, bleve.NewConjunctionQuery(anyWord(q), rare))
		}},
	}
}

// anyWord matches documents with any of the words.
func anyWord(q *question) query.Query {
	m := bleve.NewMatchQuery(q.text)
	m.SetField("insight")
	return m
}

func (e *bleveEngine) ask(ctx context.Context, q query.Query) ([]int, error) {
	res, err := e.index.SearchInContext(ctx, bleve.NewSearchRequestOptions(q, ten, 0, false))
	if err != nil {
		return nil, err
	}
	rows := make([]int, len(res.Hits))
	for i, h := range res.Hits {
		if rows[i], err = strconv.Atoi(h.ID); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (e *bleveEngine) close() error {
	if e.index == nil {
		return nil
	}
	return e.index.Close()
}

// trial is the filtered field, for engines that do not store a context.
func trial(c *corpus, row int) string {
	if c.rare[row] {
		return rareValue
	}
	return "routine"
}
