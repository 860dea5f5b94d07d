package index

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Columns is the column cache: the fields of every memory that the most common
// filters ask for, indexed by memory id, so that a filter over all memories costs
// about a nanosecond each. It follows the change counter: Sync reads the rows that
// changed since, whichever process changed them.
type Columns struct {
	episodeEnds atomic.Pointer[episodeOutcomes]

	Mu         sync.RWMutex // guards the fields below
	Revision   int64
	purges     int64 // the purge counter when it was read
	loaded     bool
	names      interner[string] // number 0 is ""
	Beliefs    interner[decayingConfidence]
	Records    interner[consolidate.Record]
	classes    interner[class] // number 0 is that of no memory
	Rows       []packedRow     // by memory id
	later      map[int64]moments
	Actives    int     // rows of status active
	unread     []int64 // memories on damaged pages, which are in no answer
	ScopeCache recent[*cachedScope]
	Contexts   recent[*contextSet]
	episodes   episodes
	Memory     budget.Memory // bounds the caches; set before the first use

	making sync.Mutex // held while a context column is made; taken before Mu
}

// Row is one memory. Texts and beliefs are interned numbers.
type Row struct {
	ID int64
	packedRow
	*class
}

// packedRow holds the fields in which most memories differ. With a million memories, each byte matters.
type packedRow struct {
	Created, Observed int64 // nanoseconds since 1970
	Session           uint32
	Tags              uint32 // joined by tagSeparator
	Used              uint32 // its record, in Columns.Records
	Class             uint32 // in Columns.classes
}

// class holds the fields that many memories have in common.
type class struct {
	Collection, Category, Belief uint32
	Perception                   uint32 // perception type; 0 for a fact
	Status                       status
	Kind                         uint8 // 1 fact, 2 perception, 3 document, 0 no such memory
	Outcome                      Outcome
	Seen                         uint8 // of seen
	Later                        uint8 // 1 if Columns.later has its moments
}

// moments holds times that equal the time of creation for most memories.
type moments struct{ Useful, ValidFrom int64 }

// seen packs how often a memory was learnt, up to 128 times, and if it is of the real world.
func seen(sightings int64, real bool) uint8 {
	n := uint8(min(sightings, 128)-1) << 1
	if real {
		n++
	}
	return n
}

// Real reports whether the memory was sensed in the real world.
func (r *Row) Real() bool { return r.Seen&1 == 1 }

// Sightings returns how often the memory was learnt, up to 128.
func (r *Row) Sightings() int { return 1 + int(r.Seen>>1) }

// tagSeparator is a control character, which tags do not contain.
const tagSeparator = "\x1f"

// decayingConfidence is a stored confidence with its decay rate. Few different ones occur.
type decayingConfidence struct{ confidence, decay float64 }

// confidenceOf returns the confidence of a row as of now.
func (r *Columns) confidenceOf(row *Row, now int64) float64 {
	b := r.Beliefs.Values[row.Belief]
	return consolidate.Now(b.confidence, b.decay, r.idle(row, now))
}

// idle returns the time since a memory was last useful, as of now. With as_of, now is in the
// past, and a later use does not count.
func (r *Columns) idle(row *Row, now int64) time.Duration {
	if useful := r.Moments(row).Useful; useful <= now {
		return time.Duration(now - useful)
	}
	return time.Duration(now - row.Created)
}

// Moments returns when a memory was last useful and since when it is valid.
func (r *Columns) Moments(row *Row) moments {
	if row.Later == 1 {
		return r.later[row.ID]
	}
	return moments{row.Created, row.Created}
}

// row returns the columns of a memory. Classes do not change, so a row needs no lock.
func (r *Columns) row(id int) Row {
	row := r.Rows[id]
	return Row{int64(id), row, &r.classes.Values[row.Class]}
}

type status uint8

const (
	statusActive status = iota + 1
	statusSuperseded
	statusInvalidated
)

var (
	statuses = [...]string{statusActive: "active", statusSuperseded: "superseded", statusInvalidated: "invalidated"}
	kinds    = [...]string{1: "fact", 2: "perception", 3: robotmem.TypeDocument}
)

// Outcome is the outcome of a memory, 0 if it is unknown.
type Outcome uint8

// The outcomes.
const (
	Unknown Outcome = iota
	Success
	Failure
	Partial
)

