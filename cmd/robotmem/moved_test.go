//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A node whose file is moved says so over HTTP until the file is back. The commands
// that would make a file in its place are refused, and so is a restore over it. A
// restore where the file was moved away keeps the log that lies there.
func TestAMovedFileIsToldOverHTTP(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	url := startWeb(t, limited(t, "true", "web", "--addr", "127.0.0.1:0", "--db", path))
	learn := func(insight string) (int, string) {
		t.Helper()
		return ask(t, "POST", url+"/api/learn", `{"insight":"`+insight+`"}`)
	}
	want := func(code int, say string, got int, body string) {
		t.Helper()
		if got != code || !strings.Contains(body, say) {
			t.Errorf("got %d %s, want %d with %q", got, body, code, say)
		}
	}
	command := func(args ...string) string {
		t.Helper()
		out, _ := limited(t, "true", append(args, "--db", path)...).CombinedOutput() // the text says more than the code
		return string(out)
	}
	code, body := learn("the crate at dock 7 weighs 17 kg")
	want(200, "created", code, body)
	if out := command("backup"); !strings.Contains(out, "held memories: 1") {
		t.Errorf("backup: %s", out)
	}
	if err := os.Rename(path, path+".other"); err != nil {
		t.Fatal(err)
	}
	code, body = learn("learnt into nothing")
	want(503, "the memory's file was moved or deleted", code, body)
	code, body = ask(t, "GET", url+"/readyz", "")
	want(503, "the memory's file was moved or deleted", code, body)
	code, body = ask(t, "GET", url+"/healthz", "")
	want(200, "ok", code, body)
	code, body = ask(t, "POST", url+"/api/recall", `{"query":"crate"}`)
	want(200, "17 kg", code, body)
	code, body = ask(t, "GET", url+"/api/doctor", "")
	want(200, path+" was moved or deleted, open is ", code, body)
	if out := command("learn", "learnt beside the log of another"); !strings.Contains(out, "the file is missing, and yet its log lies beside it") {
		t.Errorf("learn: %s", out)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
	if err := os.Rename(path+".other", path); err != nil {
		t.Fatal(err)
	}
	code, body = ask(t, "GET", url+"/readyz", "")
	want(200, "ready", code, body)
	code, body = learn("learnt after the file was put back")
	want(200, "created", code, body)

	backups, err := filepath.Glob(filepath.Join(filepath.Dir(path), "backups", "memory-*"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("backups %q, %v", backups, err)
	}
	if out := command("backup", "restore", backups[0]); !strings.Contains(out, "a program has the memory open") {
		t.Errorf("restore over the node's file: %s", out)
	}
	if out := command("doctor", "--repair"); !strings.Contains(out, "healthy") {
		t.Errorf("repair beside the node: %s", out)
	}
	if err := os.Rename(path, path+".other"); err != nil {
		t.Fatal(err)
	}
	if out := command("backup", "restore", backups[0]); !strings.Contains(out, "doctor healthy: true") {
		t.Errorf("restore where the file was moved away: %s", out)
	}
	code, body = learn("learnt beside the restored file")
	want(503, "the memory's file was replaced", code, body)
	logs, err := filepath.Glob(path + ".before-restore-*-wal")
	if err != nil || len(logs) != 1 {
		t.Errorf("the log of the moved file is kept as %q, %v", logs, err)
	}
}
