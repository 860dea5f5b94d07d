package engine

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// serve answers a valid request with f, which gets a copy of it. It names the operation in the
// error.
func serve[Request, Response any](op string, req *Request, f func(*Request) (*Response, error)) (*Response, error) {
	r := *req
	err := robotmem.Validate(op, &r)
	if err == nil {
		var res *Response
		if res, err = f(&r); err == nil {
			return res, nil
		}
	}

	return nil, robotmem.Wrap(op, err)
}

// read serves a request with a response that f fills in a read transaction.
func read[Request, Response any](
	ctx context.Context, n *Engine, op string, req *Request, f func(*store.Conn, *Request, *Response) error,
) (*Response, error) {
	return serve(op, req, func(r *Request) (*Response, error) {
		res := new(Response)

		return res, n.Store.Read(ctx, func(c *store.Conn) error {
			if err := number(c, r); err != nil {
				return err
			}
			return f(c, r, res)
		})
	})
}

// write serves a request with a response that f fills in a write transaction. It returns when
// the commit is durable.
func write[Request, Response any](
	ctx context.Context, n *Engine, op string, req *Request, f func(*store.Tx, *Request, *Response) error,
) (*Response, error) {
	return serve(op, req, func(r *Request) (*Response, error) {
		res := new(Response)

		return res, n.Store.WriteInTime(ctx, func(tx *store.Tx) error {
			if err := number(tx.Conn, r); err != nil {
				return err
			}
			return f(tx, r, res)
		})
	})
}

// number replaces the uid by which a request names a memory by its number. It fails with NotFound if there is no
// such memory, and as [robotmem.ByUID] does.
func number(c *store.Conn, req any) error {
	uid, err := robotmem.ByUID(req)
	if err != nil || uid == "" {
		return err
	}

	id, err := c.IDOf(uid)
	if err == nil && id == 0 {
		err = NoMemory(uid)
	}
	if err == nil {
		robotmem.UseNumber(req, id)
	}

	return err
}

// NoMemory is the error for a uid of no memory.
func NoMemory(uid string) error {
	return robotmem.Errorf(robotmem.NotFound, "memory_id",
		"there is no memory with the uid %s; uids come from learn, recall and list", uid)
}

// Purged reports whether a memory with this uid was purged here.
func (n *Engine) Purged(ctx context.Context, uid string) (purged bool, err error) {
	err = n.Store.Read(ctx, func(c *store.Conn) (err error) { purged, err = c.Purged(uid); return err })
	return purged, err
}

// Number replaces the uid by which a request names a memory by its number, as each operation does.
func (n *Engine) Number(ctx context.Context, req any) error {
	// Most requests have no uid, and need no transaction.
	if uid, err := robotmem.ByUID(req); err != nil || uid == "" {
		return err
	}
	return n.Store.Read(ctx, func(c *store.Conn) error { return number(c, req) })
}
