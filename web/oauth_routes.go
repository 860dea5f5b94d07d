package web

import (
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// serverMetadataPath is where clients look for the metadata of the authorization server (RFC 8414).
const serverMetadataPath = "/.well-known/oauth-authorization-server"

// newOAuth returns the authorization server of the node, nil if it is none.
func (s *server) newOAuth() *oauth.Server {
	if s.opts.OAuth == nil {
		return nil
	}

	o := *s.opts.OAuth
	o.Base, o.BasePath, o.Address, o.Logger = s.base, s.opts.BasePath, address, s.log
	logins := o.Logins
	o.Visitor = func(r *http.Request) (oauth.Visitor, bool) {
		cookie, err := r.Cookie(cookieName(r))
		if err != nil {
			return oauth.Visitor{}, false
		}
		hash, ok := s.sessions.hash(cookie.Value)
		if !ok {
			return oauth.Visitor{}, false
		}
		login, ok := loginOf(logins(), hash)

		return oauth.Visitor{Login: login, Session: cookie.Value}, ok
	}
	o.LogIn = func(w http.ResponseWriter, r *http.Request, secret string) error {
		list, _ := s.tokens()
		token, err := s.check(r, list, secret)
		if err != nil {
			return err
		}
		if _, ok := loginOf(logins(), token.SHA256); !ok || token.access != nil {
			return errGrantLogin
		}
		s.endLogin(r)
		s.setCookie(w, r, s.sessions.add(token.SHA256), sessionLife)

		return nil
	}

	return oauth.New(o)
}

func loginOf(logins []oauth.Login, hash oauth.Hash) (oauth.Login, bool) {
	at := slices.IndexFunc(logins, func(l oauth.Login) bool { return l.Hash == hash })
	if at < 0 {
		return oauth.Login{}, false
	}

	return logins[at], true
}

var errGrantLogin = errors.New("a person logs in with a token that `robotmem token create NAME` made; " +
	"access tokens and ROBOTMEM_TOKEN cannot allow a program anything")

type oauthRoute struct {
	path    string
	methods []string
	handle  echo.HandlerFunc
}

// oauthRoutes lists the routes of the authorization server, none if the node is none. They need no token.
func (s *server) oauthRoutes() []oauthRoute {
	if s.oauth == nil {
		return nil
	}
	reads, posts := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	of := func(methods []string, path string, h http.HandlerFunc) oauthRoute {
		return oauthRoute{path, methods, echo.WrapHandler(h)}
	}

	routes := []oauthRoute{
		of(reads, "/oauth/authorize", s.oauth.Authorize),
		of(reads, "/oauth/style.css", s.oauth.Style),
		of(posts, "/oauth/login", s.oauth.LogIn),
		of(posts, "/oauth/consent", s.oauth.Decide),
		of(posts, "/oauth/token", s.oauth.Token),
		of(posts, "/oauth/register", s.oauth.Register),
		of(posts, "/oauth/revoke", s.oauth.Revoke),
		of(reads, serverMetadataPath, s.oauth.Metadata),
		{metadataPath, reads, s.metadata("")},
		{metadataPath + "/mcp", reads, s.metadata("/mcp")},
	}

	// Clients put the path of a resource and of an issuer behind the well-known part. A proxy must pass that on.
	if base := s.opts.BasePath; base != "" {
		routes = append(routes,
			of(reads, serverMetadataPath+base, s.oauth.Metadata),
			oauthRoute{metadataPath + base, reads, s.metadata("")},
			oauthRoute{metadataPath + base + "/mcp", reads, s.metadata("/mcp")})
	}

	return routes
}

var (
	errEnded = unauthorized("this node does not know the access token, or it has expired or its grant has ended; " +
		"refresh it, or log in again")
	errOnlyMCP = &robotmem.Error{Kind: robotmem.Forbidden, Err: errors.New("the access token is for /mcp alone; " +
		"ask for the resource of the whole node, or use a token of the node")}
)

// granted returns the token of an access token. Its role keeps it from the tokens of the node.
func (s *server) granted(r *http.Request, secret string) (Token, error) {
	a, ok := s.oauth.Access(secret)
	switch {
	case !ok:
		return Token{}, errEnded
	case !a.Everywhere && r.URL.Path != "/mcp":
		return Token{}, errOnlyMCP
	}

	t := Token{
		Name:        a.Login.Name + "/" + a.Grant,
		ReadOnly:    a.ReadOnly,
		Role:        robotmem.RoleOperator,
		Collections: robotmem.AllCollections,
		SHA256:      oauth.HashOf(secret),
		access:      &a,
	}
	if a.ReadOnly {
		t.Role = robotmem.RoleReader
	}

	return t, nil
}
