package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance || math.IsNaN(got) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// The intervals are those of R's prop.test(x, n, correct = FALSE), and the one of 81 of
// 263 is in R. G. Newcombe, "Two-sided confidence intervals for the single proportion",
// Statistics in Medicine 17 (1998), table I, method 3.
func TestWilson(t *testing.T) {
	for _, c := range []struct{ successes, n, low, high float64 }{
		{0, 0, 0, 1},
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{7, 7, 0.6457, 1},
		{3, 3, 0.4385, 1},
		{5, 10, 0.2366, 0.7634},
	} {
		low, high := consolidate.Wilson(c.successes, c.n)
		near(t, fmt.Sprint(c, " low"), low, c.low, 5e-5)
		near(t, fmt.Sprint(c, " high"), high, c.high, 5e-5)
	}
}

func TestInformation(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts [][2]float64
		want   float64
	}{
		{"decides", [][2]float64{{5, 0}, {5, 5}}, 1},
		{"independent", [][2]float64{{4, 2}, {8, 4}}, 0},
		// H(Y) = H(7/10) = 0.8813, H(Y|G) = 5/10 H(2/5) + 0 = 0.4855
		{"by hand", [][2]float64{{5, 2}, {5, 5}}, 0.3958},
		{"empty", nil, 0},
	} {
		bits, _ := information(c.counts)
		near(t, c.name, bits, c.want, 5e-5)
	}
}

// table is n attempts with columns.
type table struct {
	attempts []Attempt
	columns  []Column
	offsets  map[int64][]float64
	states   []State // of the last columns
}

func (b *table) add(score float64, values ...any) {
	for len(b.columns) < len(values) {
		b.columns = append(b.columns, Column{Path: fmt.Sprint("params.p", len(b.columns)), Values: []any{nil}})
	}
	b.attempts = append(b.attempts, Attempt{ID: int64(len(b.attempts) + 1), Observed: int64(len(b.attempts)), Score: score, Weight: 1})
	for i := range b.columns {
		c := &b.columns[i]
		at := slices.Index(c.Values, values[i])
		if at < 0 {
			at = len(c.Values)
			c.Values = append(c.Values, values[i])
		}
		c.Of = append(c.Of, uint32(at))
	}
}

// at tells where the last attempt was, from the place asked for.
func (b *table) at(offset ...float64) {
	if b.offsets == nil {
		b.offsets = map[int64][]float64{}
	}
	b.offsets[int64(len(b.attempts))] = offset
}

func (b *table) advise(req robotmem.AdviseRequest, r *rand.Rand) *robotmem.AdviseResponse {
	if r == nil {
		r = rand.New(rand.NewPCG(1, 1))
	}
	req.Goal = cmp.Or(req.Goal, "success")
	return Advise(b.attempts, b.columns, len(b.columns)-len(b.states), b.offsets, b.states, &req, r)
}

// p is the p-value of the first column.
func (b *table) p(r *rand.Rand) float64 {
	s := scaled(b.attempts, "success")
	g := newGrouping(&b.columns[0], b.attempts, &s)
	differences([]*grouping{g}, b.attempts, &s, r)
	return g.p
}

// Under the null hypothesis a valid p-value is at most x with a probability of at most x,
// and not much less where the statistic has many values.
func TestPermutationPIsUniformUnderTheNull(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var ps []float64
	const tests = 600
	for range tests {
		var b table
		for range 60 {
			b.add(float64(min(1, r.IntN(3))), float64(r.IntN(1000)))
		}
		ps = append(ps, b.p(r))
	}
	slices.Sort(ps)
	for _, x := range []float64{0.01, 0.05, 0.1, 0.25, 0.5} {
		below, _ := slices.BinarySearchFunc(ps, x, func(p, x float64) int {
			if p <= x {
				return -1
			}
			return 1
		})
		share, error3 := float64(below)/tests, 3*math.Sqrt(x*(1-x)/tests)
		if share > x+error3 || share < 0.6*x-error3 {
			t.Errorf("p <= %v in %.4f of the tests", x, share)
		}
	}
}

