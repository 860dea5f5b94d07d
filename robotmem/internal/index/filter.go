package index

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// FewMemories is the size of a set below which reading each memory's context is cheaper
// than making a column of all.
const FewMemories = 64

// Admit returns the memories that the selection admits and the snapshot contains: the
// column cache may reflect a later commit than the one that c reads. An episode has the memories that it
// stored and those that it has seen again.
func (x *Index) Admit(c *store.Conn, b Selection) (*bitset.BitSet, error) {
	set := x.Columns.Admit(b)
	if b.AsOf == nil {
		rest := b
		rest.Session = ""

		var err error
		if set, err = withSightings(c, set, b.Session, func() *bitset.BitSet { return x.Columns.Admit(rest) }); err != nil {
			return nil, err
		}
	}

	return withinSnapshot(c, set)
}

// withSightings adds to the memories of an episode those that it has seen again and that all has, the memories that pass
// the other conditions.
func withSightings(
	c *store.Conn, set *bitset.BitSet, session string, all func() *bitset.BitSet,
) (*bitset.BitSet, error) {
	if session == "" {
		return set, nil
	}
	seen, err := c.Sightings(session)
	if err != nil || len(seen) == 0 {
		return set, err
	}

	rest := all()
	set = set.Clone() // it is shared

	for _, id := range seen {
		if rest.Test(uint(id)) {
			set.Set(uint(id))
		}
	}

	return set, nil
}

// withinSnapshot removes the memories from a set that are newer than the snapshot of c.
func withinSnapshot(c *store.Conn, set *bitset.BitSet) (*bitset.BitSet, error) {
	last, err := c.Number(store.LastMemoryID)
	if err != nil {
		return nil, err
	}
	if _, later := set.NextSet(uint(last) + 1); !later {
		return set, nil
	}

	set = set.Clone()
	for id, ok := set.NextSet(uint(last) + 1); ok; id, ok = set.NextSet(id + 1) {
		set.Clear(id)
	}

	return set, nil
}

// Narrow returns the members of base that satisfy the filter. It refuses a bound that has no order with what is stored.
func (x *Index) Narrow(c *store.Conn, filter *filter.Condition, base *bitset.BitSet,
	now time.Time) (*bitset.BitSet, error) {
	if _, err := x.Columns.TextBounds(c, filter); err != nil {
		return nil, err
	}
	return x.narrow(c, filter, base, now)
}

func (x *Index) narrow(c *store.Conn, filter *filter.Condition, base *bitset.BitSet,
	now time.Time) (*bitset.BitSet, error) {
	if filter == nil || base.None() {
		return base, nil
	}
	if base.Count() <= FewMemories {
		return x.narrowEach(c, filter, base, now)
	}
	// Columns that are missing are made together, in one scan.
	if _, err := x.Columns.contexts(c, valueColumns(filter.Paths())...); err != nil {
		return nil, err
	}

	return x.answer(c, filter, base, now)
}

func (x *Index) narrowEach(c *store.Conn, condition *filter.Condition, base *bitset.BitSet,
	now time.Time) (*bitset.BitSet, error) {
	out := bitset.New(base.Len())

	var unitErr error
	unit := x.Columns.UnitsAt(c, &unitErr)

	var episodes map[string]string
	if slices.Contains(condition.Paths(), filter.EpisodeOutcome) {
		var err error
		if episodes, err = x.Columns.EpisodeOutcomes(c); err != nil {
			return nil, err
		}
	}

	for id, ok := base.NextSet(0); ok; id, ok = base.NextSet(id + 1) {
		context := ""
		found, err := c.One(store.ContextOf, []any{int64(id)},
			func(s store.Row) { context = s.ColumnText(0) })
		if m := x.Columns.view(int(id), context, now); found && m != nil {
			m.EpisodeOutcome = episodes[m.SessionID]
			out.SetTo(id, condition.Match(&filter.View{Memory: m, Unit: unit}))
		}
		if err = cmp.Or(err, unitErr); err != nil {
			return nil, err
		}
	}

	return out, nil
}

// view returns the fields of a memory that filters read, nil if there is no such memory.
func (r *Columns) view(id int, context string, now time.Time) *robotmem.Memory {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	if id >= len(r.Rows) || r.row(id).Kind == 0 {
		return nil
	}
	row := r.row(id)

	return &robotmem.Memory{
		Context:        robotmem.ParseObject(context),
		Category:       r.Text(row.Category),
		PerceptionType: r.Text(row.Perception),
		SessionID:      r.Text(row.Session),
		Confidence:     r.confidenceOf(&row, now.UnixNano()),
		ObservedAt:     time.Unix(0, row.Observed).UTC(),
		Outcome:        row.Outcome.String(),
		Tier:           r.Records.Values[row.Used].Tier(),
	}
}

