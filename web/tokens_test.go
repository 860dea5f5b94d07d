package web_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

func serveNodePayload(t *testing.T) (payload []byte, url string) {
	t.Helper()
	e, url := serveNode(t, web.Options{})
	payload = bytes.Repeat([]byte(`{"force":12.5} `), 500)
	save(t, e, &robotmem.SavePerceptionRequest{Description: "forces as text", DataBase64: payload, MediaType: "application/json"})
	return payload, url
}

// list is a list of tokens that a test can change.
type list struct {
	mu  sync.Mutex
	all []web.Token
}

func (l *list) add(name string, readOnly bool) (secret string) {
	secret = web.NewSecret()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, web.NewToken(name, secret, readOnly))
	return secret
}

func (l *list) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = nil
}

func (l *list) tokens() []web.Token {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

func bearer(secret string) string { return "Authorization: Bearer " + secret }

func TestTokensAreAskedForOnEveryFace(t *testing.T) {
	known := &list{}
	full, reader := known.add("arm-7", false), known.add("viewer", true)
	e, url := serveNode(t, web.Options{Tokens: known.tokens})
	for _, f := range entryPoints {
		for _, tt := range []struct {
			name, header string
			status       int
			challenge    string
		}{
			{"no token", "X-None: x", 401, `Bearer realm="robotmem"`},
			{"a wrong token", bearer(web.NewSecret()), 401, `error="invalid_token"`},
			{"part of a token", bearer(full[:len(full)-1]), 401, `error="invalid_token"`},
			{"more than a token", bearer(full + "x"), 401, `error="invalid_token"`},
			{"an empty token", "Authorization: Bearer ", 401, `Bearer realm="robotmem"`},
			{"another scheme", "Authorization: Basic " + full, 401, `Bearer realm="robotmem"`},
			{"a token in a cookie", "Cookie: robotmem-" + url[strings.LastIndex(url, ":")+1:] + "=" + full, 401, `Bearer realm="robotmem"`},
			{"the token", bearer(full), 200, ""},
			{"the scheme in lower case", "Authorization: bearer " + full, 200, ""},
		} {
			res, body := askBody(t, f.method, url+f.path, f.body, with(f.headers, tt.header)...)
			// The dashboard asks for no token, and refuses a wrong one.
			if f.public && !strings.Contains(tt.header, "Bearer") {
				tt.status, tt.challenge = 200, ""
			}
			if res.StatusCode != tt.status || !strings.Contains(res.Header.Get("WWW-Authenticate"), tt.challenge) {
				t.Errorf("%s, %s: %s %v %s", f.name, tt.name, res.Status, res.Header, body)
			}
			if tt.status == 401 && (res.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "robotmem token create")) {
				t.Errorf("%s, %s: %s", f.name, tt.name, body)
			}
		}
	}
	if n := total(t, e); n != 2 {
		t.Errorf("%d memories, want the 2 of the token", n)
	}
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/app.js": 200, "/": 401, "/metrics": 401, "/api/openapi.json": 401, "/api/events": 401,
		"/api/whoami": 401, "/api/stats": 401, "/api/nope": 401, "/api/changes": 401,
	} {
		if res, _ := askBody(t, "GET", url+path, ""); res.StatusCode != want {
			t.Errorf("%s without a token: %s, want %d", path, res.Status, want)
		}
	}

	// A read-only token may read everything and change nothing.
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		want                     string // in the answer
		status                   int
	}{
		{"REST reads", "POST", "/api/recall", `{"query":"charger"}`, []string{"Content-Type: application/json"}, "behind the door", 200},
		{"REST writes", "POST", "/api/learn", `{"insight":"no"}`, []string{"Content-Type: application/json"}, "for reading only", 403},
		{"an upload", "POST", "/api/perceptions", "--x--", []string{"Content-Type: multipart/form-data; boundary=x"}, "for reading only", 403},
		{"REST forgets", "DELETE", "/api/memory/1?reason=x", "", nil, "for reading only", 403},
		{"MCP reads", "POST", "/mcp", call("recall", `{"query":"charger"}`), mcpHeaders, "behind the door", 200},
		{"MCP writes", "POST", "/mcp", call("learn", `{"insight":"no"}`), mcpHeaders, `"isError":true`, 200},
		{"MCP says why", "POST", "/mcp", call("forget", `{"memory_id":1,"reason":"x"}`), mcpHeaders, "for reading only", 200},
		{"events", "POST", "/api/learn", `{"insight":"no"}`, []string{"Content-Type: application/json", "Accept: text/event-stream"}, "for reading only", 403},
		{"the dashboard", "GET", "/", "", []string{"Accept: text/html"}, "robotmem", 200},
	} {
		res, body := askBody(t, tt.method, url+tt.path, tt.body, with(tt.headers, bearer(reader))...)
		if res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("reading: %s: %s %s", tt.name, res.Status, body)
		}
	}
	for _, op := range robotmem.Ops() {
		if op.Hints.ReadOnly {
			continue
		}
		path := strings.NewReplacer("{memory_id}", "1", "{session_id}", "x").Replace(op.Path())
		if res, body := askBody(t, op.Method(), url+path, "", bearer(reader)); res.StatusCode != 403 {
			t.Errorf("reading: %s: %s %s", op.Name, res.Status, body)
		}
	}
	if n := total(t, e); n != 2 {
		t.Errorf("%d memories, want 2: a token for reading wrote", n)
	}

	// Without the last token the node is open as before the first, and a revoked token is none.
	known.clear()
	for header, want := range map[string]int{bearer(full): 401, "X-None: x": 200} {
		if res, _ := askBody(t, "GET", url+"/api/stats", "", header); res.StatusCode != want {
			t.Errorf("after all were revoked, %.30s: %s", header, res.Status)
		}
	}
}

