package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/rs/cors"

	"github.com/robotmem/robotmem-go/robotmem"
)

// guard lets through only what may reach a route. Each step sees what the one
// before let pass, so that a stranger costs the least: the host must be one of
// ours (against name rebinding), a page must be of this origin or one of those
// configured, the body must not be too long, and the caller must have a token.
// The dashboard's own files need none.
func (s *server) guard(routes http.Handler) http.Handler {
	h := s.authorized(map[string]bool{"/healthz": true, "/readyz": true, "/login": true}, routes)
	if s.opts.UI != nil {
		h = s.dashboard(s.opts.UI, h)
	}
	h = s.limited(h)
	h = s.origins(h)
	h = s.hosts(h)
	return s.observe(h)
}

func (s *server) hosts(next http.Handler) http.Handler {
	names := map[string]bool{}
	for _, h := range s.opts.AllowedHosts {
		names[strings.ToLower(strings.Trim(h, "[]"))] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostname(r.Host); !loopback(host) && !names[host] && !ownAddress(r, host) {
			s.refuse(w, r, "Host", fmt.Errorf("%.100q is not a name of this node; use localhost, or have its operator allow the name with --allow-host", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// origins keeps pages of other sites out, save those that are configured.
func (s *server) origins(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, "Origin", errors.New("a page of another origin may not change anything here; have the operator of the node allow it with --cors-origin"))
	}))
	if len(s.opts.CORSOrigins) == 0 {
		return protection.Handler(next)
	}
	all := slices.Contains(s.opts.CORSOrigins, "*")
	for _, origin := range s.opts.CORSOrigins {
		if origin != "*" {
			_ = protection.AddTrustedOrigin(origin) // what is no origin is not trusted
		}
	}
	same := protection.Handler(next)
	// Cookies never cross: whoever comes from elsewhere shows its token.
	return cors.New(cors.Options{
		AllowedOrigins: s.opts.CORSOrigins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders: []string{"Accept", "Authorization", "Content-Type", "If-None-Match", "Last-Event-ID", "Mcp-Protocol-Version", "Mcp-Session-Id", "Range", "X-Request-Id"},
		ExposedHeaders: []string{"Accept-Ranges", "Content-Disposition", "Content-Range", "ETag", "Mcp-Session-Id", "Retry-After", "X-Request-Id"},
		MaxAge:         600, // seconds
	}).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A page can send a token only after the preflight allowed it, and
		// only if it has one: then it is no forgery of the visitor's.
		_, shown := bearerOf(r)
		if _, required := s.tokens(); all && required && shown {
			next.ServeHTTP(w, r)
			return
		}
		same.ServeHTTP(w, r)
	}))
}

func (s *server) refuse(w http.ResponseWriter, r *http.Request, field string, why error) {
	s.writeProblem(w, r, s.problemOf(r, &robotmem.Error{Kind: robotmem.Forbidden, Field: field, Err: why}))
}

// hostname is a Host header without its port, in lower case.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// ownAddress reports whether host is the address that the request came to. Only
// a name can be made to point here; an address points where it says.
func ownAddress(r *http.Request, host string) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	addr, err := netip.ParseAddr(host)
	return ok && err == nil && local.AddrPort().Addr().Unmap() == addr.Unmap()
}
