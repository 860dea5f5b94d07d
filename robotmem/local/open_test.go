package local_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func openAt(t *testing.T, path string, o local.Options) *local.Node {
	t.Helper()
	if o.BusyTimeout == 0 {
		o.BusyTimeout = time.Minute
	}
	e, err := local.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func learn(t *testing.T, s robotmem.Service, insight string, context robotmem.Object) *robotmem.LearnResponse {
	t.Helper()
	res, err := s.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight, Context: context})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func recall(t *testing.T, s robotmem.Service, req *robotmem.RecallRequest) *robotmem.RecallResponse {
	t.Helper()
	res, err := s.Recall(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// database creates a SQLite file of another program.
func database(t *testing.T, sql string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Exec(sql), db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	file := func(content string) func(*testing.T) string {
		return func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	foreign := func(sql string) func(*testing.T) string {
		return func(t *testing.T) string { return database(t, sql) }
	}
	for _, tt := range []struct {
		name string
		path func(*testing.T) string
		want robotmem.Kind
		say  string
	}{
		{"another program's database", foreign("CREATE TABLE t(x)"), robotmem.Corrupt, "another program"},
		{"the Python robotmem's", foreign("CREATE TABLE memories(id INTEGER PRIMARY KEY, content TEXT); CREATE TABLE sessions(id)"), robotmem.Corrupt, "Python robotmem"},
		{"another application id", foreign("CREATE TABLE t(x); PRAGMA application_id=7"), robotmem.Corrupt, "another program"},
		{"an empty database of another program", foreign("PRAGMA application_id=7; PRAGMA user_version=3; CREATE TABLE a(b)"), robotmem.Corrupt, "another program"},
		{"a newer version", foreign("CREATE TABLE t(x); PRAGMA application_id=0x7262746d; PRAGMA user_version=9999"), robotmem.Conflict, "newer robotmem"},
		{"a negative version", foreign("CREATE TABLE t(x); PRAGMA application_id=0x7262746d; PRAGMA user_version=-1"), robotmem.Corrupt, "header is damaged"},
		{"no database at all", file(strings.Repeat("not a database\n", 100)), robotmem.Corrupt, "not a SQLite database"},
		{"a folder", func(t *testing.T) string { return t.TempDir() }, robotmem.Unavailable, "--db"},
		{"below a file", func(t *testing.T) string { return filepath.Join(file("x")(t), "memory.db") }, robotmem.Unavailable, "--db"},
		{"no path", func(*testing.T) string { return "" }, robotmem.Invalid, "required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.path(t)
			before, _ := os.ReadFile(path)
			e, err := local.Open(t.Context(), path, local.Options{})
			if err == nil {
				_ = e.Close()
			}
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("got %v, want %s saying %q", err, tt.want, tt.say)
			}
			if path != "" && err != nil && strings.Contains(err.Error(), path) {
				t.Errorf("the error shows the path: %v", err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestOpenRefusesBadTaxonomy(t *testing.T) {
	t.Parallel()
	_, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"), local.Options{Taxonomy: []byte("tags:\n  - name: [\n")})
	if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "line") {
		t.Errorf("got %v, want invalid with a line", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "memory.db")
	e := openAt(t, path, local.Options{})
	learn(t, e, "a private fact", nil)
	for p, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(p), got, want)
		}
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	for i := range 3 {
		e, err := local.Open(t.Context(), path, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := recall(t, e, &robotmem.RecallRequest{Query: "gripper", N: 10}).Total; got != i {
			t.Errorf("opening %d: %d memories, want %d", i, got, i)
		}
		learn(t, e, "the gripper was opened", robotmem.Object{"i": i})
		if err := errors.Join(e.Close(), e.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Stats(t.Context(), nil); !errors.Is(err, robotmem.Unavailable) {
			t.Errorf("after Close: %v, want unavailable", err)
		}
	}
}

// Two nodes on one file see each other's writes at the next call, including a changed
// text and a forgotten memory.
func TestProcessesShareAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	a, b := openAt(t, path, local.Options{}), openAt(t, path, local.Options{})
	at := robotmem.Object{"spatial": map[string]any{"position": []any{1, 2}}}
	id := learn(t, a, "door is blocked by a crate", at).MemoryID
	near := &robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}}}
	if got := recall(t, b, near); got.Total != 1 {
		t.Fatalf("b sees %d memories near, want 1", got.Total)
	}
	if res := learn(t, b, "door is blocked by a crate", at); res.Status != "duplicate" || res.MemoryID != id {
		t.Errorf("b learns %+v, want a duplicate of %d", res, id)
	}
	if _, err := b.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: "door is open again"}); err != nil {
		t.Fatal(err)
	}
	if got := recall(t, a, &robotmem.RecallRequest{Query: "crate"}); got.Total != 0 {
		t.Error("a still finds the old text")
	}
	if got := recall(t, a, &robotmem.RecallRequest{Query: "open"}); got.Total != 1 {
		t.Error("a does not find the new text")
	}
	if _, err := a.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	if got := recall(t, b, near); got.Total != 0 {
		t.Error("b still finds the forgotten memory")
	}
}

// The schema promises that SQLite 3.40 can read the file; the test uses the version that
// Python has here.
func TestOpensInStockSQLite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		skip(t, "python3 is not installed: apt-get install python3")
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	learn(t, e, "grip_force=12.5 N holds wet glass", robotmem.Object{"params": map[string]any{"grip_force": 12.5}})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT content FROM memories WHERE id IN (SELECT rowid FROM memories_fts WHERE memories_fts MATCH 'holding')").fetchall())
print(db.execute("SELECT json_extract(context, '$.params.grip_force') FROM memories").fetchall())
print(db.execute("PRAGMA integrity_check").fetchall())
`, path).CombinedOutput()
	want := "[('grip_force=12.5 N holds wet glass',)]\n[(12.5,)]\n[('ok',)]\n"
	if err != nil || string(out) != want {
		t.Errorf("got %s (%v), want %s", out, err, want)
	}
}

// skip skips a test that needs something from the machine; CI has it all.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("CI must not skip: " + why)
	}
	t.Skip(why)
}

// If another process holds the lock longer than the time limit, a write fails with an
// explanation and does not hang.
func TestLockedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, local.Options{BusyTimeout: 50 * time.Millisecond})
	learn(t, e, "before the lock", nil)
	other, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "during the lock"})
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "lock") {
		t.Errorf("got %v, want unavailable for the lock", err)
	}
	if got := recall(t, e, &robotmem.RecallRequest{Query: "lock"}); got.Total != 1 {
		t.Errorf("readers waited for the lock: %d memories", got.Total)
	}
	if err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	learn(t, e, "after the lock", nil)
}

// closedWith creates a memory with these facts and returns its path.
func closedWith(t *testing.T, facts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a 100% #1?.db")
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		learn(t, e, f, nil)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
