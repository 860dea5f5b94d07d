package robotmem

import (
	"context"
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
	loaded   bool
	names    interner
	rows     []rosterRow
	points   map[int64]*pointColumn // by path id
	leaves   leaves
}

// rosterRow is one memory. Texts are interned numbers.
type rosterRow struct {
	observed, useful    int64 // nanoseconds since 1970
	confidence          float64
	decay               float64
	collection, session uint32
	category            uint32
	perception          uint32 // perception type; 0 for a fact
	status              status
	kind                uint8 // 1 fact, 2 perception, 0 no such memory
	real                bool  // sensed in the real world
	created             int64
	validFrom           int64
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

// interner gives each text a small number, from 1.
type interner struct {
	ids   map[string]uint32
	texts []string
}

func (in *interner) id(s string) uint32 {
	if s == "" {
		return 0
	}
	if id, ok := in.ids[s]; ok {
		return id
	}
	if in.ids == nil {
		in.ids = map[string]uint32{}
	}
	in.texts = append(in.texts, s)
	id := uint32(len(in.texts))
	in.ids[s] = id
	return id
}

// find returns the number of s; ok is false if no memory ever had it.
func (in *interner) find(s string) (id uint32, ok bool) {
	id, ok = in.ids[s]
	return id, ok
}

func (in *interner) text(id uint32) string {
	if id == 0 {
		return ""
	}
	return in.texts[id-1]
}

// pointColumn holds the coordinates of one context path, in no order.
type pointColumn struct {
	index  map[int64]int // memory id -> position in points
	points []point
}

type point struct {
	memoryID     int64
	x, y, z      float64
	dims         uint8
	frame, mapID uint32
}

func (c *pointColumn) put(p point) {
	if i, ok := c.index[p.memoryID]; ok {
		c.points[i] = p
		return
	}
	c.index[p.memoryID] = len(c.points)
	c.points = append(c.points, p)
}

func (c *pointColumn) drop(id int64) {
	i, ok := c.index[id]
	if !ok {
		return
	}
	last := len(c.points) - 1
	c.points[i] = c.points[last]
	c.index[c.points[i].memoryID] = i
	c.points = c.points[:last]
	delete(c.index, id)
}

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
	if err := r.load(c, r.revision); err != nil {
		return err
	}
	r.revision, r.loaded = revision, true
	return nil
}

// basic is the part of a recall that the roster answers alone.
type basic struct {
	collection    string // "*" for all
	session       string
	category      string
	kind          string
	perception    string
	after, before *time.Time
	minConfidence float64
	now           time.Time
	asOf          *time.Time // only states that have stood since then
}

// admit returns the active memories that pass b. all is true when every
// active memory does.
func (r *roster) admit(b basic) (set *bitset.BitSet, all bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	set = bitset.New(uint(len(r.rows)))
	match, ok := r.matcher(b)
	if !ok {
		return set, false
	}
	all = true
	for id := range r.rows {
		row := &r.rows[id]
		if row.kind == 0 || row.status != statusActive {
			continue
		}
		if match(row) {
			set.Set(uint(id))
		} else {
			all = false
		}
	}
	return set, all
}

// matcher compiles b; ok is false when nothing can match.
func (r *roster) matcher(b basic) (match func(*rosterRow) bool, ok bool) {
	wanted := func(s string) (uint32, bool) {
		if s == "" {
			return 0, true
		}
		return r.names.find(s)
	}
	collection, session, category, perception := uint32(0), uint32(0), uint32(0), uint32(0)
	if b.collection != "*" {
		if collection, ok = wanted(b.collection); !ok {
			return nil, false
		}
	}
	if session, ok = wanted(b.session); !ok {
		return nil, false
	}
	if category, ok = wanted(b.category); !ok {
		return nil, false
	}
	if perception, ok = wanted(b.perception); !ok {
		return nil, false
	}
	kind := kindOf(b.kind)
	after, before, now := int64(-1<<63), int64(1<<63-1), b.now.UnixNano()
	stood := int64(1<<63 - 1)
	if b.asOf != nil {
		stood = b.asOf.UnixNano()
	}
	if b.after != nil {
		after = b.after.UnixNano()
	}
	if b.before != nil {
		before = b.before.UnixNano()
	}
	return func(row *rosterRow) bool {
		return (collection == 0 || row.collection == collection) &&
			(session == 0 || row.session == session) &&
			(category == 0 || row.category == category) &&
			(perception == 0 || row.perception == perception) &&
			(kind == 0 || row.kind == kind) &&
			row.validFrom <= stood && row.observed >= after && (b.before == nil || row.observed < before) &&
			consolidate.AtLeast(row.confidence, row.decay, row.idle(now), b.minConfidence)
	}, true
}

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
