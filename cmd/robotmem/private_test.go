//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the umask allows, all that a command makes is for its owner alone.
// The commands are processes of their own: a umask belongs to a whole process.
func TestEverythingIsPrivate(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	dir := filepath.Join(base, "home")
	temp := filepath.Join(base, "tmp")
	for _, d := range []string{dir, temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	links := filepath.Join(base, "bin")
	if err := os.Mkdir(links, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(links, "robotmem")); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(base, "large.txt")
	if err := os.WriteFile(large, bytes.Repeat([]byte("0.1,0.2\n"), 60_000), 0o600); err != nil {
		t.Fatal(err)
	}
	facts := filepath.Join(base, "facts.jsonl")
	if err := os.WriteFile(facts, []byte("{\"insight\":\"the gripper slips below 8 N\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"learn 'grip_force=12.5 N holds wet glass'",
		"save-perception 'a long trace' --perception-type tactile --file " + large,
		"import " + facts,
		"export --mcap " + filepath.Join(dir, "out.mcap"),
		"token create arm-7",
		"setup cursor --command " + filepath.Join(links, "robotmem"),
		"demo --dir " + filepath.Join(dir, "demo"),
		"doctor --repair",
		"forget 1 --purge --yes --reason 'asked for'",
		"bench --n 500",
	} {
		t.Run(strings.Fields(args)[0], func(t *testing.T) {
			cmd := exec.Command("sh", "-c", "umask 0; exec "+filepath.Join(links, "robotmem")+" "+args)
			cmd.Env = []string{"HOME=" + dir, "ROBOTMEM_HOME=" + filepath.Join(dir, ".robotmem"), "TMPDIR=" + temp, "ROBOTMEM_EMBEDDER=none", "ROBOTMEM_DURABILITY=normal", "GOGC=off", "GOMEMLIMIT=512MiB", "PATH=" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, root := range []string{dir, temp} {
				private(t, root)
			}
		})
	}
}

func private(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", strings.TrimPrefix(path, root), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
