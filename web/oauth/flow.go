package oauth

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	"github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
	"github.com/go-oauth2/oauth2/v4/server"
)

// newProtocol returns the library's server with the strict choice of each of its settings. Its defaults accept plain
// verifiers, redirect URIs with the same ending, refresh tokens of other clients and random values of 122 bits.
func (s *Server) newProtocol() *server.Server {
	m := manage.NewManager()
	m.SetAuthorizeCodeExp(codeLife)
	m.SetAuthorizeCodeTokenCfg(&manage.Config{
		AccessTokenExp:    s.o.AccessLife,
		RefreshTokenExp:   s.o.RefreshLife,
		IsGenerateRefresh: true,
	})
	m.SetRefreshTokenCfg(&manage.RefreshingConfig{
		AccessTokenExp:     s.o.AccessLife,
		RefreshTokenExp:    s.o.RefreshLife,
		IsGenerateRefresh:  true,
		IsResetRefreshTime: true,
	})
	m.SetValidateURIHandler(func(registered, uri string) error {
		if !slices.ContainsFunc(strings.Fields(registered), func(known string) bool { return sameRedirect(known, uri) }) {
			return errors.ErrInvalidRedirectURI
		}
		return nil
	})
	m.MapAuthorizeGenerate(codes{})
	m.MapAccessGenerate(secrets{})
	m.MapClientStorage(clients{s})
	m.MapTokenStorage(tokens{s})

	p := server.NewServer(&server.Config{
		TokenType:                   "Bearer",
		AllowedResponseTypes:        []oauth2.ResponseType{oauth2.Code},
		AllowedGrantTypes:           []oauth2.GrantType{oauth2.AuthorizationCode, oauth2.Refreshing},
		AllowedCodeChallengeMethods: []oauth2.CodeChallengeMethod{oauth2.CodeChallengeS256},
		ForcePKCE:                   true,
	}, m)
	p.ClientInfoHandler = publicClient
	p.RefreshingScopeHandler = func(r *oauth2.TokenGenerateRequest, granted string) (bool, error) {
		had := strings.Fields(granted)
		return !slices.ContainsFunc(strings.Fields(r.Scope), func(s string) bool { return !slices.Contains(had, s) }), nil
	}
	p.ResponseErrorHandler = rfcStatus
	p.InternalErrorHandler = s.unexpected

	return p
}

// publicClient returns the ID of the client, which has no secret.
func publicClient(r *http.Request) (id, secret string, err error) {
	if _, _, basic := r.BasicAuth(); basic || r.PostForm.Get("client_secret") != "" || r.PostForm.Get("client_id") == "" {
		return "", "", errors.ErrInvalidClient
	}

	return r.PostForm.Get("client_id"), "", nil
}

// rfcStatus sets the status that RFC 6749, 5.2 requires: the library has 401 for most errors.
func rfcStatus(re *errors.Response) {
	switch re.Error {
	case errors.ErrInvalidGrant, errors.ErrUnsupportedGrantType, errors.ErrUnauthorizedClient, errors.ErrUnsupportedResponseType:
		re.StatusCode = http.StatusBadRequest
	}
}

// unexpected maps the errors for which the library has no answer.
func (s *Server) unexpected(err error) *errors.Response {
	switch err {
	case errors.ErrInvalidRedirectURI, errors.ErrMissingCodeVerifier, errors.ErrInvalidRefreshToken:
		return &errors.Response{
			Error:       errors.ErrInvalidGrant,
			Description: errors.Descriptions[errors.ErrInvalidGrant],
			StatusCode:  http.StatusBadRequest,
		}
	}
	s.log.Error("the authorization server cannot answer", "err", err)

	return &errors.Response{
		Error:       errors.ErrTemporarilyUnavailable,
		Description: "the node cannot store its grants now; try again later",
		StatusCode:  http.StatusServiceUnavailable,
	}
}

// codes makes authorization codes.
type codes struct{}

// Token implements oauth2.AuthorizeGenerate.
func (codes) Token(context.Context, *oauth2.GenerateBasic) (string, error) {
	return codePrefix + encoded(random(secretBytes)), nil
}

// secrets makes access and refresh tokens.
type secrets struct{}

