package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// hoard returns a node with one perception of 300,000 bytes per tier, by the name of its
// tier.
func hoard(t *testing.T, e *Engine) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	at := time.Now().Add(-100 * time.Hour)
	save := func(name, session, description string, context robotmem.Object) {
		t.Helper()
		at = at.Add(-time.Hour) // what goes later is older, so that age does not decide
		out[name] = savePayload(t, e, noise(uint64(len(out)), 300_000), func(r *robotmem.SavePerceptionRequest) {
			r.SessionID, r.Description, r.Context, r.ObservedAt = session, description, context, &at
		}).MemoryID
	}
	save("forgotten", "", "a frame that was a mistake", nil)
	save("never recalled", "", "a frame of the hall", nil)
	save("recalled", "", "a frame of the elevator", nil)
	good, bad := startSession(t, e, ""), startSession(t, e, "")
	save("useful", "", "a frame of the charger", nil)
	save("of a failed attempt", "", "a frame of the glass", robotmem.Object{"task": map[string]any{"success": false}})
	save("of a failed episode", bad, "a frame of the crash", nil)
	save("pinned", "", "the robot must never cross this line", nil)
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: out["forgotten"], Reason: "blurred"}); err != nil {
		t.Fatal(err)
	}
	if _, ids := recalled(t, e, &robotmem.RecallRequest{Query: "elevator", N: 1}); !slices.Equal(ids, []int64{out["recalled"]}) {
		t.Fatal(ids)
	}
	one, zero := 1.0, 0.0
	for _, r := range []*robotmem.EndSessionRequest{{SessionID: good, OutcomeScore: &one, UsedMemoryIDs: []int64{out["useful"]}}, {SessionID: bad, OutcomeScore: &zero}} {
		if _, err := e.EndSession(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func retained(t *testing.T, e *Engine, r *admin.RetainRequest) *admin.RetainResponse {
	t.Helper()
	res, err := e.Retain(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRetainTakesWhatIsWorthLeast(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	fact, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "facts are not touched"})
	if err != nil {
		t.Fatal(err)
	}
	ids := hoard(t, e)
	type row struct {
		MemoryID int64
		Value    string
	}
	want := []row{
		{ids["forgotten"], "forgotten"}, {ids["never recalled"], "never recalled"}, {ids["recalled"], "recalled"}, {ids["useful"], "useful"},
		{ids["of a failed episode"], "of a failed episode"}, {ids["of a failed attempt"], "of a failed episode"}, {ids["pinned"], "pinned"},
	}
	request := &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}}
	before := everyRow(t, e)
	dry := retained(t, e, request)
	var got []row
	for _, v := range dry.Evictions {
		got = append(got, row{v.MemoryID, v.Value})
		if v.Bytes != 300_000 || v.PerceptionType != "visual" || v.Collection != "default" || v.Reason != "over the budget of 1 B" {
			t.Errorf("eviction %+v", v)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("evictions (-want +got):\n%s", diff)
	}
	if !dry.DryRun || dry.Count != 7 || dry.FreedBytes != 7*300_000 || dry.HeldBytes != 7*300_000 {
		t.Errorf("got %+v", dry)
	}
	files, _ := folderFiles(t, e)
	if diff := cmp.Diff(before, everyRow(t, e)); diff != "" || files != 7 {
		t.Errorf("%d files are left of 7, and a dry run changes (-before +after):\n%s", files, diff)
	}
	request.Apply = true
	applied := retained(t, e, request)
	dry.DryRun = false
	if diff := cmp.Diff(dry, applied); diff != "" {
		t.Errorf("what was done is not what was announced (-announced +done):\n%s", diff)
	}
	if files, stray := folderFiles(t, e); files != 0 || len(stray) > 0 {
		t.Errorf("%d files and %v are left", files, stray)
	}
	if _, ids := recalled(t, e, &robotmem.RecallRequest{Query: "facts"}); !slices.Equal(ids, []int64{fact.MemoryID}) {
		t.Errorf("the fact: %v", ids)
	}
	healthy(t, e)
}

// everyRow returns the rows of the tables that retention may change.
func everyRow(t *testing.T, e *Engine) (rows []string) {
	t.Helper()
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		for _, sql := range []string{
			"SELECT id || status || revision || coalesce(hex(perception_data), '') FROM memories", "SELECT hex(sha256) || bytes FROM payloads",
			"SELECT memory_id || kind FROM features", "SELECT memory_id || reason FROM evictions", "SELECT memory_id || change FROM versions",
		} {
			if err := sqlite.FileOf(c).Query(sql, nil, func(s store.Row) error {
				rows = append(rows, s.ColumnText(0))
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestAnEvictedPerceptionKeepsItsStory(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for _, size := range []int{2000, 300_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			trace := []byte(strings.Repeat("1,2\n3,4\n5,6\n", size/12))
			res := savePayload(t, e, trace, func(r *robotmem.SavePerceptionRequest) {
				r.PerceptionType, r.Description, r.Collection = "tactile", "a slip of the glass", fmt.Sprint("c", size)
			})
			like := &robotmem.RecallRequest{Collection: res.Collection, Like: &robotmem.Like{Data: string(trace[:600])}}
			if _, ids := recalled(t, e, like); !slices.Equal(ids, []int64{res.MemoryID}) {
				t.Fatalf("before: %v", ids)
			}
			before, err := e.Stats(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			budget := []admin.Budget{{Collection: res.Collection, PerceptionType: "tactile", MaxBytes: 1}}
			done := retained(t, e, &admin.RetainRequest{Budgets: budget, Apply: true})
			if done.Count != 1 || done.Evictions[0].MemoryID != res.MemoryID {
				t.Fatalf("got %+v", done)
			}
			if again := retained(t, e, &admin.RetainRequest{Budgets: budget, Apply: true}); again.Count != 0 {
				t.Errorf("the second time: %+v", again)
			}
			const reason = "over the budget of 1 B"
			refusesData := func() {
				t.Helper()
				_, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID})
				if !errors.Is(err, robotmem.NotFound) || !strings.Contains(err.Error(), reason) {
					t.Errorf("its bytes: %v, want not_found with %q", err, reason)
				}
			}
			refusesData()
			if _, err := e.Preview(t.Context(), &admin.PreviewRequest{MemoryID: res.MemoryID}); !errors.Is(err, robotmem.NotFound) {
				t.Errorf("its picture: %v", err)
			}
			for name, r := range map[string]*robotmem.RecallRequest{"words": {Query: "slip", Collection: res.Collection}, "likeness": like} {
				if _, ids := recalled(t, e, r); len(ids) > 0 {
					t.Errorf("by %s it is still found", name)
				}
			}
			if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: res.MemoryID}}); !errors.Is(err, robotmem.Invalid) {
				t.Errorf("what is like it: %v, want invalid", err)
			}
			m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID})
			if err != nil || m.Status != "invalidated" || m.Content != "a slip of the glass" || m.Summary != res.Summary || m.SHA256 != res.SHA256 {
				t.Errorf("its story: %+v, %v", m, err)
			}
			h, err := e.History(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID})
			if err != nil || len(h.Versions) != 2 || h.Versions[0].Change != "evicted" || h.Versions[0].Reason != reason {
				t.Errorf("its history: %+v, %v", h, err)
			}
			s, err := e.Stats(t.Context(), nil)
			if err != nil || s.Evicted != before.Evicted+1 || s.EvictedBytes != before.EvictedBytes+done.FreedBytes || s.PayloadBytes != before.PayloadBytes-res.Bytes || s.ToCompare != 0 {
				t.Errorf("stats: %+v, %v", s, err)
			}
			healthy(t, e)

			if _, err := e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID}); err != nil {
				t.Fatal(err)
			}
			if _, ids := recalled(t, e, &robotmem.RecallRequest{Query: "slip", Collection: res.Collection}); !slices.Equal(ids, []int64{res.MemoryID}) {
				t.Errorf("restored it is found as %v", ids)
			}
			refusesData()
			healthy(t, e)
			if r, err := e.Repair(t.Context(), nil); err != nil || !r.Doctor.Healthy || len(r.Doctor.Lost) > 0 {
				t.Errorf("repair: %+v, %v", r, err)
			}
			refusesData()
			// Saving the payload again restores its bytes.
			savePayload(t, e, trace, func(r *robotmem.SavePerceptionRequest) { r.Collection = "another" })
			sameData(t, e, res.MemoryID, trace)
		})
	}
}

