package main

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/robotmem/robotmem-go/web"
)

// webSettings are the flags of web over the settings.
type webSettings struct {
	addr, cert, key string
	rate            string
	hosts, origins  []string
}

func (c *webCmd) settings(s *config) webSettings {
	or := func(flag *string, setting string) string { return *cmp.Or(flag, &setting) }
	out := webSettings{addr: or(c.Addr, s.Addr), cert: or(c.TLSCert, s.TLSCert), key: or(c.TLSKey, s.TLSKey), rate: s.Rate, hosts: s.AllowHost, origins: s.CORSOrigin}
	if c.Rate != nil {
		out.rate = strconv.FormatFloat(*c.Rate, 'g', -1, 64)
	}
	if len(c.AllowHost) > 0 {
		out.hosts = c.AllowHost
	}
	if len(c.CORSOrigin) > 0 {
		out.origins = c.CORSOrigin
	}
	return out
}

// options are the guards of a node, which may be less strict where only this
// machine reaches it.
func (s *webSettings) options(local bool) (o web.Options, err error) {
	if !local {
		o.Rate = defaultRate
	}
	if s.rate != "" {
		if o.Rate, err = strconv.ParseFloat(s.rate, 64); err != nil || !(o.Rate >= 0 && o.Rate <= maxRate) {
			return o, invalid("rate", "must be 0 to %d requests a second, not %q", maxRate, s.rate)
		}
	}
	check := http.NewCrossOriginProtection()
	for _, origin := range s.origins {
		if origin == "*" {
			continue
		}
		if err := check.AddTrustedOrigin(origin); err != nil {
			return o, invalid("cors-origin", "must be an origin such as https://fleet.example, or *, not %q", origin)
		}
	}
	o.CORSOrigins = s.origins
	for _, host := range s.hosts {
		if _, _, err := net.SplitHostPort(host); err == nil || host == "" {
			return o, invalid("allow-host", "must be a name without a port, such as arm-7.local, not %q", host)
		}
	}
	o.AllowedHosts = s.hosts
	if host, _, _ := net.SplitHostPort(s.addr); host != "" {
		o.AllowedHosts = append(o.AllowedHosts[:len(s.hosts):len(s.hosts)], host)
	}
	return o, nil
}

const maxRate = 1_000_000

// tls is nil for plain HTTP.
func (s *webSettings) tls() (*tls.Config, error) {
	switch {
	case s.cert == "" && s.key == "":
		return nil, nil
	case s.cert == "":
		return nil, invalid("tls-cert", "is required with --tls-key")
	case s.key == "":
		return nil, invalid("tls-key", "is required with --tls-cert")
	}
	pair, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		return nil, invalid("tls-cert", "%s and %s are no certificate with its key: %v", s.cert, s.key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// localOnly reports whether only this machine reaches the address.
func localOnly(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, invalid("addr", "must be HOST:PORT such as 127.0.0.1:7878, not %q", addr)
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback(), nil
}
