package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web/oauth"
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
	verifiedLife   = 30 * time.Second // how long a token counts as verified, even if its key is withdrawn
	verifiedTokens = 10_000
	providerTime   = 10 * time.Second // of one request to the provider
	// Requests to the provider, which tokens of unknown keys cause.
	providerBurst = 10
	providerPause = 2 * time.Second
	metadataPath  = "/.well-known/oauth-protected-resource" // RFC 9728
)

// algorithms lists the signature algorithms with public keys. Others, with a shared secret or no key, would let a
// client sign its own tokens.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512,
	oidc.ES256, oidc.ES384, oidc.ES512,
	oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.EdDSA,
}

// provider verifies the tokens of an identity provider.
type provider struct {
	OIDC
	site     bool // of many tenants
	requests *providerRequests
	verified *lru.Cache[[sha256.Size]byte, verifiedToken]

	discovered fetchCache[*oidc.IDTokenVerifier]
}

type verifiedToken struct {
	Token
	at time.Time
}

func newProvider(o *OIDC, site bool) *provider {
	if o == nil {
		return nil
	}

	p := &provider{
		OIDC:     *o,
		site:     site,
		requests: &providerRequests{limit: rate.NewLimiter(rate.Every(providerPause), providerBurst)},
	}
	if p.Clock == nil {
		p.Clock = time.Now
	}

	p.discovered.clock = p.Clock
	p.TenantClaim = cmp.Or(p.TenantClaim, "robotmem_tenant")
	p.RoleClaim = cmp.Or(p.RoleClaim, "robotmem_role")
	p.RobotClaim = cmp.Or(p.RobotClaim, "robotmem_robot")
	p.CollectionsClaim = cmp.Or(p.CollectionsClaim, "robotmem_collections")

	if len(p.Scopes) == 0 {
		p.Scopes = []string{oidc.ScopeOpenID}
	}
	// Fails only for a size below 1.
	p.verified, _ = lru.New[[sha256.Size]byte, verifiedToken](verifiedTokens)

	return p
}

// providerRequests limits the requests to a provider and its answers.
type providerRequests struct{ limit *rate.Limiter }

// RoundTrip implements http.RoundTripper.
func (p *providerRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.limit.Allow() {
		return nil, errors.New("too many requests to the identity provider")
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxDocument)
	}

	return res, err
}

// isJWT reports whether a secret has the form of a signed JWT.
func isJWT(secret string) bool {
	return strings.HasPrefix(secret, "ey") && strings.Count(secret, ".") == 2
}

var errNoProvider = &robotmem.Error{
	Kind: robotmem.Unavailable,
	Err:  errors.New("the identity provider is not reached, and its keys are needed; try again later"),
}

func notAccepted(why string) error {
	return unauthorized("this node does not accept the access token: " + why + "; get another one from its issuer")
}

// find returns the verifier of the provider.
func (p *provider) find(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	verifier, at := p.discovered.get(ctx, math.MaxInt64, p.discover)
	if at.IsZero() {
		return nil, errNoProvider
	}
	return verifier, nil
}

// discover reads the discovery document of the provider.
func (p *provider) discover() (*oidc.IDTokenVerifier, error) {
	client := &http.Client{
		Transport: p.requests,
		Timeout:   providerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the identity provider redirects, which is not followed")
		},
	}

	found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), client), p.Issuer)
	if err != nil {
		return nil, err
	}

	var document struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&document); err != nil {
		return nil, err
	}

	// Whoever can change the keys on their way can sign any token.
	if strings.HasPrefix(p.Issuer, "https://") && !strings.HasPrefix(document.Keys, "https://") {
		return nil, errors.New("the provider names keys that are not sent over https")
	}

	keys := &keySet{client: client, url: document.Keys, clock: p.Clock}
	keys.keys.clock = p.Clock

	// checkTimes checks the expiry, with another clock skew than the library.
	config := &oidc.Config{ClientID: p.Audience, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true}

	return oidc.NewVerifier(p.Issuer, keys, config), nil
}

// tokenTypes lists the types of a JWT that may be an access token: those of RFC 9068, and those of providers that do
// not follow it.
var tokenTypes = []string{"", "jwt", "at+jwt", "application/at+jwt"}

// typeOf returns the type in the header of a JWT.
func typeOf(raw string) string {
	head, _, _ := strings.Cut(raw, ".")
	data, _ := base64.RawURLEncoding.DecodeString(head)

	var h struct {
		Type string `json:"typ"`
	}
	if json.Unmarshal(data, &h) != nil {
		return "unreadable"
	}

	return strings.ToLower(h.Type)
}

// checkTimes fails unless a token is valid now. It also fails for a time that is not a number.
func checkTimes(claims map[string]any, now time.Time) error {
	for _, name := range []string{"exp", "nbf", "iat"} {
		v, given := claims[name]
		seconds, number := v.(float64)
		at := time.Unix(int64(seconds), 0)

		switch {
		case name == "exp" && (!given || number && (seconds <= 0 || now.After(at.Add(clockSkew)))):
			return notAccepted("it has expired")
		case given && !number:
			return notAccepted("its " + name + " is no number")
		case name == "nbf" && given && now.Add(clockSkew).Before(at):
			return notAccepted("it is not valid yet")
		}
	}

	return nil
}

