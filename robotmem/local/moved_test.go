//go:build unix

package local_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func mustDo(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// frame is the payload of a perception, too large for the database.
func frame(seed byte) []byte {
	data := make([]byte, 300_000)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(data) // never fails
	return data
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	mustDo(t, err, os.WriteFile(to, data, 0o600))
}

// A node whose file, log or folder of payloads is no longer under its name stores
// nothing, says so, answers from what it holds, and makes no file under that name.
// Where the original comes back writing goes on, otherwise after the next opening.
func TestMovedFilesStopWriting(t *testing.T) {
	t.Parallel()
	const file, log, index, payloads = "/memory.db", "/memory.db-wal", "/memory.db-shm", "/memory.db.payloads"
	rename := func(from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { mustDo(t, os.Rename(dir+from, dir+to)) }
	}
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				mustDo(t, os.RemoveAll(dir+name))
			}
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		absent string // the name under which nothing may be made
		say    string
		mend   func(t *testing.T, dir string) // nil: only the next opening helps
		lost   bool                           // nothing is left under the name after the damage
	}{
		{"moved away", rename(file, "/other.db"), file, "the memory's file was moved or deleted", rename("/other.db", file), false},
		{"deleted", remove(file), file, "the memory's file was moved or deleted", nil, true},
		{"the file and its log are deleted", remove(file, log, index), file, "the memory's file was moved or deleted", nil, true},
		{"replaced by a copy", func(t *testing.T, dir string) {
			copyFile(t, dir+file, dir+"/copy")
			mustDo(t, os.Rename(dir+file, dir+"/other.db"), os.Rename(dir+"/copy", dir+file))
		}, "", "the memory's file was replaced", rename("/other.db", file), false},
		{"replaced by a new memory", func(t *testing.T, dir string) {
			mustDo(t, openAt(t, dir+"/fresh", local.Options{}).Close(), os.Rename(dir+file, dir+"/other.db"), os.Rename(dir+"/fresh", dir+file))
		}, "", "the memory's file was replaced", rename("/other.db", file), false},
		{"replaced by a link to it", func(t *testing.T, dir string) {
			mustDo(t, os.Rename(dir+file, dir+"/other.db"), os.Symlink(dir+"/other.db", dir+file))
		}, "", "the memory's file was replaced", rename("/other.db", file), false},
		{"the log is deleted", remove(log), log, "the log of the memory's file (-wal) was moved or deleted", nil, false},
		{"the log and its index are deleted", remove(log, index), log, "the log of the memory's file (-wal) was moved or deleted", nil, false},
		{"the log is moved away", rename(log, "/other"), log, "the log of the memory's file (-wal) was moved or deleted", rename("/other", log), false},
		{"the index of the log is deleted", remove(index), index, "the index of the file's log (-shm) was moved or deleted", nil, false},
		{"its folder is moved", func(t *testing.T, dir string) { mustDo(t, os.Rename(dir, dir+"-other")) }, file,
			"the memory's file was moved or deleted", func(t *testing.T, dir string) { mustDo(t, os.Rename(dir+"-other", dir)) }, false},
		{"the payloads are moved away", rename(payloads, "/other"), payloads, "the folder of the memory's payloads was moved or deleted", rename("/other", payloads), false},
		{"the payloads are replaced", func(t *testing.T, dir string) {
			mustDo(t, os.Rename(dir+payloads, dir+"/other"), os.Mkdir(dir+payloads, 0o700))
		}, "", "the folder of the memory's payloads was replaced", func(t *testing.T, dir string) {
			mustDo(t, os.Remove(dir+payloads), os.Rename(dir+"/other", dir+payloads))
		}, false},
		{"the payloads are deleted", remove(payloads), payloads, "the folder of the memory's payloads was moved or deleted", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "home")
			n := openAt(t, dir+file, local.Options{})
			learnDocks(t, n)
			_, err := n.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a frame of the hall", DataBase64: frame(1)})
			mustDo(t, err)
			tt.damage(t, dir)

			refused := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), tt.say) || strings.Contains(err.Error(), dir) {
					t.Errorf("%s: %v, want unavailable, saying %q and no path", what, err, tt.say)
				}
			}
			for range 3 {
				_, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "learnt into nothing"})
				refused("learn", err)
			}
			_, err = n.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a frame for nobody", DataBase64: frame(2)})
			refused("save_perception", err)
			_, err = n.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 1, Reason: "why", Purge: true})
			refused("purge", err)
			refused("readiness", n.Ready())

			var readers sync.WaitGroup // as many as the pool may have to open connections for
			for range 16 {
				readers.Go(func() {
					res, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: "crate at dock 7", N: 1})
					if err != nil || res.Total != 1 || res.Memories[0].Content != "the crate at dock 7 weighs 17 kg" {
						t.Errorf("recall: %+v, %v", res, err)
					}
				})
			}
			readers.Wait()
			d, err := n.Doctor(t.Context(), &admin.DoctorRequest{})
			if err != nil || d.Healthy {
				t.Fatalf("doctor: %+v, %v", d, err)
			}
			for _, check := range d.Checks {
				if check.Name == "writing" && (check.Status != "fail" || !strings.Contains(check.Detail, tt.say) || !strings.Contains(check.Detail, dir+file)) {
					t.Errorf("doctor says %+v", check)
				}
			}
			if _, err := os.Lstat(dir + tt.absent); tt.absent != "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s was made again: %v", tt.absent, err)
			}
			if tt.mend != nil {
				tt.mend(t, dir)
				learn(t, n, "learnt after the files were put back", nil)
				mustDo(t, n.Ready())
			}
			mustDo(t, n.Close())
			if !tt.lost {
				want := int64(dockFacts + 1)
				if tt.mend != nil {
					want++
				}
				wholeAndHealthy(t, dir+file, want)
			}
		})
	}
}

