package lexical

import (
	"math/bits"
	"slices"

	"github.com/bits-and-blooms/bitset"
)

// A cursor reads one posting list in document order, for one query. It decodes a block at a time.
type cursor struct {
	decoded
	list       *postingList
	idf        float64
	term       int    // index in the query
	block      int    // decoded block, or -1
	n          int    // postings in the block
	at         int    // current posting in the block
	doc        uint32 // of the current posting; none after the last
	boundBlock int    // block that windowBound looked at last

	upperBound float64 // upper bound of a posting's score in the current window
}

func (c *cursor) reset(l *postingList, idf float64, term int) {
	c.list, c.idf, c.term = l, idf, term
	c.block, c.n, c.at, c.doc, c.boundBlock = -1, 0, 0, 0, 0
}

func (c *cursor) load(i int) {
	c.n = c.list.decode(i, &c.decoded)
	c.block, c.at, c.doc = i, 0, c.docs[0]
}

func (c *cursor) next() {
	if c.at++; c.at < c.n {
		c.doc = c.docs[c.at]
		return
	}
	if c.block+1 < c.list.blockCount() {
		c.load(c.block + 1)
		return
	}
	c.doc = none
}

// seek moves forward to the first posting of doc or of a later document.
func (c *cursor) seek(doc uint32) {
	if c.doc >= doc && c.block >= 0 {
		return
	}
	if c.block < 0 || c.docs[c.n-1] < doc {
		i := c.list.find(max(0, c.block), doc)
		if i == c.list.blockCount() {
			c.doc = none
			return
		}
		c.load(i)
	}
	c.seekInBlock(doc)
}

// seekInBlock moves forward to the first posting of doc or of a later document,
// which must be in the current block.
func (c *cursor) seekInBlock(doc uint32) {
	at := c.at
	for at+16 < c.n && c.docs[at+16] < doc {
		at += 16
	}

	for c.docs[at] < doc {
		at++
	}
	c.at, c.doc = at, c.docs[at]
}

// windowBound returns an upper bound of the score of a posting of the documents from
// to to−1, or 0 if there is none. from must not decrease between calls.
func (c *cursor) windowBound(from, to uint32, v *saturation) float64 {
	if c.doc >= to {
		return 0
	}
	l := c.list
	c.boundBlock = l.find(c.boundBlock, from)

	top, before := 0.0, from
	for i := c.boundBlock; before < to && i < len(l.blocks); i++ {
		b := &l.blocks[i]
		top = max(top, b.max.upperBound(v))
		before = b.last + 1
	}
	// The window may reach into the tail, which has no block.
	if before < to && c.boundBlock < l.blockCount() && l.length%blockSize != 0 {
		top = max(top, l.tailMax.upperBound(v))
	}

	return top * c.idf
}

// There are three ways to evaluate a query. They compute the same scores, bit for bit: each value
// comes from saturation.value, and values are added in the order of the query.
//
//   - maxScore finds the N best without scoring most postings (MaxScore, Turtle and
//     Flood 1995, over windows of documents as in block-max MaxScore, Chakrabarti,
//     Chaudhuri and Ganti 2011).
//   - scoreAll scores every match, list by list, into the totals of a window.
//   - scoreAdmitted looks up each document that a small filter admits.

const (
	// window is the number of documents that share an upper bound.
	window = 4096

	// fullScanShare: with N above this share of the postings, maxScore can skip
	// little and scoreAll is faster.
	fullScanShare = 8

	// maxCursors is the number of lists above which finding the next document among
	// them costs more than scoring all matches.
	maxCursors = 24
)

// traversal evaluates a query in one collection.
type traversal struct {
	*scratch
	collection *collection
	within     *bitset.BitSet // identifiers, or nil for all
	selective  bool           // within excludes so many that it is tested before optional lists are read
}

func (t *traversal) admits(doc uint32) bool {
	if t.collection.deleted.Test(uint(doc)) {
		return false
	}
	// A negative identifier becomes a large unsigned number, which no set has.
	return t.within == nil || t.within.Test(uint(t.collection.ids[doc]))
}

// maxScore adds the documents that may be among the best. In each window the lists are ordered by
// their upper bounds. The lists that together cannot reach the threshold are optional: documents
// that only they hold are skipped. The others are required: maxScore visits their postings, and
// looks a document up in the optional lists while its score can still reach the threshold.
func (t *traversal) maxScore() {
	docs := uint32(len(t.collection.ids))
	for from := uint32(0); from < docs; from += window {
		to := min(from+window, docs)
		t.order = t.boundWindow(from, to)

		// All lists together cannot reach the threshold in this window.
		if t.prefixBounds[len(t.order)] < t.top.threshold {
			continue
		}

		optional := t.optional(0)
		for _, c := range t.order[optional:] {
			c.seek(from)
		}

		for optional < len(t.order) {
			optional = t.scanRequired(optional, to)
		}
	}
}

// boundWindow computes the upper bound of each list within a window and sorts the lists.
func (t *traversal) boundWindow(from, to uint32) []*cursor {
	for _, c := range t.order {
		c.upperBound = c.windowBound(from, to, &t.curve)
	}

	// An insertion sort is fast here, because the order changes little from window to window.
	for i, c := range t.order {
		for ; i > 0 && t.order[i-1].upperBound > c.upperBound; i-- {
			t.order[i] = t.order[i-1]
		}
		t.order[i] = c
	}

	for i, c := range t.order {
		t.prefixBounds[i+1] = t.prefixBounds[i] + c.upperBound
	}

	return t.order
}

