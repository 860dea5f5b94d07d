package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/ui"
	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// A page of another site, and a form that was not made for this login and this request, decide nothing.
func TestConsentCannotBeForged(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, evil := p.register(n, callback), p.register(n, "https://evil.example/cb")

	ada := newPerson(t)
	action, fields := ada.logIn(codeRequest(n, client), n.ada).form(t)
	fields.Set("decision", "allow")
	eve := newPerson(t)
	_, ofEve := eve.logIn(codeRequest(n, client), n.eve).form(t)
	again := newPerson(t)
	_, ofAgain := again.logIn(codeRequest(n, client), n.ada).form(t)

	for name, c := range map[string]struct {
		change  func(url.Values)
		headers []string
	}{
		"no proof":                      {func(f url.Values) { f.Del("proof") }, nil},
		"the proof of another person":   {func(f url.Values) { f.Set("proof", ofEve.Get("proof")) }, nil},
		"the proof of another login":    {func(f url.Values) { f.Set("proof", ofAgain.Get("proof")) }, nil},
		"another client":                {func(f url.Values) { f.Set("client_id", evil); f.Set("redirect_uri", "https://evil.example/cb") }, nil},
		"another challenge":             {func(f url.Values) { f.Set("code_challenge", challengeOf("x")) }, nil},
		"a wider resource":              {func(f url.Values) { f.Set("resource", n.URL) }, nil},
		"another state":                 {func(f url.Values) { f.Set("state", "x") }, nil},
		"a changed time in the proof":   {func(f url.Values) { f.Set("proof", "zz"+f.Get("proof")) }, nil},
		"no decision":                   {func(f url.Values) { f.Del("decision") }, nil},
		"another decision":              {func(f url.Values) { f.Set("decision", "ALLOW") }, nil},
		"a page of another site":        {func(url.Values) {}, []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}},
		"a page of another port":        {func(url.Values) {}, []string{"Sec-Fetch-Site: same-site"}},
		"an old browser, another site":  {func(url.Values) {}, []string{"Origin: https://evil.example"}},
		"an old browser, a sandbox":     {func(url.Values) {}, []string{"Origin: null"}},
		"a form of another media type":  {func(url.Values) {}, []string{"Content-Type: text/plain"}},
		"a field that is given twice":   {func(f url.Values) { f.Add("decision", "deny") }, nil},
		"the proof without its machine": {func(f url.Values) { f.Set("proof", strings.SplitAfter(f.Get("proof"), ".")[0]) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			form := url.Values{}
			for k, v := range fields {
				form[k] = v
			}
			c.change(form)
			forger := &person{t, ada.Client}
			if res := forger.post(action, form, c.headers...); res.StatusCode < 400 || res.Header.Get("Location") != "" {
				t.Errorf("status %d to %q: %s", res.StatusCode, res.Header.Get("Location"), res.text)
			}
		})
	}

	// Without a login there is only the login page.
	if res := newPerson(t).post(action, fields); res.StatusCode != http.StatusUnauthorized || !strings.Contains(res.text, `name="token"`) {
		t.Errorf("without a login: status %d: %s", res.StatusCode, res.text)
	}
	if len(n.grants.State().Grants) != 0 {
		t.Error("there is a grant")
	}
	if to := ada.post(action, fields); to.StatusCode != http.StatusSeeOther {
		t.Errorf("the real form has status %d: %s", to.StatusCode, to.text)
	}
}

