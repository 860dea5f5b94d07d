package vector

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/bits-and-blooms/bitset"
)

// Source reads stored vectors: it calls each once for every id that it has, in
// any order, with Dims() little-endian float32 that stay valid until each
// returns. An id that it does not have is left out. It stops at the first error
// of each and returns it. The ids come in ascending order and are only lent.
type Source func(ids []int64, each func(id int64, raw []byte) error) error

// Query asks for the N memories whose vectors are nearest to Vector.
type Query struct {
	Vector []float32      // Dims() components, length 1 within 0.001
	Within *bitset.BitSet // memory ids to choose from, nil for all
	N      int            // 1 to MaxN
}

// MaxN is the most hits that a query can ask for.
const MaxN = 10000

// Hit is a memory that a search found.
type Hit struct {
	ID         int64
	Similarity float64 // cosine, -1 to 1 within what the lengths are off
}

// MaxRescore bounds how many stored vectors one question may read, unless it
// asks for more hits than that.
const MaxRescore = 8192

const (
	// A rescore of 160 finds the nearest ten of ordinary sets; see doc.go.
	defaultRescore = 160

	// A question that asks for many hits reads a quarter more than it returns,
	// so that the last of them are a choice.
	spareReads = 4

	// The scan lets scanFactor codes through for each vector that is read, and
	// never fewer than minScan. The scan goes by signs alone and orders much
	// worse than the estimate, so it loses neighbours first: with half of this,
	// four times as many as the rescore does. An estimate costs a thirtieth of a
	// read.
	scanFactor = 16
	minScan    = 4096

	// A set of up to exactFactor times the vectors that would be read is read
	// whole: three times the time at worst, for an exact answer.
	exactFactor = 3
)

// scratch is what one search works in.
type scratch struct {
	centred    []float32 // the vector less the mean, rotated
	block      []float32 // what the rotation works in
	signs      []uint64  // what encode and choose make of it
	lows       []uint64
	planes     planes
	collectors [maxWorkers]collector
	copied     struct { // of gathered candidates
		signs, lows []uint64
		terms       []codeTerms
	}
	guesses []guess
	ids     []int64
	wide    []float64
}

func newScratch(dims, words int) *scratch {
	s := &scratch{
		centred: make([]float32, dims),
		block:   make([]float32, dims),
		signs:   make([]uint64, words),
		lows:    make([]uint64, words),
		wide:    make([]float64, dims),
	}
	s.copied.signs, s.copied.lows = make([]uint64, gathered*words), make([]uint64, gathered*words)
	s.copied.terms = make([]codeTerms, gathered)
	s.planes.bits = make([]uint64, words*planeBits)
	for i := range s.collectors {
		s.collectors[i].tally = make([]int32, dims+2)
	}
	return s
}

// Search returns at most q.N memories, the most similar first, smaller ids first
// among equals. Every similarity is computed from the stored vector, in float64
// and in one order, so equal vectors tie exactly. Which memories are considered
// is exact for small sets and estimated for large ones; [Index.Measure] tells
// how well. A memory that load does not have is left out.
func (x *Index) Search(q Query, load Source) ([]Hit, error) {
	if err := x.check(q.Vector); err != nil {
		return nil, fmt.Errorf("vector: the question: %w", err)
	}
	if q.N < 1 || q.N > MaxN {
		return nil, fmt.Errorf("vector: %d hits asked for, want 1 to %d", q.N, MaxN)
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	x.choose(s, q)
	return x.score(s, q, load)
}

// Rescore is how many stored vectors a question reads, at least.
func (x *Index) Rescore() int { return int(x.rescore.Load()) }

// SetRescore changes how many stored vectors a question reads, 1 to
// [MaxRescore]; n is brought into that range. [Index.Tune] finds a good value,
// which is worth keeping beside the set.
func (x *Index) SetRescore(n int) { x.rescore.Store(int64(max(1, min(n, MaxRescore)))) }

// choose writes the ids whose vectors are to be read to s.ids, ascending. The
// lock is not held while they are read: what is removed meanwhile is left out by
// the source, what is replaced is scored as the source has it.
func (x *Index) choose(s *scratch, q Query) {
	var within []uint64
	if q.Within != nil {
		within = q.Within.Words()
		if within == nil {
			within = []uint64{}
		}
	}
	reads := max(x.Rescore(), q.N+q.N/spareReads)
	s.ids = s.ids[:0]

	x.mu.RLock()
	defer x.mu.RUnlock()
	members := x.members(within)
	if members <= exactFactor*reads {
		x.list(s, within)
		return
	}
	x.centre(s, q.Vector)
	signs(s.signs, s.centred)
	s.planes.set(s.centred)
	candidates := x.scan(s, within, members, min(members, max(minScan, reads*scanFactor)))
	for _, g := range best(x.estimate(s, candidates), reads) {
		s.ids = append(s.ids, int64(g.id))
	}
	slices.Sort(s.ids)
}

// members counts the vectors that within admits.
func (x *Index) members(within []uint64) int {
	if within == nil {
		return x.count
	}
	n := 0
	for i, k := range x.chunks {
		if k == nil {
			continue
		}
		for w, f := range chunkFilter(within, i) {
			n += bits.OnesCount64(f & k.present[w])
		}
	}
	return n
}

// list appends every member to s.ids.
func (x *Index) list(s *scratch, within []uint64) {
	for i, k := range x.chunks {
		if k == nil {
			continue
		}
		filter := chunkFilter(within, i)
		for w, word := range k.present {
			if within != nil {
				if w >= len(filter) {
					break
				}
				word &= filter[w]
			}
			for ; word != 0; word &= word - 1 {
				s.ids = append(s.ids, int64(i*chunkSlots+w*64+bits.TrailingZeros64(word)))
			}
		}
	}
}

// score reads s.ids and returns the best n.
func (x *Index) score(s *scratch, q Query, load Source) ([]Hit, error) {
	if len(s.ids) == 0 {
		return nil, nil
	}
	widen(s.wide, q.Vector)
	hits := make([]Hit, 0, len(s.ids))
	err := load(s.ids, func(id int64, raw []byte) error {
		similarity, err := x.similarity(s.wide, id, raw)
		if err == nil {
			hits = append(hits, Hit{id, similarity})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("vector: reading stored vectors: %w", err)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(q.N, len(hits))], nil
}

func (x *Index) similarity(question []float64, id int64, raw []byte) (float64, error) {
	if len(raw) != 4*x.dims {
		return 0, x.wrongSize(id, raw)
	}
	similarity := dot(question, raw)
	if math.IsNaN(similarity) || math.IsInf(similarity, 0) {
		return 0, fmt.Errorf("memory %d: %w", id, errNotFinite)
	}
	return similarity, nil
}

func (x *Index) wrongSize(id int64, raw []byte) error {
	return fmt.Errorf("memory %d: a vector of %d bytes, want %d", id, len(raw), 4*x.dims)
}
