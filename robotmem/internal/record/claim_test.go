package record_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

type fact struct {
	Insight string
	Context robotmem.Object
}

func claimOf(t *testing.T, rules *classify.Rules, f fact) *consolidate.Claim {
	t.Helper()
	rec, err := (&record.Builder{Rules: rules}).RecordFor("fact", f.Insight, f.Context)
	if err != nil {
		t.Fatal(err)
	}
	return record.ClaimOf(&rec.Memory, recall.TextLeaves(rec.Context))
}

// The pairs were written without sight of the rules. Marks must be true; a missing one costs a line.
func TestOutdated(t *testing.T) {
	file, err := os.Open("testdata/outdated.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := os.ReadFile("../../../taxonomy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := classify.Parse(data)
	if err != nil {
		t.Fatal(err)
	}

	marked, right, outdated := 0, 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var pair struct {
			ID           string
			Older, Newer fact
			Outdated     bool
		}
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			t.Fatal(err)
		}
		older, newer := claimOf(t, rules, pair.Older), claimOf(t, rules, pair.Newer)
		got := consolidate.Outdates(older, newer)
		if pair.Outdated {
			outdated++
		}
		if got {
			marked++
		}
		switch {
		case got && pair.Outdated:
			right++
		case got:
			t.Logf("%s: %q is marked as newer than %q\n%s\n%s", pair.ID, pair.Newer.Insight, pair.Older.Insight, older, newer)
		case pair.Outdated && testing.Verbose():
			t.Logf("%s: no mark: %q, then %q\n   %s\n   %s", pair.ID, pair.Older.Insight, pair.Newer.Insight, older, newer)
		}
	}
	precision, recall := float64(right)/float64(max(marked, 1)), float64(right)/float64(outdated)
	t.Logf("%d marks, %d true: precision %.3f, recall %.3f", marked, right, precision, recall)
	if precision < 0.97 || recall < 0.55 {
		t.Errorf("precision %.3f and recall %.3f, want at least 0.97 and 0.55", precision, recall)
	}
}
