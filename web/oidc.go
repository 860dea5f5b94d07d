package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"github.com/robotmem/robotmem-go/robotmem"
)

// OIDC names an identity provider whose access tokens (JWT) the node accepts beside its own tokens.
type OIDC struct {
	// Issuer is the URL of the provider, as its tokens name it. Its discovery document names the keys.
	Issuer string
	// Audience is what a token must be for.
	Audience string
	// Resource is the URL of this node, as its clients name it. Empty takes that of each request.
	Resource string
	// The names of claims, with dots between the names of nested ones: robotmem_tenant,
	// robotmem_role, robotmem_robot and robotmem_collections if empty. Of several roles the one with
	// the most rights counts.
	TenantClaim, RoleClaim, RobotClaim, CollectionsClaim string
	// Scopes are those that a client asks the provider for; openid if empty.
	Scopes []string
	// Clock is time.Now if nil.
	Clock func() time.Time
}

const (
	clockSkew      = 60 * time.Second // between this node and the provider
	verifiedLife   = time.Minute      // how long a token counts as verified, even if its key is taken away
	verifiedTokens = 10_000
	providerTime   = 10 * time.Second // of one request to the provider
	// Requests to the provider, which tokens of unknown keys cause.
	providerBurst = 10
	providerPause = 2 * time.Second
	metadataPath  = "/.well-known/oauth-protected-resource" // RFC 9728
)

// algorithms are those with public keys.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// provider verifies the tokens of an identity provider.
type provider struct {
	OIDC
	site     bool // of many tenants
	requests *providerRequests
	verified *lru.Cache[[sha256.Size]byte, verifiedToken]

	mu       sync.Mutex // guards verifier, and orders attempts to find the provider
	verifier *oidc.IDTokenVerifier
}

type verifiedToken struct {
	Token
	at time.Time
}

func newProvider(o *OIDC, site bool) *provider {
	if o == nil {
		return nil
	}
	p := &provider{OIDC: *o, site: site, requests: &providerRequests{limit: rate.NewLimiter(rate.Every(providerPause), providerBurst)}}
	if p.Clock == nil {
		p.Clock = time.Now
	}
	p.TenantClaim, p.RoleClaim = cmp.Or(p.TenantClaim, "robotmem_tenant"), cmp.Or(p.RoleClaim, "robotmem_role")
	p.RobotClaim, p.CollectionsClaim = cmp.Or(p.RobotClaim, "robotmem_robot"), cmp.Or(p.CollectionsClaim, "robotmem_collections")
	if len(p.Scopes) == 0 {
		p.Scopes = []string{oidc.ScopeOpenID}
	}
	p.verified, _ = lru.New[[sha256.Size]byte, verifiedToken](verifiedTokens) // fails only for a size below 1
	return p
}

// providerRequests limits the requests to a provider, and counts those that failed.
type providerRequests struct {
	limit  *rate.Limiter
	failed atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (p *providerRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.limit.Allow() {
		p.failed.Add(1)
		return nil, errors.New("too many requests to the identity provider")
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK {
		p.failed.Add(1)
	}
	return res, err
}

// isJWT reports whether a secret has the form of a signed JWT.
func isJWT(secret string) bool {
	return strings.HasPrefix(secret, "ey") && strings.Count(secret, ".") == 2
}

var errNoProvider = &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("the identity provider is not reached, and its keys are needed; try again later")}

func notAccepted(why string) error {
	return unauthorized("this node does not accept the access token: " + why + "; get another one from its issuer")
}

// find returns the verifier of the provider.
func (p *provider) find() (*oidc.IDTokenVerifier, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verifier == nil {
		// The keys are fetched with this context too.
		ctx := oidc.ClientContext(context.Background(), &http.Client{Transport: p.requests, Timeout: providerTime})
		found, err := oidc.NewProvider(ctx, p.Issuer)
		if err != nil {
			return nil, errNoProvider
		}
		// The times are checked with another skew than the library's.
		p.verifier = found.VerifierContext(ctx, &oidc.Config{ClientID: p.Audience, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true})
	}
	return p.verifier, nil
}

// token returns the token of a JWT.
func (p *provider) token(ctx context.Context, raw string) (Token, error) {
	hash, now := sha256.Sum256([]byte(raw)), p.Clock()
	if have, ok := p.verified.Get(hash); ok && now.Before(have.until) && now.Sub(have.at) < verifiedLife && !now.Before(have.at) {
		return have.Token, nil
	}
	verifier, err := p.find()
	if err != nil {
		return Token{}, err
	}
	failed := p.requests.failed.Load()
	id, err := verifier.Verify(ctx, raw)
	switch {
	case err != nil && p.requests.failed.Load() != failed:
		return Token{}, errNoProvider
	case err != nil:
		return Token{}, notAccepted("it is not signed by a key of " + p.Issuer + ", or is for another audience than " + p.Audience)
	}
	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return Token{}, notAccepted("its claims are no JSON object")
	}
	if now.After(id.Expiry.Add(clockSkew)) || id.Expiry.Unix() <= 0 {
		return Token{}, notAccepted("it has expired")
	}
	if from, ok := claims["nbf"].(float64); ok && now.Add(clockSkew).Before(time.Unix(int64(from), 0)) {
		return Token{}, notAccepted("it is not valid yet")
	}
	t, err := p.rights(claims)
	if err != nil {
		return Token{}, err
	}
	t.Name = cmp.Or(textOf(claims["preferred_username"]), textOf(claims["email"]), id.Subject, "oidc")
	t.SHA256, t.until = hash, id.Expiry.Add(clockSkew)
	p.verified.Add(hash, verifiedToken{t, now})
	return t, nil
}

