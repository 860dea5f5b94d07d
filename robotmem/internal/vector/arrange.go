package vector

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// Most codes of a large set are far from a query, and a search spends most of its time on their signs.
// Therefore [Index.Arrange] places similar codes together: it halves the set repeatedly across
// the axis between two means, down to groups of 64 codes, and stores a code of the centre of each group. A
// search compares the centres and scans the nearest groups, which hold a half or a quarter
// of its members, if [Index.Tune] finds that these are enough. All vectors that were put after the
// last arrangement are scanned.

const (
	// Below arrangeLeast vectors a scan of all takes no longer than a comparison with the centres.
	arrangeLeast = 1 << 18
	// axisSample members of a part give its axis, in axisRounds rounds.
	axisSample, axisRounds = 256, 3
	// mostParts is the most parts of the groups of which the best is scanned.
	mostParts = 4
	// moveBatch codes are moved while searches wait.
	moveBatch = 1024
)

// Arrange places similar codes of a large set together, if at least half as many have changed as were arranged
// before. Searches and changes go on meanwhile. An error is that of ctx.
func (x *Index) Arrange(ctx context.Context) error {
	x.arranging.Lock()
	defer x.arranging.Unlock()
	x.mu.Lock()
	used, before := x.next, x.fixed
	// loose counts the slots that were used after the last arrangement, and the free ones.
	if loose := used - before + used - x.count; loose < max(x.large, before/2) {
		x.mu.Unlock()
		return nil
	}

	// Vectors keep their slots while the order is computed without the lock.
	x.fixed = used

	order := make([]estimated, 0, x.count)
	for i, c := range x.chunks {
		for at, id := range c.ids {
			if id != 0 {
				order = append(order, estimated{id: id, slot: int32(i<<chunkBits + at)})
			}
		}
	}

	x.mu.Unlock()
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	if err := x.halve(ctx, s, order); err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.fixed = before
		return err
	}

	centres := x.centresOf(s, x.move(order, used))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.centres = centres
	x.unsaved.Store(true)

	return nil
}

// Unsaved reports whether codes were arranged since the last Write.
func (x *Index) Unsaved() bool { return x.unsaved.Load() }

// halve orders a part so that codes which are alike are together.
func (x *Index) halve(ctx context.Context, s *scratch, part []estimated) error {
	if len(part) <= groupSize {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}

	sample := make([]estimated, min(axisSample, max(groupSize/2, len(part)/8)))
	for i := range sample {
		sample[i] = part[i*len(part)/len(sample)]
	}

	s.planes.set(x.axis(s, sample))
	x.project(s, part)
	// The first half is a whole number of groups, so that no group spans two parts.
	half := (len(part)/2 + groupSize - 1) / groupSize * groupSize
	selectBest(part, half)
	if err := x.halve(ctx, s, part[:half]); err != nil {
		return err
	}

	return x.halve(ctx, s, part[half:])
}

// axis returns the difference of the means of the two halves of a sample. The halves are the sides of the axis of
// the previous round; the first axis goes from one member to another.
func (x *Index) axis(s *scratch, sample []estimated) []float32 {
	for round := range axisRounds {
		clear(s.centred)
		x.mu.RLock()

		for i, g := range sample {
			if round > 0 || i == 0 || i == len(sample)-1 {
				c, at := x.code(g.slot)
				c.addTo(s.centred, at, float32(1-i*2/len(sample)*2))
			}
		}
		x.mu.RUnlock()
		if round < axisRounds-1 {
			s.planes.set(s.centred)
			x.project(s, sample)
			selectBest(sample, len(sample)/2)
		}
	}

	return s.centred
}

// project estimates the inner products of s.planes and codes.
func (x *Index) project(s *scratch, part []estimated) {
	for batch := range slices.Chunk(part, moveBatch) {
		x.mu.RLock()

		for i, g := range batch {
			c, at := x.code(g.slot)
			batch[i].estimate = s.planes.estimate(c, at) - c.terms[2*at+1]
		}
		x.mu.RUnlock()
	}
}

