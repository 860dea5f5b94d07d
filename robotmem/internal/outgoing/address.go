package outgoing

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Address parses the address of a service. An address without a scheme is http with defaultPort, and the address of all
// interfaces is this machine. The query and the fragment are left out. An error says nothing of the address, which may hold
// a secret.
func Address(raw, defaultPort string) (*url.URL, error) {
	bare := !strings.Contains(raw, "://")
	if bare {
		raw = "http://" + raw
	}

	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("is not an http:// or https:// URL")
	}

	// The address of all interfaces, such as 0.0.0.0, is one that a server listens on. A client reaches it here.
	host, port := u.Hostname(), u.Port()
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if bare && port == "" {
		port = defaultPort
	}

	u.Host = strings.TrimSuffix(net.JoinHostPort(host, port), ":") // without a port
	u.RawQuery, u.Fragment = "", ""

	return u, nil
}

// ThisMachine reports whether a host is this machine: localhost or a loopback address.
func ThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
