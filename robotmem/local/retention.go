package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Retention is what the payloads may take.
type Retention struct {
	Budgets []robotmem.Budget
	// MinFreeBytes is how much of the disk stays free for others. Only payloads
	// in the folder beside the file make room: the file itself never shrinks.
	MinFreeBytes int64
}

func (r Retention) none() bool { return len(r.Budgets) == 0 && r.MinFreeBytes == 0 }

const (
	// longRecording is from how many perceptions of one source in one episode
	// on they are thinned.
	longRecording = 16
	// leastRecording is what thinning leaves of it.
	leastRecording = 8
	// evictionsPerCommit bounds how long other writers wait.
	evictionsPerCommit = 64
	// retentionPause is how often a node with budgets looks at them.
	retentionPause = time.Minute
	maxListed      = 1000
)

// tier is how late a perception goes.
type tier int

const (
	tierGone     tier = iota // forgotten or superseded
	tierThinned              // of a long recording, and not the only one of its moment
	tierPlain                // never recalled
	tierRecalled             // recalled, perhaps of no use
	tierUseful               // an episode said that it helped
	tierFailed               // of an episode or an attempt that failed
	tierPinned
)

// holding is a perception with its payload, as retention weighs it.
type holding struct {
	id             int64
	collection     string
	perceptionType string
	recording      string // session and source; "" outside an episode
	observed       string
	sum            string
	bytes          int64 // as stored
	inFolder       bool
	tier           tier
	round          int // of thinning: the first is the one that goes first
}

func (t tier) String() string {
	return [...]string{"forgotten", "thinned", "never recalled", "recalled", "useful", "of a failed episode", "pinned"}[t]
}

// retain evicts what is over the limits, or lists it.
func (mt *maintainer) retain(ctx context.Context, limits Retention, dryRun bool) (*robotmem.RetainResponse, error) {
	if !dryRun {
		if err := mt.store.Writable(); err != nil {
			return nil, err
		}
	}
	var plan []evicted
	res := &robotmem.RetainResponse{DryRun: dryRun, Evictions: []robotmem.Eviction{}}
	err := mt.store.read(ctx, func(c *conn) error {
		held, err := c.holdings()
		if err != nil {
			return err
		}
		for i := range held {
			res.HeldBytes += held[i].bytes
		}
		free := int64(-1)
		if limits.MinFreeBytes > 0 {
			if free, err = mt.store.disk.FreeBytes(mt.store.Path()); err != nil {
				return robotmem.Errorf(robotmem.Unavailable, "min_free_bytes", "the free space of the disk cannot be read (%s)", rootReason(err))
			}
		}
		plan = planEvictions(held, limits, free, mt.store.now())
		return nil
	})
	if err != nil {
		return nil, err
	}
	m := robotmem.MeterOf(ctx)
	if !dryRun {
		m.Stage("removing payloads", "payloads", int64(len(plan)))
	}
	for done := 0; done < len(plan); {
		next := min(done+evictionsPerCommit, len(plan))
		part := plan[done:next]
		if !dryRun {
			if part, err = mt.store.evict(ctx, part); err != nil {
				return nil, err
			}
			m.Add(int64(next - done))
		}
		for _, p := range part {
			addEviction(res, p)
		}
		done = next
	}
	return res, nil
}

func addEviction(r *robotmem.RetainResponse, p evicted) {
	r.Count++
	r.FreedBytes += p.freed
	if len(r.Evictions) < maxListed {
		r.Evictions = append(r.Evictions, robotmem.Eviction{
			MemoryID: p.id, Collection: p.collection, PerceptionType: p.perceptionType, Bytes: p.bytes, Value: p.tier.String(), Reason: p.reason,
		})
	}
}

// evicted is a holding that goes.
type evicted struct {
	holding
	reason string
	freed  int64 // 0 while another perception has the same payload
}

// planEvictions lists what must go, in that order. free is what is free on the
// disk, in bytes.
func planEvictions(held []holding, limits Retention, free int64, now time.Time) []evicted {
	p := planner{held: held, stays: map[string]int{}, going: map[int64]bool{}}
	for i := range held {
		p.stays[held[i].sum]++
	}
	thin(held)
	slices.SortFunc(held, func(a, b holding) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.round, b.round), cmp.Compare(a.observed, b.observed), cmp.Compare(a.id, b.id))
	})
	for _, b := range limits.Budgets {
		if b.MaxAgeDays > 0 {
			before := formatTime(now.Add(-time.Duration(b.MaxAgeDays * 24 * float64(time.Hour))))
			for i := range held {
				if h := &held[i]; budgetHolds(&b, h) && h.tier < tierUseful && h.observed < before {
					p.take(h, fmt.Sprintf("older than %g days", b.MaxAgeDays))
				}
			}
		}
		if b.MaxBytes > 0 {
			p.shrink(func(h *holding) bool { return budgetHolds(&b, h) }, b.MaxBytes, "over the budget of "+sqlite.BytesText(b.MaxBytes))
		}
	}
	if short := limits.MinFreeBytes - free - p.freedInFolder(); free >= 0 && short > 0 {
		inFolder := func(h *holding) bool { return h.inFolder }
		p.shrink(inFolder, max(0, p.size(inFolder)-short), "less than "+sqlite.BytesText(limits.MinFreeBytes)+" free on the disk")
	}
	return p.plan
}

