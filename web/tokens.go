package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// Token gives its holder access to the node.
type Token struct {
	// Name identifies the token in the access log.
	Name string `json:"name"`
	// ReadOnly forbids every operation that changes something.
	ReadOnly bool `json:"read_only"`
	// Tenant, Role, Robot and Collections are those of a robotmem.Caller. They are
	// empty on a node with one memory.
	Tenant      string `json:"tenant,omitempty"`
	Role        string `json:"role,omitempty"`
	Robot       string `json:"robot,omitempty"`
	Collections string `json:"collections,omitempty"`
	// SHA256 is the hash of the secret. A fast hash is enough for a secret of 256
	// random bits, which cannot be guessed.
	SHA256 [sha256.Size]byte `json:"-"`
	// Created and LastUsed are zero if they are not known.
	Created  time.Time `json:"created,omitzero"`
	LastUsed time.Time `json:"last_used,omitzero"`

	access *oauth.Access // of an access token of this node, else nil

	until time.Time // of a token of an identity provider, when it expires; else zero
}

func tokenOf(c robotmem.Caller, hash [sha256.Size]byte) Token {
	return Token{
		Name:        c.Who,
		ReadOnly:    c.ReadOnly,
		Tenant:      c.Tenant,
		Role:        c.Role,
		Robot:       c.Robot,
		Collections: c.Collections,
		SHA256:      hash,
	}
}

const (
	secretPrefix = "rmt_"
	secretBytes  = 32
)

// secretLength is the length of a secret as text.
var secretLength = len(secretPrefix) + base64.RawURLEncoding.EncodedLen(secretBytes)

// NewSecret returns the secret of a new token: 256 random bits.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// NewToken returns the token with that secret.
func NewToken(name, secret string, readOnly bool) Token {
	return Token{Name: name, ReadOnly: readOnly, SHA256: sha256.Sum256([]byte(secret))}
}

// The commands that make a token of a node on a file, and of a site.
const (
	makesToken     = "`robotmem token create NAME`"
	makesSiteToken = "`robotmem fleet token create NAME --tenant TENANT`"
)

var (
	errNoToken = unauthorized("this node requires a token; send Authorization: Bearer TOKEN, or log in at /; " +
		"its operator creates one with " + makesToken)
	errWrongToken = unauthorized("this node does not know the token, or it was revoked; " +
		"its operator creates one with " + makesToken)
	errMalformed = unauthorized("the header Authorization holds no token that can be read; " +
		"send it once, as Authorization: Bearer TOKEN; its operator creates one with " + makesToken)
)

func unauthorized(why string) error {
	return &robotmem.Error{Kind: robotmem.Forbidden, Err: &refusal{status: http.StatusUnauthorized, why: why}}
}

// tooOften returns the error of a caller over the limit.
func (l *limits) tooOften(why string) error { return tooOften(l.perSecond, why) }

func tooOften(perSecond rate.Limit, why string) error {
	wait := max(time.Duration(math.Ceil(1/float64(perSecond)))*time.Second, time.Second)
	text := fmt.Sprintf("%s; try again in %v", why, wait)

	return &robotmem.Error{Kind: robotmem.Unavailable, Err: &refusal{http.StatusTooManyRequests, text, wait}}
}

const (
	tooManyTries    = "too many wrong tokens from this address"
	tooManyRequests = "too many requests"
	tooManyOfTenant = "too many requests of the tenant; its quota is max_requests_per_second"
)

// tokens returns the current tokens, and whether a request needs one.
func (s *server) tokens() ([]Token, bool) {
	var list []Token
	if s.opts.Tokens != nil {
		list = s.opts.Tokens()
	}
	closed := s.opts.Lookup != nil && (s.opts.Open == nil || !s.opts.Open())
	return list, len(list) > 0 || s.opts.RequireToken || closed || s.oidc != nil || s.oauth != nil
}

// byHash returns the token with a hash, of the list or of the site.
func (s *server) byHash(ctx context.Context, list []Token, hash [sha256.Size]byte) (Token, bool, error) {
	if s.opts.Lookup == nil {
		t, ok := find(list, hash)
		return t, ok, nil
	}
	c, ok, err := s.opts.Lookup(ctx, hash)
	return tokenOf(c, hash), ok, err
}

