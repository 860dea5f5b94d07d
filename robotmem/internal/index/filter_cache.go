package index

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// Selection is the part of a recall that the roster answers alone.
type Selection struct {
	Scope
	After, Before *time.Time
	Now           time.Time
	AsOf          *time.Time // only states that have stood since then
}

// Scope is the part of it that robots repeat.
type Scope struct {
	Collection    string // "*" for all
	Session       string
	Category      string
	Kind          string
	Perception    string
	MinConfidence float64
}

// cachedScope is the answer to an audience, kept from one question to the next.
// It follows every change of a memory; memories that fade out of it on the way
// are known beforehand.
type cachedScope struct {
	Scope
	Set         *bitset.BitSet // replaced when it changes: questions may hold the old one
	asked       int64          // the time it answers for
	until       int64          // fading is known up to here
	fading      []fade         // in order of time
	used        int64
	static      func(*Row) bool
	impermanent bool // a row's clock is ahead of ours: not to be kept
}

// fade is when a memory's confidence falls below the floor.
type fade struct{ at, id int64 }

const (
	maxCachedScopes = 32
	// fadeHorizon is how far ahead fading is worked out.
	fadeHorizon = int64(time.Hour)
	never       = int64(math.MaxInt64)
)

// Admit returns the active memories that pass b. The set is shared: it must not be
// changed.
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

// members returns those of a set that pass.
func (r *Columns) members(set *bitset.BitSet, pass func(*Row) bool) *bitset.BitSet {
	out := bitset.New(uint(len(r.Rows)))
	for id, ok := set.NextSet(0); ok; id, ok = set.NextSet(id + 1) {
		if pass(&r.Rows[id]) {
			out.Set(id)
		}
	}
	return out
}

// Evaluate answers an audience by looking at every row.
func (r *Columns) Evaluate(who Scope, now int64) *cachedScope {
	a := &cachedScope{Scope: who, Set: bitset.New(uint(len(r.Rows))), asked: now, until: now + fadeHorizon, static: r.matcher(who)}
	for id := range r.Rows {
		if r.fadesAfter(a, int64(id)) {
			a.Set.Set(uint(id))
		}
	}
	slices.SortFunc(a.fading, sooner)
	return a
}

func sooner(x, y fade) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.id, y.id)) }

// fadesAfter reports whether a row belongs to an admission as of its time, and
// notes when it will not. The caller keeps fading in order.
func (r *Columns) fadesAfter(a *cachedScope, id int64) bool {
	row := &r.Rows[id]
	if row.Kind == 0 || row.Status != statusActive || !a.static(row) {
		return false
	}
	b := r.Beliefs.Values[row.Belief]
	a.impermanent = a.impermanent || a.MinConfidence > 0 && row.Useful > a.asked
	if !consolidate.AtLeast(b.confidence, b.decay, row.idle(a.asked), a.MinConfidence) {
		return false
	}
	if b.decay <= 0 || a.MinConfidence <= 0 || consolidate.AtLeast(b.confidence, b.decay, row.idle(a.until), a.MinConfidence) {
		return true
	}
	a.fading = append(a.fading, fade{r.fadesAt(row, a), id})
	return true
}

// fadesAt finds, between two times of which one admits and the other does not,
// the first that does not.
func (r *Columns) fadesAt(row *Row, a *cachedScope) int64 {
	b := r.Beliefs.Values[row.Belief]
	admitted, refused := a.asked, a.until
	for refused-admitted > 1 {
		middle := admitted + (refused-admitted)/2
		if consolidate.AtLeast(b.confidence, b.decay, row.idle(middle), a.MinConfidence) {
			admitted = middle
		} else {
			refused = middle
		}
	}
	return refused
}

// cachedScopeOf answers from what is kept, or keeps what it answers.
func (r *Columns) cachedScopeOf(b Selection) *cachedScope {
	now := b.Now.UnixNano()
	r.clock++
	at := slices.IndexFunc(r.ScopeCache, func(a *cachedScope) bool { return a.Scope == b.Scope })
	if at >= 0 && r.ScopeCache[at].holds(now) {
		a := r.ScopeCache[at]
		a.used = r.clock
		a.advance(now)
		return a
	}
	a := r.Evaluate(b.Scope, now)
	a.used = r.clock
	switch {
	case at >= 0:
		r.ScopeCache[at] = a
	case len(r.ScopeCache) < maxCachedScopes:
		r.ScopeCache = append(r.ScopeCache, a)
	default:
		oldest := slices.MinFunc(r.ScopeCache, func(x, y *cachedScope) int { return cmp.Compare(x.used, y.used) })
		*oldest = *a
	}
	return a
}

