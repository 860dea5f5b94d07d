package site

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

// A site of an earlier version, with facts in two collections, has feeds after the migration: all facts in the order of
// their last change, a mark for each, and what comes after continues them.
func TestFeedsOfAnEarlierVersion(t *testing.T) {
	url := postgrestest.NewURL(t)
	migrations := "../internal/store/postgres/migrations/"
	for _, script := range []string{"../internal/store/postgres/schema.sql", "../internal/store/postgres/access.sql"} {
		query(t, url, read(t, script))
	}
	earlier, err := filepath.Glob(migrations + "000[2-6]_*.sql")
	if err != nil || len(earlier) != 5 {
		t.Fatal(earlier, err)
	}
	for i, script := range earlier {
		query(t, url, read(t, script)+read(t, "../internal/store/postgres/tenant_tables.sql")+fmt.Sprintf("INSERT INTO robotmem.schema_versions VALUES (%d);", i+2))
	}
	query(t, url, `INSERT INTO robotmem.tenants(name, ids) VALUES ('default', '{"memories": 350}');
		SELECT set_config('robotmem.tenant', '1', false);
		INSERT INTO robotmem.counters(tenant, name, value) VALUES (1, 'changes', 350), (1, 'feature_rules', 0), (1, 'full_text', 0), (1, 'purges', 0), (1, 'recalls', 0), (1, 'scrub', 0), (1, 'zero_hits', 0);
		INSERT INTO robotmem.memories(tenant, id, uid, collection, type, content, human_summary, category, content_hash, valid_from, observed_at, created_at, updated_at, revision)
		SELECT 1, i, 'uid-' || i, CASE WHEN i % 7 = 0 THEN 'few' ELSE 'many' END, 'fact', 'fact ' || i, 'fact ' || i, 'observation', decode(md5(i::text), 'hex'), '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 351 - i
		FROM generate_series(1, 350) AS i`)

	n := openTest(t, url, Options{})
	const heads = `SELECT string_agg(feed || ' ' || last || ' ' || length(marks) || ' ' ||
		(SELECT count(*) FROM robotmem.feed_chunks c WHERE c.feed = h.feed AND length(c.marks) = 800) || ' ' ||
		(SELECT string_agg(uid, '>' ORDER BY number) FROM robotmem.feed f WHERE f.feed = h.feed AND number <= 2), ', ' ORDER BY feed) FROM robotmem.feed_heads h`
	if got := query(t, url, heads); got != "few 50 400 0 uid-350>uid-343, many 300 800 3 uid-349>uid-348" {
		t.Errorf("feeds: %s", got)
	}
	if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the next one", Collection: "many"}); err != nil {
		t.Fatal(err, causeOf(err))
	}
	if got := query(t, url, heads); !strings.Contains(got, "many 301 8 3 ") {
		t.Errorf("after a fact: %s", got)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
