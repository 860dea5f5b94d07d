package attach

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	keptWarnings = 100 // and as many incidents
	// Subscribers that read more slowly than this many events come lose the oldest ones.
	backlog   = 64
	keepAlive = 15 * time.Second
)

// Hub keeps the last warnings and incidents and serves them over HTTP:
//
//	GET /warnings    the last 100 as JSON, the newest last
//	GET /incidents   the same of incidents
//	GET /events      both as they come: server-sent events called warning and incident, with the JSON as
//	                 their data
//
// The zero value is ready. Its methods may be called from several goroutines.
type Hub struct {
	mu          sync.Mutex
	warnings    []Warning
	incidents   []Incident
	subscribers map[chan event]bool
}

// event is one on its way to a subscriber.
type event struct {
	name string
	data []byte
}

// Warning adds a warning, as [Options.OnWarning].
func (h *Hub) Warning(w Warning) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.warnings = append(h.warnings[max(0, len(h.warnings)-keptWarnings+1):], w)
	h.send("warning", w)
}

// Incident adds an incident, as [Options.OnIncident].
func (h *Hub) Incident(i Incident) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents = append(h.incidents[max(0, len(h.incidents)-keptWarnings+1):], i)
	h.send("incident", i)
}

// send hands an event to all subscribers, and waits for none.
func (h *Hub) send(name string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		return
	}

	for c := range h.subscribers {
		select {
		case c <- event{name, data}:
			continue
		default:
		}

		// The oldest one makes room, unless the subscriber has just taken it. Only this goroutine sends.
		select {
		case <-c:
		default:
		}
		c <- event{name, data}
	}
}

// ServeHTTP implements [http.Handler].
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is known here", http.StatusMethodNotAllowed)
		return
	}
	// A page of another origin could otherwise name this address and read what the robot does.
	if origin := r.Header.Get("Origin"); origin != "" && !strings.HasSuffix(origin, "//"+r.Host) {
		http.Error(w, "pages of other origins may not read this", http.StatusForbidden)
		return
	}

	switch strings.TrimSuffix(r.URL.Path, "/") {
	case "/warnings":
		h.mu.Lock()
		defer h.mu.Unlock()
		writeJSON(w, map[string]any{"warnings": append([]Warning{}, h.warnings...)})
	case "/incidents":
		h.mu.Lock()
		defer h.mu.Unlock()
		writeJSON(w, map[string]any{"incidents": append([]Incident{}, h.incidents...)})
	case "/events":
		h.stream(w, r)
	default:
		http.Error(w, "there are /warnings, /incidents and /events", http.StatusNotFound)
	}
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(value) // the client has gone
}

// stream sends events until the client leaves.
func (h *Hub) stream(w http.ResponseWriter, r *http.Request) {
	c := make(chan event, backlog)
	h.mu.Lock()
	if h.subscribers == nil {
		h.subscribers = map[chan event]bool{}
	}
	h.subscribers[c] = true
	h.mu.Unlock()

	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subscribers, c)
	}()

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	if flush.Flush() != nil {
		return
	}

	for {
		var err error

		select {
		case <-r.Context().Done():
			return
		case e := <-c:
			_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, e.data)
		case <-alive.C:
			_, err = fmt.Fprint(w, ":\n\n")
		}
		if err != nil || flush.Flush() != nil {
			return
		}
	}
}
