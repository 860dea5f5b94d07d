package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// The cached scopes equal the result of a scan of all rows, whatever is stored,
// forgotten and used meanwhile and whatever time passes.
func TestKeptAdmissionsFollow(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(3, 3))
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	whom := []index.Scope{
		{Collection: "*", MinConfidence: 0.3}, {Collection: "a", MinConfidence: 0.5}, {Collection: "b"},
		{Collection: "*", Category: "config", MinConfidence: 0.79}, {Collection: "none", MinConfidence: 0.3},
	}
	fewer, n := 0, int64(0)
	for step := range 400 {
		now = now.Add([]time.Duration{0, 0, time.Second, time.Minute, -time.Second}[rng.IntN(5)]) // since the last question
		switch k := rng.IntN(5); {
		case k < 3 || n < 3:
			insight := fmt.Sprintf("fact %d of the %s", step, []string{"gripper", "configuration", "because of slip"}[rng.IntN(3)])
			if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight, Context: robotmem.Object{"step": step}, Collection: []string{"a", "b"}[rng.IntN(2)]}); err != nil {
				t.Fatal(err)
			}
			n++
		case k == 3:
			_, _ = e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 1 + rng.Int64N(n), Reason: "test"})
		default:
			_, _ = e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1 + rng.Int64N(n), NewContent: fmt.Sprintf("renewed %d", step)})
		}
		now = now.Add([]time.Duration{time.Second, 20 * time.Minute, 7 * time.Hour, 3 * 24 * time.Hour, -time.Minute}[rng.IntN(5)])
		if err := e.Store.Read(t.Context(), e.index.Columns.Sync); err != nil {
			t.Fatal(err)
		}
		for _, who := range whom {
			got := e.index.Columns.Admit(index.Selection{Scope: who, Now: now})
			e.index.Columns.Mu.Lock()
			want := e.index.Columns.Evaluate(who, now.UnixNano()).Set
			e.index.Columns.Mu.Unlock()
			if got.SymmetricDifferenceCardinality(want) != 0 {
				t.Fatalf("step %d, %+v: kept %v, want %v", step, who, got, want)
			}
		}
		sure := e.index.Columns.Admit(index.Selection{Scope: whom[0], Now: now})
		if every := e.index.Columns.Admit(index.Selection{Scope: index.Scope{Collection: "*"}, Now: now}); sure.Count() < every.Count() {
			fewer++
		}
	}
	if fewer < 50 {
		t.Errorf("only at %d steps had a memory faded", fewer)
	}
}

// A column cache that is loaded from its snapshot equals one loaded from the tables.
func TestColumnsSnapshot(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(4, 4))
	e := openTest(t, Options{})
	randomMemories(t, e, rng, 500)
	if err := e.Store.Read(t.Context(), e.index.Columns.Sync); err != nil {
		t.Fatal(err)
	}
	if err := e.Store.SaveSnapshot(t.Context(), store.ColumnsSnapshot, e.index.Columns.Revision, 0, e.index.Columns.Freeze().Write); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 2, Reason: "after the snapshot"}); err != nil {
		t.Fatal(err)
	}
	restored := &index.Columns{}
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		restored.Restore(c)
		if restored.Revision == 0 || len(restored.Rows) != len(e.index.Columns.Rows) {
			t.Fatalf("restored revision %d and %d rows, want %d", restored.Revision, len(restored.Rows), len(e.index.Columns.Rows))
		}
		if err := e.index.Columns.Sync(c); err != nil {
			return err
		}
		return restored.Sync(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	spell := func(r *index.Columns) (out []string) {
		r.Each(func(row *index.Row, text func(uint32) string) {
			out = append(out, fmt.Sprint(row.ID, text(row.Collection), text(row.Session), text(row.Category), text(row.Perception),
				row.Status, row.Kind, row.Real(), row.Observed, r.Moments(row), row.Created, r.Beliefs.Values[row.Belief]))
		})
		return record.Distinct(out)
	}
	got, want := spell(restored), spell(&e.index.Columns)
	if fmt.Sprint(got) != fmt.Sprint(want) || len(want) < 500 || restored.Actives != e.index.Columns.Actives {
		t.Errorf("restored %d lines and %d active, want %d and %d", len(got), restored.Actives, len(want), e.index.Columns.Actives)
	}
}

// A snapshot with a flipped bit, a missing part or a foreign head only makes the opening
// slower.
func TestDamagedSnapshotIsNotUsed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	for name, damage := range map[string]string{
		"bit":    "UPDATE snapshots SET data = CAST(substr(data, 1, 40) || x'00' || substr(data, 42) AS BLOB)",
		"part":   "DELETE FROM snapshots",
		"head":   "UPDATE snapshot_heads SET parts = 9",
		"sum":    "UPDATE snapshot_heads SET checksum = checksum + 1",
		"format": "UPDATE snapshots SET data = CAST(x'ff' || substr(data, 2) AS BLOB)",
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			e := openTest(t, Options{})
			randomMemories(t, e, rng, 100)
			if err := e.Store.Read(t.Context(), e.index.Columns.Sync); err != nil {
				t.Fatal(err)
			}
			if err := e.Store.SaveSnapshot(t.Context(), store.ColumnsSnapshot, e.index.Columns.Revision, 0, e.index.Columns.Freeze().Write); err != nil {
				t.Fatal(err)
			}
			if err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec(damage) }); err != nil {
				t.Fatal(err)
			}
			fresh := &index.Columns{}
			if err := e.Store.Read(t.Context(), fresh.Sync); err != nil {
				t.Fatal(err)
			}
			if len(fresh.Rows) != len(e.index.Columns.Rows) || fresh.Actives != e.index.Columns.Actives {
				t.Errorf("%d rows, %d active, want %d and %d", len(fresh.Rows), fresh.Actives, len(e.index.Columns.Rows), e.index.Columns.Actives)
			}
		})
	}
}
