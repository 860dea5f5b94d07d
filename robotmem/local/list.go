package local

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// List implements Service.
func (e *Engine) List(ctx context.Context, req *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	r := *req
	if err := robotmem.Validate("list", &r); err != nil {
		return nil, err
	}
	from, err := resume("list", paging{r.Page, r.BeforeID, r.Cursor}, listFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("list", err)
	}
	res := &robotmem.ListResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.store.read(ctx, func(c *conn) error {
		if r.SessionID != "" {
			if _, err := c.session(r.SessionID); err != nil {
				return err
			}
		}
		return c.list(&r, from, e.now(), res)
	})
	if err != nil {
		return nil, sqlite.Wrap("list", err)
	}
	return res, nil
}

// Sessions implements Service.
func (e *Engine) Sessions(ctx context.Context, req *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	r := *req
	if err := robotmem.Validate("sessions", &r); err != nil {
		return nil, err
	}
	from, err := resume("sessions", paging{page: r.Page, cursor: r.Cursor}, sessionsFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("sessions", err)
	}
	res := &robotmem.SessionsResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.store.read(ctx, func(c *conn) error { return c.sessions(&r, from, res) })
	if err != nil {
		return nil, sqlite.Wrap("sessions", err)
	}
	return res, nil
}

// SessionMemories implements Service.
func (e *Engine) SessionMemories(ctx context.Context, req *robotmem.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	r := *req
	if err := robotmem.Validate("session_memories", &r); err != nil {
		return nil, err
	}
	from, err := resume("session_memories", paging{page: r.Page, cursor: r.Cursor}, sessionMemoriesFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("session_memories", err)
	}
	res := &robotmem.ListResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.store.read(ctx, func(c *conn) error {
		if _, err := c.session(r.SessionID); err != nil {
			return err
		}
		return c.sessionMemories(&r, from, e.now(), res)
	})
	if err != nil {
		return nil, sqlite.Wrap("session_memories", err)
	}
	return res, nil
}

// Collections implements Service.
func (e *Engine) Collections(ctx context.Context, _ *robotmem.CollectionsRequest) (*robotmem.CollectionsResponse, error) {
	res := &robotmem.CollectionsResponse{}
	err := e.store.read(ctx, func(c *conn) (err error) {
		if err := e.index.roster.sync(c); err != nil {
			return err
		}
		res.Collections, err = c.collections(&e.index.roster)
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("collections", err)
	}
	return res, nil
}

// Categories implements Service.
func (e *Engine) Categories(ctx context.Context, req *robotmem.CategoriesRequest) (*robotmem.CategoriesResponse, error) {
	r := *req
	if err := robotmem.Validate("categories", &r); err != nil {
		return nil, err
	}
	res := &robotmem.CategoriesResponse{}
	err := e.store.read(ctx, func(c *conn) error {
		if err := e.index.roster.sync(c); err != nil {
			return err
		}
		res.Categories = e.index.roster.categories(r.Collection)
		return nil
	})
	if err != nil {
		return nil, sqlite.Wrap("categories", err)
	}
	return res, nil
}

// RecentFailures implements Service.
func (e *Engine) RecentFailures(ctx context.Context, req *robotmem.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	r := *req
	if err := robotmem.Validate("recent_failures", &r); err != nil {
		return nil, err
	}
	res := &robotmem.ListResponse{Page: 1, Limit: r.Limit}
	var since time.Time
	if r.Days > 0 {
		since = e.now().AddDate(0, 0, -r.Days)
	}
	err := e.store.read(ctx, func(c *conn) (err error) {
		res.Memories, res.Total, err = e.failures(c, r.Collection, since, r.Limit)
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("recent_failures", err)
	}
	return res, nil
}
