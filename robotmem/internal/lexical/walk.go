package lexical

import (
	"math/bits"
	"slices"
)

// There are three ways through the lists of a question. They compute the same
// scores, bit for bit: each value comes from curve.at, and they are added up in
// the order of the question.
//
//   - top finds the N best without looking at most postings (MaxScore, Turtle
//     and Flood 1995, over windows of documents as in block-max MaxScore,
//     Chakrabarti, Chaudhuri and Ganti 2011).
//   - every scores every match, list by list into the totals of a window.
//   - few looks up each document that a small filter admits.

const (
	// window is the number of documents that are bounded together.
	window = 4096

	// fullShare: with N above this share of the postings there is little to
	// leave out, and every is faster.
	fullShare = 8

	// maxCursors is the number of lists above which finding the next document
	// among them costs more than scoring all.
	maxCursors = 24
)

// walk goes through the lists of one collection.
type walk struct {
	*scratch
	collection *collection
	filter     filter
}

// admits tells whether a document lives and passes the filter.
func (w *walk) admits(doc uint32) bool {
	return !w.collection.dead.has(doc) && (w.filter.any || w.filter.admits(w.collection.ids[doc]))
}

// top offers the documents that may be among the best. In each window
// the lists are ordered by what they can add there. Those that together cannot
// reach the cut are optional: a document that only they hold is never looked
// at. The others are required: the walk goes through their postings, and looks
// the optional ones up as long as the score may still reach the cut.
func (w *walk) top() {
	docs := uint32(len(w.collection.ids))
	for from := uint32(0); from < docs; from += window {
		to := min(from+window, docs)
		if w.order = w.bound(from, to); w.sums[len(w.order)] < w.hits.cut {
			continue
		}
		optional := w.optional(0)
		for _, c := range w.order[optional:] {
			c.seek(from)
		}
		for optional < len(w.order) {
			if optional == len(w.order)-1 {
				optional = w.one(optional, to)
			} else {
				optional = w.several(optional, to)
			}
		}
	}
}

// bound bounds each list within a window and orders them.
func (w *walk) bound(from, to uint32) []*cursor {
	for _, c := range w.order {
		c.bound = c.peak(from, to, &w.curve)
	}
	for i, c := range w.order { // nearly in order already
		for ; i > 0 && w.order[i-1].bound > c.bound; i-- {
			w.order[i] = w.order[i-1]
		}
		w.order[i] = c
	}
	for i, c := range w.order {
		w.sums[i+1] = w.sums[i] + c.bound
	}
	return w.order
}

// optional returns how many of the lists are optional, at least from.
func (w *walk) optional(from int) int {
	for from < len(w.order) && w.sums[from+1] < w.hits.cut {
		from++
	}
	return from
}

// one goes through the only required list up to the end of the window, or until
// it turns optional. It returns the number of optional lists then, all at the
// end of the window.
func (w *walk) one(optional int, to uint32) int {
	c, rest := w.order[optional], w.sums[optional]
	lengths, v := w.collection.lengths, &w.curve
	for c.doc < to {
		doc := c.doc
		score := c.idf * v.at(c.more[c.at], lengths[doc])
		if score+rest >= w.hits.cut {
			w.scores[c.term] = score
			if w.offer(doc, score, optional) {
				if now := w.optional(optional); now > optional {
					return now
				}
			}
		}
		c.next()
	}
	return len(w.order)
}

// several is one for more than one required list.
func (w *walk) several(optional int, to uint32) int {
	required, rest := w.order[optional:], w.sums[optional]
	lengths, v := w.collection.lengths, &w.curve
	doc := uint32(none)
	for _, c := range required {
		doc = min(doc, c.doc)
	}
	for doc < to {
		score, next, length := 0.0, uint32(none), lengths[doc]
		held := 0 // the lists that hold doc, as bits
		for i, c := range required {
			if c.doc == doc {
				held |= 1 << i
				w.scores[c.term] = c.idf * v.at(c.more[c.at], length)
				score += w.scores[c.term]
				c.next()
			}
			next = min(next, c.doc)
		}
		if score+rest >= w.hits.cut {
			for i, c := range required {
				if held>>i&1 == 0 {
					w.scores[c.term] = 0
				}
			}
			if w.offer(doc, score, optional) {
				if now := w.optional(optional); now > optional {
					return now
				}
			}
		}
		doc = next
	}
	return len(w.order)
}

