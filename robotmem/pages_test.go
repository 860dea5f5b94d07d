package robotmem_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
)

// closed makes a memory of these facts and returns its path.
func closed(t *testing.T, facts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a 100% #1?.db")
	e, err := robotmem.Open(t.Context(), robotmem.Options{Path: path})
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

// rewrite changes the bytes of a file.
func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, e *robotmem.Engine, name string) robotmem.Check {
	t.Helper()
	d, err := e.Doctor(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("the doctor has no check %q: %+v", name, d.Checks)
	return robotmem.Check{}
}

func TestAFlippedBitIsAnErrorNotAnAnswer(t *testing.T) {
	const fact = "the crate at dock seven weighs 12 kg"
	path := closed(t, fact)
	rewrite(t, path, func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte("weighs 12 kg"), []byte("weighs 32 kg"))
	})
	e := open(t, robotmem.Options{Path: path})
	if m, err := e.Get(t.Context(), &robotmem.GetRequest{MemoryID: 1}); !errors.Is(err, robotmem.Corrupt) || !strings.Contains(err.Error(), "backup") {
		t.Errorf("got %+v, %v; want corrupt with what to do", m, err)
	}
	if d, err := e.Doctor(t.Context(), nil); err == nil && d.Healthy {
		t.Error("the doctor calls it healthy")
	}
}

// A page that is lost, or that lies where another should, matches the sum of its
// own bytes.
func TestALostPageIsAnErrorNotAnAnswer(t *testing.T) {
	const pageSize, story = 4096, "and the crate went on to dock "
	path := closed(t, "the crate at dock seven: "+strings.Repeat(story, 500), "the crate at dock nine: "+strings.Repeat(story, 500))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var full []int // pages of nothing but the story
	for at := 0; at < len(whole); at += pageSize {
		if bytes.Count(whole[at:at+pageSize], []byte(story)) > pageSize/len(story)-3 {
			full = append(full, at)
		}
	}
	if len(full) < 4 {
		t.Fatalf("%d pages of the story, want more", len(full))
	}
	page := func(data []byte, i int) []byte { return data[full[i]:][:pageSize] }
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"zeros", func(data []byte) []byte { clear(page(data, 1)); return data }},
		{"a sector of zeros", func(data []byte) []byte { clear(page(data, 1)[512:1024]); return data }},
		{"another page", func(data []byte) []byte { copy(page(data, 1), page(whole, 3)); return data }},
		{"changed places", func(data []byte) []byte {
			copy(page(data, 1), page(whole, 3))
			copy(page(data, 3), page(whole, 1))
			return data
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.damage(bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			e := open(t, robotmem.Options{Path: path})
			var errs []error
			for id := range int64(2) {
				_, err := e.Get(t.Context(), &robotmem.GetRequest{MemoryID: id + 1})
				errs = append(errs, err)
			}
			if err := errors.Join(errs...); !errors.Is(err, robotmem.Corrupt) {
				t.Errorf("got %v, want corrupt", err)
			}
		})
	}
}

// The header says that pages have checksums. One flipped bit there would turn
// them all off.
func TestChecksumsAreNotTurnedOffByAFlippedBit(t *testing.T) {
	path := closed(t, "the crate at dock seven weighs 12 kg")
	for bit := range 8 {
		flip := func(data []byte) []byte { data[20] ^= 1 << bit; return data }
		rewrite(t, path, flip)
		e, err := robotmem.Open(t.Context(), robotmem.Options{Path: path})
		if err == nil {
			_ = e.Close()
		}
		if !errors.Is(err, robotmem.Corrupt) {
			t.Errorf("bit %d: %v, want corrupt", bit, err)
		}
		rewrite(t, path, flip)
	}
	open(t, robotmem.Options{Path: path})
}

func TestRepairAddsChecksums(t *testing.T) {
	t.Run("to pages without", func(t *testing.T) { repairAddsChecksums(t, unzip(t, filepath.Join("testdata", "v1.db.gz"))) })
	t.Run("in place of SQLite's", func(t *testing.T) {
		path := unzip(t, filepath.Join("testdata", "v1.db.gz"))
		c, err := sqlite3.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.EnableChecksums("main"), c.Close()); err != nil {
			t.Fatal(err)
		}
		repairAddsChecksums(t, path)
	})
}

