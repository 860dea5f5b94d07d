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
func read[Request, Response any](ctx context.Context, n *Engine, op string, req *Request, f func(*store.Conn, *Request, *Response) error) (*Response, error) {
	return serve(op, req, func(r *Request) (*Response, error) {
		res := new(Response)
		return res, n.Store.Read(ctx, func(c *store.Conn) error { return f(c, r, res) })
	})
}

// write serves a request with a response that f fills in a write transaction. It returns when
// the commit is durable.
func write[Request, Response any](ctx context.Context, n *Engine, op string, req *Request, f func(*store.Tx, *Request, *Response) error) (*Response, error) {
	return serve(op, req, func(r *Request) (*Response, error) {
		res := new(Response)
		return res, n.Store.WriteInTime(ctx, func(tx *store.Tx) error { return f(tx, r, res) })
	})
}
