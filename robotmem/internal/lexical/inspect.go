package lexical

import (
	"maps"
	"slices"
)

// What a doctor compares with the durable index. Nothing here is on the way of
// a question.

// Stats are the statistics of a collection, exact after any changes.
type Stats struct {
	Rows  int   // documents
	Terms int64 // in all of them, with repetitions
}

// Stats returns the statistics of a collection, or of All. They are zero if
// there is no document.
func (x *Index) Stats(collection string) Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if collection == All {
		return Stats{x.living.rows, x.living.terms}
	}
	if c := x.names[collection]; c != nil {
		return Stats{c.living.rows, c.living.terms}
	}
	return Stats{}
}

// Collections returns the names of all collections with documents, in order.
func (x *Index) Collections() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Sorted(maps.Keys(x.names))
}

// DocumentFrequency returns how many documents of a collection, or of All, hold
// a stem.
func (x *Index) DocumentFrequency(collection, stem string) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if collection != All {
		if c := x.names[collection]; c != nil {
			_, n := c.list(stem)
			return n
		}
		return 0
	}
	n := 0
	for _, c := range x.names {
		_, df := c.list(stem)
		n += df
	}
	return n
}

// Find returns the collection and the length in terms of a document. ok is
// false if it is not in the index.
func (x *Index) Find(id int64) (collection string, length int, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.directory.get(id)
	if !ok {
		return "", 0, false
	}
	c := x.collections[at.collection-1]
	return c.name, int(c.lengths[at.doc]), true
}

// Terms returns the stems of a document with their occurrences, or nil if it is
// not in the index. It looks into every list of the collection.
func (x *Index) Terms(id int64) map[string]int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.directory.get(id)
	if !ok {
		return nil
	}
	c, counts := x.collections[at.collection-1], map[string]int{}
	for slot := range c.lists {
		if n := c.lists[slot].in(at.doc); n > 0 {
			counts[c.stems[slot]] = int(n)
		}
	}
	return counts
}
