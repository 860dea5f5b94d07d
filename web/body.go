package web

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	bodyTimeout = 30 * time.Second
	// bodyRate is the least that a body has to bring on average, in bytes a
	// second, once bodyTimeout has passed.
	bodyRate = 1 << 10
	// strangerTimeout is bodyTimeout for who has not shown a token yet: whoever
	// is refused, or only logs in, holds no connection for long.
	strangerTimeout = 2 * time.Second
)

// errSlowBody is a body that stopped coming.
var errSlowBody = errors.New("the request body came too slowly")

// paced is a request body with a deadline that moves on with the bytes: none of
// its reads may wait longer than the timeout, nor may all of them together wait
// longer than the timeout and a second for each bodyRate bytes. An upload of any
// size passes over a slow link, and nobody holds a connection with a trickle.
type paced struct {
	io.ReadCloser
	control *http.ResponseController
	timeout time.Duration
	read    int64
	waited  time.Duration
	err     error // why it ended too soon
}

// paced puts the body of r under deadlines and, unless it is an upload, under
// the limit of bytes.
func (s *server) paced(x *exchange, r *http.Request) *paced {
	p := &paced{ReadCloser: r.Body, control: x.control}
	p.trust(min(s.timeout, strangerTimeout))
	if p.none() {
		return p
	}
	r.Body = p
	if !isUpload(r) {
		r.Body = http.MaxBytesReader(x, p, s.maxBody)
	}
	return p
}

func (p *paced) none() bool { return p.ReadCloser == nil || p.ReadCloser == http.NoBody }

// trust gives the body that timeout from now on, also if nobody reads it.
func (p *paced) trust(timeout time.Duration) {
	p.timeout = timeout
	if !p.none() {
		_ = p.control.SetReadDeadline(time.Now().Add(timeout)) // a test's recorder has none
	}
}

// isUpload reports whether the body is a form, which streams to where the
// payload is kept: the memory says how large that may be.
func isUpload(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "multipart/form-data" && r.URL.Path == uploadPath
}

// uploadPath is the route that takes payloads as they are.
var uploadPath = robotmem.OpByName("save_perception").Path()

// Read implements io.Reader. The deadline ends with the body: net/http lifts it
// when it has read the last byte.
func (p *paced) Read(b []byte) (int, error) {
	began := time.Now()
	left := p.timeout + time.Duration(p.read)*time.Second/bodyRate - p.waited
	_ = p.control.SetReadDeadline(began.Add(min(p.timeout, left)))
	n, err := p.ReadCloser.Read(b)
	p.read += int64(n)
	p.waited += time.Since(began)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%w; send at least %d bytes a second, without a pause of %v", errSlowBody, bodyRate, p.timeout)
		p.err = &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	return n, err
}

// limited refuses a body that says itself that it is too long.
func (s *server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > s.maxBody && !isUpload(r) {
			w.Header().Set("Connection", "close") // rather than read on
			s.writeProblem(w, r, s.problemOf(r, s.tooLarge("")))
			return
		}
		next.ServeHTTP(w, r)
	})
}
