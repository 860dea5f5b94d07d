package oauth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	oauthErrors "github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/server"
)

const (
	authorizePath = "/oauth/authorize"
	mcpPath       = "/mcp"
)

var (
	// An S256 challenge is the base64url of 32 bytes (RFC 7636, 4.2).
	challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	verifier  = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)
)

// authorization is a checked request for a code.
type authorization struct {
	*server.AuthorizeRequest
	client     Client
	values     url.Values // its parameters
	readOnly   bool       // asks only to read
	everywhere bool
}

// parameters are those of a request that the node knows. Others are dropped, as RFC 6749, 3.1 has it.
var parameters = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
	"resource", "response_mode",
}

// failure is why a request is refused. Only a person sends the error back to the client, with a link: a request that
// redirects by itself would make the node a redirector to the page of any client.
type failure struct {
	Code, Why string
	Back      string // the link, "" if the client or its redirect URI is not known
	Host      string // of the link
}

// read checks the parameters of a request for a code.
func (s *Server) read(r *http.Request, given url.Values) (*authorization, *failure) {
	values := url.Values{}

	for _, name := range parameters {
		if v := given[name]; len(v) > 1 {
			return nil, &failure{Code: "invalid_request", Why: "the parameter " + name + " is given twice"}
		} else if len(v) == 1 && v[0] != "" {
			values.Set(name, v[0])
		}
	}

	c := s.o.Store.State().client(values.Get("client_id"))
	if c == nil {
		return nil, &failure{Code: "invalid_client", Why: "this node does not know the program: it has not registered here, " +
			"or has not been used for long. Remove the login that it has stored for this node, and connect again."}
	}
	uri := values.Get("redirect_uri")
	if !slices.ContainsFunc(c.RedirectURIs, func(known string) bool { return sameRedirect(known, uri) }) {
		return nil, &failure{Code: "invalid_request", Why: "the program asks to return to another address than it registered"}
	}

	a := &authorization{client: *c, values: values}
	fail := func(code, why string) (*authorization, *failure) {
		back := s.location(r, &server.AuthorizeRequest{RedirectURI: uri, State: values.Get("state"), ResponseType: oauth2.Code},
			map[string]any{"error": code, "error_description": why})
		return nil, &failure{Code: code, Why: why, Back: back, Host: hostOf(uri)}
	}

	if len(values.Get("state")) > maxState {
		values.Del("state")
		return fail("invalid_request", fmt.Sprintf("state has more than %d bytes", maxState))
	}
	if m := values.Get("response_mode"); m != "" && m != "query" {
		return fail("invalid_request", "response_mode can only be query")
	}
	if values.Get("response_type") != "code" {
		return fail("unsupported_response_type", "response_type must be code")
	}
	if values.Get("code_challenge_method") != "S256" || !challenge.MatchString(values.Get("code_challenge")) {
		return fail("invalid_request", "PKCE is required: code_challenge with the code_challenge_method S256")
	}

	var err error
	if a.readOnly, err = readScope(values.Get("scope")); err != nil {
		return fail("invalid_scope", err.Error())
	}
	if a.everywhere, err = s.resource(r, values.Get("resource")); err != nil {
		return fail("invalid_target", err.Error())
	}

	a.AuthorizeRequest, err = s.protocol.ValidationAuthorizeRequest(&http.Request{Method: http.MethodGet, Form: values})
	if err != nil {
		return fail(err.Error(), oauthErrors.Descriptions[err])
	}

	return a, nil
}

// readScope reports whether a scope is for reading alone. Scopes of other servers that a client always asks for are
// ignored, as RFC 6749, 3.3 allows, unless it asks for nothing else.
func readScope(scope string) (readOnly bool, err error) {
	asked := strings.Fields(scope)
	write := slices.Contains(asked, scopeWrite)
	if len(asked) > 0 && !write && !slices.Contains(asked, scopeRead) {
		return false, fmt.Errorf("scope can have %s and %s", scopeRead, scopeWrite)
	}

	return len(asked) > 0 && !write, nil
}

// resource reports whether a resource (RFC 8707) is the whole node and not its MCP endpoint alone, which is the default.
func (s *Server) resource(r *http.Request, uri string) (everywhere bool, err error) {
	base := s.o.Base(r)
	switch strings.TrimSuffix(uri, "/") {
	case "", base + mcpPath:
		return false, nil
	case base:
		return true, nil
	}

	return false, fmt.Errorf("resource must be %s or %s", base+mcpPath, base)
}

// location returns where a browser goes after the request, with the issuer (RFC 9207).
func (s *Server) location(r *http.Request, a *server.AuthorizeRequest, data map[string]any) string {
	data["iss"] = s.o.Base(r)
	// It fails only for a URI that cannot be parsed, and registered ones can.
	uri, _ := s.protocol.GetRedirectURI(a, data)

	return uri
}

func hostOf(uri string) string {
	u, err := parseRedirect(uri)
	if err != nil {
		return ""
	}

	return u.Host
}

// origin returns the scheme and host of a checked URI.
func origin(uri string) string {
	u, err := parseRedirect(uri)
	if err != nil {
		return ""
	}

	return u.Scheme + "://" + u.Host
}

// formTarget returns the source of a policy that allows a form to end at a checked URI. A policy cannot name an IPv6
// address.
func formTarget(uri string) string {
	u, err := parseRedirect(uri)
	switch {
	case err != nil:
		return ""
	case strings.HasPrefix(u.Host, "["):
		return u.Scheme + ":"
	}

	return u.Scheme + "://" + u.Host
}

