package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
)

// A recovery and who is about to open the file keep each other out, as a restore
// does: SQLite opens a file before it locks it.
func TestRecoverKeepsOpenersOut(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		t.Skip("parts of files cannot be locked here")
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := Open(t.Context(), Options{Path: path})
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	leave, err := enter(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openDamaged(t.Context(), path); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("while another opens the file: %v, want unavailable", err)
	}
	leave()
	damaged, err := openDamaged(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enter(t.Context(), path, 20*time.Millisecond); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("entering during a recovery: %v, want unavailable", err)
	}
	other, err := sqlite3.Open(path) // another program knows SQLite's lock alone
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Exec("SELECT count(*) FROM memories"); !errors.Is(err, sqlite3.BUSY) {
		t.Errorf("another program reads: %v, want busy", err)
	}
	if err := errors.Join(other.Close(), damaged.close()); err != nil {
		t.Fatal(err)
	}
	if leave, err = enter(t.Context(), path, 0); err != nil {
		t.Fatal(err)
	}
	leave()
}

func TestCopyWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyWhole(t.Context(), path, path+".copy"); err != nil {
		t.Fatal(err)
	}
	if same, err := sameBytes(t.Context(), path, path+".copy"); !same || err != nil {
		t.Errorf("the copy is %t, %v", same, err)
	}
	if err := copyWhole(t.Context(), path, path+".copy"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := copyWhole(ended, path, path+".other"); err == nil {
		t.Error("a copy was made after the end")
	}
	if names, err := filepath.Glob(path + ".other*"); len(names) > 0 || err != nil {
		t.Errorf("half a copy lies there: %v, %v", names, err)
	}
}

// Who may not write is not sent to look for space.
func TestPermissionIsNotAFullDisk(t *testing.T) {
	for _, errno := range []error{syscall.EACCES, syscall.EBADF} {
		err := fmt.Errorf("%w: %w", sqlite3.IOERR, &fs.PathError{Op: "write", Path: "x", Err: errno})
		if got := classifySQLite(err); got.Kind != robotmem.Unavailable || strings.Contains(got.Detail(), "full") || !strings.Contains(got.Detail(), "who owns") {
			t.Errorf("%v is told as %s: %s", errno, got.Kind, got.Detail())
		}
	}
}
