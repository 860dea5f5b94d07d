package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// status is the HTTP status of each kind of error.
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

// refusal is an error with a status of its own, whatever its kind.
type refusal struct {
	status int
	why    string
	wait   time.Duration // before the next attempt, 0 if that is not limited
}

func (e *refusal) Error() string { return e.why }

// problem is an error as a problem document (RFC 9457), with the fields of a robotmem.Error.
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

// internalDetail takes the place of internal causes, which may hold SQL or a path.
const internalDetail = "internal error; the node's log has the cause"

// ProblemJSON is the problem document of an error, as a route answers it.
func ProblemJSON(err error) []byte {
	// Encoding cannot fail: every field is a text or a number.
	data, _ := encode(problemDocument(err))
	return data
}

// fail answers err as a problem document. It is echo's error handler.
func (s *server) fail(err error, c echo.Context) {
	// The status has been sent, so the client can only see that the answer ends.
	if c.Response().Committed {
		s.log.Warn("answer incomplete", "path", c.Path(), "err", err)
		return
	}
	// The operation was cancelled, and its own error would name the wrong reason.
	if revoked(c.Request().Context()) {
		s.refuseToken(c.Response(), c.Request(), errWrongToken)
		return
	}
	s.writeProblem(c.Response(), c.Request(), s.problemOf(c.Request(), err))
}

func (s *server) problemOf(r *http.Request, err error) problem {
	if routing := (*echo.HTTPError)(nil); errors.As(err, &routing) {
		return routingProblem(r, routing.Code)
	}

	p := problemDocument(err)
	if p.Status == http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "op", p.Op, "kind", robotmem.KindOf(err), "err", err)
	}

	return p
}

func problemDocument(err error) problem {
	e := &robotmem.Error{Kind: robotmem.Internal, Err: err}
	errors.As(err, &e)
	code := cmp.Or(status[e.Kind], http.StatusInternalServerError)
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		code = refused.status
	}

	p := newProblem(code, e.Kind, e.Detail())
	p.Field = e.Field
	p.Op = e.Op

	// The text of an internal error may hold SQL or a path, so it goes to the log only.
	if status[e.Kind] == 0 || e.Kind == robotmem.Internal {
		p.Kind, p.Field, p.Detail = robotmem.Internal, "", internalDetail
	}

	return p
}

// routingProblem returns the problem of a request that no route takes.
func routingProblem(r *http.Request, code int) problem {
	switch code {
	case http.StatusNotFound:
		return newProblem(code, robotmem.NotFound, "no such route; /api/reference shows them")
	case http.StatusMethodNotAllowed:
		detail := fmt.Sprintf("this route does not accept %.20s; the Allow header lists the methods", r.Method)
		return newProblem(code, robotmem.Invalid, detail)
	}

	return newProblem(code, robotmem.Internal, internalDetail)
}

func newProblem(code int, kind robotmem.Kind, detail string) problem {
	return problem{Type: "about:blank", Title: http.StatusText(code), Status: code, Kind: kind, Detail: detail}
}

func (s *server) writeProblem(w http.ResponseWriter, r *http.Request, p problem) {
	p.ID = w.Header().Get("X-Request-Id")
	// Encoding cannot fail: every field is a text or a number.
	data, _ := encode(p)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		// Fails only if the client is gone.
		_, _ = w.Write(data)
	}
}

// answer writes v. If err is not nil, it returns err for the error handler instead.
func answer(c echo.Context, v any, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(c, v)
}

// writeJSON answers v. It encodes all of v before it writes the first byte, so that
// an encoding error can still be answered as a problem.
func writeJSON(c echo.Context, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	c.Response().Header().Set("X-Content-Type-Options", "nosniff")
	c.Response().Header().Set("Content-Type", "application/json")
	compressed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		// Fails only if the client is gone.
		_, _ = w.Write(data)
	})).ServeHTTP(c.Response(), c.Request())

	return nil
}

// minGzip is the smallest answer that is compressed, in bytes. A smaller one fits
// into one packet anyway.
const minGzip = 1400

// compressed compresses the answers of a handler for clients that accept gzip. The
// compressor is stateless, because one with a window needs almost 1 MB for each answer.
//
// NewWrapper fails only for other options.
var compressed, _ = gzhttp.NewWrapper(gzhttp.MinSize(minGzip), gzhttp.CompressionLevel(gzip.StatelessCompression))

// encode returns v as one line of JSON.
func encode(v any) ([]byte, error) {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	return append(robotmem.VisibleJSON(data), '\n'), nil
}

// accepts reports whether the Accept header names mediaType.
func accepts(r *http.Request, mediaType string) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), mediaType) {
			return true
		}
	}

	return false
}
