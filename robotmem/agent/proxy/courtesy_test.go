package proxy_test

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A polite question is answered as a short one is, and reaches the model as it was written.
func TestPoliteQuestions(t *testing.T) {
	node, u := memory(t), newUpstream(t)
	learn(t, node, &robotmem.LearnRequest{Insight: "Dock 7 is near the east wall"})
	learn(t, node, &robotmem.LearnRequest{Insight: "The gate of the hall has a green lamp"})
	learn(t, node, &robotmem.LearnRequest{Insight: "充电座9在东墙旁边"})
	// What the first recall loads may take longer than a chat waits.
	for _, query := range []string{"where is dock 7", "充电座9在哪里"} {
		if _, err := node.Recall(t.Context(), &robotmem.RecallRequest{Query: query}); err != nil {
			t.Fatal(err)
		}
	}
	at, _ := between(t, node, u, nil)

	for text, want := range map[string]string{
		"Hello there, could you please tell me where dock 7 is, thanks a lot!": "Dock 7",
		"Could you tell me where dock 7 is?":                                   "Dock 7",
		"Hi! Please remind me where dock 7 is. Thank you very much":            "Dock 7",
		"你好，请问充电座9在哪里？谢谢":                                                      "充电座9",
	} {
		post(t, at, `{"messages":[{"role":"user","content":"`+text+`"}]}`)
		if p := u.prompt(t); !strings.Contains(p, "- [#") || !strings.Contains(p[:strings.LastIndex(p, text)], want) {
			t.Errorf("%q: %s", text, p)
		}
	}
	// Words of courtesy alone ask for nothing.
	for _, text := range []string{"Hello there!", "Thanks a lot", "Hi, thank you very much."} {
		post(t, at, `{"messages":[{"role":"user","content":"`+text+`"}]}`)
		if p := u.prompt(t); p != text {
			t.Errorf("%q: %s", text, p)
		}
	}
}
