package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

// A request that stays open ends with its token, and with its login.
func TestRevokedTokensEndWhatIsOpen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		shows  func(t *testing.T, url, secret string, headers ...string) (header string)
		revoke func(t *testing.T, known *list, url, header string)
	}{
		{"a token", func(_ *testing.T, _, secret string, _ ...string) string { return bearer(secret) }, takeAway},
		{"the token of a login", loginCookie, takeAway},
		{"a login", loginCookie, func(t *testing.T, _ *list, url, cookie string) {
			if res, body := askBody(t, "POST", url+"/logout", "", cookie); res.StatusCode != 204 {
				t.Errorf("%s %s", res.Status, body)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			known := &list{}
			secret := known.add("viewer", true)
			_, url := serveNode(t, web.Options{Tokens: known.tokens})
			header := tt.shows(t, url, secret)
			_, next := follow(t, "GET", url+"/api/events", "", header)
			if got, _ := next(); got.name != "ready" {
				t.Fatalf("got %+v", got)
			}
			time.AfterFunc(200*time.Millisecond, func() { tt.revoke(t, known, url, header) })
			if res, _ := askBody(t, "GET", url+"/api/changes?since=0&wait_ms=50000", "", header); res.StatusCode != 401 || res.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("a wait for a change: %s", res.Status)
			}
			if got, _ := next(); got.name != "problem" || !strings.Contains(got.data, "revoked") {
				t.Errorf("got %+v", got)
			}
			if got, more := next(); more {
				t.Errorf("the stream goes on: %+v", got)
			}
		})
	}
}

// A stream ends within a tenth of a second of the revocation. The fastest of five counts
// and may take five times as long, because the machine may be busy.
func TestRevocationIsImmediate(t *testing.T) {
	known := &list{}
	_, url := serveNode(t, web.Options{Tokens: known.tokens})
	fastest := time.Minute
	for range 5 {
		secret := known.add("viewer", true)
		_, next := follow(t, "GET", url+"/api/events", "", bearer(secret))
		next()
		known.clear()
		began := time.Now()
		if got, _ := next(); got.name != "problem" {
			t.Errorf("got %+v", got)
		}
		fastest = min(fastest, time.Since(began))
	}
	if fastest > 500*time.Millisecond {
		t.Errorf("a stream ends %v after the revocation", fastest)
	}
}

// What is open without a token ends when the first token is created.
func TestTheFirstTokenEndsWhatIsOpen(t *testing.T) {
	known := &list{}
	_, url := serveNode(t, web.Options{Tokens: known.tokens})
	_, next := follow(t, "GET", url+"/api/events", "")
	if got, _ := next(); got.name != "ready" {
		t.Fatalf("got %+v", got)
	}
	known.add("arm-7", false)
	if got, _ := next(); got.name != "problem" {
		t.Errorf("got %+v", got)
	}
}

// slow is a memory whose recall lasts until its caller is gone.
type slow struct {
	*stub
	asked chan struct{}
}

func (s *slow) Recall(ctx context.Context, _ *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	close(s.asked)
	<-ctx.Done()
	return nil, ctx.Err()
}