// Fisher's exact test of 3 of 3 failed against 7 of 7 succeeded gives 1/120.
func TestPermutationPOfASmallTable(t *testing.T) {
	var b table
	for i := range 10 {
		b.add(map[bool]float64{true: 1}[i >= 3], map[bool]any{true: 9.0, false: 12.5}[i < 3])
	}
	r := rand.New(rand.NewPCG(1, 2))
	sum := 0.0
	for range 50 {
		sum += b.p(r)
	}
	near(t, "p", sum/50, 1.0/120+1.0/400, 2e-3)
}

// Of 20 paths without influence hardly a table names one, which without a correction
// every second would.
func TestDiffersIsCorrectedForManyPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	named := 0
	for range 100 {
		var b table
		for range 50 {
			row := make([]any, 20)
			for i := range row {
				row[i] = fmt.Sprint(r.IntN(3))
			}
			b.add(float64(r.IntN(2)), row...)
		}
		if len(b.advise(robotmem.AdviseRequest{NMin: 100}, r).Differs) > 0 {
			named++
		}
	}
	if named > 12 { // 5 expected
		t.Errorf("%d of 100 tables name a path", named)
	}
}

func TestDiffersNamesTheHiddenCause(t *testing.T) {
	var b table
	for i := range 20 {
		success := i%4 != 0
		force := 12.5
		if !success {
			force = 9
		}
		b.add(map[bool]float64{true: 1}[success], force, fmt.Sprint(i%3))
	}
	b.columns[0].Path, b.columns[0].Unit = "params.grip_force", "N"
	got := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Differs
	if len(got) != 1 || got[0].Text != "grip_force 9 N failed 5 of 5; 12.5 N succeeded 15 of 15" || got[0].P > 0.01 {
		t.Errorf("got %+v", got)
	}
}

// A flag that is there only where it holds is compared with its absence; another path that
// only failures have, such as an error text, is not.
func TestDiffersWithMissingValues(t *testing.T) {
	var b table
	for i := range 24 {
		if i%2 == 0 {
			b.add(0, true, "slipped")
		} else {
			b.add(1, nil, nil)
		}
	}
	got := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Differs
	if len(got) != 1 || got[0].Text != "p0 not given succeeded 12 of 12; true failed 12 of 12" {
		t.Errorf("got %+v", got)
	}
}

func TestBestRegion(t *testing.T) {
	var b table
	for i := range 200 {
		x := float64(i%40) / 2 // 0 to 19.5
		success := x >= 8 && x <= 13 && i%9 != 0 || x == 19.5 && i < 40
		b.add(map[bool]float64{true: 1}[success], x)
	}
	p := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Parameters[0]
	best, _ := p.Best.Value.(float64)
	if best < 9 || best > 12 || *p.Best.From < 7 || *p.Best.To > 14 || p.Best.Low > p.Best.Rate || p.Best.Rate > p.Best.High {
		t.Errorf("best %+v (%v to %v), want near 10.5", p.Best, *p.Best.From, *p.Best.To)
	}
	if len(p.Values) != numberBins+1 { // that of 12.5 to 14.5 is divided, where 13 worked and 13.5 failed
		t.Errorf("%d bins", len(p.Values))
	}
	attempts := 0.0
	for _, v := range p.Values {
		attempts += v.Attempts
	}
	if attempts != 200 || p.Bandwidth <= 0 || p.Kernel == "" {
		t.Errorf("%v attempts in the bins, bandwidth %v of %q", attempts, p.Bandwidth, p.Kernel)
	}
}

