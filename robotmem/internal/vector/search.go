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

	// The scan passes scanFactor codes for each vector that is read, and at least minScan. It uses
	// signs alone and sorts much worse than the estimate, so it loses neighbours first: with half
	// of this factor four times as many as the rescore. An estimate costs a thirtieth of a read.
	scanFactor = 16
	minScan    = 4096

	// A set of up to exactFactor times the vectors that would be read is read
	// completely: at most three times the time, for an exact answer.
	exactFactor = 3
	// Of a larger rescore than firstReads, the rest is read only where its estimate plus doubt
	// times the error of the estimates that were read reaches the last of sureHits.
	firstReads, sureHits, doubt = 80, 12, 3
)

type scratch struct {
	centred    []float32 // the vector less the mean, rotated
	block      []float32 // buffer of the rotation
	signs      []uint64  // output of encode and packSigns
	lows       []uint64
	planes     planes
	collectors [maxWorkers]collector
	estimates  []estimated
	first      []estimated // by id, read before the rest
	rest       []estimated
	ids        []int64
	wide       []float64
}

func newScratch(dims, words int) *scratch {
	s := &scratch{
		centred: make([]float32, dims),
		block:   make([]float32, dims),
		signs:   make([]uint64, words),
		lows:    make([]uint64, words),
		wide:    make([]float64, dims),
	}
	s.planes.bits = make([]uint64, words*planeBits)
	for i := range s.collectors {
		s.collectors[i].histogram = make([]int32, dims+2)
	}
	return s
}

// Search returns at most q.N memories, the most similar first, equal ones by the smaller id.
// Every similarity is computed from the stored vector, in float64 and in one order, so equal
// vectors tie exactly. The memories to compare are all members of a small set and are estimated
// for a large one; [Index.Tune] returns how well. A memory that load does not have is skipped.
func (x *Index) Search(q Query, load Source) ([]Hit, error) {
	return x.search(q, x.Rescore(), load)
}

