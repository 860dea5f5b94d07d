package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestFilterByFarTimes(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "one"}); err != nil {
		t.Fatal(err)
	}
	for _, f := range []robotmem.Object{{"observed_at": map[string]any{"$lt": "9999-12-31T23:59:59Z"}}, {"observed_at": map[string]any{"$gt": "1000-01-01T00:00:00Z"}}, {"observed_at": map[string]any{"$gte": "0001-01-01T00:00:00Z"}}} {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{ContextFilter: f})
		if err != nil || res.Total != 1 {
			t.Errorf("%v: %d, %v", f, res.Total, err)
		}
	}
}

func TestNullTargetIsRefused(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "at the origin", Context: robotmem.Object{"spatial": map[string]any{"position": []any{0, 0, 0}}}})
	for _, o := range robotmem.Ops() {
		if o.Name == "recall" {
			res, err := o.Call(t.Context(), e, []byte(`{"spatial_sort":{"field":"spatial.position","target":[null,null,null],"max_distance":0.1}}`))
			if err == nil {
				t.Errorf("a target of nulls (NaN in many encoders) was taken as 0,0,0: %d found", res.(*robotmem.RecallResponse).Total)
			}
		}
	}
}

func TestExistsOnADottedKey(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	ask := func() int {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{ContextFilter: robotmem.Object{"a": map[string]any{"$exists": true}}, N: 100})
		if err != nil {
			t.Fatal(err)
		}
		return res.Total
	}
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "dotted", Context: robotmem.Object{"a.b": 1}})
	few := ask()
	for i := range 100 {
		_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("other %d", i)})
	}
	if many := ask(); few != many {
		t.Errorf("same memory, same filter: %d found among few, %d among many", few, many)
	}
}

func TestRefusedPerceptionLeavesNoFile(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 3 {
		data := []byte(strings.Repeat(fmt.Sprint(i), 300<<10))
		_, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "big one", DataBase64: data, SessionID: "019a0000-0000-7000-8000-000000000000"})
		if robotmem.KindOf(err) != robotmem.NotFound {
			t.Fatal(err)
		}
		if sums, stray, err := e.Store.Payloads().List(); err != nil || len(sums)+len(stray) > 0 {
			t.Errorf("payload %d of a refused perception stays on the disk: %v %v", i, stray, err)
		}
	}
}

func TestOnlyTrueAndFalseAreOutcomes(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	s, _ := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	for i, v := range []any{true, "true", "yes", map[string]any{"grasp": true}, 0.9} {
		_, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("try %d", i), SessionID: s.SessionID, Context: robotmem.Object{"task": map[string]any{"success": v}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID})
	if err != nil || r.Summary.Failures != 0 {
		t.Errorf("%d failures of none: %s %v", r.Summary.Failures, r.Summary.Text, err)
	}
}
