package engine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestOutcomeOfALearntFact(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i, tt := range []struct {
		text            string
		context         robotmem.Object
		stated          string
		outcome, source string
		unread          string
	}{
		{"the arm lifted it", robotmem.Object{"task": map[string]any{"success": true}}, "", "success", "context", ""},
		{"the arm lifted it", robotmem.Object{"task": map[string]any{"success": 0}}, "", "failure", "context", ""},
		{"the arm lifted it", robotmem.Object{"success": "1"}, "", "success", "context", ""},
		{"the arm lifted it", robotmem.Object{"task": map[string]any{"success": 0.5}}, "", "partial", "context", ""},
		{"the arm lifted it", robotmem.Object{"status": "Slipped"}, "", "failure", "context", ""},
		{"the arm lifted it", robotmem.Object{"result": "failed: lost at 3 s"}, "", "failure", "context", ""},
		{"the arm lifted it", robotmem.Object{"result": "成功"}, "", "success", "context", ""},
		{"the arm lifted it", robotmem.Object{"task": map[string]any{"outcome": "OK "}}, "", "success", "context", ""},
		{"the arm lifted it", robotmem.Object{"status": "charging"}, "", "unknown", "", `status: "charging" is not an outcome`},
		{"the arm lifted it", robotmem.Object{"result": 12.5}, "", "unknown", "", "result: 12.5 is not an outcome"},
		{"the arm lifted it", nil, "", "unknown", "", ""},
		{"it slipped at 9 N", nil, "", "failure", "text", ""},
		{"it did not slip at 12.5 N", nil, "", "success", "text", ""},
		{"9 N slipped, 12.5 N held", nil, "", "unknown", "", ""},
		{"抓取失败，杯子滑落", nil, "", "failure", "text", ""},
		{"12 N 抓取成功，没有滑落", nil, "", "success", "text", ""},
		{"抓取未成功", nil, "", "failure", "text", ""},
		{"it slipped at 9 N", robotmem.Object{"success": true}, "", "success", "context", ""},
		{"it slipped at 9 N", nil, "partial", "partial", "caller", ""},
		{"it slipped at 9 N", nil, "unknown", "unknown", "caller", ""},
		{"the arm lifted it", robotmem.Object{"status": "idle"}, "success", "success", "caller", ""},
	} {
		context := robotmem.Object{"i": i}
		for k, v := range tt.context {
			context[k] = v
		}
		res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: tt.text, Context: context, Outcome: tt.stated})
		if err != nil {
			t.Errorf("%s %v: %v", tt.text, tt.context, err)
			continue
		}
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID})
		if err != nil || m.Outcome != tt.outcome || m.OutcomeSource != tt.source || res.AutoInferred.Outcome != tt.outcome {
			t.Errorf("%s %v: got %s from %q (%v), want %s from %q", tt.text, tt.context, m.Outcome, m.OutcomeSource, err, tt.outcome, tt.source)
		}
		if got := strings.Join(res.Interpreted, "; "); got != tt.unread {
			t.Errorf("%s %v: remark %q, want %q", tt.text, tt.context, got, tt.unread)
		}
		if m.Context["i"] == nil || len(m.Context) != len(context) {
			t.Errorf("the context has changed: %v", m.Context)
		}
	}
	for _, r := range []robotmem.LearnRequest{
		{Insight: "a", Context: robotmem.Object{"success": true}, Outcome: "failure"},
		{Insight: "b", Context: robotmem.Object{"success": true, "result": "failed"}},
		{Insight: "c", Outcome: "great"},
	} {
		if _, err := e.Learn(t.Context(), &r); !errors.Is(err, robotmem.Invalid) {
			t.Errorf("%+v: %v, want it refused", r, err)
		}
	}
}

