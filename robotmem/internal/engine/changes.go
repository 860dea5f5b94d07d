package engine

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// watchInterval is the longest delay until a call of Changes notices a write.
const watchInterval = 150 * time.Millisecond

// Changes implements Service. A call that waits reads the change counter of the file from
// time to time and holds no connection meanwhile.
func (n *Engine) Changes(ctx context.Context, req *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return serve("changes", req, func(r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
		over, tick := time.After(time.Duration(r.WaitMS)*time.Millisecond), time.Tick(watchInterval)

		for {
			res := &admin.ChangesResponse{Time: n.LocalNow()}
			err := n.Store.Read(ctx, func(c *store.Conn) (err error) { res.Change, err = c.Changes(); return err })
			res.Changed = r.Since != nil && res.Change != *r.Since
			if err != nil || res.Changed || r.Since == nil || r.WaitMS == 0 {
				return res, err
			}

			select {
			case <-tick:
			case <-over:
				return res, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-n.Quitting:
				return nil, store.ErrClosed
			}
		}
	})
}
