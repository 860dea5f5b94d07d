package site

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// idleLife is the time from the last call of a tenant to the closing of its memory.
const idleLife = 10 * time.Minute

// nodes are the open memories of tenants.
type nodes struct {
	site *Site
	idle time.Duration // idleLife

	mu      sync.Mutex // guards the fields below, and users and idle of each node
	open    map[string]*openNode
	closed  bool
	closing sync.WaitGroup // the closes of idle ones
}

type openNode struct {
	ready chan struct{} // closed when node or err is set
	node  *local.Node
	err   error
	usage usage

	users int
	idle  *time.Timer // closes the node; nil while it has users
}

// take returns the memory of a tenant, which it opens if it is not open. The caller must call leave.
func (n *nodes) take(ctx context.Context, tenant string) (o *openNode, leave func(), err error) {
	// Opening the memory of an absent tenant would create the tenant.
	if _, err := n.site.limitsOf(ctx, tenant); err != nil {
		return nil, nil, err
	}

	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil, nil, robotmem.Errorf(robotmem.Unavailable, "", "the node is ending; try another one")
	}

	o = n.open[tenant]
	first := o == nil
	if first {
		o = &openNode{ready: make(chan struct{})}
		n.open[tenant] = o
	}

	// A node with users must not be closed. closeIdle checks both fields again, because the timer may have fired
	// already.
	if o.users++; o.idle != nil {
		o.idle.Stop()
		o.idle = nil
	}

	// The lock is released before the memory opens: a slow server must not delay the other tenants.
	n.mu.Unlock()
	leave = sync.OnceFunc(func() { n.leave(tenant, o) })
	if first {
		// The other callers that wait for this node must not fail when the first one gives up.
		o.node, o.err = n.site.Node(context.WithoutCancel(ctx), tenant)
		close(o.ready)
	}

	select {
	case <-o.ready:
		err = o.err
	case <-ctx.Done():
		err = ctx.Err()
	}

	if err != nil {
		leave()
		return nil, nil, err
	}

	return o, leave, nil
}

func (n *nodes) leave(tenant string, o *openNode) {
	n.mu.Lock()
	defer n.mu.Unlock()

	o.users--
	select {
	case <-o.ready:
		if o.err != nil && n.open[tenant] == o {
			// The failed entry must not stay: the next call then tries again.
			delete(n.open, tenant)
			return
		}
	default:
	}
	if o.users == 0 && !n.closed {
		o.idle = time.AfterFunc(n.idle, func() { n.closeIdle(tenant, o) })
	}
}

func (n *nodes) closeIdle(tenant string, o *openNode) {
	n.mu.Lock()
	if o.users > 0 || o.idle == nil || n.closed || n.open[tenant] != o {
		n.mu.Unlock()
		return
	}
	delete(n.open, tenant)

	// close waits for closing, so it must be counted before the lock is released.
	n.closing.Add(1)
	n.mu.Unlock()
	defer n.closing.Done()
	<-o.ready
	if o.node != nil {
		// Everything acknowledged is in the database.
		_ = o.node.Close()
	}
}

// close closes all. Calls that run fail or end first, as those of a node do.
func (n *nodes) close() error {
	n.mu.Lock()
	n.closed = true
	all := n.open
	n.open = map[string]*openNode{}
	n.mu.Unlock()

	var errs []error

	// The entries were taken out of the map under the lock, so that no other goroutine closes them.
	for _, o := range all {
		if <-o.ready; o.node != nil {
			errs = append(errs, o.node.Close())
		}
	}
	n.closing.Wait()

	return errors.Join(errs...)
}
