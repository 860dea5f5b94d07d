package vector

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func noise(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func inner(a, b []float32) float64 {
	var sum float64
	for i, f := range a {
		sum += float64(f) * float64(b[i])
	}
	return sum
}

// A rotation keeps inner products, and one dimension reaches all others.
func TestRotation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{1, 2, 3, 5, 64, 65, 127, 384, 768, 1000, 4096} {
		turn := newRotation(dims)
		a, b, buffer := noise(r, dims), noise(r, dims), make([]float32, dims)
		before, size := inner(a, b), math.Sqrt(inner(a, a)*inner(b, b))
		turn.apply(a, buffer)
		turn.apply(b, buffer)
		if after := inner(a, b); math.Abs(after-before) > 1e-5*size {
			t.Errorf("%d dimensions: inner product %v became %v", dims, before, after)
		}
		for _, j := range []int{0, dims / 2, dims - 1} {
			one := make([]float32, dims)
			one[j] = 1
			turn.apply(one, buffer)
			largest := 0.0
			for _, f := range one {
				largest = max(largest, math.Abs(float64(f)))
			}
			if dims >= 64 && largest > 6/math.Sqrt(float64(dims)) {
				t.Errorf("%d dimensions: of dimension %d, %v stays in one place", dims, j, largest)
			}
		}
	}
}

// Saved codes depend on the rotation: a change of it needs a new chunkVersion.
func TestRotationIsStable(t *testing.T) {
	x := New(100, nil)
	v := make([]float32, 100)
	for i := range v {
		v[i] = 0.1 * float32(1-i%3%2*2)
	}
	s := newScratch(100, 2)
	gotScale, _ := x.encode(s, v)
	high, low, scale := []uint64{0x89646c10ac4e0153, 0x2602c9dd1}, []uint64{0x658bb0c54f917260, 0x7bed3626e}, 0.0608828
	if !slices.Equal(s.signs, high) || !slices.Equal(s.lows, low) || math.Abs(float64(gotScale)-scale) > 1e-6 {
		t.Errorf("signs %#x, lows %#x, scale %v, want %#x, %#x, %v", s.signs, s.lows, gotScale, high, low, scale)
	}
}

// The planes represent each component of a query within half a step.
func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dims := range []int{1, 63, 64, 65, 384, 1000} {
		words := (dims + 63) / 64
		p := planes{bits: make([]uint64, words*planeBits)}
		question, other := noise(r, dims), noise(r, dims)
		high, low := make([]uint64, words), make([]uint64, words)
		packSigns(high, other)
		along := packLows(low, other, 0.9)
		p.set(question)
		want, wantAlong, slack := 0.0, 0.0, 3*p.step/2*float64(dims)+1e-9
		for i, f := range question {
			level := math.Copysign(1, float64(other[i]))
			if math.Abs(float64(other[i])) > 0.9 {
				level *= 3
			}
			want += float64(f) * level
			wantAlong += float64(other[i]) * level
		}
		if math.Abs(along-wantAlong) > 1e-9 {
			t.Errorf("%d dimensions: a vector along its code %v, want %v", dims, along, wantAlong)
		}
		if got := p.product(high, low); math.Abs(got-want) > slack {
			t.Errorf("%d dimensions: %v, want %v within %v", dims, got, want, slack)
		}
	}
	p := planes{bits: make([]uint64, planeBits)}
	p.set(make([]float32, 10))
	if got := p.product([]uint64{1023}, []uint64{3}); got != 0 {
		t.Errorf("a question of zeros: %v, want 0", got)
	}
}

// The estimates of a cosine have the spread of their quantizers and no bias, but for those near the
// query: large components, which its rounding keeps, have the same sign more often than small ones.
func TestEstimateHasNoBias(t *testing.T) {
	const dims, members = 384, 4000
	r := rand.New(rand.NewPCG(5, 6))
	mean := noise(r, dims)
	for i := range mean {
		mean[i] *= 0.03
	}
	x := New(dims, mean)
	s := newScratch(dims, x.words)
	vectors := make([][]float32, members)
	all := make([]estimated, members)
	question := unitNear(r, mean)
	for i := range vectors {
		if vectors[i] = unitNear(r, mean); i%2 == 1 {
			vectors[i] = between(vectors[i], question) // a wrong scale shows in those that are near
		}
		if err := x.Put(int64(i+1), vectors[i]); err != nil {
			t.Fatal(err)
		}
		all[i].id = int32(i + 1)
		all[i].slot = int32(i)
	}
	base := inner(question, mean) - inner(mean, mean)
	x.centre(s, question)
	s.question.set(s.centred)
	s.planes.set(s.centred)
	check := func(tier string, estimates []estimated, most, nearBias float64) {
		var sum, squares [2]float64
		for _, g := range estimates {
			off := float64(g.estimate) + base - inner(question, vectors[g.id-1])
			near := (g.id - 1) % 2
			sum[near] += off
			squares[near] += off * off
		}
		for near := range sum {
			if bias := sum[near] / (members / 2); math.Abs(bias) > []float64{0.003, nearBias}[near] {
				t.Errorf("%s, near %d: bias %.5f, want 0", tier, near, bias)
			}
			if spread := math.Sqrt(squares[near] / (members / 2)); spread > most/math.Sqrt(dims) {
				t.Errorf("%s, near %d: spread %.5f, want at most %.5f", tier, near, spread, most/math.Sqrt(dims))
			}
		}
	}
	// Signs lose 1 - 2/pi of the square, which leaves pi/2 - 1 = 0.57, and the query's three values
	// 0.19, which adds 0.23: sqrt(0.8) = 0.9 across sqrt(dims), less the share of the mean, a third.
	x.selectGroups(s, nil, members, 1)
	check("first tier", x.scan(s, members), 0.63, 0.03)
	// A quantizer that loses D = 0.1188 of the square leaves sqrt(D/(1-D)) = 0.367
	// across sqrt(dims), less the share of the mean.
	check("second tier", x.estimate(s, all), 0.38, 0.006)
}