// token returns the token of a JWT.
func (p *provider) token(ctx context.Context, raw string) (Token, error) {
	hash := sha256.Sum256([]byte(raw))
	now := p.Clock()

	// Checking a signature for each request would cost more than most requests. The clock may have been set back since,
	// so a time in the future does not count.
	have, ok := p.verified.Get(hash)
	if ok && now.Before(have.until) && now.Sub(have.at) < verifiedLife && !now.Before(have.at) {
		return have.Token, nil
	}

	// A provider signs tokens for other purposes with the same keys.
	if !slices.Contains(tokenTypes, typeOf(raw)) {
		shown := strconv.Quote(robotmem.Clip(typeOf(raw), 40))
		return Token{}, notAccepted("it is no access token, but of the type " + shown)
	}

	verifier, err := p.find(ctx)
	if err != nil {
		return Token{}, err
	}

	// The library passes on only the text of an error of the keys, so keySet also stores the error in keysErr.
	var keysErr error

	id, err := verifier.Verify(context.WithValue(ctx, failureKey{}, &keysErr), raw)
	switch {
	case keysErr != nil:
		return Token{}, errNoProvider
	case err != nil:
		return Token{}, notAccepted("it is not signed by a key of " + p.Issuer +
			", or is for another audience than " + p.Audience)
	}

	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return Token{}, notAccepted("its claims are no JSON object")
	}
	if err := checkTimes(claims, now); err != nil {
		return Token{}, err
	}

	// A logout token (OpenID Connect Back-Channel Logout) may have the same form and audience.
	if claims["events"] != nil {
		return Token{}, notAccepted("it tells of an event, such as a logout, and gives no access")
	}

	t, err := p.rights(claims)
	if err != nil {
		return Token{}, err
	}

	t.Name = cmp.Or(textOf(claims["preferred_username"]), textOf(claims["email"]), id.Subject, "oidc")
	t.SHA256 = hash
	t.until = id.Expiry.Add(clockSkew)
	p.verified.Add(hash, verifiedToken{t, now})

	return t, nil
}

// rights reads what a token may do from its claims.
func (p *provider) rights(claims map[string]any) (t Token, err error) {
	lacks := func(claim, what string) error {
		return &robotmem.Error{Kind: robotmem.Forbidden, Err: fmt.Errorf("the access token has no claim %s, "+
			"which must name %s; have the identity provider add it", claim, what)}
	}

	// In order of rights: the first role that the token has is the one that counts.
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

	// A robot is confined to its collections, so it must name them. All other roles have all collections by default.
	t.ReadOnly = t.Role == robotmem.RoleReader
	t.Collections = robotmem.AllCollections

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

	// Only a site enforces collections. Accepting such a token here would give more rights than it names.
	if !p.site && (t.Role == robotmem.RoleRobot || t.Collections != robotmem.AllCollections) {
		return t, &robotmem.Error{Kind: robotmem.Forbidden, Err: errors.New("this node has one memory, " +
			"for the roles admin, operator and reader in all collections")}
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
func (s *server) base(r *http.Request) string {
	if s.oidc != nil && s.oidc.Resource != "" {
		return strings.TrimRight(s.oidc.Resource, "/")
	}
	if secured(r) {
		return "https://" + r.Host + s.opts.BasePath
	}

	return "http://" + r.Host + s.opts.BasePath
}

// metadataURL returns where a client that was refused finds the metadata of what it asked for.
func (s *server) metadataURL(r *http.Request) string {
	if r.URL.Path == "/mcp" {
		return s.base(r) + metadataPath + "/mcp"
	}
	return s.base(r) + metadataPath
}

// metadata serves the metadata of a protected resource, by its path.
func (s *server) metadata(path string) echo.HandlerFunc {
	return func(c echo.Context) error {
		// The URLs may contain the host of this request, so no cache may give them to another client.
		c.Response().Header().Set("Cache-Control", "no-store")

		servers, scopes := []string{s.base(c.Request())}, oauth.Scopes()
		if s.oidc != nil {
			servers, scopes = []string{s.oidc.Issuer}, s.oidc.Scopes
		}

		return writeJSON(c, struct {
			Resource  string   `json:"resource"`
			Name      string   `json:"resource_name"`
			Servers   []string `json:"authorization_servers"`
			Methods   []string `json:"bearer_methods_supported"`
			Scopes    []string `json:"scopes_supported"`
			Reference string   `json:"resource_documentation"`
		}{
			Resource:  s.base(c.Request()) + path,
			Name:      "robotmem",
			Servers:   servers,
			Methods:   []string{"header"},
			Scopes:    scopes,
			Reference: s.base(c.Request()) + "/api/reference",
		})
	}
}

// challenge returns the WWW-Authenticate header of a refusal.
func (s *server) challenge(r *http.Request, failure string) string {
	h := `Bearer realm="robotmem"`
	if failure != "" {
		h += `, error="` + failure + `"`
	}
	if s.oidc != nil || s.oauth != nil {
		// A Host header has no control characters, so the JSON text is a valid quoted string of HTTP.
		quoted, _ := json.Marshal(s.metadataURL(r))
		h += `, resource_metadata=` + string(quoted)
	}

	return h
}
