package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

const (
	verifier = "a-code-verifier-of-more-than-43-characters-0123456789"
	callback = "https://app.example/callback?x=1"
)

func challengeOf(v string) string {
	sum := sha256.Sum256([]byte(v))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// register registers a client and returns its ID.
func (p *person) register(n *oauthNode, uris ...string) string {
	p.t.Helper()
	res := p.registration(n, map[string]any{"client_name": "A program", "redirect_uris": uris})
	var got struct {
		ID     string `json:"client_id"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if err := json.Unmarshal([]byte(res.text), &got); err != nil || res.StatusCode != http.StatusCreated || got.ID == "" || got.Method != "none" {
		p.t.Fatalf("the registration has status %d: %s", res.StatusCode, res.text)
	}
	return got.ID
}

func (p *person) registration(n *oauthNode, metadata any) reply {
	p.t.Helper()
	body, err := json.Marshal(metadata)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, n.URL+"/oauth/register", strings.NewReader(string(body)))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return p.send(req)
}

// codeRequest returns the address of a request for a code. Pairs replace parameters; an empty value removes one.
func codeRequest(n *oauthNode, client string, pairs ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {callback}, "state": {"s t&a=te"},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"}, "scope": {"memory:read memory:write"},
		"resource": {n.URL + "/mcp"},
	}
	for i := 0; i < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	return n.URL + "/oauth/authorize?" + q.Encode()
}

// pair is an answer of the token endpoint.
type pair struct {
	Status  int    `json:"-"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Type    string `json:"token_type"`
	Scope   string `json:"scope"`
	Expires int64  `json:"expires_in"`
	Error   string `json:"error"`
}

func (p *person) token(n *oauthNode, form url.Values, headers ...string) pair {
	p.t.Helper()
	res := p.post(n.URL+"/oauth/token", form, headers...)
	got := pair{}
	if err := json.Unmarshal([]byte(res.text), &got); err != nil {
		p.t.Fatalf("the token endpoint answers %d %s", res.StatusCode, res.text)
	}
	if res.Header.Get("Cache-Control") != "no-store" {
		p.t.Errorf("a token may be cached: %v", res.Header)
	}
	got.Status = res.StatusCode
	return got
}

func exchangeForm(client, code string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code},
		"redirect_uri": {callback}, "code_verifier": {verifier},
	}
}

func refreshForm(client, refresh string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {refresh}}
}

// grant has ada allow a new client everything.
func (p *person) grant(n *oauthNode, pairs ...string) (client string, got pair) {
	p.t.Helper()
	client = p.register(n, callback)
	back := newPerson(p.t).allow(codeRequest(n, client, pairs...), n.ada)
	got = p.token(n, exchangeForm(client, back.Query().Get("code")))
	if got.Status != http.StatusOK || got.Access == "" || got.Refresh == "" || got.Type != "Bearer" {
		p.t.Fatalf("no tokens: %+v", got)
	}
	return client, got
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// try calls a path with an access token.
func (p *person) try(n *oauthNode, method, path, body, access string) reply {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, n.URL+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+access)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return p.send(req)
}

func (p *person) reaches(n *oauthNode, access string) int {
	p.t.Helper()
	return p.try(n, http.MethodPost, "/mcp", initialize, access).StatusCode
}

func TestAPersonAllowsAProgram(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, callback)

	consent := newPerson(t).logIn(codeRequest(n, client), n.ada)
	for _, want := range []string{"A program", "app.example", "ada", "all collections", "memory:read", "memory:write", "MCP alone"} {
		if !strings.Contains(consent.text, want) {
			t.Errorf("the consent page does not show %q", want)
		}
	}
	ada := newPerson(t)
	back := ada.decide(ada.logIn(codeRequest(n, client), n.ada), "allow", "write")
	if q := back.Query(); q.Get("state") != "s t&a=te" || q.Get("iss") != n.URL || q.Get("x") != "1" || back.Host != "app.example" {
		t.Errorf("the browser goes to %s", back)
	}
	got := p.token(n, exchangeForm(client, back.Query().Get("code")))
	if got.Expires != 600 || got.Scope != "memory:read memory:write" {
		t.Errorf("tokens %+v", got)
	}
	if status := p.reaches(n, got.Access); status != http.StatusOK {
		t.Errorf("/mcp answers %d", status)
	}
	if status := p.try(n, http.MethodGet, "/api/memories", "", got.Access).StatusCode; status != http.StatusForbidden {
		t.Errorf("an access token for /mcp reaches /api/memories: %d", status)
	}

	// The next one has other tokens, and the first ones are worth nothing.
	next := p.token(n, refreshForm(client, got.Refresh))
	if next.Status != http.StatusOK || next.Access == got.Access || next.Refresh == got.Refresh {
		t.Errorf("refreshed: %+v", next)
	}
	if old, now := p.reaches(n, got.Access), p.reaches(n, next.Access); old != http.StatusUnauthorized || now != http.StatusOK {
		t.Errorf("after the refresh the old token has %d, the new one %d", old, now)
	}
}

