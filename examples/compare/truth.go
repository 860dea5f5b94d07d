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

// The right answers come from looking at every row; nothing is shared with the
// node but what it makes terms of, as two tokenizers never rank alike.
//
//	words    BM25 with idf = ln((N − df + ½) / (df + ½)), at least 1e-6
//	         (Robertson, Zaragoza 2009); k1 = 0.9, b = 0.4 as the node has it for
//	         texts of this length, for the others 1.2 and 0.75 as FTS5 has it
//	meaning  the cosine of the vectors
//	hybrid   Σ w/(60 + rank), rank from 1, over the first 100 of both lists, w 1
//	         for words and 0.1 for meaning (Cormack, Clarke, Büttcher 2009)
const (
	minIDF        = 1e-6
	rrfK          = 60
	fused         = 100 // how much of each list is fused
	meaningWeight = 0.1
)

// saturation are BM25's free parameters.
type saturation struct{ k1, b float64 }

var (
	ofNode = saturation{0.9, 0.4}
	ofFTS5 = saturation{1.2, 0.75}
)

// kind is what a list is ranked by.
type kind string

const (
	byWords   kind = "words"
	byFTS5    kind = "words as FTS5 ranks them"
	byMeaning kind = "meaning"
	byBoth    kind = "hybrid"
)

// question is the kind that asks the same, whatever it is ranked by.
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

// better puts the larger score first, ties by the smaller row.
func better(x, y scored) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.row, y.row)) }

// right is what a question should find: want of these rows. They are more than
// want only where the scores of the last ones are equal.
type right struct {
	rows map[int]bool
	want int
}

// found counts the right ones among the first ten answers.
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

// truth works the right answers out when they are first asked for.
type truth struct {
	c        *corpus
	progress progress

	postings map[string][]posting // by stem; nil until words are asked for
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

// of returns what each question should find among all rows, or among the rare
// ones.
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

// terms are what the node indexes of a fact: its words, and once more the files
// and names that it speaks of.
func terms(rules *classify.Rules, s string) []string {
	found := rules.Classify(s, 0)
	all := eval.Terms(s)
	for _, names := range [][]string{found.ScopeFiles, found.ScopeEntities} {
		all = append(all, eval.Terms(strings.Join(names, " "))...)
	}
	return all
}

// words scores every row that holds a word of the question.
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
		out = append(out, scored{int(row), math.Round(s*1e9) / 1e9}) // equal texts are equal in any order of adding
	}
	slices.SortFunc(out, better)
	return out
}

// meaning compares the question with every vector.
func (t *truth) meaning(q *question, rare bool) []scored {
	best := make([]scored, 0, fused+1)
	for row := range t.c.len() {
		if rare && !t.c.rare[row] {
			continue
		}
		s := scored{row, cosine(q.vector, t.c.vector(row))}
		if len(best) == fused && better(s, best[fused-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, s, better)
		best = slices.Insert(best, at, s)
		best = best[:min(len(best), fused)]
	}
	return best
}

// cosine of two vectors of length 1; what lies beyond six digits is rounding.
func cosine(x, y []float32) float64 { return math.Round(float64(dot(x, y))*1e6) / 1e6 }

// dot is the scalar product of two vectors whose length is a multiple of 4.
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
	for i, s := range words[:min(fused, len(words))] {
		scores[s.row] += 1 / float64(rrfK+i+1)
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

// tenOf keeps the first ten, and whatever scores like the tenth.
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
