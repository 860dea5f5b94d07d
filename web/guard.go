package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// guard lets through only what may reach a route: the host must be one of ours
// (against name rebinding), a change must not come from a page of another
// origin, and a panic in a handler ends that request alone.
func (s *server) guard(next http.Handler, allowedHosts []string) http.Handler {
	allowed := map[string]bool{}
	for _, h := range allowedHosts {
		allowed[strings.ToLower(strings.Trim(h, "[]"))] = true
	}
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, "Origin", fmt.Errorf("a page of another origin may not change anything here"))
	}))
	sameOrigin := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recoverPanic(w, r)
		if host := hostname(r.Host); !loopback(host) && !allowed[host] {
			s.refuse(w, r, "Host", fmt.Errorf("%q is not a name of this node; use localhost, or have its operator allow the name", r.Host))
			return
		}
		sameOrigin.ServeHTTP(w, r)
	})
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

func (s *server) recoverPanic(w http.ResponseWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // net/http's own way to drop a connection
	}
	s.log.Error("panic in a handler", "method", r.Method, "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
	s.writeProblem(w, r, newProblem(http.StatusInternalServerError, robotmem.Internal, internalDetail))
}
