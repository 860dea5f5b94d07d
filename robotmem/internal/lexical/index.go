package lexical

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/bits-and-blooms/bitset"
)

// All stands for every collection in a query.
const All = "*"

// Document is a text as a list of stems.
type Document struct {
	ID         int64    // may be negative, but Query.Within admits none below 0
	Collection string   // any name but All
	Terms      []string // stems in any order, with repetitions; may be empty
	Context    []string // stems of a second field, which do not count for the length; see InContext
}

// contextMark begins the terms of the second field. No stem begins with it.
const contextMark = "\x1f"

// InContext returns the term that stands for a stem in the second field of documents. A query asks for
// both fields with a term for each.
func InContext(stem string) string { return contextMark + stem }

// Index holds the postings of all documents. Its methods are safe for concurrent use.
type Index struct {
	params     func(averageLength float64) Params
	minDeleted int       // documents before a collection is compacted
	pool       sync.Pool // of *scratch

	mu          sync.RWMutex // guards everything below
	names       map[string]*collection
	collections []*collection // nil where a collection was dropped
	locations   locationMap
	live        Stats // of all collections
	counter     termCounter
}

// New returns an empty index. The index calls params for the parameters of each
// query, with the mean length in terms of the texts that are searched. params is
// called under a lock and must not call the index.
func New(params func(averageLength float64) Params) *Index {
	return &Index{
		params:     params,
		minDeleted: 1024,
		names:      map[string]*collection{},
		locations:  locationMap{},
	}
}

// Apply removes documents, then puts others, in one step for concurrent searches. A put replaces
// the document of the same identifier in whatever collection it was. Removing an identifier that
// is not in the index does nothing, so the same changes may be applied again.
func (x *Index) Apply(put []Document, remove []int64) {
	x.mu.Lock()
	defer x.mu.Unlock()

	touched := map[*collection]bool{}
	for _, id := range remove {
		x.remove(id, touched)
	}

	for _, d := range put {
		x.remove(d.ID, touched)
		c := x.collection(d.Collection)
		doc := c.add(d, &x.counter)
		x.locations.set(d.ID, location{c.number, doc})
		x.live.Rows++
		x.live.Terms += int64(c.lengths[doc])
		touched[c] = true
	}

	// Empty collections and those with many deleted documents are tidied once, after all changes.
	for c := range touched {
		if c.live.Rows == 0 {
			delete(x.names, c.name)
			x.collections[c.number-1] = nil
		} else if len(c.deletions) >= x.minDeleted && len(c.deletions)*4 >= len(c.ids) {
			c.compact(x.locations)
		}
	}
}

func (x *Index) remove(id int64, touched map[*collection]bool) {
	at, ok := x.locations.get(id)
	if !ok {
		return
	}
	c := x.collections[at.collection-1]
	x.locations.set(id, location{})
	x.live.Rows--
	x.live.Terms -= int64(c.lengths[at.doc])
	c.deleted.Set(uint(at.doc))
	c.deletions = append(c.deletions, at.doc)
	c.live.Rows--
	c.live.Terms -= int64(c.lengths[at.doc])
	touched[c] = true
}

func (x *Index) collection(name string) *collection {
	c, ok := x.names[name]
	if ok {
		return c
	}
	x.collections = append(x.collections, nil)
	c = &collection{name: name, number: uint32(len(x.collections)), slots: map[string]uint32{}}
	x.collections[c.number-1], x.names[name] = c, c

	return c
}

// selected visits the collections of a name, of several names with commas between them, or all.
func (x *Index) selected(name string) iter.Seq[*collection] {
	return func(yield func(*collection) bool) {
		several := strings.Split(name, ",")
		if name != All && len(several) == 1 {
			if c := x.names[name]; c != nil {
				yield(c)
			}
			return
		}

		for _, c := range x.collections {
			if c != nil && (name == All || slices.Contains(several, c.name)) && !yield(c) {
				return
			}
		}
	}
}

// A collection has its own dictionary, posting lists and statistics. Documents are numbered in
// the order in which they are added. A replaced or removed document keeps its number and its
// postings and is marked as deleted until a compaction removes it.
type collection struct {
	name      string
	number    uint32            // its index in Index.collections, plus 1
	slots     map[string]uint32 // stem -> index in lists
	stems     []string          // by slot
	lists     []postingList     // by slot
	ids       []int64           // by document number
	lengths   []uint16          // by document number, in terms, at most maxLength
	deleted   bitset.BitSet     // document numbers
	deletions []uint32          // the members of deleted in the order of their deletion
	live      Stats
}

// maxLength is the largest length that is stored; a longer document counts with this length. Searches read the
// lengths of most postings, so lengths are small enough to stay in the processor's cache.
const maxLength = math.MaxUint16

type termCount struct {
	slot  uint32
	count uint32
}

// termCounter counts the terms of a document. positions[slot] is the index in counts
// of a slot if counts has that slot there, so that positions need no clearing.
type termCounter struct {
	positions []uint32
	counts    []termCount
}

