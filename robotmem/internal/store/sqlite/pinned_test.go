package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The doctor names the program that keeps the log, so that its user can end it.
func TestHoldersNamesTheOtherProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows it")
	}
	path := filepath.Join(t.TempDir(), "m.db-shm")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if found := holders(path); len(found) != 0 {
		t.Errorf("this process: %q", found)
	}
	other := exec.Command("sleep", "60")
	other.Stdin = f
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	found := holders(path)
	if len(found) != 1 || !slices.ContainsFunc(found, func(h string) bool { return strings.HasPrefix(h, "process ") && strings.HasSuffix(h, " sleep") }) {
		t.Errorf("got %q, want the process of sleep", found)
	}
	if found := holders(path + "-of-nothing"); len(found) != 0 {
		t.Errorf("no file: %q", found)
	}
}
