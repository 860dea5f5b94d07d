package postgres

import (
	"cmp"
	"context"
	"embed"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

const (
	connectTime = 5 * time.Second // for each server of the URL, which may be one that hangs
	pingTime    = 2 * time.Second
	warned      = "warned" // the key of the last warning on a connection
)

//go:embed schema.sql
var schema string

// SchemaVersion is the version of the tables that this program makes and reads.
const SchemaVersion = 9

// tenantTables completes the tables of tenants that a script has made.
//
//go:embed tenant_tables.sql
var tenantTables string

// later holds the scripts that bring the tables from each version to the next, in order: those of
// version 1 to 2 come first. Their version is entered behind each.
//
//go:embed migrations/*.sql
var later embed.FS

// scriptsAfter returns what brings the tables from a version, 0 for none, to SchemaVersion.
func scriptsAfter(version int) (string, error) {
	var scripts strings.Builder
	if version == 0 {
		// These are the tables of version 1, which the scripts below bring up to date.
		scripts.WriteString(schema + accessTables)
		version = 1
	}

	for v := version + 1; v <= SchemaVersion; v++ {
		names, err := fs.Glob(later, fmt.Sprintf("migrations/%04d_*.sql", v))
		if err != nil || len(names) != 1 {
			return "", fmt.Errorf("migration to version %d: %d scripts (%w)", v, len(names), err)
		}
		script, err := later.ReadFile(names[0])
		if err != nil {
			return "", err
		}
		scripts.Write(script)
		scripts.WriteString(tenantTables)
		fmt.Fprintf(&scripts, "INSERT INTO robotmem.schema_versions VALUES (%d);\n", v)
	}

	return scripts.String(), nil
}

//go:embed access.sql
var accessTables string

// LeastServer is the oldest version of PostgreSQL, as server_version_num has it.
const LeastServer = 150000

// Server is a PostgreSQL server with the tables of all tenants.
type Server struct {
	Pool   *pgxpool.Pool
	health *health
}

// Close closes the connections.
func (s *Server) Close() {
	s.health.close()
	s.Pool.Close()
}

// Connect connects to the server of a URL, and makes the tables if they are absent. It fails with Conflict if a newer
// robotmem made them, Unavailable if the server is not reached or too old, Invalid if the URL is wrong. The log gets a line
// whenever the server goes away, becomes read-only or answers again.
func Connect(ctx context.Context, url string, log *slog.Logger) (*Server, error) {
	if _, err := texts(); err != nil {
		return nil, err
	}

	watched := &health{log: log}
	pool, err := connect(ctx, url, watched)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, pool, LeastServer); err != nil {
		pool.Close()
		return nil, err
	}

	watched.watch()

	return &Server{pool, watched}, nil
}

// Open returns the tables of a tenant. payloads is its folder of large payloads, patience how long a write waits for
// a server that takes it, group the store whose jobs share commits.
func (s *Server) Open(tenant int64, payloads string, patience time.Duration, group *store.Store, log *slog.Logger,
	closed func()) store.Database {
	return newDatabase(s, tenant, payloads, patience, group, log, closed)
}

// connect opens the connections of a URL, to the server of several that takes writes.
func connect(ctx context.Context, url string, watched *health) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is not the URL of a PostgreSQL server, such as postgres://robotmem@db1,db2/robotmem?sslmode=verify-full")
	}

	requireTLS(&c.ConnConfig.Config, url)
	c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.ConnConfig.RuntimeParams["search_path"] = "robotmem_tenant"
	c.ConnConfig.RuntimeParams["application_name"] = "robotmem"
	c.ConnConfig.RuntimeParams["timezone"] = "UTC"
	// A plan is kept while the tables grow: it must not be that of empty ones.
	c.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	// Compiling a plan takes longer than any statement here.
	c.ConnConfig.RuntimeParams["jit"] = "off"
	c.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	c.ConnConfig.RuntimeParams["statement_timeout"] = "20s"
	c.ConnConfig.RuntimeParams["lock_timeout"] = "15s"
	c.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60s"
	c.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	c.ConnConfig.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			c.CustomData()[warned] = n.Message
		}
	}
	c.ConnConfig.ConnectTimeout = cmp.Or(c.ConnConfig.ConnectTimeout, connectTime)
	c.PingTimeout = cmp.Or(c.PingTimeout, pingTime)
	c.AfterConnect = actAsNode
	c.ConnConfig.Tracer = watched
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, Explain(err)
	}

	return pool, nil
}

