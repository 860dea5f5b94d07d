package lexical

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
)

// Query asks for the documents that hold any of the terms.
type Query struct {
	Collection string         // or several with commas between them, or All, with the statistics of all of them
	Terms      []string       // distinct stems; a score is summed in this order
	Unfinished *Unfinished    // one more term, last in the sum, or nil
	Within     *bitset.BitSet // identifiers that may be found; nil admits all
	N          int            // how many of the best; all matches if not positive
	Weights    []float64      // of the terms, in their order, each above 0; nil means 1
}

// Unfinished is a word while it is being typed. A document holds it as often as it holds any of
// the longer words, unless it holds the word as typed, which counts in Terms. Its idf is that of
// a term which all of these documents hold, so it never exceeds the idf of the word as typed.
type Unfinished struct {
	Whole  []string // stems of the word as typed that are in Terms
	Longer []string // distinct stems of longer words, none in Terms
}

// Hit is a document with its score, which is above 0.
type Hit struct {
	ID    int64
	Score float64
}

// Search returns the matches of a query, best first, ties by the smaller ID.
func (x *Index) Search(q Query) []Hit {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.newScratch()
	defer x.release(s)
	s.prepare(x, q)
	if len(s.collections) == 0 {
		return nil
	}

	s.admitted = int(q.Within.Count())
	s.top.reset(q.N, s.matches)
	// If the filter admits few documents, it is cheaper to look each of them up.
	if few, ok := s.admittedDocuments(x, q); ok {
		s.scoreAdmitted(x, few)
	} else {
		s.searchCollections(x, q)
	}

	return s.top.sorted()
}

// Scorer returns a scorer for texts that are not in the index, by the present
// statistics. The filter of the query has no effect on it.
func (x *Index) Scorer(q Query) Scorer {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.newScratch()
	defer x.release(s)
	s.prepare(x, q)
	c := s.curve

	return Scorer{idf: slices.Clone(s.idf), curve: &c}
}

// matchedCollection is a collection that holds terms of the query: a list for each term, or nil.
type matchedCollection struct {
	collection *collection
	lists      []*postingList
	postings   int     // in all lists
	upperBound float64 // of the score of any document
}

// scratch is the memory of one search, reused by later ones.
type scratch struct {
	curve       saturation
	idf         []float64      // by term
	df          []int          // by term
	lists       []*postingList // of all matched collections
	collections []matchedCollection
	postings    int // in the lists of all matched collections
	matches     int // at most
	admitted    int // documents by Query.Within
	top         topK

	cursors      []cursor
	order        []*cursor // by upper bound, the smallest first
	prefixBounds []float64 // prefixBounds[i] is the sum of the first i upper bounds of order
	termScores   []float64 // by term, of the current document

	totals  []float64 // by document of a window
	touched []uint64  // as bits, the documents of the window with a score

	counts []uint32 // by document, occurrences of the longer words; zero between searches
}

// keepCursors is the largest number of cursors, of a kilobyte each, that a scratch keeps.
const keepCursors = 256

