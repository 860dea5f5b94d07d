package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/demo"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	dir, r := demoMemory()
	t.Run("lives every recording", func(t *testing.T) { checkDemoLife(t, r) })
	t.Run("answers what a controller asks", func(t *testing.T) { checkDemoAnswers(t, r) })
	t.Run("tells it in lines of a terminal", func(t *testing.T) { checkDemoStory(t, r) })
	t.Run("keeps a file that answers", func(t *testing.T) {
		m, err := local.Open(t.Context(), r.DB, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		res, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: "torque rising", Collection: "*"})
		if err != nil || len(res.Memories) == 0 {
			t.Errorf("got %v, %v", res, err)
		}
	})
	t.Run("is fresh on every run", func(t *testing.T) {
		again, err := runDemo("--dir", dir)
		if err != nil {
			t.Fatal(err)
		}
		if again.DB == r.DB || again.Facts != r.Facts {
			t.Errorf("%s with %d facts, then %s with %d", r.DB, r.Facts, again.DB, again.Facts)
		}
	})
	if _, err := os.Stat(os.Getenv("ROBOTMEM_HOME")); !os.IsNotExist(err) {
		t.Errorf("the user's own folder was touched: %v", err)
	}
}

func checkDemoLife(t *testing.T, r *demo.Report) {
	if r.Recordings != 463 || r.Facts == 0 || r.Sessions != 20 {
		t.Errorf("lived %d recordings with %d facts in %d sessions, want 463 in 20", r.Recordings, r.Facts, r.Sessions)
	}
}

func checkDemoAnswers(t *testing.T, r *demo.Report) {
	if len(r.Questions) != 3 {
		t.Fatalf("%d questions, want 3", len(r.Questions))
	}
	for i, want := range []string{"torque rising", demo.Class, demo.Class} {
		q := r.Questions[i]
		if len(q.Lines) != demo.Hits || !strings.Contains(q.Lines[0], want) {
			t.Errorf("%s: got %q, want %d lines with %q", q.Question, q.Lines, demo.Hits, want)
		}
	}
}

func checkDemoStory(t *testing.T, r *demo.Report) {
	var out bytes.Buffer
	if err := (&app{Stdout: &out}).show(false, nil, r.Print); err != nil {
		t.Fatal(err)
	}
	story, commands, ok := strings.Cut(out.String(), "Next, on the same file:\n")
	if !ok || !strings.Contains(commands, "robotmem recall") {
		t.Errorf("no next steps in:\n%s", out.String())
	}
	for line := range strings.Lines(story) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > demo.Width && !strings.Contains(line, r.DB) {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}

func TestDemoThatIsInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&demoCmd{Dir: dir}).Run(ctx, &app{}); err == nil {
		t.Error("no error")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
