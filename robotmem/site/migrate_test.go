package site

import (
	"os"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

// Tables of an earlier version are brought to this one, with what they hold.
func TestTablesOfVersion1(t *testing.T) {
	url := postgrestest.NewURL(t)
	for _, script := range []string{"schema.sql", "access.sql"} {
		text, err := os.ReadFile("../internal/store/postgres/" + script)
		if err != nil {
			t.Fatal(err)
		}
		query(t, url, string(text))
	}
	if v := query(t, url, "SELECT max(version) FROM robotmem.schema_versions"); v != "1" {
		t.Fatalf("the scripts of version 1 make version %s", v)
	}

	// What a node of version 1 has stored: this one stores the same, but for names of calls.
	n := openTest(t, url, Options{})
	learnt(t, n, "the gate sticks in the cold")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if v := query(t, url, "SELECT string_agg(version::text, ' ' ORDER BY version) FROM robotmem.schema_versions"); v != "1 2 3 4 5 6 7 8 9" {
		t.Errorf("versions %q, want 1 to 9", v)
	}

	// The new tables have the fence of the others.
	const open = `SELECT coalesce(string_agg(relname, ' '), '') FROM pg_class
		WHERE relnamespace = 'robotmem'::regnamespace AND relkind = 'p' AND NOT (relrowsecurity AND relforcerowsecurity)`
	if got := query(t, url, open); got != "" {
		t.Errorf("tables without row security: %s", got)
	}

	// They have partitions, a view, and no right for nodes to a partition.
	const parts = `SELECT string_agg(c.relname || ' ' || (SELECT count(*) FROM pg_inherits WHERE inhparent = c.oid) || ' ' ||
		(to_regclass('robotmem_tenant.' || c.relname) IS NOT NULL) || ' ' || has_table_privilege('robotmem_node', c.relname || '_0', 'SELECT'), ', ' ORDER BY c.relname)
		FROM pg_class c WHERE c.relnamespace = 'robotmem'::regnamespace AND c.relname IN ('requests', 'sightings')`
	if got := query(t, url, "SET search_path = robotmem; "+parts); got != "requests 4 true false, sightings 4 true false" {
		t.Errorf("new tables: %s", got)
	}

	req := &robotmem.LearnRequest{Insight: "the gate sticks in the wet", RequestID: "7"}
	one, other := openTest(t, url, Options{}), openTest(t, url, Options{Tenant: "other"})
	first, err := one.Learn(t.Context(), req)
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	if again, err := one.Learn(t.Context(), req); err != nil || again.MemoryID != first.MemoryID || again.Status != "created" {
		t.Errorf("repeated: %+v, %v, want %+v", again, err, first)
	}
	// Another tenant gives the same name to its own call.
	if theirs, err := other.Learn(t.Context(), req); err != nil || theirs.UID == first.UID {
		t.Errorf("another tenant: %+v, %v", theirs, err)
	}
}
