package web_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

const audience = "https://memory.example"

// issuer is an identity provider with discovery and keys.
type issuer struct {
	*httptest.Server
	asked atomic.Int64 // for its keys

	mu   sync.Mutex
	keys []jose.JSONWebKey
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/a", "token_endpoint": i.URL + "/t"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.asked.Add(1)
		i.mu.Lock()
		defer i.mu.Unlock()
		public := jose.JSONWebKeySet{}
		for _, k := range i.keys {
			public.Keys = append(public.Keys, k.Public())
		}
		_ = json.NewEncoder(w).Encode(public)
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func newKey(t *testing.T, id string) jose.JSONWebKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: k, KeyID: id, Algorithm: "ES256", Use: "sig"}
}

func (i *issuer) publish(keys ...jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// sign returns a JWT with the usual claims and others over them; nil removes one.
func (i *issuer) sign(t *testing.T, key jose.JSONWebKey, more map[string]any) string {
	t.Helper()
	return i.signAs(t, key, "at+jwt", more)
}

func (i *issuer) signAs(t *testing.T, key jose.JSONWebKey, typ jose.ContentType, more map[string]any) string {
	t.Helper()
	claims := map[string]any{
		"iss": i.URL, "aud": audience, "sub": "person-1", "preferred_username": "ada", "exp": time.Now().Add(time.Hour).Unix(),
		"robotmem_role": "operator", "robotmem_tenant": "north",
	}
	for name, v := range more {
		if claims[name] = v; v == nil {
			delete(claims, name)
		}
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType(typ))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// asked is a memory that notes who asks, and waits for changes until its caller leaves.
type asked struct {
	robotmem.Node
	who     chan robotmem.Caller
	waiting chan struct{}
}

func newAsked() *asked {
	return &asked{who: make(chan robotmem.Caller, 100), waiting: make(chan struct{}, 1)}
}

func (a *asked) List(ctx context.Context, _ *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	a.who <- robotmem.CallerOf(ctx)
	return &robotmem.ListResponse{Memories: []robotmem.Memory{}}, nil
}

func (a *asked) Changes(ctx context.Context, r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	a.waiting <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func serveAsked(t *testing.T, o web.Options) (*asked, string) {
	t.Helper()
	a := newAsked()
	o.MCP = mcp.NewServer(a, mcp.Options{}).Handler()
	srv := httptest.NewServer(web.NewServer(a, o).Handler)
	t.Cleanup(srv.Close)
	return a, srv.URL
}

func get(t *testing.T, method, url, secret string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// noLookup is a site without tokens of its own.
func noLookup(context.Context, [sha256.Size]byte) (robotmem.Caller, bool, error) {
	return robotmem.Caller{}, false, nil
}

func TestAccessTokens(t *testing.T) {
	i, key := newIssuer(t), newKey(t, "k1")
	i.publish(key)
	a, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: i.URL, Audience: audience, RoleClaim: "realm_access.roles"}})
	now := time.Now()
	in := func(d time.Duration) int64 { return now.Add(d).Unix() }
	roles := func(names ...any) map[string]any { return map[string]any{"roles": names} }
	none := func(token string) string {
		parts := strings.Split(token, ".")
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + parts[1] + "."
	}
	symmetric := func(token string) string { // signed with the public key as a secret
		public, err := json.Marshal(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: public}, nil)
		if err != nil {
			t.Fatal(err)
		}
		payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
		signed, err := signer.Sign(payload)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := signed.CompactSerialize()
		return text
	}
	changed := func(token string) string {
		parts := strings.Split(token, ".")
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(payload), "north", "south", 1)))
		return strings.Join(parts, ".")
	}
	as := func(c robotmem.Caller) robotmem.Caller {
		c.Tool, c.Client, c.Tenant = robotmem.ToolREST, "Go-http-client/1.1", "north"
		if c.Who == "" {
			c.Who = "ada"
		}
		return c
	}
	operator := as(robotmem.Caller{Role: "operator", Collections: "*"})
	for name, c := range map[string]struct {
		claims map[string]any
		change func(string) string
		typ    jose.ContentType
		status int
		who    robotmem.Caller
		header string // of WWW-Authenticate
		detail string
	}{
		"an operator":                 {status: 200, who: operator},
		"of several roles the most":   {claims: map[string]any{"realm_access": roles("offline", "reader", "admin")}, status: 200, who: as(robotmem.Caller{Role: "admin", Collections: "*"})},
		"a reader":                    {claims: map[string]any{"realm_access": roles("reader"), "robotmem_collections": []any{"a", "b"}}, status: 200, who: as(robotmem.Caller{Role: "reader", ReadOnly: true, Collections: "a,b"})},
		"a robot":                     {claims: map[string]any{"realm_access": roles("robot"), "robotmem_robot": "arm-7", "robotmem_collections": "a b", "preferred_username": nil}, status: 200, who: as(robotmem.Caller{Who: "person-1", Role: "robot", Robot: "arm-7", Collections: "a,b"})},
		"one of several audiences":    {claims: map[string]any{"aud": []any{"other", audience}}, status: 200, who: operator},
		"expired within the skew":     {claims: map[string]any{"exp": in(-50 * time.Second)}, status: 200, who: operator},
		"not yet valid in the skew":   {claims: map[string]any{"nbf": in(50 * time.Second)}, status: 200, who: operator},
		"expired by more":             {claims: map[string]any{"exp": in(-70 * time.Second)}, status: 401, header: `error="invalid_token"`, detail: "has expired"},
		"no expiry":                   {claims: map[string]any{"exp": nil}, status: 401, header: `error="invalid_token"`, detail: "has expired"},
		"not yet valid by more":       {claims: map[string]any{"nbf": in(70 * time.Second)}, status: 401, header: `error="invalid_token"`, detail: "not valid yet"},
		"nbf as a text":               {claims: map[string]any{"nbf": "9999999999"}, status: 401, header: `error="invalid_token"`, detail: "nbf is no number"},
		"a logout token":              {claims: map[string]any{"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}, status: 401, header: `error="invalid_token"`, detail: "logout"},
		"a token of another type":     {typ: "logout+jwt", status: 401, header: `error="invalid_token"`, detail: "no access token"},
		"another audience":            {claims: map[string]any{"aud": "https://other.example"}, status: 401, header: `error="invalid_token"`, detail: "another audience"},
		"no audience":                 {claims: map[string]any{"aud": nil}, status: 401, header: `error="invalid_token"`},
		"another issuer":              {claims: map[string]any{"iss": "https://evil.example"}, status: 401, header: `error="invalid_token"`},
		"alg none":                    {change: none, status: 401, header: `error="invalid_token"`},
		"signed with the public key":  {change: symmetric, status: 401, header: `error="invalid_token"`},
		"changed after it was signed": {change: changed, status: 401, header: `error="invalid_token"`},
		"no role":                     {claims: map[string]any{"realm_access": roles("offline")}, status: 403, header: `error="insufficient_scope"`, detail: "realm_access.roles"},
		"no tenant":                   {claims: map[string]any{"robotmem_tenant": nil}, status: 403, header: `error="insufficient_scope"`, detail: "robotmem_tenant"},
		"a robot of no collections":   {claims: map[string]any{"realm_access": roles("robot"), "robotmem_robot": "arm-7"}, status: 403, detail: "robotmem_collections"},
		"a robot without a name":      {claims: map[string]any{"realm_access": roles("robot"), "robotmem_collections": "a"}, status: 403, detail: "robotmem_robot"},
		"odd collections":             {claims: map[string]any{"realm_access": roles("reader"), "robotmem_collections": []any{"a,*"}}, status: 403, detail: "robotmem_collections"},
	} {
		claims := map[string]any{"realm_access": roles("operator")}
		for k, v := range c.claims {
			claims[k] = v
		}
		token := i.signAs(t, key, cmp.Or(c.typ, "at+jwt"), claims)
		if c.change != nil {
			token = c.change(token)
		}
		res, body := get(t, "GET", url+"/api/memories", token)
		for res.StatusCode == http.StatusTooManyRequests { // of wrong tokens from one address
			time.Sleep(50 * time.Millisecond)
			res, body = get(t, "GET", url+"/api/memories", token)
		}
		challenge := res.Header.Get("WWW-Authenticate")
		if res.StatusCode != c.status || !strings.Contains(challenge, c.header) || !strings.Contains(body, c.detail) || c.status != 200 && !strings.Contains(challenge, `resource_metadata="`+url+"/.well-known/oauth-protected-resource\"") {
			t.Errorf("%s: got %s %q %s, want %d %s %s", name, res.Status, challenge, body, c.status, c.header, c.detail)
		}
		if c.status == 200 {
			if who := <-a.who; who != c.who {
				t.Errorf("%s: got %+v, want %+v", name, who, c.who)
			}
		}
	}
	if len(a.who) > 0 {
		t.Error("a refused request reached the memory")
	}
}

// A key that the provider adds is fetched when a token names it, and tokens of unknown keys do not
// make the node ask the provider without end.
func TestKeysRotate(t *testing.T) {
	i, first, second := newIssuer(t), newKey(t, "k1"), newKey(t, "k2")
	i.publish(first)
	_, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: i.URL, Audience: audience}})
	want := func(status int, token string) {
		t.Helper()
		if res, body := get(t, "GET", url+"/api/memories", token); res.StatusCode != status {
			t.Errorf("got %s %s, want %d", res.Status, body, status)
		}
	}
	want(200, i.sign(t, first, nil))
	want(401, i.sign(t, second, nil)) // not published yet
	i.publish(second, first)
	want(200, i.sign(t, second, nil))
	want(200, i.sign(t, first, map[string]any{"sub": "another"}))
	i.publish(second)
	want(200, i.sign(t, second, map[string]any{"sub": "a third"}))
	before := i.asked.Load()
	for range 40 {
		res, _ := get(t, "GET", url+"/api/memories", i.sign(t, newKey(t, "unknown"), nil))
		if s := res.StatusCode; s != 401 && s != 429 && s != 503 {
			t.Errorf("a token of an unknown key: %s", res.Status)
		}
	}
	if n := i.asked.Load() - before; n > 20 {
		t.Errorf("40 tokens of unknown keys made %d requests to the provider", n)
	}
	want(200, i.sign(t, second, map[string]any{"sub": "a fourth"})) // its key is known
}