// holds reports whether an admission can answer for a time.
func (a *cachedScope) holds(now int64) bool {
	return a.MinConfidence <= 0 || !a.impermanent && now >= a.asked && now < a.until
}

// advance lets fade what has faded by now.
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

// follow brings every kept admission up to date with rows that changed.
func (r *Columns) follow(changed []int64) {
	if len(changed) == 0 {
		return
	}
	for _, a := range r.ScopeCache {
		a.Set, a.fading = a.Set.Clone(), slices.Clone(a.fading)
		a.static = r.matcher(a.Scope) // a name may have become known
		again := make(map[int64]bool, len(changed))
		for _, id := range changed {
			again[id] = true
		}
		a.fading = slices.DeleteFunc(a.fading, func(f fade) bool { return again[f.id] })
		// What was learnt or useful since the last question is answered for from
		// then on; nobody asks for the time before.
		for _, id := range changed {
			if useful := r.Rows[id].Useful; useful > a.asked && useful < a.until {
				a.asked = useful
			}
		}
		for _, id := range changed {
			a.Set.SetTo(uint(id), r.fadesAfter(a, id))
		}
		slices.SortFunc(a.fading, sooner)
	}
}

// matcher compiles all of an audience but its floor of confidence.
func (r *Columns) matcher(who Scope) func(*Row) bool {
	const every = math.MaxUint32 // no name has this number
	known := true
	wanted := func(s string) uint32 {
		if s == "" {
			return every
		}
		id, ok := r.names.find(s)
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
	kind := kindOf(who.Kind)
	return func(row *Row) bool {
		return (collection == every || row.Collection == collection) &&
			(session == every || row.Session == session) &&
			(category == every || row.Category == category) &&
			(perception == every || row.Perception == perception) &&
			(kind == 0 || row.Kind == kind)
	}
}

// A robot asks with the same few filters again and again. leaves keeps, for
// each condition over a context path, the memories that satisfy it, and
// follows every change as the roster does: the memories that changed are put
// to each condition anew. The roster's lock guards it.
type filterCache struct {
	Sets map[string]*cachedFilter
}

type cachedFilter struct {
	condition filter.Condition
	set       *bitset.BitSet
	used      int64 // the clock at its last use
}

const maxCachedFilters = 64

// cachedFilterSet returns the members of base that satisfy a condition, if it is kept.
func (r *Columns) cachedFilterSet(key string, base *bitset.BitSet) (*bitset.BitSet, bool) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	l, ok := r.FilterCache.Sets[key]
	if !ok {
		return nil, false
	}
	r.clock++
	l.used = r.clock
	return base.Intersection(l.set), true
}

// cacheFilter keeps what a snapshot at a revision answered, unless the roster has
// moved on since.
func (r *Columns) cacheFilter(key string, n *filter.Condition, set *bitset.BitSet, revision int64) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.Revision != revision {
		return
	}
	if r.FilterCache.Sets == nil {
		r.FilterCache.Sets = map[string]*cachedFilter{}
	}
	if len(r.FilterCache.Sets) >= maxCachedFilters {
		oldest := ""
		for k, l := range r.FilterCache.Sets {
			if oldest == "" || l.used < r.FilterCache.Sets[oldest].used {
				oldest = k
			}
		}
		delete(r.FilterCache.Sets, oldest)
	}
	r.clock++
	r.FilterCache.Sets[key] = &cachedFilter{condition: *n, set: set, used: r.clock}
}

// Change puts a memory that changed to every condition. The caller holds the
// roster's lock.
func (l *filterCache) Change(id int64, context string) {
	if len(l.Sets) == 0 {
		return
	}
	v := filter.View{Context: robotmem.ParseObject(context)}
	for _, leaf := range l.Sets {
		leaf.set.SetTo(uint(id), leaf.condition.Match(&v))
	}
}

// Admits puts all of it to one memory: a past state is in no column.
func (b *Selection) Admits(m *robotmem.Memory) bool {
	equal := func(want, got string) bool { return want == "" || want == got }
	return (b.Collection == "*" || b.Collection == m.Collection) && equal(b.Session, m.SessionID) && equal(b.Category, m.Category) &&
		equal(b.Kind, m.Type) && equal(b.Perception, m.PerceptionType) && m.Confidence >= b.MinConfidence &&
		(b.After == nil || !m.ObservedAt.Before(*b.After)) && (b.Before == nil || m.ObservedAt.Before(*b.Before))
}
