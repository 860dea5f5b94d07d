package local

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/consolidate"
)

// roster holds what the most common filters ask of every memory, in columns
// indexed by memory id, so that a filter over all memories costs about a
// nanosecond each. It follows the change counter: sync reads the rows that
// changed since, whoever changed them.
type roster struct {
	mu       sync.RWMutex // guards everything below
	revision int64
	purges   int64 // that were done when it was read
	loaded   bool
	names    interner[string] // number 0 is ""
	beliefs  interner[belief]
	rows     []rosterRow            // by memory id
	actives  int                    // rows of status active
	points   map[int64]*pointColumn // by path id
	kept     []*admission
	leaves   leaves
	clock    int64 // counts uses of what is kept
}

// rosterRow is one memory. Texts and beliefs are interned numbers.
type rosterRow struct {
	observed, useful    int64 // nanoseconds since 1970
	created, validFrom  int64
	belief              uint32
	collection, session uint32
	category            uint32
	perception          uint32 // perception type; 0 for a fact
	status              status
	kind                uint8 // 1 fact, 2 perception, 0 no such memory
	real                bool  // sensed in the real world
}

// belief is how sure a memory is and how that fades. Memories have few
// different ones.
type belief struct{ confidence, decay float64 }

// believed returns the confidence of a row as of now.
func (r *roster) believed(row *rosterRow, now int64) float64 {
	b := r.beliefs.values[row.belief]
	return consolidate.Now(b.confidence, b.decay, row.idle(now))
}

// idle is the time since a memory was last useful, as of now: under as_of, a
// use that came later does not count.
func (row *rosterRow) idle(now int64) time.Duration {
	if row.useful > now {
		return time.Duration(now - row.created)
	}
	return time.Duration(now - row.useful)
}

type status uint8

const (
	statusActive status = iota + 1
	statusSuperseded
	statusInvalidated
)

func statusOf(s string) status {
	switch s {
	case "active":
		return statusActive
	case "superseded":
		return statusSuperseded
	}
	return statusInvalidated
}

// interner numbers values from 0.
type interner[T comparable] struct {
	ids    map[T]uint32
	values []T
}

func (in *interner[T]) id(v T) uint32 {
	if id, ok := in.ids[v]; ok {
		return id
	}
	if in.ids == nil {
		in.ids = map[T]uint32{}
	}
	id := uint32(len(in.values))
	in.values = append(in.values, v)
	in.ids[v] = id
	return id
}

// find returns the number of v; ok is false if no memory ever had it.
func (in *interner[T]) find(v T) (id uint32, ok bool) {
	id, ok = in.ids[v]
	return id, ok
}

// knows reports whether a memory may lie in a collection, which * and the
// default always are: it has seen the name.
func (r *roster) knows(collection string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, known := r.names.find(collection)
	return known || collection == "*" || collection == defaultCollection
}

func (r *roster) text(id uint32) string { return r.names.values[id] }

// sync brings the roster to the snapshot that c reads.
func (r *roster) sync(c *conn) error {
	revision, err := c.changes()
	if err != nil {
		return err
	}
	r.mu.RLock()
	fresh := r.loaded && r.revision >= revision
	r.mu.RUnlock()
	if fresh {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loaded && r.revision >= revision {
		return nil
	}
	// A deadline must not end this: what it has read so far would be lost, and
	// a node whose callers are all in a hurry would never answer.
	hurry := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(hurry)
	purges, err := c.purges()
	if err != nil {
		return err
	}
	if purges > r.purges {
		r.forget() // a purged memory's names of frames and maps are in it too
	}
	if !r.loaded {
		r.restore(c)
	}
	if err := r.load(c, r.revision); err != nil {
		return err
	}
	r.purges = purges
	r.revision, r.loaded = revision, true
	return nil
}

// restore begins with the stored snapshot, if there is one that can be read.
func (r *roster) restore(c *conn) {
	var stored *roster
	revision, err := c.loadSnapshot(rosterSnapshot, func(in io.Reader) (err error) {
		stored, err = readRoster(in)
		return err
	})
	if err == nil {
		r.names, r.beliefs, r.rows, r.actives, r.points, r.revision = stored.names, stored.beliefs, stored.rows, stored.actives, stored.points, revision
	}
}

// reset forgets everything.
func (r *roster) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
}

// forget is reset for who holds the lock.
func (r *roster) forget() {
	r.revision, r.loaded, r.names, r.beliefs, r.rows, r.actives = 0, false, interner[string]{}, interner[belief]{}, nil, 0
	r.points, r.kept, r.leaves = nil, nil, leaves{}
}

const rosterSnapshot = "roster"

func kindOf(s string) uint8 {
	switch s {
	case "fact":
		return 1
	case "perception":
		return 2
	}
	return 0
}

// moment is when a memory was observed, in nanoseconds since 1970.
type moment struct{ id, ns int64 }

// moments lists a set with its times of observation.
func (r *roster) moments(set *bitset.BitSet) []moment {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]moment, 0, set.Count())
	for id, ok := set.NextSet(0); ok && int(id) < len(r.rows); id, ok = set.NextSet(id + 1) {
		out = append(out, moment{int64(id), r.rows[id].observed})
	}
	return out
}

// row returns one memory's columns; ok is false if there is no such memory.
func (r *roster) row(id int64) (rosterRow, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if id < 0 || id >= int64(len(r.rows)) || r.rows[id].kind == 0 {
		return rosterRow{}, false
	}
	return r.rows[id], true
}