// A key that the provider withdraws is refused after a minute, for tokens that were seen and others.
func TestWithdrawnKeysAreRefused(t *testing.T) {
	i, first, second := newIssuer(t), newKey(t, "k1"), newKey(t, "k2")
	i.publish(first, second)
	var later atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	_, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: i.URL, Audience: audience, Clock: clock}})
	seen := i.sign(t, first, nil)
	want := func(status int, token string) {
		t.Helper()
		if res, body := get(t, "GET", url+"/api/memories", token); res.StatusCode != status {
			t.Errorf("got %s %s, want %d", res.Status, body, status)
		}
	}
	want(200, seen)
	i.publish(second)
	later.Store(int64(61 * time.Second))
	want(401, seen)
	want(401, i.sign(t, first, map[string]any{"sub": "another"}))
	want(200, i.sign(t, second, nil))
	// While the provider is away its keys are used on, and not without limit.
	i.Close()
	later.Store(int64(5 * time.Minute))
	want(200, i.sign(t, second, map[string]any{"sub": "a third"}))
	later.Store(int64(20 * time.Minute))
	want(503, i.sign(t, second, map[string]any{"sub": "a fourth"}))
}

// Keys for encryption and documents of any length are not taken.
func TestUnfitKeysAreRefused(t *testing.T) {
	i, key := newIssuer(t), newKey(t, "k1")
	key.Use = "enc"
	i.publish(key)
	_, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: i.URL, Audience: audience}})
	if res, body := get(t, "GET", url+"/api/memories", i.sign(t, key, nil)); res.StatusCode != 401 {
		t.Errorf("a key for encryption: %s %s", res.Status, body)
	}
	var sent atomic.Int64
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/keys" {
			_ = json.NewEncoder(w).Encode(map[string]any{"issuer": "http://" + r.Host, "jwks_uri": "http://" + r.Host + "/keys"})
			return
		}
		_, _ = io.WriteString(w, `{"keys":[`)
		for line := []byte(strings.Repeat(" ", 1<<16)); ; sent.Add(int64(len(line))) {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	i.Server.URL = endless.URL // of the claims
	_, url = serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: endless.URL, Audience: audience}})
	res, body := get(t, "GET", url+"/api/memories", i.sign(t, key, nil))
	if res.StatusCode != 503 || sent.Load() > 64<<20 {
		t.Errorf("%s %s after %d MiB", res.Status, body, sent.Load()>>20)
	}
}