var outcomes = [...]string{robotmem.OutcomeUnknown, robotmem.OutcomeSuccess, robotmem.OutcomeFailure,
	robotmem.OutcomePartial}

func (o Outcome) String() string { return outcomes[o] }

func outcomeOf(s string) Outcome { return Outcome(max(0, slices.Index(outcomes[:], s))) }

func statusOf(s string) status {
	if at := slices.Index(statuses[:], s); at > 0 {
		return status(at)
	}
	return statusInvalidated
}

func kindOf(s string) uint8 { return uint8(max(0, slices.Index(kinds[:], s))) }

// interner numbers values from 0.
type interner[T comparable] struct {
	ids    map[T]uint32
	Values []T
}

func (in *interner[T]) id(v T) uint32 {
	if id, ok := in.ids[v]; ok {
		return id
	}
	if in.ids == nil {
		in.ids = map[T]uint32{}
	}
	id := uint32(len(in.Values))
	in.Values = append(in.Values, v)
	in.ids[v] = id

	return id
}

// Knows reports whether a memory has ever been in a collection. It is true of *
// and of the default collection.
func (r *Columns) Knows(collection string) bool {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	_, known := r.names.ids[collection]
	return known || collection == "*" || collection == robotmem.DefaultCollection
}

// Text returns the text of an interned number.
func (r *Columns) Text(id uint32) string { return r.names.Values[id] }

// Sync brings the columns up to the snapshot that c reads.
func (r *Columns) Sync(c *store.Conn) error {
	revision, err := c.Changes()
	if err != nil {
		return err
	}

	r.Mu.RLock()
	fresh := r.loaded && r.Revision >= revision
	r.Mu.RUnlock()
	if fresh {
		return nil
	}

	r.Mu.Lock()
	defer r.Mu.Unlock()

	// Another caller may have read the changes while this one waited for the lock.
	if r.loaded && r.Revision >= revision {
		return nil
	}

	// A deadline must not end this: what was read so far would be lost, and a node
	// whose callers all have short deadlines would never answer.
	interrupt := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(interrupt)
	purges, err := c.Purges()
	if err != nil {
		return err
	}

	// Interned names and cached stems may be those of a purged memory, so everything is read again.
	if purges > r.purges {
		r.forget()
		recall.Forget()
	}

	if !r.loaded {
		r.Restore(c)
	}
	if err := r.load(c, r.Revision); err != nil {
		return err
	}

	r.Revision, r.purges, r.loaded = revision, purges, true

	return nil
}

// Restore starts from the stored snapshot, if there is one that can be read.
func (r *Columns) Restore(c *store.Conn) {
	var stored *Columns
	revision, err := c.LoadSnapshot(store.ColumnsSnapshot, func(in io.Reader) (err error) {
		stored, err = readColumns(in)
		return err
	})

	// Without a readable snapshot all rows are read, which takes longer and is otherwise the same.
	if err == nil {
		r.names, r.Beliefs, r.Records, r.classes = stored.names, stored.Beliefs, stored.Records, stored.classes
		r.Rows, r.later, r.Actives = stored.Rows, stored.later, stored.Actives
		r.Revision = revision
	}
}

// forget drops everything but purges. The caller holds the lock.
func (r *Columns) forget() {
	r.Revision, r.loaded = 0, false
	r.names, r.Beliefs = interner[string]{}, interner[decayingConfidence]{}
	r.Records, r.classes = interner[consolidate.Record]{}, interner[class]{}
	r.Rows, r.later, r.Actives, r.unread = nil, nil, 0, nil
	r.ScopeCache, r.Contexts, r.episodes = nil, nil, nil
}

// ObservedTimes lists the members of a set with the times they were observed.
func (r *Columns) ObservedTimes(set *bitset.BitSet) []store.TimedID {
	r.Mu.RLock()
	defer r.Mu.RUnlock()

	out := make([]store.TimedID, 0, set.Count())
	for id, ok := set.NextSet(0); ok && int(id) < len(r.Rows); id, ok = set.NextSet(id + 1) {
		out = append(out, store.TimedID{ID: int64(id), NS: r.Rows[id].Observed})
	}

	return out
}

