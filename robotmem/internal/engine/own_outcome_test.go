package engine

import (
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// learnIn learns a fact in a session and returns it.
func learnIn(t *testing.T, e *Engine, session, insight string, context robotmem.Object) int64 {
	t.Helper()
	res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight, SessionID: session, Context: context})
	if err != nil {
		t.Fatalf("%s: %v", insight, err)
	}
	return res.MemoryID
}

func startIn(t *testing.T, e *Engine, context robotmem.Object) string {
	t.Helper()
	s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: context})
	if err != nil {
		t.Fatal(err)
	}
	return s.SessionID
}

func endWith(t *testing.T, e *Engine, session, outcome string) {
	t.Helper()
	if _, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session, Outcome: outcome}); err != nil {
		t.Fatal(err)
	}
}

// What a memory says of itself is its outcome; that of its episode is another field.
func TestTheOutcomeOfAnEpisodeIsNotThatOfItsMemories(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	session := startIn(t, e, nil)
	task := func(key string, v any) robotmem.Object {
		return robotmem.Object{"task": map[string]any{key: v}}
	}
	cases := []struct {
		insight string
		context robotmem.Object
		outcome string
	}{
		{"arm hit the table, e-stop pressed", robotmem.Object{"cell": "A"}, "failure"},
		{"lifted the lid", task("failed", true), "failure"},
		{"lifted the cup", task("failed", false), "success"},
		{"moved the crate", robotmem.Object{"succeeded": false}, "failure"},
		{"docking at bay 2", robotmem.Object{"error": "E-42"}, "failure"},
		{"docking at bay 3", robotmem.Object{"error": nil, "bay": 3}, "unknown"},
		{"docking at bay 4", robotmem.Object{"error_code": 0, "bay": 4}, "unknown"},
		{"docking at bay 5", robotmem.Object{"error_code": 17, "bay": 5}, "failure"},
		{"reached for the bolt", robotmem.Object{"reward": -1}, "failure"},
		{"reached for the nut", robotmem.Object{"reward": -0.02}, "unknown"},
		{"stacked the blocks", robotmem.Object{"success_rate": 0.1}, "failure"},
		{"stacked the rings", robotmem.Object{"success_rate": "95 %"}, "success"},
		{"sorted the screws", robotmem.Object{"result": "3/5"}, "partial"},
		{"sorted the washers", robotmem.Object{"result": "5 of 5"}, "success"},
		{"swept the hall", robotmem.Object{"status": "aborted by operator"}, "failure"},
		{"drove to the dock", task("status", "cancelled"), "failure"},
		{"opened the drawer", task("result", "gripper slipped off the handle"), "failure"},
		{"杯子打碎了", robotmem.Object{"cell": "B"}, "failure"},
		{"盘子没有打滑", robotmem.Object{"cell": "B"}, "success"},
		{"Greifen ist fehlgeschlagen", robotmem.Object{"cell": "C"}, "failure"},
		{"Das Andocken hat geklappt", robotmem.Object{"cell": "C"}, "success"},
		{"カップを落とした", robotmem.Object{"cell": "D"}, "failure"},
		{"battery pack #4 swells", robotmem.Object{"battery": 4}, "unknown"},
		{"never lift the vase above 20 N, it cracked", robotmem.Object{"object": "vase"}, "unknown"},
		{"the charger stands in bay 9", robotmem.Object{"bay": 9}, "unknown"},
	}
	ids := make([]int64, len(cases))
	for i, tt := range cases {
		ids[i] = learnIn(t, e, session, tt.insight, tt.context)
	}
	endWith(t, e, session, "success")

	for i, tt := range cases {
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: ids[i]})
		if err != nil || m.Outcome != tt.outcome || m.EpisodeOutcome != "success" {
			t.Errorf("%s %v: got %s (episode %q, %v), want %s in an episode of success", tt.insight, tt.context, m.Outcome, m.EpisodeOutcome, err, tt.outcome)
		}
	}
}

