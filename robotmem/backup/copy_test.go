package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
)

func TestCopyWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := disk.CopyWhole(t.Context(), path, path+".copy"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path + ".copy"); string(data) != "whole" || err != nil {
		t.Errorf("the copy is %q, %v", data, err)
	}
	if err := disk.CopyWhole(t.Context(), path, path+".copy"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := disk.CopyWhole(ended, path, path+".other"); err == nil {
		t.Error("a copy was made after the end")
	}
	if names, err := filepath.Glob(path + ".other*"); len(names) > 0 || err != nil {
		t.Errorf("half a copy lies there: %v, %v", names, err)
	}
}
