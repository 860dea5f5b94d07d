package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// exchange holds a request and its answer, for the access log and the time limits.
type exchange struct {
	http.ResponseWriter
	control  *http.ResponseController
	timeout  time.Duration // of a client that reads nothing
	body     *pacedBody
	id       string
	token    Token    // the zero Token without one
	status   int      // 0 before the answer begins
	bytes    int64    // of the answer's body
	releases []func() // release the memory of the request
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a request. observe gives each request one.
func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// observe gives each request its id, a line in the log, and deadlines that move with
// the bytes. A panic in a handler ends only its request.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		x := &exchange{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.timeout, id: rand.Text()}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		w.Header().Set("X-Request-Id", x.id)
		// Pages of other sites must not embed even a picture of this node.
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")

		// A client gets the full timeout only after its token was accepted.
		x.body = &pacedBody{ReadCloser: r.Body, control: x.control, rate: bodyRate}
		x.body.setTimeout(min(s.timeout, anonymousTimeout))
		if !x.body.none() {
			r.Body = x.body
		}

		// The previous request of the connection may have left a deadline.
		x.setWriteTimeout(0)
		defer func() {
			for _, release := range x.releases {
				release()
			}

			// The handler may have ignored the error of the body.
			if x.status == 0 && x.body.err != nil {
				s.writeProblem(x, r, s.problemOf(r, x.body.err))
			}

			// net/http sends the rest of its buffers after the handler, and may wait
			// for an unread body before.
			x.setWriteTimeout(2 * x.timeout)
			s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", logged(r.Method)),
				slog.String("path", logged(r.URL.Path)),
				slog.Int("status", cmp.Or(x.status, http.StatusOK)),
				slog.Int64("bytes", x.bytes),
				slog.Int64("ms", time.Since(began).Milliseconds()),
				slog.String("id", x.id),
				slog.String("token", x.token.Name))
		}()

		// Deferred last, so that it runs first and the log line has the status of the problem.
		defer s.recoverPanic(x, r)
		next.ServeHTTP(x, r)
	})
}

// maxLogged is the length of a method or a path in the log, in bytes. A client may
// send much longer ones.
const maxLogged = 256

func logged(text string) string { return text[:min(len(text), maxLogged)] }

func (s *server) recoverPanic(x *exchange, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		// This panic tells net/http to close the connection.
		panic(v)
	}

	err := s.panicked(r, v)
	if x.status != 0 {
		// A part of an answer must not look complete.
		panic(http.ErrAbortHandler)
	}
	s.writeProblem(x, r, s.problemOf(r, err))
}

// panicked logs the panic with value v and returns the error to answer.
func (s *server) panicked(r *http.Request, v any) error {
	s.log.Error("panic in a handler", "method", r.Method, "path", r.URL.Path, "panic", v, "stack",
		string(debug.Stack()))
	return &robotmem.Error{Kind: robotmem.Internal, Err: fmt.Errorf("panic: %v", v)}
}

// chunkSize is how many bytes of an answer a client must read within one timeout.
const chunkSize = 64 << 10

// Unwrap implements the interface that http.ResponseController looks for.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

func (x *exchange) WriteHeader(code int) {
	if x.status == 0 && code >= http.StatusOK {
		x.status = code
	}
	x.ResponseWriter.WriteHeader(code)
}

// Write implements io.Writer. Each chunk of a long answer has its own deadline, so a
// client may read slowly but must not stop.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	defer x.setWriteTimeout(0)
	written := 0

	for {
		x.setWriteTimeout(x.timeout)
		n, err := x.ResponseWriter.Write(p[written:min(written+chunkSize, len(p))])
		written += n
		x.bytes += int64(n)
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// FlushError sends the buffers.
func (x *exchange) FlushError() error {
	defer x.setWriteTimeout(0)
	x.setWriteTimeout(x.timeout)
	return x.control.Flush()
}

// setWriteTimeout sets the time limit of the next write, 0 for none. There is none between
// writes, because over HTTP/2 a deadline ends an answer even while the handler still works on it.
func (x *exchange) setWriteTimeout(d time.Duration) {
	deadline := time.Time{}
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	// A recorder in tests has none.
	_ = x.control.SetWriteDeadline(deadline)
}

const (
	bodyTimeout = 30 * time.Second
	// bodyRate is the minimum average speed of a body in bytes per second, after
	// bodyTimeout has passed.
	bodyRate = 1 << 10
	// anonymousTimeout takes the place of bodyTimeout before a request has shown a
	// token, so that refused clients do not hold connections for long.
	anonymousTimeout = 2 * time.Second
)

// errSlowBody means that the client stopped sending the body.
var errSlowBody = &refusal{status: http.StatusRequestTimeout, why: "the request body came too slowly"}

// pacedBody is a request body with a deadline that moves with the bytes: no read may
// wait longer than the timeout, and all reads together may not wait longer than the
// timeout plus one second for each rate bytes. So an upload of any size can use
// a slow link, but a client cannot hold a connection by sending single bytes.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	timeout time.Duration
	rate    int64 // minimum average speed in bytes per second
	read    int64 // bytes since the rate was set
	waited  time.Duration
	err     error // why the body ended early, nil if it did not
}

func (p *pacedBody) none() bool { return p.ReadCloser == nil || p.ReadCloser == http.NoBody }

// setTimeout sets the timeout of the body, also if the handler does not read it.
func (p *pacedBody) setTimeout(timeout time.Duration) {
	p.timeout = timeout
	if !p.none() {
		// A recorder in tests has none.
		_ = p.control.SetReadDeadline(time.Now().Add(timeout))
	}
}

// setRate sets another rate for the rest of the body.
func (p *pacedBody) setRate(rate int64) { p.rate, p.read, p.waited = rate, 0, 0 }

// Read implements io.Reader. net/http removes the deadline after the last byte of the body.
func (p *pacedBody) Read(b []byte) (int, error) {
	began := time.Now()

	// The time that is left counts only waiting for the client, not the work of the handler between two reads.
	left := p.timeout + time.Duration(p.read)*time.Second/time.Duration(p.rate) - p.waited
	_ = p.control.SetReadDeadline(began.Add(min(p.timeout, left)))
	n, err := p.ReadCloser.Read(b)
	p.read += int64(n)
	p.waited += time.Since(began)

	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%w; send at least %d bytes a second, without a pause of %v", errSlowBody, p.rate, p.timeout)
		p.err = &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	return n, err
}
