package lexical

import (
	"cmp"
	"slices"

	"github.com/bits-and-blooms/bitset"
)

// Query asks for the documents that hold any of the terms.
type Query struct {
	Collection string         // or All, with the statistics of all
	Terms      []string       // distinct stems; a score is the sum in this order
	Unfinished *Unfinished    // one more term, last in the sum; nil is none
	Within     *bitset.BitSet // identifiers that may be found; nil is all
	N          int            // the N best; every match if it is not positive
}

// Unfinished is a word of which the beginning is known. A document holds it as
// often as it holds any of the longer words, unless it holds the word as it
// stands, which counts in Terms. Its weight is that of a term which all of these
// documents hold: never above that of the word as it stands.
type Unfinished struct {
	Whole  []string // stems of the word as it stands, of those in Terms
	Longer []string // distinct stems of the words that it begins, none in Terms
}

// Hit is a document with its score, which is larger than 0.
type Hit struct {
	ID    int64
	Score float64
}

// Search returns the matches of a question, best first, ties by the smaller ID.
func (x *Index) Search(q Query) []Hit {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.scratch()
	defer x.release(s)
	s.ask(x, q)
	if len(s.parts) == 0 {
		return nil
	}
	s.hits.reset(q.N, s.matches())
	if few, ok := s.few(x, q); ok {
		s.searchFew(x, few)
	} else {
		s.searchParts(x, q)
	}
	return s.hits.ranked()
}

// Scorer returns what scores texts that are not in the index as if they were
// matches of a question, whatever it admits, by the present statistics.
func (x *Index) Scorer(q Query) Scorer {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.scratch()
	defer x.release(s)
	s.ask(x, q)
	c := s.curve
	return Scorer{idf: slices.Clone(s.idf), curve: &c}
}

// part is what a question finds in one collection: a list for each of its
// terms, or nil.
type part struct {
	collection *collection
	lists      []*list
	postings   int     // in all lists
	bound      float64 // of any score
}

// scratch is the memory of a question, used again by later ones.
type scratch struct {
	curve curve
	idf   []float64 // by term
	df    []int     // by term
	lists []*list   // of the parts
	parts []part
	hits  best

	cursors []cursor
	order   []*cursor // by bound, the smallest first
	sums    []float64 // sums[i] is the sum of the first i bounds of order
	scores  []float64 // by term, of the present document
	rest    []float64 // as sums, for the length of the present document

	totals  []float64 // by document of a window
	touched bitmap    // documents of the window that match

	counts []uint32 // by document, of the longer words; zeros between questions
}

// keepCursors is how many cursors, of a kilobyte each, a scratch may keep.
const keepCursors = 256

func (x *Index) scratch() *scratch {
	if s, ok := x.pool.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

func (x *Index) release(s *scratch) {
	if len(s.cursors) <= keepCursors {
		clear(s.lists[:cap(s.lists)])
		clear(s.parts[:cap(s.parts)])
		x.pool.Put(s)
	}
}

// ask looks the terms up, and computes their weights.
func (s *scratch) ask(x *Index, q Query) {
	width := q.width()
	s.df = append(s.df[:0], make([]int, width)...)
	s.lists, s.parts = s.lists[:0], s.parts[:0]
	stats := x.living
	if q.Collection == All {
		for _, c := range x.collections {
			if c != nil {
				s.look(c, q)
			}
		}
	} else if c := x.names[q.Collection]; c != nil {
		stats = c.living
		s.look(c, q)
	} else {
		stats = statistics{}
	}
	// The slice of lists may have moved while it grew.
	for i := range s.parts {
		s.parts[i].lists = s.lists[i*width:][:width]
	}
	s.idf = s.idf[:0]
	for _, df := range s.df {
		s.idf = append(s.idf, idf(stats.rows, df))
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

// look makes c a part of the question if it holds any of the terms.
func (s *scratch) look(c *collection, q Query) {
	postings, had := 0, len(s.lists)
	for i := range q.width() {
		var l *list
		df := 0
		if i < len(q.Terms) {
			l, df = c.list(q.Terms[i])
		} else {
			l, df = s.union(c, q.Unfinished)
		}
		s.lists = append(s.lists, l)
		s.df[i] += df
		if l != nil {
			postings += int(l.count)
		}
	}
	if postings == 0 {
		s.lists = s.lists[:had]
		return
	}
	s.parts = append(s.parts, part{collection: c, postings: postings})
}

// matches returns a number that the matches do not exceed.
func (s *scratch) matches() (n int) {
	for i := range s.parts {
		n += min(s.parts[i].postings, len(s.parts[i].collection.ids))
	}
	return n
}

// searchParts goes through the parts of a question, those that promise most
// first, until none can hold another of the best.
func (s *scratch) searchParts(x *Index, q Query) {
	for i := range s.parts {
		p := &s.parts[i]
		for t, l := range p.lists {
			if l != nil {
				p.bound += s.idf[t] * l.bound().under(&s.curve)
			}
		}
	}
	slices.SortFunc(s.parts, func(a, b part) int { return cmp.Compare(b.bound, a.bound) })
	for i := range s.parts {
		p := &s.parts[i]
		if p.bound < s.hits.cut {
			break
		}
		s.open(p)
		w := walk{scratch: s, collection: p.collection, filter: newFilter(q.Within)}
		if s.hits.limit >= p.postings/fullShare || len(s.order) > maxCursors {
			w.every()
		} else {
			w.top()
		}
	}
}

// open sets a cursor before each list of a part, in the order of the question.
func (s *scratch) open(p *part) {
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
	s.scores = append(s.scores[:0], make([]float64, len(p.lists))...)
	s.rest = append(s.rest[:0], make([]float64, len(s.order)+1)...)
	s.sums = append(s.sums[:0], make([]float64, len(s.order)+1)...)
}

// filter admits identifiers.
type filter struct {
	any   bool
	words []uint64
}

func newFilter(b *bitset.BitSet) filter {
	if b == nil {
		return filter{any: true}
	}
	return filter{words: b.Words()}
}

func (f filter) admits(id int64) bool {
	if f.any {
		return true
	}
	word := uint64(id) >> 6 // of a negative identifier: beyond all words
	return word < uint64(len(f.words)) && f.words[word]>>(id&63)&1 != 0
}
