package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// exchange is one request and its answer, as the access log shows them.
type exchange struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration // of a reader that takes nothing
	body    *paced
	id      string
	token   string // the name of the token, "" for none
	status  int    // 0 until the answer has begun
	bytes   int64  // of the body
}

type exchangeKey struct{}

// exchangeOf is the exchange that the request is part of. Every request that
// came through the guards has one.
func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// observe gives each request its id, a line in the log and deadlines that move
// on with the bytes, and ends a panic in a handler with that request alone.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		x := &exchange{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.timeout, id: requestID(r)}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		w.Header().Set("X-Request-Id", x.id)
		// A page of another site may not even show a picture of ours.
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		x.body = s.paced(x, r)
		x.patience(0) // what the request before left behind
		defer func() {
			if x.status == 0 && x.body.err != nil {
				s.writeProblem(x, r, s.problemOf(r, x.body.err))
			}
			// For what is still in buffers, and goes out after net/http has waited
			// for a body that nobody read.
			x.patience(2 * x.timeout)
			s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", logged(r.Method)), slog.String("path", logged(r.URL.Path)), slog.Int("status", x.answered()),
				slog.Int64("bytes", x.bytes), slog.Int64("ms", time.Since(began).Milliseconds()),
				slog.String("id", x.id), slog.String("token", x.token))
		}()
		defer s.recoverPanic(x, r)
		next.ServeHTTP(x, r)
	})
}

// maxLogged bounds what callers write into the log, in bytes; a path may be as
// long as a whole head.
const maxLogged = 256

func logged(text string) string { return text[:min(len(text), maxLogged)] }

// maxRequestID bounds the ids that callers choose, in bytes.
const maxRequestID = 64

// requestID is the caller's own id if it can stand in a log as it is.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > maxRequestID {
		return rand.Text()
	}
	for _, c := range []byte(id) {
		if !plainByte(c) {
			return rand.Text()
		}
	}
	return id
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

func (s *server) recoverPanic(x *exchange, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // net/http's own way to drop a connection
	}
	err := s.panicked(r, v)
	if x.status != 0 {
		panic(http.ErrAbortHandler) // half an answer must not look like a whole one
	}
	s.writeProblem(x, r, s.problemOf(r, err))
}

// panicked logs a panic, whose value it was, and returns what is answered.
func (s *server) panicked(r *http.Request, v any) error {
	s.log.Error("panic in a handler", "method", r.Method, "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
	return &robotmem.Error{Kind: robotmem.Internal, Err: fmt.Errorf("panic: %v", v)}
}

// answered is the status that the caller sees.
func (x *exchange) answered() int {
	if x.status == 0 {
		return http.StatusOK
	}
	return x.status
}

// piece is how much of an answer its reader has to take within one timeout.
const piece = 64 << 10

// Unwrap serves http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(code int) {
	if x.status == 0 && code >= http.StatusOK {
		x.status = code
	}
	x.ResponseWriter.WriteHeader(code)
}

// Write implements io.Writer. A reader may be slow, but not stand still: each
// piece of a long answer has a deadline of its own.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	defer x.patience(0)
	written := 0
	for {
		x.patience(x.timeout)
		n, err := x.ResponseWriter.Write(p[written:min(written+piece, len(p))])
		written += n
		x.bytes += int64(n)
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// FlushError sends what is in buffers.
func (x *exchange) FlushError() error {
	defer x.patience(0)
	x.patience(x.timeout)
	return x.control.Flush()
}

// patience sets how long what is written next may take; 0 is for ever. It is
// lifted between writes: over HTTP/2 a deadline ends an answer also while its
// handler still works on it.
func (x *exchange) patience(d time.Duration) {
	deadline := time.Time{}
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	_ = x.control.SetWriteDeadline(deadline) // a test's recorder has none
}
