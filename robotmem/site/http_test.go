package site

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

// serveSite serves a site over HTTP, as robotmem web does.
func serveSite(t *testing.T, s *Site, g *Guard) string {
	t.Helper()
	srv := httptest.NewServer(web.NewServer(g, web.Options{
		Lookup: s.Caller, TenantRate: s.Rate, Ready: func() error { return s.Ready(context.Background()) },
		MCP: mcp.NewServer(g, mcp.Options{}).Handler(),
	}).Handler)
	t.Cleanup(srv.Close)
	return srv.URL
}

func send(t *testing.T, secret, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// TestSiteOverHTTP: two nodes, two tenants, REST and MCP.
func TestSiteOverHTTP(t *testing.T) {
	url := postgrestest.NewURL(t)
	s, g := openSite(t, url)
	there, g2 := openSite(t, url)
	makeTenants(t, s, "north", "south")
	one, two := serveSite(t, s, g), serveSite(t, there, g2)
	secretOf := func(tenant string, spec TokenSpec) string {
		t.Helper()
		secret, err := s.CreateToken(t.Context(), tenant, spec)
		if err != nil {
			t.Fatal(err, causeOf(err))
		}
		return secret
	}
	arm, twin := secretOf("north", robotOf("arm-7", "a")), secretOf("north", robotOf("arm-8", "b"))
	south, op := secretOf("south", robotOf("arm-7", "a")), secretOf("north", TokenSpec{Name: "op", Role: robotmem.RoleOperator})
	want := func(status int, secret, method, url, body string, parts ...string) string {
		t.Helper()
		got, text := send(t, secret, method, url, body)
		if got != status {
			t.Errorf("%s %s %s: %d %s, want %d", method, url, body, got, text, status)
		}
		for _, part := range parts {
			if no, unwanted := strings.CutPrefix(part, "!"); unwanted == strings.Contains(text, no) {
				t.Errorf("%s %s %s: %s, want %q", method, url, body, text, part)
			}
		}
		return text
	}
	id := idOf(t, want(200, arm, "POST", one+"/api/learn", `{"insight":"corridor B is blocked by pallets","collection":"a"}`))
	want(200, twin, "POST", two+"/api/learn", `{"insight":"quillwort is in corridor B","collection":"b"}`)
	want(403, arm, "POST", one+"/api/learn", `{"insight":"x y z"}`, "of the robot arm-7, in a", "!quillwort") // default is not its collection
	want(200, op, "POST", two+"/api/recall", `{"query":"corridor B","collection":"*"}`, "pallets", "quillwort")
	want(200, arm, "POST", two+"/api/recall", `{"query":"corridor B","collection":"*"}`, "pallets", "!quillwort")
	want(200, south, "POST", one+"/api/recall", `{"query":"corridor B","collection":"*"}`, "!pallets", "!quillwort")
	want(404, south, "GET", fmt.Sprintf("%s/api/memory/%d", one, id), "")
	want(404, twin, "DELETE", fmt.Sprintf("%s/api/memory/%d", one, id), `{"reason":"x"}`)
	want(200, arm, "GET", one+"/metrics", "", "robotmem_memories")
	want(200, "", "GET", two+"/readyz", "")
	want(401, "rmt_none", "GET", one+"/api/stats", "")
	want(403, arm, "GET", one+"/api/doctor", "", "for operators")
	call := func(secret, tool, arguments string, parts ...string) {
		t.Helper()
		want(200, secret, "POST", two+"/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments), parts...)
	}
	call(arm, "recall", `{"query":"corridor B","collection":"all"}`, "pallets", "!quillwort")
	call(twin, "forget", fmt.Sprintf(`{"memory_id":%d,"reason":"x"}`, id), "there is no memory", `"isError":true`)
	want(200, arm, "POST", two+"/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"robotmem://memory/%d"}}`, id), "pallets")
	want(200, arm, "POST", two+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, "!quillwort")
	want(200, arm, "POST", two+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"robotmem://memory/{id}"},"argument":{"name":"id","value":""}}}`, "!quillwort")

	// The quota of requests is for the tenant.
	slow := 1.0
	if _, err := s.Limit(t.Context(), "south", Limits{RequestsPerSecond: &slow}); err != nil {
		t.Fatal(err)
	}
	statuses := map[int]int{}
	for range 6 {
		status, _ := send(t, south, "GET", one+"/api/stats", "")
		statuses[status]++
	}
	if statuses[429] < 3 || statuses[200] == 0 {
		t.Errorf("of 6 requests at once with 1 a second: %v", statuses)
	}
	want(200, arm, "GET", one+"/api/stats", "", `"total":1`)

	// A token that one node revokes ends on the other within two seconds, also a request in progress.
	r, err := http.NewRequestWithContext(t.Context(), "GET", two+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+arm)
	events, err := http.DefaultClient.Do(r)
	if err != nil || events.StatusCode != 200 {
		t.Fatal(events, err)
	}
	defer events.Body.Close()
	lines := bufio.NewReader(events.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "id: ") {
		t.Fatal(line, err)
	}
	ended := make(chan time.Time, 1)
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		ended <- time.Now()
	}()
	if err := s.RevokeToken(t.Context(), "north", "arm-7"); err != nil {
		t.Fatal(err)
	}
	revoked := time.Now()
	for status := 200; status != 401; {
		if status, _ = send(t, arm, "GET", two+"/api/stats", ""); time.Since(revoked) > 2*time.Second {
			t.Fatalf("%d after %v", status, time.Since(revoked))
		}
	}
	want(401, arm, "GET", one+"/api/stats", "")
	select {
	case at := <-ended:
		if took := at.Sub(revoked); took > 2*time.Second {
			t.Errorf("a request in progress ended %v after the token was revoked", took)
		}
	case <-time.After(20 * time.Second):
		t.Error("a request in progress goes on")
	}
}
