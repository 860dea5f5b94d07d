package lexical

import (
	"math/bits"
	"slices"
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
	start      uint32        // number of the next document when the compaction began
	deleted    bitmap        // documents deleted by then
	before     []uint32      // by word of deleted: its members in the words before
	removed    uint32        // members of deleted
	lists      []postingList // by slot, as far as rewritten
	restBlocks []int         // by slot: the first block with postings to copy at the end
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
	w := &compaction{
		start:      uint32(len(c.ids)),
		deleted:    append(bitmap(nil), c.deleted...),
		before:     make([]uint32, len(c.deleted)),
		removed:    uint32(len(c.deletions)),
		lists:      make([]postingList, 0, len(c.lists)),
		restBlocks: make([]int, 0, len(c.lists)),
	}
	n := 0
	for i, word := range w.deleted {
		w.before[i] = uint32(n)
		n += bits.OnesCount64(word)
	}
	return w
}

// renumber returns the new number of a document that was not deleted at the start.
func (w *compaction) renumber(doc uint32) uint32 {
	word := int(doc >> 6)
	if doc >= w.start || word >= len(w.deleted) {
		return doc - w.removed
	}
	return doc - w.before[word] - uint32(bits.OnesCount64(w.deleted[word]&(1<<(doc&63)-1)))
}

// advance rewrites lists with about as many postings and reports whether all lists
// are done.
func (w *compaction) advance(c *collection, postings int) bool {
	for len(w.lists) < len(c.lists) && postings > 0 {
		l := &c.lists[len(w.lists)]
		fresh, rest := w.rewrite(l, c.lengths)
		w.lists = append(w.lists, fresh)
		w.restBlocks = append(w.restBlocks, rest)
		postings -= int(l.length) + 1
	}
	return len(w.lists) == len(c.lists)
}

// rewrite copies the postings of the documents that existed at the start. rest is
// the first block that holds postings of later documents.
func (w *compaction) rewrite(l *postingList, lengths []uint32) (out postingList, rest int) {
	out = newPostingList()
	out.data = make([]byte, 0, len(l.data))
	var r decoded
	for ; rest < l.blockCount(); rest++ {
		n := l.decode(rest, &r)
		for i, doc := range r.docs[:n] {
			if doc < w.start && !w.deleted.has(doc) {
				out.add(w.renumber(doc), r.repeats[i]+1, lengths[doc])
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

// finishCompaction copies the postings added since the start and replaces the old
// lists.
func (c *collection) finishCompaction(d locationMap) {
	w := c.compaction
	for slot := range w.lists {
		for doc, count := range c.lists[slot].from(w.restBlocks[slot]) {
			if doc >= w.start {
				w.lists[slot].add(w.renumber(doc), count, c.lengths[doc])
			}
		}
	}
	kept := len(c.ids) - int(w.removed)
	ids, lengths := make([]int64, 0, kept), make([]uint32, 0, kept)
	var deleted bitmap
	for doc, id := range c.ids {
		n := uint32(len(ids))
		switch old := uint32(doc); {
		case w.deleted.has(old):
			continue
		case c.deleted.has(old):
			deleted.set(n)
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