// offer completes the score of a document, which is score without the optional
// lists, as long as it may be among the best. It tells whether the cut rose.
func (w *walk) offer(doc uint32, score float64, optional int) bool {
	cut, length := w.hits.cut, w.collection.lengths[doc]
	// The length of the document bounds better than the shortest of the window.
	for i, c := range w.order[:optional] {
		w.rest[i+1] = w.rest[i] + min(c.bound, c.idf*w.curve.at(c.most, length))
	}
	if score+w.rest[optional] < cut || !w.admits(doc) {
		return false
	}
	for i := optional - 1; i >= 0; i-- {
		c := w.order[i]
		if score+w.rest[i+1] < cut || c.beyond(doc) && score+w.rest[i]+c.cap(doc, &w.curve) < cut {
			return false
		}
		w.scores[c.term] = 0
		if c.seek(doc); c.doc == doc {
			w.scores[c.term] = c.idf * w.curve.at(c.more[c.at], length)
			score += w.scores[c.term]
		}
	}
	if score < cut {
		return false
	}
	total := 0.0
	for _, part := range w.scores {
		total += part
	}
	return w.hits.add(Hit{w.collection.ids[doc], total})
}

// every offers each match.
func (w *walk) every() {
	if len(w.totals) == 0 {
		w.totals, w.touched = make([]float64, window), make(bitmap, window/64)
	}
	lengths, v := w.collection.lengths, &w.curve
	docs := uint32(len(lengths))
	for from := uint32(0); from < docs; from += window {
		to := min(from+window, docs)
		for _, c := range w.order {
			for c.seek(from); c.doc < to; c.next() {
				w.totals[c.doc-from] += float64(c.idf * v.at(c.more[c.at], lengths[c.doc]))
				w.touched.set(c.doc - from)
			}
		}
		w.emit(from)
	}
}

// emit offers the documents that were touched in a window, and clears it.
func (w *walk) emit(from uint32) {
	for i, word := range w.touched {
		for ; word != 0; word &= word - 1 {
			at := uint32(i*64 + bits.TrailingZeros64(word))
			if score := w.totals[at]; score >= w.hits.cut && w.admits(from+at) {
				w.hits.add(Hit{w.collection.ids[from+at], score})
			}
			w.totals[at] = 0
		}
	}
	clear(w.touched)
}

// fewPostings is how many postings a walk goes through in the time in which one
// document is looked up in one list.
const fewPostings = 64

// few returns the places of the documents that a filter admits, in order, if
// looking them up is cheaper than walking through the lists.
func (s *scratch) few(x *Index, q Query) ([]place, bool) {
	if q.Within == nil {
		return nil, false
	}
	postings := 0
	for i := range s.parts {
		postings += s.parts[i].postings
	}
	most := postings / (fewPostings * q.width())
	n := 0
	words := q.Within.Words()
	for _, word := range words {
		if n += bits.OnesCount64(word); n > most {
			return nil, false
		}
	}
	places := make([]place, 0, n)
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			id := int64(i*64 + bits.TrailingZeros64(word))
			if at, ok := x.directory.get(id); ok {
				places = append(places, at)
			}
		}
	}
	slices.SortFunc(places, place.compare)
	return places, true
}

// searchFew offers the matches among the documents at places, which are in
// order.
func (s *scratch) searchFew(x *Index, places []place) {
	for i := range s.parts {
		p := &s.parts[i]
		c := p.collection
		first, _ := slices.BinarySearchFunc(places, place{collection: c.place}, place.compare)
		s.open(p)
		for _, at := range places[first:] {
			if at.collection != c.place {
				break
			}
			score := 0.0
			for _, cur := range s.order {
				if cur.seek(at.doc); cur.doc == at.doc {
					score += float64(cur.idf * s.curve.at(cur.more[cur.at], c.lengths[at.doc]))
				}
			}
			if score > 0 {
				s.hits.add(Hit{c.ids[at.doc], score})
			}
		}
	}
}