// What was deleted can be copied from the process that still has it open.
func TestDeletedFilesCanBeCopiedFromTheNode(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux names open files in /proc")
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	n := openAt(t, path, local.Options{})
	learnDocks(t, n)
	mustDo(t, os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
	d, err := n.Doctor(t.Context(), &admin.DoctorRequest{})
	mustDo(t, err)
	detail := ""
	for _, check := range d.Checks {
		if check.Name == "writing" {
			detail = check.Detail
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		found := regexp.MustCompile(regexp.QuoteMeta(path+suffix) + ` was moved or deleted, open is (/proc/\d+/fd/\d+) `).FindStringSubmatch(detail)
		if found == nil {
			t.Fatalf("%s%s is not named: %s", path, suffix, detail)
		}
		copyFile(t, found[1], path+suffix)
	}
	mustDo(t, n.Close())
	wholeAndHealthy(t, path, dockFacts)
}

// While a node has the file open without its log, another one that would make a log of
// its own beside it is refused.
func TestNoSecondLogIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	n := openAt(t, path, local.Options{})
	learnDocks(t, n)
	mustDo(t, os.Rename(path+"-wal", path+".other"))
	for _, readOnly := range []bool{false, true} {
		_, err := local.Open(t.Context(), path, local.Options{BusyTimeout: 20 * time.Millisecond, ReadOnly: readOnly})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "log") {
			t.Errorf("read-only %t: %v, want unavailable", readOnly, err)
		}
	}
	if _, err := os.Lstat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a log was made: %v", err)
	}
	mustDo(t, os.Rename(path+".other", path+"-wal"))
	other := openAt(t, path, local.Options{})
	if s, err := other.Stats(t.Context(), nil); err != nil || s.Total != dockFacts {
		t.Errorf("%+v, %v", s, err)
	}
}

// A node whose files were moved together, and a new one at their old name, do not touch
// each other's, also when the first ends.
func TestANodeEndsBesideANewFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	n := openAt(t, path, local.Options{})
	learnDocks(t, n)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		mustDo(t, os.Rename(path+suffix, path+".other"+suffix))
	}
	fresh := openAt(t, path, local.Options{})
	learnDocks(t, fresh)
	learn(t, fresh, "learnt beside the end of another", nil)
	if err := n.Ready(); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("ready: %v", err)
	}
	mustDo(t, n.Close())
	learn(t, fresh, "learnt after the end of another", nil)
	mustDo(t, fresh.Ready(), fresh.Close())
	wholeAndHealthy(t, path, dockFacts+2)
	wholeAndHealthy(t, path+".other", dockFacts)
}
