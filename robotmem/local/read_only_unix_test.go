//go:build unix

package local_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const (
	readerEnv  = "ROBOTMEM_TEST_READER"
	refusedEnv = "ROBOTMEM_TEST_REFUSED"
)

// TestServedReadOnly opens memories as a user without permission to write them. Those with
// a log are refused.
func TestServedReadOnly(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(readerEnv); path != "" {
		e, err := local.Open(t.Context(), path, local.Options{})
		if os.Getenv(refusedEnv) != "" {
			if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "open the copy") {
				t.Errorf("opening gives %v, want unavailable with the next step", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(readsAll(e, "cannot be written"), e.Close()); err != nil {
			t.Error(err)
		}
		return
	}
	program := readerProgram(t)
	for _, tt := range []struct {
		name    string
		live    bool // another process has the memory open
		crashed bool // it had: the log is still there
		file    os.FileMode
		folder  os.FileMode
	}{
		{name: "a file", file: 0o444, folder: 0o777},
		{name: "a folder", file: 0o666, folder: 0o555},
		{name: "both", file: 0o444, folder: 0o555},
		{name: "a log is left", crashed: true, file: 0o444, folder: 0o555},
		{name: "a file with a log", crashed: true, file: 0o444, folder: 0o777},
		{name: "another process writes", live: true, file: 0o444, folder: 0o555},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "memory.db")
			e, err := local.Open(t.Context(), path, local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			for _, f := range threeFacts() {
				learn(t, e, f, nil)
			}
			switch {
			case tt.crashed:
				old := path
				path = filepath.Join(dir, "crashed.db")
				for _, suffix := range []string{"", "-wal"} {
					data, err := os.ReadFile(old + suffix)
					if err == nil {
						err = os.WriteFile(path+suffix, data, 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			case !tt.live:
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Chmod(path+suffix, tt.file) // some are not there
			}
			if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, tt.folder)); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o755)
			before := contents(t, dir)
			cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestServedReadOnly$")
			cmd.Dir = "/"
			cmd.Env = append(os.Environ(), readerEnv+"="+path)
			if tt.live || tt.crashed {
				cmd.Env = append(cmd.Env, refusedEnv+"=1")
			}
			asNobody(cmd)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			after := contents(t, dir)
			for name, data := range before {
				if after[name] != data {
					t.Errorf("%s was changed", filepath.Base(name))
				}
			}
			if len(after) != len(before) {
				t.Errorf("there were %d files, now there are %d", len(before), len(after))
			}
		})
	}
}

// readerProgram copies this program to a folder where every user may run it.
func readerProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "reader.test")
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close(), os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// asNobody runs a program without privileges.
func asNobody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// The log that a visit of root makes belongs to the owner, who can still write.
func TestAVisitorLeavesTheFileToItsOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can visit another user's file: run as root")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	e, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	learn(t, e, "the crate is at the dock", nil)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	const owner = 65533
	if err := os.Chown(path, owner, owner); err != nil {
		t.Fatal(err)
	}
	e, err = local.Open(t.Context(), path, local.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := recall(t, e, &robotmem.RecallRequest{Query: "crate"}); got.Total != 1 {
		t.Errorf("%d found, want 1", got.Total)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != owner || info.Mode().Perm() != 0o600 {
			t.Errorf("%s belongs to %d with mode %o", suffix, uid, info.Mode().Perm())
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file that is opened without the log's index fails reads after another process writes
// to it, because results from before and after would be mixed.
func TestReadAsItLiesUntilSomebodyWrites(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(readerEnv); path != "" {
		e, err := local.Open(t.Context(), path, local.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if got := recall(t, e, &robotmem.RecallRequest{Query: "crate"}); got.Total != 1 {
			t.Errorf("%d found, want 1", got.Total)
		}
		os.Stdout.WriteString("read\n")
		_, _ = io.ReadAll(os.Stdin) // until the other has written
		if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "crate"}); !errors.Is(err, robotmem.Unavailable) {
			t.Errorf("after a write it answers %v, want unavailable", err)
		}
		return
	}
	program := readerProgram(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	write := func(fact string) {
		e, err := local.Open(t.Context(), path, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		learn(t, e, fact, nil)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("the crate is at the dock")
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestReadAsItLiesUntilSomebodyWrites$")
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.Env = append(os.Environ(), readerEnv+"="+path)
	asNobody(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	write("another crate is at the gate")
	_ = in.Close()
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, rest)
	}
}
