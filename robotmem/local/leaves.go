package local

import (
	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// A robot asks with the same few filters again and again. leaves keeps, for
// each condition over a context path, the memories that satisfy it, and
// follows every change as the roster does: the memories that changed are put
// to each condition anew. The roster's lock guards it.
type leaves struct {
	sets map[string]*leaf
}

type leaf struct {
	condition filter.Condition
	set       *bitset.BitSet
	used      int64 // the clock at its last use
}

const maxKeptLeaves = 64

// leaf returns the members of base that satisfy a condition, if it is kept.
func (r *roster) leaf(key string, base *bitset.BitSet) (*bitset.BitSet, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := r.leaves.sets[key]
	if !ok {
		return nil, false
	}
	r.clock++
	l.used = r.clock
	return base.Intersection(l.set), true
}

// keepLeaf keeps what a snapshot at a revision answered, unless the roster has
// moved on since.
func (r *roster) keepLeaf(key string, n *filter.Condition, set *bitset.BitSet, revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.revision != revision {
		return
	}
	if r.leaves.sets == nil {
		r.leaves.sets = map[string]*leaf{}
	}
	if len(r.leaves.sets) >= maxKeptLeaves {
		oldest := ""
		for k, l := range r.leaves.sets {
			if oldest == "" || l.used < r.leaves.sets[oldest].used {
				oldest = k
			}
		}
		delete(r.leaves.sets, oldest)
	}
	r.clock++
	r.leaves.sets[key] = &leaf{condition: *n, set: set, used: r.clock}
}

// change puts a memory that changed to every condition. The caller holds the
// roster's lock.
func (l *leaves) change(id int64, context string) {
	if len(l.sets) == 0 {
		return
	}
	v := filter.View{Context: robotmem.ParseObject(context)}
	for _, leaf := range l.sets {
		leaf.set.SetTo(uint(id), leaf.condition.Match(&v))
	}
}