// budgetHolds reports whether a budget counts a perception.
func budgetHolds(b *robotmem.Budget, h *holding) bool {
	return (b.Collection == "" || b.Collection == "*" || b.Collection == h.collection) && (b.PerceptionType == "" || b.PerceptionType == h.perceptionType)
}

type planner struct {
	held  []holding      // in the order in which they go
	stays map[string]int // perceptions that name a payload and stay
	going map[int64]bool
	plan  []evicted
}

// size is how many bytes those that stay take, each payload once.
func (p *planner) size(in func(*holding) bool) (sum int64) {
	counted := map[string]bool{}
	for i := range p.held {
		if h := &p.held[i]; in(h) && !p.going[h.id] && !counted[h.sum] {
			counted[h.sum] = true
			sum += h.bytes
		}
	}
	return sum
}

func (p *planner) freedInFolder() (n int64) {
	for i := range p.plan {
		if p.plan[i].inFolder {
			n += p.plan[i].freed
		}
	}
	return n
}

// shrink lets go of some until those that stay take no more than a limit. A
// payload counts until the last of them that names it goes, whoever else does.
func (p *planner) shrink(in func(*holding) bool, limit int64, reason string) {
	size, named := p.size(in), map[string]int{}
	for i := range p.held {
		if h := &p.held[i]; in(h) && !p.going[h.id] {
			named[h.sum]++
		}
	}
	for i := range p.held {
		h := &p.held[i]
		if size <= limit {
			return
		}
		if !in(h) || !p.take(h, reason) {
			continue
		}
		if named[h.sum]--; named[h.sum] == 0 {
			size -= h.bytes
		}
	}
}

// take lets go of one; false if it went before.
func (p *planner) take(h *holding, reason string) bool {
	if p.going[h.id] {
		return false
	}
	p.going[h.id] = true
	v := evicted{holding: *h, reason: reason}
	if p.stays[h.sum]--; p.stays[h.sum] == 0 {
		v.freed = h.bytes
	}
	p.plan = append(p.plan, v)
	return true
}

// thin marks what of the long recordings can go first: every second one, then
// every second of what is left, while enough are left. The first and the last of
// a recording stay.
func thin(held []holding) {
	recordings := map[string][]*holding{}
	for i := range held {
		if h := &held[i]; h.recording != "" && h.tier == tierPlain {
			recordings[h.recording] = append(recordings[h.recording], h)
		}
	}
	for _, members := range recordings {
		if len(members) < longRecording {
			continue
		}
		slices.SortFunc(members, func(a, b *holding) int { return cmp.Or(cmp.Compare(a.observed, b.observed), cmp.Compare(a.id, b.id)) })
		for round := 1; len(members) >= 2*leastRecording; round++ {
			var kept []*holding
			for i, h := range members {
				if i%2 == 0 || i == len(members)-1 {
					kept = append(kept, h)
					continue
				}
				h.tier, h.round = tierThinned, round
			}
			members = kept
		}
	}
}

// runRetention keeps the node's own budgets.
func (mt *maintainer) runRetention(ctx context.Context) {
	seen := int64(-1)
	ctx = mt.store.as(ctx, robotmem.ToolNode)
	for {
		if err := mt.keepBudgets(ctx, &seen); err != nil && ctx.Err() == nil {
			mt.log.Warn("retention", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retentionPause):
		}
	}
}

// keepBudgets keeps them once, unless there is nothing to do: nothing has changed
// since a revision that it has seen, or all payloads together are within each.
func (mt *maintainer) keepBudgets(ctx context.Context, seen *int64) error {
	limits := mt.retention
	aging := limits.MinFreeBytes > 0 || slices.ContainsFunc(limits.Budgets, func(b robotmem.Budget) bool { return b.MaxAgeDays > 0 })
	var revision int64
	idle := false
	err := mt.store.read(ctx, func(c *conn) (err error) {
		if revision, err = c.changes(); err != nil || aging {
			return err
		}
		if idle = revision == *seen; idle {
			return nil
		}
		stored, err := c.storedBytes()
		idle = !slices.ContainsFunc(limits.Budgets, func(b robotmem.Budget) bool { return b.MaxBytes > 0 && stored > b.MaxBytes })
		return err
	})
	if err != nil {
		return err
	}
	if !idle {
		res, err := mt.retain(ctx, limits, false)
		if err != nil {
			return err
		}
		if res.Count > 0 {
			mt.log.Info("retention", "evicted", res.Count, "freed_bytes", res.FreedBytes)
		}
	}
	*seen = revision
	return nil
}
