package workers_test

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A briefing shows the facts, not what a dream has drawn from them.
func TestBriefingsHaveNoPatternsAsValues(t *testing.T) {
	node := memory(t)
	episodes(t, node, 3, pouring)
	if r := dream(t, node, nil, nil); len(r.Linked) == 0 {
		t.Fatalf("%+v", r)
	}
	res, err := node.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: robotmem.Object{"task": map[string]any{"name": "pour"}}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(res.Briefing.Text, "Seen in") || strings.Contains(res.Briefing.Text, "model.facts") {
		t.Error(res.Briefing.Text)
	}
}
