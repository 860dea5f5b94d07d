package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A file that another process has open is not recovered, even if the process is idle.
func TestRecoverRefusesAFileInUse(t *testing.T) {
	t.Parallel()
	path := furnished(t, 20)
	e := openAt(t, path, local.Options{})
	recall(t, e, &robotmem.RecallRequest{Query: "glass"})
	if _, err := local.RecoverInPlace(t.Context(), path, local.Options{}); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v, want unavailable", err)
	}
	learn(t, e, "it works on", nil)
}

func TestRecoverInPlace(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	path := furnished(t, 400)
	_, _, leaf := treePages(t, path, "memories")
	for n := range leaf {
		page(t, path, n, zero)
		break
	}
	damaged, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := local.RecoverInPlace(t.Context(), path, local.Options{})
	if err != nil || r.Whole || r.Missing == 0 || r.Memories+r.Missing != 404 {
		t.Fatalf("report %+v, %v", r, err)
	}
	if kept, err := os.ReadFile(r.Damaged); err != nil || string(kept) != string(damaged) {
		t.Errorf("the damaged file is not kept as it was: %v", err)
	}
	if names := beside(t, path); !slices.Equal(names, []string{filepath.Base(path), filepath.Base(r.Damaged), "memory.db.payloads", "memory.db.payloads.owner"}) {
		t.Errorf("left in the folder: %v", names)
	}
	e := openAt(t, path, local.Options{})
	d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || !d.Healthy || d.Status != "ok" {
		t.Errorf("doctor %+v, %v", d, err)
	}
	a, err := e.Audit(t.Context(), &admin.AuditRequest{Action: "repaired"})
	if err != nil || len(a.Entries) != 1 || a.Entries[0].Reason != "recovered from "+filepath.Base(path) || a.Entries[0].Who == "" {
		t.Errorf("the audit log has %+v, %v", a, err)
	}
}

// Repairs within one second keep both of the damaged files.
func TestRecoverTwiceInASecond(t *testing.T) {
	t.Parallel()
	path := furnished(t, 50)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for range 2 {
		if _, err := local.RecoverInPlace(t.Context(), path, local.Options{Clock: func() time.Time { return now }}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Millisecond)
	}
	if kept, err := filepath.Glob(path + ".damaged-*Z"); err != nil || len(kept) != 2 {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// beside lists the folder of a file, without its log.
func beside(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "-wal") && !strings.HasSuffix(e.Name(), "-shm") {
			names = append(names, e.Name())
		}
	}
	return names
}

// A crash during the replacement leaves both files, and the next repair names the recovered one.
func TestRecoverInPlaceRefusesAnInterruptedRepair(t *testing.T) {
	t.Parallel()
	path := furnished(t, 50)
	recovered := path + ".recovered-20260102T030405Z"
	if err := os.Rename(furnished(t, 60), recovered); err != nil {
		t.Fatal(err)
	}
	_, err := local.RecoverInPlace(t.Context(), path, local.Options{})
	if !errors.Is(err, robotmem.Conflict) || !strings.Contains(err.Error(), filepath.Base(recovered)) {
		t.Errorf("got %v, want a conflict that names %s", err, filepath.Base(recovered))
	}
	e := openAt(t, recovered, local.Options{})
	s, err := e.Stats(t.Context(), nil)
	if err != nil || s.Total != 63 {
		t.Errorf("%d memories, want those of the recovered file; %v", s.Total, err)
	}
}

func TestRecoverRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, sql string
		want      robotmem.Kind
		say       string
	}{
		{"another program's", "CREATE TABLE t(x); INSERT INTO t VALUES (1)", robotmem.Corrupt, "left as it is"},
		{"the Python robotmem's", "CREATE TABLE memories(id INTEGER PRIMARY KEY, content TEXT, a, b, c, d, e); INSERT INTO memories(content) VALUES ('x')", robotmem.Corrupt, "left as it is"},
		{"a newer version", "CREATE TABLE t(x); PRAGMA application_id=0x7262746d; PRAGMA user_version=9999", robotmem.Conflict, "newer robotmem"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := database(t, tt.sql)
			before, _ := os.ReadFile(path)
			_, err := local.RecoverInPlace(t.Context(), path, local.Options{})
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("got %v, want %s saying %q", err, tt.want, tt.say)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
			if names := beside(t, path); len(names) != 1 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

// crashed copies a memory in the state that a crash leaves: the last writes are only in
// the log. Each of n facts is one commit.
func crashed(t *testing.T, n int) string {
	t.Helper()
	path := furnished(t, 50)
	e := openAt(t, path, local.Options{})
	for i := range n {
		learn(t, e, "the late fact number "+strings.Repeat("x", i+1), nil)
	}
	to := copyOf(t, path)
	log, err := os.ReadFile(path + "-wal")
	if err == nil {
		err = os.WriteFile(to+"-wal", log, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func late(t *testing.T, path string) (n int) {
	t.Helper()
	for _, row := range truth(t, path)["memories"] {
		if strings.Contains(row, "the late fact") {
			n++
		}
	}
	return n
}

func TestRecoverReadsTheLog(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	const facts = 12
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, path string, log []byte) []byte
		least  int
		whole  bool
	}{
		{"whole", func(_ *testing.T, _ string, log []byte) []byte { return log }, facts, true},
		{"with an unfinished commit at its end", func(_ *testing.T, _ string, log []byte) []byte {
			return append(log, log[32:32+2*4120]...)
		}, facts, true},
		// SQLite reads a log up to the first frame with a wrong checksum.
		{"with its head damaged", func(_ *testing.T, _ string, log []byte) []byte { clear(log[:32]); return log }, 0, true},
		{"with a frame damaged in the middle", func(_ *testing.T, _ string, log []byte) []byte {
			middle := 32 + (len(log)-32)/4120/2*4120
			log[middle+2000] ^= 0xff
			return log
		}, facts/2 - 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := crashed(t, facts)
			log, err := os.ReadFile(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			log = tt.damage(t, path, slices.Clone(log))
			if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
				t.Fatal(err)
			}
			r := recovered(t, path)
			if got := late(t, path); got < tt.least {
				t.Errorf("%d late facts, want %d; %+v", got, tt.least, r)
			}
			if !r.Doctor.Healthy || r.Whole != tt.whole {
				t.Errorf("whole %v, want %v; %+v", r.Whole, tt.whole, r)
			}
		})
	}
}

// A memory whose text was damaged is not recalled, but kept.
func TestRecoverSetsAsideWhatDoesNotMatch(t *testing.T) {
	t.Parallel()
	path := furnished(t, 50)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(data), "grasp 7 of the wet glass held at 12.7 N", "grasp 7 of the wet glass held at 92.7 N")
	if changed == string(data) {
		t.Fatal("the text is not in the file")
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	r := recovered(t, path)
	if r.Whole || !slices.Equal(r.Doubtful, []int64{8}) || !r.Doctor.Healthy {
		t.Errorf("report %+v", r)
	}
	e := openAt(t, path, local.Options{})
	m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 8})
	if err != nil || m.Status != "invalidated" || !strings.Contains(m.Content, "92.7 N") {
		t.Errorf("memory %+v, %v", m, err)
	}
	if _, err := e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: 8}); err != nil {
		t.Errorf("it cannot be restored: %v", err)
	}
}

// A memory file of every past version is recovered, and its checksums are those of the
// current version.
func TestRecoverPastVersions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	files, err := filepath.Glob("testdata/v*.db.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no stored files", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := unzip(t, name)
			r := recovered(t, path)
			if !r.Whole || r.Memories != 5 {
				t.Errorf("report %+v", r)
			}
			e := openAt(t, path, local.Options{})
			h, err := e.History(t.Context(), &robotmem.MemoryRequest{MemoryID: 2})
			if err != nil || len(h.Versions) != 2 {
				t.Errorf("history %+v, %v", h, err)
			}
		})
	}
}
