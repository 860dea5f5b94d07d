package index

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Robots repeat the same few filters. ScopeCache holds the results for scopes (collection,
// session, category and others), a valueColumn those for conditions over its context path. Both
// are updated with every change of a memory, and evict the least recently used result.

const (
	maxCachedScopes  = 32
	maxCachedFilters = 16 // for each path
	// fadeHorizon is the period for which a scope knows which of its members fall below its limit of confidence.
	fadeHorizon = int64(10 * time.Minute)
)

// recent is a list of cached results, the most recently used last.
type recent[T any] []T

// use moves the result at a position to the end, or appends a new one for position -1. It
// keeps at most most results.
func (r *recent[T]) use(at int, v T, most int) {
	if at < 0 && len(*r) >= most {
		at = 0
	}
	if at >= 0 {
		*r = slices.Delete(*r, at, at+1)
	}
	*r = append(*r, v)
}

// Selection is the part of a recall's filter that the column cache alone evaluates.
type Selection struct {
	Scope
	After, Before *time.Time
	Now           time.Time
	AsOf          *time.Time // only memories that have not changed since then
}

// Scope is the part of a selection that is cached.
type Scope struct {
	Collection    string // a set
	Session       string
	Category      string
	Kind          string
	Perception    string
	Outcome       string // "" for all
	MinConfidence float64
}

// cachedScope is the cached result of a scope. It is updated with every change of a
// memory. The members whose confidence falls below the limit soon are evaluated again then.
type cachedScope struct {
	Scope
	Set         *bitset.BitSet // replaced when it changes, because queries may hold the old one
	from, until int64          // Set is valid in [from, until)
	horizon     int64          // when all rows are evaluated again
	fading      []int64        // may change before horizon
	static      func(*Row) bool
}

// Admit returns the active memories that pass b. The set is shared: callers must not change it.
func (r *Columns) Admit(b Selection) *bitset.BitSet {
	r.Mu.Lock()
	defer r.Mu.Unlock()

	switch {
	case b.AsOf != nil:
		// A scope at a past time is not cached, because the next query is for the present.
		a := r.Evaluate(b.Scope, b.Now.UnixNano())
		stood := b.AsOf.UnixNano()
		return r.members(a.Set, func(row *Row) bool { return r.Moments(row).ValidFrom <= stood && within(row, b) })
	case b.After != nil || b.Before != nil:
		return r.members(r.cachedScopeOf(b).Set, func(row *Row) bool { return within(row, b) })
	}

	return r.cachedScopeOf(b).Set
}

func within(row *Row, b Selection) bool {
	return (b.After == nil || row.Observed >= b.After.UnixNano()) &&
		(b.Before == nil || row.Observed < b.Before.UnixNano())
}

// members returns the members of a set that pass.
func (r *Columns) members(set *bitset.BitSet, pass func(*Row) bool) *bitset.BitSet {
	out := bitset.New(uint(len(r.Rows)))
	for id, ok := set.NextSet(0); ok && int(id) < len(r.Rows); id, ok = set.NextSet(id + 1) {
		if row := r.row(int(id)); pass(&row) {
			out.Set(id)
		}
	}

	return out
}

// Evaluate evaluates a scope by a scan of all rows.
func (r *Columns) Evaluate(who Scope, now int64) *cachedScope {
	a := &cachedScope{
		Scope:   who,
		Set:     bitset.New(uint(len(r.Rows))),
		from:    now,
		until:   now + fadeHorizon,
		horizon: now + fadeHorizon,
		static:  r.matcher(who),
	}
	for id := range r.Rows {
		if r.admits(a, int64(id)) {
			a.Set.Set(uint(id))
		}
	}

	return a
}

// changes records that a row may leave or enter the scope at a time.
func (a *cachedScope) changes(id, at int64) {
	if at < a.horizon {
		a.until = min(a.until, at)
		a.fading = append(a.fading, id)
	}
}

// advance evaluates the rows that may have changed by now.
func (r *Columns) advance(a *cachedScope, now int64) {
	again := a.fading

	// Queries may hold the old set, so it is not changed.
	a.Set = a.Set.Clone()
	a.from, a.until = now, a.horizon
	a.fading = nil

	for _, id := range again {
		a.Set.SetTo(uint(id), r.admits(a, id))
	}
}

// admits reports whether a row belongs to a scope at the time from, and records when that may
// change.
func (r *Columns) admits(a *cachedScope, id int64) bool {
	row := r.row(int(id))
	if row.Kind == 0 || row.Status != statusActive || !a.static(&row) {
		return false
	}

	b := r.Beliefs.Values[row.Belief]
	// A use in the future, by another clock, makes the row more confident once its time comes.
	if useful := r.Moments(&row).Useful; useful > a.from && a.MinConfidence > 0 {
		a.changes(id, useful)
	}
	if !consolidate.AtLeast(b.confidence, b.decay, r.idle(&row, a.from), a.MinConfidence) {
		return false
	}

	// Solve confidence·(1-decay)^days = MinConfidence for the time at which the row falls below the limit. The slack
	// covers rounding.
	if b.decay > 0 && a.MinConfidence > 0 {
		const day, slack = float64(24 * time.Hour), float64(time.Second)
		stays := day * math.Log(a.MinConfidence/b.confidence) / math.Log1p(-b.decay)
		if fades := float64(a.from-int64(r.idle(&row, a.from))) + stays - slack; fades < float64(a.horizon) {
			a.changes(id, int64(fades))
		}
	}

	return true
}

// cachedScopeOf returns the cached result of a scope, or evaluates and caches it.
func (r *Columns) cachedScopeOf(b Selection) *cachedScope {
	now := b.Now.UnixNano()
	at := slices.IndexFunc(r.ScopeCache, func(a *cachedScope) bool { return a.Scope == b.Scope })

	var a *cachedScope
	if at >= 0 && r.ScopeCache[at].holds(now) {
		a = r.ScopeCache[at]
		if a.MinConfidence > 0 && now >= a.until {
			r.advance(a, now)
		}
	} else {
		a = r.Evaluate(b.Scope, now)
	}
	r.ScopeCache.use(at, a, int(r.Memory.Part(maxCachedScopes)))

	return a
}

// holds reports whether a cached scope is usable for a time.
func (a *cachedScope) holds(now int64) bool {
	return a.MinConfidence <= 0 || a.from <= now && now < a.horizon
}

// follow updates every cached scope with changed rows.
func (r *Columns) follow(changed []int64) {
	if len(changed) == 0 {
		return
	}

	for _, a := range r.ScopeCache {
		// Queries may hold the old set, so a copy is changed.
		a.Set = a.Set.Clone()
		// The change may have brought a name that the scope asks for and that had no number before.
		a.static = r.matcher(a.Scope)
		// Decay is computed from the last use on, because no query is for an earlier time.
		for _, id := range changed {
			row := r.row(int(id))
			if useful := r.Moments(&row).Useful; useful > a.from && useful < a.until {
				a.from = useful
			}
		}

		for _, id := range changed {
			a.Set.SetTo(uint(id), r.admits(a, id))
		}
	}
}

// matcher compiles a scope without its lowest confidence.
func (r *Columns) matcher(who Scope) func(*Row) bool {
	const every = math.MaxUint32 // not a valid name number
	known := true
	wanted := func(s string) uint32 {
		if s == "" {
			return every
		}
		id, ok := r.names.ids[s]
		known = known && ok
		return id
	}

	// A scope with a name that no memory has admits nothing.
	collection := uint32(every)
	several := []uint32(nil)
	if strings.Contains(who.Collection, ",") {
		for name := range strings.SplitSeq(who.Collection, ",") {
			if id, ok := r.names.ids[name]; ok {
				several = append(several, id)
			}
		}
		known = len(several) > 0
	} else if who.Collection != robotmem.AllCollections {
		collection = wanted(who.Collection)
	}

	session, category, perception := wanted(who.Session), wanted(who.Category), wanted(who.Perception)
	if !known {
		return func(*Row) bool { return false }
	}

	kind, outcome := kindOf(who.Kind), outcomeOf(who.Outcome)

	return func(row *Row) bool {
		return (collection == every || row.Collection == collection) &&
			(several == nil || slices.Contains(several, row.Collection)) &&
			(session == every || row.Session == session) &&
			(category == every || row.Category == category) &&
			(perception == every || row.Perception == perception) &&
			(kind == 0 || row.Kind == kind) && (who.Outcome == "" || row.Outcome == outcome)
	}
}

// Admits applies the selection to one memory, for past states, which the column cache
// does not hold.
func (b *Selection) Admits(m *robotmem.Memory) bool {
	equal := func(want, got string) bool { return want == "" || want == got }
	return robotmem.InCollections(b.Collection, m.Collection) && equal(b.Session, m.SessionID) &&
		equal(b.Category, m.Category) &&
		equal(b.Kind, m.Type) && equal(b.Perception, m.PerceptionType) && m.Confidence >= b.MinConfidence &&
		(b.After == nil || !m.ObservedAt.Before(*b.After)) && (b.Before == nil || m.ObservedAt.Before(*b.Before))
}