// A bin does not hold values that failed and values that worked if a threshold separates them. A single failure at the
// edge of a bin does not divide it.
func TestBinsAreDividedAtAThreshold(t *testing.T) {
	for name, tc := range map[string]struct {
		worked func(x float64, i int) bool
		bins   int
	}{
		"from 6 on":          {func(x float64, _ int) bool { return x >= 6 }, numberBins + 1},
		"up to 6":            {func(x float64, _ int) bool { return x <= 6 }, numberBins + 1},
		"between":            {func(x float64, _ int) bool { return x >= 6 && x < 13 }, numberBins + 2},
		"two at the edge":    {func(x float64, i int) bool { return x > 0 || i >= 80 }, numberBins},
		"now and then":       {func(_ float64, i int) bool { return i%3 != 0 }, numberBins},
		"all of them":        {func(float64, int) bool { return true }, numberBins},
		"between whole bins": {func(x float64, _ int) bool { return x >= 5 }, numberBins},
	} {
		t.Run(name, func(t *testing.T) {
			var b table
			for i := range 200 {
				x := float64(i%40) / 2 // 0 to 19.5
				b.add(map[bool]float64{true: 1}[tc.worked(x, i)], x)
			}
			values := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Parameters[0].Values
			if len(values) != tc.bins {
				t.Errorf("%d bins, want %d", len(values), tc.bins)
			}
			attempts, last := 0.0, math.Inf(-1)
			for _, v := range values {
				attempts += v.Attempts
				one, _ := v.Value.(float64)
				from, to := one, one
				if v.From != nil {
					from, to = *v.From, *v.To
				}
				if from <= last || to < from {
					t.Errorf("a bin from %v to %v comes after %v", from, to, last)
				}
				last = to
				if tc.bins > numberBins && *v.Successes > 0 && *v.Successes < v.Attempts {
					t.Errorf("of %v to %v, %v of %v worked", from, to, *v.Successes, v.Attempts)
				}
			}
			if attempts != 200 {
				t.Errorf("%v attempts in the bins, want 200", attempts)
			}
		})
	}
}

// One success at the edge does not beat twenty of twenty-two in the middle.
func TestSuggestionPrefersSupport(t *testing.T) {
	var b table
	b.add(1, 30.0, "fast")
	for i := range 22 {
		b.add(map[bool]float64{true: 1}[i > 1], 12+float64(i%3)/10, "slow")
	}
	res := b.advise(robotmem.AdviseRequest{NMin: 3}, nil)
	g := res.Suggestion
	if g == nil || !g.Tried || g.Parameters["params.p1"] != "slow" || res.Evidence != "good" || g.Rate < 0.85 || g.Rate > 0.97 {
		t.Fatalf("got %+v, evidence %s", g, res.Evidence)
	}
	if x, _ := g.Parameters["params.p0"].(float64); x < 12 || x > 12.2 {
		t.Errorf("force %v", x)
	}
	for _, id := range g.MemoryIDs {
		if b.attempts[id-1].Score != 1 {
			t.Errorf("memory %d supports it and failed", id)
		}
	}
}

func TestNoSuggestion(t *testing.T) {
	var few, failed table
	few.add(1, 1.0)
	few.add(1, 1.0)
	for range 5 {
		failed.add(0, 1.0)
	}
	for name, c := range map[string]struct {
		b        *table
		evidence string
		note     string
	}{
		"nothing": {&table{}, "none", ""}, "few": {&few, "none", "n_min is 3"}, "failed": {&failed, "weak", "all 5 attempts failed"},
	} {
		res := c.b.advise(robotmem.AdviseRequest{NMin: 3}, nil)
		if res.Suggestion != nil || res.Evidence != c.evidence || !strings.Contains(strings.Join(res.Notes, ""), c.note) {
			t.Errorf("%s: got %+v", name, res)
		}
	}
}

// Of two texts with 8 of 10 and 5 of 10, a Thompson sample takes the first as often as a
// draw of Beta(9,3) exceeds one of Beta(6,6), 91 % of the time.
func TestExploreIsAThompsonSample(t *testing.T) {
	var b table
	for i := range 10 {
		b.add(map[bool]float64{true: 1}[i%5 != 2], "a") // in an order from which nothing is forgotten
		b.add(map[bool]float64{true: 1}[i%2 == 0], "b")
	}
	r, first := rand.New(rand.NewPCG(5, 5)), 0
	draws := rounds.Of(1500, 3000)
	for range draws {
		// The prior is shared by both, so that only the data decides.
		if b.advise(robotmem.AdviseRequest{Explore: true, NMin: 3}, r).Suggestion.Parameters["params.p0"] == "a" {
			first++
		}
	}
	near(t, "share of a", float64(first)/float64(draws), 0.91, 0.03)
}

