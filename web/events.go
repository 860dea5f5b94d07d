package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Streams of events, as browsers read them: text/event-stream, each event with a
// name and one line of JSON. What begins with a colon only keeps the connection.

const (
	// maxEvents bounds the streams that are open at once: a browser opens one a
	// tab, and each holds a connection.
	maxEvents = 64
	heartbeat = 15 * time.Second // proxies close what is silent for a minute
	// eventPause joins the changes of a busy writer, so that a page is told
	// ten times a second and not for each sample.
	eventPause = 100 * time.Millisecond
)

// stream is an answer that goes on.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// open begins a stream if there is room for one more. Its context ends with the
// request, or when the server shuts down. The caller calls close.
func (s *server) open(c echo.Context, op string) (out *stream, ctx context.Context, closing func(), err error) {
	select {
	case s.events <- struct{}{}:
	default:
		return nil, nil, nil, &robotmem.Error{Op: op, Kind: robotmem.Unavailable, Err: fmt.Errorf("%d streams of events are open, and this node holds no more; close one, or ask again later", maxEvents)}
	}
	ctx, cancel := context.WithCancel(c.Request().Context())
	detach := context.AfterFunc(s.stopping, cancel)
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no") // proxies that gather answers pass this one on
	c.Response().WriteHeader(http.StatusOK)
	return &stream{c.Response(), http.NewResponseController(c.Response())}, ctx, func() { detach(); cancel(); <-s.events }, nil
}

// send writes one event. Its data is one line: encode makes no other.
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

// wantsEvents reports whether the caller asks for events and not for JSON.
func wantsEvents(r *http.Request) bool {
	return accepts(r, "text/event-stream") && !accepts(r, "application/json")
}

// untilStop ends the context of a request that waits when the server stops.
func (s *server) untilStop(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, cancel := context.WithCancel(c.Request().Context())
		defer cancel()
		defer context.AfterFunc(s.stopping, cancel)()
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

type change struct {
	Change int64 `json:"change"`
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// changed tells of every change of the memory, also by another process, until
// the caller goes or the server stops. The first event, ready, says where it
// begins; a browser that comes back with the last it has seen is told at once if
// it has missed some.
func (s *server) changed(c echo.Context) error {
	first, err := s.svc.Changes(c.Request().Context(), &robotmem.ChangesRequest{})
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
		return nil // the caller has gone
	}
	for {
		next, err := s.svc.Changes(ctx, &robotmem.ChangesRequest{Since: &now, WaitMS: int(heartbeat.Milliseconds())})
		switch {
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

// streamed runs an operation and tells how far it is, for a caller who asks for
// events: any number of progress, and at the end the response as result or the
// error as problem.
func (s *server) streamed(c echo.Context, op *robotmem.Op, request json.RawMessage) error {
	out, ctx, closing, err := s.open(c, op.Name)
	if err != nil {
		return err
	}
	defer closing()
	ctx, cancel := context.WithCancel(ctx)
	var (
		latest = make(chan robotmem.Progress, 1)
		done   = make(chan struct{})
		res    any
	)
	ctx = robotmem.WithProgress(ctx, func(p robotmem.Progress) {
		select { // what the caller has not taken yet is out of date
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
				return nil // its context ends the work
			}
		case <-beat.C:
			if out.beat() != nil {
				return nil
			}
		case <-done:
			if err != nil {
				_ = s.sendProblem(out, c, err)
				return nil
			}
			_ = out.send("result", "", res) // a caller that has gone needs no answer
			return nil
		}
	}
}
