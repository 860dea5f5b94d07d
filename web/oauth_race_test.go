package web_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// Of many that use one code, or one refresh token, at the same time, one at most gets tokens, and they are worth
// nothing after the others came.
func TestOneOfManyAtTheSameTime(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, callback)
	code := newPerson(t).allow(codeRequest(n, client), n.ada).Query().Get("code")
	_, got := p.grant(n)
	other := n.grants.State().Grants[0].ClientID
	for name, form := range map[string]func() pair{
		"a code":          func() pair { return p.token(n, exchangeForm(client, code)) },
		"a refresh token": func() pair { return p.token(n, refreshForm(other, got.Refresh)) },
	} {
		t.Run(name, func(t *testing.T) {
			var all sync.WaitGroup
			answers := make([]pair, 12)
			for i := range answers {
				all.Go(func() { answers[i] = form() })
			}
			all.Wait()
			given := 0
			for _, a := range answers {
				if a.Access == "" {
					continue
				}
				given++
				if status := p.reaches(n, a.Access); status != http.StatusUnauthorized {
					t.Errorf("tokens that were asked for twice are good: %d", status)
				}
			}
			if given != 1 {
				t.Errorf("%d got tokens, want 1", given)
			}
		})
	}
}

// A client that refreshes in a loop is told to wait, and its grant stays.
func TestRefreshesInALoop(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client, got := p.grant(n)
	for i := 0; ; i++ {
		next := p.token(n, refreshForm(client, got.Refresh))
		if next.Status == http.StatusTooManyRequests {
			break
		}
		if got = next; got.Status != http.StatusOK || i > 100 {
			t.Fatalf("refresh %d: %+v", i, next)
		}
	}
	if status := p.reaches(n, got.Access); status != http.StatusOK {
		t.Errorf("the last access token has status %d", status)
	}
}

// A policy cannot name an IPv6 address, so the page allows the scheme.
func TestTheConsentPageLeadsToTheProgram(t *testing.T) {
	n := newOAuthNode(t, oauth.Options{}, web.Options{})
	p := newPerson(t)
	client := p.register(n, "http://[::1]/cb", "http://127.0.0.1/cb")
	p.logIn(codeRequest(n, client, "redirect_uri", "http://[::1]:8765/cb"), n.ada)
	for uri, want := range map[string]string{
		"http://[::1]:8765/cb": "form-action 'self' http:", "http://127.0.0.1:99/cb": "form-action 'self' http://127.0.0.1:99",
	} {
		page := p.open(codeRequest(n, client, "redirect_uri", uri))
		if got := page.Header.Get("Content-Security-Policy"); !strings.HasSuffix(got, want) {
			t.Errorf("%s: the policy %q, want %q at its end", uri, got, want)
		}
	}
}
