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

	"github.com/robotmem/robotmem-go/robotmem"
)

// Token gives its holder access to the node.
type Token struct {
	// Name identifies the token in the access log.
	Name string `json:"name"`
	// ReadOnly forbids every operation that changes something.
	ReadOnly bool `json:"read_only"`
	// SHA256 is the hash of the secret. A fast hash is enough for a secret of 256
	// random bits, which cannot be guessed.
	SHA256 [sha256.Size]byte `json:"-"`
	// Created and LastUsed are zero if they are not known.
	Created  time.Time `json:"created,omitzero"`
	LastUsed time.Time `json:"last_used,omitzero"`
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

var (
	errNoToken    = unauthorized("this node requires a token; send Authorization: Bearer TOKEN, or log in at /; its operator creates one with `robotmem token create NAME`")
	errWrongToken = unauthorized("this node does not know the token, or it was revoked; its operator creates one with `robotmem token create NAME`")
)

func unauthorized(why string) error {
	return &robotmem.Error{Kind: robotmem.Forbidden, Err: &refusal{status: http.StatusUnauthorized, why: why}}
}

// tooOften returns the error of a caller over the limit.
func (l *limits) tooOften(why string) error {
	wait := max(time.Duration(math.Ceil(1/float64(l.perSecond)))*time.Second, time.Second)
	return &robotmem.Error{Kind: robotmem.Unavailable, Err: &refusal{http.StatusTooManyRequests, fmt.Sprintf("%s; try again in %v", why, wait), wait}}
}

const (
	tooManyTries    = "too many wrong tokens from this address"
	tooManyRequests = "too many requests"
)

// tokens returns the current tokens, and whether a request needs one. Once requests need a token,
// they do until the process ends: without the last token, nobody may use the node.
func (s *server) tokens() ([]Token, bool) {
	var list []Token
	if s.opts.Tokens != nil {
		list = s.opts.Tokens()
	}
	if len(list) > 0 || s.opts.RequireToken {
		s.required.Store(true)
	}
	return list, s.required.Load()
}

// find returns the token with a hash. It compares all tokens in constant time, so its
// duration tells nothing of a hash or of the place of a token in the list.
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

// authenticate returns the token of a request. If tokens are required, a request
// without one is an error.
func (s *server) authenticate(r *http.Request) (Token, error) {
	list, required := s.tokens()
	if !required {
		return Token{}, nil
	}
	if secret, ok := bearerOf(r); ok {
		return s.check(r, list, secret)
	}
	t, ok := s.loggedIn(r, list)
	if !ok {
		return Token{}, errNoToken
	}
	return t, nil
}

// stillKnown reports whether an accepted request would be accepted now. It does not count
// as an attempt, so that wrong tokens of others do not end the request.
func (s *server) stillKnown(r *http.Request) bool {
	list, required := s.tokens()
	if _, ok := bearerOf(r); required && !ok {
		_, ok = s.loggedIn(r, list)
		return ok
	}
	_, ok := find(list, exchangeOf(r).token.SHA256)
	return ok || !required
}

// tokenPause is the interval at which the token of a request in progress is checked.
const tokenPause = 50 * time.Millisecond

// whileKnown returns a context that ends with errWrongToken as its cause soon after the
// token of the request was revoked, its login ended, or a first token was created that
// the request does not have. The caller must call done.
func (s *server) whileKnown(r *http.Request) (ctx context.Context, done func()) {
	ctx, end := context.WithCancelCause(r.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(tokenPause)
		defer tick.Stop()
		for s.opts.Tokens != nil {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if !s.stillKnown(r) {
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

// loggedIn returns the token of the login that the request's cookie names.
func (s *server) loggedIn(r *http.Request, list []Token) (Token, bool) {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return Token{}, false
	}
	hash, ok := s.sessions.hash(c.Value)
	if !ok {
		return Token{}, false
	}
	return find(list, hash)
}

// check finds the token of a secret. A secret that a person chose can be guessed, so
// an address has few attempts. A secret of NewSecret cannot be guessed and is always
// compared, so that wrong tokens from the same address do not lock a robot out.
func (s *server) check(r *http.Request, list []Token, secret string) (Token, error) {
	ours := strings.HasPrefix(secret, secretPrefix) && len(secret) == secretLength
	tries := s.tries.of(address(r))
	if !ours && tries.Tokens() < 1 {
		return Token{}, s.tries.tooOften(tooManyTries)
	}
	if t, ok := find(list, sha256.Sum256([]byte(secret))); ok {
		return t, nil
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
		if err == nil {
			exchangeOf(r).body.trust(s.timeout)
		}
		caller := address(r)
		if token.Name != "" {
			caller = "token " + token.Name
		}
		if s.rates != nil && !s.rates.of(caller).Allow() {
			err = s.rates.tooOften(tooManyRequests)
		} else if public[r.URL.Path] {
			err = nil
		}
		if err != nil {
			s.refuseToken(w, r, err)
			return
		}
		if token.Name != "" && s.opts.ManageTokens != nil {
			s.opts.ManageTokens.Used(token)
		}
		ctx, done := r.Context(), func() {}
		if !public[r.URL.Path] {
			ctx, done = s.whileKnown(r)
		}
		defer done()
		ctx = robotmem.WithCaller(ctx, robotmem.Caller{Who: token.Name, Tool: robotmem.ToolREST, Client: product(r), ReadOnly: token.ReadOnly})
		next.ServeHTTP(w, r.WithContext(ctx))
		if revoked(ctx) && exchangeOf(r).status == 0 { // MCP answers nothing to a call that was ended
			s.refuseToken(w, r, errWrongToken)
		}
	})
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
	case errors.Is(err, errWrongToken):
		w.Header().Set("WWW-Authenticate", `Bearer realm="robotmem", error="invalid_token"`)
	default:
		w.Header().Set("WWW-Authenticate", `Bearer realm="robotmem"`)
	}
	s.writeProblem(w, r, s.problemOf(r, err))
}