// Sightings returns how often each memory was learnt, up to 128. It is 0 for a perception if a fact
// of the same episode is among the memories, because the fact describes the attempt.
func (r *Columns) Sightings(memories []store.TimedID) []int {
	r.Mu.RLock()
	defer r.Mu.RUnlock()

	out := make([]int, len(memories))
	hasFact := map[uint32]bool{} // by session

	for i, m := range memories {
		row := r.row(int(m.ID))
		out[i] = row.Sightings()
		if row.Session != 0 && row.Perception == 0 {
			hasFact[row.Session] = true
		}
	}

	for i, m := range memories {
		if row := r.row(int(m.ID)); row.Perception != 0 && hasFact[row.Session] {
			out[i] = 0
		}
	}

	return out
}

// Unread describes the memories on damaged pages, for degraded; "" for none.
func (r *Columns) Unread() string {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	if len(r.unread) == 0 {
		return ""
	}

	return fmt.Sprintf("%d memories on damaged pages cannot be read, memory %d the first; run robotmem doctor",
		len(r.unread), r.unread[0])
}

// Row returns one memory's columns; ok is false if there is no such memory.
func (r *Columns) Row(id int64) (Row, bool) {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	if id < 0 || id >= int64(len(r.Rows)) || r.row(int(id)).Kind == 0 {
		return Row{class: &class{}}, false
	}
	return r.row(int(id)), true
}

// load reads the rows that changed after a revision. The caller holds the lock.
func (r *Columns) load(c *store.Conn, after int64) error {
	// Number 0 of each interner is the empty value.
	r.names.id("")
	r.Records.id(consolidate.Record{})
	r.classes.id(class{})

	var changed []int64

	// All rows are read in the order of the table; the index on revision would give them in a random order.
	rows := store.Changes{All: store.ChangedColumns, One: store.ColumnsOf}
	if after == 0 {
		rows.All = store.AllColumns
	}
	f, err := c.EachChanged(rows, after, 0, func(s store.Row) error {
		id := s.ColumnInt64(0)
		r.set(id, packedRow{
			Created: store.ParseNano(s.ColumnRawText(12)), Observed: store.ParseNano(s.ColumnRawText(10)),
			Session: r.names.id(s.ColumnText(3)), Tags: r.names.id(strings.Join(append(store.StoredList(s.ColumnText(16)), s.ColumnText(17)), tagSeparator)),
			Used: r.Records.id(consolidate.Record{Uses: s.ColumnFloat(19), Successes: s.ColumnFloat(20)}),
		}, class{
			Collection: r.names.id(s.ColumnText(2)), Category: r.names.id(s.ColumnText(4)),
			Kind: kindOf(s.ColumnText(5)), Perception: r.names.id(s.ColumnText(6)),
			Status: statusOf(s.ColumnText(7)), Belief: r.Beliefs.id(decayingConfidence{s.ColumnFloat(8),
				s.ColumnFloat(9)}),
			Outcome: outcomeOf(s.ColumnText(18)), Seen: seen(s.ColumnInt64(21), s.ColumnBool(14)),
		}, moments{Useful: store.ParseNano(s.ColumnRawText(11)), ValidFrom: store.ParseNano(s.ColumnRawText(13))})
		// At the first loading there is no cached result to update. Afterwards there may be, even of an empty memory.
		if after > 0 || r.loaded {
			changed = append(changed, id)
			r.ChangeContexts(id, s.ColumnText(15))
		}

		return nil
	})
	if err != nil {
		return err
	}

	r.unread = append(r.unread, f.Unread...)
	r.follow(changed)

	return nil
}

// set replaces a row.
func (r *Columns) set(id int64, row packedRow, of class, at moments) {
	for int64(len(r.Rows)) <= id {
		r.Rows = append(r.Rows, packedRow{})
	}

	if r.row(int(id)).Status == statusActive {
		r.Actives--
	}
	if of.Status == statusActive {
		r.Actives++
	}

	// Most memories have no other times than that of their creation, so only the others take room in later.
	delete(r.later, id)
	if at.Useful != row.Created || at.ValidFrom != row.Created {
		if r.later == nil {
			r.later = map[int64]moments{}
		}
		r.later[id], of.Later = at, 1
	}

	// The row leaves its old episode before it is replaced, because the order depends on its fields.
	row.Class = r.classes.id(of)
	r.moveEpisode(id, false)
	r.Rows[id] = row
	r.moveEpisode(id, true)
}
