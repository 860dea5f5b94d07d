package lexical

import (
	"math/bits"
	"sync/atomic"
)

// living returns how many documents hold the term. dead marks those that were
// removed, and deaths has them in the order of their removal. A few new deaths
// are looked up one by one, many by going through the list.
func (l *list) living(dead bitmap, deaths []uint32) int {
	known := atomic.LoadUint64(&l.gone)
	seen, gone := int(known>>32), uint32(known)
	if seen < len(deaths) {
		if fresh := deaths[seen:]; len(fresh) <= l.size() {
			for _, doc := range fresh {
				if l.in(doc) > 0 {
					gone++
				}
			}
		} else {
			gone = l.countDead(dead)
		}
		atomic.StoreUint64(&l.gone, uint64(len(deaths))<<32|uint64(gone))
	}
	return int(l.count - gone)
}

func (l *list) countDead(dead bitmap) (gone uint32) {
	var r run
	for i := range l.size() {
		n := l.decode(i, &r)
		for _, doc := range r.docs[:n] {
			if dead.has(doc) {
				gone++
			}
		}
	}
	return gone
}

// bitmap is a set of document numbers.
type bitmap []uint64

func (b bitmap) has(doc uint32) bool {
	word := doc >> 6
	return word < uint32(len(b)) && b[word]>>(doc&63)&1 != 0
}

// set adds doc, and grows b as needed.
func (b *bitmap) set(doc uint32) {
	if need := int(doc>>6) + 1; need > len(*b) {
		*b = append(*b, make([]uint64, need-len(*b))...)
	}
	(*b)[doc>>6] |= 1 << (doc & 63)
}

func (b bitmap) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
