package eval

import (
	"strings"
	"testing"
)

// The figures of a bench mean something when its questions are neither trivial
// nor match everything.
func TestQuestionsMatchAboutAFifth(t *testing.T) {
	const facts, questions = 3000, 100
	f := NewFacts()
	rows := make([]map[string]bool, facts)
	words := map[string]bool{}
	rare := 0
	for i := range rows {
		fact := f.Fact(i)
		rows[i] = map[string]bool{}
		for _, w := range strings.Fields(strings.ReplaceAll(fact.Insight, ",", "")) {
			rows[i][w] = true
			words[w] = true
		}
		if fact.Context["task"].(map[string]any)["trial"] == "rare" {
			rare++
		}
	}
	matches := 0
	for range questions {
		query := strings.Fields(f.Query())
		if len(query) < 3 || len(query) > 6 {
			t.Fatalf("a question of %d words", len(query))
		}
		for _, row := range rows {
			for _, w := range query {
				if row[w] {
					matches++
					break
				}
			}
		}
	}
	if share := float64(matches) / facts / questions; share < 0.1 || share > 0.4 {
		t.Errorf("a question matches %.2f of the facts, want about a fifth", share)
	}
	if len(words) < 2000 {
		t.Errorf("%d different words, want some thousand", len(words))
	}
	if rare != facts/1000 {
		t.Errorf("%d rare facts of %d, want one in a thousand", rare, facts)
	}
	if a, b := NewFacts().Fact(0), NewFacts().Fact(0); a.Insight != b.Insight {
		t.Errorf("two makers differ: %q, %q", a.Insight, b.Insight)
	}
}
