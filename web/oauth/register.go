package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// paces limits how often each of many callers may do something.
type paces struct {
	every time.Duration
	burst int
	each  *lru.Cache[string, *rate.Limiter]
}

// maxPaces bounds the callers that are counted. A new one takes the place of the one seen longest ago.
const maxPaces = 10_000

func newPaces(every time.Duration, burst int) *paces {
	// Fails only for a size below 1.
	each, _ := lru.New[string, *rate.Limiter](maxPaces)
	return &paces{every, burst, each}
}

func (p *paces) allow(caller string) bool {
	fresh := rate.NewLimiter(rate.Every(p.every), p.burst)
	if have, ok, _ := p.each.PeekOrAdd(caller, fresh); ok {
		return have.Allow()
	}

	return fresh.Allow()
}

// registration is the metadata of a client (RFC 7591). The node keeps the name and the redirect URIs. It shows and
// fetches no other text or link: they would be those of a stranger.
type registration struct {
	RedirectURIs  []string `json:"redirect_uris"`
	ClientName    string   `json:"client_name"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
}

// Register serves the registration endpoint (RFC 7591).
func (s *Server) Register(w http.ResponseWriter, r *http.Request) {
	// The address first: one that asks too often takes nothing from the others.
	if !s.each.allow(s.o.Address(r)) || !s.register.Allow() {
		tooMany(w, "too many registrations; try again in a minute")
		return
	}

	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRegistration))
	if err != nil || media != "application/json" {
		answerError(w, http.StatusBadRequest, "invalid_client_metadata",
			fmt.Sprintf("send a JSON object of at most %d bytes as application/json", maxRegistration))
		return
	}

	var given registration
	if err := json.Unmarshal(body, &given); err != nil {
		answerError(w, http.StatusBadRequest, "invalid_client_metadata", "the body is no JSON object of RFC 7591")
		return
	}
	if code, err := given.check(); err != nil {
		answerError(w, http.StatusBadRequest, code, err.Error())
		return
	}

	now := time.Now().UTC().Truncate(time.Second)
	c := Client{
		ID:           clientPrefix + encoded(random(familyBytes)),
		Name:         given.ClientName,
		RedirectURIs: given.RedirectURIs,
		Created:      now,
	}

	err = s.change(func(state *State) error {
		if !state.makeRoom(now) {
			return errFull
		}
		state.Clients = append(state.Clients, c)
		return nil
	})
	switch {
	case errors.Is(err, errFull):
		tooMany(w, errFull.Error())
		return
	case err != nil:
		s.log.Error("a client cannot be registered", "err", err)
		answerError(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the node cannot store the client now; try again later")
		return
	}
	s.log.Info("a client has registered", "client", c.ID, "name", c.Name)

	answer(w, http.StatusCreated, map[string]any{
		"client_id":                  c.ID,
		"client_id_issued_at":        now.Unix(),
		"client_name":                c.Name,
		"redirect_uris":              c.RedirectURIs,
		"grant_types":                grantTypes,
		"response_types":             responseTypes,
		"token_endpoint_auth_method": "none",
		"scope":                      strings.Join(Scopes(), " "),
	})
}

var errFull = fmt.Errorf("this node has %d clients with a grant or registered within the last hour; try again later", MaxClients)

var (
	grantTypes    = []string{"authorization_code", "refresh_token"}
	responseTypes = []string{"code"}
)

// check fails with a code of RFC 7591 unless the node takes the client. What it replaces, such as another way to
// authenticate, is in its answer.
func (g *registration) check() (code string, err error) {
	if len(g.RedirectURIs) == 0 || len(g.RedirectURIs) > maxRedirects {
		return "invalid_redirect_uri", fmt.Errorf("redirect_uris must have 1 to %d URIs", maxRedirects)
	}

	for _, uri := range g.RedirectURIs {
		if err := checkRedirect(uri); err != nil {
			return "invalid_redirect_uri", fmt.Errorf("the redirect URI %.100q %w", uri, err)
		}
	}

	if g.ClientName == "" {
		g.ClientName = "unnamed client"
	}
	// A name of control characters, or of such that turn the direction of the text, could pretend to be a part of the
	// page.
	unseen := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if utf8.RuneCountInString(g.ClientName) > maxName || strings.ContainsFunc(g.ClientName, unseen) {
		return "invalid_client_metadata", fmt.Errorf("client_name must have at most %d printable characters", maxName)
	}

	for _, t := range g.ResponseTypes {
		if !slices.Contains(responseTypes, t) {
			return "invalid_client_metadata", fmt.Errorf("response_types can only have code, not %.50q", t)
		}
	}
	if len(g.GrantTypes) > 0 && !slices.Contains(g.GrantTypes, "authorization_code") {
		return "invalid_client_metadata", errors.New("grant_types must have authorization_code")
	}

	return "", nil
}

func tooMany(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", retryRegistration)
	answerError(w, http.StatusTooManyRequests, "temporarily_unavailable", why)
}

func answerError(w http.ResponseWriter, status int, code, description string) {
	answer(w, status, map[string]any{"error": code, "error_description": description})
}

func answer(w http.ResponseWriter, status int, v map[string]any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The client has gone if this fails.
	_ = json.NewEncoder(w).Encode(v)
}
