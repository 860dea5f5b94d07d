package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Streams of server-sent events (text/event-stream): each event has a name and one
// line of JSON. A comment, which begins with a colon, keeps the connection open.

const (
	// maxEvents is the number of requests that stay open, streams and waits for a
	// change. A browser opens one for each tab, and each holds a connection.
	maxEvents = 64
	// tokenPause is the interval at which the token of such a request is checked.
	tokenPause = time.Second
	heartbeat  = 15 * time.Second // proxies close connections without data after a minute
	// eventPause is the shortest time between two change events, so that a page gets
	// at most ten per second and not one for each sample.
	eventPause = 100 * time.Millisecond
)

type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// stay counts a request among those that stay open. Its context ends with the request,
// when the server stops, and soon after the token was revoked or the login ended,
// with errWrongToken as its cause. The caller must call leave.
func (s *server) stay(r *http.Request, op string) (ctx context.Context, leave func(), err error) {
	select {
	case s.events <- struct{}{}:
	default:
		return nil, nil, &robotmem.Error{Op: op, Kind: robotmem.Unavailable, Err: fmt.Errorf("%d streams of events and waits for a change are open, which is the limit of this node; close one, or try again later", maxEvents)}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	var watch sync.WaitGroup
	watch.Go(func() { s.watch(ctx, r, cancel) })
	return ctx, func() { cancel(nil); watch.Wait(); <-s.events }, nil
}

func (s *server) watch(ctx context.Context, r *http.Request, end context.CancelCauseFunc) {
	tick := time.NewTicker(tokenPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.stopping.Done():
			end(nil)
			return
		case <-tick.C:
			if !s.stillKnown(r) {
				end(errWrongToken)
				return
			}
		}
	}
}

func revoked(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errWrongToken) }

func (s *server) open(c echo.Context, op string) (out *stream, ctx context.Context, closing func(), err error) {
	ctx, closing, err = s.stay(c.Request(), op)
	if err != nil {
		return nil, nil, nil, err
	}
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no") // tells proxies not to buffer the answer
	c.Response().WriteHeader(http.StatusOK)
	return &stream{c.Response(), http.NewResponseController(c.Response())}, ctx, closing, nil
}

// send writes one event. encode returns one line, as the format requires.
func (s *stream) send(name, id string, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	if id != "" {
		_, err = fmt.Fprintf(s.w, "id: %s\n", id)
	}
	if err == nil {
		_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n", name, data)
	}
	if err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *stream) beat() error {
	if _, err := fmt.Fprint(s.w, ":\n\n"); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *server) sendProblem(out *stream, c echo.Context, err error) error {
	p := s.problemOf(c.Request(), err)
	p.ID = exchangeOf(c.Request()).id
	return out.send("problem", "", p)
}

// wantsEvents reports whether the client accepts events and not JSON.
func wantsEvents(r *http.Request) bool {
	return accepts(r, "text/event-stream") && !accepts(r, "application/json")
}

// waiting serves the operation changes, which may wait for a minute.
func (s *server) waiting(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if wait := c.QueryParam("wait_ms"); wait == "" || wait == "0" {
			return next(c)
		}
		ctx, leave, err := s.stay(r, "changes")
		if err != nil {
			return err
		}
		defer leave()
		c.SetRequest(r.WithContext(ctx))
		if err = next(c); err != nil && revoked(ctx) {
			s.refuseToken(c.Response(), r, errWrongToken)
			return nil
		}
		return err
	}
}

type change struct {
	Change int64 `json:"change"`
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// changed sends an event for every change of the memory, also by other processes,
// until the client or the server ends the request. The first event is ready with the
// current change number. For a browser that reconnects with a Last-Event-ID, it is
// change if there were changes since.
func (s *server) changed(c echo.Context) error {
	first, err := s.svc.Changes(c.Request().Context(), &admin.ChangesRequest{})
	if err != nil {
		return err
	}
	now := first.Change
	out, ctx, closing, err := s.open(c, "events")
	if err != nil {
		return err
	}
	defer closing()
	name := "ready"
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" && last != count(now) {
		name = "change"
	}
	if err := out.send(name, count(now), change{now}); err != nil {
		return nil // the client is gone
	}
	for {
		next, err := s.svc.Changes(ctx, &admin.ChangesRequest{Since: &now, WaitMS: int(heartbeat.Milliseconds())})
		switch {
		case revoked(ctx):
			_ = s.sendProblem(out, c, errWrongToken)
			return nil
		case ctx.Err() != nil:
			return nil
		case err != nil:
			_ = s.sendProblem(out, c, err)
			return nil
		case !next.Changed:
			err = out.beat()
		default:
			now = next.Change
			err = out.send("change", count(now), change{now})
		}
		if err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(eventPause):
		}
	}
}

// streamed runs an operation for a client that accepts events: any number of progress
// events, and at the end result with the response or problem with the error.
func (s *server) streamed(c echo.Context, op *robotmem.Op, request json.RawMessage) error {
	out, ctx, closing, err := s.open(c, op.Name)
	if err != nil {
		return err
	}
	defer closing()
	ctx, cancel := context.WithCancel(ctx)
	var (
		latest = make(chan progress.Report, 1)
		done   = make(chan struct{})
		res    any
	)
	ctx = progress.With(ctx, func(p progress.Report) {
		select { // replace a report that is not sent yet
		case <-latest:
		default:
		}
		latest <- p
	})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = s.panicked(c.Request(), v)
			}
		}()
		res, err = op.Call(ctx, s.svc, request)
	}()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	defer func() { cancel(); <-done }()
	for {
		select {
		case p := <-latest:
			if out.send("progress", "", p) != nil {
				return nil // the deferred cancel ends the work
			}
		case <-beat.C:
			if out.beat() != nil {
				return nil
			}
		case <-done:
			if err != nil && revoked(ctx) {
				err = errWrongToken
			}
			if err != nil {
				_ = s.sendProblem(out, c, err)
				return nil
			}
			_ = out.send("result", "", res) // fails only if the client is gone
			return nil
		}
	}
}
