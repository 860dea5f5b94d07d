package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// status maps every kind to the status it is answered with.
var status = map[robotmem.Kind]int{
	robotmem.Invalid:     http.StatusBadRequest,
	robotmem.Forbidden:   http.StatusForbidden,
	robotmem.NotFound:    http.StatusNotFound,
	robotmem.Conflict:    http.StatusConflict,
	robotmem.TooLarge:    http.StatusRequestEntityTooLarge,
	robotmem.Unavailable: http.StatusServiceUnavailable,
	robotmem.Corrupt:     http.StatusInternalServerError,
	robotmem.Internal:    http.StatusInternalServerError,
}

// problem is an error on the wire: a problem document of RFC 9457, with the
// parts of a robotmem.Error.
type problem struct {
	Type   string        `json:"type"`
	Title  string        `json:"title"`
	Status int           `json:"status"`
	Kind   robotmem.Kind `json:"kind"`
	Field  string        `json:"field,omitempty"`
	Detail string        `json:"detail"`
	Op     string        `json:"op,omitempty"`
	ID     string        `json:"request_id,omitempty"`
}

// internalDetail stands for causes that are not the caller's business.
const internalDetail = "internal error; the node's log has the cause"

// fail answers err as a problem document. It is echo's error handler.
func (s *server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		s.log.Warn("answer cut short", "path", c.Path(), "err", err)
		return
	}
	s.writeProblem(c.Response(), c.Request(), s.problemOf(c.Request(), err))
}

func (s *server) problemOf(r *http.Request, err error) problem {
	if routing := (*echo.HTTPError)(nil); errors.As(err, &routing) {
		return routingProblem(r, routing.Code)
	}
	e := &robotmem.Error{Kind: robotmem.Internal, Err: err}
	errors.As(err, &e)
	often := (*busy)(nil)
	switch {
	case errors.Is(err, errNoToken), errors.Is(err, errWrongToken):
		return newProblem(http.StatusUnauthorized, robotmem.Forbidden, err.Error())
	case errors.As(err, &often):
		return newProblem(http.StatusTooManyRequests, robotmem.Unavailable, err.Error())
	}
	code, known := status[e.Kind]
	if !known {
		code = http.StatusInternalServerError
	}
	if errors.Is(err, errMediaType) {
		code = http.StatusUnsupportedMediaType
	}
	if errors.Is(err, errSlowBody) {
		code = http.StatusRequestTimeout
	}
	p := newProblem(code, e.Kind, e.Detail())
	p.Field, p.Op = e.Field, e.Op
	if !known || e.Kind == robotmem.Internal {
		p.Kind, p.Field, p.Detail = robotmem.Internal, "", internalDetail
	}
	if code == http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "op", e.Op, "kind", e.Kind, "err", err)
	}
	return p
}

// routingProblem is what no operation has seen.
func routingProblem(r *http.Request, code int) problem {
	switch code {
	case http.StatusNotFound:
		return newProblem(code, robotmem.NotFound, "no such route; GET / lists them")
	case http.StatusMethodNotAllowed:
		return newProblem(code, robotmem.Invalid, fmt.Sprintf("this route does not take %.20s; the Allow header names what it takes", r.Method))
	}
	return newProblem(code, robotmem.Internal, internalDetail)
}

func newProblem(code int, kind robotmem.Kind, detail string) problem {
	return problem{Type: "about:blank", Title: http.StatusText(code), Status: code, Kind: kind, Detail: detail}
}

func (s *server) writeProblem(w http.ResponseWriter, r *http.Request, p problem) {
	p.ID = w.Header().Get("X-Request-Id")
	data, err := encode(p)
	if err != nil { // unreachable: every field is text or a number
		s.log.Error("encoding a problem", "err", err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // a caller that has gone needs no answer
	}
}

// writeJSON answers v, which is encoded whole before the first byte goes out,
// so that an encoding error is still a problem and not half an answer.
func writeJSON(c echo.Context, code int, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	c.Response().Header().Set("X-Content-Type-Options", "nosniff")
	return c.Blob(code, "application/json", squeeze(c.Response(), c.Request(), data))
}

// encode is an answer as one line of JSON.
func encode(v any) ([]byte, error) {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// accepts reports whether the caller asks for mediaType by name.
func accepts(r *http.Request, mediaType string) bool {
	for _, header := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), mediaType) {
				return true
			}
		}
	}
	return false
}