// actAsNode takes the role of nodes, once the tables are made. It owns nothing: whoever acts in it cannot lift
// row-level security, disable a trigger or read a token, whatever the login may do.
func actAsNode(ctx context.Context, c *pgx.Conn) error {
	login := ""
	// to_regclass would fail for a login without the role.
	err := c.QueryRow(ctx, `SELECT session_user FROM pg_roles WHERE rolname = 'robotmem_node' AND EXISTS (
		SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'robotmem' AND c.relname = 'schema_versions')`).Scan(&login)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}

	_, err = c.Exec(ctx, "SET ROLE robotmem_node")
	if refused(err) {
		return robotmem.Errorf(robotmem.Unavailable, "db",
			"the user %q of --db may not act as a node; as a superuser run: GRANT robotmem_node TO %s", login,
			pgx.Identifier{login}.Sanitize())
	}

	return err
}

// refused reports whether the server has refused a statement for want of a right.
func refused(err error) bool {
	told := (*pgconn.PgError)(nil)
	return errors.As(err, &told) && told.Code == "42501"
}

// asOwner makes the rest of a transaction run as the owner of the tables, if there are any.
const asOwner = `SET LOCAL ROLE NONE;
	SELECT set_config('role', pg_get_userbyid(nspowner)::text, true) FROM pg_namespace WHERE nspname = 'robotmem'; `

// migrating is the key of the lock that nodes take to make the tables.
const migrating = 0x726f626f746d656d

// migrate makes the tables, or checks their version, on a server that is not older than leastServer.
func migrate(ctx context.Context, pool *pgxpool.Pool, leastServer int) error {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return Explain(err)
	}

	defer c.Release()
	server := 0
	if err := c.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&server); err != nil {
		return Explain(err)
	}
	if server < leastServer {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the server is PostgreSQL %d; robotmem needs %d or later",
			server/10000, leastServer/10000)
	}

	version, err := versionOf(ctx, c)
	if err == nil && version < SchemaVersion {
		err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			// Several nodes may start at once. Only one makes the tables, and the others then find their version.
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrating)); err != nil {
				return err
			}
			if version, err = versionOf(ctx, c); err != nil || version >= SchemaVersion {
				return err // another node was faster
			}
			scripts, err := scriptsAfter(version)
			if err != nil {
				return err
			}
			// A node may make no tables.
			_, err = tx.Conn().PgConn().Exec(ctx, asOwner+scripts).ReadAll()

			return err
		})
		if refused(err) {
			err = robotmem.Errorf(robotmem.Unavailable, "db",
				"the tables have version %d and this program needs %d (0 is none); the user of --db may not make them (%s); run robotmem fleet tenant list once with the owner of the tables in --db",
				version, SchemaVersion, robotmem.Reason(err))
		}
		if err == nil {
			err = actAsNode(ctx, c.Conn())
		}
	}

	if err != nil {
		return Explain(err)
	}
	if version > SchemaVersion {
		return robotmem.Errorf(robotmem.Conflict, "db",
			"the database has schema version %d, this program knows up to %d; it was left as it is; install a newer robotmem",
			version, SchemaVersion)
	}

	return nil
}

// versionOf returns the version of the tables, 0 without any.
func versionOf(ctx context.Context, c *pgxpool.Conn) (version int, err error) {
	there := false
	if err = c.QueryRow(ctx, "SELECT to_regclass('robotmem.schema_versions') IS NOT NULL").Scan(&there); err != nil ||
		!there {
		return 0, err
	}
	err = c.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM robotmem.schema_versions").Scan(&version)

	return version, err
}

// MakeTenant returns the id of a tenant, which it makes if it is absent.
func (s *Server) MakeTenant(ctx context.Context, name string) (id int64, err error) {
	err = s.Pool.QueryRow(ctx, "SELECT id FROM robotmem.tenants WHERE name = $1", name).Scan(&id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		// DO UPDATE returns the id also if another node has made the tenant meanwhile.
		err := tx.QueryRow(ctx,
			"INSERT INTO robotmem.tenants(name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
			name).Scan(&id)
		if err != nil {
			return err
		}
		_, err = tx.Conn().PgConn().Exec(ctx, fmt.Sprintf(`SELECT set_config('robotmem.tenant', '%d', true);
			INSERT INTO counters(name, value) VALUES ('changes', 0), ('feature_rules', 0), ('full_text', 0), ('purges', 0), ('recalls', 0), ('scrub', 0), ('zero_hits', 0)
			ON CONFLICT DO NOTHING`, id)).ReadAll()

		return err
	})

	return id, err
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