func (t *termCounter) add(slot uint32) {
	for int(slot) >= len(t.positions) {
		t.positions = append(t.positions, make([]uint32, 1+len(t.positions))...)
	}
	if at := t.positions[slot]; at < uint32(len(t.counts)) && t.counts[at].slot == slot {
		t.counts[at].count++
		return
	}
	t.positions[slot] = uint32(len(t.counts))
	t.counts = append(t.counts, termCount{slot, 1})
}

func (c *collection) add(d Document, t *termCounter) uint32 {
	doc, length := uint32(len(c.ids)), uint32(min(len(d.Terms), maxLength))
	c.ids = append(c.ids, d.ID)
	c.lengths = append(c.lengths, uint16(length))
	c.live.Rows++
	c.live.Terms += int64(length)
	t.counts = t.counts[:0]

	for _, stem := range d.Terms {
		slot, ok := c.slots[stem]
		if !ok {
			// The stem may be part of a large text, which the clone does not keep in memory.
			slot = c.slot(strings.Clone(stem))
		}
		t.add(slot)
	}

	for _, stem := range d.Context {
		marked := InContext(stem)
		slot, ok := c.slots[marked]
		if !ok {
			slot = c.slot(marked)
		}
		t.add(slot)
	}

	for _, o := range t.counts {
		c.lists[o.slot].add(doc, o.count, length)
	}

	return doc
}

// slot allocates a slot for a new stem.
func (c *collection) slot(stem string) uint32 {
	slot := uint32(len(c.lists))
	c.stems, c.lists, c.slots[stem] = append(c.stems, stem), append(c.lists, newPostingList()), slot
	return slot
}

// compact rewrites the collection without the deleted documents, which cost memory and
// time. It takes some tenths of a second for a million documents.
func (c *collection) compact(locations locationMap) {
	kept := collection{name: c.name, number: c.number, slots: map[string]uint32{}, live: c.live}

	// By old document number: the new one, or none for a deleted document.
	numbers := make([]uint32, len(c.ids))
	for doc, id := range c.ids {
		numbers[doc] = none
		if c.deleted.Test(uint(doc)) {
			continue
		}
		numbers[doc] = uint32(len(kept.ids))
		locations.set(id, location{c.number, numbers[doc]})
		kept.ids = append(kept.ids, id)
		kept.lengths = append(kept.lengths, c.lengths[doc])
	}

	for slot, stem := range c.stems {
		list := newPostingList()

		for doc, count := range c.lists[slot].all() {
			if numbers[doc] != none {
				list.add(numbers[doc], count, uint32(c.lengths[doc]))
			}
		}
		if list.length > 0 {
			kept.lists[kept.slot(stem)] = list
		}
	}

	*c = kept
}

// postings returns the posting list of a stem and its document frequency among live
// documents, or nil if that is 0.
func (c *collection) postings(stem string) (*postingList, int) {
	slot, ok := c.slots[stem]
	if !ok {
		return nil, 0
	}
	l := &c.lists[slot]
	if n := l.live(&c.deleted, c.deletions); n > 0 {
		return l, n
	}

	return nil, 0
}

// pageSize is the number of identifiers that share a page. Identifiers of memories are dense;
// an isolated one takes a whole page.
const pageSize = 64

type locationMap map[int64]*[pageSize]location

// location is the place of a document in the index. The zero value means none.
type location struct {
	collection uint32 // index in Index.collections, plus 1
	doc        uint32
}

func (d locationMap) get(id int64) (at location, ok bool) {
	if p := d[id>>6]; p != nil {
		at = p[id&(pageSize-1)]
	}
	return at, at != location{}
}

func (d locationMap) set(id int64, at location) {
	p := d[id>>6]
	if p == nil {
		p = new([pageSize]location)
		d[id>>6] = p
	}
	p[id&(pageSize-1)] = at
}

func (p location) compare(o location) int {
	return cmp.Or(cmp.Compare(p.collection, o.collection), cmp.Compare(p.doc, o.doc))
}

// The methods below serve the check of the index against the file. No search uses them.

// Stats are the statistics of the live documents of a collection.
type Stats struct {
	Rows  int   // documents
	Terms int64 // in all of them, with repetitions
}

// Stats returns the statistics of a collection, or of All. They are zero without documents.
func (x *Index) Stats(collection string) Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.stats(collection)
}

func (x *Index) stats(collection string) Stats {
	if collection == All {
		return x.live
	}

	sum := Stats{}
	for c := range x.selected(collection) {
		sum.Rows += c.live.Rows
		sum.Terms += c.live.Terms
	}

	return sum
}

// Collections returns the names of all collections with documents, sorted.
func (x *Index) Collections() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Sorted(maps.Keys(x.names))
}

// DocumentFrequency returns how many documents of a collection, or of All, hold a stem.
func (x *Index) DocumentFrequency(collection, stem string) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()

	for c := range x.selected(collection) {
		_, df := c.postings(stem)
		n += df
	}

	return n
}
