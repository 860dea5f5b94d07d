package perception_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception"
)

func newFiles(t *testing.T) perception.Files {
	t.Helper()
	return perception.Files{Dir: filepath.Join(t.TempDir(), "memory.db.payloads")}
}

func put(t *testing.T, f perception.Files, data string) (sum [32]byte, path string) {
	t.Helper()
	sum = sha256.Sum256([]byte(data))
	if err := f.Put(sum, []byte(data)); err != nil {
		t.Fatal(err)
	}
	name := hex.EncodeToString(sum[:])
	return sum, filepath.Join(f.Dir, name[:2], name)
}

func TestFilesKeepPayloads(t *testing.T) {
	f := newFiles(t)
	for _, data := range []string{"", "a", string(make([]byte, 1<<20))} {
		sum, path := put(t, f, data)
		got, err := f.Get(sum)
		if err != nil || string(got) != data {
			t.Errorf("got %d bytes, %v, want %d", len(got), err, len(data))
		}
		if runtime.GOOS == "windows" {
			continue
		}
		for path, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700, f.Dir: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: got %v, %v, want %v", path, info.Mode().Perm(), err, want)
			}
		}
	}
}

func TestFilesNoticeWhatIsWrong(t *testing.T) {
	f := newFiles(t)
	if _, err := f.Get(sha256.Sum256(nil)); !errors.Is(err, perception.ErrMissing) {
		t.Errorf("an empty folder: got %v, want ErrMissing", err)
	}
	sum, path := put(t, f, "force")
	write(t, path, "farce")
	if _, err := f.Get(sum); !errors.Is(err, perception.ErrDamaged) {
		t.Errorf("a changed byte: got %v, want ErrDamaged", err)
	}
	write(t, path, "for")
	if _, err := f.Get(sum); !errors.Is(err, perception.ErrDamaged) {
		t.Errorf("a short file: got %v, want ErrDamaged", err)
	}
	put(t, f, "force")
	if got, err := f.Get(sum); err != nil || string(got) != "force" {
		t.Errorf("after another Put: got %q, %v", got, err)
	}
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPutKeepsAnExistingFile(t *testing.T) {
	f := newFiles(t)
	_, path := put(t, f, "force")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, f, "force")
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written again (%v)", err)
	}
}

func TestPutLeavesNothingBehindWhenItFails(t *testing.T) {
	f := newFiles(t)
	data := []byte("force")
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	// A folder in the place of the payload makes the rename fail.
	if err := os.MkdirAll(filepath.Join(f.Dir, name[:2], name, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Put(sum, data); err == nil {
		t.Fatal("got no error")
	}
	_, stray, err := f.List()
	if diff := cmp.Diff(stray, []string{name[:2] + "/" + name}); diff != "" || err != nil {
		t.Errorf("%v; stray -got +want:\n%s", err, diff)
	}
}

func TestRemove(t *testing.T) {
	f := newFiles(t)
	sum, _ := put(t, f, "force")
	for range 2 {
		if err := f.Remove(sum); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Get(sum); !errors.Is(err, perception.ErrMissing) {
		t.Errorf("got %v, want ErrMissing", err)
	}
}

func TestList(t *testing.T) {
	f := newFiles(t)
	if sums, stray, err := f.List(); len(sums)+len(stray) != 0 || err != nil {
		t.Errorf("no folder: got %d, %d, %v", len(sums), len(stray), err)
	}
	var want [][32]byte
	for _, data := range []string{"a", "b", "c"} {
		sum, _ := put(t, f, data)
		want = append(want, sum)
	}
	slices.SortFunc(want, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	name := hex.EncodeToString(want[0][:])
	if err := os.Mkdir(filepath.Join(f.Dir, "zz"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, stray := range []string{"note", "zz/" + name, name[:2] + "/tmp-1", name[:2] + "/" + name + "00"} {
		write(t, filepath.Join(f.Dir, filepath.FromSlash(stray)), "x")
	}
	sums, stray, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sums, want); diff != "" {
		t.Errorf("sums -got +want:\n%s", diff)
	}
	wantStray := []string{name[:2] + "/" + name + "00", name[:2] + "/tmp-1", "note", "zz/" + name}
	slices.Sort(stray)
	if diff := cmp.Diff(stray, wantStray); diff != "" {
		t.Errorf("stray -got +want:\n%s", diff)
	}
}

// A file in the place is replaced, never written to: a reader that has it open
// keeps what it had.
func TestPutReplacesAShortFile(t *testing.T) {
	f := newFiles(t)
	_, path := put(t, f, "force")
	write(t, path, "for")
	short, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, f, "force")
	whole, err := os.Stat(path)
	if err != nil || os.SameFile(short, whole) {
		t.Errorf("the short file was written to (%v)", err)
	}
}

// A reader beside many writers of one payload sees all of it or none.
func TestPutIsNeverHalfVisible(t *testing.T) {
	f := newFiles(t)
	data := bytes.Repeat([]byte("force "), 1<<16)
	sum := sha256.Sum256(data)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			if err := f.Put(sum, data); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if _, err := f.Get(sum); err != nil && !errors.Is(err, perception.ErrMissing) {
			t.Fatal(err)
		}
	}
	if sums, stray, err := f.List(); len(sums) != 1 || len(stray) != 0 || err != nil {
		t.Errorf("got %d payloads, stray %v, %v", len(sums), stray, err)
	}
}
