package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

const (
	// longRecording is the number of perceptions of one source in one episode from which
	// they are thinned.
	longRecording = 16
	// evictionsPerCommit bounds how long other writers wait.
	evictionsPerCommit = 64
	// RetentionPause is how often a node enforces its budgets.
	RetentionPause = time.Minute
	maxListed      = 1000 // evictions named in one answer
)

// Retain evicts the payloads that exceed the limits, or with dryRun lists them.
func (mt *Maintainer) Retain(ctx context.Context, limits admin.Retention, dryRun bool) (*admin.RetainResponse, error) {
	if !dryRun {
		if err := mt.Store.Writable(); err != nil {
			return nil, err
		}
	}

	var plan []store.Evicted
	res := &admin.RetainResponse{DryRun: dryRun, Evictions: []admin.Eviction{}}
	err := mt.Store.Read(ctx, func(c *store.Conn) error {
		held, err := c.Holdings()
		if err != nil {
			return err
		}

		for i := range held {
			res.HeldBytes += held[i].Bytes
		}
		free := int64(-1)
		if limits.MinFreeBytes > 0 {
			if free, err = mt.Store.Disk.FreeBytes(mt.Store.Path()); err != nil {
				return robotmem.Errorf(robotmem.Unavailable, "min_free_bytes",
					"the free space of the disk cannot be read (%s)", robotmem.Reason(err))
			}
		}
		plan = PlanEvictions(held, limits, free, mt.Store.Now())

		return nil
	})
	if err != nil {
		return nil, err
	}

	m := progress.Of(ctx)
	if !dryRun {
		m.Stage("removing payloads", "payloads", int64(len(plan)))
	}

	for part := range slices.Chunk(plan, evictionsPerCommit) {
		if n := len(part); !dryRun {
			if part, err = mt.Store.Evict(ctx, part); err != nil {
				return nil, err
			}
			m.Add(int64(n))
		}

		for _, p := range part {
			res.Count++
			res.FreedBytes += p.Freed
			if len(res.Evictions) < maxListed {
				res.Evictions = append(res.Evictions, admin.Eviction{
					MemoryID: p.ID, Collection: p.Collection, PerceptionType: p.PerceptionType, Bytes: p.Bytes, Value: p.Tier.String(), Reason: p.Reason,
				})
			}
		}
	}

	return res, nil
}

// PlanEvictions lists the payloads to evict, in order. free is the free space of the
// disk in bytes, negative if it does not matter.
func PlanEvictions(held []store.Holding, limits admin.Retention, free int64, now time.Time) []store.Evicted {
	p := planner{held: held, stays: map[string]int{}, going: map[int64]bool{}}
	for i := range held {
		p.stays[held[i].Sum]++
	}

	// Thinning changes tiers, so it comes before sorting by them.
	thin(held)
	slices.SortFunc(held, func(a, b store.Holding) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Observed, b.Observed), cmp.Compare(a.ID, b.ID))
	})

	for _, b := range limits.Budgets {
		if b.MaxAgeDays > 0 {
			before := store.FormatTime(now.Add(-time.Duration(b.MaxAgeDays * 24 * float64(time.Hour))))
			// The age evicts only perceptions without a known use. Useful, failed and pinned ones stay.
			for i := range held {
				if h := &held[i]; budgetHolds(&b, h) && h.Tier < store.TierUseful && h.Observed < before {
					p.take(h, fmt.Sprintf("older than %g days", b.MaxAgeDays))
				}
			}
		}
		if b.MaxBytes > 0 {
			p.shrink(func(h *store.Holding) bool { return budgetHolds(&b, h) },
				func(int64) int64 { return b.MaxBytes },
				"over the budget of "+units.BytesText(b.MaxBytes))
		}
	}

	// The evictions for the budgets free space too. Only files in the folder do, because the database never shrinks.
	if short := limits.MinFreeBytes - free - p.freedInFolder(); free >= 0 && short > 0 {
		p.shrink(func(h *store.Holding) bool { return h.InFolder },
			func(size int64) int64 { return max(0, size-short) },
			"less than "+units.BytesText(limits.MinFreeBytes)+" free on the disk")
	}

	return p.plan
}