func TestExploreSaysWhatWasNotTried(t *testing.T) {
	var b table
	for i := range 12 {
		b.add(map[bool]float64{true: 1}[i > 5], float64(i))
	}
	r, untried := rand.New(rand.NewPCG(5, 5)), 0
	for range 50 {
		g := b.advise(robotmem.AdviseRequest{Explore: true, NMin: 3}, r).Suggestion
		x, _ := g.Parameters["params.p0"].(float64)
		if g.Tried != (x == math.Trunc(x) && x < 12) || g.Tried == strings.Contains(g.Text, "not tried") {
			t.Fatalf("got %+v", g)
		}
		if !g.Tried {
			untried++
		}
	}
	if untried == 0 || untried == 50 {
		t.Errorf("%d of 50 were not tried", untried)
	}
}

func TestGoal(t *testing.T) {
	var b table
	for i := range 40 {
		x := float64(i % 8)
		b.add(20+(x-5)*(x-5)+float64(i%3)/10, x) // seconds, shortest at 5
	}
	res := b.advise(robotmem.AdviseRequest{Goal: "-task.duration_s", NMin: 3}, nil)
	if res.Suggestion.Parameters["params.p0"] != 5.0 || res.Suggestion.Successes != nil {
		t.Errorf("got %+v", res.Suggestion)
	}
	e := res.Suggestion.Estimate
	if !(20 <= e.Low && e.Low < e.Rate && e.Rate < e.High) || e.Rate > 23 {
		t.Errorf("got %+v, want about 20.5 s", e)
	}
	if res = b.advise(robotmem.AdviseRequest{Goal: "task.duration_s", NMin: 3}, nil); res.Suggestion.Parameters["params.p0"] != 0.0 {
		t.Errorf("longest: got %+v", res.Suggestion)
	}
}

// thrown is n throws with random parameters: how far one goes is 2 m times the speed, and
// the second number does nothing. Each has the place that it reached, less the one asked
// for, and its score.
func thrown(n int, target float64, score func(far float64) float64) *table {
	r, b := rand.New(rand.NewPCG(9, 9)), new(table)
	for range n {
		speed := 0.1 + 0.9*r.Float64()
		far := 2*speed + 0.02*r.NormFloat64()
		b.add(score(far), speed, r.Float64())
		b.at(far-target, 0)
	}
	return b
}

// Between two throws that went too near and too far the suggestion is a speed that nobody
// tried.
func TestSuggestionIsInterpolatedAtThePlace(t *testing.T) {
	worst := 0.0
	for target := 0.5; target < 1.8; target += 0.1 {
		b := thrown(40, target, func(far float64) float64 { return math.Exp(-(far - target) * (far - target) / (2 * 0.2 * 0.2)) })
		g := b.advise(robotmem.AdviseRequest{Goal: GoalNear, NMin: 3}, nil).Suggestion
		if g == nil || g.Tried || !strings.Contains(g.Text, "not tried") || *g.Successes <= 0 {
			t.Fatalf("%v m: got %+v", target, g)
		}
		speed, _ := g.Parameters["params.p0"].(float64)
		worst = max(worst, math.Abs(2*speed-target))
	}
	if worst > 0.05 {
		t.Errorf("the throws go %.3f m too near or too far", worst)
	}
}

// Places far away from all attempts do not lead out of the range of what was tried.
func TestSuggestionStaysWithinWhatWasTried(t *testing.T) {
	for _, target := range []float64{-50, 50, 1e9, 1e200} {
		b := thrown(40, target, func(float64) float64 { return 1 })
		delete(b.offsets, 4)
		g := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Suggestion
		for path, v := range g.Parameters {
			if x, ok := v.(float64); !ok || !(x >= 0 && x <= 1) { // NaN neither
				t.Errorf("%v: %s %v", target, path, v)
			}
		}
	}
}

