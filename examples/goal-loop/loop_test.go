package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/local"
)

// repo makes a repository with a file, a staged change and an ignored file.
func repo(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git: apt install git")
	}

	dir := t.TempDir()
	shell(t, dir, `git init -q . && echo one > kept.txt && echo two > removed.txt && echo "*.log" > .gitignore &&
		git add . && git -c user.name=t -c user.email=t@localhost commit -qm begin &&
		echo staged > staged.txt && git add staged.txt && echo ignored > build.log && echo new > untracked.txt`)

	return dir
}

func shell(t *testing.T, dir, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}

	return strings.TrimSpace(string(out))
}

func newLoop(t *testing.T, dir, db string, out io.Writer) *loop {
	t.Helper()
	m, err := local.Open(t.Context(), db, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })

	return &loop{
		Memory: m, Goal: "the number is 7", Checks: []string{`test "$(cat kept.txt)" = 7`}, Dir: dir,
		MaxTries: 10, MaxTime: time.Minute, Stuck: 3, Out: out,
	}
}

func TestATryIsUndone(t *testing.T) {
	dir := repo(t)
	before := shell(t, dir, "git status --short; cat kept.txt removed.txt staged.txt untracked.txt build.log")

	l := newLoop(t, dir, filepath.Join(t.TempDir(), "memory.db"), t.Output())
	l.Rollback, l.MaxTries = true, 1
	l.Try = `echo 5 > kept.txt; rm removed.txt untracked.txt; mkdir sub; echo x > sub/new.txt; echo y > staged.txt; echo z > build.log`
	reached, err := l.run(t.Context())
	if reached || err != nil {
		t.Fatalf("got %v, %v", reached, err)
	}

	// What is ignored is no part of a snapshot.
	want := strings.TrimSuffix(before, "ignored") + "z"
	if got := shell(t, dir, "git status --short; cat kept.txt removed.txt staged.txt untracked.txt build.log"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub", "new.txt")); !os.IsNotExist(err) {
		t.Errorf("the file of the try is left: %v", err)
	}

	// The snapshots stay, for a person who wants the try back.
	if refs := shell(t, dir, "git for-each-ref refs/goal-loop"); strings.Count(refs, "\n") != 1 {
		t.Errorf("got %s", refs)
	}
}

func TestAnotherRunKnowsTheTries(t *testing.T) {
	dir, db := repo(t), filepath.Join(t.TempDir(), "memory.db")

	// The agent takes the first number that TRIED does not have.
	const agent = `for n in 5 6 7; do case "$TRIED" in *"number $n"*) ;; *) echo $n > kept.txt; echo "Changed: number $n"; exit;; esac; done`

	first := newLoop(t, dir, db, t.Output())
	first.Try, first.MaxTries = agent, 2
	if reached, err := first.run(t.Context()); reached || err != nil {
		t.Fatalf("got %v, %v", reached, err)
	}

	var out strings.Builder
	second := newLoop(t, dir, db, &out)
	second.Try = agent
	if reached, err := second.run(t.Context()); !reached || err != nil {
		t.Fatalf("got %v, %v:\n%s", reached, err, out.String())
	}
	if !strings.Contains(out.String(), "continued, 2 tries so far") || !strings.Contains(out.String(), "reached with try 3: number 7") {
		t.Errorf("got\n%s", out.String())
	}
}

func TestStopConditions(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*loop)
		said string
	}{
		"tries":    {func(l *loop) { l.MaxTries = 2 }, "2 tries made"},
		"progress": {func(l *loop) {}, "3 tries without progress"},
		"time":     {func(l *loop) { l.Try, l.MaxTime = "sleep 5; echo 1 > kept.txt", 300*time.Millisecond }, "is over"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			l := newLoop(t, repo(t), filepath.Join(t.TempDir(), "memory.db"), &out)
			l.Try = `echo "$TRY" > kept.txt`
			c.set(l)
			reached, err := l.run(t.Context())
			if reached || err != nil || !strings.Contains(out.String(), c.said) {
				t.Errorf("got %v, %v:\n%s", reached, err, out.String())
			}
		})
	}

	l := newLoop(t, t.TempDir(), filepath.Join(t.TempDir(), "memory.db"), t.Output())
	if _, err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("got %v", err)
	}
}