// A call that is running when its token is revoked ends, over REST and over MCP.
func TestRevocationEndsRunningCalls(t *testing.T) {
	for _, tt := range []struct {
		name, path, body string
	}{
		{"REST", "/api/recall", `{"query":"charger"}`},
		{"MCP", "/mcp", call("recall", `{"query":"charger"}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			known := &list{}
			secret := known.add("arm-7", false)
			svc := &slow{stub: &stub{}, asked: make(chan struct{})}
			h := web.NewServer(svc, web.Options{Tokens: known.tokens, MCP: mcp.NewServer(svc, mcp.Options{}).Handler()}).Handler
			go func() { <-svc.asked; known.clear() }()
			res := do(h, "POST", tt.path, tt.body, with(mcpHeaders, bearer(secret))...)
			if body := bodyOf(t, res); res.StatusCode != 401 || !strings.Contains(body, "revoked") {
				t.Errorf("%s %s", res.Status, body)
			}
		})
	}
}

func takeAway(_ *testing.T, known *list, _, _ string) { known.clear() }

// Wrong tokens from the same address do not end a stream.
func TestStreamsOutliveTheGuessesOfOthers(t *testing.T) {
	t.Parallel()
	const chosen = "a token of a person"
	known := &list{all: []web.Token{web.NewToken("person", chosen, false)}}
	e, url := serveNode(t, web.Options{Tokens: known.tokens})
	_, next := follow(t, "GET", url+"/api/events", "", bearer(chosen))
	if got, _ := next(); got.name != "ready" {
		t.Fatalf("got %+v", got)
	}
	for i := range 30 {
		askBody(t, "GET", url+"/api/whoami", "", bearer(fmt.Sprint("guess ", i)))
	}
	if res, body := askBody(t, "GET", url+"/api/whoami", "", bearer(chosen)); res.StatusCode != 429 {
		t.Errorf("the guesses are not counted: %s %s", res.Status, body)
	}
	time.Sleep(1500 * time.Millisecond) // longer than the node takes to look at a token again
	learn(t, e, "the charger is behind the door")
	if got, _ := next(); got.name != "change" {
		t.Errorf("got %+v", got)
	}
}

// A second login in the same browser ends the first.
func TestLoginEndsTheOneBefore(t *testing.T) {
	known := &list{}
	secret := known.add("viewer", true)
	_, url := serveNode(t, web.Options{Tokens: known.tokens})
	first := loginCookie(t, url, secret)
	second := loginCookie(t, url, secret, first)
	for cookie, want := range map[string]int{first: 401, second: 200} {
		if res, _ := askBody(t, "GET", url+"/api/whoami", "", cookie); res.StatusCode != want {
			t.Errorf("got %s, want %d", res.Status, want)
		}
	}
}

// loginCookie logs in, and returns the header with the cookie.
func loginCookie(t *testing.T, url, secret string, headers ...string) string {
	t.Helper()
	res, body := askBody(t, "POST", url+"/login", `{"token":"`+secret+`"}`, append(headers, "Content-Type: application/json")...)
	if res.StatusCode != 200 {
		t.Fatalf("%s %s", res.Status, body)
	}
	return "Cookie: " + res.Cookies()[0].Name + "=" + res.Cookies()[0].Value
}

// Waits for a change and streams have a common limit for each client, so that a client
// keeps no other one out.
func TestWaitsAreBoundedPerClient(t *testing.T) {
	known := &list{}
	robot, viewer := known.add("arm-7", false), known.add("viewer", true)
	e, url := serveNode(t, web.Options{Tokens: known.tokens})
	for range 64 {
		_, next := follow(t, "GET", url+"/api/events", "", bearer(robot))
		if got, _ := next(); got.name != "ready" {
			t.Fatalf("got %+v", got)
		}
	}
	now, err := e.Changes(t.Context(), &admin.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"wait_ms=60000": 503, "wait_ms=0": 200, "": 200} {
		if res, body := askBody(t, "GET", fmt.Sprintf("%s/api/changes?since=%d&%s", url, now.Change, query), "", bearer(robot)); res.StatusCode != want {
			t.Errorf("%q: got %s %s", query, res.Status, body)
		}
	}
	for name, header := range map[string]string{
		"another token": bearer(viewer), "a browser with the token": loginCookie(t, url, robot), "another browser with it": loginCookie(t, url, robot),
	} {
		res, next := follow(t, "GET", url+"/api/events", "", header)
		if got, _ := next(); got.name != "ready" {
			t.Errorf("%s: %s %+v", name, res.Status, got)
		}
	}
}

// Without tokens, the programs of an address do not keep its browsers out.
func TestProgramsKeepNoBrowserOut(t *testing.T) {
	_, url := serveNode(t, web.Options{})
	for range 64 {
		_, next := follow(t, "GET", url+"/api/events", "")
		next()
	}
	if res, _ := follow(t, "GET", url+"/api/events", ""); res.StatusCode != 503 {
		t.Errorf("the program's next stream: %s", res.Status)
	}
	if res, _ := follow(t, "GET", url+"/api/events", "", "Sec-Fetch-Site: same-origin"); res.StatusCode != 200 {
		t.Errorf("the dashboard: %s", res.Status)
	}
}
