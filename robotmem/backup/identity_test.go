package backup

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func fileID(t *testing.T, n *local.Node) (id string) {
	t.Helper()
	id, err := engine.Of(n).Store.FileID(t.Context())
	if err != nil || len(id) != 26 {
		t.Fatal(id, err)
	}
	return id
}

func openAt(t *testing.T, path string) *local.Node {
	t.Helper()
	n, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() }) // again, after a test that has closed it
	return n
}

func makeN(t *testing.T, n *local.Node, o Options, times int) (last *Report) {
	t.Helper()
	for range times {
		var err error
		if last, err = Make(t.Context(), n, o); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

func ownedBy(t *testing.T, dir, id string) (n int) {
	t.Helper()
	all, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if b.FileID == id {
			n++
		}
	}
	return n
}

// Robots that were set up alike have equal file names and memories, and leave each other's backups alone.
func TestTwoRobotsShareAFolderOfBackups(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a copy is not noticed there")
	}
	dir, seed := t.TempDir(), filepath.Join(t.TempDir(), "memory.db")
	first := openAt(t, seed)
	learn(t, first, "the seed of both robots")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(seed)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*local.Node
	for range 2 {
		path := filepath.Join(t.TempDir(), "memory.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, openAt(t, path))
	}
	nodes = append(nodes, openTest(t, local.Options{}), openTest(t, local.Options{})) // empty ones
	for i, n := range nodes {
		for j, other := range nodes[:i] {
			if fileID(t, n) == fileID(t, other) {
				t.Fatalf("nodes %d and %d have one id", i, j)
			}
		}
	}

	for range 2 { // in turn
		for _, n := range nodes {
			makeN(t, n, Options{Dir: dir, Keep: 3}, 2)
		}
	}
	for i, n := range nodes {
		if got := ownedBy(t, dir, fileID(t, n)); got != 3 {
			t.Errorf("node %d has %d backups, want 3", i, got)
		}
	}
	// A scheduled backup of a new memory is not put off by one of another memory.
	fresh := openTest(t, local.Options{})
	if r := makeN(t, fresh, Options{Dir: dir, Keep: 3, every: time.Hour}, 1); r.FileID != fileID(t, fresh) {
		t.Errorf("the backup of another memory was taken for it: %+v", r.Backup)
	}
}

// Backups without an id may be anybody's, so they stay.
func TestBackupsWithoutAnIDStay(t *testing.T) {
	n := openTest(t, local.Options{})
	learn(t, n, "a fact")
	dir := t.TempDir()
	old := makeN(t, n, Options{Dir: dir}, 1)
	manifest := filepath.Join(old.Path, backupManifest)
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	without := []byte{}
	for line := range bytes.Lines(data) {
		if !bytes.Contains(line, []byte(`"file_id"`)) {
			without = append(without, line...)
		}
	}
	if err := os.WriteFile(manifest, without, 0o600); err != nil {
		t.Fatal(err)
	}
	makeN(t, n, Options{Dir: dir, Keep: 1}, 3)
	all, err := List(dir)
	if err != nil || len(all) != 2 || all[0].Name != old.Name || all[0].Problem != "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// The state of a schedule that was copied with a file is not that of the copy.
func TestTheStateOfAScheduleIsOfOneFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a copy is not noticed there")
	}
	n := openTest(t, local.Options{})
	learn(t, n, "a fact")
	r := &running{Schedule: Schedule{Options: Options{Dir: t.TempDir()}, Every: time.Hour}, n: engine.Of(n), file: engine.Of(n).Store.Files().BackupState()}
	r.step(t.Context())
	stateOf := func(n *local.Node) *admin.BackupState {
		s, err := n.Stats(t.Context(), &admin.StatsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Backup
	}
	if s := stateOf(n); s == nil || s.LastSuccess.IsZero() || s.FileID != fileID(t, n) {
		t.Fatalf("%+v", s)
	}
	path := engine.Of(n).Store.Path()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "memory.db")
	for _, suffix := range []string{"", ".backups.json"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(other+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if s := stateOf(openAt(t, other)); s != nil {
		t.Errorf("the copy shows %+v", s)
	}
	if s := stateOf(openAt(t, path)); s == nil {
		t.Error("the file itself has lost it")
	}
}

// A restored file keeps the id of the file that it replaces, and a restored copy has one of its own.
func TestRestoreAndTheIDOfTheFile(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "memory.db")
	n := openAt(t, path)
	learn(t, n, "a fact")
	id := fileID(t, n)
	b := makeN(t, n, Options{Dir: dir}, 1)
	learn(t, n, "another fact")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), b.Path, path, local.Options{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n = openAt(t, path)
		if got := fileID(t, n); got != id {
			t.Errorf("after the restore the file has the id %s, before %s", got, id)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}

	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := Restore(t.Context(), b.Path, to, local.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := fileID(t, openAt(t, to)); runtime.GOOS != "windows" && got == id {
		t.Error("two files have one id")
	}

	// Damaged, it is replaced all the same.
	if err := os.WriteFile(path, []byte("no database at all, but long enough to be one of the kind that SQLite looks at"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), b.Path, path, local.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := fileID(t, openAt(t, path)); got != id {
		t.Errorf("over a damaged file: %s, want %s", got, id)
	}
}

// Whatever name a file is restored by, its payloads come to it, and the printed way back works.
func TestRestoreThroughALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	for _, name := range []string{"link", "relative link", "link in a folder that is one", "Ünïcode 记忆"} {
		t.Run(name, func(t *testing.T) {
			real := filepath.Join(t.TempDir(), "real", "memory.db")
			given := filepath.Join(t.TempDir(), name+".db")
			if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
				t.Fatal(err)
			}
			target := real
			switch name {
			case "relative link":
				rel, err := filepath.Rel(filepath.Dir(given), real)
				if err != nil {
					t.Fatal(err)
				}
				target = rel
			case "link in a folder that is one":
				folder := filepath.Join(t.TempDir(), "folder")
				if err := os.Symlink(filepath.Dir(real), folder); err != nil {
					t.Fatal(err)
				}
				target = filepath.Join(folder, "memory.db")
			}
			n := openAt(t, real)
			large := savePayload(t, n, noise(7, 2<<20), nil)
			b := makeN(t, n, Options{Dir: t.TempDir()}, 1)
			if _, err := n.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: large.MemoryID, Reason: "test"}); err != nil {
				t.Fatal(err)
			}
			later := savePayload(t, n, noise(8, 2<<20), nil)
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, given); err != nil {
				t.Fatal(err)
			}

			report, err := Restore(t.Context(), b.Path, given, local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			readsWhole(t, given, large.MemoryID)
			readsWhole(t, real, large.MemoryID)
			if info, err := os.Lstat(given); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v", err)
			}

			if _, err := Restore(t.Context(), report.Aside, given, local.Options{}); err != nil {
				t.Fatalf("the way back: %v", err)
			}
			readsWhole(t, given, later.MemoryID)
		})
	}
}

func readsWhole(t *testing.T, path string, id int64) {
	t.Helper()
	n := openAt(t, path)
	d, err := n.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(d.DataBase64)) != 2<<20 {
		t.Errorf("%d bytes", len(d.DataBase64))
	}
	res, err := n.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Checks {
		if c.Status == "fail" {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// A restore over another memory says so; over an earlier state of its own, or beside it, it says nothing.
func TestRestoreOfAnotherMemoryIsNoted(t *testing.T) {
	dir := t.TempDir()
	var paths, made []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name, "memory.db")
		n := openAt(t, path)
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the door of " + name}); err != nil {
			t.Fatal(err)
		}
		paths, made = append(paths, path), append(made, makeN(t, n, Options{Dir: filepath.Join(dir, "shared-"+name)}, 1).Path)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, from, to string
		noted          bool
	}{
		{"its own", made[0], paths[0], false},
		{"another memory's", made[1], paths[0], true},
		{"into a new file", made[1], filepath.Join(dir, "c", "memory.db"), false},
	} {
		res, err := Restore(t.Context(), tt.from, tt.to, local.Options{})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if noted := res.Note != ""; noted != tt.noted {
			t.Errorf("%s: the note is %q", tt.name, res.Note)
		}
	}
}
