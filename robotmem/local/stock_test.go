package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The file is an ordinary SQLite file: other programs may read it, checkpoint its
// log, vacuum and copy it, and it opens afterwards.

// stock runs a script with Python's SQLite, the version of the system. The path of the
// file is its first argument.
func stock(t *testing.T, path, script string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		skip(t, "python3 is not installed: apt-get install python3")
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n"+script, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(bytes.TrimSpace(out))
}

// dockFacts is the number of facts that learnDocks stores, one commit each.
const dockFacts = 10

func learnDocks(t *testing.T, e *local.Node) {
	t.Helper()
	for i := range dockFacts {
		learn(t, e, fmt.Sprintf("the crate at dock %d weighs %d kg", i, 10+i), nil)
	}
}

// killedFiles returns a memory of dockFacts with its log, as a killed node leaves them.
func killedFiles(t *testing.T) (db, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	learnDocks(t, openAt(t, path, local.Options{}))
	db, err := os.ReadFile(path)
	log, lerr := os.ReadFile(path + "-wal")
	if err := errors.Join(err, lerr); err != nil {
		t.Fatal(err)
	}
	return db, log
}

// wholeAndHealthy opens a file and expects n memories and no problem from doctor.
func wholeAndHealthy(t *testing.T, path string, n int64) {
	t.Helper()
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Stats(t.Context(), nil)
	if err != nil || s.Total != n {
		t.Errorf("%d memories, want %d; %v", s.Total, n, err)
	}
	d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || !d.Healthy {
		t.Errorf("doctor %+v, %v", d, err)
	}
	if res := recall(t, e, &robotmem.RecallRequest{Query: "crate at dock 7", N: 1}); res.Total != 1 || res.Memories[0].Content != "the crate at dock 7 weighs 17 kg" {
		t.Errorf("recall finds %+v", res)
	}
}

func TestStockSQLiteBesideAKilledNodesLog(t *testing.T) {
	t.Parallel()
	db, log := killedFiles(t)
	for name, script := range map[string]string{
		"reads":       "print(db.execute('select count(*) from memories').fetchone()[0])",
		"checkpoints": "db.execute('pragma wal_checkpoint(truncate)'); print(db.execute('select count(*) from memories').fetchone()[0])",
		"vacuums":     "db.execute('vacuum'); print(db.execute('select count(*) from memories').fetchone()[0])",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "memory.db")
			if err := errors.Join(os.WriteFile(path, db, 0o600), os.WriteFile(path+"-wal", log, 0o600)); err != nil {
				t.Fatal(err)
			}
			if got := stock(t, path, script); got != fmt.Sprint(dockFacts) {
				t.Errorf("it counts %s memories, want %d", got, dockFacts)
			}
			wholeAndHealthy(t, path, dockFacts)
		})
	}
}

// A tool that copies the file while the node writes blocks the node's checkpoints,
// checkpoints itself and copies the pages, as Litestream does.
func TestAnotherProcessCheckpointsAndCopies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, local.Options{})
	learnDocks(t, e)
	const copies = `
import shutil
for n in range(3):
    db.execute('pragma wal_checkpoint(truncate)')
    db.execute('begin')
    db.execute('select count(*) from memories').fetchone()
    shutil.copy(sys.argv[1], sys.argv[1] + '.copy')
    db.rollback()
`
	stock(t, path, copies)
	learn(t, e, "learnt after the copy", nil)
	wholeAndHealthy(t, path+".copy", dockFacts)
	stock(t, path, copies)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	wholeAndHealthy(t, path, dockFacts+1)
}

// A change by another program is detected by the memory's content hash.
func TestStockSQLiteChangesAText(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, local.Options{})
	learnDocks(t, e)
	stock(t, path, "db.execute(\"UPDATE memories SET content = 'changed' WHERE id = 3\"); db.commit()")
	d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || d.Healthy {
		t.Errorf("doctor %+v, %v", d, err)
	}
}

// An emptied file is a new one only if the caller says so, and never while files
// that belong to it exist beside it. A file that is gone is not made again beside them.
func TestAnEmptiedFileIsNotANewOne(t *testing.T) {
	t.Parallel()
	db, log := killedFiles(t)
	for _, tt := range []struct {
		name, beside string
		data         []byte
		gone         bool // there is no file at all
		create       bool
		want         robotmem.Kind
	}{
		{"with its log", "-wal", log, false, true, robotmem.Corrupt},
		{"with payloads", ".payloads/ab/cdef", db[:10], false, true, robotmem.Corrupt},
		{"with nothing", "-other", nil, false, false, robotmem.Corrupt},
		{"with nothing, and a memory shall begin in it", "-other", nil, false, true, ""},
		{"gone, with its log", "-wal", log, true, true, robotmem.Corrupt},
		{"gone, with payloads", ".payloads/ab/cdef", db[:10], true, false, robotmem.Corrupt},
		{"gone, with nothing", "-other", nil, true, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "memory.db")
			beside := path + tt.beside
			if err := errors.Join(os.MkdirAll(filepath.Dir(beside), 0o700), os.WriteFile(beside, tt.data, 0o600)); err != nil {
				t.Fatal(err)
			}
			if !tt.gone {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e, err := local.Open(t.Context(), path, local.Options{Create: tt.create})
			if err == nil {
				_ = e.Close()
			}
			if tt.want != "" && !errors.Is(err, tt.want) || tt.want == "" && err != nil {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if after, rerr := os.ReadFile(beside); rerr != nil || !bytes.Equal(after, tt.data) {
				t.Errorf("what lay beside it was changed: %v", rerr)
			}
		})
	}
}