func TestWithoutTokensALoopbackNodeIsOpen(t *testing.T) {
	known := &list{}
	_, url := serveNode(t, web.Options{Tokens: known.tokens})
	if _, body := askBody(t, "GET", url+"/api/whoami", ""); body != `{"name":"","read_only":false,"required":false}`+"\n" {
		t.Errorf("got %s", body)
	}
	secret := known.add("arm-7", false)
	if res, _ := askBody(t, "GET", url+"/api/whoami", ""); res.StatusCode != 401 {
		t.Errorf("after the first token: %s", res.Status)
	}
	if _, body := askBody(t, "GET", url+"/api/whoami", "", bearer(secret)); body != `{"name":"arm-7","read_only":false,"required":true}`+"\n" {
		t.Errorf("got %s", body)
	}
	_, url = serveNode(t, web.Options{RequireToken: true})
	if res, _ := askBody(t, "GET", url+"/api/stats", ""); res.StatusCode != 401 {
		t.Errorf("where one is required and none exists: %s", res.Status)
	}
}

func TestLoginSetsACookie(t *testing.T) {
	known := &list{}
	secret := known.add("viewer", true)
	_, url := serveNode(t, web.Options{Tokens: known.tokens})
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	send := func(method, path, body string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequest(method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		res, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res, bodyOf(t, res)
	}
	for body, want := range map[string]int{
		`{"token":"` + web.NewSecret() + `"}`: 401, `{}`: 400, `7`: 400, `{"token":"` + strings.Repeat("x", 5000) + `"}`: 413,
	} {
		if res, got := send("POST", "/login", body); res.StatusCode != want || len(res.Cookies()) != 0 {
			t.Errorf("%.60s: %s %s", body, res.Status, got)
		}
	}
	res, body := send("POST", "/login", `{"token":"`+secret+`"}`)
	if res.StatusCode != 200 || body != `{"name":"viewer","read_only":true,"required":true}`+"\n" {
		t.Fatalf("%s %s", res.Status, body)
	}
	cookie := res.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Secure || strings.Contains(cookie.Value, secret) {
		t.Errorf("cookie %+v", cookie)
	}
	if res, body := send("GET", "/api/whoami", ""); res.StatusCode != 200 || !strings.Contains(body, "viewer") {
		t.Errorf("with the cookie: %s %s", res.Status, body)
	}
	if res, _ := send("POST", "/api/learn", `{"insight":"no"}`); res.StatusCode != 403 {
		t.Errorf("a write with the cookie of a token for reading: %s", res.Status)
	}
	if res, _ := send("POST", "/mcp", call("learn", `{"insight":"no"}`)); res.StatusCode == 401 {
		t.Errorf("MCP with the cookie: %s", res.Status)
	}
	// A cookie is invalid after the logout, and after its token is revoked.
	if res, _ := send("POST", "/logout", ""); res.StatusCode != 204 || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %s %v", res.Status, res.Cookies())
	}
	if res, _ := askBody(t, "GET", url+"/api/whoami", "", "Cookie: "+cookie.Name+"="+cookie.Value); res.StatusCode != 401 {
		t.Errorf("after the logout: %s", res.Status)
	}
	send("POST", "/login", `{"token":"`+secret+`"}`)
	known.clear()
	known.add("another", false)
	if res, _ := send("GET", "/api/whoami", ""); res.StatusCode != 401 {
		t.Errorf("after the token was revoked: %s", res.Status)
	}
}