// find returns the token with a hash. It compares all tokens in constant time, so its
// duration reveals neither a hash nor the place of a token in the list.
func find(list []Token, hash [sha256.Size]byte) (Token, bool) {
	found, at := 0, 0

	for i, t := range list {
		same := subtle.ConstantTimeCompare(t.SHA256[:], hash[:])
		found |= same
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	if found == 0 {
		return Token{}, false
	}

	return list[at], true
}

// authenticate returns the token of a request. If tokens are required, a request without one is an
// error. A token that is sent is checked also where none is required: its sender believes that it
// was taken.
func (s *server) authenticate(r *http.Request) (Token, error) {
	if malformed(r) {
		return Token{}, errMalformed
	}
	list, required := s.tokens()
	if secret, ok := bearerOf(r); ok {
		return s.check(r, list, secret)
	}
	if !required {
		return tokenOf(s.opts.OpenAs, [sha256.Size]byte{}), nil
	}
	t, ok, err := s.loggedIn(r, list)
	if err == nil && !ok {
		err = errNoToken
	}

	return t, err
}

// stillAuthorized reports whether an accepted request would be accepted now. It does not count
// as an attempt, so that wrong tokens of others do not end the request.
func (s *server) stillAuthorized(r *http.Request) bool {
	list, required := s.tokens()
	token := exchangeOf(r).token

	if token.access != nil {
		return s.oauth.Continues(*token.access)
	}

	// An identity provider does not report revocations, so its tokens end only when they expire.
	if !token.until.IsZero() {
		return s.oidc.Clock().Before(token.until)
	}

	// The request was accepted without a token. The first token that is created ends it.
	if token.SHA256 == ([sha256.Size]byte{}) {
		return !required
	}
	ok, err := false, error(nil)
	if _, sent := bearerOf(r); sent {
		_, ok, err = s.byHash(r.Context(), list, token.SHA256)
	} else {
		_, ok, err = s.loggedIn(r, list)
	}

	// A failed lookup says nothing about the token, and the site may be back at the next check.
	return ok || err != nil
}

// tokenPause is the interval at which the token of a request in progress is checked.
const tokenPause = 50 * time.Millisecond

// untilRevoked returns a context that ends with errWrongToken as its cause soon after the
// token of the request was revoked, its login ended, or a first token was created that
// the request does not have. The caller must call done.
func (s *server) untilRevoked(r *http.Request) (ctx context.Context, done func()) {
	ctx, end := context.WithCancelCause(r.Context())

	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(tokenPause)
		defer tick.Stop()

		// Without any of these there is nothing that could change.
		for s.opts.Tokens != nil || s.opts.Lookup != nil || s.oidc != nil || s.oauth != nil {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if !s.stillAuthorized(r) {
					end(errWrongToken)
					return
				}
			}
		}
	})

	return ctx, func() { end(nil); watch.Wait() }
}

func revoked(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errWrongToken) }

// bearerOf returns the secret in the Authorization header of a request.
func bearerOf(r *http.Request) (secret string, ok bool) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(secret), ok && strings.EqualFold(scheme, "Bearer")
}

// malformed reports whether a request shows what is meant as a token and cannot be one: a secret without the scheme, a
// scheme without a secret, or two headers. The logins of proxies (Basic, Digest, Negotiate), which pass them on, are no
// tokens.
func malformed(r *http.Request) bool {
	sent := r.Header.Values("Authorization")
	if len(sent) == 0 || len(sent) == 1 && sent[0] == "" {
		return false
	}
	if secret, ok := bearerOf(r); len(sent) > 1 || ok {
		return len(sent) > 1 || secret == ""
	}

	scheme, login, _ := strings.Cut(sent[0], " ")
	switch strings.ToLower(scheme) {
	case "basic", "digest", "negotiate":
		return login == ""
	}

	return true
}

// loggedIn returns the token of the login that the request's cookie names.
func (s *server) loggedIn(r *http.Request, list []Token) (Token, bool, error) {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return Token{}, false, nil
	}
	hash, ok := s.sessions.hash(c.Value)
	if !ok {
		return Token{}, false, nil
	}
	if s.oidc != nil {
		// A person who logged in with an access token.
		if t, ok := s.oidc.verified.Get(hash); ok {
			return t.Token, s.oidc.Clock().Before(t.until), nil
		}
	}

	return s.byHash(r.Context(), list, hash)
}

