package lexical

import (
	"slices"

	"github.com/bits-and-blooms/bitset"
)

// Deleted documents cost memory and time, so a collection with many of them is
// rewritten. Each Apply does a part of the work, list by list, while searches use
// the old lists. Postings that are added meanwhile go to the old lists and are
// copied at the end.
//
// Documents that existed at the start get consecutive new numbers; the numbers of
// later documents are reduced by a constant.

// compactionLimits are the threshold of a compaction and the size of its steps.
type compactionLimits struct {
	minDeleted       int // documents at least, and a quarter of the collection
	postingsPerApply int // postings that an Apply processes at least
}

// 65,536 postings take half a millisecond.
var defaultLimits = compactionLimits{minDeleted: 1024, postingsPerApply: 1 << 16}

type compaction struct {
	numbers []uint32      // new ones of the documents that existed when it began; none of a deleted one
	removed uint32        // deleted documents by then
	lists   []postingList // by slot, as far as rewritten
}

// compact continues the compaction of c after added terms, or starts one if c has
// enough deleted documents.
func (x *Index) compact(c *collection, added int) {
	if c.compaction == nil {
		if len(c.deletions) < x.limits.minDeleted || len(c.deletions)*4 < len(c.ids) {
			return
		}
		c.compaction = newCompaction(c)
	}
	// Twice the added postings, so that the compaction ends.
	if c.compaction.advance(c, max(x.limits.postingsPerApply, 2*added)) {
		c.finishCompaction(x.locations)
	}
}

func newCompaction(c *collection) *compaction {
	w := &compaction{numbers: make([]uint32, len(c.ids)), lists: make([]postingList, 0, len(c.lists))}
	for doc := range w.numbers {
		w.numbers[doc] = uint32(doc) - w.removed
		if c.deleted.Test(uint(doc)) {
			w.numbers[doc] = none
			w.removed++
		}
	}
	return w
}

// renumber returns the new number of a document, none if it was deleted at the start.
func (w *compaction) renumber(doc uint32) uint32 {
	if int(doc) < len(w.numbers) {
		return w.numbers[doc]
	}
	return doc - w.removed
}

// advance rewrites lists with about as many postings and reports whether all lists
// are done.
func (w *compaction) advance(c *collection, postings int) bool {
	for len(w.lists) < len(c.lists) && postings > 0 {
		l := &c.lists[len(w.lists)]
		w.lists = append(w.lists, w.rewrite(l, c.lengths))
		postings -= int(l.length) + 1
	}
	return len(w.lists) == len(c.lists)
}

// rewrite copies the postings of the documents that existed at the start.
func (w *compaction) rewrite(l *postingList, lengths []uint32) postingList {
	out := newPostingList()
	out.data = make([]byte, 0, len(l.data))
	for doc, count := range l.from(0) {
		if int(doc) >= len(w.numbers) {
			break
		}
		if n := w.numbers[doc]; n != none {
			out.add(n, count, lengths[doc])
		}
	}
	out.data = slices.Clone(out.data)
	out.blocks = slices.Clip(out.blocks)
	return out
}

// finishCompaction copies the postings added since the start and replaces the old
// lists.
func (c *collection) finishCompaction(d locationMap) {
	w := c.compaction
	start := uint32(len(w.numbers))
	for slot := range w.lists {
		l := &c.lists[slot]
		for doc, count := range l.from(l.find(0, start)) {
			if doc >= start {
				w.lists[slot].add(w.renumber(doc), count, c.lengths[doc])
			}
		}
	}
	kept := len(c.ids) - int(w.removed)
	ids, lengths := make([]int64, 0, kept), make([]uint32, 0, kept)
	var deleted bitset.BitSet
	for doc, id := range c.ids {
		switch n := w.renumber(uint32(doc)); {
		case n == none:
			continue
		case c.deleted.Test(uint(doc)):
			deleted.Set(uint(n))
		default:
			d.set(id, location{c.number, n})
		}
		ids = append(ids, id)
		lengths = append(lengths, c.lengths[doc])
	}
	deletions := make([]uint32, 0, len(c.deletions)-int(w.removed))
	for _, doc := range c.deletions[w.removed:] {
		deletions = append(deletions, w.renumber(doc))
	}
	c.ids, c.lengths, c.deleted, c.deletions, c.lists, c.compaction = ids, lengths, deleted, deletions, w.lists, nil
	c.freeSlots()
}

func (c *collection) freeSlots() {
	for slot, stem := range c.stems {
		if stem != "" && c.lists[slot].length == 0 {
			delete(c.slots, stem)
			c.stems[slot] = ""
			c.free = append(c.free, uint32(slot))
		}
	}
}
