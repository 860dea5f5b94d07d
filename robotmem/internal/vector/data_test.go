package vector_test

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// set is vectors in memory: row id-1 holds the vector of memory id.
type set struct {
	dims int
	raw  []byte
}

func (s *set) len() int { return len(s.raw) / vector.StoredSize(s.dims) }

func (s *set) row(id int64) []byte {
	size := vector.StoredSize(s.dims)
	return s.raw[int(id-1)*size : int(id)*size]
}

func (s *set) vector(id int64) []float32 {
	return vector.Decode(s.row(id))
}

func (s *set) load(ids []int64, each func(id int64, raw []byte) error) error {
	for _, id := range ids {
		if err := each(id, s.row(id)); err != nil {
			return err
		}
	}
	return nil
}

// draw returns a vector of a distribution, to store or as a query.
type draw func(r *rand.Rand) []float32

func gaussian(r *rand.Rand, into []float32, sigma float64) {
	for i := range into {
		into[i] += float32(sigma * r.NormFloat64())
	}
}

func unit(v []float32) []float32 {
	var sum float64
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// isotropic has no structure: the hardest case, because the neighbours of a query are
// hardly nearer than all other vectors.
func isotropic(dims int) draw {
	return func(r *rand.Rand) []float32 {
		v := make([]float32, dims)
		gaussian(r, v, 1)
		return unit(v)
	}
}

// clustered has centres with noise around them of about the same length.
func clustered(dims, centres int, seed uint64) draw {
	r := rand.New(rand.NewPCG(seed, 1))
	c := make([][]float32, centres)
	for i := range c {
		c[i] = make([]float32, dims)
		gaussian(r, c[i], 1)
		unit(c[i])
	}
	return func(r *rand.Rand) []float32 {
		v := append([]float32(nil), c[r.IntN(centres)]...)
		gaussian(r, v, 0.7/math.Sqrt(float64(dims)))
		return unit(v)
	}
}

// offCentre adds a large common direction to what another draw returns.
func offCentre(dims int, of draw) draw {
	return func(r *rand.Rand) []float32 {
		v := of(r)
		for i := range v {
			v[i] += float32(math.Sqrt(3/float64(dims))) * float32(1-2*(i%2))
		}
		return unit(v)
	}
}

// skewed has a variance that falls with the dimension, as the spectrum of real
// embeddings does, a mean, and a few dimensions that are far larger.
func skewed(dims, centres int, seed uint64) draw {
	of := clustered(dims, centres, seed)
	return func(r *rand.Rand) []float32 {
		v := of(r)
		for i := range v {
			v[i] /= float32(math.Sqrt(float64(i + 1)))
			if i%97 == 5 {
				v[i] = 3*v[i] + 0.1
			}
		}
		return unit(v)
	}
}

func makeSet(dims, n int, d draw) *set {
	s := &set{dims: dims, raw: make([]byte, 0, vector.StoredSize(dims)*n)}
	r := rand.New(rand.NewPCG(7, 7))
	for range n {
		s.raw = append(s.raw, vector.Encode(d(r))...)
	}
	return s
}

func questions(n int, d draw) [][]float32 {
	r := rand.New(rand.NewPCG(8, 8))
	all := make([][]float32, n)
	for i := range all {
		all[i] = d(r)
	}
	return all
}

// index holds all of s, around the mean of its first vectors.
func index(t testing.TB, s *set) *vector.Index {
	t.Helper()
	var mean vector.MeanBuilder
	for id := int64(1); id <= int64(min(s.len(), 5000)); id++ {
		must(t, mean.Add(s.vector(id)))
	}
	x := vector.New(s.dims, mean.Mean())
	for id := int64(1); id <= int64(s.len()); id++ {
		must(t, x.Put(id, s.vector(id)))
	}
	return x
}

// oneGoroutine skips a test without concurrency in the race run, which is short.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine; the race run is short")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cosines compares a question with every vector of s, in float64.
func cosines(s *set, question []float32) []float64 {
	all := make([]float64, s.len())
	for i := range all {
		raw := s.row(int64(i + 1))
		for j, f := range question {
			block := raw[j/64*68:]
			scale := math.Float32frombits(binary.LittleEndian.Uint32(block))
			all[i] += float64(f) * float64(scale) * float64(int8(block[4+j%64]))
		}
	}
	return all
}

// exact returns the best n of the admitted vectors, by brute force.
func exact(s *set, question []float32, n int, admit func(id int64) bool) []vector.Hit {
	var hits []vector.Hit
	for i, similarity := range cosines(s, question) {
		if id := int64(i + 1); admit == nil || admit(id) {
			hits = append(hits, vector.Hit{ID: id, Similarity: similarity})
		}
	}
	slices.SortFunc(hits, func(a, b vector.Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(n, len(hits))]
}

// recall is the share of want in got. A hit that is as near as the last of want counts.
func recall(got, want []vector.Hit) float64 {
	if len(want) == 0 {
		return 1
	}
	found := 0
	for _, h := range got[:min(len(got), len(want))] {
		if h.Similarity >= want[len(want)-1].Similarity-1e-12 {
			found++
		}
	}
	return float64(found) / float64(len(want))
}
