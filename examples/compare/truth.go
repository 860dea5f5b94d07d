package main

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

// The correct results come from a scan of all rows. The scan shares only the
// tokenizer with the node, because different tokenizers give different rankings.
//
//	words    BM25 with idf = ln((N − df + ½) / (df + ½)), at least 1e-6
//	         (Robertson, Zaragoza 2009); k1 = 0.9, b = 0.4, the node's values for
//	         texts of this length; for the others 1.2 and 0.75, the values of FTS5
//	meaning  the cosine of the vectors
//	hybrid   Σ w/(60 + rank), rank from 1, shared by equal words, over the first 80 of
//	         both lists, w 1 for words and 0.1 for meaning (Cormack, Clarke, Büttcher 2009)
const (
	minIDF        = 1e-6
	rrfK          = 60
	fused         = 80 // entries of each list that are fused
	meaningWeight = 0.1
)

// saturation holds the free parameters of BM25.
type saturation struct{ k1, b float64 }

var (
	ofNode = saturation{0.9, 0.4}
	ofFTS5 = saturation{1.2, 0.75}
)

// kind is a kind of ranking.
type kind string

const (
	byWords   kind = "words"
	byFTS5    kind = "words as FTS5 ranks them"
	byMeaning kind = "meaning"
	byBoth    kind = "hybrid"
)

// question returns the kind with the same query, independent of the parameters.
func (k kind) question() kind {
	if k == byFTS5 {
		return byWords
	}
	return k
}

// scored is a row with its score.
type scored struct {
	row   int
	score float64
}

// better sorts by descending score, ties by row.
func better(x, y scored) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.row, y.row)) }

// right holds the correct results of a query: want of these rows. There are more rows
// than want only if the last ones have equal scores.
type right struct {
	rows map[int]bool
	want int
}

// found counts the correct rows among the first ten results.
func (r *right) found(answer []int) int {
	n := 0
	seen := map[int]bool{}
	for _, row := range answer[:min(ten, len(answer))] {
		if r.rows[row] && !seen[row] {
			n++
		}
		seen[row] = true
	}
	return min(n, r.want)
}

// truth computes the correct results when they are first needed.
type truth struct {
	c        *corpus
	progress progress

	postings map[string][]posting // by stem; nil until they are needed
	lengths  []int                // of each row, in terms
	average  float64
	cache    map[truthKey][]right
}

type truthKey struct {
	kind kind
	rare bool
}

type posting struct{ row, count int32 }

func newTruth(c *corpus, p progress) *truth {
	return &truth{c: c, progress: p, cache: map[truthKey][]right{}}
}

// of returns the correct results of each query among all rows, or among the rare ones.
func (t *truth) of(k kind, rare bool) ([]right, error) {
	key := truthKey{k, rare}
	if known, ok := t.cache[key]; ok {
		return known, nil
	}
	if k != byMeaning && t.postings == nil {
		if err := t.index(); err != nil {
			return nil, err
		}
	}
	out := make([]right, len(t.c.questions))
	var wait sync.WaitGroup
	var done atomic.Int64
	for worker := range runtime.NumCPU() {
		wait.Go(func() {
			for i := worker; i < len(out); i += runtime.NumCPU() {
				out[i] = tenOf(t.rank(k, &t.c.questions[i], rare))
				t.progress("right answers by "+string(k), int(done.Add(1)), len(out))
			}
		})
	}
	wait.Wait()
	t.cache[key] = out
	return out, nil
}

func (t *truth) rank(k kind, q *question, rare bool) []scored {
	switch k {
	case byWords:
		return t.words(q, rare, ofNode)
	case byFTS5:
		return t.words(q, rare, ofFTS5)
	case byMeaning:
		return t.meaning(q, rare)
	}
	return fuse(t.words(q, rare, ofNode), t.meaning(q, rare))
}

