package payload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
)

// childFolder names the folder that this test binary, started again as another
// process, writes its standard input to.
const childFolder = "PAYLOAD_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		_, err := payload.Folder{Dir: dir}.Write(context.Background(), os.Stdin, payload.Options{})
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts another process that writes what comes from stdin.
func child(t *testing.T, f payload.Folder, stdin io.Reader) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childFolder+"="+f.Dir)
	cmd.Stdin, cmd.Stderr = stdin, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestAKilledWriterLeavesOnlyAStray(t *testing.T) {
	f := newFolder(t)
	keep := write(t, f, []byte("force"), always)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := child(t, f, in)
	in.Close()
	data := wrench(0.0625)
	for range 3 { // some blocks, and never the end
		if _, err := out.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	stray := awaitStray(t, f)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	holds(t, f, 1, stray)
	if removed, err := f.SweepStrays(time.Now().Add(-time.Hour)); len(removed) != 0 || err != nil {
		t.Errorf("a young stray: removed %v, %v", removed, err)
	}
	removed, err := f.SweepStrays(time.Now().Add(time.Minute))
	if err != nil || len(removed) != 1 || removed[0] != stray {
		t.Errorf("removed %v, %v; want %s", removed, err, stray)
	}
	holds(t, f, 1)
	if got, err := read(f, keep); err != nil || string(got) != "force" {
		t.Errorf("the other payload: %q, %v", got, err)
	}
}

// awaitStray waits until a writer has written something aside.
func awaitStray(t *testing.T, f payload.Folder) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		_, stray, err := f.List()
		if err != nil {
			t.Fatal(err)
		}
		if len(stray) == 0 {
			continue
		}
		if info, err := os.Stat(filepath.Join(f.Dir, stray[0])); err == nil && info.Size() > 0 {
			return stray[0]
		}
	}
	t.Fatal("the writer never wrote")
	return ""
}

func TestTwoProcessesWriteTheSamePayload(t *testing.T) {
	f, data := newFolder(t), bytes.Repeat(wrench(0.0625), 3)
	var children []*exec.Cmd
	for range 3 {
		children = append(children, child(t, f, bytes.NewReader(data)))
	}
	w := write(t, f, data, payload.Options{})
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	holds(t, f, 1)
	if got, err := read(f, w); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestFullDisk(t *testing.T) {
	f := payload.Folder{Dir: filepath.Join(smallDisk(t, "4m"), "payloads")}
	keep := write(t, f, noise(1<<20), payload.Options{})
	for name, data := range map[string][]byte{"plain": noise(5 << 20), "compressed": bytes.Repeat(append(noise(1<<20), make([]byte, 1<<19)...), 5)} {
		if name == "compressed" { // begins with what compresses, and goes on with what does not
			data = append(make([]byte, 256<<10), data...)
		}
		_, err := f.Write(t.Context(), bytes.NewReader(data), payload.Options{})
		if !errors.Is(err, payload.ErrDisk) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space") {
			t.Errorf("%s: got %v, want ErrDisk and ENOSPC", name, err)
		}
		holds(t, f, 1)
	}
	if got, err := read(f, keep); err != nil || len(got) != 1<<20 {
		t.Errorf("what was there: %d bytes, %v", len(got), err)
	}
	if w := write(t, f, noise(2<<20), payload.Options{}); !w.New {
		t.Error("what fits is not written")
	}
}

// smallDisk mounts a file system of that size, where the test may.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := t.TempDir()
	if runtime.GOOS != "linux" || exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", folder).Run() != nil {
		skip(t, "a small disk needs Linux and the right to mount: run as root")
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	return folder
}

// skip says why, except where nothing may be left out.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("CI must not skip: " + why)
	}
	t.Skip(why)
}