// Authorize serves the page on which a person logs in, and then allows or denies what a client asks for.
func (s *Server) Authorize(w http.ResponseWriter, r *http.Request) {
	if len(r.URL.RawQuery) > maxQuery {
		s.refuse(w, http.StatusBadRequest, &failure{Code: "invalid_request", Why: fmt.Sprintf("the request has more than %d bytes", maxQuery)})
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, &failure{Code: "invalid_request", Why: "the request cannot be read"})
		return
	}
	a, refused := s.read(r, query)
	if refused != nil {
		s.refuse(w, http.StatusBadRequest, refused)
		return
	}

	v, ok := s.o.Visitor(r)
	// The cookie is not sent with the first request that another site causes. The page asks again by itself, then it is.
	if !ok && r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		s.again(w, a)
		return
	}
	if !ok {
		s.loginPage(w, http.StatusOK, a, "")
		return
	}
	s.consentPage(w, a, v)
}

// LogIn serves the form of the login page.
func (s *Server) LogIn(w http.ResponseWriter, r *http.Request) {
	a, refused := s.readForm(w, r)
	if refused != nil {
		s.refuse(w, http.StatusBadRequest, refused)
		return
	}
	if err := s.o.LogIn(w, r, strings.TrimSpace(r.PostForm.Get("token"))); err != nil {
		s.loginPage(w, http.StatusUnauthorized, a, err.Error())
		return
	}

	http.Redirect(w, r, s.o.BasePath+authorizePath+"?"+a.values.Encode(), http.StatusSeeOther)
}

// readForm reads the request for a code out of a form of this node.
func (s *Server) readForm(w http.ResponseWriter, r *http.Request) (*authorization, *failure) {
	if err := form(w, r); err != nil {
		return nil, &failure{Code: "invalid_request", Why: err.Error()}
	}

	return s.read(r, r.PostForm)
}

// Decide serves the form of the consent page.
func (s *Server) Decide(w http.ResponseWriter, r *http.Request) {
	a, refused := s.readForm(w, r)
	if refused != nil {
		s.refuse(w, http.StatusBadRequest, refused)
		return
	}
	v, ok := s.o.Visitor(r)
	if !ok {
		s.loginPage(w, http.StatusUnauthorized, a, "the login has ended; log in again")
		return
	}
	if !s.proves(r.PostForm.Get("proof"), v.Session, a.values) {
		s.refuse(w, http.StatusForbidden, &failure{Code: "invalid_request", Why: "the page was open for too long, or was not " +
			"made for this login. Begin again in the program."})
		return
	}

	switch r.PostForm.Get("decision") {
	case "allow":
		s.allow(w, r, a, v)
	case "deny":
		s.log.Info("a person has denied a client", "client", a.client.ID, "name", a.client.Name, "login", v.Name)
		s.leave(w, r, a, map[string]any{"error": "access_denied", "error_description": "the person has denied the request"})
	default:
		s.refuse(w, http.StatusBadRequest, &failure{Code: "invalid_request", Why: "the form has no decision"})
	}
}

// allow gives the client a code.
func (s *Server) allow(w http.ResponseWriter, r *http.Request, a *authorization, v Visitor) {
	readOnly := a.readOnly || v.ReadOnly || r.PostForm.Get("rights") != "write"

	id := rand.Text()[:grantIDLength]
	a.UserID, a.Scope = id, scopeOf(readOnly)
	c := &issued{
		grant: Grant{
			ID:         id,
			ClientID:   a.client.ID,
			ClientName: a.client.Name,
			Redirect:   origin(a.RedirectURI),
			Login:      v.Hash,
			LoginName:  v.Name,
			ReadOnly:   readOnly,
			Everywhere: a.everywhere,
			Created:    time.Now().UTC().Truncate(time.Second),
		},
		until: time.Now().Add(codeLife),
	}

	code, err := s.newCode(r, a, c)
	if err != nil {
		s.refuse(w, http.StatusServiceUnavailable, &failure{Code: "temporarily_unavailable", Why: err.Error()})
		return
	}
	s.leave(w, r, a, map[string]any{"code": code})
}

// newCode has the library make a code for what was allowed.
func (s *Server) newCode(r *http.Request, a *authorization, c *issued) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.forget() {
		return "", errors.New("too many logins are under way; try again in a minute")
	}

	info, err := s.protocol.GetAuthorizeToken(r.Context(), a.AuthorizeRequest)
	if err != nil {
		return "", err
	}
	c.info = info
	s.codes[HashOf(info.GetCode())] = c

	return info.GetCode(), nil
}

// leave sends the browser back to the client.
func (s *Server) leave(w http.ResponseWriter, r *http.Request, a *authorization, data map[string]any) {
	// Browsers apply form-action also to the redirect that answers a form.
	s.headers(w, formTarget(a.RedirectURI))
	w.Header().Set("Location", s.location(r, a.AuthorizeRequest, data))
	w.WriteHeader(http.StatusSeeOther)
}

// proof returns a text for the form of the consent page: only a page that this process made for the session and for
// these parameters has it, for a while.
func (s *Server) proof(session string, values url.Values, at time.Time) string {
	return strconv.FormatInt(at.Unix(), 36) + "." + encoded(s.sum(session, values, at.Unix()))
}

func (s *Server) sum(session string, values url.Values, at int64) []byte {
	mac := hmac.New(sha256.New, s.formKey)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at)))

	// The lengths keep the parts apart.
	for _, part := range []string{session, values.Encode()} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}

	return mac.Sum(nil)
}

func (s *Server) proves(proof, session string, values url.Values) bool {
	stamp, _, _ := strings.Cut(proof, ".")
	at, err := strconv.ParseInt(stamp, 36, 64)
	age := time.Since(time.Unix(at, 0))

	return err == nil && age >= -time.Second && age < consentLife &&
		subtle.ConstantTimeCompare([]byte(proof), []byte(s.proof(session, values, time.Unix(at, 0)))) == 1
}
