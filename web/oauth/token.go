package oauth

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// Metadata serves the metadata of the authorization server (RFC 8414).
func (s *Server) Metadata(w http.ResponseWriter, r *http.Request) {
	base := s.o.Base(r)
	answer(w, http.StatusOK, map[string]any{
		"issuer":                                         base,
		"authorization_endpoint":                         base + authorizePath,
		"token_endpoint":                                 base + "/oauth/token",
		"registration_endpoint":                          base + "/oauth/register",
		"revocation_endpoint":                            base + "/oauth/revoke",
		"response_types_supported":                       responseTypes,
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          grantTypes,
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"scopes_supported":                               Scopes(),
		"authorization_response_iss_parameter_supported": true,
	})
}

// form reads the form of a request for tokens. The parameters of the query do not count: they are in logs.
func form(w http.ResponseWriter, r *http.Request) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/x-www-form-urlencoded" {
		return errors.New("send the parameters as application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return fmt.Errorf("the body is no form of at most %d bytes", maxForm)
	}
	if twice := once(r.PostForm); twice != "" {
		return fmt.Errorf("the parameter %.50q is given twice", twice)
	}
	r.Form = r.PostForm

	return nil
}

// Token serves the token endpoint: the exchange of a code, and the refresh.
func (s *Server) Token(w http.ResponseWriter, r *http.Request) {
	if err := form(w, r); err != nil {
		answerError(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	if d := r.PostForm.Get("code_verifier"); d != "" && !verifier.MatchString(d) {
		answerError(w, http.StatusBadRequest, "invalid_grant", "code_verifier must have 43 to 128 letters, digits and -._~")
		return
	}

	// Only who has a token of a family uses up its pace.
	if family, ok := familyOf(r.PostForm.Get("refresh_token")); ok && !s.refresh.allow(string(family[:])) {
		tooMany(w, "the grant is refreshed too often; an access token is valid for "+s.o.AccessLife.String())
		return
	}

	request := &tokenRequest{client: r.PostForm.Get("client_id")}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, request))
	s.exchange(w, r)

	for _, e := range request.told {
		s.tell(e.Made, e.Grant, e.Why)
	}
}

// exchange answers a request for tokens.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	// OAuth 2.1 needs no redirect_uri here, since the verifier proves more. The library wants the one of the code.
	if c := s.codes[HashOf(r.PostForm.Get("code"))]; c != nil && r.PostForm.Get("redirect_uri") == "" {
		r.PostForm.Set("redirect_uri", c.info.GetRedirectURI())
	}

	if g := s.asked(r.PostForm); g != nil && r.PostForm.Has("resource") {
		everywhere, err := s.resource(r, r.PostForm.Get("resource"))
		if err != nil || everywhere && !g.Everywhere {
			answerError(w, http.StatusBadRequest, "invalid_target", "the person has not allowed this resource")
			return
		}
	}

	if err := s.protocol.HandleTokenRequest(w, r); err != nil {
		s.log.Debug("an answer for a token was not sent", "err", err)
	}
}

// asked returns the grant that a form asks tokens of, nil for none.
func (s *Server) asked(form url.Values) *Grant {
	if c := s.codes[HashOf(form.Get("code"))]; c != nil {
		return &c.grant
	}
	family, ok := familyOf(form.Get("refresh_token"))
	if !ok {
		return nil
	}

	return s.o.Store.State().grant(func(g *Grant) bool { return g.Family.is(family) })
}

// Revoke serves the revocation endpoint (RFC 7009). Both kinds of tokens end the grant. A token that is not known is no
// error.
func (s *Server) Revoke(w http.ResponseWriter, r *http.Request) {
	if err := form(w, r); err != nil {
		answerError(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	token, client := r.PostForm.Get("token"), r.PostForm.Get("client_id")
	if token == "" {
		answerError(w, http.StatusBadRequest, "invalid_request", "the parameter token is missing")
		return
	}
	if _, _, err := publicClient(r); err != nil || s.o.Store.State().client(client) == nil {
		answerError(w, http.StatusUnauthorized, "invalid_client", "client_id must name a client of this node; it has no secret")
		return
	}

	hash := HashOf(token)
	family, isRefresh := familyOf(token)
	match := func(g *Grant) bool {
		// An old refresh token is enough: whoever has it should have nothing more.
		return g.Access.is(hash) || isRefresh && g.Family.is(family)
	}

	// Unknown tokens change nothing, so they cost no write.
	g := s.o.Store.State().grant(match)
	if g != nil && g.ClientID != client {
		answerError(w, http.StatusBadRequest, "invalid_grant", "the token is of another client")
		return
	}
	if g != nil {
		ended := *g
		s.mu.Lock()
		err := s.change(func(state *State) error { state.End(ended.ID); return nil })
		s.mu.Unlock()

		if err != nil {
			s.log.Error("a grant cannot be ended", "err", err)
			answerError(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the node cannot store it now; try again later")
			return
		}
		s.tell(false, ended, "its client has revoked it")
	}

	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// forget removes the codes that have expired. ok is false if there is no room for another one.
func (s *Server) forget() (ok bool) {
	now := time.Now()
	for h, c := range s.codes {
		if now.After(c.until) {
			delete(s.codes, h)
		}
	}

	return len(s.codes) < maxCodes
}
