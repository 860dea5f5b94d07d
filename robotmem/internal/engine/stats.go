package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

func (n *Engine) Stats(ctx context.Context, _ *admin.StatsRequest) (*admin.StatsResponse, error) {
	res := &admin.StatsResponse{
		ByStatus: map[string]int64{}, ByType: map[string]int64{}, ByCategory: map[string]int64{}, Embedder: "none",
	}

	// pending is taken before the snapshot begins. A batch that is stored in between is then counted once.
	pending, fileID := n.counters.pending(), ""
	err := n.Store.Read(ctx, func(c *store.Conn) error {
		counts, err := pending(c)
		if err != nil {
			return err
		}

		res.Recalls, res.ZeroHits = counts.Recalls, counts.ZeroHits
		if err := n.index.Columns.Sync(c); err != nil {
			return err
		}

		n.index.Columns.Tally(res, n.Now())
		if err := n.embeddings.Stats(c, res); err != nil {
			return err
		}

		if n.maintenance.Behind.Load() { // counting scans all perceptions
			if res.ToCompare, err = c.FeatureBacklog(); err != nil {
				return err
			}
		}

		if fileID, err = c.FileID(); err != nil {
			return err
		}

		return c.Stats(res)
	})
	if err != nil {
		return nil, robotmem.Wrap("stats", err)
	}
	if res.DiskFreeBytes, err = n.options.Disk.FreeBytes(n.Store.Path()); err != nil {
		n.Log.Warn("free space of the disk not read", "err", err)
	}
	if data, err := os.ReadFile(n.Store.Files().BackupState()); err == nil && json.Unmarshal(data, &res.Backup) != nil {
		n.Log.Warn("the state of the backups cannot be read", "file", n.Store.Files().BackupState())
	}
	// A copied file lies beside the state of the backups of the original, which says nothing about this file.
	if res.Backup != nil && res.Backup.FileID != fileID {
		res.Backup = nil
	}

	res.Commits, res.LogBytes = n.Store.Written()
	counts, _ := os.ReadFile("/proc/self/io") // of Linux
	_, written, _ := strings.Cut(string(counts), "\nwrite_bytes:")
	_, _ = fmt.Sscan(written, &res.WrittenBytes)
	res.Workers = n.workers(res)
	if n.options.ModelUse != nil {
		if res.LanguageModel, err = n.options.ModelUse(); err != nil {
			n.Log.Warn("what language models have taken is not known", "err", err)
		}
	}

	return res, nil
}

