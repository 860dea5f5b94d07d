package local

import (
	"context"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

const (
	// hourlyDays is up to how many days are counted by the hour unless told.
	hourlyDays = 7
	// maxHourlyDays bounds an answer by the hour to 2,208 buckets.
	maxHourlyDays = 92
)

// Activity implements Service.
func (e *Engine) Activity(ctx context.Context, req *robotmem.ActivityRequest) (*robotmem.ActivityResponse, error) {
	r := *req
	if err := robotmem.Validate("activity", &r); err != nil {
		return nil, err
	}
	if r.Bucket == "" {
		r.Bucket = "day"
		if r.Days <= hourlyDays {
			r.Bucket = "hour"
		}
	}
	if r.Bucket == "hour" && r.Days > maxHourlyDays {
		return nil, sqlite.Wrap("activity", robotmem.Errorf(robotmem.Invalid, "bucket", "by the hour goes up to %d days, not %d; take day, or fewer days", maxHourlyDays, r.Days))
	}
	res := newActivity(r.Bucket, r.Days, e.now())
	err := e.store.read(ctx, func(c *conn) error { return e.activity(c, r.Collection, res) })
	if err != nil {
		return nil, sqlite.Wrap("activity", err)
	}
	return res, nil
}

// newActivity is an answer of empty buckets: whole hours or days of UTC, the
// last of which is now's.
func newActivity(bucket string, days int, now time.Time) *robotmem.ActivityResponse {
	step, n := 24*time.Hour, days
	if bucket == "hour" {
		step, n = time.Hour, 24*days
	}
	to := now.UTC().Truncate(step).Add(step) // a day of UTC has 24 hours
	res := &robotmem.ActivityResponse{From: to.Add(-time.Duration(n) * step), To: to, Bucket: bucket, Buckets: make([]robotmem.ActivityBucket, n)}
	for i := range res.Buckets {
		res.Buckets[i].From = res.From.Add(time.Duration(i) * step)
	}
	return res
}

// bucketOf returns what finds the bucket of a time, given in nanoseconds since
// 1970; nil outside.
func bucketOf(a *robotmem.ActivityResponse) func(ns int64) *robotmem.ActivityBucket {
	from, step := a.From.UnixNano(), int64(a.To.Sub(a.From))/int64(len(a.Buckets))
	return func(ns int64) *robotmem.ActivityBucket {
		if i := (ns - from) / step; ns >= from && i < int64(len(a.Buckets)) {
			return &a.Buckets[i]
		}
		return nil
	}
}

// activity fills the buckets: with memories from the roster, which costs a few
// nanoseconds each, and with recalls from the file.
func (e *Engine) activity(c *conn, collection string, res *robotmem.ActivityResponse) error {
	if err := e.index.roster.sync(c); err != nil {
		return err
	}
	at := bucketOf(res)
	e.index.roster.each(func(row *rosterRow, text func(uint32) string) {
		b := at(row.created)
		switch {
		case b == nil || collection != "*" && text(row.collection) != collection:
		case row.kind == 1:
			b.Facts++
		default:
			b.Perceptions++
		}
	})
	failures, err := e.failureSet(c, collection, time.Time{})
	if err != nil {
		return err
	}
	e.index.roster.eachCreated(failures, func(ns int64) {
		if b := at(ns); b != nil {
			b.Failures++
		}
	})
	recalls := func(hour time.Time, n asked) {
		if b := at(hour.UnixNano()); b != nil {
			b.Recalls += n.recalls
			b.ZeroHits += n.zeroHits
		}
	}
	e.tallies.eachHour(func(by askedHour, n asked) {
		if collection == "*" || by.collection == collection {
			recalls(by.hour, n)
		}
	})
	return c.eachRecallHour(collection, res.From, recalls)
}

// eachCreated visits when each member of a set was stored, in nanoseconds since
// 1970.
func (r *roster) eachCreated(set *bitset.BitSet, visit func(ns int64)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for id, ok := set.NextSet(0); ok && int(id) < len(r.rows); id, ok = set.NextSet(id + 1) {
		visit(r.rows[id].created)
	}
}
