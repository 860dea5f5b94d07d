package lexical

import (
	"math/bits"
	"slices"
)

// Dead documents cost memory and time, so a collection in which they are many
// is written anew. That takes a while, and nobody should wait for it: each
// Apply does a part of the work, list by list, beside the lists in use; what
// arrives meanwhile goes to those as before, and is carried over at the end.
//
// The numbers of the documents from before the beginning close up, those of
// later ones move down by a constant.

// limits say when and in what portions to compact.
type limits struct {
	dead int // documents at least; and a quarter of the collection
	step int // postings an Apply goes through at least
}

// A step of 65,536 postings takes half a millisecond.
var defaultLimits = limits{dead: 1024, step: 1 << 16}

type compaction struct {
	start   uint32   // the number of the next document when it began
	dead    bitmap   // at that time
	before  []uint32 // by word of dead: its members in the words before
	removed uint32   // members of dead
	lists   []list   // by slot, written so far
	rests   []int    // by slot, the first block with postings to carry over
}

// compact goes on with the compaction of c, to which so many terms were just
// added, or begins one if c has need of it.
func (x *Index) compact(c *collection, added int) {
	if c.work == nil {
		if len(c.deaths) < x.limits.dead || len(c.deaths)*4 < len(c.ids) {
			return
		}
		c.work = newCompaction(c)
	}
	// Twice what came in, as the end must come nearer.
	if c.work.advance(c, max(x.limits.step, 2*added)) {
		c.finish(x.directory)
	}
}

func newCompaction(c *collection) *compaction {
	w := &compaction{
		start:   uint32(len(c.ids)),
		dead:    append(bitmap(nil), c.dead...),
		before:  make([]uint32, len(c.dead)),
		removed: uint32(len(c.deaths)),
		lists:   make([]list, 0, len(c.lists)),
		rests:   make([]int, 0, len(c.lists)),
	}
	n := 0
	for i, word := range w.dead {
		w.before[i] = uint32(n)
		n += bits.OnesCount64(word)
	}
	return w
}

// renumber returns the new number of a document that was not dead at the start.
func (w *compaction) renumber(doc uint32) uint32 {
	word := int(doc >> 6)
	if doc >= w.start || word >= len(w.dead) {
		return doc - w.removed
	}
	return doc - w.before[word] - uint32(bits.OnesCount64(w.dead[word]&(1<<(doc&63)-1)))
}

// advance writes lists with about so many postings anew, and tells whether all
// are done.
func (w *compaction) advance(c *collection, postings int) bool {
	for len(w.lists) < len(c.lists) && postings > 0 {
		l := &c.lists[len(w.lists)]
		fresh, rest := w.rewrite(l, c.lengths)
		w.lists = append(w.lists, fresh)
		w.rests = append(w.rests, rest)
		postings -= int(l.count) + 1
	}
	return len(w.lists) == len(c.lists)
}

// rewrite copies the postings of documents that were there and alive at the
// start, and returns the first block in which others follow.
func (w *compaction) rewrite(l *list, lengths []uint32) (out list, rest int) {
	out = newList()
	out.data = make([]byte, 0, len(l.data))
	var r run
	for ; rest < l.size(); rest++ {
		n := l.decode(rest, &r)
		for i, doc := range r.docs[:n] {
			if doc < w.start && !w.dead.has(doc) {
				out.add(w.renumber(doc), r.more[i]+1, lengths[doc])
			}
		}
		if n < blockSize || r.docs[n-1] >= w.start {
			break
		}
	}
	out.data = slices.Clone(out.data)
	out.blocks = slices.Clip(out.blocks)
	return out, rest
}

// finish carries over what came since the start, and puts the new lists in the
// place of the old ones.
func (c *collection) finish(d directory) {
	w := c.work
	for slot := range w.lists {
		w.carry(&w.lists[slot], &c.lists[slot], w.rests[slot], c.lengths)
	}
	kept := len(c.ids) - int(w.removed)
	ids, lengths := make([]int64, 0, kept), make([]uint32, 0, kept)
	var dead bitmap
	for doc, id := range c.ids {
		n := uint32(len(ids))
		switch old := uint32(doc); {
		case w.dead.has(old):
			continue
		case c.dead.has(old):
			dead.set(n)
		default:
			d.set(id, place{c.place, n})
		}
		ids = append(ids, id)
		lengths = append(lengths, c.lengths[doc])
	}
	deaths := make([]uint32, 0, len(c.deaths)-int(w.removed))
	for _, doc := range c.deaths[w.removed:] {
		deaths = append(deaths, w.renumber(doc))
	}
	c.ids, c.lengths, c.dead, c.deaths, c.lists, c.work = ids, lengths, dead, deaths, w.lists, nil
	c.release()
}

// carry appends the postings that came to an old list since the start to its
// new one. They begin in the block rest.
func (w *compaction) carry(to, from *list, rest int, lengths []uint32) {
	var r run
	for ; rest < from.size(); rest++ {
		n := from.decode(rest, &r)
		for i, doc := range r.docs[:n] {
			if doc >= w.start {
				to.add(w.renumber(doc), r.more[i]+1, lengths[doc])
			}
		}
	}
}

// release frees the slots of stems that no document holds any more.
func (c *collection) release() {
	for slot, stem := range c.stems {
		if stem != "" && c.lists[slot].count == 0 {
			delete(c.slots, stem)
			c.stems[slot] = ""
			c.free = append(c.free, uint32(slot))
		}
	}
}
