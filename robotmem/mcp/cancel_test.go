package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// patient is a memory whose operations run until they are cancelled or released.
type patient struct {
	robotmem.Service
	begun chan struct{} // receives when a call has begun
	ended chan error    // receives what its context said at its end
	let   chan struct{} // a call ends when it receives
}

func newPatient() *patient {
	return &patient{begun: make(chan struct{}), ended: make(chan error, 1), let: make(chan struct{})}
}

func (p *patient) wait(ctx context.Context) error {
	p.begun <- struct{}{}
	select {
	case <-ctx.Done():
	case <-p.let:
	}
	p.ended <- ctx.Err()
	return ctx.Err()
}

func (p *patient) Recall(ctx context.Context, _ *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	if err := p.wait(ctx); err != nil {
		return nil, &robotmem.Error{Op: "recall", Kind: robotmem.Unavailable, Err: err}
	}
	return &robotmem.RecallResponse{Memories: []robotmem.Memory{}, Degraded: []string{}}, nil
}

func (p *patient) Get(context.Context, *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return &robotmem.Memory{MemoryID: 7, Tags: []string{}}, nil
}

func cancelled(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"changed my mind"}}`+"\n", id)
}

func TestCancelledCallStopsOverStdio(t *testing.T) {
	p := newPatient()
	toServer, feed := io.Pipe()
	answers, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- NewServer(p, Options{}).ServeStdio(context.WithoutCancel(t.Context()), toServer, fromServer)
		_ = fromServer.Close()
	}()
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(feed, text); err != nil {
			t.Fatal(err)
		}
	}
	say(call(1, "recall", `{"query":"x"}`))
	<-p.begun
	say(call(2, "recall", `{"query":"y"}`)) // waits, and is never begun
	say(cancelled("2"))
	say(cancelled("1"))
	if err := <-p.ended; err == nil {
		t.Error("the running call was not told to stop")
	}
	say(cancelled("99")) // no such call
	say(call("3", "get", `{"memory_id":7}`))
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(answers)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := parse(t, string(out)); len(got) != 1 || got[0].ID != "3" || got[0].Result.IsError {
		t.Errorf("answers %+v, want that of the last call alone", got)
	}
}

// request posts a message with headers beside those that every client sends.
func request(ctx context.Context, url string, headers map[string]string, message string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	return http.DefaultClient.Do(req)
}

// post may be called by another goroutine than the test's.
func post(t *testing.T, url string, headers map[string]string, message string) (*http.Response, string) {
	t.Helper()
	res, err := request(t.Context(), url, headers, message)
	if err != nil {
		t.Error(err)
		return &http.Response{}, ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res, string(body)
}

func TestClosingTheRequestStopsTheCallOverHTTP(t *testing.T) {
	p := newPatient()
	ts := httptest.NewServer(NewServer(p, Options{}).Handler())
	defer ts.Close()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		res, err := request(ctx, ts.URL, nil, call(1, "recall", `{"query":"x"}`))
		if err == nil {
			_ = res.Body.Close()
		}
		failed <- err
	}()
	<-p.begun
	cancel()
	if err := <-p.ended; err == nil {
		t.Error("the call was not told to stop")
	}
	if err := <-failed; err == nil {
		t.Error("the caller was answered")
	}
}

const (
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modernCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"x"},` + modernMeta + `}}`
)

// Clients count their requests from 1, so a cancellation must only reach calls of the
// client that sent it.
func TestCancellationReachesItsOwnClientOverHTTP(t *testing.T) {
	p := newPatient()
	ts := httptest.NewServer(NewServer(p, Options{}).Handler())
	defer ts.Close()
	session := func() string {
		first, _, _ := strings.Cut(initialize, "\n")
		res, _ := post(t, ts.URL, nil, first)
		return res.Header.Get("Mcp-Session-Id")
	}
	mine, other := session(), session()
	if mine == "" || mine == other {
		t.Fatalf("sessions %q and %q", mine, other)
	}
	legacy := func(session string) map[string]string { return map[string]string{"Mcp-Session-Id": session} }
	modern := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "recall", "Mcp-Session-Id": mine}
	for _, tt := range []struct {
		name, call string
		asks       map[string]string
		strangers  []map[string]string
	}{
		{"with a session", call(1, "recall", `{"query":"x"}`), legacy(mine), []map[string]string{legacy(other), nil, modern}},
		{"without a session", call(1, "recall", `{"query":"x"}`), nil, []map[string]string{legacy(other), nil, modern}},
		{"of the modern era", modernCall, modern, []map[string]string{legacy(mine), nil, modern}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answered := make(chan string, 1)
			go func() {
				_, body := post(t, ts.URL, tt.asks, tt.call)
				answered <- body
			}()
			<-p.begun
			for _, s := range tt.strangers {
				if res, body := post(t, ts.URL, s, cancelled("1")); res.StatusCode != http.StatusAccepted {
					t.Errorf("%v: %s %s", s, res.Status, body)
				}
			}
			var err error
			select {
			case p.let <- struct{}{}:
				err = <-p.ended
			case err = <-p.ended:
			}
			if err != nil {
				t.Errorf("somebody else's cancellation reached the call: %v", err)
			}
			if got := <-answered; !strings.Contains(got, `"memories"`) {
				t.Errorf("answer %q", got)
			}
		})
	}
	answered := make(chan string, 1)
	go func() {
		_, body := post(t, ts.URL, legacy(mine), call(1, "recall", `{"query":"x"}`))
		answered <- body
	}()
	<-p.begun
	post(t, ts.URL, legacy(mine), cancelled("1"))
	if err := <-p.ended; err == nil {
		t.Error("its own cancellation did not reach the call")
	}
	<-answered
}

// A cancelled write is either stored completely or not at all.
func TestCancelledWriteIsStoredOrLeavesNothing(t *testing.T) {
	e := engine(t, local.Options{})
	const n = 60
	toServer, feed := io.Pipe()
	answers, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- NewServer(e, Options{}).ServeStdio(context.WithoutCancel(t.Context()), toServer, fromServer)
		_ = fromServer.Close()
	}()
	go func() {
		defer feed.Close()
		for i := range n {
			_, _ = io.WriteString(feed, call(i, "learn", fmt.Sprintf(`{"insight":"force %d N holds part %d"}`, i, i)))
			if i%3 == 0 {
				_, _ = io.WriteString(feed, cancelled(fmt.Sprint(i)))
			}
		}
	}()
	acknowledged := map[float64]bool{}
	for lines := bufio.NewScanner(answers); lines.Scan(); {
		for _, a := range parse(t, lines.Text()) {
			acknowledged[a.ID.(float64)] = !a.Result.IsError
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	stored, err := e.List(t.Context(), &robotmem.ListRequest{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if i%3 != 0 && !acknowledged[float64(i)] {
			t.Errorf("call %d was not cancelled, and not acknowledged", i)
		}
	}
	if got, least := len(stored.Memories), n-n/3; got < least || got > n {
		t.Errorf("%d facts stored, want %d to %d", got, least, n)
	}
	whole := map[string]bool{}
	for _, m := range stored.Memories {
		whole[m.Content] = true
	}
	for id, ok := range acknowledged {
		if text := fmt.Sprintf("force %d N holds part %d", int(id), int(id)); ok && !whole[text] {
			t.Errorf("%q was acknowledged and is not stored", text)
		}
	}
}
