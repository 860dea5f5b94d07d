package robotmem_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
)

// furnished makes a file with n facts and a little of all else, closed.
func furnished(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := robotmem.Open(t.Context(), robotmem.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, e, n)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func fill(t *testing.T, e *robotmem.Engine, n int) {
	t.Helper()
	s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: "arm"})
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < n; at += 1000 {
		req := &robotmem.LearnBatchRequest{}
		for i := at; i < min(n, at+1000); i++ {
			req.Items = append(req.Items, robotmem.LearnRequest{
				Insight: fmt.Sprintf("grasp %d of the wet glass held at %d.%d N", i, 5+i%9, i), Tags: []string{fmt.Sprint("tag", i%7)},
				Context: robotmem.Object{"params": map[string]any{"i": i}, "spatial": map[string]any{"position": []any{i, 1, 0}}},
			})
		}
		if _, err := e.LearnBatch(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	big := make([]byte, 400<<10)
	_, _ = rand.Read(big)
	for _, data := range [][]byte{[]byte("t,fx\n1,2\n2,3\n"), big, big[:20000]} {
		_, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: fmt.Sprintf("a trace of %d bytes", len(data)), DataBase64: data, SessionID: s.SessionID, PerceptionType: "tactile", Origin: fmt.Sprint("bag/", len(data))})
		if err != nil {
			t.Fatal(err)
		}
	}
	long := learn(t, e, "a long story: "+strings.Repeat("the pad was worn and the glass was wet. ", 300), nil)
	for _, change := range []func() error{
		func() error {
			_, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 2, NewContent: "grasp 1 was in truth that of a cup"})
			return err
		},
		func() error {
			_, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 3, Reason: "wrong"})
			return err
		},
		func() error {
			score := 0.8
			_, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score, UsedMemoryIDs: []int64{1, long.MemoryID}})
			return err
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
}

// truth is every row of the tables that are not indexes, as text.
func truth(t *testing.T, path string) map[string][]string {
	t.Helper()
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := map[string][]string{}
	rows := func(sql string, f func(*sqlite3.Stmt)) {
		s, _, err := db.Prepare(sql)
		if err != nil {
			t.Fatal(err)
		}
		for s.Step() {
			f(s)
		}
		if err := errors.Join(s.Err(), s.Close()); err != nil {
			t.Fatal(sql, err)
		}
	}
	for _, table := range []string{"memories", "payloads", "versions", "sessions", "session_outcomes", "session_recalls", "memory_tags", "origins", "session_origins", "streams", "evictions", "recall_hours", "sqlite_sequence", "counters"} {
		sql := "SELECT * FROM " + table
		switch table {
		case "memory_tags":
			sql += " WHERE source = 'user'"
		case "counters":
			sql += " WHERE name IN ('recalls', 'zero_hits')"
		}
		rows(sql, func(s *sqlite3.Stmt) {
			var line strings.Builder
			for i := range s.ColumnCount() {
				if s.ColumnName(i) != "revision" {
					fmt.Fprintf(&line, "%s=%q ", s.ColumnName(i), s.ColumnText(i))
				}
			}
			out[table] = append(out[table], line.String())
		})
	}
	return out
}

func recovered(t *testing.T, from string) (*robotmem.RecoverReport, string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "new.db")
	r, err := robotmem.Recover(t.Context(), from, robotmem.Options{Path: to})
	if err != nil {
		t.Fatal(err)
	}
	return r, to
}

var unordered = cmpopts.SortSlices(func(a, b string) bool { return a < b })

// What is not damaged comes back whole.
func TestRecoverWhole(t *testing.T) {
	path := furnished(t, 300)
	want := truth(t, path)
	r, to := recovered(t, path)
	if !r.Whole || !r.Doctor.Healthy || r.DamagedPages != 0 || r.Memories != 304 {
		t.Errorf("report %+v", r)
	}
	if diff := cmp.Diff(want, truth(t, to), unordered); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, truth(t, path), unordered); diff != "" {
		t.Errorf("the damaged file was changed (-want +got):\n%s", diff)
	}
	e := open(t, robotmem.Options{Path: to})
	if res := recall(t, e, &robotmem.RecallRequest{Query: "long story of the worn pad"}); res.Total == 0 {
		t.Error("recall finds nothing")
	}
	d, err := e.Data(context.Background(), &robotmem.DataRequest{MemoryID: 302})
	if err != nil || d.Bytes != 400<<10 {
		t.Errorf("the large payload: %v", err)
	}
}

var _ = os.Remove
