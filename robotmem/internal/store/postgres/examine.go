package postgres

import (
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

const (
	lagWarn   = 64 << 20 // bytes of the log that a standby is behind
	deadWarn  = 0.5      // share of dead rows of a table
	deadLeast = 100_000  // dead rows that are worth a warning
)

// Examine implements store.Database: the server, its standbys, and the dead rows of the tables.
func (d *database) Examine(c store.SQL) (checks []admin.Check, err error) {
	add := func(name, remedy, format string, args ...any) {
		status := "ok"
		if remedy != "" {
			status = "warn"
		}
		checks = append(checks,
			admin.Check{Name: name, Status: status, Detail: fmt.Sprintf(format, args...), Remedy: remedy})
	}
	one := func(q store.Query, row func(store.Row)) {
		if err == nil {
			_, err = (&store.Conn{SQL: c}).One(q, nil, row)
		}
	}
	one(store.ServerState, func(r store.Row) {
		remedy := ""

		switch {
		case r.ColumnBool(2), r.ColumnBool(7):
			remedy = "run, as a superuser: REVOKE ALL ON robotmem.tokens FROM robotmem_node, and let robotmem_node be no superuser and no member of " + r.ColumnText(5)
		// The role is the fence. A login that can leave the role is none.
		case r.ColumnBool(6):
			remedy = "let nodes log in as a user of their own: CREATE ROLE robotmem_site LOGIN PASSWORD '…' IN ROLE robotmem_node; keep this one for upgrades"
		}
		add("server", remedy, "PostgreSQL %s, tables of version %d of %s, as %s, logged in as %s", r.ColumnText(0), r.ColumnInt64(3),
			r.ColumnText(5), r.ColumnText(1), r.ColumnText(4))
	})
	// The standbys that a commit waits for.
	waitsFor := ""
	one(store.ReplicationSettings, func(r store.Row) {
		names, commit := r.ColumnText(1), r.ColumnText(2)
		switch {
		case r.ColumnBool(0):
			add("writing", "connect to the primary, or promote this standby",
				"the server is a standby, which is read-only")
		case commit == "off":
			add("writing", "set synchronous_commit = on",
				"synchronous_commit is off: a crash of the server loses the last acknowledged writes")
		case names == "":
			add("writing",
				"for a fleet set synchronous_standby_names = 'ANY 1 (…)'; on one server this may be as wanted",
				"no synchronous standby: writes are lost with the disk of the server")
		default:
			waitsFor = names
			add("writing", "", "a commit waits for %s", names)
		}
	})
	if err != nil {
		return nil, err
	}

	var standbys []string
	behind := int64(0)

	err = c.Query(store.Standbys, nil, func(r store.Row) error {
		standbys = append(standbys,
			fmt.Sprintf("%s %s, %s, %s behind", r.ColumnText(0), r.ColumnText(1), r.ColumnText(2),
				units.BytesText(r.ColumnInt64(3))))
		behind = max(behind, r.ColumnInt64(3))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(standbys) == 0 && waitsFor != "":
		add("replication", "start the standby, or take it out of synchronous_standby_names",
			"no standby is connected, while commits wait for %s", waitsFor)
	case len(standbys) == 0:
		add("replication", "", "no standby is connected")
	case behind > lagWarn:
		add("replication", "look at the network and the disk of the standby", "%s", strings.Join(standbys, "; "))
	default:
		add("replication", "", "%s", strings.Join(standbys, "; "))
	}

	var bloated []string
	err = c.Query(store.DeadRows, []any{int64(deadLeast)}, func(r store.Row) error {
		if dead, live := r.ColumnInt64(1), r.ColumnInt64(2); float64(dead) > deadWarn*float64(live) {
			bloated = append(bloated, fmt.Sprintf("%s: %d dead rows of %d", r.ColumnText(0), dead, dead+live))
		}
		return nil
	})
	if len(bloated) > 0 {
		add("dead rows", "let autovacuum run more often, or run VACUUM", "%s", strings.Join(bloated, "; "))
	} else {
		add("dead rows", "", "autovacuum keeps up")
	}

	return checks, err
}
