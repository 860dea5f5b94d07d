package robotmemtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

var adviseCases = []testCase{
	{"WhatWorkedWithSupport", func(t *testing.T, s robotmem.Service) {
		for i := range 10 {
			learn(t, s, fmt.Sprintf("pick wet glass, attempt %d", i),
				object{
					"params": object{"f": []string{"0.0125 kN", "9 N", "12.5 N"}[i%3]},
					"task":   object{"success": i%3 != 1},
				})
		}

		learn(t, s, "dock at the charger", object{"params": object{"f": 80}, "task": object{"success": true}})
		res := do(t, s.Advise, &robotmem.AdviseRequest{Query: "pick wet glass"})
		if g := res.Suggestion; g == nil || g.Parameters["params.f"] != "12.5 N" || !g.Tried || res.Attempts != 10 ||
			res.Evidence != "good" {
			t.Fatalf("got %+v, %+v", res, g)
		}

		values := res.Parameters[0].Values
		if len(values) != 2 || values[1].Attempts != 7 || *values[1].Successes != 7 || len(values[0].MemoryIDs) != 3 {
			t.Errorf("got %+v", values)
		}
		if len(res.Differs) != 1 || res.Differs[0].Text != "f 9 N failed 3 of 3; 12.5 N succeeded 7 of 7" {
			t.Errorf("got %+v", res.Differs)
		}

		refused(t, s.Advise, &robotmem.AdviseRequest{Goal: "params.g"}, robotmem.Invalid, "goal", "number")
		if few := do(t, s.Advise, &robotmem.AdviseRequest{Query: "charger"}); few.Suggestion != nil ||
			few.Evidence != "none" {
			t.Errorf("from one attempt: got %+v", few)
		}

		equal(t, "groups",
			do(t, s.Aggregate, &robotmem.AggregateRequest{GroupBy: []string{"params.f"}, Limit: 1}).Groups[0].Successes,
			7)
		refused(t, s.Aggregate, &robotmem.AggregateRequest{GroupBy: []string{"confidence"}}, robotmem.Invalid,
			"group_by", "day")
	}},
	{"WhatWorkedInAState", func(t *testing.T, s robotmem.Service) {
		for i := range 24 {
			worn := i%4 > 1
			learn(t, s, fmt.Sprintf("cut slice %d", i),
				object{
					"params": object{"cut_force": []string{"9 N", "12 N"}[i%2]}, "tool": object{"worn": worn},
					"task": object{"success": i%2 == 1 == worn},
				})
		}

		for _, worn := range []bool{false, true} {
			res := do(t, s.Advise,
				&robotmem.AdviseRequest{
					Query: "cut slice", Parameters: []string{"cutForce"}, Given: object{"tool.worn": worn},
				})
			want := map[bool]string{false: "9 N", true: "12 N"}[worn]
			if g := res.Suggestion; g == nil || g.Parameters["params.cut_force"] != want || res.Attempts != 12 {
				t.Errorf("worn: %v: got %+v, %+v", worn, res, g)
			}
			if c := res.Combination; c == nil || c.Parameters["params.cut_force"] != want || c.Attempts != 6 ||
				*c.Successes != 6 {
				t.Errorf("worn: %v: got %+v", worn, c)
			}
		}

		past := time.Now().Add(-time.Hour)
		equal(t, "attempts before",
			do(t, s.Advise, &robotmem.AdviseRequest{Query: "cut slice", Before: &past}).Attempts, 0)
		equal(t, "attempts after", do(t, s.Advise, &robotmem.AdviseRequest{Query: "cut slice", After: &past}).Attempts,
			24)
		refused(t, s.Advise, &robotmem.AdviseRequest{Given: object{"tool.worn": []any{1}}}, robotmem.Invalid, "given",
			"truth value")
	}},
}