func TestCookiesAreSecureUnderTLS(t *testing.T) {
	known := &list{}
	secret := known.add("viewer", true)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = web.NewServer(&stub{}, web.Options{Tokens: known.tokens})
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	res, err := srv.Client().Post(srv.URL+"/login", "application/json", strings.NewReader(`{"token":"`+secret+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 || res.StatusCode != 200 || !res.Cookies()[0].Secure {
		t.Errorf("%s %s %v", res.Proto, res.Status, res.Cookies())
	}
	var state *tls.ConnectionState = res.TLS
	if state == nil || state.Version < tls.VersionTLS12 {
		t.Errorf("TLS %+v", state)
	}
}

func TestGuessingIsLimited(t *testing.T) {
	known := &list{}
	secret := known.add("arm-7", false)
	chosen := "correct horse battery"
	known.all = append(known.all, web.NewToken("chosen", chosen, false))
	h := web.NewServer(&stub{}, web.Options{Tokens: known.tokens}).Handler
	refused := 0
	for i := range 30 {
		res := do(h, "GET", "/api/stats", "", bearer(fmt.Sprintf("guess number %d", i)))
		p := problemOf(t, res)
		if p.Status == 429 {
			refused++
			if res.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	}
	if refused < 15 {
		t.Fatalf("%d of 30 guesses were refused unread", refused)
	}
	if res := do(h, "POST", "/login", `{"token":"guess"}`); res.StatusCode != 429 {
		t.Errorf("a guess at the login: %s", res.Status)
	}
	if res := do(h, "GET", "/api/stats", "", bearer(chosen)); res.StatusCode != 429 {
		t.Errorf("the right guess after too many: %s", res.Status)
	}
	if res := do(h, "GET", "/api/stats", "", bearer(secret)); res.StatusCode != 200 {
		t.Errorf("a token that nobody guesses: %s", res.Status)
	}
}

func TestRateIsLimited(t *testing.T) {
	known := &list{}
	one, two := known.add("one", false), known.add("two", false)
	h := web.NewServer(&stub{}, web.Options{Tokens: known.tokens, Rate: 0.5}).Handler
	get := func(path string, headers ...string) int { return do(h, "GET", path, "", headers...).StatusCode }
	if got := get("/api/stats", bearer(one)); got != 200 {
		t.Fatalf("the first: %d", got)
	}
	for range 3 {
		res := do(h, "GET", "/api/stats", "", bearer(one))
		if p := problemOf(t, res); p.Status != 429 || p.Kind != robotmem.Unavailable || res.Header.Get("Retry-After") != "2" {
			t.Errorf("the next: %+v, Retry-After %s", p, res.Header.Get("Retry-After"))
		}
	}
	if got := get("/api/stats", bearer(two)); got != 200 {
		t.Errorf("of another token: %d", got)
	}
	if got := get("/healthz"); got != 200 {
		t.Errorf("of an address: %d", got)
	}
	if got := get("/healthz"); got != 429 {
		t.Errorf("of an address, the next: %d", got)
	}
	h = web.NewServer(&stub{}, web.Options{}).Handler
	for range 500 {
		if got := get("/healthz"); got != 200 {
			t.Fatalf("without a limit: %d", got)
		}
	}
}

func TestPagesOfOtherOriginsAreRefusedWithAToken(t *testing.T) {
	known := &list{}
	secret := known.add("fleet", false)
	h := web.NewServer(&stub{}, web.Options{Tokens: known.tokens}).Handler
	const fleet = "Origin: https://fleet.example"
	preflight := do(h, "OPTIONS", "/api/learn", "", fleet, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type")
	change := do(h, "POST", "/api/learn", `{"insight":"x"}`, bearer(secret), fleet, "Sec-Fetch-Site: cross-site")
	for name, res := range map[string]*http.Response{"preflight": preflight, "change": change} {
		if res.StatusCode != 403 || res.Header.Get("Access-Control-Allow-Origin") != "" || res.Header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s: %s %v", name, res.Status, res.Header)
		}
	}
}

func TestRequestsAreLogged(t *testing.T) {
	var log bytes.Buffer
	known := &list{}
	secret := known.add("arm-7", false)
	h := web.NewServer(&stub{}, web.Options{Tokens: known.tokens, Logger: slog.New(slog.NewJSONHandler(&log, nil))}).Handler
	res := do(h, "GET", "/api/memories?collection=kitchen", "", bearer(secret))
	body := bodyOf(t, res)
	var line struct {
		Level, Method, Path, ID, Token string
		Status, Bytes                  int
		MS                             *int
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.Level != "INFO" || line.Method != "GET" || line.Path != "/api/memories" || line.ID == "" || line.ID != res.Header.Get("X-Request-Id") || line.Token != "arm-7" || line.Status != 200 || line.Bytes != len(body) || line.MS == nil {
		t.Errorf("got %s", log.String())
	}
	if strings.Contains(log.String(), secret) {
		t.Error("the secret is in the log")
	}
	res = do(h, "GET", "/api/nope", "", bearer(secret), "X-Request-Id: a\"b")
	if id := res.Header.Get("X-Request-Id"); len(id) < 20 || !strings.Contains(bodyOf(t, res), `"request_id":"`+id+`"`) {
		t.Errorf("the id of a request is %q", id)
	}
}

// What the logins of one token hold is bounded together, so that it keeps nobody else out.
func TestLoginsOfOneTokenAreOneClient(t *testing.T) {
	known := &list{}
	reader, other := known.add("viewer", true), known.add("arm-7", false)
	_, url := serveNode(t, web.Options{Tokens: known.tokens})
	login := func(secret string) string {
		t.Helper()
		res, err := http.Post(url+"/login", "application/json", strings.NewReader(`{"token":"`+secret+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != 200 || len(res.Cookies()) != 1 {
			t.Fatalf("login: %s %s", res.Status, bodyOf(t, res))
		}
		return "Cookie: " + res.Cookies()[0].Name + "=" + res.Cookies()[0].Value
	}
	whoami := func(cookie string) int {
		t.Helper()
		res, _ := askBody(t, "GET", url+"/api/whoami", "", cookie)
		return res.StatusCode
	}

	theirs, first := login(other), login(reader)
	for range 64 {
		_, next := follow(t, "GET", url+"/api/events", "", login(reader))
		if got, _ := next(); got.name != "ready" {
			t.Fatalf("got %+v", got)
		}
	}
	if res, body := askBody(t, "GET", url+"/api/events", "", login(reader)); res.StatusCode != 503 || !strings.Contains(body, "64") {
		t.Errorf("one stream more, of another login: %s %s", res.Status, body)
	}
	_, next := follow(t, "GET", url+"/api/events", "", theirs)
	if got, _ := next(); got.name != "ready" {
		t.Errorf("a stream of another token: %+v", got)
	}

	for range 100 {
		login(reader)
	}
	if got := whoami(first); got != 401 {
		t.Errorf("the first of more than 100 logins of a token: status %d, want 401", got)
	}
	if got := whoami(theirs); got != 200 {
		t.Errorf("the login of another token: status %d, want 200", got)
	}
}

// All streams together leave half of the connections to requests.
func TestStreamsLeaveConnections(t *testing.T) {
	known := &list{}
	var secrets []string
	for i := range 4 {
		secrets = append(secrets, known.add(fmt.Sprint("arm-", i), false))
	}
	_, url := serveNode(t, web.Options{Tokens: known.tokens, MaxConns: 40})
	open := 0
	for _, secret := range secrets {
		for range 10 {
			if res := mustFollow(t, url+"/api/events", bearer(secret)); res.StatusCode == 200 {
				open++
			}
		}
	}
	if open != 20 {
		t.Errorf("%d streams are open at a node of 40 connections, want 20", open)
	}
}

func mustFollow(t *testing.T, url, header string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	name, value, _ := strings.Cut(header, ": ")
	req.Header.Set(name, value)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}
