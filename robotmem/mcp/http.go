package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Handler serves the tools over streamable HTTP. It keeps no transport
// sessions: every request stands alone, and an episode is named by its
// session_id. A client that initializes is given a session id all the same, so
// that its cancellations reach its own calls and nobody else's.
func (s *Server) Handler() http.Handler { return s.handler() }

func (s *Server) handler(more ...server.StreamableHTTPOption) http.Handler {
	h := server.NewStreamableHTTPServer(s.mcp, append([]server.StreamableHTTPOption{
		server.WithStateLess(true),
		// Nothing is pushed outside an answer: a GET stream would stay open
		// for nothing.
		server.WithDisableStreaming(true),
		// Host and Origin are checked where the handler is mounted, for every
		// route alike and with the operator's own host names.
		server.WithDisableLocalhostProtection(true),
		server.WithStreamableHTTPLogger(s.log),
	}, more...)...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			h.ServeHTTP(w, r)
			return
		}
		body, ok := s.body(w, r)
		if !ok {
			return
		}
		r = r.WithContext(r.Context()) // a copy, whose header may be changed
		if !s.inSession(w, r, body) {
			return
		}
		ctx, message := detach(r.Context(), body)
		ctx, failed := withFault(ctx)
		out := newReply(w, r, failed)
		defer out.close()
		r = r.WithContext(withNotifier(ctx, out))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
		h.ServeHTTP(out, r)
	})
}

// inSession names the session of a message. The library finds the call that a
// notifications/cancelled means by session and request id, and clients count
// their requests from 1: without a session of its own, a message could end the
// call of another client. False says that the message has been answered.
func (s *Server) inSession(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var head struct {
		Method mcp.MCPMethod `json:"method"`
	}
	_ = json.Unmarshal(body, &head) // what is no message the library refuses
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	switch {
	case modern && head.Method == mcp.MethodNotificationCancelled:
		// Without sessions it names no call; closing the request ends one.
		w.WriteHeader(http.StatusAccepted)
		return false
	case !modern && head.Method == mcp.MethodInitialize:
		w.Header().Set(server.HeaderKeySessionID, rand.Text())
	case !modern && r.Header.Get(server.HeaderKeySessionID) == "":
		r.Header = r.Header.Clone()
		r.Header.Set(server.HeaderKeySessionID, rand.Text())
	}
	return true
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
		if data, err := robotmem.EncodeJSON(s.tooLong(nil)); err == nil {
			_, _ = w.Write(data) // a caller that has gone needs no answer
		}
	}
	return nil, false
}
