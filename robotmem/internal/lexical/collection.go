package lexical

import "strings"

// A collection has a dictionary and postings of its own, so that its statistics
// are its own too. Documents are numbered in the order of arrival. A replaced
// or removed one keeps its number and its postings, and is marked dead, until a
// compaction takes them away.
type collection struct {
	name    string
	place   uint32            // its index in Index.collections, plus 1
	slots   map[string]uint32 // stem -> index in lists
	stems   []string          // by slot; "" in a free slot
	lists   []list            // by slot
	free    []uint32          // slots to use again
	ids     []int64           // by document number
	lengths []uint32          // by document number, in terms
	dead    bitmap            // document numbers
	deaths  []uint32          // the members of dead in the order of their death
	living  statistics
	work    *compaction // under way, or nil
}

func newCollection(name string, place uint32) *collection {
	return &collection{name: name, place: place, slots: map[string]uint32{}}
}

// occurrence is a term of the document that is being added.
type occurrence struct {
	slot  uint32
	count uint32
}

// tally counts the terms of a document. marks[slot] is where in seen the slot
// may be: it needs no clearing, as what stands there tells.
type tally struct {
	marks []uint32
	seen  []occurrence
}

func (t *tally) add(slot uint32) {
	for int(slot) >= len(t.marks) {
		t.marks = append(t.marks, make([]uint32, 1+len(t.marks))...)
	}
	if at := t.marks[slot]; at < uint32(len(t.seen)) && t.seen[at].slot == slot {
		t.seen[at].count++
		return
	}
	t.marks[slot] = uint32(len(t.seen))
	t.seen = append(t.seen, occurrence{slot, 1})
}

// add appends a document and returns its number.
func (c *collection) add(d Document, t *tally) uint32 {
	doc, length := uint32(len(c.ids)), uint32(len(d.Terms))
	c.ids = append(c.ids, d.ID)
	c.lengths = append(c.lengths, length)
	c.living.rows++
	c.living.terms += int64(length)
	t.seen = t.seen[:0]
	for _, stem := range d.Terms {
		slot, ok := c.slots[stem]
		if !ok {
			slot = c.slot(stem)
		}
		t.add(slot)
	}
	for _, o := range t.seen {
		c.lists[o.slot].add(doc, o.count, length)
	}
	return doc
}

// slot makes room for a new stem. The stem is copied, as it may be part of a
// large text.
func (c *collection) slot(stem string) uint32 {
	stem = strings.Clone(stem)
	if last := len(c.free) - 1; last >= 0 {
		slot := c.free[last]
		c.free = c.free[:last]
		c.stems[slot], c.lists[slot] = stem, newList()
		c.slots[stem] = slot
		return slot
	}
	slot := uint32(len(c.lists))
	c.stems = append(c.stems, stem)
	c.lists = append(c.lists, newList())
	c.slots[stem] = slot
	return slot
}

// kill marks a document dead.
func (c *collection) kill(doc uint32) {
	c.dead.set(doc)
	c.deaths = append(c.deaths, doc)
	c.living.rows--
	c.living.terms -= int64(c.lengths[doc])
}

// list returns the postings of a stem with the number of living documents that
// hold it, or nil if none does.
func (c *collection) list(stem string) (*list, int) {
	slot, ok := c.slots[stem]
	if !ok {
		return nil, 0
	}
	l := &c.lists[slot]
	if n := l.living(c.dead, c.deaths); n > 0 {
		return l, n
	}
	return nil, 0
}
