package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Handler serves the tools over streamable HTTP. It keeps no transport sessions: every request
// stands alone, and an episode is named by its session_id. A client that initializes still gets a
// session id, so that its cancellations reach only its own calls.
func (s *Server) Handler() http.Handler { return s.handler() }

// handler takes further options, with which the library may keep sessions that it names itself.
func (s *Server) handler(more ...server.StreamableHTTPOption) http.Handler {
	h := server.NewStreamableHTTPServer(s.mcp, append([]server.StreamableHTTPOption{
		server.WithStateLess(true),
		// The server sends nothing outside of an answer, so a GET stream has no use.
		server.WithDisableStreaming(true),
		// Package web checks Host and Origin of every route, with the operator's own host names.
		server.WithDisableLocalhostProtection(true),
		server.WithStreamableHTTPLogger(s.log),
	}, more...)...)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Only POST carries messages. A DELETE ends a session, which must be one of the caller.
		if r.Method != http.MethodPost {
			if len(more) == 0 && r.Header.Get(server.HeaderKeySessionID) != "" {
				if r = r.WithContext(r.Context()); !s.enterSession(w, r) {
					return
				}
			}
			h.ServeHTTP(w, r)

			return
		}

		body, ok := s.body(w, r)
		if !ok {
			return
		}

		m, ok := openMessage(body)
		if !ok {
			refuse(w, s.envelopeTooLarge(nil))
			return
		}

		// Copy the request, because assignSession changes its header.
		r = r.WithContext(r.Context())
		if len(more) == 0 && !s.assignSession(w, r, m.envelope) {
			return
		}

		x := &exchange{arguments: m.arguments}
		out := &reply{
			ResponseWriter: w,
			correction:     &x.correction,
			streams:        strings.Contains(r.Header.Get("Accept"), eventStream),
		}
		defer out.close()

		x.notifier = out
		r = r.WithContext(x.in(r.Context()))

		// The library sees only the envelope. The arguments of the call are in the exchange.
		r.Body = io.NopCloser(bytes.NewReader(m.envelope))
		r.ContentLength = int64(len(m.envelope))
		h.ServeHTTP(out, r)
	})
}

// assignSession gives a message without a session its own session id. The library finds the call that
// a notifications/cancelled means by session and request id, and clients count their requests
// from 1: without the session id, a message could cancel the call of another client. assignSession
// returns false if it has answered the message.
func (s *Server) assignSession(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var head struct {
		Method mcp.MCPMethod `json:"method"`
	}
	// The method stays empty for a body of another form, which the library refuses.
	_ = json.Unmarshal(body, &head)

	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	switch {
	case modern && head.Method == mcp.MethodNotificationCancelled:
		// This protocol has no sessions, so the message names no call. A client closes the request instead.
		w.WriteHeader(http.StatusAccepted)
		return false
	case !modern && head.Method == mcp.MethodInitialize:
		id := rand.Text()
		s.opened.Add(id, callerKey(r.Context()))
		w.Header().Set(server.HeaderKeySessionID, id)
	case !modern && r.Header.Get(server.HeaderKeySessionID) == "":
		r.Header = r.Header.Clone()
		r.Header.Set(server.HeaderKeySessionID, rand.Text())
	case !modern:
		return s.enterSession(w, r)
	}

	return true
}

// knownSessions is how many sessions have a known owner. A session that is forgotten, or that another process has
// opened, has none: each caller that names it has a session of that name for itself.
const knownSessions = 10_000

// enterSession lets a message into a session of its own caller only, and answers 404 to others, as to a session
// that does not exist. The library gets a name that depends on the caller too, so that no caller meets the
// calls of another one in a session without a known owner either.
func (s *Server) enterSession(w http.ResponseWriter, r *http.Request) bool {
	id, key := r.Header.Get(server.HeaderKeySessionID), callerKey(r.Context())
	if owner, known := s.opened.Get(id); known && subtle.ConstantTimeCompare(owner[:], key[:]) == 0 {
		http.Error(w, "there is no such session; initialize one", http.StatusNotFound)
		return false
	}
	sum := sha256.Sum256(append(key[:], id...))
	r.Header = r.Header.Clone()
	r.Header.Set(server.HeaderKeySessionID, hex.EncodeToString(sum[:]))

	return true
}

