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
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Streams of server-sent events (text/event-stream): each event has a name and one
// line of JSON. A comment, which begins with a colon, keeps the connection open.

const (
	// maxEvents is the number of requests of one client that stay open, streams and
	// waits for a change. A browser opens one for each tab, and each holds a connection.
	maxEvents = 64
	heartbeat = 15 * time.Second // proxies close connections without data after a minute
	// eventPause is the shortest time between two change events, so that a page gets
	// at most ten per second and not one for each sample.
	eventPause = 100 * time.Millisecond
)

type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// trackOpen counts a request among those of its client that stay open. Its context ends with
// the request and when the server stops. The caller must call leave.
func (s *server) trackOpen(r *http.Request, op string) (ctx context.Context, leave func(), err error) {
	client := clientOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()

	// The limit of the client comes first, because its error says what the client can do.
	if s.openRequests[client] >= maxEvents {
		err := fmt.Errorf("this client has %d streams of events and waits for a change open, which is the limit; "+
			"close one, or try again later", maxEvents)
		return nil, nil, &robotmem.Error{Op: op, Kind: robotmem.Unavailable, Err: err}
	}

	if s.openTotal >= s.maxOpen {
		err := fmt.Errorf("%d streams of events and waits for a change are open at this node, which is the limit; "+
			"try again later", s.maxOpen)
		return nil, nil, &robotmem.Error{Op: op, Kind: robotmem.Unavailable, Err: err}
	}

	s.openRequests[client]++
	s.openTotal++

	// Shutdown does not cancel the contexts of requests.
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.stopping, cancel)

	return ctx, func() {
		stop()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.openTotal--

		// The map would else keep an entry for each address that was ever seen.
		if s.openRequests[client]--; s.openRequests[client] == 0 {
			delete(s.openRequests, client)
		}
	}, nil
}

// clientOf names the client of a request that stays open: the programs of a token, or the browsers that have
// logged in with it. Without tokens, the browsers of an address count as one client and its programs as
// another, so that programs do not keep the dashboard out.
func clientOf(r *http.Request) string {
	if token := exchangeOf(r).token; token.Name != "" {
		kind := "browsers"
		if _, ok := bearerOf(r); ok {
			kind = "programs"
		}
		return kind + " of " + token.Tenant + " " + token.Name
	}
	if r.Header.Get("Sec-Fetch-Site") != "" {
		return "browser " + address(r)
	}

	return "program " + address(r)
}

func (s *server) open(c echo.Context, op string) (out *stream, ctx context.Context, closing func(), err error) {
	ctx, closing, err = s.trackOpen(c.Request(), op)
	if err != nil {
		return nil, nil, nil, err
	}
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// nginx and proxies like it buffer answers unless this header forbids it.
	h.Set("X-Accel-Buffering", "no")
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
		id = "id: " + id + "\n"
	}

	return s.write("%sevent: %s\ndata: %s\n", id, name, data)
}

func (s *stream) beat() error { return s.write(":\n\n") }

func (s *stream) write(format string, args ...any) error {
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *server) sendProblem(out *stream, c echo.Context, err error) error {
	p := s.problemOf(c.Request(), err)
	p.ID = exchangeOf(c.Request()).id
	return out.send("problem", "", p)
}

// longPoll serves the operation changes, which may wait for a minute.
func (s *server) longPoll(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()

		// Without a wait the operation answers at once and needs no place among the open requests.
		if wait := c.QueryParam("wait_ms"); wait == "" || wait == "0" {
			return next(c)
		}
		ctx, leave, err := s.trackOpen(r, "changes")
		if err != nil {
			return err
		}
		defer leave()
		c.SetRequest(r.WithContext(ctx))

		return next(c)
	}
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// events sends an event for every change of the memory, also by other processes, until the
// client or the server ends the request. The first event is ready with the current change number.
// For a browser that reconnects with a Last-Event-ID, it is change if there were changes since.
func (s *server) events(c echo.Context) error {
	first, err := s.svc.Changes(c.Request().Context(), &admin.ChangesRequest{})
	if err != nil {
		return err
	}

	now := first.Change

	// Changes comes before open: after the headers its error could no longer have a status.
	out, ctx, closing, err := s.open(c, "events")
	if err != nil {
		return err
	}

	defer closing()

	// A change between two connections of a browser would else be lost.
	name := "ready"
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" && last != count(now) {
		name = "change"
	}

	if err := out.send(name, count(now), map[string]int64{"change": now}); err != nil {
		return nil // the client is gone
	}

	for {
		next, err := s.svc.Changes(ctx, &admin.ChangesRequest{Since: &now, WaitMS: int(heartbeat.Milliseconds())})
		switch {
		case revoked(ctx):
			// This case comes before the others, because a revoked token also ends ctx and fails Changes.
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
			err = out.send("change", count(now), map[string]int64{"change": now})
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
		// A slow client must not delay the work, so a new report replaces one that is not sent yet.
		select {
		case <-latest:
		default:
		}
		latest <- p
	})

	// A panic in this goroutine would end the process: the recovery of observe covers only the handler's own.
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

	// The goroutine uses the request, so the handler may not return before it.
	defer func() { cancel(); <-done }()

	for {
		select {
		case p := <-latest:
			if out.send("progress", "", p) != nil {
				// The deferred cancel ends the work.
				return nil
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
			// Fails only if the client is gone.
			_ = out.send("result", "", res)

			return nil
		}
	}
}