func (t *traversal) optional(from int) int {
	for from < len(t.order) && t.prefixBounds[from+1] < t.top.threshold {
		from++
	}
	return from
}

// scanRequired visits the postings of the required lists up to the end of the window, or
// until another list becomes optional. It returns the new number of optional lists, all
// of them at the end of the window.
func (t *traversal) scanRequired(optional int, to uint32) int {
	required, rest := t.order[optional:], t.prefixBounds[optional]
	lengths, v := t.collection.lengths, &t.curve

	doc := uint32(none)
	for _, c := range required {
		doc = min(doc, c.doc)
	}

	for doc < to {
		score := 0.0
		next := uint32(none)
		length := uint32(lengths[doc])
		held := 0 // the required lists that hold doc, as bits

		for i, c := range required {
			if c.doc == doc {
				held |= 1 << i
				t.termScores[c.term] = c.idf * v.value(c.repeats[c.at], length)
				score += t.termScores[c.term]
				c.next()
			}
			next = min(next, c.doc)
		}

		// Term scores of an earlier document are cleared only if this one is completed.
		if score+rest >= t.top.threshold {
			for i, c := range required {
				if held>>i&1 == 0 {
					t.termScores[c.term] = 0
				}
			}
			if t.complete(doc, score, optional) {
				if now := t.optional(optional); now > optional {
					return now
				}
			}
		}
		doc = next
	}

	return len(t.order)
}

// complete adds the scores of the optional lists to the score of a document while it
// can reach the threshold. It reports whether the threshold rose.
func (t *traversal) complete(doc uint32, score float64, optional int) bool {
	threshold, length := t.top.threshold, uint32(t.collection.lengths[doc])

	// A selective filter is tested before the optional lists are read, another one after it, when few documents are
	// left.
	if score+t.prefixBounds[optional] < threshold || t.selective && !t.admits(doc) {
		return false
	}

	for i := optional - 1; i >= 0; i-- {
		c := t.order[i]
		if score+t.prefixBounds[i+1] < threshold {
			return false
		}
		t.termScores[c.term] = 0
		if c.seek(doc); c.doc == doc {
			t.termScores[c.term] = c.idf * t.curve.value(c.repeats[c.at], length)
			score += t.termScores[c.term]
		}
	}

	if score < threshold || !t.selective && !t.admits(doc) {
		return false
	}

	// The sum in the order of the query gives the same score, bit for bit, as the other ways of evaluation.
	total := 0.0
	for _, part := range t.termScores {
		total += part
	}

	return t.top.add(Hit{t.collection.ids[doc], total})
}

func (t *traversal) scoreAll() {
	if len(t.totals) == 0 {
		t.totals, t.touched = make([]float64, window), make([]uint64, window/64)
	}
	lengths, v := t.collection.lengths, &t.curve

	docs := uint32(len(lengths))
	for from := uint32(0); from < docs; from += window {
		to := min(from+window, docs)
		for _, c := range t.order {
			for c.seek(from); c.doc < to; c.next() {
				at := c.doc - from
				t.totals[at] += float64(c.idf * v.value(c.repeats[c.at], uint32(lengths[c.doc])))
				t.touched[at/64] |= 1 << (at % 64)
			}
		}
		t.flushWindow(from)
	}
}

// flushWindow adds the documents that were touched in a window and clears it.
func (t *traversal) flushWindow(from uint32) {
	for i, word := range t.touched {
		for ; word != 0; word &= word - 1 {
			at := uint32(i*64 + bits.TrailingZeros64(word))
			if score := t.totals[at]; score >= t.top.threshold && t.admits(from+at) {
				t.top.add(Hit{t.collection.ids[from+at], score})
			}
			t.totals[at] = 0
		}
	}
	clear(t.touched)
}

// lookUpCost is the number of postings that are scored in the time of looking up one document in one list.
const lookUpCost = 2

// admittedDocuments returns the locations of the documents that a filter admits,
// sorted, if looking them up is cheaper than reading the lists.
func (s *scratch) admittedDocuments(x *Index, q Query) ([]location, bool) {
	if q.Within == nil {
		return nil, false
	}
	if s.admitted > s.postings/(lookUpCost*q.width()) {
		return nil, false
	}
	places := make([]location, 0, s.admitted)

	for id := range q.Within.EachSet() {
		if at, ok := x.locations.get(int64(id)); ok {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, location.compare)

	return places, true
}

// scoreAdmitted adds the matches among the documents at sorted locations.
func (s *scratch) scoreAdmitted(x *Index, places []location) {
	for i := range s.collections {
		p := &s.collections[i]
		c := p.collection
		first, _ := slices.BinarySearchFunc(places, location{collection: c.number}, location.compare)
		s.openCursors(p)

		for _, at := range places[first:] {
			if at.collection != c.number {
				break
			}
			score := 0.0

			for _, cur := range s.order {
				if cur.seek(at.doc); cur.doc == at.doc {
					score += float64(cur.idf * s.curve.value(cur.repeats[cur.at], uint32(c.lengths[at.doc])))
				}
			}
			if score > 0 {
				s.top.add(Hit{c.ids[at.doc], score})
			}
		}
	}
}
