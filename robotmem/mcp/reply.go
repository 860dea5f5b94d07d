package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The library hands notifications to a goroutine that writes them beside the
// call: the last of them are lost, or come after the result, when the call ends
// at the same moment. So they are written here, within the call.

const eventStream = "text/event-stream"

// reply is the response to one message over HTTP. It is one JSON document, or
// from the first notification on a stream of events of which the result is the
// last. The body of a request that failed is held back, so that the right code
// can be put into it.
type reply struct {
	http.ResponseWriter
	fault   *fault
	streams bool // the caller takes a stream of events

	mu     sync.Mutex // guards everything below, and the order on the wire
	begun  bool       // the header is out
	events bool       // as a stream of events, begun by notify
	raw    bool       // the library writes events itself
	ended  bool
	held   bytes.Buffer // what waits for close
}

func newReply(w http.ResponseWriter, r *http.Request, f *fault) *reply {
	return &reply{ResponseWriter: w, fault: f, streams: strings.Contains(r.Header.Get("Accept"), eventStream)}
}

// notify sends a notification ahead of the result, to a caller that takes it.
func (r *reply) notify(n mcp.JSONRPCNotification) {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// event writes one message; a caller that has gone needs none.
func (r *reply) event(data []byte) {
	_, _ = fmt.Fprintf(r.ResponseWriter, "event: message\ndata: %s\n\n", data)
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

func (r *reply) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = r.Header().Get("Content-Type") == eventStream
	if !r.begun {
		r.begun = true
		r.ResponseWriter.WriteHeader(cmp.Or(r.fault.status, status))
	}
}

func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.raw || r.fault.code == 0 && !r.events {
		r.begun = true
		return r.ResponseWriter.Write(p)
	}
	return r.held.Write(p)
}

// Flush lets the library begin a stream of its own, for what asks something of
// the client.
func (r *reply) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

// close sends what was held back.
func (r *reply) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	body := bytes.TrimSpace(r.held.Bytes())
	if len(body) == 0 {
		return
	}
	// The library's own type does not read every id that it writes.
	var failed struct {
		JSONRPC string                  `json:"jsonrpc"`
		ID      json.RawMessage         `json:"id"`
		Error   mcp.JSONRPCErrorDetails `json:"error"`
	}
	if r.fault.code != 0 && json.Unmarshal(body, &failed) == nil {
		failed.Error.Code = r.fault.code
		if mended, err := robotmem.EncodeJSON(failed); err == nil {
			body = mended
		}
	}
	if r.events {
		r.event(body)
		return
	}
	_, _ = r.ResponseWriter.Write(body)
}
