package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	// DefaultMemory is that of Options, in bytes.
	DefaultMemory = 64 << 20
	smallBody     = 64 << 10 // bytes
	roomWait      = 10 * time.Second
	// largeRate replaces bodyRate for the bytes after smallBody.
	largeRate = 16 << 10
	// A decoded value takes up to 44 times the bytes of its JSON, and all values of a
	// request that is no batch up to maxValues. Those of a usual batch take 12 times
	// its bytes. Texts are copied twice.
	valueCost, maxValues, batchCost, textCost = 44, 6 << 20, 12, 2
)

// rooms bound the memory that requests take together. A request waits for memory to read
// a large body, as it comes, and then for memory to decode it, never the other way
// round. Small bodies have a room of their own, so that large ones do not hold them up.
type rooms struct{ read, decode, decodeSmall room }

type room struct {
	*semaphore.Weighted
	size int64 // bytes
}

func newRooms(size int64) rooms {
	of := func(n int64) room { return room{semaphore.NewWeighted(n), n} }
	return rooms{of(size), of(size / 2), of(size / 2)}
}

// hold reserves memory until the end of the request.
func (s *server) hold(r *http.Request, in room, n int64) error {
	x := exchangeOf(r)
	// A larger request runs alone.
	n = min(n, in.size)
	ctx, cancel := context.WithTimeout(r.Context(), min(roomWait, s.timeout))
	defer cancel()
	if in.Acquire(ctx, n) != nil {
		x.Header().Set("Retry-After", "2") // seconds
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("other requests take all the memory for requests; try again in 2 s, or send smaller requests")}
	}
	x.held = append(x.held, func() { in.Release(n) })

	return nil
}

// readBody reads the body and reserves memory for it and for its values. op is nil for a
// message of the protocol MCP.
func (s *server) readBody(r *http.Request, op *robotmem.Op) ([]byte, error) {
	limit, name, items := s.maxBody, "", false
	if op != nil {
		name, items = op.Name, op.Name == "learn_batch"
		if !op.Bulk() {
			limit = min(limit, robotmem.MaxRequest)
		}
	}

	if r.ContentLength > limit {
		return nil, tooLarge(name, limit)
	}

	size := r.ContentLength
	if size < 0 {
		size = limit
	}

	x := exchangeOf(r)
	in := http.MaxBytesReader(x, r.Body, limit)
	held := int64(smallBody)

	body := make([]byte, 0, min(size, smallBody)+bytes.MinRead)
	for {
		if cap(body)-len(body) < bytes.MinRead {
			grown := 2 * int64(cap(body))
			// The client has shown that it sends such a body.
			if 4*grown > size {
				grown = size + 2*bytes.MinRead
			}
			if more := min(grown, s.rooms.read.size) - held; more > 0 {
				if err := s.hold(r, s.rooms.read, more); err != nil {
					return nil, err
				}
				held += more
				x.body.pace(largeRate)
			}
			body = append(make([]byte, 0, grown), body...)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]

		switch {
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, tooLarge(name, limit)
		case err == io.EOF:
			return body, s.holdValues(r, int64(len(body)), items)
		case err != nil:
			return nil, &robotmem.Error{Op: name, Kind: robotmem.Invalid, Err: fmt.Errorf("reading the request body: %w", err)}
		}
	}
}

// holdValues reserves memory to decode a body.
func (s *server) holdValues(r *http.Request, size int64, items bool) error {
	in, values := s.rooms.decode, min(valueCost*size, maxValues)
	if items {
		values = batchCost * size
	}
	if size <= smallBody {
		in = s.rooms.decodeSmall
	}

	return s.hold(r, in, values+textCost*size)
}

func tooLarge(op string, limit int64) error {
	return &robotmem.Error{Op: op, Kind: robotmem.TooLarge, Err: fmt.Errorf("the request body is over %d bytes; split it, or raise the limit of the node", limit)}
}

// mcp passes a message to the handler of the protocol.
func (s *server) mcp(c echo.Context) error {
	r := c.Request()
	if r.Method == http.MethodPost {
		body, err := s.readBody(r, nil)
		if err != nil {
			return err
		}
		r.Body, r.ContentLength = heldBody{bytes.NewReader(body), body}, int64(len(body))
	}
	s.opts.MCP.ServeHTTP(c.Response(), r)

	return nil
}

// heldBody is a body in memory.
type heldBody struct {
	io.Reader
	all []byte
}

// Bytes returns the whole body. Package mcp uses it instead of a copy.
func (b heldBody) Bytes() []byte { return b.all }

func (heldBody) Close() error { return nil }
