package backup

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func openTest(t *testing.T, o local.Options) *local.Node {
	t.Helper()
	n, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// noise returns a payload that cannot be compressed.
func noise(seed uint64, n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1}).Read(out) // never fails
	return out
}

func savePayload(t *testing.T, n *local.Node, data []byte, edit func(*robotmem.SavePerceptionRequest)) *robotmem.SavePerceptionResponse {
	t.Helper()
	r := &robotmem.SavePerceptionRequest{Description: "what the sensor gave", DataBase64: data}
	if edit != nil {
		edit(r)
	}
	res, err := n.SavePerception(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func learn(t *testing.T, n *local.Node, insight string) {
	t.Helper()
	if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight}); err != nil {
		t.Fatal(err)
	}
}

// smallDisk mounts a file system of the given size if the test has the permission.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := t.TempDir()
	if runtime.GOOS != "linux" || exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", folder).Run() != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("a small disk needs Linux and the right to mount")
		}
		t.Skip("a small disk needs Linux and the right to mount: run as root")
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	return folder
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
