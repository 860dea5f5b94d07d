package local

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// What is kept from question to question equals what a look at every row gives,
// whatever is learnt, forgotten and renewed meanwhile and however time passes.
func TestKeptAdmissionsFollow(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(3, 3))
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	whom := []audience{
		{collection: "*", minConfidence: 0.3}, {collection: "a", minConfidence: 0.5}, {collection: "b"},
		{collection: "*", category: "config", minConfidence: 0.79}, {collection: "none", minConfidence: 0.3},
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
		if err := e.store.read(t.Context(), e.index.roster.sync); err != nil {
			t.Fatal(err)
		}
		for _, who := range whom {
			got, all := e.index.roster.admit(basic{audience: who, now: now})
			e.index.roster.mu.Lock()
			want := e.index.roster.admission(who, now.UnixNano()).set
			e.index.roster.mu.Unlock()
			if got.SymmetricDifferenceCardinality(want) != 0 {
				t.Fatalf("step %d, %+v: kept %v, want %v", step, who, got, want)
			}
			if want := int(want.Count()) == e.index.roster.actives; all != want {
				t.Fatalf("step %d, %+v: all is %v, want %v", step, who, all, want)
			}
		}
		sure, _ := e.index.roster.admit(basic{audience: whom[0], now: now})
		if every, _ := e.index.roster.admit(basic{audience: audience{collection: "*"}, now: now}); sure.Count() < every.Count() {
			fewer++
		}
	}
	if fewer < 50 {
		t.Errorf("only at %d steps had a memory faded", fewer)
	}
}

// A roster that is read from its snapshot equals one read from the tables.
func TestRosterSnapshot(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(4, 4))
	e := openTest(t, Options{})
	randomMemories(t, e, rng, 500)
	if err := e.store.read(t.Context(), e.index.roster.sync); err != nil {
		t.Fatal(err)
	}
	if err := e.store.saveSnapshot(t.Context(), rosterSnapshot, e.index.roster.revision, 0, e.index.roster.freeze().write); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 2, Reason: "after the snapshot"}); err != nil {
		t.Fatal(err)
	}
	restored := &roster{}
	err := e.store.read(t.Context(), func(c *conn) error {
		restored.restore(c)
		if restored.revision == 0 || len(restored.rows) != len(e.index.roster.rows) {
			t.Fatalf("restored revision %d and %d rows, want %d", restored.revision, len(restored.rows), len(e.index.roster.rows))
		}
		if err := e.index.roster.sync(c); err != nil {
			return err
		}
		return restored.sync(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	spell := func(r *roster) (out []string) {
		for id, row := range r.rows {
			if row.kind != 0 {
				out = append(out, fmt.Sprint(id, r.text(row.collection), r.text(row.session), r.text(row.category), r.text(row.perception),
					row.status, row.kind, row.real, row.observed, row.useful, row.created, row.validFrom, r.beliefs.values[row.belief]))
			}
		}
		for path, col := range r.points {
			for _, p := range col.points {
				out = append(out, fmt.Sprint(path, p.memoryID, p.x, p.y, p.z, p.dims, r.text(p.frame), r.text(p.mapID)))
			}
		}
		return distinct(out)
	}
	got, want := spell(restored), spell(&e.index.roster)
	if fmt.Sprint(got) != fmt.Sprint(want) || len(want) < 500 || restored.actives != e.index.roster.actives {
		t.Errorf("restored %d lines and %d active, want %d and %d", len(got), restored.actives, len(want), e.index.roster.actives)
	}
}

// A snapshot with a flipped bit, a missing part or a foreign head costs time
// and nothing else.
func TestDamagedSnapshotIsNotUsed(t *testing.T) {
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
			if err := e.store.read(t.Context(), e.index.roster.sync); err != nil {
				t.Fatal(err)
			}
			if err := e.store.saveSnapshot(t.Context(), rosterSnapshot, e.index.roster.revision, 0, e.index.roster.freeze().write); err != nil {
				t.Fatal(err)
			}
			if err := e.store.write(t.Context(), func(tx *writeTx) error { return tx.Exec(damage) }); err != nil {
				t.Fatal(err)
			}
			fresh := &roster{}
			if err := e.store.read(t.Context(), fresh.sync); err != nil {
				t.Fatal(err)
			}
			if len(fresh.rows) != len(e.index.roster.rows) || fresh.actives != e.index.roster.actives {
				t.Errorf("%d rows, %d active, want %d and %d", len(fresh.rows), fresh.actives, len(e.index.roster.rows), e.index.roster.actives)
			}
		})
	}
}