// A single success, and one without a number, are suggested as they are.
func TestSuggestionOfOneSuccessAtAPlace(t *testing.T) {
	var b table
	for i := range 5 {
		b.add(0, float64(i), "slow")
		b.at(float64(i), 1)
	}
	b.add(1, 7.25, "fast")
	b.at(0.5, 0.5)
	g := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Suggestion
	if !g.Tried || g.Parameters["params.p0"] != 7.25 || g.Parameters["params.p1"] != "fast" {
		t.Errorf("got %+v", g)
	}

	// One number among texts has a range of one value.
	var mixed table
	for i, v := range []any{"low", "high", "low", 7.25} {
		mixed.add(map[bool]float64{true: 1}[i == 3], v)
		mixed.at(float64(i))
	}
	if g = mixed.advise(robotmem.AdviseRequest{NMin: 3}, nil).Suggestion; g.Parameters["params.p0"] != 7.25 {
		t.Errorf("got %+v", g)
	}
}

// placed is n attempts with two random parameters at random places, up to 0.3 m from the
// one asked for, with a Gaussian of half of that as the weight.
func placed(n int, seed uint64, rate func(x, y, east float64) float64) *table {
	r, b := rand.New(rand.NewPCG(seed, 7)), new(table)
	for range n {
		x, y, east, north := r.Float64(), r.Float64(), 0.6*r.Float64()-0.3, 0.6*r.Float64()-0.3
		b.add(0, x, y)
		if r.Float64() < rate(x, y, east) {
			b.attempts[len(b.attempts)-1].Score = 1
		}
		b.attempts[len(b.attempts)-1].Weight = math.Exp(-(east*east + north*north) / (2 * 0.15 * 0.15))
		b.at(east, north)
	}
	return b
}

// Four cases of success rates, for the rate of the suggestion at a place. Broad regions of
// success need wide kernels, whether the place matters or not. A narrow region of success
// beside a broad one with a lower rate needs narrow kernels.
func TestSuggestionAtAPlaceIsNotMisledByChance(t *testing.T) {
	bell := func(x, width float64) float64 { return math.Exp(-x * x / (2 * width * width)) }
	for _, c := range []struct {
		name string
		rate func(x, y, east float64) float64
		want float64
	}{
		{"the place does not matter", func(x, y, _ float64) float64 { return 0.3 + 0.5*bell(x-0.6, 0.3)*bell(y-0.3, 0.3) }, 0.65},
		{"the place matters", func(x, _, east float64) float64 { return 0.9 * bell(x-0.5-1.2*east, 0.2) }, 0.785},
		{"narrow", func(x, _, _ float64) float64 {
			if math.Abs(x-0.8) < 0.06 {
				return 0.95
			}
			return 0.3 * bell(x-0.3, 0.2)
		}, 0.7},
		{"two regions", func(x, _, _ float64) float64 {
			if math.Abs(x-0.5) > 0.35 {
				return 0.9
			}
			return 0.1
		}, 0.85},
	} {
		const runs = 60
		total := 0.0
		for seed := range uint64(runs) {
			p := placed(100, seed, c.rate).advise(robotmem.AdviseRequest{NMin: 3}, nil).Suggestion.Parameters
			total += c.rate(p["params.p0"].(float64), p["params.p1"].(float64), 0) / runs
		}
		if total < c.want {
			t.Errorf("%s: the suggestions succeed in %.3f, want %.3f", c.name, total, c.want)
		}
	}
}

// The mean and the variance of a gamma distribution of scale 1 are its shape.
func TestGamma(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []float64{0.2, 1, 7.5} {
		xs := make([]float64, 100_000)
		for i := range xs {
			xs[i] = gamma(r, shape)
		}
		mean, variance := meanVariance(xs, slices.Repeat([]float64{1}, len(xs)))
		if math.Abs(mean/shape-1) > 0.03 || math.Abs(variance/shape-1) > 0.06 {
			t.Errorf("shape %v: mean %v, variance %v", shape, mean, variance)
		}
	}
	if gamma(r, 0) != 0 {
		t.Error("a draw of shape 0 is not 0")
	}
}
