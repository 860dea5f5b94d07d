package local

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// List implements Service.
func (e *Node) List(ctx context.Context, req *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	r := *req
	if err := robotmem.Validate("list", &r); err != nil {
		return nil, err
	}
	from, err := store.Resume("list", store.Paging{Page: r.Page, BeforeID: r.BeforeID, Cursor: r.Cursor}, store.ListFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("list", err)
	}
	res := &robotmem.ListResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.Store.Read(ctx, func(c *store.Conn) error {
		if r.SessionID != "" {
			if _, err := c.Session(r.SessionID); err != nil {
				return err
			}
		}
		return c.List(&r, from, e.Now(), res)
	})
	if err != nil {
		return nil, sqlite.Wrap("list", err)
	}
	return res, nil
}

// Sessions implements Service.
func (e *Node) Sessions(ctx context.Context, req *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	r := *req
	if err := robotmem.Validate("sessions", &r); err != nil {
		return nil, err
	}
	from, err := store.Resume("sessions", store.Paging{Page: r.Page, Cursor: r.Cursor}, store.SessionsFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("sessions", err)
	}
	res := &robotmem.SessionsResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.Store.Read(ctx, func(c *store.Conn) error { return c.Sessions(&r, from, res) })
	if err != nil {
		return nil, sqlite.Wrap("sessions", err)
	}
	return res, nil
}

// SessionMemories implements Service.
func (e *Node) SessionMemories(ctx context.Context, req *robotmem.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	r := *req
	if err := robotmem.Validate("session_memories", &r); err != nil {
		return nil, err
	}
	from, err := store.Resume("session_memories", store.Paging{Page: r.Page, Cursor: r.Cursor}, store.SessionMemoriesFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("session_memories", err)
	}
	res := &robotmem.ListResponse{Page: r.Page, Limit: r.Limit}
	if from != nil {
		res.Page = 0
	}
	err = e.Store.Read(ctx, func(c *store.Conn) error {
		if _, err := c.Session(r.SessionID); err != nil {
			return err
		}
		return c.SessionMemories(&r, from, e.Now(), res)
	})
	if err != nil {
		return nil, sqlite.Wrap("session_memories", err)
	}
	return res, nil
}

// Collections implements Service.
func (e *Node) Collections(ctx context.Context, _ *robotmem.CollectionsRequest) (*robotmem.CollectionsResponse, error) {
	res := &robotmem.CollectionsResponse{}
	err := e.Store.Read(ctx, func(c *store.Conn) (err error) {
		if err := e.index.Roster.Sync(c); err != nil {
			return err
		}
		res.Collections, err = index.Collections(c, &e.index.Roster)
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("collections", err)
	}
	return res, nil
}

// Categories implements Service.
func (e *Node) Categories(ctx context.Context, req *robotmem.CategoriesRequest) (*robotmem.CategoriesResponse, error) {
	r := *req
	if err := robotmem.Validate("categories", &r); err != nil {
		return nil, err
	}
	res := &robotmem.CategoriesResponse{}
	err := e.Store.Read(ctx, func(c *store.Conn) error {
		if err := e.index.Roster.Sync(c); err != nil {
			return err
		}
		res.Categories = e.index.Roster.Categories(r.Collection)
		return nil
	})
	if err != nil {
		return nil, sqlite.Wrap("categories", err)
	}
	return res, nil
}

// RecentFailures implements Service.
func (e *Node) RecentFailures(ctx context.Context, req *robotmem.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	r := *req
	if err := robotmem.Validate("recent_failures", &r); err != nil {
		return nil, err
	}
	res := &robotmem.ListResponse{Page: 1, Limit: r.Limit}
	var since time.Time
	if r.Days > 0 {
		since = e.Now().AddDate(0, 0, -r.Days)
	}
	err := e.Store.Read(ctx, func(c *store.Conn) (err error) {
		res.Memories, res.Total, err = e.failures(c, r.Collection, since, r.Limit)
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("recent_failures", err)
	}
	return res, nil
}