func (x *Index) search(q Query, rescore int, load Source) ([]Hit, error) {
	if err := x.checkUnit(q.Vector); err != nil {
		return nil, fmt.Errorf("vector: the question: %w", err)
	}
	if q.N < 1 || q.N > MaxN {
		return nil, fmt.Errorf("vector: %d hits asked for, want 1 to %d", q.N, MaxN)
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	x.selectIDs(s, q, rescore)
	for i, f := range q.Vector {
		s.wide[i] = float64(f)
	}
	hits, err := x.score(s, nil, load)
	if err == nil && len(s.rest) > 0 {
		x.selectRest(s, hits, x.AlongMean(q.Vector), min(q.N, sureHits))
		hits, err = x.score(s, hits, load)
	}
	return hits[:min(q.N, len(hits))], err
}

// Rescore is the most stored vectors that a query reads, unless it asks for more hits.
func (x *Index) Rescore() int { return int(x.rescore.Load()) }

// SetRescore changes how many stored vectors a query may read; n is limited to 1 to
// [MaxRescore]. [Index.Tune] finds a good value, which should be stored with the set.
func (x *Index) SetRescore(n int) { x.rescore.Store(int64(max(1, min(n, MaxRescore)))) }

// selectIDs writes the ids of the vectors to read to s.ids, ascending. The lock is not
// held while they are read: the source skips vectors that are removed meanwhile, and
// a replaced vector is scored as the source has it.
func (x *Index) selectIDs(s *scratch, q Query, rescore int) {
	var within []uint64
	if q.Within != nil {
		within = q.Within.Words()
		if within == nil {
			within = []uint64{}
		}
	}
	reads := max(rescore, q.N+q.N/extraReads)
	s.ids, s.rest = s.ids[:0], nil
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
	best := selectBest(x.estimate(s, candidates), reads)
	s.first = selectBest(best, min(reads, max(firstReads, q.N+q.N/extraReads)))
	s.rest = best[len(s.first):]
	slices.SortFunc(s.first, func(a, b estimated) int { return cmp.Compare(a.id, b.id) })
	for _, g := range s.first {
		s.ids = append(s.ids, int64(g.id))
	}
}

// selectRest writes the ids of those of s.rest to s.ids that may be among the first n. The hits were
// read: their estimates are the best, so most are too good and their error is larger than usual.
func (x *Index) selectRest(s *scratch, hits []Hit, alongMean float64, n int) {
	offset, square, least := alongMean-x.AlongMean(x.mean), 0.0, math.Inf(-1) // offset: see code.go
	for _, h := range hits {
		at, _ := slices.BinarySearchFunc(s.first, h.ID, func(g estimated, id int64) int { return cmp.Compare(int64(g.id), id) })
		wrong := float64(s.first[at].estimate) + offset - h.Similarity
		square += wrong * wrong
	}
	if len(hits) >= n {
		least = hits[n-1].Similarity - offset - doubt*math.Sqrt(square/float64(len(hits)))
	}
	s.ids = s.ids[:0]
	for _, g := range s.rest {
		if float64(g.estimate) >= least {
			s.ids = append(s.ids, int64(g.id))
		}
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

// score reads s.ids and adds them to the hits, best first.
func (x *Index) score(s *scratch, hits []Hit, load Source) ([]Hit, error) {
	if len(s.ids) == 0 {
		return hits, nil
	}
	hits = slices.Grow(hits, len(s.ids))
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
	return hits, nil
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

// The first tier of a search compares the signs of the query with every code and keeps the limit
// codes that differ in the fewest bits. A collector counts the codes of each distance, and so
// knows the distance from which no code can be among the best. Codes come in the order of their
// ids and smaller ids win among equals, so the result does not depend on how the scan is split.

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
	fetched   uint64 // keeps the compiler from leaving out what estimate reads
}

// reset starts a scan that keeps limit codes.
func (c *collector) reset(limit int) {
	clear(c.histogram)
	c.limit, c.taken, c.found = limit, 0, c.found[:0]
	c.bound = int32(len(c.histogram) - 1) // one more than any distance
}

// add adds a code whose distance is below the bound and lowers the bound as far as possible.
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

const (
	workerShare = 1 << 17 // codes for which another goroutine pays off: half of it gained nothing
	maxWorkers  = 4       // more gain little, because a scan is bound by memory bandwidth
	// Of a large set, one group of 64 codes in sampleStep is scanned first. It shows below which
	// distance codes need to be added: while the bound falls, most are added in vain.
	sampleStep = 16
)

// scan returns the best limit codes of the members, which are those of within unless
// it is nil. The caller holds the lock.
func (x *Index) scan(s *scratch, within []uint64, members, limit int) []candidate {
	all := &s.collectors[0]
	pass := func(step, limit int, bound int32) {
		workers := share(len(x.chunks), members/workerShare, func(w, from, to int) {
			c := &s.collectors[w]
			c.reset(limit)
			c.bound = min(c.bound, bound)
			x.scanChunks(c, s.signs, within, step, from, to)
		})
		for w := 1; w < workers; w++ {
			all.merge(&s.collectors[w])
		}
	}
	bound := int32(math.MaxInt32)
	if members >= 4*limit {
		pass(sampleStep, limit/sampleStep*5/4, bound) // a quarter more than in the whole set
		bound = all.bound + 1
	}
	if pass(1, limit, bound); all.taken < limit {
		pass(1, limit, math.MaxInt32)
	}
	return all.candidates()
}

// share divides n items among at most most goroutines and returns how many: more than there are
// cores, which other work uses too.
func share(n, most int, work func(worker, from, to int)) (workers int) {
	workers = max(1, min(2*runtime.GOMAXPROCS(0)-1, maxWorkers, most))
	var wait sync.WaitGroup
	for w := 1; w < workers; w++ {
		wait.Go(func() { work(w, w*n/workers, (w+1)*n/workers) })
	}
	work(0, 0, n/workers)
	wait.Wait()
	return workers
}

// scanChunks scans one of step groups of 64 codes in the chunks from to to-1.
func (x *Index) scanChunks(c *collector, question, within []uint64, step, from, to int) {
	for base, word := range x.members(within, from, to) {
		if base/64%step != 0 {
			continue
		}
		slot := base & chunkMask
		codes := x.chunks[base>>chunkBits].signs[slot*x.words : (slot+64)*x.words]
		if x.words == 6 && hasPopcnt && bits.OnesCount64(word) >= 8 { // 384 dimensions, the most common size of small models
			word &= below6(&codes[0], (*[6]uint64)(question), int64(c.bound)) // few are; the bound falls as they are added
		}
		scanSome(c, question, codes, base, word)
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
func hamming(q, code []uint64) (n int) {
	for ; len(q) >= 6 && len(code) >= 6; q, code = q[6:], code[6:] {
		a, b := (*[6]uint64)(q), (*[6]uint64)(code)
		n += bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) + bits.OnesCount64(a[2]^b[2]) +
			bits.OnesCount64(a[3]^b[3]) + bits.OnesCount64(a[4]^b[4]) + bits.OnesCount64(a[5]^b[5])
	}
	for i, w := range q {
		n += bits.OnesCount64(w ^ code[i])
	}
	return n
}
