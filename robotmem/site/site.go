// Package site is the memory of many robots, on PostgreSQL.
//
// A node holds nothing that is not in the database: any number of them may serve the same
// tenants, and one that is killed loses nothing that was acknowledged.
package site

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"os"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Options configure a node. The zero value works.
type Options struct {
	local.Options
	Tenant   string        // whose memory it is; DefaultTenant if empty
	Payloads string        // the folder of large payloads, which all nodes share
	Patience time.Duration // how long a write waits for a server that takes it; 30 s if zero
}

const (
	// DefaultTenant is the tenant of a site that has one.
	DefaultTenant   = "default"
	defaultPatience = 30 * time.Second
)

// LeastServer is the oldest version of PostgreSQL, as server_version_num has it.
const LeastServer = 150000

// It does not compile if the store wants another version.
var _ = [1]struct{}{}[LeastServer-postgres.LeastServer]

// IsURL reports whether a --db names a PostgreSQL server.
func IsURL(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// Site is a PostgreSQL server with the tables of all tenants.
type Site struct {
	server  *postgres.Server
	options Options
	tokens  *lru.Cache[[sha256.Size]byte, knownToken]
	limits  *lru.Cache[string, limits] // by tenant
}

// Connect connects to the server of a URL, and makes the tables if they are absent. It fails with
// Conflict if a newer robotmem made them, Unavailable if the server is not reached or too old,
// Invalid if an option is wrong.
func Connect(ctx context.Context, url string, o Options) (*Site, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}

	o.Tenant, o.Patience = cmp.Or(o.Tenant, DefaultTenant), cmp.Or(o.Patience, defaultPatience)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	server, err := postgres.Connect(ctx, url, o.Logger)
	if err != nil {
		return nil, err
	}
	// Each background loop of each tenant would log that the database is away.
	o.Logger = server.Quiet(o.Logger)

	s := &Site{server: server, options: o}
	// Fails only for a size below 1.
	s.tokens, _ = lru.New[[sha256.Size]byte, knownToken](knownTokens)
	s.limits, _ = lru.New[string, limits](knownTenants)
	if err := s.claimPayloads(ctx); err != nil {
		server.Close()
		return nil, err
	}

	return s, nil
}

// Close closes the connections. The nodes of tenants are closed before.
func (s *Site) Close() { s.server.Close() }

// Node opens the memory of a tenant, which it makes if it is absent.
func (s *Site) Node(ctx context.Context, tenant string) (*local.Node, error) {
	return s.node(ctx, tenant, func() {})
}

func (s *Site) node(ctx context.Context, name string, closed func()) (*local.Node, error) {
	tenant, err := s.server.MakeTenant(ctx, name)
	if err != nil {
		return nil, postgres.Explain(err)
	}
	payloads := s.folder(tenant)
	if err := os.MkdirAll(payloads, 0o700); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "payloads",
			"the folder of large payloads cannot be made (%v)", err)
	}

	options := engine.OptionsOf(&s.options.Options)
	e, err := engine.Open(ctx, options, func(group *store.Store, o *engine.Options, _ func() *record.Builder) (store.Database, error) {
		return s.server.Open(tenant, payloads, s.options.Patience, group, o.Logger, closed), nil
	})
	if err != nil {
		return nil, err
	}

	return engine.Hold(new(local.Node), e), nil
}

// Open opens the memory of the tenant of the options on the server of a URL, as [Connect] does.
// Closing the node closes its connections.
func Open(ctx context.Context, url string, o Options) (*local.Node, error) {
	s, err := Connect(ctx, url, o)
	if err != nil {
		return nil, err
	}
	n, err := s.node(ctx, s.options.Tenant, s.Close)
	if err != nil {
		s.Close()
	}

	return n, err
}
