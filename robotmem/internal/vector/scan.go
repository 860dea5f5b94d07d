package vector

import (
	"math/bits"
	"runtime"
	"sync"
)

// The first tier of a search compares the signs of the question with every code
// and keeps the limit codes that differ in the fewest bits. A collector counts
// how many codes it took of each distance, and so knows the distance at which it
// has enough: only nearer codes can still get in. Codes come in the order of
// their ids and smaller ids win among equals, so the outcome depends on the set
// alone, and not on how the scan is split.

// candidate is a code that the scan let through.
type candidate struct {
	id       int32
	distance int32 // bits that differ
}

type collector struct {
	limit  int
	bound  int32   // only codes of a smaller distance are taken
	within int     // how many were taken of distances up to bound
	tally  []int32 // how many were taken of each distance
	found  []candidate
}

// reset starts a scan that keeps limit codes.
func (c *collector) reset(limit int) {
	clear(c.tally)
	c.limit, c.within, c.found = limit, 0, c.found[:0]
	c.bound = int32(len(c.tally) - 1) // one more than any distance
}

// take adds a code whose distance is below the bound, and lowers the bound as
// far as what was taken allows.
func (c *collector) take(id, distance int) {
	c.found = append(c.found, candidate{int32(id), int32(distance)})
	c.tally[distance]++
	c.within++
	for c.within-int(c.tally[c.bound]) >= c.limit {
		c.within -= int(c.tally[c.bound])
		c.bound--
	}
}

// merge adds what another collector found in a part with larger ids.
func (c *collector) merge(d *collector) {
	for _, f := range d.found {
		if f.distance < c.bound {
			c.take(int(f.id), int(f.distance))
		}
	}
}

// best drops what was taken before the bound fell below it. It must be the last
// call before the next reset.
func (c *collector) best() []candidate {
	if len(c.found) <= c.limit {
		return c.found
	}
	room := c.limit - (c.within - int(c.tally[c.bound])) // for those at the bound
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

// workerShare is the fewest codes that pay for a goroutine of their own: half of
// it gained nothing.
const workerShare = 1 << 17

// maxWorkers leaves cores to the rest of the robot; more of them gain little,
// because a scan waits for memory.
const maxWorkers = 4

// scan collects the best limit codes of members, which are those of within when
// it is not nil. The caller holds the lock.
func (x *Index) scan(s *scratch, within []uint64, members, limit int) []candidate {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, members/workerShare)
	if workers < 2 {
		s.collectors[0].reset(limit)
		x.scanChunks(&s.collectors[0], s.signs, within, 0, len(x.chunks))
		return s.collectors[0].best()
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
	return s.collectors[0].best()
}

func (x *Index) scanChunks(c *collector, question, within []uint64, from, to int) {
	for i := from; i < to; i++ {
		k := x.chunks[i]
		if k == nil || k.count == 0 {
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
			if word == 0 {
				continue
			}
			base := i*chunkSlots + w*64
			codes := k.signs[w*64*x.words : (w+1)*64*x.words]
			switch {
			case word == ^uint64(0) && x.words == 6:
				scanFull6(c, (*[6]uint64)(question), codes, base)
			case word == ^uint64(0):
				scanFull(c, question, codes, base)
			default:
				scanSome(c, question, codes, base, word)
			}
		}
	}
}

// chunkFilter is the part of within that chunk i sees, shorter when within ends
// before it does.
func chunkFilter(within []uint64, i int) []uint64 {
	const words = chunkSlots / 64
	if from := i * words; from < len(within) {
		return within[from:min(from+words, len(within))]
	}
	return nil
}

// scanFull6 is scanFull for 384 dimensions, the commonest size of small models.
func scanFull6(c *collector, q *[6]uint64, codes []uint64, base int) {
	q0, q1, q2, q3, q4, q5 := q[0], q[1], q[2], q[3], q[4], q[5]
	for slot := 0; len(codes) >= 6; slot++ {
		k := (*[6]uint64)(codes)
		distance := bits.OnesCount64(k[0]^q0) + bits.OnesCount64(k[1]^q1) + bits.OnesCount64(k[2]^q2) +
			bits.OnesCount64(k[3]^q3) + bits.OnesCount64(k[4]^q4) + bits.OnesCount64(k[5]^q5)
		if int32(distance) < c.bound {
			c.take(base+slot, distance)
		}
		codes = codes[6:]
	}
}

// scanFull scans 64 codes that are all there.
func scanFull(c *collector, q, codes []uint64, base int) {
	for slot := 0; len(codes) >= len(q); slot++ {
		if distance := hamming(q, codes); int32(distance) < c.bound {
			c.take(base+slot, distance)
		}
		codes = codes[len(q):]
	}
}

// scanSome scans those of 64 codes whose bit is set in word.
func scanSome(c *collector, q, codes []uint64, base int, word uint64) {
	for ; word != 0; word &= word - 1 {
		slot := bits.TrailingZeros64(word)
		if distance := hamming(q, codes[slot*len(q):]); int32(distance) < c.bound {
			c.take(base+slot, distance)
		}
	}
}

// hamming counts the bits in which q and as many words of code differ.
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
