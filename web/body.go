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
	// DefaultMemory is the default of Options.Memory, in bytes.
	DefaultMemory = 64 << 20
	smallBody     = 64 << 10 // bytes
	memoryWait    = 10 * time.Second
	// largeRate replaces bodyRate for the bytes after smallBody.
	largeRate = 16 << 10
	// A decoded value takes up to 44 times the bytes of its JSON, and all values of a
	// request that is no batch up to maxValues. Those of a usual batch take 12 times
	// its bytes. Texts are copied twice.
	valueCost, maxValues, batchCost, textCost = 44, 6 << 20, 12, 2
)

// memoryPools bounds the memory that all requests take together. A request waits for memory to read
// a large body, as it comes, and then for memory to decode it, never the other way
// round, so that two requests cannot wait for each other. Small bodies have a pool of their own, so
// that large ones do not delay them.
type memoryPools struct{ read, decode, decodeSmall memoryPool }

type memoryPool struct {
	*semaphore.Weighted
	size int64 // bytes
}

func newMemoryPools(size int64) memoryPools {
	of := func(n int64) memoryPool { return memoryPool{semaphore.NewWeighted(n), n} }
	return memoryPools{of(size), of(size / 2), of(size / 2)}
}

// reserve takes memory from a pool until the end of the request.
func (s *server) reserve(r *http.Request, in memoryPool, n int64) error {
	x := exchangeOf(r)

	// A request that needs more than the whole pool would never get it. It runs alone instead.
	n = min(n, in.size)

	ctx, cancel := context.WithTimeout(r.Context(), min(memoryWait, s.timeout))
	defer cancel()
	if in.Acquire(ctx, n) != nil {
		x.Header().Set("Retry-After", "2") // seconds
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("other requests take all the memory " +
			"for requests; try again in 2 s, or send smaller requests")}
	}
	x.releases = append(x.releases, func() { in.Release(n) })

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

	// A chunked body has no length. It may be as large as the limit.
	size := r.ContentLength
	if size < 0 {
		size = limit
	}

	x := exchangeOf(r)
	in := http.MaxBytesReader(x, r.Body, limit)

	// The first bytes are free: the number of connections bounds them. More memory is taken as bytes arrive and not as
	// Content-Length claims, so that a client cannot reserve memory without sending.
	held := int64(smallBody)

	body := make([]byte, 0, min(size, smallBody)+bytes.MinRead)
	for {
		if cap(body)-len(body) < bytes.MinRead {
			// From an eighth of the size on, the client has shown that it sends such a body, and one allocation
			// takes the rest.
			grown := 2 * int64(cap(body))
			if 4*grown > size {
				grown = size + 2*bytes.MinRead
			}
			if more := min(grown, s.memory.read.size) - held; more > 0 {
				if err := s.reserve(r, s.memory.read, more); err != nil {
					return nil, err
				}
				held += more

				// A slow client would keep this memory from others.
				x.body.setRate(largeRate)
			}
			body = append(make([]byte, 0, grown), body...)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]

		switch {
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, tooLarge(name, limit)
		case err == io.EOF:
			return body, s.reserveValues(r, int64(len(body)), items)
		case err != nil:
			return nil, &robotmem.Error{
				Op: name, Kind: robotmem.Invalid, Err: fmt.Errorf("reading the request body: %w", err),
			}
		}
	}
}

// reserveValues reserves memory to decode a body.
func (s *server) reserveValues(r *http.Request, size int64, items bool) error {
	in := s.memory.decode
	values := min(valueCost*size, maxValues)

	if items {
		values = batchCost * size
	}
	if size <= smallBody {
		in = s.memory.decodeSmall
	}

	return s.reserve(r, in, values+textCost*size)
}

func tooLarge(op string, limit int64) error {
	err := fmt.Errorf("the request body is over %d bytes; split it, or raise the limit of the node", limit)
	return &robotmem.Error{Op: op, Kind: robotmem.TooLarge, Err: err}
}

// mcp passes a message to the handler of the protocol.
func (s *server) mcp(c echo.Context) error {
	r := c.Request()
	if r.Method == http.MethodPost {
		body, err := s.readBody(r, nil)
		if err != nil {
			return err
		}
		r.Body, r.ContentLength = bufferedBody{bytes.NewReader(body), body}, int64(len(body))
	}
	s.opts.MCP.ServeHTTP(c.Response(), r)

	return nil
}

// bufferedBody is a body in memory.
type bufferedBody struct {
	io.Reader
	all []byte
}

// Bytes returns the whole body. Package mcp uses it instead of a copy.
func (b bufferedBody) Bytes() []byte { return b.all }

func (bufferedBody) Close() error { return nil }