// Token implements oauth2.AccessGenerate. A new refresh token begins with the family of the one that it replaces.
func (secrets) Token(_ context.Context, data *oauth2.GenerateBasic, _ bool) (access, refresh string, err error) {
	family := random(familyBytes)
	if old := data.TokenInfo.GetRefresh(); old != "" {
		all, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(old, refreshPrefix))
		if err != nil || len(all) != familyBytes+secretBytes {
			return "", "", errors.ErrInvalidRefreshToken
		}
		family = all[:familyBytes]
	}
	refresh = refreshPrefix + encoded(append(family[:familyBytes:familyBytes], random(secretBytes)...))

	return accessPrefix + encoded(random(secretBytes)), refresh, nil
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// familyOf returns the hash of the family of a refresh token; ok is false if it does not have the form of one.
func familyOf(refresh string) (h Hash, ok bool) {
	text, ours := strings.CutPrefix(refresh, refreshPrefix)
	all, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ours || err != nil || len(all) != familyBytes+secretBytes {
		return Hash{}, false
	}

	return HashOf(string(all[:familyBytes])), true
}

// clients is the library's view of the registered clients.
type clients struct{ s *Server }

// GetByID implements oauth2.ClientStore. The library knows one domain of a client; here it is the list of its URIs.
func (c clients) GetByID(_ context.Context, id string) (oauth2.ClientInfo, error) {
	found := c.s.o.Store.State().client(id)
	if found == nil {
		return nil, errors.ErrInvalidClient
	}

	return &models.Client{ID: found.ID, Domain: strings.Join(found.RedirectURIs, " "), Public: true}, nil
}

// issued is a code that a client can exchange once. It is kept for a while after that, to notice a second use.
type issued struct {
	info  oauth2.TokenInfo
	grant Grant // what the exchange makes
	used  bool
	until time.Time
}

// usedLife is how long a used code is known.
const usedLife = 10 * time.Minute

// tokens is the library's view of codes and grants. Its callers hold Server.mu.
type tokens struct{ s *Server }

type requestKey struct{}

// tokenRequest is what the store needs to know of a request for a token.
type tokenRequest struct {
	client string
	told   []Event // to tell after the request
}

func tokenRequestOf(ctx context.Context) *tokenRequest {
	r, _ := ctx.Value(requestKey{}).(*tokenRequest)
	return r
}

// was is the name of the extension with the hash of the refresh token that a new one replaces.
const was = "was"

// Create implements oauth2.TokenStore. The library calls it with a code, with the first tokens of a grant, and with
// the tokens that replace others.
func (t tokens) Create(ctx context.Context, info oauth2.TokenInfo) error {
	if info.GetCode() != "" {
		return nil // newCode keeps it
	}

	family, ok := familyOf(info.GetRefresh())
	if !ok {
		return errors.ErrInvalidRefreshToken
	}
	fresh := func(g *Grant) {
		now := time.Now().UTC()
		g.Refreshed = now
		g.Until = now.Add(t.s.o.RefreshLife)
		g.Access, g.AccessUntil = HashOf(info.GetAccess()), now.Add(t.s.o.AccessLife)
		g.AccessReadOnly = !slices.Contains(strings.Fields(info.GetScope()), scopeWrite)
		g.Family, g.Refresh = family, HashOf(info.GetRefresh())
	}
	old := info.(oauth2.ExtendableTokenInfo).GetExtension().Get(was)

	made := Grant{}
	err := t.s.change(func(state *State) error {
		g := state.grantByID(info.GetUserID())
		switch {
		case old != "" && (g == nil || hex.EncodeToString(g.Refresh[:]) != old):
			// Another process has replaced the token meanwhile, or ended the grant.
			return errors.ErrInvalidRefreshToken
		case old == "":
			code := t.s.codeOf(info.GetUserID())
			if code == nil || g != nil {
				return errors.ErrInvalidAuthorizeCode
			}
			if _, ok := loginOf(t.s.o.Logins(), code.grant.Login); !ok {
				return errors.ErrInvalidAuthorizeCode // its token was revoked meanwhile
			}
			made = code.grant
			fresh(&made)
			if err := state.addGrant(&made); err != nil {
				return err
			}
		default:
			fresh(g)
		}
		if c := state.client(info.GetClientID()); c != nil {
			c.Granted = time.Now().UTC().Truncate(time.Second)
		}

		return nil
	})
	if err == nil && made.ID != "" {
		r := tokenRequestOf(ctx)
		r.told = append(r.told, Event{Made: true, Grant: made, Why: "a person has allowed it"})
	}

	return err
}

