package index

import (
	"cmp"
	"slices"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// EachCreated visits when each member of a set was stored, in nanoseconds since
// 1970.
func (r *Columns) EachCreated(set *bitset.BitSet, visit func(ns int64)) {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	for id, ok := set.NextSet(0); ok && int(id) < len(r.Rows); id, ok = set.NextSet(id + 1) {
		visit(r.Rows[id].Created)
	}
}

// Faded counts the active memories of a collection that are less sure than
// that now.
func (r *Columns) Faded(collection string, below float64, now time.Time) int64 {
	alive := Selection{Scope: Scope{Collection: collection}, Now: now}
	all := r.Admit(alive)
	alive.MinConfidence = below
	sure := r.Admit(alive)
	return int64(all.Count() - sure.Count())
}

// Tally counts what the roster knows.
func (r *Columns) Tally(res *robotmem.StatsResponse, now time.Time) {
	collections := map[uint32]bool{}
	dayAgo := now.Add(-24 * time.Hour).UnixNano()
	r.Each(func(row *Row, text func(uint32) string) {
		collections[row.Collection] = true
		if row.Created >= dayAgo {
			res.LastDay++
		}
		switch row.Status {
		case statusSuperseded:
			res.ByStatus["superseded"]++
			return
		case statusInvalidated:
			res.ByStatus["invalidated"]++
			return
		}
		res.ByStatus["active"]++
		res.Total++
		if row.Kind == 1 {
			res.ByType["fact"]++
		} else {
			res.ByType["perception"]++
		}
		res.ByCategory[text(row.Category)]++
	})
	res.Collections = int64(len(collections))
}

func Collections(c *store.Conn, r *Columns) ([]robotmem.CollectionCount, error) {
	counts := map[string]*robotmem.CollectionCount{}
	at := func(name string) *robotmem.CollectionCount {
		if counts[name] == nil {
			counts[name] = &robotmem.CollectionCount{Collection: name}
		}
		return counts[name]
	}
	r.Each(func(row *Row, text func(uint32) string) {
		n := at(text(row.Collection))
		n.Total++
		if row.Status == statusActive {
			n.Active++
		}
	})
	err := c.Query("SELECT collection, count(*) FROM sessions GROUP BY collection", nil, func(s *sqlite.Stmt) error {
		at(s.ColumnText(0)).Sessions = s.ColumnInt64(1)
		return nil
	})
	out := []robotmem.CollectionCount{}
	for _, n := range counts {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b robotmem.CollectionCount) int { return cmp.Compare(a.Collection, b.Collection) })
	return out, err
}

// Each visits every memory. text spells the roster's numbers.
func (r *Columns) Each(visit func(row *Row, text func(uint32) string)) {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	text := r.Text // once: making it allocates
	for i := range r.Rows {
		if r.Rows[i].Kind != 0 {
			visit(&r.Rows[i], text)
		}
	}
}

func (r *Columns) Active(collection string) (n int64) {
	set := r.Admit(Selection{Scope: Scope{Collection: collection}})
	return int64(set.Count())
}

func (r *Columns) Categories(collection string) []robotmem.CategoryCount {
	counts := map[string]int64{}
	r.Each(func(row *Row, text func(uint32) string) {
		if row.Status == statusActive && (collection == "*" || text(row.Collection) == collection) {
			counts[text(row.Category)]++
		}
	})
	out := []robotmem.CategoryCount{}
	for c, n := range counts {
		out = append(out, robotmem.CategoryCount{Category: c, Count: n})
	}
	slices.SortFunc(out, func(a, b robotmem.CategoryCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Category, b.Category))
	})
	return out
}

// Listing narrows a list of memories; zero fields do not.
type Listing struct {
	Scope                               // without MinConfidence
	Status                       string // "all" for every one
	Tags                         []string
	MinConfidence, MaxConfidence *float64  // as stored, not as of now
	Created                      time.Time // not before
}

// List returns the memories of a listing.
func (x *Index) List(c *store.Conn, l Listing) (*bitset.BitSet, error) {
	if err := x.Columns.Sync(c); err != nil {
		return nil, err
	}
	set, err := withinSnapshot(c, x.Columns.list(l))
	if err != nil {
		return nil, err
	}
	return Tagged(c, l.Tags, set)
}

func (r *Columns) list(l Listing) *bitset.BitSet {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	admits, set := r.matcher(l.Scope), bitset.New(uint(len(r.Rows)))
	for id := range r.Rows {
		row := &r.Rows[id]
		confidence := r.Beliefs.Values[row.Belief].confidence
		switch {
		case row.Kind == 0 || !admits(row):
		case l.Status != "all" && row.Status != statusOf(l.Status):
		case l.MinConfidence != nil && confidence < *l.MinConfidence:
		case l.MaxConfidence != nil && confidence > *l.MaxConfidence:
		case !l.Created.IsZero() && row.Created < l.Created.UnixNano():
		default:
			set.Set(uint(id))
		}
	}
	return set
}
