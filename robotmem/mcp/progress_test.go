package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// reporter is a memory whose recall reports progress.
type reporter struct {
	robotmem.Service
	reports []progress.Report
	worked  chan struct{} // closed when all is reported; may be nil
}

func (r *reporter) Recall(ctx context.Context, _ *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	if m := progress.Of(ctx); m != nil {
		for _, p := range r.reports {
			m.Set(p)
		}
	}
	if r.worked != nil {
		close(r.worked)
	}
	return &robotmem.RecallResponse{Memories: []robotmem.Memory{}, Degraded: []string{}}, nil
}

// Every report begins a stage, so that none is dropped because it comes too early.
var twoStages = []progress.Report{
	{Done: 0, Total: 4, Unit: "memories", Stage: "reading"},
	{Done: 4, Total: 4, Unit: "memories", Stage: "read"},
	{Done: 1, Total: 2, Unit: "stages", Stage: "merging"},
	{Done: 2, Unit: "stages", Stage: "merged"},
}

// heard is a summary of a message of the server.
type heard struct {
	Method          string
	Token           any
	Progress, Total float64
	Message         string
	Result          bool
}

func hear(t *testing.T, line string) heard {
	t.Helper()
	var m struct {
		Method string
		Params struct {
			ProgressToken   any
			Progress, Total float64
			Message         string
		}
		Result json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return heard{m.Method, m.Params.ProgressToken, m.Params.Progress, m.Params.Total, m.Params.Message, m.Result != nil}
}

const progressMethod = "notifications/progress"

func toldOf(token any) []heard {
	return []heard{
		{progressMethod, token, 1, 0, "reading: 0 of 4 memories", false},
		{progressMethod, token, 2, 0, "read: 4 of 4 memories", false},
		{progressMethod, token, 3, 0, "merging: 1 of 2 stages", false},
		{progressMethod, token, 4, 0, "merged: 2 stages", false},
		{Result: true},
	}
}

const (
	withToken    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"x"},"_meta":{"progressToken":"p-7"}}}`
	withoutToken = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"x"}}}`
)

func TestProgressComesBeforeTheAnswerOverStdio(t *testing.T) {
	s := NewServer(&reporter{reports: twoStages}, Options{})
	for _, tt := range []struct {
		name, message string
		want          []heard
	}{
		{"asked for", withToken, toldOf("p-7")},
		{"not asked for", withoutToken, []heard{{Result: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if err := s.ServeStdio(t.Context(), strings.NewReader(tt.message+"\n"), &out); err != nil {
				t.Fatal(err)
			}
			var got []heard
			for line := range strings.Lines(out.String()) {
				got = append(got, hear(t, line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProgressIsAStreamOverHTTP(t *testing.T) {
	ts := httptest.NewServer(NewServer(&reporter{reports: twoStages}, Options{}).Handler())
	defer ts.Close()
	modern := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "recall"}
	for _, tt := range []struct {
		name, message string
		headers       map[string]string
		media         string
		want          []heard
	}{
		{"asked for", withToken, nil, eventStream, toldOf("p-7")},
		{"asked for, modern", strings.Replace(withToken, `"_meta":{`, strings.TrimSuffix(modernMeta, "}")+",", 1), modern, eventStream, toldOf("p-7")},
		{"not asked for", withoutToken, nil, mediaJSON, []heard{{Result: true}}},
		{"a caller that takes no stream", withToken, map[string]string{"Accept": mediaJSON}, mediaJSON, []heard{{Result: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, body := post(t, ts.URL, tt.headers, tt.message)
			if got := res.Header.Get("Content-Type"); got != tt.media {
				t.Errorf("Content-Type %q, want %q", got, tt.media)
			}
			var got []heard
			for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok || tt.media == mediaJSON {
					got = append(got, hear(t, data))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s\nof %s", diff, body)
			}
		})
	}
}

// The operation may hold the writer while it reports, so it must not wait for a client
// that does not read. The client gets the reports when it reads.
func TestProgressDoesNotWaitForItsReader(t *testing.T) {
	worked := make(chan struct{})
	s := NewServer(&reporter{reports: twoStages, worked: worked}, Options{})
	in, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		defer out.Close()
		served <- s.ServeStdio(t.Context(), strings.NewReader(withToken+"\n"), out)
	}()
	select {
	case <-worked:
	case <-time.After(30 * time.Second):
		t.Error("the work waits for a client that does not read")
	}
	var got []heard
	for lines := bufio.NewScanner(in); lines.Scan(); {
		got = append(got, hear(t, lines.Text()))
	}
	if diff := cmp.Diff(toldOf("p-7"), got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
