package mcp

import (
	"context"
	"slices"
	"sync"
)

// queued is a call that waits or runs.
type queued struct {
	id      string // as it was spelt
	message []byte
	// withdrawn says that the client no longer wants the answer; set and read
	// under the queue's mutex.
	withdrawn bool
	cancel    context.CancelFunc // nil while it waits
}

// queue holds calls in the order they came, up to a number of bytes.
type queue struct {
	mu      sync.Mutex // guards everything below
	changed sync.Cond
	waiting []*queued
	running *queued
	bytes   int
	limit   int
	closed  bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.changed.L = &q.mu
	return q
}

// push waits until there is room; a call over the limit takes an empty queue.
// It reports whether the call was taken.
func (q *queue) push(c *queued) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.waiting) > 0 && q.bytes+len(c.message) > q.limit {
		q.changed.Wait()
	}
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, c)
	q.bytes += len(c.message)
	q.changed.Broadcast()
	return true
}

// begin waits for a call, which then runs until end; ctx is the call's. A nil
// call means that the queue is closed and empty.
func (q *queue) begin(parent context.Context) (ctx context.Context, c *queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.closed {
		q.changed.Wait()
	}
	if len(q.waiting) == 0 {
		return parent, nil
	}
	c = q.remove(0)
	ctx, c.cancel = context.WithCancel(parent)
	q.running = c
	return ctx, c
}

// end reports whether the call that ran is still wanted.
func (q *queue) end() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.running
	q.running = nil
	c.cancel()
	return !c.withdrawn
}

// withdraw takes back the call with that id: one that waits is never begun, one
// that runs is told to stop.
func (q *queue) withdraw(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.IndexFunc(q.waiting, func(c *queued) bool { return c.id == id }); i >= 0 {
		q.remove(i)
		return
	}
	if q.running != nil && q.running.id == id {
		q.running.withdrawn = true
		q.running.cancel()
	}
}

// remove takes a call out of those that wait. The caller holds the mutex.
func (q *queue) remove(i int) *queued {
	c := q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.bytes -= len(c.message)
	q.changed.Broadcast()
	return c
}

// close takes no more; what waits is still given out.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
