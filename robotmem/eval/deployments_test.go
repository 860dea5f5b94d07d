package eval_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func openAt(t *testing.T) eval.OpenAt {
	return func(now func() time.Time) (robotmem.Service, func() error, error) {
		m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{Clock: now, Location: time.UTC, Durability: local.DurabilityNormal})
		if err != nil {
			return nil, nil, err
		}
		return m, m.Close, nil
	}
}

// What no change may go below by words alone. Each deployment was written without sight of the program.
func TestDeploymentsAreAnswered(t *testing.T) {
	all, err := eval.Deployments()
	if err != nil {
		t.Fatal(err)
	}
	var scores []*eval.DeploymentScore
	for i := range all {
		s, err := all[i].Play(t.Context(), openAt(t))
		if err != nil {
			t.Fatalf("%s: %v", all[i].Name, err)
		}
		t.Logf("%-10s %d questions: first %.3f, among five %.3f, wrong twin first %.3f, unknown unsaid %.2f", s.Deployment, s.Answerable, s.Hit1, s.Hit5, s.TwinFirst, s.Unsaid)
		if !slices.Contains(eval.Untouched, s.Deployment) {
			scores = append(scores, s)
		}
	}
	mean := eval.Mean("mean", scores)
	if mean.Answerable < 350 || mean.Hit1 < 0.42 || mean.Hit5 < 0.70 || mean.TwinFirst > 0.17 || mean.Unsaid > 0.15 {
		t.Errorf("%d questions: first %.3f, among five %.3f, wrong twin first %.3f, unknown unsaid %.2f", mean.Answerable, mean.Hit1, mean.Hit5, mean.TwinFirst, mean.Unsaid)
	}
}

// A line may lose its middle, but not how it ended.
func TestLinesKeepTheirEnd(t *testing.T) {
	all, err := eval.Deployments()
	if err != nil {
		t.Fatal(err)
	}
	lines, cut := 0, 0
	for _, d := range all {
		for _, s := range d.Sessions {
			for i, fact := range s.Memories {
				m := robotmem.Memory{MemoryID: int64(1000 + i), Type: "fact", Content: fact.Insight, Context: fact.Context, Outcome: robotmem.OutcomeSuccess, ObservedAt: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)}
				line := recall.Lines([]robotmem.Memory{m}, time.Time{})[0].Line
				lines++
				runes := []rune(recall.OneLine(fact.Insight))
				if end := string(runes[max(0, len(runes)-25):]); !strings.HasSuffix(line, end) {
					cut++
					t.Errorf("%q ends %q", line, end)
				}
			}
		}
	}
	if lines < 500 {
		t.Errorf("%d lines, want at least 500", lines)
	}
	t.Logf("%d of %d lines cut at their end", cut, lines)
}