func unitNear(r *rand.Rand, mean []float32) []float32 {
	v := noise(r, len(mean))
	length := 0.0
	for i := range v {
		v[i] = v[i]*0.04 + mean[i]
		length += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(length))
	}
	return v
}

func order(a, b estimated) int {
	if a.before(b) {
		return -1
	}
	return 1
}

func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		all := make([]estimated, r.IntN(200))
		for i := range all {
			all[i] = estimated{int32(i), 0, float32(r.IntN(1 + r.IntN(50)))}
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		n := r.IntN(210)
		want := slices.SortedFunc(slices.Values(all), order)
		got := selectBest(all, n)
		slices.SortFunc(got, order)
		if !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("best %d of %d: %v, want %v", n, len(want), got, want[:min(n, len(want))])
		}
	}
}

// The collector keeps the codes that sorting by estimate and id would keep, in whatever order they
// come and however they are split.
func TestCollector(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		estimates := make([]float32, r.IntN(400))
		values := 1 + r.IntN(40)
		for i := range estimates {
			estimates[i] = float32(r.IntN(values))
		}
		order := r.Perm(len(estimates))
		limit, parts := 1+r.IntN(300), 1+r.IntN(4)
		collectors := make([]collector, parts)
		for p := range collectors {
			c := &collectors[p]
			c.reset(limit, -1)
			for _, id := range order[p*len(estimates)/parts : (p+1)*len(estimates)/parts] {
				if estimates[id] > c.bound {
					c.add(estimated{id: int32(id), estimate: estimates[id]})
				}
			}
		}
		c := &collectors[0]
		c.merge(collectors[1:])
		ids := make([]int, len(estimates))
		for i := range ids {
			ids[i] = i
		}
		slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(estimates[b], estimates[a]) })
		var got []int
		for _, f := range c.found {
			if f.estimate != estimates[f.id] {
				t.Fatalf("id %d has estimate %v, want %v", f.id, f.estimate, estimates[f.id])
			}
			got = append(got, int(f.id))
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(ids[:min(limit, len(ids))])); !slices.Equal(got, want) {
			t.Fatalf("limit %d in %d parts: %v, want %v", limit, parts, got, want)
		}
	}
}

func TestDiffering(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for words := range 20 {
		q, code := newQuestion(words), make([]uint64, words+3)
		want := 0
		for i := range words {
			q.signs[i], q.large[i], code[i] = r.Uint64(), r.Uint64(), r.Uint64()
			want += bits.OnesCount64((q.signs[i] ^ code[i]) & q.large[i])
		}
		code[words] = ^uint64(0)
		if got := q.differing(code); got != want {
			t.Errorf("%d words: %d, want %d", words, got, want)
		}
	}
}

// A scan finds the same codes as a comparison one by one, with missing ids and filters.
func TestScan(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine; the race run is short")
	}
	r := rand.New(rand.NewPCG(13, 14))
	for _, dims := range []int{30, 64, 100, 384, 400} {
		x := New(dims, nil)
		s := newScratch(dims, x.words)
		zeros := make([]float32, dims)
		for id := int64(1); id < 9000; id++ {
			if id < 5000 || r.IntN(3) == 0 { // full words and ragged ones
				if err := x.Put(id, unitNear(r, zeros)); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.question.set(noise(r, dims))
		filter := make([]uint64, 100)
		for i := range filter {
			filter[i] = r.Uint64() | -uint64(i&1)
		}
		for _, within := range [][]uint64{nil, filter, {}} {
			x.listMembers(s, within)
			want := make([]estimated, len(s.ids))
			for i, id := range s.ids {
				slot, _ := x.slot(id)
				c, at := x.code(int32(slot))
				want[i] = estimated{int32(id), int32(slot), s.question.glance(c.signs[at*x.words:], c.terms[2*at:])}
			}
			if got := x.countMembers(within); got != len(want) {
				t.Errorf("%d dimensions: %d members, want %d", dims, got, len(want))
			}
			slices.SortFunc(want, order)
			want = want[:min(300, len(want))]
			x.selectGroups(s, within, len(s.ids), 1)
			got := x.scan(s, 300)
			slices.SortFunc(got, order)
			if !slices.Equal(got, want) {
				t.Errorf("%d dimensions, %d members: the scan differs from comparing each", dims, len(s.ids))
			}
			s.ids = s.ids[:0]
		}
	}
}

// A vector that was replaced while codes are arranged stays behind those that are.
func TestReplacedWhileArranging(t *testing.T) {
	const members, replaced = 1000, 900
	r := rand.New(rand.NewPCG(17, 18))
	x := New(30, nil)
	var order []estimated
	for id := int64(1); id <= members; id++ {
		if err := x.Put(id, unitNear(r, make([]float32, 30))); err != nil {
			t.Fatal(err)
		}
		order = append(order, estimated{id: int32(id), slot: int32(id - 1)})
	}
	x.fixed = x.next
	if err := x.Put(replaced, unitNear(r, make([]float32, 30))); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(order)
	groups := x.move(order, members)
	if slot, held := x.slot(replaced); !held || slot < groups*groupSize || groups != members/groupSize || x.next != members {
		t.Errorf("the vector is in slot %d of %d; %d groups", slot, x.next, groups)
	}
}
