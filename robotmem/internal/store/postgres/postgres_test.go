package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// openDatabase opens the tables of a tenant in a new database.
func openDatabase(t *testing.T) *database {
	t.Helper()
	s, err := Connect(t.Context(), postgrestest.NewURL(t), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := s.MakeTenant(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	group := &store.Store{Clock: time.Now, Changed: func(int64) {}}
	d := newDatabase(s, tenant, t.TempDir(), 30*time.Second, group, slog.New(slog.DiscardHandler), s.Close)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// connectRaw opens a connection that knows nothing of tenants.
func connectRaw(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	url, _, _ = strings.Cut(url, "?")
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runText runs a text that is no query of package store.
func runText(c *conn, sql string, args []any, row func(store.Row) error) error {
	ctx, cancel := c.within()
	defer cancel()
	d, err := c.Prepare(ctx, fmt.Sprint("text", rand.Int64()), sql)
	if err != nil {
		return err
	}
	var a answer
	if _, err := c.run(&statement{StatementDescription: d, formats: make([]int16, len(d.Fields))}, args, a.read); err != nil {
		return err
	}
	return a.visit(row)
}

// inState is a connection whose queries see the server in another state: parts of their texts are replaced.
type inState struct {
	*conn
	state *strings.Replacer
}

func (c inState) Query(q store.Query, args []any, row func(store.Row) error) error {
	all, err := texts()
	if err != nil {
		return err
	}
	text, err := store.Find(all, q)
	if err != nil {
		return err
	}
	return runText(c.conn, c.state.Replace(strings.Join(strings.Fields(text.SQL), " ")), args, row)
}

// Each check of a server is ok in one state and warns, with a remedy, in another.
func TestEveryCheckOfAServerFails(t *testing.T) {
	d := openDatabase(t)
	standby := func(behind string) []string {
		return []string{
			"current_setting('synchronous_standby_names')", "'ANY 1 (b)'",
			"pg_stat_replication", "(VALUES ('b', 'streaming', 'quorum')) AS s(application_name, state, sync_state)",
			"pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)", behind,
		}
	}
	tables := func(dead string) []string {
		return []string{"pg_stat_user_tables", "(VALUES ('robotmem', 'memories', " + dead + "::bigint, 200000::bigint)) AS s(schemaname, relname, n_dead_tup, n_live_tup)"}
	}
	ownLogin := []string{
		"SELECT rolsuper FROM pg_roles WHERE rolname = session_user", "SELECT false",
		"pg_has_role(session_user, nspowner, 'MEMBER')", "false",
	}
	seen := map[string]bool{}
	for _, tt := range []struct {
		name, check  string
		ok, broken   []string
		says, remedy string
	}{
		{"a superuser", "server", ownLogin, []string{"rolsuper OR rolbypassrls", "true"}, "PostgreSQL", "no superuser"},
		{"a node that reads tokens", "server", ownLogin, []string{"has_table_privilege('robotmem.tokens', 'SELECT')", "true"}, "as robotmem_node", "REVOKE ALL ON robotmem.tokens"},
		{"a login that can leave its role", "server", ownLogin, nil, "of robotmem_owner, as robotmem_node, logged in as postgres", "IN ROLE robotmem_node"},
		{"a standby", "writing", standby("0"), []string{"SELECT pg_is_in_recovery()", "SELECT true"}, "read-only", "primary"},
		{"commits that do not wait for the disk", "writing", standby("0"), []string{"current_setting('synchronous_commit')", "'off'"}, "loses", "synchronous_commit = on"},
		{"no synchronous standby", "writing", standby("0"), nil, "disk of the server", "synchronous_standby_names"},
		{"a standby behind", "replication", standby("1000"), standby("100000000"), "b streaming, quorum, 95 MiB behind", "network"},
		{"a standby that is gone", "replication", nil, standby("0")[:2], "commits wait for ANY 1 (b)", "start the standby"},
		{"dead rows", "dead rows", tables("1000"), tables("150000"), "memories: 150000 dead rows of 350000", "VACUUM"},
	} {
		seen[tt.check] = true
		examine := func(state []string) admin.Check {
			var checks []admin.Check
			err := d.Read(t.Context(), func(c store.SQL) (err error) {
				checks, err = d.Examine(inState{c.(*conn), strings.NewReplacer(state...)})
				return err
			})
			if err != nil {
				t.Fatal(tt.name, err)
			}
			for _, c := range checks {
				if !seen[c.Name] && tt.check == "dead rows" {
					t.Errorf("the check %q has no case", c.Name)
				}
				if c.Name == tt.check {
					return c
				}
			}
			t.Fatalf("%s: there is no check %q", tt.name, tt.check)
			return admin.Check{}
		}
		if c := examine(tt.ok); c.Status != "ok" || c.Remedy != "" {
			t.Errorf("without %s: %+v", tt.name, c)
		}
		if c := examine(tt.broken); c.Status != "warn" || !strings.Contains(c.Detail, tt.says) || !strings.Contains(c.Remedy, tt.remedy) {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

func TestServerIsTooOld(t *testing.T) {
	url := postgrestest.NewURL(t)
	pool, err := connect(t.Context(), url, &health{log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := migrate(t.Context(), pool, 990000); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "needs 99 or later") {
		t.Errorf("got %v, want Unavailable", err)
	}
	none := false
	if err := pool.QueryRow(t.Context(), "SELECT to_regnamespace('robotmem') IS NULL").Scan(&none); err != nil || !none {
		t.Error("tables were made on a server that is too old")
	}
}

// Nodes that start at the same time on new databases of one server share its roles.
func TestDatabasesAreMadeAtOnce(t *testing.T) {
	postgrestest.Need(t)
	// The role is kept by what other databases grant it, so the race is for a name that no server has.
	fresh := strings.ReplaceAll(schema, "robotmem_node", "robotmem_node_at_once")
	start := make(chan struct{})
	var wg sync.WaitGroup
	var conns []*pgx.Conn
	for range 4 {
		c := connectRaw(t, postgrestest.NewURL(t))
		conns = append(conns, c)
		wg.Go(func() {
			<-start
			if _, err := c.PgConn().Exec(context.Background(), fresh).ReadAll(); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	for _, c := range conns {
		_, _ = c.PgConn().Exec(context.Background(), "DROP OWNED BY robotmem_node_at_once").ReadAll()
		defer c.Close(context.Background())
	}
	if _, err := conns[0].Exec(context.Background(), "DROP ROLE robotmem_node_at_once"); err != nil {
		t.Error(err)
	}
}

// Errors of a connection that is gone make a write try again; what the server has refused does not.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		err  error
		lost bool
	}{
		{pgconn.ErrConnClosed, true},
		{io.ErrUnexpectedEOF, true},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		{context.DeadlineExceeded, true},
		{&pgconn.PgError{Code: "57P01"}, true},
		{&pgconn.PgError{Code: "25P03"}, true},
		{&pgconn.PgError{Code: "40001"}, true},
		{&pgconn.PgError{Code: "53100"}, false},
		{&pgconn.PgError{Code: "23505"}, false},
		{errors.New("not of the server"), false},
	} {
		if got := lost(fmt.Errorf("in a statement: %w", c.err)); got != c.lost {
			t.Errorf("lost(%v) = %v, want %v", c.err, got, c.lost)
		}
	}
}

// A statement of a read ends with the deadline of the caller, unless it is to be completed, and one of a
// write is always completed.
func TestSlowStatement(t *testing.T) {
	d := openDatabase(t)
	slow := func(c store.SQL) error {
		return runText(c.(*conn), "SELECT pg_sleep(1)", nil, func(store.Row) error { return nil })
	}
	for _, c := range []struct {
		name  string
		run   func(context.Context, func(store.SQL) error) error
		f     func(store.SQL) error
		whole bool
	}{
		{"read", d.Read, slow, false},
		{"read that is to be completed", d.Read, func(c store.SQL) error {
			defer c.SetInterrupt(c.SetInterrupt(context.Background()))
			return slow(c)
		}, true},
		{"write", d.Write, slow, true},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		start := time.Now()
		err := c.run(ctx, c.f)
		cancel()
		if whole := time.Since(start) >= time.Second; whole != c.whole || (err == nil) != c.whole {
			t.Errorf("%s: %v after %v", c.name, err, time.Since(start))
		}
	}
}

// Plans are made again when a connection is twice as old, so that a plan of empty tables is not kept.
func TestPlansAreMadeAgain(t *testing.T) {
	p, times := &plans{since: time.Now()}, 0
	if p.old() {
		t.Error("the plans of a new connection are old")
	}
	for range 2 * 3600 { // two hours
		p.since = p.since.Add(-time.Second)
		if p.old() {
			times++
		}
	}
	if times < 12 || times > 14 {
		t.Errorf("plans are made again %d times in two hours, want 13", times)
	}
}