func TestFilterByTheOutcomeOfTheEpisode(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	good, bad, open := startIn(t, e, nil), startIn(t, e, nil), startIn(t, e, nil)
	a, b := learnIn(t, e, good, "the lid jammed once", nil), learnIn(t, e, bad, "the lid closed", nil)
	c, d := learnIn(t, e, open, "the lid is red", nil), learnIn(t, e, "", "the lid is round", nil)
	endWith(t, e, good, "success")
	endWith(t, e, bad, "failure")

	// The second round reads many memories, for which the filter has another implementation.
	for round := range 2 {
		for _, tt := range []struct {
			condition any
			want      []int64
		}{
			{"success", []int64{a}},
			{"failure", []int64{b}},
			{map[string]any{"$exists": false}, []int64{c, d}},
			{map[string]any{"$ne": "success"}, []int64{b, c, d}},
		} {
			res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "lid", N: 10, ContextFilter: robotmem.Object{"session.outcome": tt.condition}})
			if err != nil {
				t.Fatal(err)
			}
			got := make([]int64, len(res.Memories))
			for i := range res.Memories {
				got[i] = res.Memories[i].MemoryID
			}
			if slices.Sort(got); !slices.Equal(got, tt.want) {
				t.Errorf("round %d, %v: got %v, want %v", round, tt.condition, got, tt.want)
			}
		}
		for i := range 80 {
			learnIn(t, e, "", "something else happened", robotmem.Object{"i": i})
		}
	}
}

// An episode with exactly one setting of parameters is one attempt, for advise and aggregate alone.
func TestAnEpisodeWithOneSettingIsAnAttempt(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	force := func(n string) robotmem.Object {
		return robotmem.Object{"params": map[string]any{"force": n}}
	}
	type fact struct {
		insight string
		context robotmem.Object
	}
	episode := func(start robotmem.Object, outcome string, facts ...fact) {
		s := startIn(t, e, start)
		for _, f := range facts {
			learnIn(t, e, s, f.insight, f.context)
		}
		endWith(t, e, s, outcome)
	}
	// Stated in a memory, twice the same, and at the start.
	episode(nil, "success", fact{"closed the lid of box one", force("9 N")})
	episode(nil, "failure", fact{"the lid of box two is blue", force("5 N")}, fact{"closed the lid of box two", force("5 N")})
	episode(force("12 N"), "success", fact{"closed the lid of box three", robotmem.Object{"box": 3}})
	// No attempts: two settings, the opposite said, an attempt of its own.
	episode(nil, "success", fact{"closed the lid of box four", force("20 N")}, fact{"closed the lid of box five", force("21 N")})
	episode(nil, "success", fact{"closed the lid of box six", force("30 N")}, fact{"the lid of box six slipped", robotmem.Object{"box": 6}})
	own := force("40 N")
	own["task"] = map[string]any{"success": true}
	episode(nil, "success", fact{"closed the lid of box seven", own})

	res, err := e.Advise(t.Context(), &robotmem.AdviseRequest{Query: "close the lid"})
	if err != nil {
		t.Fatal(err)
	}
	if res.Attempts != 4 || res.FromEpisodes != 3 {
		t.Errorf("got %d attempts, %d from episodes, want 4 and 3: %+v", res.Attempts, res.FromEpisodes, res)
	}
	got := map[any]float64{}
	for _, p := range res.Parameters {
		for _, v := range p.Values {
			got[v.Value] = v.Rate
		}
	}
	for value, rate := range map[any]float64{9.0: 1, 5.0: 0, 12.0: 1, 40.0: 1} {
		if r, ok := got[value]; !ok || r != rate {
			t.Errorf("%v N: rate %v (%v), want %v; all: %v", value, r, ok, rate, got)
		}
	}

	groups, err := e.Aggregate(t.Context(), &robotmem.AggregateRequest{GroupBy: []string{"type"}})
	if err != nil || len(groups.Groups) != 1 || groups.Groups[0].FromEpisodes != 3 || groups.Groups[0].Successes != 3 {
		t.Errorf("aggregate: %+v, %v; want 3 attempts from episodes, 3 successes", groups, err)
	}
	found, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "lid", N: 20, ContextFilter: robotmem.Object{"outcome": "success"}})
	if err != nil || len(found.Memories) != 1 {
		t.Errorf("recall finds %d successes (%v), want the one that states it", len(found.Memories), err)
	}
}
