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

// Handler serves the tools over streamable HTTP. It keeps no transport sessions:
// every request stands alone, and an episode is named by its session_id. A client
// that initializes still gets a session id, so that its cancellations reach only
// its own calls.
func (s *Server) Handler() http.Handler { return s.handler() }

func (s *Server) handler(more ...server.StreamableHTTPOption) http.Handler {
	h := server.NewStreamableHTTPServer(s.mcp, append([]server.StreamableHTTPOption{
		server.WithStateLess(true),
		// The server sends nothing outside of an answer, so a GET stream has no
		// use.
		server.WithDisableStreaming(true),
		// Package web checks Host and Origin of every route, with the operator's
		// own host names.
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
		m, ok := openMessage(body)
		if !ok {
			refuse(w, s.tooWide(nil))
			return
		}
		r = r.WithContext(m.in(r.Context()))
		if !s.inSession(w, r, m.envelope) {
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(m.envelope)), int64(len(m.envelope))
		h.ServeHTTP(w, r)
	})
}

// inSession gives a message without a session its own session id. The library
// finds the call that a notifications/cancelled means by session and request id,
// and clients count their requests from 1: without the session id, a message
// could cancel the call of another client. inSession returns false if it has
// answered the message.
func (s *Server) inSession(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var head struct {
		Method mcp.MCPMethod `json:"method"`
	}
	_ = json.Unmarshal(body, &head) // the library refuses a body of another form
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	switch {
	case modern && head.Method == mcp.MethodNotificationCancelled:
		// Without sessions it names no call. A client closes the request instead.
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

// body reads the body up to the limit, which the library does not have. It
// returns false if it has answered the request.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	limit := int64(s.maxMessage)
	if held, ok := r.Body.(interface{ Bytes() []byte }); ok && r.ContentLength <= limit {
		return held.Bytes(), true // package web has read it
	}
	tooLarge := r.ContentLength > limit
	if !tooLarge {
		var read bytes.Buffer // copies a long body less often than io.ReadAll
		_, err := read.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
		if err == nil {
			return read.Bytes(), true
		}
		tooLarge = errors.As(err, new(*http.MaxBytesError))
	}
	if tooLarge {
		refuse(w, s.tooLong())
	}
	return nil, false
}

// refuse answers a message that is too large.
func refuse(w http.ResponseWriter, answer mcp.JSONRPCError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	if data, err := robotmem.EncodeJSON(answer); err == nil {
		_, _ = w.Write(data) // fails only if the client is gone
	}
}
