package local

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Stats implements Service.
func (e *Engine) Stats(ctx context.Context, _ *robotmem.StatsRequest) (*robotmem.StatsResponse, error) {
	res := &robotmem.StatsResponse{ByStatus: map[string]int64{}, ByType: map[string]int64{}, ByCategory: map[string]int64{}, Embedder: "none"}
	e.tallies.mu.Lock()
	res.Recalls, res.ZeroHits = e.tallies.recalls, e.tallies.zeroHits
	e.tallies.mu.Unlock()
	err := e.store.read(ctx, func(c *conn) error {
		if err := e.index.roster.sync(c); err != nil {
			return err
		}
		e.index.roster.tally(res, e.now())
		if err := e.embeddings.stats(c, res); err != nil {
			return err
		}
		if e.maintenance.behind.Load() { // counting walks over all perceptions
			n, err := c.featureBacklog()
			if err != nil {
				return err
			}
			res.ToCompare = n
		}
		return c.stats(res)
	})
	if err != nil {
		return nil, sqlite.Wrap("stats", err)
	}
	if res.DiskFreeBytes, err = e.options.Disk.FreeBytes(e.store.Path()); err != nil {
		e.log.Warn("free space of the disk not read", "err", err)
	}
	res.Workers = e.workers(res)
	return res, nil
}

// Doctor implements Service.
func (e *Engine) Doctor(ctx context.Context, req *robotmem.DoctorRequest) (*robotmem.DoctorResponse, error) {
	stats, err := e.Stats(ctx, &robotmem.StatsRequest{})
	if err != nil {
		return nil, sqlite.Wrap("doctor", err)
	}
	res, err := e.maintenance.doctor(ctx, stats, req != nil && req.Deep)
	if err != nil {
		return nil, sqlite.Wrap("doctor", err)
	}
	return res, nil
}

// Damage returns what is wrong with the pages of the file, "" if nothing. A file
// with damage is for RecoverInPlace; indexes that differ from the tables are for
// Repair.
func (e *Engine) Damage(ctx context.Context) (found string, err error) {
	found, err = e.maintenance.damage(ctx)
	return found, sqlite.Wrap("doctor", err)
}

// Repair implements Service.
func (e *Engine) Repair(ctx context.Context, _ *robotmem.RepairRequest) (*robotmem.RepairResponse, error) {
	repaired, err := e.maintenance.repair(ctx)
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
func (e *Engine) Warm(ctx context.Context) error {
	return sqlite.Wrap("warm", e.index.warm(ctx))
}

// Retain implements Service.
func (e *Engine) Retain(ctx context.Context, req *robotmem.RetainRequest) (*robotmem.RetainResponse, error) {
	r := *req
	if err := robotmem.Validate("retain", &r); err != nil {
		return nil, err
	}
	limits := Retention{Budgets: r.Budgets, MinFreeBytes: r.MinFreeBytes}
	if limits.none() {
		limits = e.options.Retention
	}
	if limits.none() {
		return nil, sqlite.Wrap("retain", robotmem.Errorf(robotmem.Invalid, "budgets", "are neither given nor set for the node; pass budgets or min_free_bytes"))
	}
	res, err := e.maintenance.retain(ctx, limits, !r.Apply)
	if err != nil {
		return nil, sqlite.Wrap("retain", err)
	}
	return res, nil
}
