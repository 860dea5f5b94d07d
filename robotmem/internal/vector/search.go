package vector

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/bits-and-blooms/bitset"
)

// Source reads stored vectors. It calls each once for every id that it has, in any
// order, with the form that [Encode] returns, valid until each returns. It skips ids
// that it does not have. It stops at the first error of each and returns it. The ids
// are ascending, and the source must not keep them.
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
	Similarity float64 // cosine, -1 to 1 up to the error of the lengths
}

// MaxRescore bounds how many stored vectors one query may read, unless it asks for
// more hits than that.
const MaxRescore = 8192

const (
	// A rescore of 160 finds the nearest ten of ordinary sets; see doc.go.
	defaultRescore = 160

	// A query for many hits reads a quarter more vectors than it returns, so that
	// the last hits are selected too.
	extraReads = 4

	// The scan passes scanFactor codes for each vector that is read, and at least
	// minScan. It uses signs alone and sorts much worse than the estimate, so it
	// loses neighbours first: with half of this factor four times as many as the
	// rescore. An estimate costs a thirtieth of a read.
	scanFactor = 16
	minScan    = 4096

	// A set of up to exactFactor times the vectors that would be read is read
	// completely: at most three times the time, for an exact answer.
	exactFactor = 3
)

type scratch struct {
	centred    []float32 // the vector less the mean, rotated
	block      []float32 // buffer of the rotation
	signs      []uint64  // output of encode and packSigns
	lows       []uint64
	planes     planes
	collectors [maxWorkers]collector
	batch      struct { // of batchSize candidates
		signs, lows []uint64
		terms       []codeTerms
	}
	estimates []estimated
	ids       []int64
	wide      []float64
}

func newScratch(dims, words int) *scratch {
	s := &scratch{
		centred: make([]float32, dims),
		block:   make([]float32, dims),
		signs:   make([]uint64, words),
		lows:    make([]uint64, words),
		wide:    make([]float64, dims),
	}
	s.batch.signs, s.batch.lows = make([]uint64, batchSize*words), make([]uint64, batchSize*words)
	s.batch.terms = make([]codeTerms, batchSize)
	s.planes.bits = make([]uint64, words*planeBits)
	for i := range s.collectors {
		s.collectors[i].histogram = make([]int32, dims+2)
	}
	return s
}

