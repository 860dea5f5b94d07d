package lexical

import "sync"

// All names every collection in a question.
const All = "*"

// Document is a text as the index sees it.
type Document struct {
	ID         int64    // of any sign, but Query.Within admits none below 0
	Collection string   // any name but All
	Terms      []string // stems in any order, with repetitions; none is legal
}

// Index holds the postings of all documents. Its methods are safe for
// concurrent use.
type Index struct {
	params func(averageLength float64) Params
	limits limits
	pool   sync.Pool // of *scratch

	mu          sync.RWMutex // guards everything below
	names       map[string]*collection
	collections []*collection // nil where one went away
	free        []uint32      // indices of collections to use again
	directory   directory
	living      statistics // of all collections
	tally       tally
}

// New returns an empty index. It asks params for the parameters of each
// question, by the mean length in terms of the texts that are searched; params
// is called under a lock and must not call the index.
func New(params func(averageLength float64) Params) *Index {
	return &Index{
		params:    params,
		limits:    defaultLimits,
		names:     map[string]*collection{},
		directory: directory{},
	}
}

// Apply removes documents, then puts others, in one step for those who search.
// A put replaces the document of the same identifier, in whatever collection it
// was; removing what is not there is harmless. So the same changes may be
// applied again.
func (x *Index) Apply(put []Document, remove []int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	touched := map[*collection]int{} // terms added
	for _, id := range remove {
		if c := x.remove(id); c != nil {
			touched[c] += 0
		}
	}
	for _, d := range put {
		if c := x.remove(d.ID); c != nil {
			touched[c] += 0
		}
		c := x.collection(d.Collection)
		doc := c.add(d, &x.tally)
		x.directory.set(d.ID, place{c.place, doc})
		x.living.rows++
		x.living.terms += int64(len(d.Terms))
		touched[c] += len(d.Terms)
	}
	for c, added := range touched {
		if c.living.rows == 0 {
			x.drop(c)
		} else {
			x.compact(c, added)
		}
	}
}

// remove takes a document out, and returns the collection in which it was.
func (x *Index) remove(id int64) *collection {
	at, ok := x.directory.get(id)
	if !ok {
		return nil
	}
	c := x.collections[at.collection-1]
	x.directory.remove(id)
	x.living.rows--
	x.living.terms -= int64(c.lengths[at.doc])
	c.kill(at.doc)
	return c
}

// collection returns the collection of a name, and makes it at need.
func (x *Index) collection(name string) *collection {
	c, ok := x.names[name]
	if ok {
		return c
	}
	if last := len(x.free) - 1; last >= 0 {
		c = newCollection(name, x.free[last]+1)
		x.free = x.free[:last]
		x.collections[c.place-1] = c
	} else {
		c = newCollection(name, uint32(len(x.collections))+1)
		x.collections = append(x.collections, c)
	}
	x.names[name] = c
	return c
}

// drop forgets a collection in which no document lives.
func (x *Index) drop(c *collection) {
	delete(x.names, c.name)
	x.collections[c.place-1] = nil
	x.free = append(x.free, c.place-1)
}