// answer evaluates one condition of the filter within base.
func (x *Index) answer(c *store.Conn, n *filter.Condition, base *bitset.BitSet, now time.Time) (*bitset.BitSet, error) {
	switch n.Op {
	case "$and":
		set := base

		// Each condition looks only at what those before it have left, which may be few enough to read one by one.
		for i := range n.Kids {
			var err error
			if set, err = x.narrow(c, &n.Kids[i], set, now); err != nil {
				return nil, err
			}
		}

		return set, nil
	case "$or":
		out := bitset.New(base.Len())
		for i := range n.Kids {
			set, err := x.answer(c, &n.Kids[i], base, now)
			if err != nil {
				return nil, err
			}
			out.InPlaceUnion(set)
		}

		return out, nil
	case "$not":
		set, err := x.answer(c, &n.Kids[0], base, now)
		if err != nil {
			return nil, err
		}
		return base.Difference(set), nil
	}

	if n.Path == "outcome" {
		return x.Columns.ended(n, base, now), nil
	}
	if n.Path == filter.EpisodeOutcome {
		return x.Columns.ofEpisodes(c, n, base)
	}
	if filter.OwnField(n.Path) {
		return x.Columns.own(n, base, now), nil
	}

	// A column does not hold whole objects, so a comparison with one reads the contexts of the memories that have
	// the path.
	if n.NamesObject() {
		set, err := x.Columns.Having(c, &filter.Condition{Op: "$exists", Path: n.Path}, base)
		if err != nil {
			return nil, err
		}
		return x.narrowEach(c, n, set, now)
	}

	return x.Columns.Having(c, n, base)
}

// ended evaluates a condition over the outcome. It uses the cached scopes, because robots ask for outcomes most.
func (r *Columns) ended(n *filter.Condition, base *bitset.BitSet, now time.Time) *bitset.BitSet {
	out := bitset.New(base.Len())

	for _, outcome := range outcomes {
		if n.HoldsOwn(outcome) {
			out.InPlaceUnion(base.Intersection(r.Admit(Selection{Scope: Scope{Collection: "*", Outcome: outcome},
				Now: now})))
		}
	}

	return out
}

// ofEpisodes evaluates a condition over the outcome of the memories' episodes.
func (r *Columns) ofEpisodes(c *store.Conn, n *filter.Condition, base *bitset.BitSet) (*bitset.BitSet, error) {
	episodes, err := r.EpisodeOutcomes(c)
	if err != nil {
		return nil, err
	}

	r.Mu.RLock()
	defer r.Mu.RUnlock()
	decided := map[uint32]bool{} // by session

	return r.members(base, func(row *Row) bool {
		yes, known := decided[row.Session]
		if !known {
			yes = n.HoldsOwn(episodes[r.Text(row.Session)])
			decided[row.Session] = yes
		}
		return yes
	}), nil
}

// own evaluates a condition over a memory's own field.
func (r *Columns) own(n *filter.Condition, base *bitset.BitSet, now time.Time) *bitset.BitSet {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	decided := map[uint32]bool{} // cached result for each text

	return r.members(base, func(row *Row) bool {
		id := row.Category

		switch n.Path {
		case "observed_at":
			return n.HoldsOwn(time.Unix(0, row.Observed))
		case "tier":
			return n.HoldsOwn(r.Records.Values[row.Used].Tier())
		case "confidence":
			return n.HoldsOwn(r.confidenceOf(row, now.UnixNano()))
		case "perception_type":
			id = row.Perception
		case "session_id":
			id = row.Session
		}

		yes, known := decided[id]
		if !known {
			yes = n.HoldsOwn(r.Text(id))
			decided[id] = yes
		}

		return yes
	})
}

// Tagged returns the members of base that have every tag.
func (r *Columns) Tagged(tags []string, base *bitset.BitSet) *bitset.BitSet {
	if len(tags) == 0 {
		return base
	}
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	decided := map[uint32]bool{} // cached result for each list of tags

	return r.members(base, func(row *Row) bool {
		yes, known := decided[row.Tags]
		if !known {
			have := strings.Split(r.Text(row.Tags), tagSeparator)
			yes = !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(have, tag) })
			decided[row.Tags] = yes
		}

		return yes
	})
}

// Matching returns the active memories of a selection that pass a filter.
func (x *Index) Matching(c *store.Conn, from Selection, object robotmem.Object) (*bitset.BitSet, error) {
	if err := x.Columns.Sync(c); err != nil {
		return nil, err
	}
	set, err := x.Admit(c, from)
	if err != nil {
		return nil, err
	}

	return x.Narrowed(c, set, object, from.Now)
}

// Narrowed returns the members of a set that pass a filter, as of now.
func (x *Index) Narrowed(
	c *store.Conn, set *bitset.BitSet, object robotmem.Object, now time.Time,
) (*bitset.BitSet, error) {
	condition, err := filter.Parse(object)
	if err != nil {
		return nil, err
	}
	return x.Narrow(c, condition, set, now)
}
