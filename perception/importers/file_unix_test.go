//go:build unix

package importers_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
)

// A name that becomes a pipe between a look and the opening neither blocks nor is opened.
func TestAFileThatBecomesAPipe(t *testing.T) {
	dir := t.TempDir()
	name, pipe, file := filepath.Join(dir, "x"), filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte("x"), 0o600), os.Link(file, name)); err != nil {
		t.Fatal(err)
	}
	stop, swapped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			from := []string{pipe, file}[i%2]
			_ = os.Link(from, filepath.Join(dir, "next")) // a failure leaves the name as it is
			_ = os.Rename(filepath.Join(dir, "next"), name)
			_ = os.Remove(filepath.Join(dir, "next"))
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()

	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20_000 {
			for _, open := range []func() (*os.File, fs.FileInfo, error){
				func() (*os.File, fs.FileInfo, error) { return importers.Open(name) },
				func() (*os.File, fs.FileInfo, error) { return importers.OpenFile(root, "x") },
			} {
				f, info, err := open()
				if err != nil {
					continue
				}
				if !info.Mode().IsRegular() {
					t.Errorf("opened %v", info.Mode())
				}
				_ = f.Close()
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		// Its writer lets the blocked reader go on.
		if w, err := os.OpenFile(pipe, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			defer w.Close()
		}
		t.Error("opening waits for the writer of a pipe")
	}
	close(stop)
	<-swapped
}

func TestPipesAreRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "x")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"a pipe": pipe, "a device": "/dev/null", "a folder": t.TempDir()} {
		if _, _, err := importers.Open(path); !errors.Is(err, importers.ErrNotRegular) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// SQLite opens the files beside a database by their names.
func TestAPipeBesideADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db3")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := importers.CheckSQLite(path); err != nil {
		t.Error(err)
	}
	if err := syscall.Mkfifo(path+"-journal", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := importers.CheckSQLite(path); !errors.Is(err, importers.ErrNotRegular) {
		t.Errorf("got %v", err)
	}
}
