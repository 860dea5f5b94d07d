//go:build unix

package occupancy_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/occupancy"
)

// A pipe under the name of a map or of its picture is refused, and nobody waits for its writer.
func TestAPipeIsNoMap(t *testing.T) {
	dir := t.TempDir()
	text, pipe := filepath.Join(dir, "map.yaml"), filepath.Join(dir, "map.pgm")
	if err := os.WriteFile(text, []byte("image: map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, path := range map[string]string{"the picture": text, "the map.yaml": pipe} {
		ended := make(chan error, 1)
		go func() {
			_, err := occupancy.ReadFile(path, "")
			ended <- err
		}()
		select {
		case err := <-ended:
			if !errors.Is(err, importers.ErrNotRegular) {
				t.Errorf("%s: got %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: reading waits for the writer of a pipe", name)
		}
	}
}