func (n *Engine) Doctor(ctx context.Context, req *admin.DoctorRequest) (*admin.DoctorResponse, error) {
	stats, err := n.Stats(ctx, &admin.StatsRequest{})
	// What is damaged cannot be counted. The checks say what it is.
	if errors.Is(err, robotmem.Corrupt) {
		stats, err = &admin.StatsResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	res, err := n.maintenance.Doctor(ctx, stats, req != nil && req.Deep)

	return res, robotmem.Wrap("doctor", err)
}

// Damage describes the corruption of the file, "" if there is none. Use RecoverInPlace
// for a corrupt file, and Repair for indexes that differ from the tables.
func (n *Engine) Damage(ctx context.Context) (found string, err error) {
	return n.maintenance.Damage(ctx)
}

func (n *Engine) Repair(ctx context.Context, _ *admin.RepairRequest) (*admin.RepairResponse, error) {
	repaired, err := n.maintenance.Repair(ctx, "")
	if err != nil {
		return nil, robotmem.Wrap("repair", err)
	}
	d, err := n.Doctor(ctx, &admin.DoctorRequest{})
	if err != nil {
		return nil, err
	}

	return &admin.RepairResponse{Repaired: repaired, Doctor: *d}, nil
}

// Rebuild rebuilds every index from the tables, and the audit log says why.
func (n *Engine) Rebuild(ctx context.Context, why string) error {
	_, err := n.maintenance.Repair(ctx, why)
	return err
}

// Warm loads the indexes into memory. Without it the first recall loads them and takes longer.
func (n *Engine) Warm(ctx context.Context) error {
	return robotmem.Wrap("warm", n.index.Warm(ctx))
}

func (n *Engine) Retain(ctx context.Context, req *admin.RetainRequest) (*admin.RetainResponse, error) {
	return serve("retain", req, func(r *admin.RetainRequest) (*admin.RetainResponse, error) {
		limits := admin.Retention{Budgets: r.Budgets, MinFreeBytes: r.MinFreeBytes}
		if limits.None() {
			limits = n.options.Retention
		}
		if limits.None() {
			return nil, robotmem.Errorf(robotmem.Invalid, "budgets",
				"are neither given nor set for the node; pass budgets or min_free_bytes")
		}

		return n.maintenance.Retain(ctx, limits, !r.Apply)
	})
}

const (
	workerIdle    = "idle"
	workerBusy    = "working"
	workerWaiting = "waiting"
	workerPaused  = "paused"
	workerOff     = "off"
)

// workers describes the background work of the node, from the counts of Stats.
func (n *Engine) workers(s *admin.StatsResponse) []admin.Worker {
	vectors := worker("vectors", workerIdle, "vectors_complete", "every memory has its vector of %s", s.Embedder)
	if s.Backlog > 0 {
		vectors = worker("vectors", workerBusy, "vectors_waiting", "%d memories have no vector of %s yet", s.Backlog,
			s.Embedder)
	}

	reason := ""
	if n.embeddings.Embedder != nil {
		reason = n.embeddings.Embedder.State().Reason
	}

	if reason != "" {
		vectors = admin.Worker{Name: "vectors", Status: workerWaiting, Detail: reason}
	} else if s.Embedder == "none" {
		vectors = worker("vectors", workerOff, "no_embedder",
			"no embedder: recall works by words, place, time and structure")
	}

	likeness := worker("likeness", workerIdle, "features_complete", "the features of all perceptions are computed")
	if s.ToCompare > 0 {
		likeness = worker("likeness", workerBusy, "features_waiting",
			"the features of %d perceptions are not computed yet", s.ToCompare)
	}

	retention := worker("retention", workerIdle, "evicted", "%d payloads were evicted, %s", s.Evicted,
		units.BytesText(s.EvictedBytes))
	if n.options.Retention.None() {
		retention = worker("retention", workerOff, "no_budget", "no budget: payloads stay until the disk is full")
	}

	// A pause stops these three only.
	all := []admin.Worker{vectors, likeness, retention}
	for i := range all {
		if n.maintenance.Paused.On() && all[i].Status != workerOff {
			all[i].Status = workerPaused
		}
	}

	indexes := worker("indexes in memory", workerIdle, "indexes_loaded", "loaded and up to date")
	if !n.index.Postings.Loaded() {
		indexes = worker("indexes in memory", workerWaiting, "indexes_not_loaded",
			"not loaded yet; the first recall loads them")
	}

	writer := worker("writer", workerIdle, "no_write", "no write is queued")
	if queued := n.Store.Waiting(); queued > 0 {
		writer = worker("writer", workerBusy, "writes_queued", "%d writes are queued", queued)
	}
	if why := n.Store.ReadOnly(); why != "" {
		writer = worker("writer", workerOff, "read_only", "the memory is served read-only: %s", why)
	}

	memory := worker("memory", workerIdle, "memory_budget", "the budget is %s, of which %s are for the page caches of SQLite",
		units.BytesText(int64(n.options.Memory)), units.BytesText(n.options.Memory.PageCaches()))

	return append(all, indexes, writer, memory)
}

// worker describes a worker. The detail is made of the format and the values, which stand beside its code, too.
func worker(name, status, code, format string, values ...any) admin.Worker {
	w := admin.Worker{Name: name, Status: status, Detail: fmt.Sprintf(format, values...), Code: code}
	for _, v := range values {
		w.Values = append(w.Values, fmt.Sprint(v))
	}

	return w
}

// Memory returns the node's budget of memory.
func (n *Engine) Memory() budget.Memory { return n.options.Memory }

const (
	// hourlyDays is the longest period counted by the hour by default.
	hourlyDays = 7
	// maxHourlyDays limits a response by the hour to 2,208 buckets.
	maxHourlyDays = 92
)

func (n *Engine) Activity(ctx context.Context, req *admin.ActivityRequest) (*admin.ActivityResponse, error) {
	pending := n.counters.pending()

	return read(ctx, n, "activity", req, func(c *store.Conn, r *admin.ActivityRequest, res *admin.ActivityResponse) error {
		if r.Bucket == "" {
			r.Bucket = "day"
			if r.Days <= hourlyDays {
				r.Bucket = "hour"
			}
		}
		if r.Bucket == "hour" && r.Days > maxHourlyDays {
			return robotmem.Errorf(robotmem.Invalid, "bucket",
				"by the hour goes up to %d days, not %d; take day, or fewer days", maxHourlyDays, r.Days)
		}
		*res = newActivity(r.Bucket, r.Days, n.Now())
		counts, err := pending(c)
		if err != nil {
			return err
		}

		return n.activity(c, r.Collection, counts.Hours, res)
	})
}

// newActivity returns a response with empty buckets: whole hours or days in UTC, up to
// and including the current one.
func newActivity(bucket string, days int, now time.Time) admin.ActivityResponse {
	step, n := 24*time.Hour, days
	if bucket == "hour" {
		step, n = time.Hour, 24*days
	}
	// Every day has 24 hours in UTC.
	to := now.UTC().Truncate(step).Add(step)

	res := admin.ActivityResponse{
		From: to.Add(-time.Duration(n) * step), To: to, Bucket: bucket, Buckets: make([]admin.ActivityBucket, n),
	}
	for i := range res.Buckets {
		res.Buckets[i].From = res.From.Add(time.Duration(i) * step)
	}

	return res
}

// activity counts memories from the column cache, and recalls from the file and from pending.
func (n *Engine) activity(
	c *store.Conn, collection string, pending map[store.CollectionHour]store.RecallTotals, res *admin.ActivityResponse,
) error {
	if err := n.index.Columns.Sync(c); err != nil {
		return err
	}

	from, step := res.From.UnixNano(), int64(res.To.Sub(res.From))/int64(len(res.Buckets))
	at := func(ns int64) *admin.ActivityBucket { // nil outside the period
		if i := (ns - from) / step; ns >= from && i < int64(len(res.Buckets)) {
			return &res.Buckets[i]
		}
		return nil
	}
	n.index.Columns.Each(func(row *index.Row, text func(uint32) string) {
		b := at(row.Created)
		switch {
		case b == nil || !robotmem.InCollections(collection, text(row.Collection)):
		case row.Kind == 1:
			b.Facts++
		case row.Perception != 0:
			b.Perceptions++
		}
	})
	failures, err := n.matching(c, index.Selection{Scope: index.Scope{Collection: collection}}, failed)
	if err != nil {
		return err
	}

	for id := range failures.EachSet() {
		row, _ := n.index.Columns.Row(int64(id))
		if b := at(row.Created); b != nil {
			b.Failures++
		}
	}

	recalls := func(hour time.Time, sum store.RecallTotals) {
		if b := at(hour.UnixNano()); b != nil {
			b.Recalls += sum.Recalls
			b.ZeroHits += sum.ZeroHits
		}
	}
	for by, sum := range pending {
		if robotmem.InCollections(collection, by.Collection) {
			recalls(by.Hour, sum)
		}
	}

	return c.EachRecallHour(collection, res.From, recalls)
}
