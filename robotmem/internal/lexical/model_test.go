package lexical_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
)

func fts5(float64) lexical.Params { return lexical.Params{K1: 1.2, B: 0.75} }

// model is the index as its contract reads: a map, and every score computed
// from it.
type model struct {
	docs   map[int64]lexical.Document
	params func(float64) lexical.Params
}

func (m *model) apply(put []lexical.Document, remove []int64) {
	for _, id := range remove {
		delete(m.docs, id)
	}
	for _, d := range put {
		m.docs[d.ID] = d
	}
}

func (m *model) search(q lexical.Query) []lexical.Hit {
	rows, total := 0, 0
	df := make([]int, len(q.Terms)+1)
	counts := map[int64][]int{}
	for id, d := range m.docs {
		if q.Collection != lexical.All && d.Collection != q.Collection {
			continue
		}
		rows++
		total += len(d.Terms)
		counts[id] = m.counts(q, d)
		for i, n := range counts[id] {
			if n > 0 || i == len(q.Terms) && m.whole(q, d) {
				df[i]++
			}
		}
	}
	average := float64(total) / float64(rows)
	p := m.params(average)
	var hits []lexical.Hit
	for id, fs := range counts {
		if q.Within != nil && (id < 0 || !q.Within.Test(uint(id))) {
			continue
		}
		score := 0.0
		for i, f := range fs {
			if f > 0 {
				n := float64(rows)
				idf := max(1e-6, math.Log((n-float64(df[i])+0.5)/(float64(df[i])+0.5)))
				norm := float64(p.K1 * (1 - p.B + float64(p.B*float64(len(m.docs[id].Terms)))/average))
				score += float64(idf * (float64(float64(f)*(p.K1+1)) / (float64(f) + norm)))
			}
		}
		if score > 0 {
			hits = append(hits, lexical.Hit{ID: id, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b lexical.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	if q.N > 0 && len(hits) > q.N {
		hits = hits[:q.N]
	}
	return hits
}

// counts are how often a document holds each term, the unfinished one last.
func (m *model) counts(q lexical.Query, d lexical.Document) []int {
	counts := make([]int, len(q.Terms)+1)
	for _, s := range d.Terms {
		if i := slices.Index(q.Terms, s); i >= 0 {
			counts[i]++
		}
		if q.Unfinished != nil && slices.Contains(q.Unfinished.Longer, s) && !m.whole(q, d) {
			counts[len(q.Terms)]++
		}
	}
	return counts
}

// whole reports whether a document holds an unfinished word as typed.
func (m *model) whole(q lexical.Query, d lexical.Document) bool {
	return q.Unfinished != nil && slices.ContainsFunc(d.Terms, func(s string) bool { return slices.Contains(q.Unfinished.Whole, s) })
}

// corpus draws texts by Zipf's law over a vocabulary, and sometimes repeats a text,
// so that many scores tie.
type corpus struct {
	r     *rand.Rand
	zipf  *rand.Zipf
	words int
	texts [][]string
}

func newCorpus(seed uint64, words int) *corpus {
	r := rand.New(rand.NewPCG(seed, 1))
	return &corpus{r: r, zipf: rand.NewZipf(r, 1.1, 2, uint64(words-1)), words: words}
}

func (c *corpus) word() string { return fmt.Sprintf("w%d", c.zipf.Uint64()) }

func (c *corpus) text() []string {
	switch {
	case c.r.IntN(40) == 0:
		return nil
	case len(c.texts) > 0 && c.r.IntN(4) == 0:
		return c.texts[c.r.IntN(len(c.texts))]
	}
	words := make([]string, 1+c.r.IntN(30))
	if c.r.IntN(100) == 0 {
		words = make([]string, 600+c.r.IntN(300))
	}
	for i := range words {
		words[i] = c.word()
	}
	if len(c.texts) < 200 {
		c.texts = append(c.texts, words)
	}
	return words
}

func (c *corpus) question() []string {
	var terms []string
	for range 1 + c.r.IntN(6) {
		w := c.word()
		if c.r.IntN(3) == 0 {
			w = fmt.Sprintf("w%d", c.r.IntN(c.words*5/4)) // rare or unknown
		}
		if !slices.Contains(terms, w) {
			terms = append(terms, w)
		}
	}
	return terms
}

// unfinished is a prefix of other words, and perhaps of one of the query.
func (c *corpus) unfinished(q *lexical.Query) {
	q.Unfinished = &lexical.Unfinished{}
	for range 1 + c.r.IntN(5) {
		if w := c.word(); !slices.Contains(q.Terms, w) && !slices.Contains(q.Unfinished.Longer, w) {
			q.Unfinished.Longer = append(q.Unfinished.Longer, w)
		}
	}
	for range c.r.IntN(3) {
		q.Unfinished.Whole = append(q.Unfinished.Whole, q.Terms[c.r.IntN(len(q.Terms))])
	}
}

func (c *corpus) within(ids int) *bitset.BitSet {
	share := []float64{0, 0.001, 0.02, 0.3, 0.95}[c.r.IntN(5)]
	b := bitset.New(0)
	for id := range ids {
		if c.r.Float64() < share {
			b.Set(uint(id))
		}
	}
	if c.r.IntN(5) == 0 {
		b.Set(uint(c.r.IntN(ids)))
	}
	return b
}

func termCounter(d lexical.Document) map[string]int {
	counts := map[string]int{}
	for _, term := range d.Terms {
		counts[term]++
	}
	return counts
}

func (m *model) stats(collection string) (s lexical.Stats) {
	for _, d := range m.docs {
		if collection == lexical.All || collection == d.Collection {
			s.Rows++
			s.Terms += int64(len(d.Terms))
		}
	}
	return s
}

func (m *model) df(collection, stem string) (n int) {
	for _, d := range m.docs {
		if (collection == lexical.All || collection == d.Collection) && slices.Contains(d.Terms, stem) {
			n++
		}
	}
	return n
}
