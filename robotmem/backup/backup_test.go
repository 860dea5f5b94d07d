package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

func backUp(t *testing.T, e *local.Node, o Options) *Report {
	t.Helper()
	r, err := Make(t.Context(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.Name() != backupLock {
			out = append(out, e.Name())
		}
	}
	return out
}

// restored restores a backup to a new path and opens it.
func restored(t *testing.T, from string) *local.Node {
	t.Helper()
	path := filepath.Join(t.TempDir(), "restored.db")
	r, err := Restore(t.Context(), from, path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Doctor.Healthy {
		t.Errorf("the restored memory: %+v", r.Doctor)
	}
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || d.Status != maintenance.CheckOK {
		t.Errorf("deep doctor of the restored memory: %+v, %v", d, err)
	}
	return e
}

func TestBackupHoldsAll(t *testing.T) {
	e := openTest(t, local.Options{})
	fact, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the door of hall 3 opens inwards"})
	if err != nil {
		t.Fatal(err)
	}
	small, large := noise(1, 1000), noise(2, 300_000)
	savePayload(t, e, small, nil)
	picture := savePayload(t, e, large, nil)
	r := backUp(t, e, Options{Version: "v9"})
	if want := filepath.Join(filepath.Dir(engine.Of(e).Store.Path()), "backups"); filepath.Dir(r.Path) != want {
		t.Errorf("it lies in %s, want %s", filepath.Dir(r.Path), want)
	}
	if r.Held.Memories != 3 || r.Held.Payloads != 2 || r.Linked != 1 || r.Copied != 0 || r.Number != 1 || r.Version != "v9" {
		t.Errorf("the report is %+v", r)
	}
	listed, err := List(filepath.Dir(r.Path))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Backup{r.Backup}, listed); diff != "" {
		t.Errorf("the list differs from the report (-want +got):\n%s", diff)
	}
	if _, err := Verify(t.Context(), r.Path); err != nil {
		t.Error(err)
	}
	files := names(t, r.Path)
	if want := []string{"backup.json", "memory.db", "memory.db.payloads"}; !slices.Equal(files, want) {
		t.Errorf("a backup that was verified consists of %v, want %v", files, want)
	}
	back := restored(t, r.Path)
	m, err := back.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: fact.MemoryID})
	if err != nil || m.Content != "the door of hall 3 opens inwards" || m.UID != fact.UID {
		t.Errorf("the fact came back as %+v, %v", m, err)
	}
	data, err := back.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: picture.MemoryID})
	if err != nil || !slices.Equal(data.DataBase64, large) {
		t.Errorf("the payload did not come back: %v", err)
	}
}