func TestFiltersByOutcome(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnWith(t, e, "grasp one", robotmem.Object{"task": map[string]any{"success": true}})
	learnWith(t, e, "grasp two", robotmem.Object{"result": "failed"})
	learnWith(t, e, "grasp three slipped", nil)
	learnWith(t, e, "grasp four", nil)
	for _, tt := range []struct {
		filter robotmem.Object
		want   []int64
	}{
		{robotmem.Object{"outcome": "failure"}, []int64{2, 3}},
		{robotmem.Object{"outcome": map[string]any{"$in": []any{"success", "unknown"}}}, []int64{1, 4}},
		{robotmem.Object{"outcome": map[string]any{"$exists": true}}, []int64{1, 2, 3}},
		{robotmem.Object{"outcome": map[string]any{"$ne": "failure"}}, []int64{1, 4}},
		{robotmem.Object{"task.success": false}, []int64{2, 3}},
		{robotmem.Object{"success": true}, []int64{1}},
		{robotmem.Object{"task.success": map[string]any{"$exists": true}}, []int64{1}},
		{robotmem.Object{"tier": "new"}, []int64{1, 2, 3, 4}},
	} {
		_, ids := recalled(t, e, &robotmem.RecallRequest{Query: "grasp", N: 10, ContextFilter: tt.filter})
		slices.Sort(ids)
		if !slices.Equal(ids, tt.want) {
			t.Errorf("%v: got %v, want %v", tt.filter, ids, tt.want)
		}
	}
}

func TestRecordOfUses(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for _, text := range []string{"12 N holds it", "9 N holds it", "the lid is blue", "the cup is red"} {
		learnWith(t, e, text, nil)
	}
	episode := func(r robotmem.EndSessionRequest, ask bool) {
		t.Helper()
		s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if ask {
			recalled(t, e, &robotmem.RecallRequest{Query: "cup", ForSession: s.SessionID})
		}
		learnt, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "one try", SessionID: s.SessionID, Context: robotmem.Object{"s": s.SessionID}})
		if err != nil {
			t.Fatal(err)
		}
		r.SessionID = s.SessionID
		if _, err := e.EndSession(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: learnt.MemoryID})
		if err != nil || m.Outcome != "unknown" || m.EpisodeOutcome != r.Outcome {
			t.Errorf("the try has the outcome %s in an episode of %q (%v), want unknown in one of %q", m.Outcome, m.EpisodeOutcome, err, r.Outcome)
		}
	}
	for range 5 {
		episode(robotmem.EndSessionRequest{Outcome: "success", UsedMemoryIDs: []int64{1}}, false)
	}
	episode(robotmem.EndSessionRequest{Outcome: "failure", UsedMemoryIDs: []int64{1}}, false)
	for range 4 {
		episode(robotmem.EndSessionRequest{MemoryScores: robotmem.Object{"2": "misled", "3": "unused"}}, false)
	}
	episode(robotmem.EndSessionRequest{Outcome: "success"}, true) // no word on what was used
	for _, tt := range []struct {
		id           int64
		record, tier string
		reliability  float64
	}{
		{1, "used 6 times, 5 succeeded", "proven", 0.436},
		{2, "used 4 times, 0 succeeded", "suspect", 0},
		{3, "", "new", 0},
		{4, "", "new", 0},
	} {
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: tt.id})
		if err != nil || m.Record != tt.record || m.Tier != tt.tier || m.Reliability != nil && math.Abs(*m.Reliability-tt.reliability) > 0.001 {
			t.Errorf("memory %d: %q %s %v (%v), want %+v", tt.id, m.Record, m.Tier, m.Reliability, err, tt)
		}
	}
	if row, _ := e.index.Columns.Row(4); math.Abs(e.index.Columns.Records.Values[row.Used].Uses-0.1) > 1e-9 {
		t.Errorf("what was returned has the record %+v, want a share of 0.1", e.index.Columns.Records.Values[row.Used])
	}
	if _, ids := recalled(t, e, &robotmem.RecallRequest{Query: "holds", ContextFilter: robotmem.Object{"tier": "suspect"}}); !slices.Equal(ids, []int64{2}) {
		t.Errorf("suspect: %v", ids)
	}
	for _, r := range []robotmem.EndSessionRequest{
		{Outcome: "success", OutcomeScore: new(0.1)},
		{MemoryScores: robotmem.Object{"x": "helped"}},
		{MemoryScores: robotmem.Object{"1": "great"}},
	} {
		s, _ := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
		r.SessionID = s.SessionID
		if _, err := e.EndSession(t.Context(), &r); !errors.Is(err, robotmem.Invalid) {
			t.Errorf("%+v: %v, want it refused", r, err)
		}
	}
	inStep(t, e)
}

func learnWith(t *testing.T, e *Engine, text string, context robotmem.Object) {
	t.Helper()
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Context: context}); err != nil {
		t.Fatal(err)
	}
}
