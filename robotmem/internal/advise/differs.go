package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"gonum.org/v1/gonum/mathext"
)

const (
	permutations = 399
	maxPermuted  = 500 // the test takes a random sample of more attempts
	significance = 0.05
	maxGroups    = 6 // a path with more numbers is divided into groupBins
	groupBins    = 4
)

// grouping divides the attempts by their value at a path. The groups do not depend on the
// outcome, as the permutation test needs.
type grouping struct {
	*Column
	levels []level // from 1; level 0 only if the lack of a value counts as one
	first  int     // the first level that counts
	of     []uint32
	p      float64
}

func newGrouping(c *Column, attempts []Attempt, s *scale) *grouping {
	g := &grouping{Column: c, first: 1}
	g.levels, g.of = c.levels(attempts, s, maxGroups, groupBins)
	// {"wet":true} where it holds, and nothing where not.
	if len(g.levels) == 2 && g.levels[1].value == true {
		g.levels[0].value, g.first = "not given", 0
	}

	return g
}

// information is the mutual information of the group and the outcome in bits, the sum of
// p(g,y) log2(p(g,y) / (p(g) p(y))), and independence the p-value of the G test for it: 2
// n ln 2 bits have nearly a chi-squared distribution with one degree of freedom less than
// there are groups (S. S. Wilks, 1938). It compares paths with few and many groups.
func information(counts [][2]float64) (bits, independence float64) {
	n, good, groups := 0.0, 0.0, 0
	for _, c := range counts {
		if n, good = n+c[0], good+c[1]; c[0] > 0 {
			groups++
		}
	}

	for _, c := range counts {
		for _, cell := range [][2]float64{{c[1], good}, {c[0] - c[1], n - good}} {
			if cell[0] > 0 {
				bits += cell[0] / n * math.Log2(cell[0]*n/(c[0]*cell[1]))
			}
		}
	}

	if groups < 2 {
		return bits, 1
	}

	return bits, mathext.GammaIncRegComp(float64(groups-1)/2, n*math.Ln2*max(0, bits))
}

// differences tests which columns separate good attempts from others. P is the share of
// random assignments of the outcomes to the attempts, the real one among them, in which
// some column separates at least as well, so that it holds for all columns together: P. H.
// Westfall and S. S. Young, "Resampling-Based Multiple Testing" (1993), single-step minP.
func differences(groups []*grouping, attempts []Attempt, s *scale, r *rand.Rand) []robotmem.Difference {
	sample := r.Perm(len(attempts))
	sample = sample[:min(len(sample), maxPermuted)]

	good := make([]float64, len(sample))
	for k, i := range sample {
		if attempts[i].Score >= s.good {
			good[k] = 1
		}
	}

	independence := func(g *grouping) float64 {
		counts := make([][2]float64, len(g.levels))
		for k, i := range sample {
			c := &counts[g.of[i]]
			c[0], c[1] = c[0]+1, c[1]+good[k]
		}
		_, p := information(counts[g.first:])

		return p
	}

	const roundOff = 1 + 1e-9

	extreme := make([]int, len(groups))
	for _, g := range groups {
		g.p = independence(g) * roundOff
	}

	for range permutations {
		r.Shuffle(len(good), func(i, j int) { good[i], good[j] = good[j], good[i] })

		least := 1.0
		for _, g := range groups {
			least = min(least, independence(g))
		}

		for k, g := range groups {
			if least <= g.p {
				extreme[k]++
			}
		}
	}

	out := []robotmem.Difference{}

	for k, g := range groups {
		if g.p = float64(extreme[k]+1) / (permutations + 1); g.p < significance {
			out = append(out, g.difference())
		}
	}

	slices.SortStableFunc(out, func(a, b robotmem.Difference) int { return cmp.Compare(b.Bits, a.Bits) })

	return out
}

// difference describes the groups among all attempts.
func (g *grouping) difference() robotmem.Difference {
	counts := make([][2]float64, len(g.levels))

	parts := make([]string, len(g.levels))
	for i := range g.levels {
		l := &g.levels[i]
		good, word := l.good, "succeeded"
		if 2*good < l.n {
			good, word = l.n-good, "failed"
		}
		counts[i], parts[i] = [2]float64{float64(l.n), float64(l.good)}, fmt.Sprintf("%s %s %d of %d", g.shown(l), word,
			good, l.n)
	}
	bits, _ := information(counts[g.first:])
	text := strings.TrimPrefix(g.Path, "params.") + " " + strings.Join(parts[g.first:], "; ")

	return robotmem.Difference{Path: g.Path, Bits: round(bits, 3), P: round(g.p, 2), Text: text}
}