// move places the codes of an order in the first slots and the codes that were put meanwhile behind them. It
// returns the number of groups that are full of ordered codes.
func (x *Index) move(order []estimated, used int) (groups int) {
	placed := 0

	for batch := range slices.Chunk(order, moveBatch) {
		x.mu.Lock()

		// The old centres no longer describe the groups, so searches scan all groups until the new ones are there.
		x.centres = codes{}
		for _, g := range batch {
			if slot, held := x.slot(int64(g.id)); held && slot < used {
				x.exchange(placed, slot)
				placed++
			}
		}
		x.mu.Unlock()
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	groups = placed / groupSize
	x.fixed = groups * groupSize

	to := x.fixed
	for slot := to; slot < x.next; slot++ {
		if c := x.chunks[slot>>chunkBits]; c.ids[slot&chunkMask] != 0 {
			x.exchange(to, slot)
			to++
		}
	}

	x.next = to
	x.dropUnused()

	return groups
}

// dropUnused drops the chunks behind the last slot that was used.
func (x *Index) dropUnused() {
	used := min(len(x.chunks), (x.next+chunkSlots-1)/chunkSlots)
	clear(x.chunks[used:])
	x.chunks = x.chunks[:used]
}

// exchange swaps what two slots hold.
func (x *Index) exchange(a, b int) {
	if a == b {
		return
	}

	c, i := x.chunks[a>>chunkBits], a&chunkMask

	d, j := x.chunks[b>>chunkBits], b&chunkMask
	for w := range x.words {
		v, u := i*x.words+w, j*x.words+w
		c.signs[v], d.signs[u] = d.signs[u], c.signs[v]
		c.lows[v], d.lows[u] = d.lows[u], c.lows[v]
	}

	for w := range 2 {
		c.terms[2*i+w], d.terms[2*j+w] = d.terms[2*j+w], c.terms[2*i+w]
	}

	idA, idB := int64(c.ids[i]), int64(d.ids[j])
	for _, slot := range [2]int{a, b} {
		if x.chunks[slot>>chunkBits].ids[slot&chunkMask] != 0 {
			x.free(slot)
		}
	}

	if idA != 0 {
		x.take(b, idA)
	}
	if idB != 0 {
		x.take(a, idB)
	}
}

// centresOf returns codes of the means of the first groups. Their slots are fixed.
func (x *Index) centresOf(s *scratch, groups int) codes {
	centres := makeCodes(groups, x.words)
	for g := range groups {
		clear(s.centred)
		shift := float32(0)
		x.mu.RLock()

		for slot := g * groupSize; slot < (g+1)*groupSize; slot++ {
			c, at := x.code(int32(slot))
			c.addTo(s.centred, at, 1./groupSize)
			shift += c.terms[2*at+1] / groupSize
		}
		x.mu.RUnlock()
		scale := x.quantize(s)
		centres.set(g, s.signs, s.lows, scale, shift)
	}

	return centres
}

// group is 64 neighbouring slots, of which the members are scanned.
type group struct {
	first   int32 // slot
	members uint64
}

// selectGroups writes the groups of the members to s.groups: those that came after the last
// arrangement, and of the others the nearest, which have at least one of parts of the members.
func (x *Index) selectGroups(s *scratch, within []uint64, members, parts int) {
	all, arranged := (x.next+groupSize-1)/groupSize, len(x.centres.terms)/2
	// Scanning so few members takes no longer than comparing the centres.
	if parts == 1 || x.count < x.large || members < all {
		arranged = 0
	}

	s.members = slices.Grow(s.members[:0], all)[:all]
	if within == nil {
		for i, c := range x.chunks {
			copy(s.members[i*len(c.present):], c.present[:])
		}
	} else {
		clear(s.members)

		for base, word := range x.members(within) {
			for p := x.pages[base>>chunkBits]; word != 0; word &= word - 1 {
				slot := p.slots[base&chunkMask+bits.TrailingZeros64(word)]
				s.members[slot/groupSize] |= 1 << (slot % groupSize)
			}
		}
	}

	s.near = slices.Grow(s.near[:0], arranged)[:arranged]
	share(arranged, arranged/4096, func(_, from, to int) {
		for g := from; g < to; g++ {
			s.near[g] = s.planes.estimate(&x.centres, g)
		}
	})
	least := nearest(s.near, s.members[:arranged], parts)

	s.groups = s.groups[:0]
	for g, word := range s.members {
		if word != 0 && (g >= arranged || s.near[g] >= least) {
			s.groups = append(s.groups, group{int32(g * groupSize), word})
		}
	}
}

// nearest returns the estimate from which on groups hold one of parts of the members, to 1/1024 of
// the range of the estimates.
func nearest(estimates []float32, members []uint64, parts int) float32 {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, e := range estimates {
		low, high = min(low, e), max(high, e)
	}

	// A histogram of the members by the estimate of their group replaces sorting the groups.
	var held [1024]int
	width, total := (high-low)/float32(len(held)), 0

	for g, e := range estimates {
		n := bits.OnesCount64(members[g])
		held[max(0, min(int((e-low)/width), len(held)-1))] += n
		total += n
	}

	i := len(held)
	for sum := 0; i > 0 && sum*parts < total; sum += held[i] {
		i--
	}

	if i == 0 {
		return low
	}

	return low + float32(i)*width
}
