package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/robotmem/robotmem-go/robotmem"
)

// guard checks a request before its route, the cheapest check first: the host must
// be a name of this node (against DNS rebinding), a page must be of this origin, and the
// caller needs a token. The files of the dashboard need no token.
// A request that a guard refuses moves no counter of the memory and takes no stream.
func (s *server) guard(routes http.Handler) http.Handler {
	public := map[string]bool{
		"/healthz":            true,
		"/readyz":             true,
		"/login":              true,
		proofPath:             s.opts.Secret != nil,
		metadataPath:          s.oidc != nil,
		metadataPath + "/mcp": s.oidc != nil,
	}
	for _, route := range s.oauthRoutes() {
		public[route.path] = true
	}

	// Each handler wraps the one before, so the last line runs first. observe is outermost: refusals need an id and a
	// line in the log too.
	h := s.authorized(public, routes)
	if s.opts.UI != nil {
		h = s.dashboard(s.opts.UI, h)
	}
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
			s.refuse(w, r, "Host", fmt.Errorf("%.100q is not a name of this node; use localhost, "+
				"or have its operator allow the name with --allow-host", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// origins refuses pages of other origins with every method: a page cannot read the answer
// to its GET, but the GET would count as a recall or hold a stream. A link of another site
// may open the dashboard.
func (s *server) origins(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Check admits GET from everywhere, so a copy of the request pretends to be a POST.
		probe := *r
		probe.Method = http.MethodPost
		if protection.Check(&probe) != nil && !followsLink(r) {
			s.refuse(w, r, "Origin",
				errors.New("a page of another origin may not use this node; open the dashboard instead"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// followsLink reports whether a browser opens the dashboard or the API reference in a tab. Their
// files hold nothing of the memory. A frame or an embedded object has another destination.
func followsLink(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" &&
		(opensApp(r.URL.Path) || r.URL.Path == "/api/reference")
}

func (s *server) refuse(w http.ResponseWriter, r *http.Request, field string, why error) {
	s.writeProblem(w, r, s.problemOf(r, &robotmem.Error{Kind: robotmem.Forbidden, Field: field, Err: why}))
}

// hostname returns a Host header without its port, in lower case.
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

// ownAddress reports whether host is the address that the request came to. An
// attacker can let a name point to this node, but not an address.
func ownAddress(r *http.Request, host string) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	addr, err := netip.ParseAddr(host)
	return ok && err == nil && local.AddrPort().Addr().Unmap() == addr.Unmap()
}

// maxClients is the number of callers that are counted. A new one takes the place of the
// one that was seen longest ago.
const maxClients = 10_000

// limits is a rate limit for each caller.
type limits struct {
	perSecond rate.Limit
	burst     int
	each      *lru.Cache[string, *rate.Limiter]
}

func newLimits(perSecond rate.Limit, burst int) *limits {
	// Fails only for a size below 1.
	each, _ := lru.New[string, *rate.Limiter](maxClients)
	return &limits{perSecond, burst, each}
}

// of returns the limiter of a caller.
func (l *limits) of(caller string) *rate.Limiter { return l.at(caller, l.perSecond, l.burst) }

// at returns the limiter of a caller with a rate of its own, a new one if the rate has changed.
func (l *limits) at(caller string, perSecond rate.Limit, burst int) *rate.Limiter {
	if have, ok := l.each.Get(caller); ok && have.Limit() == perSecond {
		return have
	} else if ok {
		l.each.Remove(caller)
	}

	// Another request may have added a limiter since Get. Both must use the same one.
	fresh := rate.NewLimiter(perSecond, burst)
	if have, ok, _ := l.each.PeekOrAdd(caller, fresh); ok {
		return have
	}

	return fresh
}

// address returns the address of the client, for IPv6 its /64 network, which belongs
// to one subscriber.
func address(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := from.Addr().Unmap()
	if ip.Is6() && !ip.IsLoopback() {
		// Prefix fails only for more bits than the address has.
		network, _ := ip.WithZone("").Prefix(64)
		return network.String()
	}

	return ip.String()
}