func TestAPersonDenies(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, callback)
	q := p.decide(p.logIn(codeRequest(n, client), n.ada), "deny").Query()
	if q.Get("error") != "access_denied" || q.Get("code") != "" || q.Get("state") != "s t&a=te" || q.Get("iss") != n.URL {
		t.Errorf("the browser goes to %v", q)
	}
	if g := n.grants.State().Grants; len(g) != 0 {
		t.Errorf("there are grants: %v", g)
	}
}

// What is wrong with a request for a code is shown, and never sent to the program by a redirect.
func TestRequestsForACodeAreRefused(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, callback, "http://127.0.0.1:8765/callback", "http://localhost/cb")
	for name, c := range map[string]struct {
		pairs []string
		back  bool // the page has a link to the program
	}{
		"an unknown client":                 {[]string{"client_id", "rmcl_other"}, false},
		"no client":                         {[]string{"client_id", ""}, false},
		"no redirect":                       {[]string{"redirect_uri", ""}, false},
		"a foreign redirect":                {[]string{"redirect_uri", "https://evil.example/callback?x=1"}, false},
		"a longer host":                     {[]string{"redirect_uri", "https://app.example.evil.example/callback?x=1"}, false},
		"a longer path":                     {[]string{"redirect_uri", "https://app.example/callback/../evil?x=1"}, false},
		"the query as a prefix":             {[]string{"redirect_uri", callback + "&y=2"}, false},
		"a user name":                       {[]string{"redirect_uri", "https://app.example@evil.example/callback?x=1"}, false},
		"a backslash":                       {[]string{"redirect_uri", `https://evil.example\@app.example/callback?x=1`}, false},
		"a fragment":                        {[]string{"redirect_uri", callback + "#x"}, false},
		"another scheme":                    {[]string{"redirect_uri", "http://app.example/callback?x=1"}, false},
		"another port of a host":            {[]string{"redirect_uri", "https://app.example:8443/callback?x=1"}, false},
		"another path of this machine":      {[]string{"redirect_uri", "http://127.0.0.1:8765/other"}, false},
		"another name of this machine":      {[]string{"redirect_uri", "http://localhost:8765/callback"}, false},
		"a name that begins with localhost": {[]string{"redirect_uri", "http://localhost.evil.example/cb"}, false},
		"a user at this machine":            {[]string{"redirect_uri", "http://localhost@evil.example/cb"}, false},
		"no PKCE":                           {[]string{"code_challenge", "", "code_challenge_method", ""}, true},
		"plain PKCE":                        {[]string{"code_challenge", verifier, "code_challenge_method", "plain"}, true},
		"PKCE without a method":             {[]string{"code_challenge_method", ""}, true},
		"a short challenge":                 {[]string{"code_challenge", "abc"}, true},
		"the implicit flow":                 {[]string{"response_type", "token"}, true},
		"another resource":                  {[]string{"resource", "https://other.example/mcp"}, true},
		"a resource that begins as ours":    {[]string{"resource", n.URL + ".evil.example/mcp"}, true},
		"scopes of others":                  {[]string{"scope", "admin tokens"}, true},
		"a fragment response":               {[]string{"response_mode", "fragment"}, true},
		"a huge state":                      {[]string{"state", strings.Repeat("s", 3000)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			res := newPerson(t).open(codeRequest(n, client, c.pairs...))
			if res.StatusCode != http.StatusBadRequest || res.Header.Get("Location") != "" || strings.Contains(res.text, "<form") {
				t.Errorf("status %d, location %q: %s", res.StatusCode, res.Header.Get("Location"), res.text)
			}
			if link := strings.Contains(res.text, `href="https://app.example/callback?`) && strings.Contains(res.text, "error="); link != c.back {
				t.Errorf("a link to the program: %t, want %t: %s", link, c.back, res.text)
			}
		})
	}
	twice := p.open(codeRequest(n, client) + "&redirect_uri=https://evil.example/")
	if twice.StatusCode != http.StatusBadRequest {
		t.Errorf("a parameter that is given twice has status %d", twice.StatusCode)
	}

	for _, uri := range []string{"http://127.0.0.1:1/callback", "http://127.0.0.1/callback", "http://localhost:65000/cb"} {
		if res := p.open(codeRequest(n, client, "redirect_uri", uri)); res.StatusCode != http.StatusOK {
			t.Errorf("another port of this machine, %s: status %d", uri, res.StatusCode)
		}
	}
}

