package local

import (
	"context"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// watch notifies callers of Changes when the file has changed. A write of this process
// notifies them at once. For writes of other processes one waiting caller polls the file
// every watchInterval and notifies the others. The file is not polled while no call
// waits.
type watch struct {
	mu     sync.Mutex    // guards the fields below
	change int64         // the highest change counter seen
	moved  chan struct{} // closed when it grows; nil while no call waits
	looked time.Time     // when the file was last polled
}

// watchInterval is the longest delay until a write of another process is noticed.
const watchInterval = 150 * time.Millisecond

// saw records a change counter that was read from the file.
func (w *watch) saw(change int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if change <= w.change {
		return
	}
	w.change = change
	if w.moved != nil {
		close(w.moved)
		w.moved = nil
	}
}

// state returns the last counter seen, and a channel that is closed when it grows.
func (w *watch) state() (change int64, moved <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.moved == nil {
		w.moved = make(chan struct{})
	}
	return w.change, w.moved
}

// due reports whether the caller must poll the file now.
func (w *watch) due(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.looked) < watchInterval/2 {
		return false
	}
	w.looked = now
	return true
}

// Changes implements Service.
func (n *Node) Changes(ctx context.Context, req *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return serve("changes", req, func(r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
		change, err := n.lookForChange(ctx)
		if err == nil && r.Since != nil && change == *r.Since && r.WaitMS > 0 {
			change, err = n.awaitChange(ctx, *r.Since, time.Duration(r.WaitMS)*time.Millisecond)
		}
		return &admin.ChangesResponse{Time: n.LocalNow(), Change: change, Changed: r.Since != nil && change != *r.Since}, err
	})
}

// lookForChange reads the counter from the file.
func (n *Node) lookForChange(ctx context.Context) (change int64, err error) {
	err = n.Store.Read(ctx, func(c *store.Conn) (err error) { change, err = c.Changes(); return err })
	if err == nil {
		n.watch.saw(change)
	}
	return change, err
}

// awaitChange returns the counter as soon as it differs from since, or since after the
// wait. It holds no connection while it waits.
func (n *Node) awaitChange(ctx context.Context, since int64, wait time.Duration) (int64, error) {
	over, tick := time.After(wait), time.Tick(watchInterval)
	for {
		change, moved := n.watch.state()
		if change != since {
			return change, nil
		}
		select {
		case <-moved:
		case <-over:
			return since, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-n.Quitting:
			return 0, sqlite.ErrClosed
		case now := <-tick:
			if !n.watch.due(now) {
				continue
			}
			if _, err := n.lookForChange(ctx); err != nil {
				return 0, err
			}
		}
	}
}
