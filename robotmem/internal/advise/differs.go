package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	permutations = 999
	enough       = 20   // a test ends when so many permutations were at least as extreme
	maxPermuted  = 1000 // it takes a random sample of more attempts
	significance = 0.05
	maxGroups    = 8 // a path with more numbers is divided into groupBins
	groupBins    = 4
	maxShown     = 4 // groups in a text
)

// grouping counts the attempts by their value at a path. The groups do not depend on the
// outcome, as the permutation test needs.
type grouping struct {
	*axis
	counts [][2]int // by level: attempts, good ones; level 0 is left out
	p      float64
}

func newGrouping(a *axis, good []bool) *grouping {
	g := &grouping{axis: a.coarse(maxGroups, groupBins)}
	if len(g.levels) > 1 {
		if _, flag := g.levels[1].value.(bool); flag { // {"wet":true} where it holds, and nothing where not
			g.axis = &axis{Column: a.Column, of: slices.Clone(a.of), levels: append(slices.Clone(a.levels), level{value: "not given"})}
			for i, number := range a.of {
				if number == 0 {
					g.of[i] = uint32(len(a.levels))
				}
			}
		}
	}
	g.counts = make([][2]int, len(g.levels))
	for i, number := range g.of {
		g.counts[number][0]++
		if good[i] {
			g.counts[number][1]++
		}
	}
	return g
}

// information is the mutual information of the group and the outcome in bits, the sum of
// p(g,y) log2(p(g,y) / (p(g) p(y))).
func information(counts [][2]int) (bits float64) {
	n, good := 0, 0
	for _, c := range counts {
		n, good = n+c[0], good+c[1]
	}
	for _, c := range counts {
		for _, cell := range [][2]int{{c[1], good}, {c[0] - c[1], n - good}} {
			if joint := float64(cell[0]); joint > 0 {
				bits += joint / float64(n) * math.Log2(joint*float64(n)/(float64(c[0])*float64(cell[1])))
			}
		}
	}
	return bits
}

// differences tests which columns separate good attempts from others.
func differences(axes []*axis, attempts []Attempt, s *scale, r *rand.Rand) []robotmem.Difference {
	good := make([]bool, len(attempts))
	for i := range attempts {
		good[i] = attempts[i].Score >= s.good
	}
	sample := r.Perm(len(attempts))
	sample = sample[:min(len(sample), maxPermuted)]
	var tested []*grouping
	for _, a := range axes {
		if g := newGrouping(a, good); information(g.counts[1:]) > 0 {
			g.p = g.permutationP(sample, good, r)
			tested = append(tested, g)
		}
	}
	slices.SortStableFunc(tested, func(a, b *grouping) int { return cmp.Compare(a.p, b.p) })
	out, worst := []robotmem.Difference{}, 0.0
	for i, g := range tested { // S. Holm, "A simple sequentially rejective multiple test procedure" (1979)
		if worst = max(worst, g.p*float64(len(tested)-i)); worst < significance {
			out = append(out, robotmem.Difference{Path: g.Path, Bits: round(information(g.counts[1:]), 3), P: round(worst, 2), Text: g.text(s)})
		}
	}
	slices.SortStableFunc(out, func(a, b robotmem.Difference) int { return cmp.Compare(b.Bits, a.Bits) })
	return out
}

// permutationP is the share of random assignments of the outcomes to the attempts whose
// mutual information is at least that of the real one, which counts as one of them. The
// test ends early when the share is large: J. Besag and P. Clifford, "Sequential Monte
// Carlo p-values", Biometrika 78 (1991).
func (g *grouping) permutationP(sample []int, good []bool, r *rand.Rand) float64 {
	var groups []uint32
	sizes, real, all := make([]int, len(g.levels)), make([]int, len(g.levels)), 0
	for _, i := range sample {
		if at := g.of[i]; at > 0 {
			groups = append(groups, at)
			if sizes[at]++; good[i] {
				real[at], all = real[at]+1, all+1
			}
		}
	}
	flogf := make([]float64, len(groups)+1)
	for k := 2; k <= len(groups); k++ {
		flogf[k] = float64(k) * math.Log(float64(k))
	}
	sum := func(ones []int) (s float64) { // grows with the information, as the other terms are fixed
		for at, k := range ones {
			s += flogf[k] + flogf[sizes[at]-k]
		}
		return s
	}
	const roundOff = 1e-9
	extreme, least, ones := 0, sum(real)-roundOff, make([]int, len(sizes))
	for b := 1; b <= permutations; b++ {
		clear(ones)
		for k := range min(all, len(groups)-all) { // the sum is the same with good and bad exchanged
			j := k + r.IntN(len(groups)-k)
			groups[k], groups[j] = groups[j], groups[k]
			ones[groups[k]]++
		}
		if sum(ones) >= least {
			if extreme++; extreme == enough {
				return float64(extreme) / float64(b)
			}
		}
	}
	return float64(extreme+1) / float64(permutations+1)
}

// text tells the groups with the most attempts, in their order.
func (g *grouping) text(s *scale) string {
	var order []int
	for at := range g.counts {
		if at > 0 && g.counts[at][0] > 0 {
			order = append(order, at)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.counts[b][0], g.counts[a][0]) })
	order = order[:min(len(order), maxShown)]
	slices.Sort(order)
	failed, succeeded := "failed", "succeeded"
	if !s.success {
		failed, succeeded = "in the worse half", "in the better half"
	}
	var parts []string
	for _, at := range order {
		n, good, word := g.counts[at][0], g.counts[at][1], succeeded
		if 2*good < n {
			good, word = n-good, failed
		}
		parts = append(parts, fmt.Sprintf("%s %s %d of %d", g.shown(g.levels[at]), word, good, n))
	}
	return strings.TrimPrefix(g.Path, "params.") + " " + strings.Join(parts, "; ")
}
