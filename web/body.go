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

// A body is read into memory and decoded. Requests reserve memory for both, in one of
// two rooms, so that a few large requests do not hold up the small ones: a small request
// once its body is read, a larger one all at once when its first smallBody bytes have
// come. Because no request reserves twice, requests never wait for each other in a
// circle.

const (
	maxMemory = 128 << 20
	smallBody = 64 << 10 // bytes
	// roomWait is how long a request waits for memory before it is refused.
	roomWait = 5 * time.Second
	// heldRate replaces bodyRate once a request has reserved memory.
	heldRate = 16 << 10
	// A body and its texts take about three times its bytes, and decoded values up to 44
	// times. maxValueCost bounds the latter where the number of values is limited.
	textCost, valueCost = 3, 44
	maxValueCost        = 6 << 20
)

// room bounds the memory of some requests together.
type room struct {
	*semaphore.Weighted
	size int64 // bytes
}

func newRoom(size int64) room { return room{semaphore.NewWeighted(size), size} }

// memoryFor returns the bytes to reserve for a body of that size. items: it is a list of
// requests, so it may hold any number of values.
func memoryFor(size int64, items bool) int64 {
	if items {
		return valueCost * size
	}
	return min(valueCost*size, maxValueCost) + textCost*size
}

// hold reserves memory until the end of the request.
func (s *server) hold(r *http.Request, in room, n int64) error {
	x := exchangeOf(r)
	n = min(n, in.size)
	ctx, cancel := context.WithTimeout(r.Context(), min(roomWait, s.timeout))
	defer cancel()
	if in.Acquire(ctx, n) != nil {
		x.Header().Set("Retry-After", "2")
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("other requests take all the memory for requests; try again in 2 s, or send smaller requests")}
	}
	x.release = func() { in.Release(n) }
	return nil
}

// readBody reads the body into memory that it reserves. items is as in memoryFor.
func (s *server) readBody(r *http.Request, op string, limit int64, items bool) ([]byte, error) {
	tooLarge := &robotmem.Error{Op: op, Kind: robotmem.TooLarge, Err: fmt.Errorf("the request body is over %d bytes; split it, or raise the limit of the node", limit)}
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	size := r.ContentLength
	if size < 0 {
		size = limit
	}
	x := exchangeOf(r)
	in := http.MaxBytesReader(x, r.Body, limit)
	body := make([]byte, 0, min(size, smallBody)+bytes.MinRead)
	for {
		if len(body) > smallBody && x.release == nil {
			if err := s.hold(r, s.large, memoryFor(size, items)); err != nil {
				return nil, err
			}
			x.body.pace(heldRate)
		}
		if cap(body)-len(body) < bytes.MinRead {
			body = append(make([]byte, 0, min(4*int64(cap(body)), size+2*bytes.MinRead)), body...)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF && x.release == nil && len(body) > 0:
			return body, s.hold(r, s.small, memoryFor(int64(len(body)), items))
		case err == io.EOF:
			return body, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, tooLarge
		case err != nil:
			return nil, &robotmem.Error{Op: op, Kind: robotmem.Invalid, Err: fmt.Errorf("reading the request body: %w", err)}
		}
	}
}

// heldBody is a body that is in memory.
type heldBody struct {
	io.Reader
	all []byte
}

// Bytes returns the whole body. Package mcp looks for this method.
func (b heldBody) Bytes() []byte { return b.all }

func (heldBody) Close() error { return nil }

// mcp passes a message to the handler of the protocol.
func (s *server) mcp(c echo.Context) error {
	r := c.Request()
	if r.Method == http.MethodPost {
		body, err := s.readBody(r, "", s.maxBody, false)
		if err != nil {
			return err
		}
		r.Body, r.ContentLength = heldBody{bytes.NewReader(body), body}, int64(len(body))
	}
	s.opts.MCP.ServeHTTP(c.Response(), r)
	return nil
}
