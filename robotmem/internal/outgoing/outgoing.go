// Package outgoing makes the HTTP clients with which robotmem sends tokens and what a memory holds.
package outgoing

import (
	"net/http"
	"net/url"
)

// mostRedirects is how many redirects within an origin are followed.
const mostRedirects = 5

// RedirectError refuses a redirect.
type RedirectError struct {
	To string // scheme and host
}

// Error names the origin, without the path or the query, which may hold secrets.
func (e *RedirectError) Error() string { return "redirects to " + e.To + ", which is not followed" }

// Client returns a copy of a client, of a new one if it is nil, that follows redirects within the first
// origin only: a token, or the texts of a body, reach no other host, port or scheme. A redirect that
// would turn a request with a body into one without is refused too, since its answer is not that of the
// request. Connections are those of the client; those of a new one are its own.
func Client(c *http.Client) *http.Client {
	own := http.Client{Transport: http.DefaultTransport}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		// Closing idle connections does not close those of other clients.
		own.Transport = t.Clone()
	}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if Origin(req.URL) != Origin(first.URL) || req.Method != first.Method || len(via) >= mostRedirects {
			return &RedirectError{Origin(req.URL)}
		}
		return nil
	}

	return &own
}

// Origin is the part of an address that may appear in errors and logs: no credentials, path or query.
func Origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
