package postgres

import (
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

// noTLS is what the driver says of a server without TLS.
const noTLS = "server refused TLS connection"

// requireTLS lets passwords and memories pass in the clear only to a server on this machine, or if sslmode asks for it in
// the URL or in PGSSLMODE. The driver would try TLS first and go on without it, also where somebody in between has
// removed it.
func requireTLS(c *pgconn.Config, raw string) {
	u, err := url.Parse(raw)
	if err == nil && u.Query().Has("sslmode") || os.Getenv("PGSSLMODE") != "" {
		return
	}

	c.Fallbacks = slices.DeleteFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.TLSConfig == nil && !strings.HasPrefix(f.Host, "/") && !outgoing.ThisMachine(f.Host) // a path is a socket
	})
}
