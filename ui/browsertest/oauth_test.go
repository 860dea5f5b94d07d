package browsertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// program is an MCP client with pages of its own, on another site than the node.
type program struct {
	site string
	back chan url.Values // what the browser came back with
}

func newProgram(t *testing.T) *program {
	g := &program{back: make(chan url.Values, 10)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/callback":
			g.back <- r.URL.Query()
			fmt.Fprint(w, `<!doctype html><title>back</title><h1>back</h1>`)
		case "/frame":
			fmt.Fprintf(w, `<!doctype html><title>frame</title><h1>frame</h1><iframe src=%q></iframe>`, r.URL.Query().Get("to"))
		case "/start":
			fmt.Fprintf(w, `<!doctype html><title>start</title><a id="go" href=%q>log in</a>`, r.URL.Query().Get("to"))
		}
	}))
	t.Cleanup(s.Close)
	// Browsers take localhost and 127.0.0.1 for two sites.
	g.site = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	return g
}

// register registers the program with a node and returns the address of its request.
func (g *program) register(t *testing.T, n *node, name string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{g.site + "/callback"}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url+"/oauth/register", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || got.ID == "" {
		t.Fatalf("status %d, %v", res.StatusCode, err)
	}
	return "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {got.ID}, "redirect_uri": {g.site + "/callback"}, "state": {"a b"},
		"code_challenge": {strings.Repeat("c", 43)}, "code_challenge_method": {"S256"},
	}.Encode()
}

// remoteLogin: a person comes from a page of another site, logs in, and allows or denies; the second time
// the login is still there. The pages can be read in all windows, and no other site can frame them.
func (w *world) remoteLogin(t *testing.T) {
	home := t.TempDir()
	secret, err := w.command(t.Context(), home, "token", "create", "ada").Output()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := w.command(t.Context(), home, "token", "create", "eve", "--read-only").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := w.start(t, home, "web", "--db", filepath.Join(home, "memory.db"), "--addr", "127.0.0.1:0", "--oauth")
	g := newProgram(t)
	request := g.register(t, n, "Claude Code")
	long := g.register(t, n, strings.Repeat("A very long name of a program ", 3))

	for _, l := range []look{wide, narrow, {name: "wide-dark", width: 1440, height: 900, dark: true}, {name: "narrow", width: 390, height: 844}, {name: "narrowest", width: 320, height: 640}} {
		p := w.open(t, n, l)
		p.expect("another origin")
		p.expect("401 (Unauthorized)")
		p.expect("400 (Bad Request)")
		p.do(chromedp.Navigate(g.site + "/start?to=" + url.QueryEscape(n.url+request)))
		p.click("#go", "")
		p.see("h1", "Log in to robotmem")
		w.audit(p, l.name+"-oauth-login")
		p.click("input[name=token]", "")
		p.key("not-the-token\r")
		p.see(".error", "does not know the token")
		w.audit(p, l.name+"-oauth-login-wrong")
		p.click("input[name=token]", "")
		p.key(strings.TrimSpace(string(secret)) + "\r")
		p.see("h1", "Allow access to this memory?")
		p.see(".host", strings.TrimPrefix(g.site, "http://"))
		w.audit(p, l.name+"-oauth-consent")
		p.click(".button", "Deny")
		p.see("h1", "back")
		if q := <-g.back; q.Get("error") != "access_denied" || q.Get("state") != "a b" {
			t.Errorf("denied: %v", q)
		}

		// Now the browser has a login, whose cookie it does not send with a link of another site.
		p.do(chromedp.Navigate(g.site + "/start?to=" + url.QueryEscape(n.url+request)))
		p.click("#go", "")
		p.see("h1", "Allow access to this memory?")
		p.click(".button", "Allow")
		p.see("h1", "back")
		if q := <-g.back; !strings.HasPrefix(q.Get("code"), "rmc_") || q.Get("iss") != n.url {
			t.Errorf("allowed: %v", q)
		}

		p.goTo(long)
		p.see("h1", "Allow access to this memory?")
		w.audit(p, l.name+"-oauth-consent-long")
		p.goTo(strings.Replace(request, "S256", "plain", 1))
		p.see(".error", "PKCE is required")
		w.audit(p, l.name+"-oauth-refused")
	}

	p := w.open(t, n, wide)
	p.expect("another origin")
	p.goTo(request)
	p.click("input[name=token]", "")
	p.key(strings.TrimSpace(string(reader)) + "\r")
	p.see(".card", "Your token is for reading only")
	w.audit(p, "wide-oauth-consent-reader")

	p.expect("frame")
	p.expect("ERR_BLOCKED_BY_RESPONSE")
	p.expect("403 (Forbidden)")
	p.do(chromedp.Navigate(g.site + "/frame?to=" + url.QueryEscape(n.url+request)))
	p.see("h1", "frame")
	p.until(`(() => { try { return !document.querySelector("iframe").contentDocument?.querySelector("form"); } catch { return true; } })()`)
}