// rights reads what a token may do from its claims.
func (p *provider) rights(claims map[string]any) (t Token, err error) {
	lacks := func(claim, what string) error {
		return &robotmem.Error{Kind: robotmem.Forbidden, Err: fmt.Errorf("the access token has no claim %s, which must name %s; have the identity provider add it", claim, what)}
	}
	for _, role := range []string{robotmem.RoleAdmin, robotmem.RoleOperator, robotmem.RoleRobot, robotmem.RoleReader} {
		if t.Role == "" && slices.Contains(listOf(claimAt(claims, p.RoleClaim)), role) {
			t.Role = role
		}
	}
	if t.Role == "" {
		return t, lacks(p.RoleClaim, "a role: admin, operator, robot or reader")
	}
	if t.Tenant = textOf(claimAt(claims, p.TenantClaim)); t.Tenant == "" && p.site {
		return t, lacks(p.TenantClaim, "the tenant")
	}
	t.ReadOnly, t.Collections = t.Role == robotmem.RoleReader, robotmem.AllCollections
	if named := listOf(claimAt(claims, p.CollectionsClaim)); len(named) > 0 {
		t.Collections = strings.Join(named, ",")
	} else if t.Role == robotmem.RoleRobot {
		return t, lacks(p.CollectionsClaim, "the collections of the robot")
	}
	if !robotmem.ValidCollections(t.Collections) {
		return t, lacks(p.CollectionsClaim, "collections, or * for all")
	}
	if t.Role == robotmem.RoleRobot {
		if t.Robot = textOf(claimAt(claims, p.RobotClaim)); t.Robot == "" {
			return t, lacks(p.RobotClaim, "the robot")
		}
	}
	if !p.site && (t.Role == robotmem.RoleRobot || t.Collections != robotmem.AllCollections) {
		return t, &robotmem.Error{Kind: robotmem.Forbidden, Err: errors.New("this node has one memory, for the roles admin, operator and reader in all collections")}
	}
	return t, nil
}

// claimAt returns the claim of a name, or of a path.
func claimAt(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	first, rest, nested := strings.Cut(name, ".")
	if inner, ok := claims[first].(map[string]any); ok && nested {
		return claimAt(inner, rest)
	}
	return nil
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// listOf returns the texts of a list, or the words of a text.
func listOf(v any) (texts []string) {
	if s, ok := v.(string); ok {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	}
	list, _ := v.([]any)
	for _, one := range list {
		if s, ok := one.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// base returns the URL of this node, as the client of a request names it.
func (p *provider) base(r *http.Request) string {
	if p.Resource != "" {
		return strings.TrimRight(p.Resource, "/")
	}
	if secured(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// metadataURL returns where a client that was refused finds the metadata of what it asked for.
func (p *provider) metadataURL(r *http.Request) string {
	if r.URL.Path == "/mcp" {
		return p.base(r) + metadataPath + "/mcp"
	}
	return p.base(r) + metadataPath
}

// metadata serves the metadata of a protected resource, by its path.
func (s *server) metadata(path string) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("Cache-Control", "no-store") // it may name the host of the request
		return writeJSON(c, struct {
			Resource  string   `json:"resource"`
			Name      string   `json:"resource_name"`
			Servers   []string `json:"authorization_servers"`
			Methods   []string `json:"bearer_methods_supported"`
			Scopes    []string `json:"scopes_supported"`
			Reference string   `json:"resource_documentation"`
		}{s.oidc.base(c.Request()) + path, "robotmem", []string{s.oidc.Issuer}, []string{"header"}, s.oidc.Scopes, s.oidc.base(c.Request()) + "/api/reference"})
	}
}

// challenge returns the WWW-Authenticate header of a refusal.
func (s *server) challenge(r *http.Request, failure string) string {
	h := `Bearer realm="robotmem"`
	if failure != "" {
		h += `, error="` + failure + `"`
	}
	if s.oidc != nil {
		quoted, _ := json.Marshal(s.oidc.metadataURL(r)) // a Host header has no control characters
		h += `, resource_metadata=` + string(quoted)
	}
	return h
}
