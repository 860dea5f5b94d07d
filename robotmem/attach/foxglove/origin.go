package foxglove

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// DefaultOrigins returns the origins of pages whose scripts may connect to a server unless it is told
// otherwise: Foxglove on the web, its desktop application and that of Lichtblick (file://), and pages
// that this computer serves, such as a Lichtblick in a container.
//
// A browser sends the origin of the page, and any page that a person visits may try to connect to
// ws://localhost. The origin is what stops it. Pages of the server's own name are not allowed for that
// reason: a hostile page may give itself this name. A file that a person opens in a browser has the origin
// file:// too; a server that takes commands should leave it out.
func DefaultOrigins() []string {
	origins := []string{"https://app.foxglove.dev", "https://embed.foxglove.dev", "file://"}

	for _, host := range []string{"localhost", "127.0.0.1", `\[::1\]`} {
		for _, scheme := range []string{"http://", "https://"} {
			origins = append(origins, scheme+host, scheme+host+":*")
		}
	}

	return origins
}

// originAllowed is whether a request comes from no browser, or from a page that may connect. A pattern that
// is malformed allows nothing.
func originAllowed(r *http.Request, patterns []string) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}

	// No browser sends a name of a user, behind which another host would follow.
	u, err := url.Parse(origins[0])
	if err != nil || u.User != nil || len(origins) != 1 {
		return false
	}
	origin := strings.ToLower(u.Scheme + "://" + u.Host)

	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == "*" {
			return true
		}
		matches, err := path.Match(strings.ToLower(pattern), origin)

		return err == nil && matches
	})
}