func TestASharedPayloadGoesWithTheLast(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	data := noise(1, 300_000)
	in := func(collection string) func(*robotmem.SavePerceptionRequest) {
		return func(r *robotmem.SavePerceptionRequest) { r.Collection = collection }
	}
	a, b := savePayload(t, e, data, in("a")), savePayload(t, e, data, in("b"))
	first := retained(t, e, &admin.RetainRequest{Budgets: []admin.Budget{{Collection: "a", MaxBytes: 1}}, Apply: true})
	if first.Count != 1 || first.FreedBytes != 0 || first.Evictions[0].MemoryID != a.MemoryID {
		t.Errorf("of two: %+v", first)
	}
	sameData(t, e, b.MemoryID, data)
	healthy(t, e)
	last := retained(t, e, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true})
	if last.Count != 1 || last.FreedBytes != 300_000 || last.Evictions[0].MemoryID != b.MemoryID {
		t.Errorf("the last: %+v", last)
	}
	s, err := e.Stats(t.Context(), nil)
	if files, _ := folderFiles(t, e); err != nil || files != 0 || s.Evicted != 2 || s.EvictedBytes != 300_000 {
		t.Errorf("%d files are left, stats %+v, %v", files, s, err)
	}
	healthy(t, e)
}

// Between the plan and its execution perceptions change, and another node may have
// executed the same plan.
func TestAPlanThatIsOutOfDateSpares(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, e *Engine, ids map[string]int64)
		spared []string
	}{
		{"nothing", func(*testing.T, *Engine, map[string]int64) {}, nil},
		{"what was restored", func(t *testing.T, e *Engine, ids map[string]int64) {
			if _, err := e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: ids["forgotten"]}); err != nil {
				t.Fatal(err)
			}
		}, []string{"forgotten"}},
		{"what was forgotten", func(t *testing.T, e *Engine, ids map[string]int64) {
			if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: ids["useful"], Reason: "no"}); err != nil {
				t.Fatal(err)
			}
		}, []string{"useful"}},
		{"what was pinned", func(t *testing.T, e *Engine, ids map[string]int64) {
			if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: ids["never recalled"], NewContent: "the robot must always see this"}); err != nil {
				t.Fatal(err)
			}
		}, []string{"never recalled"}},
		{"all, by another node", func(t *testing.T, e *Engine, _ map[string]int64) {
			retained(t, e, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true})
		}, []string{"forgotten", "never recalled", "recalled", "useful", "of a failed attempt", "of a failed episode", "pinned"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := openTest(t, Options{})
			ids := hoard(t, e)
			var plan []store.Evicted
			if err := e.Store.Read(t.Context(), func(c *store.Conn) error {
				held, err := c.Holdings()
				plan = maintenance.PlanEvictions(held, admin.Retention{Budgets: []admin.Budget{{MaxBytes: 1}}}, -1, e.Now())
				return err
			}); err != nil || len(plan) != len(ids) {
				t.Fatal(len(plan), err)
			}
			tt.change(t, e, ids)
			gone, err := e.Store.Evict(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			for name, id := range ids {
				went := slices.ContainsFunc(gone, func(p store.Evicted) bool { return p.ID == id })
				if went == slices.Contains(tt.spared, name) {
					t.Errorf("%s goes: %v", name, went)
				}
			}
			if s, err := e.Stats(t.Context(), nil); err != nil || s.Evicted > int64(len(ids)) {
				t.Errorf("%d evictions of %d perceptions, %v", s.Evicted, len(ids), err)
			}
			healthy(t, e)
		})
	}
}

