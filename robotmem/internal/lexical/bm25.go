package lexical

import (
	"math"
)

// BM25 (Robertson and Zaragoza 2009) with the idf of SQLite's FTS5. Every product that is added to
// something is wrapped in float64(): without it a compiler may fuse both operations into one with a
// single rounding (arm64 does), and the same posting would score differently in two places.

// minIDF is the weight of a term that more than half of the documents hold.
const minIDF = 1e-6

// Params are the two free parameters of BM25.
type Params struct {
	K1 float64 // at least 0: how much repetitions of a term count, 1.2 in FTS5
	B  float64 // 0 to 1: how much a text longer than the mean loses, 0.75 in FTS5
}

// IDF is the weight of a term in an index of rows documents, of which holders hold the term. It is the score of a
// document of usual length that holds the term once.
func IDF(rows, holders int) float64 { return idf(rows, holders) }

// idf is the weight of a term in an index of rows documents, of which df hold the term.
func idf(rows, df int) float64 {
	n, d := float64(rows), float64(df)
	return max(minIDF, math.Log((n-d+0.5)/(d+0.5)))
}

// Sizes of the table of precomputed values, which covers nearly all postings.
const (
	tableCounts  = 4   // repetitions 1 to 4
	tableLengths = 512 // documents of up to 511 terms
)

// saturation is the factor of BM25 that depends on a posting and not on its term:
// f (k1+1) / (f + k1 (1 − b + b D/avgD)).
type saturation struct {
	Params
	average float64 // avgD, in terms
	table   [tableCounts * tableLengths]float64
}

// set computes the table for these parameters, unless it holds them already.
func (c *saturation) set(p Params, average float64) {
	if c.Params == p && c.average == average {
		return
	}
	c.Params, c.average = p, average

	for more := range tableCounts {
		for length := range tableLengths {
			c.table[more*tableLengths+length] = c.compute(uint32(more+1), uint32(length))
		}
	}
}

func (c *saturation) compute(f, length uint32) float64 {
	n := float64(f)
	norm := float64(c.K1 * (1 - c.B + float64(c.B*float64(length))/c.average))
	return float64(n*(c.K1+1)) / (n + norm)
}

// value returns the factor for a term that occurs 1 + more times in a document of length terms.
func (c *saturation) value(more, length uint32) float64 {
	if more < tableCounts && length < tableLengths {
		return c.table[more*tableLengths+length]
	}
	return c.compute(more+1, length)
}

// average is the mean length. It is 1 if no document has a term, because the formula divides by it.
func (s Stats) average() float64 {
	if s.Terms == 0 {
		return 1
	}
	return float64(s.Terms) / float64(s.Rows)
}

// A Scorer scores texts that are not in the index by the statistics that the index
// had when the Scorer was made. It is safe for concurrent use.
type Scorer struct {
	idf   []float64
	curve *saturation
}

// Score returns the score of a text of length terms that holds the i-th term of the query
// counts[i] times. The unfinished term comes last, and missing counts are 0. ok is false if the text holds
// none of the terms. Score adds in the same order as Search, so that equal texts score equally.
func (s Scorer) Score(counts []int, length int) (score float64, ok bool) {
	for i, n := range counts[:min(len(counts), len(s.idf))] {
		if n > 0 {
			ok = true
			inRange := uint32(min(max(0, length), maxLength))
			score += float64(s.idf[i] * s.curve.value(uint32(n-1), inRange))
		}
	}

	return score, ok
}

// Bm25Params returns BM25's parameters for the mean length of a collection's texts. In short facts
// repetitions of a word and the length of the text matter little; for long texts FTS5's own values are
// better. The values at both ends are measured, see docs/explanation/recall.md; between them the parameters
// change with the logarithm of the length.
func Bm25Params(average float64) Params {
	const shortTerms, longTerms = 32, 256
	// 0 for short texts, 1 for long ones.
	share := math.Log(average/shortTerms) / math.Log(longTerms/shortTerms)
	share = min(1, max(0, share))
	return Params{K1: 0.9 + 0.3*share, B: 0.4 + 0.35*share}
}
