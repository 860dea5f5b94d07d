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
func (s *stream) send(name string, id int64, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	if id != 0 {
		_, err = fmt.Fprintf(s.w, "id: %d\n", id)
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

type change struct {
	Change int64 `json:"change"`
}

// changed tells of every change of the memory, also by another process, until
// the caller goes or the server stops. The first event, ready, says where it
// begins; a browser that comes back with the last it has seen is told at once if
// it has missed some.
func (s *server) changed(c echo.Context) error {
	now, err := s.change(c.Request().Context(), 0, 0)
	if err != nil {
		return err
	}
	out, ctx, closing, err := s.open(c, "events")
	if err != nil {
		return err
	}
	defer closing()
	name := "ready"
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" && last != strconv.FormatInt(now, 10) {
		name = "change"
	}
	if err := out.send(name, now, change{now}); err != nil {
		return nil // the caller has gone
	}
	for {
		next, err := s.change(ctx, now, heartbeat)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			_ = out.send("problem", 0, s.problemOf(c.Request(), err))
			return nil
		case next == now:
			err = out.beat()
		default:
			now = next
			err = out.send("change", now, change{now})
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

// change is the memory's count of changes, as soon as it is not since.
func (s *server) change(ctx context.Context, since int64, wait time.Duration) (int64, error) {
	op := robotmem.OpByName("changes")
	if op == nil {
		return 0, &robotmem.Error{Op: "events", Kind: robotmem.Unavailable, Err: fmt.Errorf("this memory does not tell of its changes")}
	}
	req, err := json.Marshal(map[string]int64{"since": since, "wait_ms": wait.Milliseconds()})
	if err != nil {
		return 0, err
	}
	res, err := op.Call(ctx, s.svc, req)
	if err != nil {
		return 0, err
	}
	data, err := json.Marshal(res)
	if err != nil {
		return 0, err
	}
	var now change
	return now.Change, json.Unmarshal(data, &now)
}