// A provider that does not answer holds one request up, and not one after the other.
func TestSlowDiscoveryQueuesNobody(t *testing.T) {
	release := make(chan struct{})
	var asked atomic.Int64
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	i, key := newIssuer(t), newKey(t, "k1")
	_, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: slow.URL, Audience: audience}})
	var all sync.WaitGroup
	began, first := time.Now(), make(chan time.Duration, 8)
	for n := range 8 {
		token := i.sign(t, key, map[string]any{"sub": n})
		all.Go(func() {
			if res, body := get(t, "GET", url+"/api/memories", token); res.StatusCode != 503 {
				t.Errorf("got %s %s", res.Status, body)
			}
			first <- time.Since(began)
		})
	}
	all.Wait()
	close(first)
	late := 0
	for took := range first {
		if took > 5*time.Second {
			late++
		}
	}
	if took := time.Since(began); late > 1 || took > 15*time.Second || asked.Load() != 1 {
		t.Errorf("%d of 8 requests waited, %v in all, the provider was asked %d times", late, took, asked.Load())
	}
	began = time.Now()
	if res, _ := get(t, "GET", url+"/api/memories", i.sign(t, key, map[string]any{"sub": "later"})); res.StatusCode != 503 || time.Since(began) > 2*time.Second {
		t.Errorf("after the failure: %s in %v", res.Status, time.Since(began))
	}
}

