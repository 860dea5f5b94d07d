package fleet

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// inState is a connection whose statements see the server in another state: parts of their texts are replaced.
type inState struct {
	store.SQL
	state *strings.Replacer
}

func (c inState) Query(sql string, args []any, row func(store.Row) error) error {
	return c.SQL.Query(c.state.Replace(sql), args, row)
}

func (c inState) One(sql string, args []any, row func(store.Row)) (bool, error) {
	return c.SQL.One(c.state.Replace(sql), args, row)
}

// Each check of a server is ok in one state and warns, with a remedy, in another.
func TestEveryCheckOfAServerFails(t *testing.T) {
	d := openTest(t, newURL(t), Options{}).Store.Database.(*database)
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
	seen := map[string]bool{}
	for _, tt := range []struct {
		name, check  string
		ok, broken   []string
		says, remedy string
	}{
		{"a superuser", "server", nil, []string{"rolsuper OR rolbypassrls", "true"}, "PostgreSQL", "no superuser"},
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
				checks, err = d.Examine(inState{c, strings.NewReplacer(state...)})
				return err
			})
			if err != nil {
				t.Fatal(tt.name, err, causeOf(err))
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
