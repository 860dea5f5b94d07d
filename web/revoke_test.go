package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
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

func takeAway(_ *testing.T, known *list, _, _ string) { known.clear() }

// Wrong tokens from the same address do not end a stream.
func TestStreamsOutliveTheGuessesOfOthers(t *testing.T) {
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

// A token that exists when the node starts is required even if it is revoked before
// the first request.
func TestTokensOfTheStartAreAskedFor(t *testing.T) {
	known := &list{}
	known.add("arm-7", false)
	h := web.New(&stub{}, web.Options{Tokens: known.tokens})
	known.clear()
	if res := do(h, "GET", "/api/stats", ""); res.StatusCode != 401 {
		t.Errorf("got %s", res.Status)
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

// Waits for a change and streams have a common limit, so that connections are left for
// other requests.
func TestWaitsAreBounded(t *testing.T) {
	e, url := serveNode(t, web.Options{})
	for range 64 {
		_, next := follow(t, "GET", url+"/api/events", "")
		if got, _ := next(); got.name != "ready" {
			t.Fatalf("got %+v", got)
		}
	}
	now, err := e.Changes(t.Context(), &admin.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"wait_ms=60000": 503, "wait_ms=0": 200, "": 200} {
		if res, body := askBody(t, "GET", fmt.Sprintf("%s/api/changes?since=%d&%s", url, now.Change, query), ""); res.StatusCode != want {
			t.Errorf("%q: got %s %s", query, res.Status, body)
		}
	}
}
