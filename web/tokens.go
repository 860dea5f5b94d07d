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
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Token is somebody who may use the node.
type Token struct {
	// Name stands in the access log.
	Name string
	// ReadOnly keeps it from every operation that changes something.
	ReadOnly bool
	// SHA256 is the hash of its secret. A fast hash is right for a secret of
	// 256 random bits, which nobody finds by trying.
	SHA256 [sha256.Size]byte
}

const (
	secretPrefix = "rmt_"
	secretBytes  = 32
)

// secretLength is that of the text of a secret.
var secretLength = len(secretPrefix) + base64.RawURLEncoding.EncodedLen(secretBytes)

// NewSecret makes the secret of a token: 256 random bits.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// NewToken is the token of that secret.
func NewToken(name, secret string, readOnly bool) Token {
	return Token{Name: name, ReadOnly: readOnly, SHA256: sha256.Sum256([]byte(secret))}
}

// errNoToken and errWrongToken are answered as 401.
var (
	errNoToken    = errors.New("this node asks for a token; send Authorization: Bearer TOKEN, or log in at /; its operator makes one with `robotmem token create NAME`")
	errWrongToken = errors.New("this token is none of this node's, or it was revoked; its operator makes one with `robotmem token create NAME`")
)

// busy refuses a caller that asks too often. It is answered as 429.
type busy struct {
	why  string
	wait time.Duration
}

func (b *busy) Error() string { return fmt.Sprintf("%s; try again in %v", b.why, b.wait) }

// tooOften is what a caller over a limit gets.
func (l *limits) tooOften(why string) error {
	wait := time.Duration(math.Ceil(1/float64(l.perSecond))) * time.Second
	return &busy{why, max(wait, time.Second)}
}

const (
	tooManyTries    = "too many wrong tokens from this address"
	tooManyRequests = "too many requests"
)

// tokens is the present list, and whether a request must show one of it. Once it
// must, it must until the process ends: taking the last token away closes the
// node and does not open it.
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

// find returns the token that a hash is of. It takes as long for every hash.
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

// authenticate says whose request it is. Nobody's is an error once tokens are
// asked for.
func (s *server) authenticate(r *http.Request) (Token, error) {
	list, required := s.tokens()
	if !required {
		return Token{}, nil
	}
	if secret, ok := bearerOf(r); ok {
		return s.check(r, list, secret)
	}
	if t, ok := s.loggedIn(r, list); ok {
		return t, nil
	}
	return Token{}, errNoToken
}

// stillKnown reports whether a request that was let in would be so again. It is
// no try: what others guess does not end it.
func (s *server) stillKnown(r *http.Request) bool {
	list, required := s.tokens()
	if !required {
		return true
	}
	if secret, ok := bearerOf(r); ok {
		_, ok = find(list, sha256.Sum256([]byte(secret)))
		return ok
	}
	_, ok := s.loggedIn(r, list)
	return ok
}

// bearerOf is the secret that a request shows by itself, not by a cookie.
func bearerOf(r *http.Request) (secret string, ok bool) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(secret), ok && strings.EqualFold(scheme, "Bearer")
}

// loggedIn is the token that the request's cookie stands for.
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

// check finds the token of a secret. What a person thought up can be found by
// trying, so an address has few tries; a secret of ours cannot, and is compared
// always: a neighbour's mistakes must not shut a robot out.
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

// authorized lets through who may use the node, as often as it may, and no more
// than it may.
func (s *server) authorized(public map[string]bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := s.authenticate(r)
		exchangeOf(r).token = token.Name
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
		ctx := context.WithValue(r.Context(), tokenKey{}, token)
		ctx = robotmem.WithCaller(ctx, robotmem.Caller{Who: token.Name, Tool: robotmem.ToolREST, Client: product(r)})
		if token.ReadOnly {
			ctx = robotmem.WithReadOnly(ctx)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

type tokenKey struct{}

// product is the program that asks, as it calls itself: the first word of its
// User-Agent.
func product(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), " ")
	return name
}

func (s *server) refuseToken(w http.ResponseWriter, r *http.Request, err error) {
	often := (*busy)(nil)
	switch {
	case errors.As(err, &often):
		w.Header().Set("Retry-After", strconv.Itoa(int(often.wait.Seconds())))
	case errors.Is(err, errWrongToken):
		w.Header().Set("WWW-Authenticate", `Bearer realm="robotmem", error="invalid_token"`)
	default:
		w.Header().Set("WWW-Authenticate", `Bearer realm="robotmem"`)
	}
	s.writeProblem(w, r, s.problemOf(r, err))
}
