package local

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

const (
	// hourlyDays is up to how many days are counted by the hour unless told.
	hourlyDays = 7
	// maxHourlyDays bounds an answer by the hour to 2,208 buckets.
	maxHourlyDays = 92
)

// Activity implements Service.
func (e *Node) Activity(ctx context.Context, req *robotmem.ActivityRequest) (*robotmem.ActivityResponse, error) {
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
	res := newActivity(r.Bucket, r.Days, e.Now())
	err := e.Store.Read(ctx, func(c *store.Conn) error { return e.activity(c, r.Collection, res) })
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

// activity fills the buckets: with memories from the column cache, which costs a few
// nanoseconds each, and with recalls from the file.
func (e *Node) activity(c *store.Conn, collection string, res *robotmem.ActivityResponse) error {
	if err := e.index.Columns.Sync(c); err != nil {
		return err
	}
	at := bucketOf(res)
	e.index.Columns.Each(func(row *index.Row, text func(uint32) string) {
		b := at(row.Created)
		switch {
		case b == nil || collection != "*" && text(row.Collection) != collection:
		case row.Kind == 1:
			b.Facts++
		default:
			b.Perceptions++
		}
	})
	failures, err := e.failureSet(c, collection, time.Time{})
	if err != nil {
		return err
	}
	e.index.Columns.EachCreated(failures, func(ns int64) {
		if b := at(ns); b != nil {
			b.Failures++
		}
	})
	recalls := func(hour time.Time, n store.Asked) {
		if b := at(hour.UnixNano()); b != nil {
			b.Recalls += n.Recalls
			b.ZeroHits += n.ZeroHits
		}
	}
	e.tallies.eachHour(func(by store.AskedHour, n store.Asked) {
		if collection == "*" || by.Collection == collection {
			recalls(by.Hour, n)
		}
	})
	return c.EachRecallHour(collection, res.From, recalls)
}
