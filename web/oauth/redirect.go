package oauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// maxURI is the longest redirect URI in bytes.
const maxURI = 512

// checkRedirect fails unless a client may register the redirect URI: https, or http to this machine (RFC 8252). Other
// schemes can be claimed by any program of the machine.
func checkRedirect(uri string) error {
	_, err := parseRedirect(uri)
	return err
}

// hosts matches what a policy of a page can name, and nothing that could add to the policy.
var hosts = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func parseRedirect(uri string) (*url.URL, error) {
	if len(uri) > maxURI {
		return nil, fmt.Errorf("is longer than %d bytes", maxURI)
	}

	// Browsers take a backslash for a slash and drop line breaks and tabs, so such a URI may lead them elsewhere than it
	// seems. Characters of other scripts must be percent-encoded in any case.
	for _, c := range []byte(uri) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\\\"<>^`{|}", c) >= 0 {
			return nil, errors.New("has a character that a URI cannot contain")
		}
	}

	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return nil, errors.New("is no URI")
	case strings.Contains(uri, "#"):
		return nil, errors.New("has a fragment")
	case u.User != nil || strings.Contains(u.Host, "@"):
		return nil, errors.New("has a user name")
	case u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("has no host")
	case !hosts.MatchString(u.Host):
		return nil, errors.New("has a host that is no name and no address")
	case u.String() != uri:
		return nil, errors.New("is not in its usual spelling, such as https://app.example/callback")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return u, nil
	}

	return nil, errors.New("must begin with https://, or with http:// and 127.0.0.1, [::1] or localhost")
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback())
}

// sameRedirect reports whether a redirect URI is the registered one. Only the port of this machine may differ, which
// a program without a fixed port takes anew each time.
func sameRedirect(registered, uri string) bool {
	if registered == uri {
		return true
	}
	known, err := parseRedirect(registered)
	if err != nil {
		return false
	}
	got, err := parseRedirect(uri)
	if err != nil || known.Scheme != "http" || got.Scheme != "http" || known.Hostname() != got.Hostname() {
		return false
	}
	known.Host, got.Host = "", ""

	return known.String() == got.String()
}