// The login form leads to the page of this node and nowhere else.
func TestTheLoginIsNoRedirector(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, callback)
	action, fields := p.open(codeRequest(n, client)).form(t)
	fields.Set("token", n.ada)
	for _, next := range []string{"next", "return_to", "redirect", "url"} {
		fields.Set(next, "https://evil.example/")
	}
	res := p.post(action, fields)
	if to := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/oauth/authorize?") || strings.Contains(to, "evil") {
		t.Errorf("status %d to %q", res.StatusCode, to)
	}
	for _, c := range res.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
			t.Errorf("the cookie %v", c)
		}
	}
	fields.Set("redirect_uri", "https://evil.example/")
	if res := p.post(action, fields); res.StatusCode != http.StatusBadRequest || res.Header.Get("Location") != "" {
		t.Errorf("a foreign redirect has status %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
}

func TestPagesOfALogin(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{UI: ui.Files()})
	p := newPerson(t)
	res := p.registration(n, map[string]any{"client_name": `<script>alert(1)</script>"><b onload=x>`, "redirect_uris": []string{callback}})
	var got struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(res.text), &got); err != nil {
		t.Fatal(err)
	}
	login := p.open(codeRequest(n, got.ID, "state", `"><script>alert(2)</script>`))
	consent := p.logIn(codeRequest(n, got.ID, "state", `"><script>alert(2)</script>`), n.ada)
	refused := p.open(codeRequest(n, got.ID, "code_challenge", "", "state", `"><script>alert(2)</script>`))
	for name, page := range map[string]reply{"login": login, "consent": consent, "refused": refused} {
		policy := page.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", name, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
			t.Errorf("%s: the policy %q allows scripts", name, policy)
		}
		if strings.Contains(policy, "app.example") != (name == "consent") {
			t.Errorf("%s: the policy %q", name, policy)
		}
		for h, want := range map[string]string{"X-Frame-Options": "DENY", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"} {
			if got := page.Header.Get(h); got != want {
				t.Errorf("%s: %s is %q, want %q", name, h, got, want)
			}
		}
		if strings.Contains(page.text, "<script") || strings.Contains(page.text, "<b ") || strings.Contains(page.text, " style=") {
			t.Errorf("%s has a script or a style of its own: %s", name, page.text)
		}
	}
	if style := p.open(n.URL + "/oauth/style.css"); style.StatusCode != http.StatusOK || !strings.HasPrefix(style.Header.Get("Content-Type"), "text/css") {
		t.Errorf("the style sheet: %d %q", style.StatusCode, style.Header.Get("Content-Type"))
	}
}

// A browser does not send the cookie of the login with a request that another site causes, so the page asks again.
func TestALinkOfAnotherSiteFindsTheLogin(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, callback)
	from := func(p *person, dest string) reply {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, codeRequest(n, client), nil)
		if err != nil {
			t.Fatal(err)
		}
		for h, v := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": dest, "Accept": "text/html"} {
			req.Header.Set(h, v)
		}
		return p.send(req)
	}
	if res := from(p, "document"); res.StatusCode != http.StatusOK || !strings.Contains(res.text, `http-equiv="refresh"`) || strings.Contains(res.text, "<form") {
		t.Errorf("without the cookie: %d %s", res.StatusCode, res.text)
	}
	if res := from(p, "iframe"); res.StatusCode != http.StatusForbidden {
		t.Errorf("in a frame of another site: %d", res.StatusCode)
	}
}

// documents reads both documents of metadata as a client does, from the header of a refusal on.
func documents(t *testing.T, client *http.Client, base string) (resource, server map[string]any) {
	t.Helper()
	read := func(uri string) (into map[string]any, h http.Header) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if err := json.NewDecoder(bufio.NewReader(res.Body)).Decode(&into); err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		return into, res.Header
	}
	_, h := read(base + "/mcp")
	_, quoted, _ := strings.Cut(h.Get("WWW-Authenticate"), `resource_metadata="`)
	at, _, ok := strings.Cut(quoted, `"`)
	if !ok {
		t.Fatalf("WWW-Authenticate: %q", h.Get("WWW-Authenticate"))
	}
	resource, _ = read(at)
	issuer, _ := url.Parse(resource["authorization_servers"].([]any)[0].(string))
	server, _ = read(issuer.Scheme + "://" + issuer.Host + "/.well-known/oauth-authorization-server" + issuer.Path)
	return resource, server
}

