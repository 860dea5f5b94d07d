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

	// The scan passes scanFactor codes for each vector that may be read, and at least minScan. It sorts
	// worse than the estimate, so it loses neighbours first. An estimate costs a thirtieth of a read.
	scanFactor = 24
	minScan    = 2048

	// A set of up to exactFactor times the vectors that would be read is read
	// completely: at most three times the time, for an exact answer.
	exactFactor = 3
	// After the first firstReads vectors, a vector is read only if its estimate plus doubt
	// times the standard error of the estimates reaches the best exact value number sureHits.
	firstReads, sureHits, doubt = 80, 40, 2.5
)

type scratch struct {
	centred    []float32 // the vector less the mean, rotated
	block      []float32 // buffer of the rotation
	signs      []uint64  // output of encode
	lows       []uint64
	question   question
	planes     planes
	collectors [maxWorkers]collector
	first      []estimated // by id, read before the rest
	rest       []estimated
	ids        []int64
	wide       []float64
	members    []uint64 // of each group, those that a filter admits
	near       []float32
	groups     []group
}

func newScratch(dims, words int) *scratch {
	s := &scratch{
		centred:  make([]float32, dims),
		block:    make([]float32, dims),
		signs:    make([]uint64, words),
		lows:     make([]uint64, words),
		question: newQuestion(words),
		wide:     make([]float64, dims),
	}
	s.planes.bits = make([]uint64, words*planeBits)

	return s
}

// Search returns at most q.N memories, the most similar first, equal ones by the smaller id.
// Every similarity is computed from the stored vector, in float64 and in one order, so equal
// vectors tie exactly. The memories to compare are all members of a small set and are estimated
// for a large one; [Index.Tune] returns how well. A memory that load does not have is skipped.
func (x *Index) Search(q Query, load Source) ([]Hit, error) {
	return x.search(q, x.Rescore(), int(x.parts.Load()), load)
}

