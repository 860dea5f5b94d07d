package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// statesAtAnswer counts the state files that are there when the answer is
// written.
type statesAtAnswer struct {
	db     string
	states int
}

func (s *statesAtAnswer) Write(p []byte) (int, error) {
	found, err := filepath.Glob(s.db + ".import-*")
	s.states = len(found)
	return len(p), err
}

// An import that dies before it has said that it is done must not be doubled by
// the next, so its state goes only afterwards.
func TestImportForgetsItsStateOnceItHasAnswered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := &statesAtAnswer{db: filepath.Join(dir, "memory.db")}
	lines := filepath.Join(dir, "facts.jsonl")
	if err := os.WriteFile(lines, []byte("{\"insight\":\"the gripper holds\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{Stdout: out, Stderr: io.Discard, Config: config{Embedder: "none"}}
	a.Config.DB = out.db
	if err := (&importCmd{File: lines, KeepDuplicates: true}).Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if out.states != 1 {
		t.Errorf("%d state files while it answers, want 1", out.states)
	}
	if left, _ := filepath.Glob(out.db + ".import-*"); len(left) != 0 {
		t.Errorf("%v stays", left)
	}
}