// The documents name the node as its client does, directly, below a path, and through a proxy that keeps or
// removes the path.
func TestMetadataOfTheAuthorizationServer(t *testing.T) {
	for name, c := range map[string]struct {
		base   string
		strips bool
	}{
		"directly":                       {"", false},
		"a proxy that keeps the path":    {"/robotmem", false},
		"a proxy that removes the path":  {"/robotmem", true},
		"a path of two parts, kept":      {"/tools/memory", false},
		"a path of two parts, taken off": {"/tools/memory", true},
	} {
		t.Run(name, func(t *testing.T) {
			n := newOAuthNode(t, oauth.Options{}, web.Options{BasePath: c.base, AllowedHosts: []string{"memory.example"}})
			to, err := url.Parse(n.URL)
			if err != nil {
				t.Fatal(err)
			}
			proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				r.Out.Host = "memory.example"
				r.Out.Header.Set("X-Forwarded-Proto", "https")
				if c.strips {
					r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, c.base)
				}
			}})
			t.Cleanup(proxy.Close)

			// The client believes that it speaks with https://memory.example.
			client := &http.Client{Transport: through(proxy.URL)}
			resource, server := documents(t, client, "https://memory.example"+c.base)
			self := "https://memory.example" + c.base
			if resource["resource"] != self+"/mcp" || server["issuer"] != self || fmt.Sprint(resource["authorization_servers"]) != "["+self+"]" {
				t.Errorf("the resource %v of %v, the issuer %v, want %s", resource["resource"], resource["authorization_servers"], server["issuer"], self)
			}
			for field, path := range map[string]string{
				"authorization_endpoint": "/oauth/authorize", "token_endpoint": "/oauth/token",
				"registration_endpoint": "/oauth/register", "revocation_endpoint": "/oauth/revoke",
			} {
				if server[field] != self+path {
					t.Errorf("%s is %v", field, server[field])
				}
			}
			if fmt.Sprint(server["code_challenge_methods_supported"]) != "[S256]" || server["authorization_response_iss_parameter_supported"] != true ||
				fmt.Sprint(server["response_types_supported"]) != "[code]" || fmt.Sprint(server["token_endpoint_auth_methods_supported"]) != "[none]" {
				t.Errorf("the server %v", server)
			}

			_, plain := documents(t, http.DefaultClient, n.URL+c.base)
			if plain["issuer"] != n.URL+c.base {
				t.Errorf("without the proxy the issuer is %v", plain["issuer"])
			}

			p := &person{t, &http.Client{Transport: through(proxy.URL), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
			p.Jar = newPerson(t).Jar
			far := &oauthNode{Server: &httptest.Server{URL: self}, ada: n.ada}
			id := p.register(far, callback)
			back := p.allow(codeRequest(far, id), n.ada)
			got := p.token(far, exchangeForm(id, back.Query().Get("code")))
			if back.Query().Get("iss") != self || p.reaches(far, got.Access) != http.StatusOK {
				t.Errorf("back to %s, tokens %+v", back, got)
			}
		})
	}
}

// through sends all requests to one address.
type through string

func (p through) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(string(p))
	if err != nil {
		return nil, err
	}
	sent := r.Clone(r.Context())
	sent.URL.Scheme, sent.URL.Host = to.Scheme, to.Host
	return http.DefaultTransport.RoundTrip(sent)
}

func TestWithoutTheSettingThereIsNoAuthorizationServer(t *testing.T) {
	h := web.NewServer(newAsked(), web.Options{UI: ui.Files()}).Handler
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource", "/oauth/style.css"} {
		if res := do(h, http.MethodGet, path, ""); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s has status %d", path, res.StatusCode)
		}
	}
	for _, path := range []string{"/oauth/register", "/oauth/token", "/oauth/revoke", "/oauth/login", "/oauth/consent"} {
		if res := do(h, http.MethodPost, path, "{}", "Content-Type: application/json"); res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s has status %d", path, res.StatusCode)
		}
	}
}

// A client takes its grant back with any token of it.
func TestAClientRevokesItsGrant(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	other := p.register(n, callback)
	for _, kind := range []string{"access", "refresh", "old refresh"} {
		t.Run(kind, func(t *testing.T) {
			client, got := p.grant(n)
			token := map[string]string{"access": got.Access, "refresh": got.Refresh, "old refresh": got.Refresh}[kind]
			if kind == "old refresh" {
				got = p.token(n, refreshForm(client, got.Refresh))
			}
			revoke := func(client, token string) int {
				return p.post(n.URL+"/oauth/revoke", url.Values{"client_id": {client}, "token": {token}, "token_type_hint": {"refresh_token"}}).StatusCode
			}
			if status := revoke(other, token); status != http.StatusBadRequest || p.reaches(n, got.Access) != http.StatusOK {
				t.Errorf("another client: %d", status)
			}
			if status := revoke("rmcl_x", token); status != http.StatusUnauthorized || p.reaches(n, got.Access) != http.StatusOK {
				t.Errorf("an unknown client: %d", status)
			}
			if status := revoke(client, "rmr_unknown"); status != http.StatusOK || p.reaches(n, got.Access) != http.StatusOK {
				t.Errorf("an unknown token: %d", status)
			}
			if status := revoke(client, token); status != http.StatusOK || p.reaches(n, got.Access) != http.StatusUnauthorized {
				t.Errorf("its own: %d", status)
			}
			if res := p.token(n, refreshForm(client, got.Refresh)); res.Error != "invalid_grant" {
				t.Errorf("the refresh token after it: %+v", res)
			}
		})
	}
}

// A stream that is open when its grant ends is cut.
func TestARevokedGrantEndsItsStream(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	_, got := p.grant(n, "resource", n.URL)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+got.Access)
	res, err := p.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the stream has status %d", res.StatusCode)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		}
	}()
	n.revoke("ada")
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the stream goes on after the revocation")
	}
}