func TestCodesAreRefused(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, other := p.register(n, callback), p.register(n, callback)
	fresh := func() string {
		return newPerson(t).allow(codeRequest(n, client), n.ada).Query().Get("code")
	}
	for name, c := range map[string]struct {
		change func(url.Values)
		header string
		error  string
		status int
	}{
		"a wrong verifier":          {func(f url.Values) { f.Set("code_verifier", strings.Repeat("w", 43)) }, "", "invalid_grant", 400},
		"the challenge as verifier": {func(f url.Values) { f.Set("code_verifier", challengeOf(verifier)) }, "", "invalid_grant", 400},
		"no verifier":               {func(f url.Values) { f.Del("code_verifier") }, "", "invalid_request", 400},
		"a short verifier":          {func(f url.Values) { f.Set("code_verifier", "short") }, "", "invalid_grant", 400},
		"another client":            {func(f url.Values) { f.Set("client_id", other) }, "", "invalid_grant", 400},
		"an unknown client":         {func(f url.Values) { f.Set("client_id", "rmcl_x") }, "", "invalid_client", 401},
		"no client":                 {func(f url.Values) { f.Del("client_id") }, "", "invalid_client", 401},
		"a secret":                  {func(f url.Values) { f.Set("client_secret", "x") }, "", "invalid_client", 401},
		"a secret in a header":      {func(url.Values) {}, "Authorization: Basic eDp5", "invalid_client", 401},
		"another redirect":          {func(f url.Values) { f.Set("redirect_uri", "https://evil.example/") }, "", "invalid_grant", 400},
		"another code":              {func(f url.Values) { f.Set("code", "rmc_other") }, "", "invalid_grant", 400},
		"another resource":          {func(f url.Values) { f.Set("resource", "https://other.example/mcp") }, "", "invalid_target", 400},
		"a wider resource":          {func(f url.Values) { f.Set("resource", n.URL) }, "", "invalid_target", 400},
		"the password grant": {func(f url.Values) {
			f.Set("grant_type", "password")
			f.Set("username", "ada")
			f.Set("password", n.ada)
		}, "", "access_denied", 403},
		"the client's own grant":     {func(f url.Values) { f.Set("grant_type", "client_credentials") }, "", "unauthorized_client", 400},
		"an unknown grant":           {func(f url.Values) { f.Set("grant_type", "x") }, "", "unsupported_grant_type", 400},
		"a parameter given twice":    {func(f url.Values) { f.Add("code", "rmc_other") }, "", "invalid_request", 400},
		"a form of another type":     {func(url.Values) {}, "Content-Type: text/plain", "invalid_request", 400},
		"a form that is over 16 KiB": {func(f url.Values) { f.Set("x", strings.Repeat("x", 20_000)) }, "", "invalid_request", 400},
	} {
		t.Run(name, func(t *testing.T) {
			form := exchangeForm(client, fresh())
			c.change(form)
			var headers []string
			if c.header != "" {
				headers = []string{c.header}
			}
			if got := newPerson(t).token(n, form, headers...); got.Status != c.status || got.Error != c.error || got.Access != "" {
				t.Errorf("got %+v, want %d %s", got, c.status, c.error)
			}
		})
	}
	// The parameters of the address do not count, since addresses are in logs.
	res := p.post(n.URL+"/oauth/token?"+exchangeForm(client, fresh()).Encode(), url.Values{})
	if res.StatusCode == http.StatusOK {
		t.Errorf("a code in the address is taken: %s", res.text)
	}
	if got := p.token(n, exchangeForm(client, fresh())); got.Status != http.StatusOK {
		t.Errorf("an unchanged form: %+v", got)
	}
	without := exchangeForm(client, fresh())
	without.Del("redirect_uri")
	if got := p.token(n, without); got.Status != http.StatusOK {
		t.Errorf("without redirect_uri, as OAuth 2.1 has it: %+v", got)
	}
}

