package robotmem

import (
	"context"
	"time"
)

// List implements Service.
func (e *Engine) List(ctx context.Context, req *ListRequest) (*ListResponse, error) {
	r := *req
	if err := Validate("list", &r); err != nil {
		return nil, err
	}
	from, err := resume("list", paging{r.Page, r.BeforeID, r.Cursor}, r.filters())
	if err != nil {
		return nil, wrap("list", err)
	}
	res := &ListResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.read(ctx, func(c *conn) error {
		if r.SessionID != "" {
			if _, err := c.session(r.SessionID); err != nil {
				return err
			}
		}
		return c.list(&r, from, e.now(), res)
	})
	if err != nil {
		return nil, wrap("list", err)
	}
	return res, nil
}

// Sessions implements Service.
func (e *Engine) Sessions(ctx context.Context, req *SessionsRequest) (*SessionsResponse, error) {
	r := *req
	if err := Validate("sessions", &r); err != nil {
		return nil, err
	}
	from, err := resume("sessions", paging{page: r.Page, cursor: r.Cursor}, r.filters())
	if err != nil {
		return nil, wrap("sessions", err)
	}
	res := &SessionsResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.read(ctx, func(c *conn) error { return c.sessions(&r, from, res) })
	if err != nil {
		return nil, wrap("sessions", err)
	}
	return res, nil
}

// SessionMemories implements Service.
func (e *Engine) SessionMemories(ctx context.Context, req *SessionMemoriesRequest) (*ListResponse, error) {
	r := *req
	if err := Validate("session_memories", &r); err != nil {
		return nil, err
	}
	from, err := resume("session_memories", paging{page: r.Page, cursor: r.Cursor}, r.filters())
	if err != nil {
		return nil, wrap("session_memories", err)
	}
	res := &ListResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.read(ctx, func(c *conn) error {
		if _, err := c.session(r.SessionID); err != nil {
			return err
		}
		return c.sessionMemories(&r, from, e.now(), res)
	})
	if err != nil {
		return nil, wrap("session_memories", err)
	}
	return res, nil
}

// Collections implements Service.
func (e *Engine) Collections(ctx context.Context, _ *CollectionsRequest) (*CollectionsResponse, error) {
	res := &CollectionsResponse{}
	err := e.read(ctx, func(c *conn) (err error) {
		if err := e.roster.sync(c); err != nil {
			return err
		}
		res.Collections, err = c.collections(&e.roster)
		return err
	})
	if err != nil {
		return nil, wrap("collections", err)
	}
	return res, nil
}

// Categories implements Service.
func (e *Engine) Categories(ctx context.Context, req *CategoriesRequest) (*CategoriesResponse, error) {
	r := *req
	if err := Validate("categories", &r); err != nil {
		return nil, err
	}
	res := &CategoriesResponse{}
	err := e.read(ctx, func(c *conn) error {
		if err := e.roster.sync(c); err != nil {
			return err
		}
		res.Categories = e.roster.categories(r.Collection)
		return nil
	})
	if err != nil {
		return nil, wrap("categories", err)
	}
	return res, nil
}

// RecentFailures implements Service.
func (e *Engine) RecentFailures(ctx context.Context, req *RecentFailuresRequest) (*ListResponse, error) {
	r := *req
	if err := Validate("recent_failures", &r); err != nil {
		return nil, err
	}
	res := &ListResponse{Page: 1, Limit: r.Limit}
	var since time.Time
	if r.Days > 0 {
		since = e.now().AddDate(0, 0, -r.Days)
	}
	err := e.read(ctx, func(c *conn) (err error) {
		res.Memories, res.Total, err = e.failures(c, r.Collection, since, r.Limit)
		return err
	})
	if err != nil {
		return nil, wrap("recent_failures", err)
	}
	return res, nil
}
