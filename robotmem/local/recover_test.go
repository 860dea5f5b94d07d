package local_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// furnished creates a closed file with n facts and a few records of every other kind.
func furnished(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, e, n)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func fill(t *testing.T, e *local.Node, n int) {
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
				Context:   robotmem.Object{"params": map[string]any{"i": i}, "spatial": map[string]any{"position": []any{i, 1, 0}}},
				RequestID: fmt.Sprint("grasp ", i),
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

// truth returns every row of the tables that are not indexes, as text.
func truth(t *testing.T, path string) map[string][]string {
	t.Helper()
	db, err := sqlite3.Open(path)
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
	for _, table := range []string{"memories", "payloads", "versions", "sessions", "session_outcomes", "session_recalls", "memory_tags", "origins", "session_origins", "streams", "evictions", "recall_hours", "requests", "sightings", "sqlite_sequence", "counters"} {
		sql := "SELECT * FROM " + table
		switch table {
		case "memory_tags":
			sql += " WHERE source = 'user'"
		case "sqlite_sequence":
			sql += " WHERE name <> 'audit'" // a recovery is a row of its own there
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

func recovered(t *testing.T, path string) *admin.RecoverReport {
	t.Helper()
	r, err := local.RecoverInPlace(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var unordered = cmpopts.SortSlices(func(a, b string) bool { return a < b })

// Recovery of an undamaged file keeps everything.
func TestRecoverWhole(t *testing.T) {
	t.Parallel()
	path := furnished(t, 300)
	id := fileID(t, path)
	want := truth(t, path)
	r := recovered(t, path)
	if got := fileID(t, path); got != id {
		t.Errorf("the file had the id %s and has %s now", id, got)
	}
	if !r.Whole || !r.Doctor.Healthy || r.Memories != 304 {
		t.Errorf("report %+v", r)
	}
	if diff := cmp.Diff(want, truth(t, path), unordered); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, truth(t, r.Damaged), unordered); diff != "" {
		t.Errorf("the damaged file was changed (-want +got):\n%s", diff)
	}
	e := openAt(t, path, local.Options{})
	if res := recall(t, e, &robotmem.RecallRequest{Query: "long story of the worn pad"}); res.Total == 0 {
		t.Error("recall finds nothing")
	}
	d, err := e.Data(context.Background(), &robotmem.MemoryRequest{MemoryID: 302})
	if err != nil || d.Bytes != 400<<10 {
		t.Errorf("the large payload: %v", err)
	}
}

// page overwrites a page of a file; pages are numbered from 1.
func page(t *testing.T, path string, n int64, change func(p []byte)) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, sqlite.PageSize)
	if _, err := f.ReadAt(p, (n-1)*sqlite.PageSize); err != nil {
		t.Fatal(err)
	}
	change(p)
	if _, err := f.WriteAt(p, (n-1)*sqlite.PageSize); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func zero(p []byte) { clear(p) }

// treePages returns the pages of a table's tree: the root, for each interior page the
// ids below it, and for each leaf its ids.
func treePages(t *testing.T, path, table string) (root int64, below, leaf map[int64][]int64) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := db.Prepare("SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'")
	if err != nil || !s.Step() {
		t.Fatal(err)
	}
	root = s.ColumnInt64(0)
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	below, leaf = map[int64][]int64{}, map[int64][]int64{}
	number := func(p []byte) (v int64, n int) {
		for n < 9 {
			v, n = v<<7|int64(p[n]&0x7f), n+1
			if p[n-1] < 0x80 {
				break
			}
		}
		return v, n
	}
	var walk func(n int64) []int64
	walk = func(n int64) (ids []int64) {
		p := data[(n-1)*sqlite.PageSize : n*sqlite.PageSize]
		cells := int(binary.BigEndian.Uint16(p[3:]))
		if p[0] == 13 {
			for i := range cells {
				cell := p[binary.BigEndian.Uint16(p[8+2*i:]):]
				_, n1 := number(cell)
				id, _ := number(cell[n1:])
				ids = append(ids, id)
			}
			leaf[n] = ids
		} else {
			for i := range cells {
				ids = append(ids, walk(int64(binary.BigEndian.Uint32(p[binary.BigEndian.Uint16(p[12+2*i:]):])))...)
			}
			ids = append(ids, walk(int64(binary.BigEndian.Uint32(p[8:])))...)
		}
		below[n] = ids
		return ids
	}
	walk(root)
	return root, below, leaf
}

func copyOf(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "memory.db")
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err == nil {
		err = os.CopyFS(to+".payloads", os.DirFS(path+".payloads"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// For each damaged page of a table all rows on the other pages are recovered unchanged:
// a damaged leaf loses its rows, an interior page those below it.
// fileID opens a file and reads its id.
func fileID(t *testing.T, path string) (id string) {
	t.Helper()
	n, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, err = engine.Of(n).Store.FileID(t.Context())
	if err := errors.Join(err, n.Close()); err != nil || id == "" {
		t.Fatalf("%q: %v", id, err)
	}
	return id
}

func TestRecoverDamaged(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	whole := furnished(t, rounds.Of(600, 1500))
	want := truth(t, whole)
	root, below, leaf := treePages(t, whole, "memories")
	payloads, _, _ := treePages(t, whole, "payloads")
	ids := slices.Sorted(maps.Keys(leaf))
	var some, gone []int64
	for i := 3; i < len(ids) && len(some) < 20; i += 5 {
		some = append(some, ids[i])
		gone = append(gone, leaf[ids[i]]...)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	last := int64(binary.BigEndian.Uint32(data[(root-1)*sqlite.PageSize+8:])) // the rightmost page below the root
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, path string)
		lost   []int64 // memories
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"leaves with zeros", func(t *testing.T, path string) {
			for _, n := range some {
				page(t, path, n, zero)
			}
		}, gone},
		{"leaves with noise", func(t *testing.T, path string) {
			for _, n := range some {
				page(t, path, n, func(p []byte) { _, _ = rand.Read(p); p[0] = 0xff })
			}
		}, gone},
		{"a page below the root", func(t *testing.T, path string) { page(t, path, last, zero) }, below[last]},
		{"the root", func(t *testing.T, path string) { page(t, path, root, zero) }, below[root]},
		{"a pointer that leads to a page of another table", func(t *testing.T, path string) {
			page(t, path, root, func(p []byte) { binary.BigEndian.PutUint32(p[8:], uint32(payloads)) })
		}, below[last]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := copyOf(t, whole)
			tt.damage(t, path)
			r := recovered(t, path)
			if !r.Doctor.Healthy {
				t.Errorf("the new file is not healthy: %+v", r.Doctor.Checks)
			}
			if r.Whole != (len(tt.lost) == 0) {
				t.Errorf("whole is %v: %+v", r.Whole, r)
			}
			if r.Missing != int64(len(tt.lost)) {
				t.Errorf("%d missing, want %d", r.Missing, len(tt.lost))
			}
			got := truth(t, path)
			left := slices.DeleteFunc(slices.Clone(want["memories"]), func(row string) bool {
				return slices.ContainsFunc(tt.lost, func(id int64) bool { return strings.HasPrefix(row, fmt.Sprintf("id=%q ", fmt.Sprint(id))) })
			})
			if diff := cmp.Diff(left, got["memories"], unordered, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("memories (-want +got):\n%s", diff[:min(len(diff), 3000)])
			}
			for _, table := range []string{"payloads", "versions", "sessions", "session_outcomes", "session_recalls", "session_origins"} {
				if diff := cmp.Diff(want[table], got[table], unordered); diff != "" {
					t.Errorf("%s (-want +got):\n%s", table, diff[:min(len(diff), 2000)])
				}
			}
		})
	}
}

// If the schema cannot be read, the error names the backup as the remedy, and no new
// file is left.
func TestRecoverRefusesAFileWithoutASchema(t *testing.T) {
	t.Parallel()
	path := furnished(t, 20)
	for name, change := range map[string]func([]byte){
		"no head":  func(p []byte) { clear(p[:100]) },
		"no page":  zero,
		"no trees": func(p []byte) { clear(p[100:]) },
	} {
		t.Run(name, func(t *testing.T) {
			damaged := copyOf(t, path)
			page(t, damaged, 1, change)
			if _, err := local.RecoverInPlace(t.Context(), damaged, local.Options{}); !errors.Is(err, robotmem.Corrupt) {
				t.Errorf("got %v, want corrupt", err)
			}
			if names := beside(t, damaged); !slices.Equal(names, []string{"memory.db", "memory.db.payloads"}) {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}
