package workers_test

import (
	"encoding/json"
	"fmt"
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

// The page of a subject has no turns of conversations and no patterns among its current values.
func TestPagesOfSubjectsHaveNoTurns(t *testing.T) {
	node := memory(t)
	for i := range 4 {
		s, err := node.StartSession(t.Context(), &robotmem.StartSessionRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []robotmem.LearnRequest{
			{Insight: fmt.Sprintf("gripper 3 has a belt with tension %d N", 40+i), SessionID: s.SessionID},
			{Insight: fmt.Sprintf("Understood, I will note what you say of gripper 3 today, part %d", i), Context: robotmem.Object{"chat": map[string]any{"role": "assistant", "conversation": "marta", "turn": i}}},
		} {
			if _, err := node.Learn(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r := dream(t, node, nil, nil); len(r.Linked) != 1 {
		t.Fatalf("%+v", r)
	}
	page, err := node.About(t.Context(), &robotmem.AboutRequest{Subject: "gripper 3"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(page)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); strings.Contains(text, "Understood") || strings.Contains(text, "Seen in") || !strings.Contains(text, "tension 43 N") {
		t.Error(text)
	}
}