// Whoever shows a code again ends what it gave: it has been stolen.
func TestACodeIsUsedOnce(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, callback)
	code := newPerson(t).allow(codeRequest(n, client), n.ada).Query().Get("code")
	first := p.token(n, exchangeForm(client, code))
	second := p.token(n, exchangeForm(client, code))
	if first.Status != http.StatusOK || second.Status != http.StatusBadRequest || second.Error != "invalid_grant" {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if status := p.reaches(n, first.Access); status != http.StatusUnauthorized {
		t.Errorf("the first token is still good: %d", status)
	}
	if got := p.token(n, refreshForm(client, first.Refresh)); got.Error != "invalid_grant" {
		t.Errorf("the first refresh token is still good: %+v", got)
	}

	// A wrong verifier uses the code up, so that it cannot be guessed.
	code = newPerson(t).allow(codeRequest(n, client), n.ada).Query().Get("code")
	form := exchangeForm(client, code)
	form.Set("code_verifier", strings.Repeat("w", 43))
	p.token(n, form)
	if got := p.token(n, exchangeForm(client, code)); got.Error != "invalid_grant" {
		t.Errorf("after a wrong verifier: %+v", got)
	}
}

func TestRefreshTokensAreRefused(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, got := p.grant(n)
	other := p.register(n, callback)

	if res := p.token(n, refreshForm(other, got.Refresh)); res.Error != "invalid_grant" {
		t.Errorf("the refresh token of another client: %+v", res)
	}
	wider := refreshForm(client, got.Refresh)
	wider.Set("scope", "memory:read memory:write admin")
	if res := p.token(n, wider); res.Error != "invalid_scope" {
		t.Errorf("a wider scope: %+v", res)
	}
	for _, text := range []string{"", "rmr_", "rmr_abc", got.Access, got.Refresh[:len(got.Refresh)-4] + "AAAA"} {
		// The last one has the family of a real token, which only its holder knows.
		if res := p.token(n, refreshForm(client, text)); res.Status != http.StatusBadRequest {
			t.Errorf("%q: %+v", text, res)
		}
	}
	if res := p.token(n, refreshForm(client, got.Refresh)); res.Error != "invalid_grant" {
		t.Errorf("after a forged token of the family: %+v", res)
	}
}

// An old refresh token ends the family, whoever shows it.
func TestReuseOfARefreshTokenEndsTheGrant(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, first := p.grant(n)
	second := p.token(n, refreshForm(client, first.Refresh))
	third := p.token(n, refreshForm(client, second.Refresh))
	if third.Status != http.StatusOK || p.reaches(n, third.Access) != http.StatusOK {
		t.Fatalf("refreshed twice: %+v", third)
	}
	if res := p.token(n, refreshForm(client, first.Refresh)); res.Error != "invalid_grant" {
		t.Errorf("the first token again: %+v", res)
	}
	if status := p.reaches(n, third.Access); status != http.StatusUnauthorized {
		t.Errorf("the last access token has status %d", status)
	}
	if res := p.token(n, refreshForm(client, third.Refresh)); res.Error != "invalid_grant" {
		t.Errorf("the last refresh token: %+v", res)
	}
	events := n.told()
	if len(events) != 2 || !events[0].Made || events[1].Made || !strings.Contains(events[1].Why, "used again") {
		t.Errorf("told %+v", events)
	}
}

// A client may ask for less with a refresh, and for all again later.
func TestARefreshMayAskForLess(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, got := p.grant(n, "resource", n.URL)
	less := refreshForm(client, got.Refresh)
	less.Set("scope", "memory:read")
	read := p.token(n, less)
	if read.Scope != "memory:read" || p.learns(n, read.Access) != http.StatusForbidden {
		t.Errorf("for reading: %+v", read)
	}
	all := p.token(n, refreshForm(client, read.Refresh))
	if all.Scope != "memory:read memory:write" || p.learns(n, all.Access) != http.StatusOK {
		t.Errorf("for all again: %+v", all)
	}
}

func (p *person) learns(n *oauthNode, access string) int {
	p.t.Helper()
	return p.try(n, http.MethodPost, "/api/learn", `{"insight":"a fact of the program"}`, access).StatusCode
}