// budgetHolds reports whether a budget counts a perception.
func budgetHolds(b *admin.Budget, h *store.Holding) bool {
	return (b.Collection == "" || b.Collection == "*" || b.Collection == h.Collection) &&
		(b.PerceptionType == "" || b.PerceptionType == h.PerceptionType)
}

type planner struct {
	held  []store.Holding // in the order of eviction
	stays map[string]int  // by payload: perceptions that name it and keep it
	going map[int64]bool  // perceptions whose payload is evicted
	plan  []store.Evicted
}

func (p *planner) freedInFolder() (n int64) {
	for i := range p.plan {
		if p.plan[i].InFolder {
			n += p.plan[i].Freed
		}
	}
	return n
}

// shrink evicts until the remaining perceptions of a budget take no more than its limit, which
// may depend on what they take before. A payload counts until the last perception of the budget
// that names it is evicted, also if perceptions outside the budget name it.
func (p *planner) shrink(in func(*store.Holding) bool, limitOf func(size int64) int64, reason string) {
	size := int64(0)
	named := map[string]int{} // by payload: perceptions of the budget that name it

	for i := range p.held {
		h := &p.held[i]
		if !in(h) || p.going[h.ID] {
			continue
		}
		// Each payload counts once.
		named[h.Sum]++
		if named[h.Sum] == 1 {
			size += h.Bytes
		}
	}

	limit := limitOf(size)

	for i := range p.held {
		h := &p.held[i]
		if size <= limit {
			return
		}
		if !in(h) || !p.take(h, reason) {
			continue
		}
		if named[h.Sum]--; named[h.Sum] == 0 {
			size -= h.Bytes
		}
	}
}

// take evicts the payload of one perception; false if it was evicted before.
func (p *planner) take(h *store.Holding, reason string) bool {
	if p.going[h.ID] {
		return false
	}
	p.going[h.ID] = true
	v := store.Evicted{Holding: *h, Reason: reason}
	if p.stays[h.Sum]--; p.stays[h.Sum] == 0 {
		v.Freed = h.Bytes
	}
	p.plan = append(p.plan, v)

	return true
}

// thin marks every second perception of a long recording, so that these are evicted first. The
// first and the last of a recording are never marked.
func thin(held []store.Holding) {
	recordings := map[string][]*store.Holding{}

	for i := range held {
		if h := &held[i]; h.Recording != "" && h.Tier == store.TierPlain {
			recordings[h.Recording] = append(recordings[h.Recording], h)
		}
	}

	for _, members := range recordings {
		if len(members) < longRecording {
			continue
		}
		slices.SortFunc(members, func(a, b *store.Holding) int {
			return cmp.Or(cmp.Compare(a.Observed, b.Observed), cmp.Compare(a.ID, b.ID))
		})

		for i := 1; i < len(members)-1; i += 2 {
			members[i].Tier = store.TierThinned
		}
	}
}

// RunRetention enforces the node's own budgets until ctx ends.
func (mt *Maintainer) RunRetention(ctx context.Context) {
	seen := int64(-1)
	ctx = mt.Store.As(ctx, robotmem.ToolNode)
	Repeat(ctx, nil, 0, func() time.Duration {
		mt.Paused.Wait(ctx)
		if err := mt.EnforceBudgets(ctx, &seen); err != nil && ctx.Err() == nil {
			mt.Log.Warn("retention", "err", err)
		}
		return RetentionPause
	})
}

// EnforceBudgets enforces the budgets once. If no limit depends on the clock or the disk, it
// does nothing unless the file has changed since the revision seen.
func (mt *Maintainer) EnforceBudgets(ctx context.Context, seen *int64) error {
	limits := mt.Retention
	aging := limits.MinFreeBytes > 0 || slices.ContainsFunc(limits.Budgets, func(b admin.Budget) bool {
		return b.MaxAgeDays > 0
	})

	var revision int64
	err := mt.Store.Read(ctx, func(c *store.Conn) (err error) { revision, err = c.Changes(); return err })
	if err != nil || revision == *seen && !aging {
		return err
	}
	res, err := mt.Retain(ctx, limits, false)
	if err != nil {
		return err
	}
	if res.Count > 0 {
		mt.Log.Info("retention", "evicted", res.Count, "freed_bytes", res.FreedBytes)
	}
	*seen = revision

	return nil
}
