//go:build tokens

package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// tokens returns the larger of the counts of two common tokenizers.
func tokens(t *testing.T, v any) int {
	t.Helper()
	text, ok := v.(string)
	if !ok {
		data, err := encode(v)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	most := 0
	for _, c := range []*codec.Codec{codec.NewCl100kBase(), codec.NewO200kBase()} {
		n, err := c.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	return most
}

// maxToolTokens is what the list of tools may cost every conversation.
const maxToolTokens = 4500

func TestToolsFitTheirTokens(t *testing.T) {
	c := connect(t, NewServer(&fake{}, Options{}))
	res, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	for _, tool := range res.Tools {
		sizes[tool.Name] = tokens(t, tool)
	}
	if got := tokens(t, res.Tools); got > maxToolTokens {
		t.Errorf("%d tokens, want at most %d: %v", got, maxToolTokens, sizes)
	}
}

// livedIn is a node with memories that try the limits of compact answers.
func livedIn(t *testing.T) (*local.Node, *client.Client) {
	t.Helper()
	e := engine(t, local.Options{})
	robot := map[string]any{"id": "arm7"}
	for i := range 12 {
		learn(t, e, &robotmem.LearnRequest{Insight: fmt.Sprintf("grasp of the wet glass at the sink, trial number %d", i%5), Context: robotmem.Object{
			"params":  map[string]any{"grip_force": map[string]any{"value": 9 + float64(i)/2, "unit": "N"}, "approach_speed": 0.05, "wrist_angle_deg": 30 + i, "note": strings.Repeat("long note ", 40)},
			"spatial": map[string]any{"object_position": []any{1.2345678 + float64(i), 0.5, 0.8123456}, "map_id": "kitchen"},
			"robot":   robot, "task": map[string]any{"name": "hold a wet glass", "success": i >= 6},
		}})
	}
	long := strings.Repeat("The gripper reported a force above its limit while the glass turned in the fingers. ", 60)
	learn(t, e, &robotmem.LearnRequest{Insight: long + "It was dry.", Context: robotmem.Object{"task": map[string]any{"success": false}}})
	learn(t, e, &robotmem.LearnRequest{Insight: long + "It was wet.", Context: robotmem.Object{"task": map[string]any{"success": false}}})
	learn(t, e, &robotmem.LearnRequest{Insight: strings.Repeat("抓取湿玻璃杯时夹爪力设为12.5牛顿，杯子 glass 没有滑落，九牛顿时会滑落。", 50), Context: robotmem.Object{"params": map[string]any{"夹爪力": "12.5 N", "表面": "湿"}, "task": map[string]any{"success": true}, "env": map[string]any{"房间": "厨房"}}})
	huge := map[string]any{}
	for i := range 1200 {
		huge[fmt.Sprintf("glass_parameter_%d", i)] = strings.Repeat("v", 50) + fmt.Sprint(i)
	}
	learn(t, e, &robotmem.LearnRequest{Insight: "glass with a huge context \u202e hidden \"quoted\" \\ text", Context: robotmem.Object{"params": huge, "task": map[string]any{"success": true}}})
	learn(t, e, &robotmem.LearnRequest{Insight: "the arm must never close on a glass with more than 20 N"})
	learn(t, e, &robotmem.LearnRequest{Insight: strings.Repeat("aGVsbG8gd29ybGQhIQ7Zk4x9QpLmT0vRbYw3", 40) + " glass"})
	if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: strings.Repeat("force at the wrist while the wet glass slipped ", 30), PerceptionType: "tactile", Data: trace(), MediaType: "text/csv"}); err != nil {
		t.Fatal(err)
	}
	return e, connect(t, NewServer(e, Options{}))
}

func TestAnswersFitTheirTokens(t *testing.T) {
	_, c := livedIn(t)
	recall := func(args map[string]any) (res struct {
		Memories    []json.RawMessage
		More, Total int
	}, text string) {
		t.Helper()
		args["query"], args["min_confidence"] = "wet glass", 0
		text = textOf(t, callTool(t, c, "recall", args))
		if err := json.Unmarshal([]byte(text), &res); err != nil {
			t.Fatal(err)
		}
		return res, text
	}
	for detail, limit := range map[string]int{"": 110, "compact": 110, "ids": 15} {
		args := map[string]any{"n": 100}
		if detail != "" {
			args["detail"] = detail
		}
		res, text := recall(args)
		if len(res.Memories) < 15 || strings.Contains(text, "summary") {
			t.Fatalf("%q: %d memories: %s", detail, len(res.Memories), text)
		}
		all := 0
		for _, m := range res.Memories {
			all += tokens(t, string(m))
			t.Logf("%d %s", tokens(t, string(m)), m)
			if got := tokens(t, string(m)); got > limit {
				t.Errorf("%q: %d tokens, want %d: %s", detail, got, limit, m)
			}
		}
		if mean := all / len(res.Memories); mean > 60 {
			t.Errorf("%q: %d tokens a memory, want 60 at most", detail, mean)
		}
		notTwice(t, text)
	}
	for _, detail := range []string{"ids", "compact", "full"} {
		for _, limit := range []int{100, 200, 500, 2000} {
			res, text := recall(map[string]any{"n": 20, "max_tokens": limit, "detail": detail})
			if got := tokens(t, text); got > limit || len(res.Memories) == 0 || res.Total != len(res.Memories) || res.More+res.Total < 19 {
				t.Errorf("%s: %d tokens of %d; %d memories and %d more: %.300s", detail, got, limit, len(res.Memories), res.More, text)
			}
		}
	}
	for _, context := range []map[string]any{nil, {"task": map[string]any{"name": "hold a wet glass"}, "robot": map[string]any{"id": "arm7"}, "spatial": map[string]any{"object_position": []any{7, 0.5, 0.8}}}, {"task": "玻璃杯"}} {
		text := textOf(t, callTool(t, c, "start_session", map[string]any{"context": context}))
		t.Logf("%d %s", tokens(t, text), strings.ReplaceAll(text, `\n`, "\n"))
		if got := tokens(t, text); got > 400 {
			t.Errorf("a briefing of %d tokens: %s", got, text)
		}
		notTwice(t, text)
	}
	text := textOf(t, callTool(t, c, "timeline", map[string]any{"memory_id": 4, "before": 2, "after": 2}))
	t.Logf("%d %s", tokens(t, text), text)
	notTwice(t, text)
}

// notTwice fails if a text of more than 20 bytes occurs in two values of an answer.
func notTwice(t *testing.T, answer string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	var texts []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case string:
			for line := range strings.Lines(v) {
				// The facts before the text are short and may agree.
				_, text, ok := strings.Cut(line, ": ")
				if !ok {
					text = line
				}
				if text = strings.Trim(text, "…\n "); len(text) > 20 {
					texts = append(texts, text)
				}
			}
		}
	}
	walk(v)
	for i, text := range texts {
		if slices.ContainsFunc(texts[:i], func(s string) bool { return strings.Contains(s, text) || strings.Contains(text, s) }) {
			t.Errorf("said twice: %s", text)
		}
	}
}
