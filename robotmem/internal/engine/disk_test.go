package engine_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// On a full disk writes fail with an explanation, acknowledged memories remain, recall
// works, and writes succeed again when there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	folder := smallDisk(t, "8m")
	e := openAt(t, filepath.Join(folder, "memory.db"), local.Options{})
	for range 17 { // most of it is filled with payloads, which takes less time than texts
		data := make([]byte, 200_000)
		if _, err := rand.Read(data); err != nil {
			t.Fatal(err)
		}
		if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "noise", DataBase64: data}); err != nil {
			t.Fatal(err)
		}
	}
	var acknowledged []int64
	var refused error
	for i := range 10_000 {
		noise := make([]byte, 4000)
		if _, err := rand.Read(noise); err != nil {
			t.Fatal(err)
		}
		res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("filling %d", i), Context: robotmem.Object{"noise": fmt.Sprintf("%x", noise)}})
		if err != nil {
			refused = err
			break
		}
		acknowledged = append(acknowledged, res.MemoryID)
	}
	if !errors.Is(refused, robotmem.Unavailable) || !strings.Contains(refused.Error(), "disk") {
		t.Fatalf("the full disk answers %v, want unavailable", refused)
	}
	if len(acknowledged) < 10 {
		t.Fatalf("only %d facts fitted: the test tests nothing", len(acknowledged))
	}
	if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a large payload", DataBase64: make([]byte, 9<<20)}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("a payload on the full disk answers %v, want unavailable", err)
	}
	for _, id := range []int64{acknowledged[0], acknowledged[len(acknowledged)-1]} {
		if _, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id}); err != nil {
			t.Errorf("acknowledged memory %d: %v", id, err)
		}
	}
	if got := recall(t, e, &robotmem.RecallRequest{Query: "filling"}); got.Total != 5 {
		t.Errorf("recall on a full disk finds %d, want 5", got.Total)
	}
	run(t, "mount", "-o", "remount,size=64m", folder)
	learn(t, e, "there is space again", nil)
	d, err := e.Doctor(t.Context(), nil)
	if err != nil || !d.Healthy {
		t.Errorf("doctor after the full disk: %+v, %v", d, err)
	}
}

// SmallDisk mounts a file system of the given size if the test has the permission.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := t.TempDir()
	if runtime.GOOS != "linux" || exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", folder).Run() != nil {
		skip(t, "a small disk needs Linux and the right to mount: run as root")
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
