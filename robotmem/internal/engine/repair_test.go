package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

func TestUpdatedPerceptionForgetsOldWords(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	p, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a red cup on the table"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: p.MemoryID, NewContent: "an empty shelf"}); err != nil {
		t.Fatal(err)
	}
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "red cup"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range res.Memories {
		t.Errorf("old words still find %d: content %q summary %q", m.MemoryID, m.Content, m.Summary)
	}
	m, _ := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: p.MemoryID})
	t.Logf("summary now: %q", m.Summary)
}

func fillFullText(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.Store.FillFullText(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestRestoreIndexesTheSame(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	p, _ := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a red cup on the table"})
	show := func() (s string) {
		fillFullText(t, e)
		_ = e.Store.Read(t.Context(), func(c *store.Conn) error {
			_, err := sqlite.FileOf(c).One("SELECT content || '|' || human_summary FROM memories_fts WHERE rowid = ?", []any{p.MemoryID}, func(st store.Row) { s = st.ColumnText(0) })
			return err
		})
		return s
	}
	before := show()
	_, _ = e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: p.MemoryID, Reason: "x"})
	_, _ = e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: p.MemoryID})
	if after := show(); after != before {
		t.Errorf("indexed %q, after forget and restore %q", before, after)
	}
}

func TestDoctorSeesAndRepairs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	for _, damage := range []string{
		"UPDATE memories_fts SET content = 'wrong words' WHERE rowid = 2",
		"DELETE FROM memories_fts_data",
		"DROP TABLE memories_fts",
		"DROP TABLE memories_fts_idx",
		"UPDATE signatures SET numbers = 1, skeleton = 1, sketch_a = 0",
	} {
		t.Run(damage, func(t *testing.T) {
			e := openTest(t, Options{})
			for i := range 5 {
				_, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("the gripper slipped at shelf %d", i), Tags: []string{"mine"}, Context: robotmem.Object{"params": map[string]any{"i": i}, "x": "y", "spatial": map[string]any{"position": []any{i, 0}}}})
				if err != nil {
					t.Fatal(err)
				}
			}
			var csv strings.Builder
			csv.WriteString("t,fx,fy,fz\n")
			for i := range 50 {
				fmt.Fprintf(&csv, "%d,%d,1,2\n", i, i%5)
			}
			var ids []int64
			for i := range 2 {
				p, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: fmt.Sprint("a trace ", i), PerceptionType: "tactile", Data: csv.String() + fmt.Sprintf("5%d,1,1,1\n", i), MediaType: "text/csv"})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, p.MemoryID)
			}
			works := func(when string) {
				for name, r := range map[string]*robotmem.RecallRequest{
					"words":  {Query: "gripper"},
					"tags":   {Tags: []string{"mine"}},
					"filter": {ContextFilter: robotmem.Object{"params.i": map[string]any{"$lt": 9}, "x": "y"}},
					"place":  {SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}}},
					"like":   {Like: &robotmem.Like{MemoryID: ids[0]}},
				} {
					res, err := e.Recall(t.Context(), r)
					want := 5
					if name == "like" {
						want = 1
					}
					if err != nil || res.Total != want {
						t.Errorf("%s, %s: %v %v", when, name, res, err)
					}
				}
			}
			works("before")
			fillFullText(t, e)
			if err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec(damage) }); err != nil {
				t.Skip(err)
			}
			d, err := e.Doctor(t.Context(), nil)
			if err != nil || d.Healthy {
				t.Errorf("DOCTOR: healthy %v, %v", d != nil && d.Healthy, err)
			}
			r, err := e.Repair(t.Context(), nil)
			if err != nil || !r.Doctor.Healthy {
				t.Errorf("REPAIR: %+v, %v", r, err)
				return
			}
			works("after repair")
		})
	}
}

func TestRestoreBringsBackSuperseded(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	s, _ := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	for _, f := range []string{"gripper slides from wet glass cup today", "gripper slides from wet glass cup quite badly again", "gripper slides from wet glass plate badly"} {
		_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: f, SessionID: s.SessionID})
	}
	r, _ := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID})
	l, _ := e.List(t.Context(), &robotmem.ListRequest{Status: "superseded"})
	t.Log(r.Consolidated, len(l.Memories))
	if len(l.Memories) == 0 {
		t.Skip()
	}
	id, rep := l.Memories[0].MemoryID, l.Memories[0].SupersededBy
	_, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "x"})
	_, err2 := e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	m, _ := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	t.Log(err, err2, m.Status, m.SupersededBy, "was superseded by", rep)
	if m.Status != "superseded" {
		t.Error("restore did not undo forget")
	}
}

func TestHistoryWithAClockSetBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	a, _ := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "one"})
	_, _ = e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: a.MemoryID, NewContent: "two"})
	now = now.AddDate(0, 0, -1)
	_, _ = e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: a.MemoryID, NewContent: "three"})
	_, _ = e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: a.MemoryID, NewContent: "four"})
	h, err := e.History(t.Context(), &robotmem.MemoryRequest{MemoryID: a.MemoryID})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, v := range h.Versions {
		got += v.Content + " "
	}
	if got != "one two three four " {
		t.Errorf("history: %s", got)
	}
}