// check finds the token of a secret. A secret that a person chose can be guessed, so
// an address has few attempts. A secret of NewSecret cannot be guessed and is always
// compared, so that wrong tokens from the same address do not lock a robot out.
// So is an access token of an identity provider.
func (s *server) check(r *http.Request, list []Token, secret string) (t Token, err error) {
	ours := strings.HasPrefix(secret, secretPrefix) && len(secret) == secretLength
	tries := s.tries.of(address(r))
	if s.oidc != nil && isJWT(secret) {
		// Only a token that was refused counts as a try. That the provider cannot be reached is not the caller's fault.
		t, err := s.oidc.token(r.Context(), secret)
		if refused := (*refusal)(nil); errors.As(err, &refused) && !tries.Allow() {
			err = s.tries.tooOften(tooManyTries)
		}
		return t, err
	}

	if s.oauth != nil && oauth.IsAccess(secret) {
		// It cannot be guessed either. A client notices the end of its access token by being refused.
		t, err := s.granted(r, secret)
		if err != nil && !tries.Allow() {
			err = s.tries.tooOften(tooManyTries)
		}
		return t, err
	}

	if !ours && tries.Tokens() < 1 {
		return Token{}, s.tries.tooOften(tooManyTries)
	}
	if t, ok, err := s.byHash(r.Context(), list, sha256.Sum256([]byte(secret))); ok || err != nil {
		return t, err
	}
	if !tries.Allow() {
		return Token{}, s.tries.tooOften(tooManyTries)
	}

	return Token{}, errWrongToken
}

// authorized requires a token, applies the rate limit, and gives the request the
// rights of its token.
func (s *server) authorized(public map[string]bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := s.authenticate(r)
		exchangeOf(r).token = token

		// The body was limited to the short timeout of strangers until here.
		if err == nil {
			exchangeOf(r).body.setTimeout(s.timeout)
		}

		caller := address(r)
		if token.Name != "" {
			caller = "token " + token.Tenant + " " + token.Name
		}
		if err == nil && !public[r.URL.Path] {
			err = s.tenantRate(r.Context(), token.Tenant)
		}

		// The rate limit also holds for wrong tokens and for public routes. Otherwise a public route needs no token, so
		// the error of a wrong one does not count.
		if s.rates != nil && !s.rates.of(caller).Allow() {
			err = s.rates.tooOften(tooManyRequests)
		} else if public[r.URL.Path] {
			err = nil
		}

		if err != nil {
			s.refuseToken(w, r, err)
			return
		}

		if token.Name != "" && token.access == nil && s.opts.ManageTokens != nil {
			s.opts.ManageTokens.Used(token)
		}

		// The token is watched while the request runs: a stream may run for days after its token was revoked.
		ctx, done := r.Context(), func() {}
		if !public[r.URL.Path] {
			ctx, done = s.untilRevoked(r)
		}

		defer done()
		ctx = robotmem.WithCaller(ctx, robotmem.Caller{
			Who:         token.Name,
			Tool:        robotmem.ToolREST,
			Client:      product(r),
			ReadOnly:    token.ReadOnly,
			Tenant:      token.Tenant,
			Role:        token.Role,
			Robot:       token.Robot,
			Collections: token.Collections,
		})
		next.ServeHTTP(w, r.WithContext(ctx))

		// The MCP handler writes no answer to a call that was cancelled.
		if revoked(ctx) && exchangeOf(r).status == 0 {
			s.refuseToken(w, r, errWrongToken)
		}
	})
}

// tenantRate fails if the tenant makes more requests per second than it may, or if it is not known.
func (s *server) tenantRate(ctx context.Context, tenant string) error {
	if s.opts.TenantRate == nil || tenant == "" {
		return nil
	}
	perSecond, err := s.opts.TenantRate(ctx, tenant)
	if err != nil || perSecond <= 0 {
		return err
	}
	if !s.tenants.at(tenant, rate.Limit(perSecond), int(math.Ceil(2*perSecond))).Allow() {
		return tooOften(rate.Limit(perSecond), tooManyOfTenant)
	}

	return nil
}

// product returns the name of the client's program: the first word of its User-Agent.
func product(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), " ")
	return name
}

func (s *server) refuseToken(w http.ResponseWriter, r *http.Request, err error) {
	refused := (*refusal)(nil)
	switch {
	case errors.As(err, &refused) && refused.wait > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(refused.wait.Seconds())))
	case errors.Is(err, errNoToken):
		w.Header().Set("WWW-Authenticate", s.challenge(r, ""))
	case refused != nil:
		w.Header().Set("WWW-Authenticate", s.challenge(r, "invalid_token"))
	case errors.Is(err, robotmem.Forbidden):
		w.Header().Set("WWW-Authenticate", s.challenge(r, "insufficient_scope"))
	}

	if refused != nil && s.opts.Lookup != nil {
		named := *refused
		named.why = strings.Replace(named.why, makesToken, makesSiteToken, 1)
		err = &robotmem.Error{Kind: robotmem.KindOf(err), Err: &named}
	}
	s.writeProblem(w, r, s.problemOf(r, err))
}
