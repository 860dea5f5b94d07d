package local

import (
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// failed is what counts as a failure: lessons, and a task that did not succeed.
var failed = filter.Condition{Op: "$or", Kids: []filter.Condition{
	{Op: "$in", Path: "category", Values: []any{"postmortem", "gotcha"}},
	{Op: "$eq", Path: "task.success", Values: []any{[]byte(filter.BlobFalse)}},
}}

// failures returns what went wrong since a time, newest first, n at most, and
// how many there are.
func (e *Node) failures(c *store.Conn, collection string, since time.Time, n int) ([]robotmem.Memory, int64, error) {
	set, err := e.failureSet(c, collection, since)
	if err != nil {
		return nil, 0, err
	}
	out, err := c.Newest(e.index.Roster.Moments(set), n, e.Now())
	return out, int64(set.Count()), err
}

// failureSet is what went wrong since a time, if one is given.
func (e *Node) failureSet(c *store.Conn, collection string, since time.Time) (*bitset.BitSet, error) {
	if err := e.index.Roster.Sync(c); err != nil {
		return nil, err
	}
	now := e.Now()
	b := index.Selection{Scope: index.Scope{Collection: collection}, Now: now}
	if !since.IsZero() {
		b.After = &since
	}
	base, err := e.index.Admit(c, b)
	if err != nil {
		return nil, err
	}
	return e.index.Narrow(c, &failed, base, now)
}