func TestProviderAway(t *testing.T) {
	i, key := newIssuer(t), newKey(t, "k1")
	token := i.sign(t, key, nil)
	i.Close()
	_, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: i.URL, Audience: audience}})
	res, body := get(t, "GET", url+"/api/memories", token)
	if res.StatusCode != 503 || !strings.Contains(body, "identity provider") || res.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("got %s %s", res.Status, body)
	}
}

// A request in progress ends when its token expires.
func TestAccessTokenExpiresInARequest(t *testing.T) {
	i, key := newIssuer(t), newKey(t, "k1")
	i.publish(key)
	var later atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	a, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: i.URL, Audience: audience, Clock: clock}})
	token := i.sign(t, key, nil)
	ended := make(chan int, 1)
	go func() {
		res, _ := get(t, "GET", url+"/api/changes?wait_ms=60000&since=0", token)
		ended <- res.StatusCode
	}()
	<-a.waiting
	later.Store(int64(time.Hour + 2*time.Minute))
	select {
	case status := <-ended:
		if status != 401 {
			t.Errorf("it ended with %d", status)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	if res, body := get(t, "GET", url+"/api/memories", token); res.StatusCode != 401 {
		t.Errorf("afterwards: %s %s", res.Status, body)
	}
}

// RFC 9728: a client that is refused finds the authorization server.
func TestProtectedResourceMetadata(t *testing.T) {
	i, key := newIssuer(t), newKey(t, "k1")
	i.publish(key)
	_, url := serveAsked(t, web.Options{Lookup: noLookup, OIDC: &web.OIDC{Issuer: i.URL, Audience: audience, Scopes: []string{"openid", "robotmem"}}})
	_, fixed := serveAsked(t, web.Options{OIDC: &web.OIDC{Issuer: i.URL, Audience: audience, Resource: "https://memory.example/"}})
	for at, resource := range map[string]string{url + "/api/memories": url, url + "/mcp": url + "/mcp", fixed + "/mcp": "https://memory.example/mcp", fixed + "/api/stats": "https://memory.example"} {
		method := "GET"
		if strings.HasSuffix(at, "/mcp") {
			method = "POST"
		}
		res, _ := get(t, method, at, "")
		_, where, _ := strings.Cut(res.Header.Get("WWW-Authenticate"), `resource_metadata="`)
		where, _, ok := strings.Cut(where, `"`)
		if res.StatusCode != 401 || !ok || strings.Contains(res.Header.Get("WWW-Authenticate"), "error=") {
			t.Errorf("%s: got %s %q", at, res.Status, res.Header.Get("WWW-Authenticate"))
			continue
		}
		res, body := get(t, "GET", strings.Replace(where, "https://memory.example", fixed, 1), "")
		var got struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Methods  []string `json:"bearer_methods_supported"`
			Scopes   []string `json:"scopes_supported"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: got %s %s %v", where, res.Status, body, err)
		}
		if got.Resource != resource || len(got.Servers) != 1 || got.Servers[0] != i.URL || len(got.Methods) != 1 || got.Methods[0] != "header" || len(got.Scopes) == 0 || got.Scopes[0] != "openid" {
			t.Errorf("%s: got %+v, want the resource %s", where, got, resource)
		}
	}
	// A client of another node is not sent there.
	_, plain := serveAsked(t, web.Options{RequireToken: true})
	if res, _ := get(t, "GET", plain+"/.well-known/oauth-protected-resource", ""); res.StatusCode != 401 || strings.Contains(res.Header.Get("WWW-Authenticate"), "resource_metadata") {
		t.Errorf("without a provider: %s %q", res.Status, res.Header.Get("WWW-Authenticate"))
	}
}

// A node with one memory has nobody to keep a robot to its collections.
func TestOneMemoryHasNoRobots(t *testing.T) {
	i, key := newIssuer(t), newKey(t, "k1")
	i.publish(key)
	a, url := serveAsked(t, web.Options{OIDC: &web.OIDC{Issuer: i.URL, Audience: audience}})
	for role, status := range map[string]int{"operator": 200, "reader": 200, "robot": 403} {
		token := i.sign(t, key, map[string]any{"robotmem_tenant": nil, "robotmem_role": role, "robotmem_robot": "a"})
		if res, body := get(t, "GET", url+"/api/memories", token); res.StatusCode != status {
			t.Errorf("%s: %s %s", role, res.Status, body)
		}
	}
	token := i.sign(t, key, map[string]any{"robotmem_tenant": nil, "robotmem_role": "reader", "robotmem_collections": "a"})
	if res, body := get(t, "GET", url+"/api/memories", token); res.StatusCode != 403 {
		t.Errorf("a reader of one collection: %s %s", res.Status, body)
	}
	for range len(a.who) {
		if who := <-a.who; who.Role == "reader" && !who.ReadOnly {
			t.Errorf("%+v", who)
		}
	}
}

// tenants are the tokens of a site, by their secrets.
type tenants struct {
	mu     sync.Mutex
	tokens map[[sha256.Size]byte]robotmem.Caller
	err    error
	list
}

func (s *tenants) set(secret string, c robotmem.Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = map[[sha256.Size]byte]robotmem.Caller{}
	}
	if s.tokens[sha256.Sum256([]byte(secret))] = c; c.Who == "" {
		delete(s.tokens, sha256.Sum256([]byte(secret)))
	}
}

func (s *tenants) lookup(_ context.Context, hash [sha256.Size]byte) (robotmem.Caller, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.tokens[hash]
	return c, ok, s.err
}

func TestTokensOfTenants(t *testing.T) {
	site := &tenants{}
	arm, root, other := web.NewSecret(), web.NewSecret(), web.NewSecret()
	site.set(arm, robotmem.Caller{Who: "arm-7", Tenant: "north", Role: "robot", Robot: "arm-7", Collections: "a"})
	site.set(root, robotmem.Caller{Who: "root", Tenant: "north", Role: "admin", Collections: "*"})
	site.set(other, robotmem.Caller{Who: "arm-7", Tenant: "south", Role: "robot", Robot: "arm-7", Collections: "a"})
	rate := func(_ context.Context, tenant string) (float64, error) {
		switch tenant {
		case "north":
			return 0, nil
		case "south":
			return 1, nil
		}
		return 0, robotmem.Errorf(robotmem.Forbidden, "tenant", "there is no tenant %q", tenant)
	}
	down := errors503()
	a, url := serveAsked(t, web.Options{Lookup: site.lookup, TenantRate: rate, ManageTokens: &site.list, Ready: func() error { return nil }})
	want := func(status int, method, path, secret string, parts ...string) *http.Response {
		t.Helper()
		res, body := get(t, method, url+path, secret)
		if res.StatusCode != status {
			t.Errorf("%s %s: got %s %s, want %d", method, path, res.Status, body, status)
		}
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s %s: %s lacks %s", method, path, body, part)
			}
		}
		return res
	}
	want(200, "GET", "/api/memories", arm)
	if who := <-a.who; who.Tenant != "north" || who.Robot != "arm-7" || who.Collections != "a" || who.Role != "robot" || who.Who != "arm-7" || who.ReadOnly {
		t.Errorf("got %+v", who)
	}
	want(200, "GET", "/api/whoami", arm, `"tenant":"north"`, `"role":"robot"`, `"robot":"arm-7"`, `"collections":"a"`)
	want(401, "GET", "/api/memories", web.NewSecret())
	want(401, "GET", "/api/memories", "")
	want(200, "GET", "/readyz", "")
	want(403, "GET", "/api/tokens", arm, "role admin")
	want(403, "POST", "/api/tokens", arm)
	want(403, "DELETE", "/api/tokens/x", arm)
	want(200, "GET", "/api/tokens", root)

	// The tenant south may make one request a second, with bursts of two.
	limited, last := 0, (*http.Response)(nil)
	for range 6 {
		if res, _ := get(t, "GET", url+"/api/memories", other); res.StatusCode == 429 {
			limited++
			last = res
		}
	}
	if limited < 3 || limited > 4 || last.Header.Get("Retry-After") != "1" {
		t.Errorf("%d of 6 requests at once were refused, with %v", limited, last)
	}
	want(200, "GET", "/api/memories", arm) // another tenant

	ghost := web.NewSecret()
	site.set(ghost, robotmem.Caller{Who: "x", Tenant: "ghost", Role: "admin", Collections: "*"})
	want(403, "GET", "/api/memories", ghost, "no tenant")

	// A token that is revoked ends a request in progress; a site that does not answer does not.
	ended := make(chan int, 1)
	go func() {
		res, _ := get(t, "GET", url+"/api/changes?wait_ms=60000&since=0", arm)
		ended <- res.StatusCode
	}()
	<-a.waiting
	site.mu.Lock()
	site.err = down
	site.mu.Unlock()
	if res := want(503, "GET", "/api/memories", arm); res.Header.Get("WWW-Authenticate") != "" {
		t.Error("a client is told to get another token while the site is away")
	}
	select {
	case status := <-ended:
		t.Fatalf("the request ended with %d while the site was away", status)
	case <-time.After(300 * time.Millisecond): // several checks of the token
	}
	site.mu.Lock()
	site.err = nil
	site.mu.Unlock()
	site.set(arm, robotmem.Caller{})
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the request of a revoked token goes on")
	}
	want(401, "GET", "/api/memories", arm)
}

func errors503() error {
	return robotmem.Errorf(robotmem.Unavailable, "", "no PostgreSQL server was reached")
}
