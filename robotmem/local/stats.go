package local

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Stats implements Service.
func (e *Node) Stats(ctx context.Context, _ *robotmem.StatsRequest) (*robotmem.StatsResponse, error) {
	res := &robotmem.StatsResponse{ByStatus: map[string]int64{}, ByType: map[string]int64{}, ByCategory: map[string]int64{}, Embedder: "none"}
	e.tallies.mu.Lock()
	res.Recalls, res.ZeroHits = e.tallies.Recalls, e.tallies.ZeroHits
	e.tallies.mu.Unlock()
	err := e.Store.Read(ctx, func(c *store.Conn) error {
		if err := e.index.Columns.Sync(c); err != nil {
			return err
		}
		e.index.Columns.Tally(res, e.Now())
		if err := e.embeddings.stats(c, res); err != nil {
			return err
		}
		if e.maintenance.Behind.Load() { // counting walks over all perceptions
			n, err := c.FeatureBacklog()
			if err != nil {
				return err
			}
			res.ToCompare = n
		}
		return c.Stats(res)
	})
	if err != nil {
		return nil, sqlite.Wrap("stats", err)
	}
	if res.DiskFreeBytes, err = e.options.Disk.FreeBytes(e.Store.Path()); err != nil {
		e.Log.Warn("free space of the disk not read", "err", err)
	}
	res.Workers = e.workers(res)
	return res, nil
}

// Doctor implements Service.
func (e *Node) Doctor(ctx context.Context, req *robotmem.DoctorRequest) (*robotmem.DoctorResponse, error) {
	stats, err := e.Stats(ctx, &robotmem.StatsRequest{})
	if err != nil {
		return nil, sqlite.Wrap("doctor", err)
	}
	res, err := e.maintenance.Doctor(ctx, stats, req != nil && req.Deep)
	if err != nil {
		return nil, sqlite.Wrap("doctor", err)
	}
	return res, nil
}

// Damage returns what is wrong with the pages of the file, "" if nothing. A file
// with damage is for RecoverInPlace; indexes that differ from the tables are for
// Repair.
func (e *Node) Damage(ctx context.Context) (found string, err error) {
	found, err = e.maintenance.Damage(ctx)
	return found, sqlite.Wrap("doctor", err)
}

// Repair implements Service.
func (e *Node) Repair(ctx context.Context, _ *robotmem.RepairRequest) (*robotmem.RepairResponse, error) {
	repaired, err := e.maintenance.Repair(ctx)
	if err != nil {
		return nil, sqlite.Wrap("repair", err)
	}
	d, err := e.Doctor(ctx, &robotmem.DoctorRequest{})
	if err != nil {
		return nil, sqlite.Wrap("repair", err)
	}
	return &robotmem.RepairResponse{Repaired: repaired, Doctor: *d}, nil
}

// Warm reads the indexes into memory now, so that the first recall finds them
// there. Without it the first recall waits for them.
func (e *Node) Warm(ctx context.Context) error {
	return sqlite.Wrap("warm", e.index.Warm(ctx))
}

// Retain implements Service.
func (e *Node) Retain(ctx context.Context, req *robotmem.RetainRequest) (*robotmem.RetainResponse, error) {
	r := *req
	if err := robotmem.Validate("retain", &r); err != nil {
		return nil, err
	}
	limits := maintenance.Retention{Budgets: r.Budgets, MinFreeBytes: r.MinFreeBytes}
	if limits.None() {
		limits = e.options.Retention
	}
	if limits.None() {
		return nil, sqlite.Wrap("retain", robotmem.Errorf(robotmem.Invalid, "budgets", "are neither given nor set for the node; pass budgets or min_free_bytes"))
	}
	res, err := e.maintenance.Retain(ctx, limits, !r.Apply)
	if err != nil {
		return nil, sqlite.Wrap("retain", err)
	}
	return res, nil
}
