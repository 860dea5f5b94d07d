package index

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Faded counts the active memories of a collection whose confidence is below a limit now.
func (r *Columns) Faded(collection string, below float64, now time.Time) int64 {
	sure := r.Admit(Selection{Scope: Scope{Collection: collection, MinConfidence: below}, Now: now})
	return r.Active(collection) - int64(sure.Count())
}

// Tally counts all memories by status, type and category.
func (r *Columns) Tally(res *admin.StatsResponse, now time.Time) {
	collections := map[uint32]bool{}
	dayAgo := now.Add(-24 * time.Hour).UnixNano()
	r.Each(func(row *Row, text func(uint32) string) {
		collections[row.Collection] = true
		if row.Created >= dayAgo {
			res.LastDay++
		}
		res.ByStatus[statuses[row.Status]]++
		if row.Status == statusActive {
			res.Total++
			res.ByType[kinds[row.Kind]]++
			res.ByCategory[text(row.Category)]++
		}
	})
	res.Collections = int64(len(collections))
}

// Collections counts the memories and episodes of each collection, by name.
func Collections(c *store.Conn, r *Columns) ([]admin.CollectionCount, error) {
	counts := map[string]admin.CollectionCount{}
	r.Each(func(row *Row, text func(uint32) string) {
		n := counts[text(row.Collection)]
		n.Total++
		if row.Status == statusActive {
			n.Active++
		}
		counts[text(row.Collection)] = n
	})

	// A collection may have episodes and no memory yet.
	err := c.Query(store.SessionsByCollection, nil, func(s store.Row) error {
		n := counts[s.ColumnText(0)]
		n.Sessions = s.ColumnInt64(1)
		counts[s.ColumnText(0)] = n
		return nil
	})
	out := []admin.CollectionCount{}

	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		n.Collection = name
		out = append(out, n)
	}

	return out, err
}

// Each visits every memory. text returns the text of an interned number.
func (r *Columns) Each(visit func(row *Row, text func(uint32) string)) {
	r.Mu.RLock()
	defer r.Mu.RUnlock()

	text := r.Text // once: making it allocates
	for i := range r.Rows {
		if row := r.row(i); row.Kind != 0 {
			visit(&row, text)
		}
	}
}

// Active counts the active memories of a collection.
func (r *Columns) Active(collection string) int64 {
	return int64(r.Admit(Selection{Scope: Scope{Collection: collection}}).Count())
}

// Categories counts the active memories of a collection by category, most first.
func (r *Columns) Categories(collection string) []admin.CategoryCount {
	counts := map[string]int64{}
	r.Each(func(row *Row, text func(uint32) string) {
		if row.Status == statusActive && robotmem.InCollections(collection, text(row.Collection)) {
			counts[text(row.Category)]++
		}
	})

	out := []admin.CategoryCount{}
	for c, n := range counts {
		out = append(out, admin.CategoryCount{Category: c, Count: n})
	}
	slices.SortFunc(out, func(a, b admin.CategoryCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Category, b.Category))
	})

	return out
}

// Listing selects the memories of a list. Zero fields select all.
type Listing struct {
	Scope                               // without MinConfidence
	Status                       string // "all" for any
	Tags                         []string
	MinConfidence, MaxConfidence *float64  // as stored, not as of now
	Created                      time.Time // earliest
	Filter                       *filter.Condition
	Now                          time.Time // of the filter
}

// List returns the memories of a listing. An episode has those that it has seen again, too.
func (x *Index) List(c *store.Conn, l Listing) (*bitset.BitSet, error) {
	if err := x.Columns.Sync(c); err != nil {
		return nil, err
	}
	rest := l
	rest.Session = ""
	set, err := withSightings(c, x.Columns.list(l), l.Session, func() *bitset.BitSet { return x.Columns.list(rest) })
	if err == nil {
		set, err = withinSnapshot(c, set)
	}
	if err != nil {
		return nil, err
	}

	set = x.Columns.Tagged(l.Tags, set)
	if l.Filter == nil || l.Status == "active" {
		return x.Narrow(c, l.Filter, set, l.Now)
	}

	// The cached sets of outcomes have the active memories only.
	if _, err := x.Columns.TextBounds(c, l.Filter); err != nil {
		return nil, err
	}

	return x.narrowEach(c, l.Filter, set, l.Now)
}

func (r *Columns) list(l Listing) *bitset.BitSet {
	r.Mu.RLock()
	defer r.Mu.RUnlock()

	admits, set := r.matcher(l.Scope), bitset.New(uint(len(r.Rows)))
	for id := range r.Rows {
		row := r.row(id)

		confidence := r.Beliefs.Values[row.Belief].confidence
		switch {
		case row.Kind == 0 || !admits(&row):
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
