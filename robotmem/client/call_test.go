package client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

func TestProgressIsFollowed(t *testing.T) {
	event := "event: progress\ndata: {\"done\":1,\"total\":3,\"unit\":\"items\",\"stage\":\"learning\"}\n\n"
	for _, tt := range []struct {
		name, stream string
		kind         robotmem.Kind // of the error; "" for none
		detail       string
	}{
		{"result", ": a heartbeat\n\n" + event + "event: result\ndata: {\"results\":[{\"status\":\"created\",\"memory_id\":7}]}\n\n", "", ""},
		{"result in lines", "event:progress\r\ndata:{\"done\":1,\"total\":3,\r\ndata: \"unit\":\"items\",\"stage\":\"learning\"}\r\n\r\nevent: other\ndata: {}\n\nevent: result\ndata: {\"results\":\ndata: [{\"status\":\"created\",\"memory_id\":7}]}\n\n", "", ""},
		{"problem", event + "event: problem\ndata: {\"kind\":\"conflict\",\"field\":\"items\",\"detail\":\"no\",\"op\":\"learn_batch\"}\n\n", robotmem.Conflict, "no"},
		{"broken off", event, robotmem.Unavailable, "ended before its result"},
		{"broken off within the result", event + "event: result\ndata: {\"results\":[", robotmem.Unavailable, "ended before its result"},
		{"bad problem", event + "event: problem\ndata: oh\n\n", robotmem.Unavailable, "problem document"},
		{"bad progress", event + "event: progress\ndata: oh\n\n", robotmem.Unavailable, "did not answer as a robotmem node"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := &node{status: 200, contentType: "text/event-stream; charset=utf-8", answer: tt.stream}
			var got []progress.Report
			ctx := progress.With(t.Context(), func(p progress.Report) { got = append(got, p) })
			res, err := serve(t, n).LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{{Insight: "x"}}})
			if n.header.Get("Accept") != "text/event-stream" {
				t.Errorf("asked for %q", n.header.Get("Accept"))
			}
			if diff := cmp.Diff([]progress.Report{{Done: 1, Total: 3, Unit: "items", Stage: "learning"}}, got); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
			if tt.kind == "" {
				if err != nil || len(res.Results) != 1 || res.Results[0].MemoryID != 7 {
					t.Errorf("got %+v, %v", res, err)
				}
				return
			}
			var e *robotmem.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Op != "learn_batch" || !strings.Contains(e.Detail(), tt.detail) {
				t.Errorf("got %#v (%v), want %s: %s", err, err, tt.kind, tt.detail)
			}
		})
	}
}

// Only long operations ask for events, and a node may still answer JSON.
func TestProgressIsAHint(t *testing.T) {
	ctx := progress.With(t.Context(), func(progress.Report) { t.Error("nothing was reported") })
	n := &node{status: 200, answer: `{"total":3,"by_status":{}}`}
	if st, err := serve(t, n).Stats(ctx, &admin.StatsRequest{}); err != nil || st.Total != 3 || n.header.Get("Accept") != "application/json" {
		t.Errorf("stats: %+v, %v, asked for %q", st, err, n.header.Get("Accept"))
	}
	n = &node{status: 200, contentType: "application/json", answer: `{"status":"ok","healthy":true,"checks":[]}`}
	if d, err := serve(t, n).Doctor(ctx, &admin.DoctorRequest{}); err != nil || !d.Healthy {
		t.Errorf("doctor: %+v, %v", d, err)
	}
	n = &node{status: 404, contentType: "application/problem+json", answer: `{"kind":"not_found","detail":"none"}`}
	if _, err := serve(t, n).EndSession(ctx, &robotmem.EndSessionRequest{SessionID: "s"}); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("end_session: %v", err)
	}
	n = &node{status: 200, answer: whole()}
	if _, err := serve(t, n).Doctor(t.Context(), &admin.DoctorRequest{}); err != nil || n.header.Get("Accept") != "application/json" {
		t.Errorf("nobody watches: %v, asked for %q", err, n.header.Get("Accept"))
	}
}

// A call that has a name is sent again when its connection breaks before the answer.
func TestNamedCallsAreSentAgain(t *testing.T) {
	for _, tt := range []struct {
		name, id string
		sent     int
	}{{"with a name", "7f", 3}, {"without", "", 2}} {
		t.Run(tt.name, func(t *testing.T) {
			var mu sync.Mutex // the aborted handler may still run when the call has failed
			sent, keys := 0, []string{}
			h := func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				mu.Lock()
				defer mu.Unlock()
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				// The first answer makes the connection one that is kept.
				if sent++; sent == 2 {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, whole())
			}
			c := serveFunc(t, h)
			req := &robotmem.LearnRequest{Insight: "x", RequestID: tt.id}
			if _, err := c.Learn(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			_, err := c.Learn(t.Context(), req)
			if lost := tt.id == ""; lost != (err != nil) {
				t.Errorf("got %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if sent != tt.sent || keys[0] != tt.id {
				t.Errorf("%d requests with keys %q, want %d", sent, keys, tt.sent)
			}
		})
	}
}