func (s *Server) codeOf(grant string) *issued {
	for _, c := range s.codes {
		if c.grant.ID == grant {
			return c
		}
	}

	return nil
}

// GetByCode implements oauth2.TokenStore. A code that is used again ends the grant that it made: one of the two
// clients has stolen it.
func (t tokens) GetByCode(ctx context.Context, code string) (oauth2.TokenInfo, error) {
	c := t.s.codes[HashOf(code)]
	if c == nil || time.Now().After(c.until) {
		return nil, errors.ErrInvalidAuthorizeCode
	}
	if c.used {
		return nil, t.end(ctx, c.grant.ID, "its code was used twice", errors.ErrInvalidAuthorizeCode)
	}

	c.info.SetCode(code)

	return c.info, nil
}

// RemoveByCode implements oauth2.TokenStore.
func (t tokens) RemoveByCode(_ context.Context, code string) error {
	c := t.s.codes[HashOf(code)]
	if c == nil || c.used {
		return errors.ErrInvalidAuthorizeCode
	}
	c.used, c.until = true, time.Now().Add(usedLife)

	return nil
}

// GetByRefresh implements oauth2.TokenStore. Whoever shows an earlier token of a family ends the grant: either
// they or the client have stolen it.
func (t tokens) GetByRefresh(ctx context.Context, refresh string) (oauth2.TokenInfo, error) {
	family, ok := familyOf(refresh)
	if !ok {
		return nil, errors.ErrInvalidRefreshToken
	}
	g := t.s.o.Store.State().grant(func(g *Grant) bool { return g.Family.is(family) })
	if g == nil || g.ClientID != tokenRequestOf(ctx).client {
		return nil, errors.ErrInvalidRefreshToken
	}
	if !g.Refresh.is(HashOf(refresh)) {
		return nil, t.end(ctx, g.ID, "an old refresh token was used again", errors.ErrInvalidRefreshToken)
	}
	access, ok := t.s.accessOf(g)
	if !ok {
		return nil, errors.ErrInvalidRefreshToken
	}

	info := models.NewToken()
	info.SetClientID(g.ClientID)
	info.SetUserID(g.ID)
	info.SetScope(scopeOf(g.ReadOnly || access.Login.ReadOnly))
	info.SetRefresh(refresh)
	info.SetRefreshCreateAt(g.Refreshed)
	info.SetRefreshExpiresIn(g.Until.Sub(g.Refreshed))
	info.SetExtension(url.Values{was: {hex.EncodeToString(g.Refresh[:])}})

	return info, nil
}

// end removes a grant and returns the error of the request.
func (t tokens) end(ctx context.Context, id, why string, refused error) error {
	ended := Grant{}
	err := t.s.change(func(state *State) error {
		if g := state.grantByID(id); g != nil {
			ended = *g
			state.End(id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if ended.ID != "" {
		r := tokenRequestOf(ctx)
		r.told = append(r.told, Event{Grant: ended, Why: why})
	}

	return refused
}

// change changes the state and removes what has expired.
func (s *Server) change(f func(*State) error) error {
	return s.o.Store.Change(func(state *State) error {
		state.prune(time.Now(), s.o.Logins())
		return f(state)
	})
}

func scopeOf(readOnly bool) string {
	if readOnly {
		return scopeRead
	}
	return scopeRead + " " + scopeWrite
}

// The library uses the methods below only for settings that are off here. Access tokens are looked up by Server.Access.

// GetByAccess implements oauth2.TokenStore.
func (tokens) GetByAccess(context.Context, string) (oauth2.TokenInfo, error) {
	return nil, errors.ErrInvalidAccessToken
}

// RemoveByAccess implements oauth2.TokenStore.
func (tokens) RemoveByAccess(context.Context, string) error { return errors.ErrInvalidAccessToken }

// RemoveByRefresh implements oauth2.TokenStore.
func (tokens) RemoveByRefresh(context.Context, string) error { return errors.ErrInvalidRefreshToken }