// A crash after the rows are deleted and before the files are removed loses nothing, and
// repair removes the files.
func TestACrashBetweenRowsAndFiles(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	kept := savePayload(t, e, noise(1, 300_000), func(r *robotmem.SavePerceptionRequest) { r.Collection = "kept" })
	res := savePayload(t, e, noise(2, 300_000), nil)
	path := payloadFile(t, e, res.SHA256)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	retained(t, e, &admin.RetainRequest{Budgets: []admin.Budget{{Collection: "default", MaxBytes: 1}}, Apply: true})
	if _, err := os.Stat(path); err == nil {
		t.Fatal("the file is still there")
	}
	old := time.Now().Add(-2 * maintenance.OrphanAge)
	if err := errors.Join(os.WriteFile(path, data, 0o600), os.Chtimes(path, old, old)); err != nil {
		t.Fatal(err)
	}
	d, err := e.Doctor(t.Context(), nil)
	if err != nil || !d.Healthy || d.Status != maintenance.CheckWarn {
		t.Errorf("the doctor finds %+v, %v; want a warning", d, err)
	}
	if r, err := e.Repair(t.Context(), nil); err != nil || r.Doctor.Status != maintenance.CheckOK {
		t.Errorf("repair: %+v, %v", r, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is still there")
	}
	sameData(t, e, kept.MemoryID, noise(1, 300_000))
	healthy(t, e)
}

func TestRetainRefuses(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for field, r := range map[string]*admin.RetainRequest{
		"budgets":                    {},
		"budgets[0].max_bytes":       {Budgets: []admin.Budget{{MaxBytes: -1}}},
		"budgets[0].collection":      {Budgets: []admin.Budget{{Collection: "a b", MaxBytes: 1}}},
		"budgets[0].perception_type": {Budgets: []admin.Budget{{PerceptionType: "smell", MaxBytes: 1}}},
		"budgets[0].max_age_days":    {Budgets: []admin.Budget{{MaxAgeDays: -1}}},
		"min_free_bytes":             {MinFreeBytes: -1},
	} {
		_, err := e.Retain(t.Context(), r)
		refused := (*robotmem.Error)(nil)
		if !errors.As(err, &refused) || refused.Kind != robotmem.Invalid || refused.Field != field {
			t.Errorf("got %v, want %s to be invalid", err, field)
		}
	}
}

// Payload files are evicted if the disk has less free space than configured, and not
// otherwise.
func TestMinFreeReadsTheDisk(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	savePayload(t, e, noise(1, 300_000), nil)
	savePayload(t, e, noise(2, 2000), nil)
	if res := retained(t, e, &admin.RetainRequest{MinFreeBytes: 1}); res.Count != 0 {
		t.Errorf("with a byte asked for, %+v go", res.Evictions)
	}
	if res := retained(t, e, &admin.RetainRequest{MinFreeBytes: 1 << 60}); res.Count != 1 || res.Evictions[0].Bytes != 300_000 {
		t.Errorf("with more asked for than any disk has, %+v go, want what is in the folder", res.Evictions)
	}
}

// A node enforces its budgets in the background, as perceptions are added and as they
// age.
func TestANodeKeepsItsBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := openFile(t.Context(), filepath.Join(t.TempDir(), "memory.db"), Options{
			Retention: admin.Retention{Budgets: []admin.Budget{{PerceptionType: "visual", MaxBytes: 500_000}, {PerceptionType: "tactile", MaxAgeDays: 1}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}()
		status := func(id int64) string {
			t.Helper()
			m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
			if err != nil {
				t.Fatal(err)
			}
			return m.Status
		}
		first := savePayload(t, e, noise(1, 300_000), nil)
		touch := savePayload(t, e, noise(2, 300_000), func(r *robotmem.SavePerceptionRequest) { r.PerceptionType = "tactile" })
		time.Sleep(2 * maintenance.RetentionPause)
		if a, b := status(first.MemoryID), status(touch.MemoryID); a != "active" || b != "active" {
			t.Errorf("within the budgets they are %s and %s", a, b)
		}
		second := savePayload(t, e, noise(3, 300_000), nil)
		time.Sleep(2 * maintenance.RetentionPause)
		if a, b := status(first.MemoryID), status(second.MemoryID); a != "invalidated" || b != "active" {
			t.Errorf("over the budget they are %s and %s", a, b)
		}
		// No write happens meanwhile.
		time.Sleep(25 * time.Hour)
		if got := status(touch.MemoryID); got != "invalidated" {
			t.Errorf("after more than a day it is %s", got)
		}
		s, err := e.Stats(t.Context(), nil)
		if err != nil || s.Evicted != 2 || s.EvictedBytes != 600_000 {
			t.Errorf("stats %+v, %v", s, err)
		}
	})
}

// BenchmarkHoldings plans over 100,000 perceptions.
func BenchmarkHoldings(b *testing.B) {
	e := openTest(b, Options{})
	manyPerceptions(b, e, 100_000)
	for name, limits := range map[string]admin.Retention{
		"within": {Budgets: []admin.Budget{{MaxBytes: 1 << 40}}},
		"over":   {Budgets: []admin.Budget{{MaxBytes: 1 << 20}, {Collection: "default", MaxAgeDays: 1000}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.maintenance.Retain(b.Context(), limits, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// manyPerceptions inserts rows of perceptions with their own payloads directly, a
// quarter of them in one long recording.
func manyPerceptions(b *testing.B, e *Engine, n int) {
	b.Helper()
	err := e.Store.Write(b.Context(), func(tx *store.Tx) error {
		if err := sqlite.FileOf(tx.Conn).Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO payloads(sha256, bytes, codec, created_at, data, stored) SELECT unhex(printf('%064x', i)), 100, 'raw', '', zeroblob(100), 100 FROM n`, n); err != nil {
			return err
		}
		return sqlite.FileOf(tx.Conn).Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO memories(uid, session_id, collection, type, content, human_summary, context, perception_type, perception_data, category, content_hash, valid_from, observed_at, created_at, updated_at, revision)
			SELECT 'u' || i, CASE i % 4 WHEN 0 THEN 'long' END, 'default', 'perception', 'frame ' || i, 'frame ' || i, '{"task":{"success":true},"i":' || i || '}', 'visual', unhex(printf('%064x', i)), 'code', '', t, t, t, t, i
			FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%S', '2026-01-01', '+' || i || ' minutes') || '.000000000Z' AS t FROM n)`, n)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkKeepBudgets measures the periodic check while the payloads are within the
// budget.
func BenchmarkKeepBudgets(b *testing.B) {
	e := openTest(b, Options{})
	e.options.Retention = admin.Retention{Budgets: []admin.Budget{{MaxBytes: 1 << 40}}}
	manyPerceptions(b, e, 100_000)
	for b.Loop() {
		seen := int64(-1)
		if err := e.maintenance.EnforceBudgets(b.Context(), &seen); err != nil {
			b.Fatal(err)
		}
	}
}
