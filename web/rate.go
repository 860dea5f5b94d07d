package web

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients bounds the callers whose requests are counted one by one. Those
// beyond share one count.
const maxClients = 10_000

// limits count the requests of each caller.
type limits struct {
	perSecond rate.Limit
	burst     int

	mu     sync.Mutex // guards what follows
	each   map[string]*rate.Limiter
	others *rate.Limiter
	swept  time.Time
}

func newLimits(perSecond rate.Limit, burst int) *limits {
	return &limits{perSecond: perSecond, burst: burst, each: map[string]*rate.Limiter{}, others: rate.NewLimiter(perSecond, burst)}
}

// of is the count of one caller. Whoever has been quiet for long enough to have
// all its requests again is forgotten when room is needed.
func (l *limits) of(caller string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have := l.each[caller]; have != nil {
		return have
	}
	if now := time.Now(); len(l.each) >= maxClients && now.Sub(l.swept) > time.Second {
		l.swept = now
		for name, have := range l.each {
			if have.TokensAt(now) >= float64(l.burst) {
				delete(l.each, name)
			}
		}
	}
	if len(l.each) >= maxClients {
		return l.others
	}
	fresh := rate.NewLimiter(l.perSecond, l.burst)
	l.each[caller] = fresh
	return fresh
}

// address is the caller's. An IPv6 subscriber has a whole /64.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip = ip.Unmap(); ip.Is6() && !ip.IsLoopback() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}