func (x *Index) newScratch() *scratch {
	if s, ok := x.pool.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

func (x *Index) release(s *scratch) {
	if len(s.cursors) <= keepCursors {
		clear(s.lists[:cap(s.lists)])
		clear(s.collections[:cap(s.collections)])
		x.pool.Put(s)
	}
}

func (s *scratch) prepare(x *Index, q Query) {
	width := q.width()
	s.df = append(s.df[:0], make([]int, width)...)

	s.lists = s.lists[:0]
	s.collections = s.collections[:0]
	s.postings, s.matches = 0, 0

	for c := range x.selected(q.Collection) {
		s.addCollection(c, q)
	}

	// The slice of lists may be reallocated while it grows, so its parts are taken only now.
	for i := range s.collections {
		s.collections[i].lists = s.lists[i*width:][:width]
	}

	stats := x.stats(q.Collection)
	s.idf = s.idf[:0]

	for i, df := range s.df {
		weight := idf(stats.Rows, df)
		if i < len(q.Weights) {
			weight *= q.Weights[i]
		}
		s.idf = append(s.idf, weight)
	}

	s.curve.set(x.params(stats.average()), stats.average())
}

// width is the number of terms, the unfinished one included.
func (q *Query) width() int {
	if q.Unfinished != nil {
		return len(q.Terms) + 1
	}
	return len(q.Terms)
}

// addCollection adds the lists of a collection, one for each term of the query. It adds nothing if the collection
// holds none of the terms.
func (s *scratch) addCollection(c *collection, q Query) {
	postings := 0
	before := len(s.lists)

	for i := range q.width() {
		var l *postingList
		df := 0
		if i < len(q.Terms) {
			l, df = c.postings(q.Terms[i])
		} else {
			l, df = s.unionUnfinished(c, q.Unfinished)
		}
		s.lists = append(s.lists, l)
		s.df[i] += df
		if l != nil {
			postings += int(l.length)
		}
	}

	if postings == 0 {
		s.lists = s.lists[:before]
		return
	}

	s.collections = append(s.collections, matchedCollection{collection: c, postings: postings})
	s.postings += postings
	s.matches += min(postings, len(c.ids))
}

// searchCollections searches the collections in the order of their upper bounds
// until none can hold another of the best documents.
func (s *scratch) searchCollections(x *Index, q Query) {
	for i := range s.collections {
		p := &s.collections[i]
		for t, l := range p.lists {
			if l != nil {
				p.upperBound += s.idf[t] * max(l.packedMax.upperBound(&s.curve), l.tailMax.upperBound(&s.curve))
			}
		}
	}

	slices.SortFunc(s.collections, func(a, b matchedCollection) int { return cmp.Compare(b.upperBound, a.upperBound) })

	// The collection with the largest bound comes first, because it raises the threshold for the others.
	for i := range s.collections {
		p := &s.collections[i]
		if p.upperBound < s.top.threshold {
			break
		}
		s.openCursors(p)
		w := traversal{
			scratch:    s,
			collection: p.collection,
			within:     q.Within,
			selective:  q.Within != nil && s.admitted < len(p.collection.ids)/2,
		}
		wantsMost := s.top.k >= p.postings/fullScanShare
		if wantsMost || len(s.order) > maxCursors {
			w.scoreAll()
		} else {
			w.maxScore()
		}
	}
}

// openCursors sets a cursor on each list of a collection, in the order of the query.
func (s *scratch) openCursors(p *matchedCollection) {
	for len(s.cursors) < len(p.lists) {
		s.cursors = append(s.cursors, cursor{})
	}
	s.order = s.order[:0]

	for t, l := range p.lists {
		if l != nil {
			c := &s.cursors[len(s.order)]
			c.reset(l, s.idf[t], t)
			s.order = append(s.order, c)
		}
	}
	s.termScores = append(s.termScores[:0], make([]float64, len(p.lists))...)
	s.prefixBounds = append(s.prefixBounds[:0], make([]float64, len(s.order)+1)...)
}

// The last word of a query that is being typed may become many words. Their lists are merged into
// one list for the query, so that they weigh as one term and the evaluation is the same.

// Frequent returns up to n of the stems for which wanted is true, the most frequent first, equally
// frequent ones in alphabetical order. Deleted documents count until a compaction removes them.
func (x *Index) Frequent(collection string, n int, wanted func(stem string) bool) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	counts := map[string]int{}

	for c := range x.selected(collection) {
		for slot, stem := range c.stems {
			if count := c.lists[slot].length; count > 0 && wanted(stem) {
				counts[stem] += int(count)
			}
		}
	}
	stems := slices.AppendSeq([]string{}, maps.Keys(counts))
	slices.SortFunc(stems, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})

	return stems[:min(len(stems), max(n, 0))]
}

// wholeWord marks a document that holds the word as typed.
const wholeWord = math.MaxUint32

// unionUnfinished merges the lists of the longer words, without the documents that
// hold the word as typed; df counts both. The list is nil if it has no document.
func (s *scratch) unionUnfinished(c *collection, u *Unfinished) (l *postingList, df int) {
	if len(s.counts) < len(c.ids) {
		s.counts = make([]uint32, len(c.ids))
	}

	counts := s.counts[:len(c.ids)]
	visit := func(stems []string, put func(doc, count uint32)) {
		for _, stem := range stems {
			if slot, ok := c.slots[stem]; ok {
				for doc, count := range c.lists[slot].all() {
					put(doc, count)
				}
			}
		}
	}
	visit(u.Longer, func(doc, count uint32) { counts[doc] += count })
	visit(u.Whole, func(doc, _ uint32) { counts[doc] = wholeWord })
	all := newPostingList()

	for doc, n := range counts {
		if n == 0 {
			continue
		}
		counts[doc] = 0
		if c.deleted.Test(uint(doc)) {
			continue
		}
		df++
		if n != wholeWord {
			all.add(uint32(doc), n, uint32(c.lengths[doc]))
		}
	}

	if all.length == 0 {
		return nil, df
	}

	return &all, df
}

// Having returns the identifiers of the documents that hold a stem.
func (x *Index) Having(collection, stem string) *bitset.BitSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := bitset.New(0)

	for c := range x.selected(collection) {
		l, _ := c.postings(stem)
		if l == nil {
			continue
		}

		for doc := range l.all() {
			if !c.deleted.Test(uint(doc)) {
				out.Set(uint(c.ids[doc]))
			}
		}
	}

	return out
}
