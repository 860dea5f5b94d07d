package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

// asLogin returns a URL with another user.
func asLogin(url, login string) string {
	before, after, _ := strings.Cut(url, "@")
	return before[:strings.LastIndex(before, "/")+1] + login + "@" + after
}

// run runs a statement as a user of the server.
func run(t *testing.T, url, sql string) error {
	t.Helper()
	url, _, _ = strings.Cut(url, "?") // what follows is for a pool
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	_, err = c.PgConn().Exec(t.Context(), sql).ReadAll()

	return err
}

func must(t *testing.T, url, sql string) {
	t.Helper()
	if err := run(t, url, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func connectAs(t *testing.T, url string) (*Server, error) {
	t.Helper()
	s, err := Connect(t.Context(), url, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

// logins are the users of one database, whose names no other test has.
type logins struct{ url, owner, node, stranger string }

func makeLogins(t *testing.T) logins {
	t.Helper()
	url := postgrestest.NewURL(t)
	name := url[strings.LastIndex(url, "/")+1 : strings.Index(url, "?")]
	l := logins{url, name + "_owner", name + "_node", name + "_stranger"}
	must(t, url, fmt.Sprintf("CREATE ROLE %s LOGIN CREATEROLE; CREATE ROLE %s LOGIN; CREATE ROLE %s LOGIN; GRANT CREATE ON DATABASE %s TO %[1]s",
		l.owner, l.node, l.stranger, name))
	// The role is of all databases of the server, and another test may have made it.
	must(t, url, `DO $$ BEGIN CREATE ROLE robotmem_node NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	must(t, url, fmt.Sprintf("GRANT robotmem_node TO %s, %s", l.owner, l.node))

	return l
}

// What a node may not do, whoever it logs in as.
var forbidden = map[string]string{
	"read tokens":             "SELECT sha256 FROM robotmem.tokens",
	"make tokens":             "INSERT INTO robotmem.tokens(tenant, name, role, collections, sha256) VALUES (1, 'x', 'admin', '{*}', sha256('x'))",
	"disable a policy":        "ALTER TABLE robotmem.memories DISABLE ROW LEVEL SECURITY",
	"let the owner pass":      "ALTER TABLE robotmem.memories NO FORCE ROW LEVEL SECURITY",
	"drop a policy":           "DROP POLICY tenant ON robotmem.memories",
	"add a policy":            "CREATE POLICY all_rows ON robotmem.memories USING (true)",
	"disable a trigger":       "ALTER TABLE robotmem.audit DISABLE TRIGGER audit_grows",
	"skip triggers":           "SET session_replication_role = replica",
	"detach a partition":      "ALTER TABLE robotmem.memories DETACH PARTITION robotmem.memories_0",
	"read a partition":        "SELECT count(*) FROM robotmem.memories_0",
	"empty a table":           "TRUNCATE robotmem.memories",
	"replace a function":      "CREATE OR REPLACE FUNCTION robotmem.tenant() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
	"make a table":            "CREATE TABLE robotmem.mine(a integer)",
	"change the version":      "DELETE FROM robotmem.schema_versions",
	"call as somebody else":   "SET ROLE robotmem_owner",
	"redefine a view":         "CREATE OR REPLACE VIEW robotmem_tenant.memories AS SELECT * FROM robotmem.memories",
	"give its rights to more": "GRANT SELECT ON robotmem.memories TO PUBLIC",
}

func TestANodeOwnsNothing(t *testing.T) {
	l := makeLogins(t)
	if _, err := connectAs(t, asLogin(l.url, l.owner)); err != nil {
		t.Fatal(err)
	}
	for _, login := range []string{l.owner, l.node} {
		s, err := connectAs(t, asLogin(l.url, login))
		if err != nil {
			t.Fatal(login, err)
		}
		if _, err := s.MakeTenant(t.Context(), "north"); err != nil {
			t.Fatal(login, err)
		}

		for what, sql := range forbidden {
			if _, err := s.Pool.Exec(t.Context(), sql); !refused(err) && !strings.Contains(fmt.Sprint(err), "must be owner") {
				// A warning and no error: nothing was granted.
				granted := true
				_ = s.Pool.QueryRow(t.Context(), "SELECT has_table_privilege('public', 'robotmem.memories', 'SELECT')").Scan(&granted)
				if what != "give its rights to more" || granted {
					t.Errorf("%s may %s: %v", login, what, err)
				}
			}
		}

		// Through the functions it manages tokens.
		hash := make([]byte, 32)
		copy(hash, login)
		token := Token{Name: login, Role: "robot", Robot: "cart", Collections: []string{"default"}}
		if err := s.InsertToken(t.Context(), "north", token, hash); err != nil {
			t.Fatal(login, err)
		}
		if err := s.InsertToken(t.Context(), "south", token, hash); !errors.Is(err, ErrNone) {
			t.Errorf("%s: of no tenant: %v", login, err)
		}
		if err := s.InsertToken(t.Context(), "north", token, hash); !errors.Is(err, ErrExists) {
			t.Errorf("%s: twice: %v", login, err)
		}
		if err := s.TouchToken(t.Context(), hash); err != nil {
			t.Error(login, err)
		}
		if got, tenant, lately, err := s.TokenOf(t.Context(), hash); err != nil || got.Robot != "cart" || tenant != "north" || !lately {
			t.Errorf("%s: %+v of %s, lately %v, %v", login, got, tenant, lately, err)
		}
		if _, err := s.RevokeToken(t.Context(), "north", login); err != nil {
			t.Error(login, err)
		}
		if _, _, _, err := s.TokenOf(t.Context(), hash); !errors.Is(err, ErrNone) {
			t.Errorf("%s: revoked: %v", login, err)
		}
	}

	// A tenant ends with its tokens.
	s, err := connectAs(t, asLogin(l.url, l.node))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DropTenant(t.Context(), "north"); err != nil {
		t.Error(err)
	}
}

// The functions do not look for tables where their caller says.
func TestTheFunctionsOfTokensHaveTheirOwnPath(t *testing.T) {
	l := makeLogins(t)
	if _, err := connectAs(t, l.url); err != nil {
		t.Fatal(err)
	}
	url, _, _ := strings.Cut(l.url, "?")
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	loose, owners := -1, ""
	err = c.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE coalesce(proconfig::text, '') <> '{"search_path=pg_catalog, pg_temp"}'
			OR has_function_privilege('public', oid, 'EXECUTE')), string_agg(DISTINCT pg_get_userbyid(proowner), ' ')
		FROM pg_proc WHERE prosecdef AND pronamespace IN ('robotmem'::regnamespace, 'robotmem_tenant'::regnamespace)`).Scan(&loose, &owners)
	if err != nil || loose != 0 || owners != "robotmem_owner" {
		t.Errorf("%d functions have another path or are of all, the owners are %s, %v", loose, owners, err)
	}
}

func TestALoginWithoutTheRole(t *testing.T) {
	l := makeLogins(t)
	url := asLogin(l.url, l.stranger)

	// Without tables it may not make them.
	_, err := connectAs(t, url)
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "with the owner of the tables") {
		t.Errorf("without tables: %v", err)
	}
	if _, err := connectAs(t, asLogin(l.url, l.owner)); err != nil {
		t.Fatal(err)
	}
	_, err = connectAs(t, url)
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "GRANT robotmem_node TO \""+l.stranger+"\"") {
		t.Errorf("with tables: %v", err)
	}
	must(t, l.url, "GRANT robotmem_node TO "+l.stranger)
	if _, err := connectAs(t, url); err != nil {
		t.Errorf("with the role: %v", err)
	}
}

// A node that may not migrate says who may.
func TestTheOwnerMigrates(t *testing.T) {
	for name, owner := range map[string]func(logins) string{
		"an ordinary owner": func(l logins) string { return l.owner },
		"a superuser":       func(logins) string { return "postgres" },
	} {
		t.Run(name, func(t *testing.T) {
			l := makeLogins(t)
			by := asLogin(l.url, owner(l))
			must(t, by, schema+accessTables) // version 1

			_, err := connectAs(t, asLogin(l.url, l.node))
			if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), fmt.Sprintf("version 1 and this program needs %d", SchemaVersion)) {
				t.Errorf("as a node: %v", err)
			}
			if _, err := connectAs(t, by); err != nil {
				t.Fatal(err)
			}
			if s, err := connectAs(t, asLogin(l.url, l.node)); err != nil {
				t.Error(err)
			} else if _, err := s.MakeTenant(t.Context(), "north"); err != nil {
				t.Error(err)
			}
		})
	}
}
