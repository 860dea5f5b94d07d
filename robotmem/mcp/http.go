package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/server"
)

// Handler serves the tools over streamable HTTP. It keeps no transport
// sessions: every request stands alone, and an episode is named by its
// session_id.
func (s *Server) Handler() http.Handler {
	h := server.NewStreamableHTTPServer(s.mcp,
		server.WithStateLess(true),
		// The tools never change and nothing is pushed: a GET stream would
		// stay open for nothing.
		server.WithDisableStreaming(true),
		// Host and Origin are checked where the handler is mounted, for every
		// route alike and with the operator's own host names.
		server.WithDisableLocalhostProtection(true),
		server.WithStreamableHTTPLogger(s.log),
	)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, ok := s.body(w, r)
			if !ok {
				return
			}
			ctx, message := detach(r.Context(), body)
			ctx, failed := withFault(ctx)
			answer := &mending{ResponseWriter: w, fault: failed}
			defer answer.close()
			w = answer
			r = r.WithContext(ctx)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
		}
		h.ServeHTTP(w, r)
	})
}

// body reads the body up to the limit, which the library does not have. What
// goes wrong is answered here.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	limit := int64(s.maxMessage)
	tooLarge := r.ContentLength > limit
	if !tooLarge {
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit)); err == nil {
			return body, true
		}
		tooLarge = errors.As(err, new(*http.MaxBytesError))
	}
	if tooLarge {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		if data, err := encode(s.tooLong(nil)); err == nil {
			_, _ = w.Write(data) // a caller that has gone needs no answer
		}
	}
	return nil, false
}