func (x *Index) search(q Query, rescore, parts int, load Source) ([]Hit, error) {
	if err := x.checkUnit(q.Vector); err != nil {
		return nil, fmt.Errorf("vector: the question: %w", err)
	}
	if q.N < 1 || q.N > MaxN {
		return nil, fmt.Errorf("vector: %d hits asked for, want 1 to %d", q.N, MaxN)
	}

	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	x.selectIDs(s, q, rescore, parts)

	for i, f := range q.Vector {
		s.wide[i] = float64(f)
	}

	// The first vectors that are read show how wrong the estimates are, and so which of the others may still be among
	// the hits.
	hits, err := x.score(s, nil, load)
	if err == nil && len(s.rest) > 0 {
		x.selectRest(s, hits, x.alongMean(q.Vector), min(q.N, sureHits))
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
func (x *Index) selectIDs(s *scratch, q Query, rescore, parts int) {
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
	if members == x.count {
		within = nil
	}

	// A small set is read completely, so that its answer is exact.
	if members <= exactFactor*reads {
		x.listMembers(s, within)
		return
	}

	x.centre(s, q.Vector)
	s.question.set(s.centred)
	s.planes.set(s.centred)
	x.selectGroups(s, within, members, parts)
	candidates := x.scan(s, min(members, max(minScan, reads*scanFactor)))
	best := selectBest(x.estimate(s, candidates), reads)
	s.first = selectBest(best, min(reads, max(firstReads, q.N+q.N/extraReads)))
	s.rest = best[len(s.first):]
	slices.SortFunc(s.first, func(a, b estimated) int { return cmp.Compare(a.id, b.id) })

	for _, g := range s.first {
		s.ids = append(s.ids, int64(g.id))
	}
}

// selectRest writes to s.ids the ids of s.rest that may be among the first n. The error is measured on the hits,
// which were read because their estimates are the best. Most of these estimates are too high, so the measured error
// is larger than usual.
func (x *Index) selectRest(s *scratch, hits []Hit, alongMean float64, n int) {
	offset := alongMean - x.alongMean(x.mean) // the terms that are the same for all, see code.go
	square := 0.0
	least := math.Inf(-1)

	for _, h := range hits {
		at, _ := slices.BinarySearchFunc(s.first, h.ID,
			func(g estimated, id int64) int { return cmp.Compare(int64(g.id), id) })
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
	for _, word := range x.members(within) {
		n += bits.OnesCount64(word)
	}

	return n
}

func (x *Index) listMembers(s *scratch, within []uint64) {
	for base, word := range x.members(within) {
		for ; word != 0; word &= word - 1 {
			s.ids = append(s.ids, int64(base+bits.TrailingZeros64(word)))
		}
	}
}

// members visits the members among 64 neighbouring ids as bits, with the first id, for each 64 that
// have any. Members are those of within unless it is nil.
func (x *Index) members(within []uint64) iter.Seq2[int, uint64] {
	return func(yield func(base int, word uint64) bool) {
		for i, p := range x.pages {
			if p == nil || p.count == 0 {
				continue
			}

			for w, word := range p.present {
				if at := i*len(p.present) + w; at < len(within) {
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

// The first tier of a search keeps the limit codes that look best by their signs, of equal ones
// those of smaller ids, so the result does not depend on the order of the codes or on how the scan
// is split.

type collector struct {
	limit   int
	bound   float32     // only codes of a larger estimate are added
	found   []estimated // fewer than twice the limit
	fetched uint64      // keeps the compiler from removing the reads of estimate that fetch codes
}

// reset starts a scan that keeps limit codes.
func (c *collector) reset(limit int, bound float32) {
	c.limit, c.bound, c.found = limit, bound, c.found[:0]
}

// add adds a code whose estimate is above the bound.
func (c *collector) add(g estimated) {
	c.found = append(c.found, g)
	if len(c.found) == 2*c.limit {
		c.cut()
	}
}

// cut keeps the best limit codes and raises the bound to just below the last of them: a later code
// with its estimate may have a smaller id.
func (c *collector) cut() {
	if len(c.found) < c.limit {
		return
	}
	c.found = selectBest(c.found, c.limit)
	last := slices.MinFunc(c.found, func(a, b estimated) int { return cmp.Compare(a.estimate, b.estimate) })
	c.bound = math.Nextafter32(last.estimate, float32(math.Inf(-1)))
}

// merge adds what others have found, and keeps the best limit codes.
func (c *collector) merge(others []collector) {
	for i := range others {
		c.found = append(c.found, others[i].found...)
	}
	c.cut()
}

const (
	workerShare = 1 << 17 // codes for which another goroutine pays off; with half as many it gained nothing
	maxWorkers  = 4       // more gain little, because a scan is bound by memory bandwidth
	// In a large set, every sampleStep-th group of 64 codes is scanned first. The sample gives a bound, so that
	// the full scan adds few codes that are dropped later.
	sampleStep = 16
)

// scan returns the best limit codes of the members in s.groups, in no order. The caller holds the lock.
func (x *Index) scan(s *scratch, limit int) []estimated {
	members := 0
	for _, g := range s.groups {
		members += bits.OnesCount64(g.members)
	}

	all := &s.collectors[0]
	lowest := float32(math.Inf(-1))
	pass := func(step, limit int, bound float32) {
		workers := share(len(s.groups), members/workerShare, func(w, from, to int) {
			c := &s.collectors[w]
			c.reset(limit, bound)
			x.scanGroups(c, s, step, from, to)
		})
		all.merge(s.collectors[1:workers])
	}
	bound := lowest
	if members >= 4*limit {
		// The sample keeps a quarter more codes than its share, so that its bound is rarely too high.
		pass(sampleStep, limit/sampleStep*5/4, bound)
		bound = all.bound
	}

	// If the bound was too high nevertheless, the scan is repeated without it.
	pass(1, limit, bound)
	if len(all.found) < min(limit, members) {
		pass(1, limit, lowest)
	}

	return all.found
}

// share divides n items among at most most goroutines and returns their number. It may be larger than the number of
// cores, because other work uses these too.
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

// scanGroups scans one of step groups in s.groups[from:to].
func (x *Index) scanGroups(c *collector, s *scratch, step, from, to int) {
	q := &s.question
	for i := (from + step - 1) / step * step; i < to; i += step {
		slot, word := s.groups[i].first, s.groups[i].members
		k := x.chunks[slot>>chunkBits]
		signs, terms := k.group(slot, x.words)
		// The assembly is for 384 dimensions, the most common size of small models.
		if x.words == 6 && hasAVX2 && bits.OnesCount64(word) >= 4 {
			next := s.groups[min(i+step, to-1)].first
			nextSigns, nextTerms := x.chunks[next>>chunkBits].group(next, x.words)
			// Few codes are above the bound. They are estimated again below, because the bound rises as codes are added.
			word &= above6(&signs[0], &terms[0], (*[12]uint64)(q.both), &nextSigns[0], &nextTerms[0], int64(q.count),
				q.factor, c.bound)
		}

		for ; word != 0; word &= word - 1 {
			at := bits.TrailingZeros64(word)
			if estimate := q.glance(signs[at*x.words:], terms[2*at:]); estimate > c.bound {
				at += int(slot)
				c.add(estimated{k.ids[at&chunkMask], int32(at), estimate})
			}
		}
	}
}

// group returns the signs and the terms of a group.
func (c *codes) group(first int32, words int) (signs []uint64, terms []float32) {
	at := int(first & chunkMask)
	return c.signs[at*words : (at+groupSize)*words], c.terms[2*at : 2*(at+groupSize)]
}
