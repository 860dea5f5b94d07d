package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/mounts"
)

// A backup to a disk that is not mounted would fill the disk of the system and be lost with it.
func TestUnmountedDisksAreNoticed(t *testing.T) {
	root := t.TempDir()
	mnt, media := filepath.Join(root, "mnt"), filepath.Join(root, "media")
	for _, dir := range []string{"mnt/empty", "mnt/filled/backups", "media/empty", "media/ada/disk/x", "media/ada/gone"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"mnt/usb/arm-7":      "mnt/usb",
		"mnt/usb":            "mnt/usb",
		"mnt/empty/arm-7":    "mnt/empty",
		"mnt/filled/arm-7":   "",
		"mnt/filled/a/b":     "",
		"media/usb/arm-7":    "media/usb",
		"media/ada/usb/arm":  "media/ada/usb",
		"media/ada/gone/arm": "media/ada/gone",
		"media/ada/disk/arm": "",
		"home/x":             "",
		"mnts/usb":           "",
	} {
		got := mounts.Unmounted(filepath.Join(root, dir), []string{mnt, media})
		if want != "" {
			want = filepath.Join(root, want)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}

	if exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", filepath.Join(mnt, "empty")).Run() != nil {
		t.Log("what is mounted is tested as root only")
		return
	}
	defer func() { _ = exec.Command("umount", "-l", filepath.Join(mnt, "empty")).Run() }()
	if got := mounts.Unmounted(filepath.Join(mnt, "empty", "arm-7"), []string{mnt}); got != "" {
		t.Errorf("an empty disk that is mounted: %q", got)
	}
}

func TestABackupToADiskThatIsNotMounted(t *testing.T) {
	t.Setenv("ROBOTMEM_HOME", t.TempDir())
	t.Setenv("ROBOTMEM_EMBEDDER", "none")
	before := mounts.Folders
	mounts.Folders = []string{t.TempDir()}
	defer func() { mounts.Folders = before }()
	to := filepath.Join(mounts.Folders[0], "usb", "arm-7")
	runArgs(t, "learn", "x")
	code, _, errs := runArgs(t, "backup", to)
	if code != 3 || exists(to) || !contains(errs, "nothing is mounted at "+filepath.Dir(to), "--create-folder") {
		t.Errorf("%d: %s", code, errs)
	}
	if code, _, errs := runArgs(t, "backup", to, "--create-folder"); code != 0 || !exists(to) {
		t.Errorf("with the flag %d: %s", code, errs)
	}
	// Now it is a folder that somebody has filled.
	if code, _, errs := runArgs(t, "backup", to); code != 0 {
		t.Errorf("again %d: %s", code, errs)
	}
}