// index counts every stem of every row.
func (t *truth) index() error {
	rules, err := classify.Parse(taxonomy.YAML)
	if err != nil {
		return err
	}
	t.postings = map[string][]posting{}
	t.lengths = make([]int, t.c.len())
	total := 0
	for row, s := range t.c.texts {
		counts := map[string]int32{}
		for _, term := range terms(rules, s) {
			counts[eval.Stem(term)]++
			t.lengths[row]++
		}
		for stem, n := range counts {
			t.postings[stem] = append(t.postings[stem], posting{int32(row), n})
		}
		total += t.lengths[row]
	}
	t.average = float64(total) / float64(t.c.len())
	return nil
}

// terms returns the terms that the node indexes of a fact: its words, and again the
// files and names in it.
func terms(rules *classify.Rules, s string) []string {
	found := rules.Classify(s, 0)
	all := eval.Terms(s)
	for _, names := range [][]string{found.ScopeFiles, found.ScopeEntities} {
		all = append(all, eval.Terms(strings.Join(names, " "))...)
	}
	return all
}

// words scores every row that contains a word of the query.
func (t *truth) words(q *question, rare bool, p saturation) []scored {
	terms := eval.QueryTerms(q.text)
	scores := map[int32]float64{}
	for _, term := range terms {
		list := t.postings[eval.Stem(term)]
		df, n := float64(len(list)), float64(t.c.len())
		idf := max(minIDF, math.Log((n-df+0.5)/(df+0.5)))
		for _, at := range list {
			if rare && !t.c.rare[at.row] {
				continue
			}
			f := float64(at.count)
			scores[at.row] += idf * f * (p.k1 + 1) / (f + p.k1*(1-p.b+p.b*float64(t.lengths[at.row])/t.average))
		}
	}
	out := make([]scored, 0, len(scores))
	for row, s := range scores {
		out = append(out, scored{int(row), math.Round(s*1e9) / 1e9}) // equal texts get equal scores in any order of addition
	}
	slices.SortFunc(out, better)
	return out
}

// meaning compares the query with every vector.
func (t *truth) meaning(q *question, rare bool) []scored {
	best := make([]scored, 0, fused+1)
	for row := range t.c.len() {
		if rare && !t.c.rare[row] {
			continue
		}
		s := scored{row, cosine(q.vector, t.c.vector(row))}
		at, _ := slices.BinarySearchFunc(best, s, better)
		best = slices.Insert(best, at, s)[:min(len(best)+1, fused)]
	}
	return best
}

// cosine returns the cosine of two vectors of length 1, rounded to six digits.
func cosine(x, y []float32) float64 { return math.Round(float64(dot(x, y))*1e6) / 1e6 }

// dot returns the dot product of two vectors whose dimension is a multiple of 4.
func dot(x, y []float32) float32 {
	var s0, s1, s2, s3 float32
	y = y[:len(x)]
	for i := 0; i+3 < len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	return s0 + s1 + s2 + s3
}

func fuse(words, meaning []scored) []scored {
	scores := map[int]float64{}
	rank := 0
	for i, s := range words[:min(fused, len(words))] {
		if s.score != words[max(0, i-1)].score {
			rank = i
		}
		scores[s.row] += 1 / float64(rrfK+rank+1)
	}
	for i, s := range meaning[:min(fused, len(meaning))] {
		scores[s.row] += meaningWeight / float64(rrfK+i+1)
	}
	out := make([]scored, 0, len(scores))
	for row, s := range scores {
		out = append(out, scored{row, math.Round(s*1e12) / 1e12})
	}
	slices.SortFunc(out, better)
	return out
}

// tenOf keeps the first ten rows, and all further rows with the score of the tenth.
func tenOf(list []scored) right {
	r := right{rows: map[int]bool{}, want: min(ten, len(list))}
	for _, s := range list {
		if len(r.rows) >= r.want && s.score < list[r.want-1].score {
			break
		}
		r.rows[s.row] = true
	}
	return r
}
