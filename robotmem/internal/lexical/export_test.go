package lexical

// SetLimit makes compactions start with fewer deleted documents.
func (x *Index) SetLimit(dead int) { x.minDeleted = dead }

// Dead returns how many deleted documents still take memory.
func (x *Index) Dead() (n int) {
	for _, c := range x.names {
		n += len(c.deletions)
	}
	return n
}

// Stems returns how many stems the dictionaries have.
func (x *Index) Stems() (n int) {
	for _, c := range x.names {
		n += len(c.slots)
	}
	return n
}

// Find returns the collection of a document and its length in terms. ok is false if
// it is not in the index.
func (x *Index) Find(id int64) (collection string, length int, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.locations.get(id)
	if !ok {
		return "", 0, false
	}
	c := x.collections[at.collection-1]
	return c.name, int(c.lengths[at.doc]), true
}

// Terms returns the stems of a document with their occurrences, or nil if it is not
// in the index. It reads every list of the collection.
func (x *Index) Terms(id int64) map[string]int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.locations.get(id)
	if !ok {
		return nil
	}
	c, counts := x.collections[at.collection-1], map[string]int{}
	for slot := range c.lists {
		if n := c.lists[slot].count(at.doc); n > 0 {
			counts[c.stems[slot]] = int(n)
		}
	}
	return counts
}
