package index

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Robots repeat the same few filters. ScopeCache holds the results for scopes (collection,
// session, category and others), a valueColumn those for conditions over its context
// path. Both are updated with every change of a memory, and evict the least recently used
// result.

const (
	maxCachedScopes  = 32
	maxCachedFilters = 16 // for each path
	// decayHorizon is how far ahead the decay of confidences is computed.
	decayHorizon = int64(time.Hour)
)

// recent is a list of cached results, the most recently used last.
type recent[T any] []T

// use moves the result at a position to the end, or appends one for position -1, and
// keeps at most most of them.
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
	Collection    string // "*" for all
	Session       string
	Category      string
	Kind          string
	Perception    string
	Outcome       string // "" for all
	MinConfidence float64
}

// cachedScope is the cached result of a scope. It is updated with every change of a
// memory. The memories whose confidence will fall below the limit are computed in
// advance.
type cachedScope struct {
	Scope
	Set         *bitset.BitSet // replaced when it changes, because queries may hold the old one
	asked       int64          // the time that Set is valid for
	until       int64          // decay is computed up to this time
	fading      []fade         // in order of time
	static      func(*Row) bool
	impermanent bool // a row's time is ahead of our clock, so the result must not be reused
}

// fade is the time at which a memory's confidence falls below the limit.
type fade struct{ at, id int64 }

// Admit returns the active memories that pass b. The set is shared: callers must not
// change it.
func (r *Columns) Admit(b Selection) *bitset.BitSet {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	switch {
	case b.AsOf != nil:
		a := r.Evaluate(b.Scope, b.Now.UnixNano())
		stood := b.AsOf.UnixNano()
		return r.members(a.Set, func(row *Row) bool { return row.ValidFrom <= stood && within(row, b) })
	case b.After != nil || b.Before != nil:
		return r.members(r.cachedScopeOf(b).Set, func(row *Row) bool { return within(row, b) })
	}
	return r.cachedScopeOf(b).Set
}

func within(row *Row, b Selection) bool {
	return (b.After == nil || row.Observed >= b.After.UnixNano()) && (b.Before == nil || row.Observed < b.Before.UnixNano())
}

// members returns the members of a set that pass.
func (r *Columns) members(set *bitset.BitSet, pass func(*Row) bool) *bitset.BitSet {
	out := bitset.New(uint(len(r.Rows)))
	for id, ok := set.NextSet(0); ok && int(id) < len(r.Rows); id, ok = set.NextSet(id + 1) {
		if pass(&r.Rows[id]) {
			out.Set(id)
		}
	}
	return out
}

// Evaluate evaluates a scope by a scan of all rows.
func (r *Columns) Evaluate(who Scope, now int64) *cachedScope {
	a := &cachedScope{Scope: who, Set: bitset.New(uint(len(r.Rows))), asked: now, until: now + decayHorizon, static: r.matcher(who)}
	for id := range r.Rows {
		if r.admits(a, int64(id)) {
			a.Set.Set(uint(id))
		}
	}
	slices.SortFunc(a.fading, sooner)
	return a
}

func sooner(x, y fade) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.id, y.id)) }

// admits reports whether a row belongs to a scope at the scope's time, and notes the
// time when it no longer will. The caller keeps fading sorted.
func (r *Columns) admits(a *cachedScope, id int64) bool {
	row := &r.Rows[id]
	if row.Kind == 0 || row.Status != statusActive || !a.static(row) {
		return false
	}
	b := r.Beliefs.Values[row.Belief]
	a.impermanent = a.impermanent || a.MinConfidence > 0 && row.Useful > a.asked
	if !consolidate.AtLeast(b.confidence, b.decay, row.idle(a.asked), a.MinConfidence) {
		return false
	}
	sure := func(at int64) bool { return consolidate.AtLeast(b.confidence, b.decay, row.idle(at), a.MinConfidence) }
	if b.decay <= 0 || a.MinConfidence <= 0 || sure(a.until) {
		return true
	}
	admitted, refused := a.asked, a.until // bisect for the first time at which the row is not admitted
	for refused-admitted > 1 {
		middle := admitted + (refused-admitted)/2
		if sure(middle) {
			admitted = middle
		} else {
			refused = middle
		}
	}
	a.fading = append(a.fading, fade{refused, id})
	return true
}

// cachedScopeOf returns the cached result of a scope, or evaluates and caches it.
func (r *Columns) cachedScopeOf(b Selection) *cachedScope {
	now := b.Now.UnixNano()
	at := slices.IndexFunc(r.ScopeCache, func(a *cachedScope) bool { return a.Scope == b.Scope })
	var a *cachedScope
	if at >= 0 && r.ScopeCache[at].holds(now) {
		a = r.ScopeCache[at]
		a.advance(now)
	} else {
		a = r.Evaluate(b.Scope, now)
	}
	r.ScopeCache.use(at, a, int(r.Memory.Part(maxCachedScopes)))
	return a
}

// holds reports whether a cached scope is usable for a time.
func (a *cachedScope) holds(now int64) bool {
	return a.MinConfidence <= 0 || !a.impermanent && now >= a.asked && now < a.until
}

// advance removes the memories whose confidence has fallen below the limit.
func (a *cachedScope) advance(now int64) {
	a.asked = now
	gone := 0
	for gone < len(a.fading) && a.fading[gone].at <= now {
		gone++
	}
	if gone == 0 {
		return
	}
	set := a.Set.Clone()
	for _, f := range a.fading[:gone] {
		set.Clear(uint(f.id))
	}
	a.Set, a.fading = set, a.fading[gone:]
}

// follow updates every cached scope with changed rows.
func (r *Columns) follow(changed []int64) {
	if len(changed) == 0 {
		return
	}
	again := make(map[int64]bool, len(changed))
	for _, id := range changed {
		again[id] = true
	}
	for _, a := range r.ScopeCache {
		a.Set = a.Set.Clone()
		a.fading = slices.DeleteFunc(slices.Clone(a.fading), func(f fade) bool { return again[f.id] })
		a.static = r.matcher(a.Scope) // a new name may have got a number
		// Decay is computed from the last use on, because no query is for an earlier
		// time.
		for _, id := range changed {
			if useful := r.Rows[id].Useful; useful > a.asked && useful < a.until {
				a.asked = useful
			}
		}
		for _, id := range changed {
			a.Set.SetTo(uint(id), r.admits(a, id))
		}
		slices.SortFunc(a.fading, sooner)
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
	collection := uint32(every)
	if who.Collection != "*" {
		collection = wanted(who.Collection)
	}
	session, category, perception := wanted(who.Session), wanted(who.Category), wanted(who.Perception)
	if !known {
		return func(*Row) bool { return false }
	}
	kind, outcome := kindOf(who.Kind), outcomeOf(who.Outcome)
	return func(row *Row) bool {
		return (collection == every || row.Collection == collection) &&
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
	return (b.Collection == "*" || b.Collection == m.Collection) && equal(b.Session, m.SessionID) && equal(b.Category, m.Category) &&
		equal(b.Kind, m.Type) && equal(b.Perception, m.PerceptionType) && m.Confidence >= b.MinConfidence &&
		(b.After == nil || !m.ObservedAt.Before(*b.After)) && (b.Before == nil || m.ObservedAt.Before(*b.Before))
}
