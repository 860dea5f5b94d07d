package tokens

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestOneSecretOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.db.secret")
	secrets := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() {
			var err error
			if secrets[i], err = Secret(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, s := range secrets {
		if len(s) != secretBytes || !bytes.Equal(s, secrets[0]) {
			t.Errorf("got %x and %x", s, secrets[0])
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
	// What others may have read or placed proves nothing.
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Secret(path); err == nil {
		t.Error("a secret that others can read is used")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Secret(path); err == nil {
		t.Error("a link is used")
	}
}