func TestBackupIsPrivate(t *testing.T) {
	e := openTest(t, local.Options{})
	savePayload(t, e, noise(1, 300_000), nil)
	r := backUp(t, e, Options{})
	err := filepath.WalkDir(filepath.Dir(r.Path), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A clock that was set back neither hides nor removes the new backup.
func TestRotationKeepsTheNewest(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	e := openTest(t, local.Options{Clock: func() time.Time { return at }})
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "one fact"})
	dir := t.TempDir()
	for _, other := range []string{"notes", "memory-20200101T000000.000Z", "tmp-mine"} {
		if err := os.Mkdir(filepath.Join(dir, other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var made []string
	for range 3 {
		r := backUp(t, e, Options{Dir: dir, Keep: 2})
		made = append(made, r.Name)
		at = at.Add(-time.Hour)
	}
	got := names(t, dir)
	for _, kept := range []string{"notes", "memory-20200101T000000.000Z", "tmp-mine", made[1], made[2]} {
		if !slices.Contains(got, kept) {
			t.Errorf("%s is gone; there are %v", kept, got)
		}
	}
	if slices.Contains(got, made[0]) {
		t.Errorf("%s was not rotated; there are %v", made[0], got)
	}
}

// Two memories with the same name share a folder: neither removes the other's backups.
func TestRotationLeavesOtherMemories(t *testing.T) {
	dir := t.TempDir()
	a, b := openTest(t, local.Options{}), openTest(t, local.Options{})
	_, _ = a.Learn(t.Context(), &robotmem.LearnRequest{Insight: "arm one"})
	_, _ = b.Learn(t.Context(), &robotmem.LearnRequest{Insight: "arm two"})
	first := backUp(t, a, Options{Dir: dir, Keep: 1})
	for range 3 {
		backUp(t, b, Options{Dir: dir, Keep: 1})
	}
	if got := names(t, dir); len(got) != 2 || !slices.Contains(got, first.Name) {
		t.Errorf("there are %v, want %s and one more", got, first.Name)
	}
}

func TestBackupRefusesFolders(t *testing.T) {
	e := openTest(t, local.Options{})
	savePayload(t, e, noise(1, 300_000), nil)
	r := backUp(t, e, Options{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    Options
		kind robotmem.Kind
		text string
	}{
		"within the payloads": {Options{Dir: filepath.Join(engine.Of(e).Store.Payloads().Dir, "b")}, robotmem.Invalid, "folder of payloads"},
		"a backup":            {Options{Dir: r.Path}, robotmem.Invalid, "is a backup itself"},
		"a file":              {Options{Dir: file}, robotmem.Unavailable, "cannot be written"},
		"keep none":           {Options{Keep: -1}, robotmem.Invalid, "1 to 10000"},
	} {
		if _, err := Make(t.Context(), e, c.o); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.kind, c.text)
		}
	}
	beside := backUp(t, e, Options{Dir: filepath.Dir(engine.Of(e).Store.Path())}) // the memory's own folder will do
	if _, err := Verify(t.Context(), beside.Path); err != nil {
		t.Error(err)
	}
}

// damagePage overwrites the middle of a file that is open.
func damagePage(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(noise(9, 4000), at); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// A damaged memory is not backed up, and no good backup is removed.
func TestBackupRefusesDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	for name, damage := range map[string]func(t *testing.T, e *local.Node, sum string){
		"a page": func(t *testing.T, e *local.Node, _ string) {
			c, err := sqlite.OpenTables(t.Context(), engine.Of(e).Store.Path(), sqlite.ConnOptions{})
			if err != nil {
				t.Fatal(err)
			}
			root, err := c.File.Number("SELECT rootpage FROM sqlite_schema WHERE name = 'idx_mem_revision'")
			if err := errors.Join(err, c.File.Exec("PRAGMA wal_checkpoint(TRUNCATE)"), c.Close()); err != nil {
				t.Fatal(err)
			}
			damagePage(t, engine.Of(e).Store.Path(), (root-1)*sqlite.PageSize)
		},
		"a memory": func(t *testing.T, e *local.Node, _ string) {
			err := engine.Of(e).Store.Write(t.Context(), func(tx *store.Tx) error {
				return sqlite.FileOf(tx.Conn).Exec("UPDATE memories SET content = 'another' WHERE id = 1")
			})
			if err != nil {
				t.Fatal(err)
			}
		},
		"a payload that is damaged": func(t *testing.T, e *local.Node, sum string) {
			damagePage(t, filepath.Join(engine.Of(e).Store.Payloads().Dir, sum[:2], sum), 100_000)
		},
		"a payload that is missing": func(t *testing.T, e *local.Node, sum string) {
			if err := os.Remove(filepath.Join(engine.Of(e).Store.Payloads().Dir, sum[:2], sum)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := openTest(t, local.Options{})
			dir := t.TempDir()
			_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "one fact"})
			good := backUp(t, e, Options{Dir: dir, Keep: 1})
			p := savePayload(t, e, noise(7, 300_000), nil)
			damage(t, e, p.SHA256)
			_, err := Make(t.Context(), e, Options{Dir: dir, Keep: 1})
			if !errors.Is(err, robotmem.Corrupt) || !strings.Contains(err.Error(), "robotmem doctor") {
				t.Errorf("the backup answers %v, want corrupt with the next step", err)
			}
			if got := names(t, dir); !slices.Equal(got, []string{good.Name}) {
				t.Errorf("there are %v, want %s alone", got, good.Name)
			}
			if _, err := Verify(t.Context(), good.Path); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	e := openTest(t, local.Options{})
	p := savePayload(t, e, noise(1, 300_000), nil)
	for name, damage := range map[string]func(t *testing.T, path string){
		"a byte of the file": func(t *testing.T, path string) { damagePage(t, filepath.Join(path, "memory.db"), 8192) },
		"the file is gone":   func(t *testing.T, path string) { _ = os.Remove(filepath.Join(path, "memory.db")) },
		"a payload is gone": func(t *testing.T, path string) {
			_ = os.Remove(filepath.Join(path, "memory.db.payloads", p.SHA256[:2], p.SHA256))
		},
		"another record": func(t *testing.T, path string) {
			_ = os.WriteFile(filepath.Join(path, backupManifest), []byte(`{"file":"../memory.db"}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := backUp(t, e, Options{Dir: t.TempDir()})
			damage(t, r.Path)
			if _, err := Verify(t.Context(), r.Path); !errors.Is(err, robotmem.Corrupt) {
				t.Errorf("verify answers %v, want corrupt", err)
			}
			target := filepath.Join(t.TempDir(), "memory.db")
			if _, err := Restore(t.Context(), r.Path, target, local.Options{}); !errors.Is(err, robotmem.Corrupt) {
				t.Errorf("restore answers %v, want corrupt", err)
			}
			if _, err := os.Stat(target); err == nil {
				t.Error("restore has made a file of a damaged backup")
			}
		})
	}
	if _, err := Verify(t.Context(), t.TempDir()); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("verify of a plain folder answers %v, want not_found", err)
	}
}

// On another disk than the memory's the first backup copies the payloads, and the next
// one links them to the first; a damaged copy is copied again.
func TestBackupOnAnotherDisk(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip("no second file system here")
	}
	dir, err := os.MkdirTemp("/dev/shm", "backup-test-")
	if err != nil {
		t.Skip("no second file system here")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	e := openTest(t, local.Options{})
	p := savePayload(t, e, noise(1, 300_000), nil)
	savePayload(t, e, noise(2, 300_000), nil)
	first := backUp(t, e, Options{Dir: dir})
	second := backUp(t, e, Options{Dir: dir})
	if first.Copied == 0 {
		t.Skip("the folder for temporary files lies on the same file system")
	}
	if first.Copied != 2 || first.Linked != 0 || second.Copied != 0 || second.Linked != 2 {
		t.Errorf("first %d copied and %d linked, then %d and %d; want 2 and 0, then 0 and 2", first.Copied, first.Linked, second.Copied, second.Linked)
	}
	damagePage(t, filepath.Join(second.Path, "memory.db.payloads", p.SHA256[:2], p.SHA256), 1000)
	third := backUp(t, e, Options{Dir: dir})
	restored(t, third.Path)
}

// A payload that is evicted during the backup is in the backup or not referred to.
func TestBackupWhilePayloadsAreEvicted(t *testing.T) {
	e := openTest(t, local.Options{})
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var evicting sync.WaitGroup
	var evicted atomic.Int64
	evicting.Go(func() {
		for seed := uint64(0); ctx.Err() == nil; seed++ {
			_, _ = e.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: "a frame of the hall", DataBase64: noise(seed, 300_000)})
			res, err := e.Retain(ctx, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1_500_000}}, Apply: true})
			if err == nil {
				evicted.Add(int64(res.Count))
			}
		}
	})
	for evicted.Load() < 3 && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		r := backUp(t, e, Options{Dir: dir, Keep: 10})
		if _, err := Verify(t.Context(), r.Path); err != nil {
			t.Error(err)
		}
		if lost := countFiles(t, filepath.Join(r.Path, "memory.db.payloads")); int64(lost) != r.Held.Payloads {
			t.Errorf("%d files for %d payloads", lost, r.Held.Payloads)
		}
	}
	cancel()
	evicting.Wait()
	if evicted.Load() < 5 {
		t.Errorf("only %d were evicted: the test tests nothing", evicted.Load())
	}
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

func TestBackupIsCancelled(t *testing.T) {
	e := openTest(t, local.Options{})
	savePayload(t, e, noise(1, 300_000), nil)
	dir := t.TempDir()
	for n := 0; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		reports := 0
		_, err := Make(progress.With(ctx, func(progress.Report) {
			if reports++; reports > n {
				cancel()
			}
		}), e, Options{Dir: dir})
		cancel()
		if err == nil {
			if n < 3 {
				t.Errorf("only %d reports: the test tests nothing", n)
			}
			return
		}
		if !errors.Is(err, robotmem.Unavailable) {
			t.Fatalf("cancelled at report %d: %v, want unavailable", n, err)
		}
		if got := names(t, dir); len(got) > 0 {
			t.Fatalf("cancelled at report %d: %v is left", n, got)
		}
	}
}

func TestOneBackupAtATime(t *testing.T) {
	e := openTest(t, local.Options{})
	dir := t.TempDir()
	unlock, err := lockBackups(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), e, Options{Dir: dir}); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "another backup") {
		t.Errorf("a second backup answers %v, want unavailable", err)
	}
	unlock()
	id, err := engine.Of(e).Store.FileID(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	// What an interrupted backup of this memory left is removed. A folder of another memory, or of nobody, stays.
	const own, other, nobody = "tmp-memory-20260101T000000.000Z", "tmp-memory-20260102T000000.000Z", "tmp-thesis-20200101T000000.000Z"
	for name, owner := range map[string]string{own: id, other: "another", nobody: ""} {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if owner == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name, "of"), []byte(owner+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := backUp(t, e, Options{Dir: dir})
	if got := names(t, dir); !slices.Equal(got, []string{r.Name, other, nobody}) {
		t.Errorf("there are %v, want %s and the folders that are not of this memory", got, r.Name)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, r.Name)); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "of" }) {
		t.Errorf("the backup holds %v, %v", entries, err)
	}
}

func TestRestoreKeepsWhatWasThere(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "known to the backup"})
	kept := savePayload(t, e, noise(1, 300_000), nil)
	r := backUp(t, e, Options{})
	late, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "learnt after the backup"})
	if err != nil {
		t.Fatal(err)
	}
	newer := savePayload(t, e, noise(2, 300_000), nil)
	if _, err := Restore(t.Context(), r.Path, path, local.Options{}); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "has the memory open") {
		t.Fatalf("restoring a file in use answers %v, want unavailable", err)
	}
	if m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: late.MemoryID}); err != nil || m.Content != "learnt after the backup" {
		t.Errorf("after the refusal: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Restore(t.Context(), r.Path, path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Before == nil || got.Before.Memories != 4 || got.After.Memories != 2 || got.Doctor.Status != maintenance.CheckOK {
		t.Errorf("the report is %+v, %+v", got, got.Doctor)
	}
	look := func(what, path string, want int64, payloads ...*robotmem.SavePerceptionResponse) {
		t.Helper()
		e, err := local.Open(t.Context(), path, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		s, err := e.Stats(t.Context(), nil)
		if err != nil || s.Total != want {
			t.Errorf("%s: %+v, %v; want %d memories", what, s, err, want)
		}
		for _, p := range payloads {
			if _, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: p.MemoryID}); err != nil {
				t.Errorf("%s: payload of %d: %v", what, p.MemoryID, err)
			}
		}
	}
	look("restored", path, 2, kept)
	e, err = local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Audit(t.Context(), &admin.AuditRequest{Action: store.ActionRestored})
	if err = errors.Join(err, e.Close()); err != nil || len(a.Entries) != 1 || !strings.Contains(a.Entries[0].Reason, r.Name) || a.Entries[0].Who != store.OSUser() {
		t.Errorf("the audit log has %+v, %v", a, err)
	}
	look("aside", got.Aside, 4, kept, newer)
	if _, err := Restore(t.Context(), got.Aside, path, local.Options{}); err != nil { // the way back
		t.Fatal(err)
	}
	look("undone", path, 4, kept, newer)
}

// An unreadable memory is kept under another name with its log, and replaced by the
// backup.
func TestRestoreOverADamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the charger is at dock 2"})
	r := backUp(t, e, Options{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	damagePage(t, path, 0)
	if err := os.WriteFile(path+"-wal", noise(3, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Restore(t.Context(), r.Path, path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Before != nil || !got.Doctor.Healthy {
		t.Errorf("the report is %+v, %+v", got, got.Doctor)
	}
	for _, suffix := range []string{"", "-wal"} {
		if _, err := os.Stat(got.Aside + suffix); err != nil {
			t.Errorf("the damaged file is not aside: %v", err)
		}
	}
}

// A node that opens the memory during a restore waits, and gets the restored one.
func TestOpeningDuringARestore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "of the backup"})
	b := backUp(t, e, Options{})
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "too late"})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	r := &restore{at: engine.Of(e).Store.Files()}
	if err := r.from(t.Context(), b.Path); err != nil {
		t.Fatal(err)
	}
	if err := r.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Open(t.Context(), path, local.Options{BusyTimeout: 50 * time.Millisecond}); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "being restored") {
		t.Errorf("opening answers %v, want unavailable", err)
	}
	other, err := sqlite3.Open(path) // another program knows SQLite's lock alone
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Exec("SELECT count(*) FROM memories"); !errors.Is(err, sqlite3.BUSY) {
		t.Errorf("another program reads: %v, want busy", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	opened := make(chan *local.Node, 1)
	go func() {
		e, err := local.Open(t.Context(), path, local.Options{BusyTimeout: time.Minute})
		if err != nil {
			t.Error(err)
		}
		opened <- e
	}()
	if err := r.swap(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.release()
	if e = <-opened; e == nil {
		return
	}
	defer e.Close()
	if s, err := e.Stats(t.Context(), nil); err != nil || s.Total != 1 {
		t.Errorf("the opened memory holds %+v, %v; want the one of the backup", s, err)
	}
}

// A backup of a file that exceeds the cache of its connection is complete.
func TestBackupLargerThanItsCache(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	e := openTest(t, local.Options{})
	items := make([]robotmem.LearnRequest, 3000)
	for i := range items {
		items[i].Insight = fmt.Sprintf("grasp %d", i)
		items[i].Context = robotmem.Object{"log": strings.Repeat(rand.Text()+" ", 100)}
	}
	if _, err := e.LearnBatch(t.Context(), &robotmem.LearnBatchRequest{Items: items, KeepDuplicates: true}); err != nil {
		t.Fatal(err)
	}
	got, err := Make(t.Context(), e, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(got.Path, got.File)); err != nil || info.Size() < 8<<20 {
		t.Fatalf("the copy has %d bytes, too few to show anything: %v", info.Size(), err)
	}
}

// A payload of an earlier backup that cannot be read is copied from the memory.
func TestBackupBesideAnUnreadableOne(t *testing.T) {
	e := openTest(t, local.Options{})
	p := savePayload(t, e, noise(1, 300_000), nil)
	first := backUp(t, e, Options{})
	name := filepath.Join(first.Path, "memory.db.payloads", p.SHA256[:2], p.SHA256)
	if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o700)); err != nil {
		t.Fatal(err)
	}
	second := backUp(t, e, Options{})
	restored(t, second.Path)
}