func repairAddsChecksums(t *testing.T, path string) {
	t.Helper()
	e := open(t, robotmem.Options{Path: path, BusyTimeout: 1})
	if c := check(t, e, "checksums"); c.Status != "warn" || c.Remedy == "" {
		t.Errorf("before: %+v, want a warning", c)
	}
	other := open(t, robotmem.Options{Path: path})
	if _, err := e.Repair(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if c := check(t, e, "checksums"); c.Status != "warn" {
		t.Errorf("with another who has the file open: %+v, want the warning", c)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := e.Repair(t.Context(), nil)
	if err != nil || !r.Doctor.Healthy || !strings.Contains(strings.Join(r.Repaired, " "), "checksums") {
		t.Fatalf("repair: %+v, %v", r, err)
	}
	if c := check(t, e, "checksums"); c.Status != "ok" {
		t.Errorf("after: %+v, want ok", c)
	}
	// The file stays open to several again, and every page matches its sum.
	second := open(t, robotmem.Options{Path: path})
	learn(t, second, "written by another process", nil)
	learn(t, e, "written after the repair", nil)
	for _, m := range []*robotmem.Engine{e, second} {
		if d, err := m.Doctor(t.Context(), &robotmem.DoctorRequest{Deep: true}); err != nil || !d.Healthy {
			t.Errorf("doctor: %+v, %v", d, err)
		}
	}
}

// Another program's SQLite reads the file, and may write what it likes: the
// pages that it wrote no longer match their sums, which is then said.
func TestStockSQLiteSpoilsTheSums(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		skip(t, "python3 is not installed: apt-get install python3")
	}
	path := closed(t, "the crate at dock seven weighs 12 kg")
	out, err := exec.CommandContext(t.Context(), python, "-c", `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE memories SET content = 'changed'")
db.commit()
print(db.execute("SELECT content FROM memories").fetchall(), db.execute("PRAGMA integrity_check").fetchall())
`, path).CombinedOutput()
	if want := "[('changed',)] [('ok',)]\n"; err != nil || string(out) != want {
		t.Fatalf("got %s (%v), want %s", out, err, want)
	}
	e, err := robotmem.Open(t.Context(), robotmem.Options{Path: path})
	if err == nil {
		_, err = e.Get(t.Context(), &robotmem.GetRequest{MemoryID: 1})
		_ = e.Close()
	}
	if !errors.Is(err, robotmem.Corrupt) {
		t.Errorf("got %v, want corrupt", err)
	}
}

// A file that something has emptied is not taken for a new one, and its log not
// deleted, while what belongs to it lies beside it.
func TestAnEmptiedFileIsNotANewOne(t *testing.T) {
	db, log, _ := crashedFiles(t)
	for _, tt := range []struct {
		name, beside string
		data         []byte
		want         robotmem.Kind
	}{
		{"with its log", "-wal", log, robotmem.Corrupt},
		{"with payloads", ".payloads/ab/cdef", db[:10], robotmem.Corrupt},
		{"with nothing", "-other", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "memory.db")
			beside := path + tt.beside
			if err := errors.Join(os.WriteFile(path, nil, 0o600), os.MkdirAll(filepath.Dir(beside), 0o700), os.WriteFile(beside, tt.data, 0o600)); err != nil {
				t.Fatal(err)
			}
			e, err := robotmem.Open(t.Context(), robotmem.Options{Path: path})
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

// What another program has written anew has the layout of before and no sums: all
// of it is recovered.
func TestRecoverWhatStockSQLiteWrote(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		skip(t, "python3 is not installed: apt-get install python3")
	}
	var facts []string
	for i := range 8 {
		facts = append(facts, fmt.Sprintf("the crate at dock %d: ", i)+strings.Repeat(fmt.Sprint("and the story of crate ", i, " goes on; "), 300))
	}
	path := closed(t, facts...)
	out, err := exec.CommandContext(t.Context(), python, "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('VACUUM')", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	report, to := recovered(t, path)
	if report.DoubtfulCount > 0 || report.Missing > 0 || report.Memories != int64(len(facts)) {
		t.Errorf("%+v, want all", report)
	}
	e := open(t, robotmem.Options{Path: to})
	for i, want := range facts {
		if m, err := e.Get(t.Context(), &robotmem.GetRequest{MemoryID: int64(i) + 1}); err != nil || m.Content != strings.TrimSpace(want) || m.Status != "active" {
			t.Errorf("memory %d is %s, %.40q (%v)", i+1, m.Status, m.Content, err)
		}
	}
}

// What pages look like does not tell their size where most hold payloads: their
// sums do.
func TestRecoverFindsThePageSizeByTheSums(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e := open(t, robotmem.Options{Path: path})
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 30 {
		data := make([]byte, 30_000)
		for j := 0; j < len(data); j++ {
			data[j] = byte(random.Uint32())
		}
		if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: fmt.Sprint("what the gripper felt: ", i), DataBase64: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	rewrite(t, path, func(data []byte) []byte { clear(data[:100]); return data })
	report, _ := recovered(t, path)
	if report.Memories != 30 || report.LostPayloads > 0 || report.DoubtfulCount > 0 {
		t.Errorf("%+v, want all", report)
	}
}
