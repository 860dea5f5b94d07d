package eval_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
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

// The model in the program finds memories that are in another language than the question.
func TestLanguagesAreAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("embeds 200 texts")
	}
	e, err := embedding.Open("builtin", embedding.Options{})
	if err != nil {
		t.Skip(err) // built without the model
	}
	all, err := eval.Deployments()
	if err != nil {
		t.Fatal(err)
	}
	across := all[len(all)-1]
	s, err := across.Play(t.Context(), func(now func() time.Time) (robotmem.Service, func() error, error) {
		m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{Embedder: e, Clock: now, Location: time.UTC, Durability: local.DurabilityNormal})
		if err != nil {
			return nil, nil, err
		}
		return m, m.Close, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	empty := 0
	for _, w := range s.Wrong {
		if len(w.Got) == 0 {
			empty++
		}
	}
	t.Logf("%d questions: first %.3f, among five %.3f, %d empty answers", s.Answerable, s.Hit1, s.Hit5, empty)
	if across.Name != eval.Languages || s.Answerable != 60 || s.Hit1 < 0.45 || s.Hit5 < 0.70 || empty > 6 {
		t.Errorf("%s: %d questions: first %.3f, among five %.3f, %d empty answers", across.Name, s.Answerable, s.Hit1, s.Hit5, empty)
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

// A time in a question narrows an answer to what happened then, or lifts it; it never hides the memory that
// the question is about.
func TestATimeHidesNothing(t *testing.T) {
	data, err := os.ReadFile("testdata/times.json")
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Now      time.Time
		Memories []struct {
			ID, Insight string
			At          time.Time
			Context     robotmem.Object
		}
		Questions []struct {
			Query string
			Right []string
		}
	}
	if err := json.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	m, stop, err := openAt(t)(func() time.Time { return set.Now })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	names := map[int64]string{}
	for _, fact := range set.Memories {
		res, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: fact.Insight, Context: fact.Context, ObservedAt: &fact.At})
		if err != nil {
			t.Fatal(err)
		}
		names[res.MemoryID] = fact.ID
	}

	first, plain := 0, 0
	for _, q := range set.Questions {
		res, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: q.Query, N: 100, ParseTime: new(true)})
		if err != nil {
			t.Fatal(err)
		}
		right := func(m robotmem.Memory) bool { return slices.Contains(q.Right, names[m.MemoryID]) }
		if !slices.ContainsFunc(res.Memories, right) {
			t.Errorf("%q: %d memories, none of them right; read as %v, notes %q", q.Query, len(res.Memories), res.Times, res.Notes)
		}
		if len(res.Memories) > 0 && right(res.Memories[0]) {
			first++
		}
		words, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: q.Query, ParseTime: new(false)})
		if err != nil {
			t.Fatal(err)
		}
		if len(words.Memories) > 0 && right(words.Memories[0]) {
			plain++
		}
	}
	t.Logf("%d of %d questions have the right memory first, %d without reading times", first, len(set.Questions), plain)
	if len(set.Questions) < 60 || first < plain {
		t.Errorf("reading times costs answers: %d first, %d without", first, plain)
	}
}