// callerKey returns a key that differs for callers with different tokens. All callers without a token have the same
// key.
func callerKey(ctx context.Context) [sha256.Size]byte {
	c := robotmem.CallerOf(ctx)

	// %q keeps the boundaries between the texts, so that no two callers give the same bytes.
	key := fmt.Appendf(nil, "%q %q %q %q %q %t", c.Tenant, c.Who, c.Role, c.Robot, c.Collections, c.ReadOnly)

	return sha256.Sum256(key)
}

// body reads the body up to the limit, which the library does not have. It
// returns false if it has answered the request.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	limit := int64(s.maxMessage)

	// Package web has read the body already. A copy would double the memory that a large message takes.
	if held, ok := r.Body.(interface{ Bytes() []byte }); ok && r.ContentLength <= limit {
		return held.Bytes(), true
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if errors.As(err, new(*http.MaxBytesError)) {
		refuse(w, s.messageTooLong())
	}

	return body, err == nil
}

// refuse answers a message that is too large.
func refuse(w http.ResponseWriter, answer mcp.JSONRPCError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	if data, err := robotmem.EncodeJSON(answer); err == nil {
		// Fails only if the client is gone.
		_, _ = w.Write(data)
	}
}

const eventStream = "text/event-stream"

// reply writes the response to one message. The response is a JSON document. From the first
// notification on, it is a stream of events whose last event is the result. The library would send
// notifications from another goroutine: when the call ends at that moment, the last of them would be
// lost or come after the result. The body of an answer with a correction is held back until close.
type reply struct {
	http.ResponseWriter
	correction *correction
	streams    bool // the client accepts a stream of events

	mu     sync.Mutex // guards the fields below, and the order of writes
	begun  bool       // the header is written
	events bool       // notify has begun a stream of events
	raw    bool       // the library writes events itself
	ended  bool
	held   bytes.Buffer // the body that close writes
}

// notify sends a notification before the result, if the client accepts events.
func (r *reply) notify(n mcp.JSONRPCNotification) {
	r.mu.Lock()
	defer r.mu.Unlock()

	// A notification cannot follow a JSON document that has begun.
	if !r.streams || r.ended || r.begun && !r.events && !r.raw {
		return
	}

	data, err := robotmem.EncodeJSON(n)
	if err != nil {
		return
	}

	if !r.begun {
		r.Header().Set("Content-Type", eventStream)
		r.Header().Set("Cache-Control", "no-cache")
		r.ResponseWriter.WriteHeader(http.StatusOK)
		r.begun, r.events = true, true
	}
	r.event(data)
}

// event writes one message.
func (r *reply) event(data []byte) {
	// Fails only if the client is gone.
	_, _ = fmt.Fprintf(r.ResponseWriter, "event: message\ndata: %s\n\n", data)
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

func (r *reply) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = r.Header().Get("Content-Type") == eventStream
	if !r.begun {
		r.begun = true
		r.ResponseWriter.WriteHeader(cmp.Or(r.correction.status, status))
	}
}

func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.raw || r.correction.isEmpty() && !r.events {
		r.begun = true
		return r.ResponseWriter.Write(p)
	}

	return r.held.Write(p)
}

// Flush lets the library begin a stream of its own, for requests to the client.
func (r *reply) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

// close writes the body that was held back, with its correction.
func (r *reply) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	body := bytes.TrimSpace(r.held.Bytes())
	if len(body) == 0 {
		return
	}

	if !r.correction.isEmpty() {
		body = r.correction.applyTo(body)
	}
	if r.events {
		r.event(body)
		return
	}
	_, _ = r.ResponseWriter.Write(body)
}