// Search returns at most q.N memories, the most similar first, equal ones by the
// smaller id. Every similarity is computed from the stored vector, in float64 and in
// one order, so equal vectors tie exactly. The memories to compare are all members of
// a small set and are estimated for a large one; [Index.Measure] returns how well. A
// memory that load does not have is skipped.
func (x *Index) Search(q Query, load Source) ([]Hit, error) {
	if err := x.checkUnit(q.Vector); err != nil {
		return nil, fmt.Errorf("vector: the question: %w", err)
	}
	if q.N < 1 || q.N > MaxN {
		return nil, fmt.Errorf("vector: %d hits asked for, want 1 to %d", q.N, MaxN)
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	x.selectIDs(s, q)
	return x.score(s, q, load)
}

// Rescore is the least number of stored vectors that a query reads.
func (x *Index) Rescore() int { return int(x.rescore.Load()) }

// SetRescore changes how many stored vectors a query reads; n is limited to 1 to
// [MaxRescore]. [Index.Tune] finds a good value, which should be stored with the set.
func (x *Index) SetRescore(n int) { x.rescore.Store(int64(max(1, min(n, MaxRescore)))) }

// selectIDs writes the ids of the vectors to read to s.ids, ascending. The lock is not
// held while they are read: the source skips vectors that are removed meanwhile, and
// a replaced vector is scored as the source has it.
func (x *Index) selectIDs(s *scratch, q Query) {
	var within []uint64
	if q.Within != nil {
		within = q.Within.Words()
		if within == nil {
			within = []uint64{}
		}
	}
	reads := max(x.Rescore(), q.N+q.N/extraReads)
	s.ids = s.ids[:0]

	x.mu.RLock()
	defer x.mu.RUnlock()
	members := x.countMembers(within)
	if members <= exactFactor*reads {
		x.listMembers(s, within)
		return
	}
	x.centre(s, q.Vector)
	packSigns(s.signs, s.centred)
	s.planes.set(s.centred)
	candidates := x.scan(s, within, members, min(members, max(minScan, reads*scanFactor)))
	for _, g := range selectBest(x.estimate(s, candidates), reads) {
		s.ids = append(s.ids, int64(g.id))
	}
	slices.Sort(s.ids)
}

func (x *Index) countMembers(within []uint64) int {
	if within == nil {
		return x.count
	}
	n := 0
	for _, word := range x.members(within, 0, len(x.chunks)) {
		n += bits.OnesCount64(word)
	}
	return n
}

func (x *Index) listMembers(s *scratch, within []uint64) {
	for base, word := range x.members(within, 0, len(x.chunks)) {
		for ; word != 0; word &= word - 1 {
			s.ids = append(s.ids, int64(base+bits.TrailingZeros64(word)))
		}
	}
}

// members visits the members among 64 neighbouring ids as bits, with the first id, for each 64 that
// have any, in the chunks from to to-1. Members are those of within unless it is nil.
func (x *Index) members(within []uint64, from, to int) iter.Seq2[int, uint64] {
	return func(yield func(base int, word uint64) bool) {
		for i := from; i < to; i++ {
			k := x.chunks[i]
			if k == nil || k.count == 0 {
				continue
			}
			for w, word := range k.present {
				if at := i*len(k.present) + w; at < len(within) {
					word &= within[at]
				} else if within != nil {
					return
				}
				if word != 0 && !yield(i*chunkSlots+w*64, word) {
					return
				}
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
	if len(raw) != StoredSize(x.dims) {
		return 0, x.wrongSize(id, raw)
	}
	similarity := dot(question, raw)
	if math.IsNaN(similarity) || math.IsInf(similarity, 0) {
		return 0, fmt.Errorf("memory %d: %w", id, errNotFinite)
	}
	return similarity, nil
}

func (x *Index) wrongSize(id int64, raw []byte) error {
	return fmt.Errorf("memory %d: a vector of %d bytes, want %d", id, len(raw), StoredSize(x.dims))
}

// The first tier of a search compares the signs of the query with every code and
// keeps the limit codes that differ in the fewest bits. A collector counts the codes
// of each distance, and so knows the distance from which no code can be among the
// best. Codes come in the order of their ids and smaller ids win among equals, so the
// result does not depend on how the scan is split.

// candidate is a code that passed the scan.
type candidate struct {
	id       int32
	distance int32 // bits that differ
}

type collector struct {
	limit     int
	bound     int32   // only codes of a smaller distance are added
	taken     int     // number added of distances up to bound
	histogram []int32 // number added of each distance
	found     []candidate
}

// reset starts a scan that keeps limit codes.
func (c *collector) reset(limit int) {
	clear(c.histogram)
	c.limit, c.taken, c.found = limit, 0, c.found[:0]
	c.bound = int32(len(c.histogram) - 1) // one more than any distance
}

// add adds a code whose distance is below the bound and lowers the bound as far as
// possible.
func (c *collector) add(id, distance int) {
	c.found = append(c.found, candidate{int32(id), int32(distance)})
	c.histogram[distance]++
	c.taken++
	for c.taken-int(c.histogram[c.bound]) >= c.limit {
		c.taken -= int(c.histogram[c.bound])
		c.bound--
	}
}

// merge adds the candidates of another collector, which have larger ids.
func (c *collector) merge(d *collector) {
	for _, f := range d.found {
		if f.distance < c.bound {
			c.add(int(f.id), int(f.distance))
		}
	}
}

// candidates removes codes that were added before the bound fell below their
// distance. It must be the last call before the next reset.
func (c *collector) candidates() []candidate {
	if len(c.found) <= c.limit {
		return c.found
	}
	room := c.limit - (c.taken - int(c.histogram[c.bound])) // for those at the bound
	kept := c.found[:0]
	for _, f := range c.found {
		if f.distance == c.bound {
			room--
		}
		if f.distance < c.bound || f.distance == c.bound && room >= 0 {
			kept = append(kept, f)
		}
	}
	c.found = kept
	return kept
}

// workerShare is the fewest codes for which another goroutine pays off: half of it
// gained nothing.
const workerShare = 1 << 17

// maxWorkers leaves cores to other programs. More goroutines gain little, because a
// scan is bound by memory bandwidth.
const maxWorkers = 4

// scan returns the best limit codes of the members, which are those of within unless
// it is nil. The caller holds the lock.
func (x *Index) scan(s *scratch, within []uint64, members, limit int) []candidate {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, members/workerShare)
	if workers < 2 {
		s.collectors[0].reset(limit)
		x.scanChunks(&s.collectors[0], s.signs, within, 0, len(x.chunks))
		return s.collectors[0].candidates()
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			c := &s.collectors[w]
			c.reset(limit)
			x.scanChunks(c, s.signs, within, w*len(x.chunks)/workers, (w+1)*len(x.chunks)/workers)
		})
	}
	wait.Wait()
	for w := 1; w < workers; w++ {
		s.collectors[0].merge(&s.collectors[w])
	}
	return s.collectors[0].candidates()
}

func (x *Index) scanChunks(c *collector, question, within []uint64, from, to int) {
	for base, word := range x.members(within, from, to) {
		slot := base & chunkMask
		codes := x.chunks[base>>chunkBits].signs[slot*x.words : (slot+64)*x.words]
		switch {
		case x.words == 6 && hasPopcnt && bits.OnesCount64(word) >= 8: // 384 dimensions, the most common size of small models
			// Few codes are below the bound, which falls as they are added.
			scanSome(c, question, codes, base, word&below6(&codes[0], (*[6]uint64)(question), int64(c.bound)))
		case word == ^uint64(0) && x.words == 6:
			scanFull6(c, (*[6]uint64)(question), codes, base)
		case word == ^uint64(0):
			scanFull(c, question, codes, base)
		default:
			scanSome(c, question, codes, base, word)
		}
	}
}

// scanFull6 is scanFull for 384 dimensions.
func scanFull6(c *collector, q *[6]uint64, codes []uint64, base int) {
	q0, q1, q2, q3, q4, q5 := q[0], q[1], q[2], q[3], q[4], q[5]
	for slot := 0; len(codes) >= 6; slot++ {
		k := (*[6]uint64)(codes)
		distance := bits.OnesCount64(k[0]^q0) + bits.OnesCount64(k[1]^q1) + bits.OnesCount64(k[2]^q2) +
			bits.OnesCount64(k[3]^q3) + bits.OnesCount64(k[4]^q4) + bits.OnesCount64(k[5]^q5)
		if int32(distance) < c.bound {
			c.add(base+slot, distance)
		}
		codes = codes[6:]
	}
}

// scanFull scans 64 codes that are all present.
func scanFull(c *collector, q, codes []uint64, base int) {
	for slot := 0; len(codes) >= len(q); slot++ {
		if distance := hamming(q, codes); int32(distance) < c.bound {
			c.add(base+slot, distance)
		}
		codes = codes[len(q):]
	}
}

// scanSome scans those of 64 codes whose bit is set in word.
func scanSome(c *collector, q, codes []uint64, base int, word uint64) {
	for ; word != 0; word &= word - 1 {
		slot := bits.TrailingZeros64(word)
		if distance := hamming(q, codes[slot*len(q):]); int32(distance) < c.bound {
			c.add(base+slot, distance)
		}
	}
}

// hamming counts the bits in which q and the first len(q) words of code differ.
func hamming(q, code []uint64) int {
	code = code[:len(q)]
	n := 0
	for len(q) >= 4 && len(code) >= 4 {
		n += bits.OnesCount64(q[0]^code[0]) + bits.OnesCount64(q[1]^code[1]) +
			bits.OnesCount64(q[2]^code[2]) + bits.OnesCount64(q[3]^code[3])
		q, code = q[4:], code[4:]
	}
	for i, w := range q {
		n += bits.OnesCount64(w ^ code[i])
	}
	return n
}