// A grant gives what the login may, what the person chose and what the program asked for, whichever is least.
func TestAGrantGivesNoMoreThanItsLogin(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	for name, c := range map[string]struct {
		secret, scope, rights, want string
	}{
		"a login for reading":       {n.eve, "memory:read memory:write", "write", "memory:read"},
		"a person who chose less":   {n.ada, "memory:read memory:write", "read", "memory:read"},
		"a program that asked less": {n.ada, "memory:read", "write", "memory:read"},
		"all":                       {n.ada, "memory:read memory:write offline_access", "write", "memory:read memory:write"},
		"no scope":                  {n.ada, "", "write", "memory:read memory:write"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			client := p.register(n, callback)
			someone := newPerson(t)
			consent := someone.logIn(codeRequest(n, client, "scope", c.scope, "resource", n.URL), c.secret)
			back := someone.decide(consent, "allow", c.rights)
			got := p.token(n, exchangeForm(client, back.Query().Get("code")))
			learns := p.learns(n, got.Access)
			if got.Scope != c.want || (learns == http.StatusOK) != strings.Contains(c.want, "write") {
				t.Errorf("scope %q, want %q; learn has %d", got.Scope, c.want, learns)
			}
			more := refreshForm(client, got.Refresh)
			more.Set("scope", "memory:read memory:write")
			if res := p.token(n, more); (res.Status == http.StatusOK) != strings.Contains(c.want, "write") {
				t.Errorf("a refresh for more: %+v", res)
			}
		})
	}
}

// A program cannot make itself a token that outlives its grant, nor log in as a person.
func TestAGrantGivesNoOtherAccess(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{ManageTokens: noTokens{}})
	p := newPerson(t)
	client, got := p.grant(n, "resource", n.URL)
	if status := p.try(n, http.MethodGet, "/api/memories", "", got.Access).StatusCode; status != http.StatusOK {
		t.Fatalf("the API answers %d", status)
	}
	for _, c := range [][3]string{
		{http.MethodPost, "/api/tokens", `{"name":"mine"}`}, {http.MethodGet, "/api/tokens", ""}, {http.MethodDelete, "/api/tokens/ada", ""},
		{http.MethodPost, "/login", `{"token":"` + got.Access + `"}`},
	} {
		if res := p.try(n, c[0], c[1], c[2], got.Access); res.StatusCode != http.StatusForbidden || res.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s %s has status %d", c[0], c[1], res.StatusCode)
		}
	}
	for _, secret := range []string{got.Access, got.Refresh, web.NewSecret(), ""} {
		action, fields := p.open(codeRequest(n, client)).form(t)
		fields.Set("token", secret)
		if res := newPerson(t).post(action, fields); res.StatusCode != http.StatusUnauthorized || res.Header.Get("Set-Cookie") != "" {
			t.Errorf("a login with %.8q has status %d", secret, res.StatusCode)
		}
	}
}

// noTokens is a TokenManager that must not be asked.
type noTokens struct{ web.TokenManager }

func (noTokens) Used(web.Token) {}

func TestAGrantEndsWithItsLogin(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, got := p.grant(n)
	code := newPerson(t).allow(codeRequest(n, client), n.ada).Query().Get("code")
	n.revoke("ada")
	if status := p.reaches(n, got.Access); status != http.StatusUnauthorized {
		t.Errorf("the access token has status %d", status)
	}
	if res := p.token(n, refreshForm(client, got.Refresh)); res.Error != "invalid_grant" {
		t.Errorf("the refresh token: %+v", res)
	}
	if res := p.token(n, exchangeForm(client, code)); res.Error != "invalid_grant" {
		t.Errorf("a code of the revoked login gives %+v", res)
	}
}

func TestAccessExpires(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{AccessLife: time.Millisecond, RefreshLife: 2 * time.Second}, web.Options{})
	p := newPerson(t)
	client, got := p.grant(n)
	time.Sleep(2 * time.Millisecond) // the life of the token, not of a race
	res := p.try(n, http.MethodPost, "/mcp", initialize, got.Access)
	if h := res.Header.Get("WWW-Authenticate"); res.StatusCode != http.StatusUnauthorized || !strings.Contains(h, `error="invalid_token"`) || !strings.Contains(h, "resource_metadata=") {
		t.Errorf("status %d, %q", res.StatusCode, h)
	}
	next := p.token(n, refreshForm(client, got.Refresh))
	if next.Status != http.StatusOK {
		t.Errorf("the refresh: %+v", next)
	}
	time.Sleep(2100 * time.Millisecond)
	if res := p.token(n, refreshForm(client, next.Refresh)); res.Error != "invalid_grant" {
		t.Errorf("after the life of the grant: %+v", res)
	}
}
