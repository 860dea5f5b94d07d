package robotmem_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// crashedFiles copies a memory of ten facts with its log, as they lie on the disk
// while it is open, and returns where each commit ends in the log.
func crashedFiles(t *testing.T) (db, log []byte, commits []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	e := open(t, robotmem.Options{Path: path})
	for i := range 10 {
		learn(t, e, fmt.Sprintf("the crate at dock %d weighs %d kg", i, 10+i), nil)
	}
	db, err := os.ReadFile(path)
	log, lerr := os.ReadFile(path + "-wal")
	if err := errors.Join(err, lerr); err != nil {
		t.Fatal(err)
	}
	const frame = 24 + 4096
	for at := 32; at+frame <= len(log); at += frame {
		if binary.BigEndian.Uint32(log[at+4:]) != 0 {
			commits = append(commits, at+frame)
		}
	}
	return db, log[:commits[len(commits)-1]], commits
}

// reopen lays a file and its log into a new folder and opens it.
func reopen(t *testing.T, db, log []byte) (*robotmem.Engine, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := errors.Join(os.WriteFile(path, db, 0o600), os.WriteFile(path+"-wal", log, 0o600)); err != nil {
		t.Fatal(err)
	}
	return open(t, robotmem.Options{Path: path}), path
}

func copies(t *testing.T, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + "-wal.damaged-*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestADamagedLogIsKeptAndTold(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	db, log, commits := crashedFiles(t)
	n := len(commits)
	last, middle := commits[n-2], commits[n-5]
	for _, tt := range []struct {
		name string
		at   int
		bit  byte
		lost string
	}{
		{"the header's magic", 3, 1, fmt.Sprint(n)},
		{"the header's salt", 17, 4, fmt.Sprint(n)},
		{"the header's sum", 30, 1, fmt.Sprint(n)},
		{"a page", middle + 24 + 100, 16, "4"},
		{"a frame's page number", middle + 3, 1, "4"},
		{"a frame's salt", middle + 9, 1, "4"},
		{"a frame's sum", middle + 20, 128, "4"},
		{"a page of the last commit", last + 24 + 4000, 1, "1"},
		{"the top bit of a word of the last commit", last + 24 + 403, 128, "1"},
		{"the sum of the last commit", last + 17, 1, "1"},
		{"the salt of the last commit", last + 12, 1, "1"},
		{"the mark of the last commit", commits[n-1] - 24 - 4096 + 7, 1, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			damaged := append([]byte(nil), log...)
			damaged[tt.at] ^= tt.bit
			e, path := reopen(t, db, damaged)
			kept := copies(t, path)
			if len(kept) != 1 {
				t.Fatalf("%d copies are kept, want 1", len(kept))
			}
			if got, _ := os.ReadFile(kept[0]); string(got) != string(damaged) {
				t.Error("the copy is not the log")
			}
			if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the copy: %v, %v; want mode 0600", info.Mode(), err)
			}
			c := check(t, e, "log")
			if want := "1 damaged logs were met at an opening and copied aside; up to " + tt.lost + " commits that were acknowledged are lost"; c.Status != "fail" || c.Detail != want || c.Remedy == "" {
				t.Errorf("got %+v, want fail: %s", c, want)
			}
			if err := os.Remove(kept[0]); err != nil {
				t.Fatal(err)
			}
			if d, err := e.Doctor(t.Context(), nil); err != nil || !d.Healthy {
				t.Errorf("without the copy: %+v, %v", d, err)
			}
		})
	}
}

// A loss of power may tear the transaction that was under way, and the log may
// go on into an older one.
func TestATornLogIsNoDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	db, log, commits := crashedFiles(t)
	n := len(commits)
	last := commits[n-2]
	quiet := func(t *testing.T, log []byte, most, least int) {
		t.Helper()
		unopened := filepath.Join(t.TempDir(), "memory.db")
		if err := errors.Join(os.WriteFile(unopened, db, 0o600), os.WriteFile(unopened+"-wal", log, 0o600)); err != nil {
			t.Fatal(err)
		}
		if damage, err := robotmem.LogDamage(unopened); damage != "" || err != nil {
			t.Errorf("a repair would recover the file: %q, %v", damage, err)
		}
		e, path := reopen(t, db, log)
		if kept := copies(t, path); len(kept) > 0 {
			t.Errorf("damage was seen: %v", kept)
		}
		l, err := e.List(t.Context(), &robotmem.ListRequest{})
		if err != nil || len(l.Memories) > most || len(l.Memories) < least {
			t.Errorf("%d memories, %v; want %d to %d", len(l.Memories), err, least, most)
		}
	}
	for at := last; at < len(log); at += 3 * 512 {
		t.Run(fmt.Sprint("cut at ", at-last), func(t *testing.T) { quiet(t, log[:at], 9, 9) })
		t.Run(fmt.Sprint("a sector lost at ", at-last), func(t *testing.T) {
			torn := append([]byte(nil), log...)
			clear(torn[at:min(at+512, len(torn))])
			quiet(t, torn, 10, 9) // what was lost may have been empty
		})
	}
	t.Run("a mark of a commit that was torn", func(t *testing.T) {
		for _, mark := range []uint32{1, 3_000_000_000} {
			torn := append([]byte(nil), log...)
			binary.BigEndian.PutUint32(torn[last:], 2_000_000_000)
			binary.BigEndian.PutUint32(torn[last+4:], mark)
			quiet(t, torn, 9, 9)
		}
	})
	t.Run("frames of an older log", func(t *testing.T) {
		old := append([]byte(nil), log...)
		for at := last; at < len(old); at += 24 + 4096 {
			binary.BigEndian.PutUint64(old[at+8:], 12345)
		}
		quiet(t, append(old, old[last:]...), 9, 9)
	})
	t.Run("a header that is empty", func(t *testing.T) {
		old := append([]byte(nil), log[:32+24+4096]...)
		clear(old)
		e, path := reopen(t, db, old)
		if kept := copies(t, path); len(kept) > 0 {
			t.Errorf("damage was seen: %v", kept)
		}
		learn(t, e, "goes on", nil)
	})
	t.Run("no log", func(t *testing.T) {
		_, path := reopen(t, db, nil)
		if _, err := os.Stat(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}
