package lexical

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A question that is still being typed ends in a word that may become many. The
// lists of all of them become one list, made for the question: so they weigh as
// one word, and the walks through the lists need not know of them.

// Frequent returns the stems that most documents hold of those that are wanted,
// n at most, the most frequent first, of equally frequent ones the first in the
// alphabet. Documents that were replaced or removed count until a compaction
// takes them away.
func (x *Index) Frequent(collection string, n int, wanted func(stem string) bool) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found top
	if collection != All {
		if c := x.names[collection]; c != nil {
			c.each(wanted, func(stem string, count uint32) { found.add(frequency{stem, int(count)}, n) })
		}
		return found.stems()
	}
	counts := map[string]int{}
	for _, c := range x.collections {
		if c != nil {
			c.each(wanted, func(stem string, count uint32) { counts[stem] += int(count) })
		}
	}
	for stem, count := range counts {
		found.add(frequency{stem, count}, n)
	}
	return found.stems()
}

// each visits the stems that are wanted, with their number of documents.
func (c *collection) each(wanted func(string) bool, visit func(stem string, count uint32)) {
	for slot, stem := range c.stems {
		if count := c.lists[slot].count; count > 0 && wanted(stem) {
			visit(stem, count)
		}
	}
}

type frequency struct {
	stem  string
	count int
}

// top keeps the most frequent, in order by insertion, which costs nothing for
// the many that are rarer.
type top []frequency

func (t *top) add(f frequency, n int) {
	rarer := func(a, b frequency) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.stem, b.stem))
	}
	if len(*t) == n && (n == 0 || rarer((*t)[n-1], f) <= 0) {
		return
	}
	at, _ := slices.BinarySearchFunc(*t, f, rarer)
	*t = slices.Insert(*t, at, f)
	*t = (*t)[:min(len(*t), n)]
}

func (t top) stems() []string {
	out := make([]string, len(t))
	for i, f := range t {
		out[i] = strings.Clone(f.stem) // a compaction may let go of the index's own
	}
	return out
}

// wholeWord marks a document that holds the word as it stands.
const wholeWord = math.MaxUint32

// union makes one list of those of an unfinished word, nil if it has no
// documents, without those that hold the word as it stands; df counts both.
func (s *scratch) union(c *collection, u *Unfinished) (l *list, df int) {
	if len(s.counts) < len(c.ids) {
		s.counts = make([]uint32, len(c.ids))
	}
	counts := s.counts[:len(c.ids)]
	var r run
	visit := func(stems []string, put func(doc, more uint32)) {
		for _, stem := range stems {
			slot, ok := c.slots[stem]
			if !ok {
				continue
			}
			l := &c.lists[slot]
			for i := range l.size() {
				n := l.decode(i, &r)
				for at, doc := range r.docs[:n] {
					put(doc, r.more[at])
				}
			}
		}
	}
	visit(u.Longer, func(doc, more uint32) { counts[doc] += more + 1 })
	visit(u.Whole, func(doc, _ uint32) { counts[doc] = wholeWord })
	all := newList()
	for doc, n := range counts {
		if n == 0 {
			continue
		}
		counts[doc] = 0
		if c.dead.has(uint32(doc)) {
			continue
		}
		df++
		if n != wholeWord {
			all.add(uint32(doc), n, c.lengths[doc])
		}
	}
	if all.count == 0 {
		return nil, df
	}
	return &all, df
}
