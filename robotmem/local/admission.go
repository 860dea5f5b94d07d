package local

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/consolidate"
)

// basic is the part of a recall that the roster answers alone.
type basic struct {
	audience
	after, before *time.Time
	now           time.Time
	asOf          *time.Time // only states that have stood since then
}

// audience is the part of it that robots repeat.
type audience struct {
	collection    string // "*" for all
	session       string
	category      string
	kind          string
	perception    string
	minConfidence float64
}

// admission is the answer to an audience, kept from one question to the next.
// It follows every change of a memory; memories that fade out of it on the way
// are known beforehand.
type admission struct {
	audience
	set         *bitset.BitSet // replaced when it changes: questions may hold the old one
	asked       int64          // the time it answers for
	until       int64          // fading is known up to here
	fading      []fade         // in order of time
	used        int64
	static      func(*rosterRow) bool
	impermanent bool // a row's clock is ahead of ours: not to be kept
}

// fade is when a memory's confidence falls below the floor.
type fade struct{ at, id int64 }

const (
	maxKeptAdmissions = 32
	// fadeHorizon is how far ahead fading is worked out.
	fadeHorizon = int64(time.Hour)
	never       = int64(math.MaxInt64)
)

// admit returns the active memories that pass b. all is true when every
// active memory does. The set is shared: it must not be changed.
func (r *roster) admit(b basic) (set *bitset.BitSet, all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case b.asOf != nil:
		a := r.admission(b.audience, b.now.UnixNano())
		stood := b.asOf.UnixNano()
		set = r.members(a.set, func(row *rosterRow) bool { return row.validFrom <= stood && within(row, b) })
	case b.after != nil || b.before != nil:
		set = r.members(r.keptAdmission(b).set, func(row *rosterRow) bool { return within(row, b) })
	default:
		set = r.keptAdmission(b).set
	}
	return set, int(set.Count()) == r.actives
}

func within(row *rosterRow, b basic) bool {
	return (b.after == nil || row.observed >= b.after.UnixNano()) && (b.before == nil || row.observed < b.before.UnixNano())
}

// members returns those of a set that pass.
func (r *roster) members(set *bitset.BitSet, pass func(*rosterRow) bool) *bitset.BitSet {
	out := bitset.New(uint(len(r.rows)))
	for id, ok := set.NextSet(0); ok; id, ok = set.NextSet(id + 1) {
		if pass(&r.rows[id]) {
			out.Set(id)
		}
	}
	return out
}

// admission answers an audience by looking at every row.
func (r *roster) admission(who audience, now int64) *admission {
	a := &admission{audience: who, set: bitset.New(uint(len(r.rows))), asked: now, until: now + fadeHorizon, static: r.matcher(who)}
	for id := range r.rows {
		if r.fadesAfter(a, int64(id)) {
			a.set.Set(uint(id))
		}
	}
	slices.SortFunc(a.fading, sooner)
	return a
}

func sooner(x, y fade) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.id, y.id)) }

// fadesAfter reports whether a row belongs to an admission as of its time, and
// notes when it will not. The caller keeps fading in order.
func (r *roster) fadesAfter(a *admission, id int64) bool {
	row := &r.rows[id]
	if row.kind == 0 || row.status != statusActive || !a.static(row) {
		return false
	}
	b := r.beliefs.values[row.belief]
	a.impermanent = a.impermanent || a.minConfidence > 0 && row.useful > a.asked
	if !consolidate.AtLeast(b.confidence, b.decay, row.idle(a.asked), a.minConfidence) {
		return false
	}
	if b.decay <= 0 || a.minConfidence <= 0 || consolidate.AtLeast(b.confidence, b.decay, row.idle(a.until), a.minConfidence) {
		return true
	}
	a.fading = append(a.fading, fade{r.fadesAt(row, a), id})
	return true
}

// fadesAt finds, between two times of which one admits and the other does not,
// the first that does not.
func (r *roster) fadesAt(row *rosterRow, a *admission) int64 {
	b := r.beliefs.values[row.belief]
	admitted, refused := a.asked, a.until
	for refused-admitted > 1 {
		middle := admitted + (refused-admitted)/2
		if consolidate.AtLeast(b.confidence, b.decay, row.idle(middle), a.minConfidence) {
			admitted = middle
		} else {
			refused = middle
		}
	}
	return refused
}

// keptAdmission answers from what is kept, or keeps what it answers.
func (r *roster) keptAdmission(b basic) *admission {
	now := b.now.UnixNano()
	r.clock++
	at := slices.IndexFunc(r.kept, func(a *admission) bool { return a.audience == b.audience })
	if at >= 0 && r.kept[at].holds(now) {
		a := r.kept[at]
		a.used = r.clock
		a.advance(now)
		return a
	}
	a := r.admission(b.audience, now)
	a.used = r.clock
	switch {
	case at >= 0:
		r.kept[at] = a
	case len(r.kept) < maxKeptAdmissions:
		r.kept = append(r.kept, a)
	default:
		oldest := slices.MinFunc(r.kept, func(x, y *admission) int { return cmp.Compare(x.used, y.used) })
		*oldest = *a
	}
	return a
}

// holds reports whether an admission can answer for a time.
func (a *admission) holds(now int64) bool {
	return a.minConfidence <= 0 || !a.impermanent && now >= a.asked && now < a.until
}

// advance lets fade what has faded by now.
func (a *admission) advance(now int64) {
	a.asked = now
	gone := 0
	for gone < len(a.fading) && a.fading[gone].at <= now {
		gone++
	}
	if gone == 0 {
		return
	}
	set := a.set.Clone()
	for _, f := range a.fading[:gone] {
		set.Clear(uint(f.id))
	}
	a.set, a.fading = set, a.fading[gone:]
}

// follow brings every kept admission up to date with rows that changed.
func (r *roster) follow(changed []int64) {
	if len(changed) == 0 {
		return
	}
	for _, a := range r.kept {
		a.set, a.fading = a.set.Clone(), slices.Clone(a.fading)
		a.static = r.matcher(a.audience) // a name may have become known
		again := make(map[int64]bool, len(changed))
		for _, id := range changed {
			again[id] = true
		}
		a.fading = slices.DeleteFunc(a.fading, func(f fade) bool { return again[f.id] })
		// What was learnt or useful since the last question is answered for from
		// then on; nobody asks for the time before.
		for _, id := range changed {
			if useful := r.rows[id].useful; useful > a.asked && useful < a.until {
				a.asked = useful
			}
		}
		for _, id := range changed {
			a.set.SetTo(uint(id), r.fadesAfter(a, id))
		}
		slices.SortFunc(a.fading, sooner)
	}
}

// matcher compiles all of an audience but its floor of confidence.
func (r *roster) matcher(who audience) func(*rosterRow) bool {
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
	if who.collection != "*" {
		collection = wanted(who.collection)
	}
	session, category, perception := wanted(who.session), wanted(who.category), wanted(who.perception)
	if !known {
		return func(*rosterRow) bool { return false }
	}
	kind := kindOf(who.kind)
	return func(row *rosterRow) bool {
		return (collection == every || row.collection == collection) &&
			(session == every || row.session == session) &&
			(category == every || row.category == category) &&
			(perception == every || row.perception == perception) &&
			(kind == 0 || row.kind == kind)
	}
}
