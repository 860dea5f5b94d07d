package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

func TestRegistrationsAreRefused(t *testing.T) {
	long := strings.Repeat("x", 600)
	for name, metadata := range map[string]map[string]any{
		"no redirect":               {},
		"eleven redirects":          {"redirect_uris": []string{"https://a/1", "https://a/2", "https://a/3", "https://a/4", "https://a/5", "https://a/6", "https://a/7", "https://a/8", "https://a/9", "https://a/10", "https://a/11"}},
		"http of another machine":   {"redirect_uris": []string{"http://app.example/cb"}},
		"a scheme of a program":     {"redirect_uris": []string{"cursor://callback"}},
		"a script":                  {"redirect_uris": []string{"javascript:alert(1)"}},
		"data":                      {"redirect_uris": []string{"data:text/html,x"}},
		"a fragment":                {"redirect_uris": []string{"https://app.example/cb#x"}},
		"an empty fragment":         {"redirect_uris": []string{"https://app.example/cb#"}},
		"a user name":               {"redirect_uris": []string{"https://app.example@evil.example/cb"}},
		"a backslash":               {"redirect_uris": []string{`https://evil.example\@app.example/`}},
		"a line break":              {"redirect_uris": []string{"https://app.example/cb\nx"}},
		"a space":                   {"redirect_uris": []string{"https://app.example/c b"}},
		"other letters":             {"redirect_uris": []string{"https://аpp.example/cb"}},
		"no host":                   {"redirect_uris": []string{"https:///cb"}},
		"a host with a directive":   {"redirect_uris": []string{"https://app.example;sandbox/cb"}},
		"a host with a policy":      {"redirect_uris": []string{"https://app.example,default-src/cb"}},
		"a host with a quote":       {"redirect_uris": []string{"https://app.example'/cb"}},
		"no slashes":                {"redirect_uris": []string{"https:app.example/cb"}},
		"a name after localhost":    {"redirect_uris": []string{"http://localhost.evil.example/cb"}},
		"another loopback address":  {"redirect_uris": []string{"http://127.0.0.2/cb"}},
		"a number as address":       {"redirect_uris": []string{"http://2130706433/cb"}},
		"an IPv6 zone":              {"redirect_uris": []string{"http://[::1%25lo]/cb"}},
		"a long redirect":           {"redirect_uris": []string{"https://app.example/" + long}},
		"one of two is wrong":       {"redirect_uris": []string{"https://app.example/cb", "http://app.example/cb"}},
		"a long name":               {"redirect_uris": []string{callback}, "client_name": long},
		"a name with a line break":  {"redirect_uris": []string{callback}, "client_name": "A\nB"},
		"a name that turns around":  {"redirect_uris": []string{callback}, "client_name": "A\u202egnp.exe"},
		"a name without a width":    {"redirect_uris": []string{callback}, "client_name": "A\u200b"},
		"the implicit flow":         {"redirect_uris": []string{callback}, "response_types": []string{"token"}},
		"only its own grant":        {"redirect_uris": []string{callback}, "grant_types": []string{"client_credentials"}},
		"a redirect that is a list": {"redirect_uris": []any{[]string{callback}}},
		"a body over 16 KiB":        {"redirect_uris": []string{callback}, "client_uri": strings.Repeat("x", 20_000)},
	} {
		t.Run(name, func(t *testing.T) {
			n := newOAuthNode(t, oauth.Options{}, web.Options{})
			p := newPerson(t)
			if res := p.registration(n, metadata); res.StatusCode != http.StatusBadRequest || !strings.Contains(res.text, `"error":"invalid_`) {
				t.Errorf("status %d: %s", res.StatusCode, res.text)
			}
			if clients := n.grants.State().Clients; len(clients) != 0 {
				t.Errorf("registered: %v", clients)
			}
		})
	}
}

func TestLoopbackAndOtherMetadataAreTaken(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	p.register(n, "http://127.0.0.1/cb", "http://[::1]:8765/cb", "http://localhost:1", "https://app.example:8443/cb?x=%20")
	// What the node does not keep is not an error: clients send much.
	res := p.registration(n, map[string]any{
		"redirect_uris": []string{callback}, "client_uri": "https://app.example", "logo_uri": "https://app.example/logo.svg",
		"token_endpoint_auth_method": "client_secret_basic", "software_id": "x", "contacts": []string{"x@app.example"},
	})
	if res.StatusCode != http.StatusCreated || !strings.Contains(res.text, `"token_endpoint_auth_method":"none"`) || strings.Contains(res.text, "logo") {
		t.Errorf("status %d: %s", res.StatusCode, res.text)
	}
}

// A client that registers 10,000 times is told to wait, and takes nothing from those who have a grant.
func TestAFloodOfRegistrations(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, got := p.grant(n)

	refused := 0
	for i := range 10_000 {
		res := p.registration(n, map[string]any{"client_name": fmt.Sprint(i), "redirect_uris": []string{callback}})
		switch {
		case res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "":
			refused++
		case res.StatusCode != http.StatusCreated:
			t.Fatalf("status %d: %s", res.StatusCode, res.text)
		}
	}

	if clients := len(n.grants.State().Clients); refused < 9_900 || clients > oauth.MaxClients {
		t.Errorf("%d of 10,000 were refused, and there are %d clients", refused, clients)
	}
	if next := p.token(n, refreshForm(client, got.Refresh)); next.Status != http.StatusOK || p.reaches(n, next.Access) != http.StatusOK {
		t.Errorf("the client with a grant has %+v", next)
	}
}

// Even a full list keeps the clients with a grant and the new ones; the others make room, the oldest first.
func TestAFullListOfClients(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, got := p.grant(n)

	fill := func(age time.Duration) {
		err := n.grants.Change(func(s *oauth.State) error {
			for i := range s.Clients {
				if s.Clients[i].ID == client {
					s.Clients = []oauth.Client{s.Clients[i]}
					break
				}
			}
			for i := len(s.Clients); i < oauth.MaxClients; i++ {
				at := time.Now().Add(-age - time.Duration(i)*time.Second)
				s.Clients = append(s.Clients, oauth.Client{ID: fmt.Sprint("old", i), RedirectURIs: []string{callback}, Created: at})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	metadata := map[string]any{"redirect_uris": []string{callback}}

	fill(0)
	if res := p.registration(n, metadata); res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("a list of new clients: status %d: %s", res.StatusCode, res.text)
	}
	fill(2 * time.Hour)
	if res := p.registration(n, metadata); res.StatusCode != http.StatusCreated {
		t.Errorf("a list of unused clients: status %d: %s", res.StatusCode, res.text)
	}
	state := n.grants.State()
	for _, c := range state.Clients {
		if c.ID == fmt.Sprint("old", oauth.MaxClients-1) {
			t.Error("the oldest client is still there")
		}
	}
	fill(25 * time.Hour)
	if res := p.registration(n, metadata); res.StatusCode != http.StatusCreated || len(n.grants.State().Clients) != 2 {
		t.Errorf("after a day unused clients are gone: status %d, %d clients", res.StatusCode, len(n.grants.State().Clients))
	}
	if next := p.token(n, refreshForm(client, got.Refresh)); next.Status != http.StatusOK {
		t.Errorf("the client with a grant has %+v", next)
	}
}
