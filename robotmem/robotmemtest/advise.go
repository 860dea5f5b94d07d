package robotmemtest

import (
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

var adviseCases = []testCase{
	{"WhatWorkedWithSupport", func(t *testing.T, s robotmem.Service) {
		for i := range 10 {
			learn(t, s, fmt.Sprintf("pick wet glass, attempt %d", i), object{"params": object{"f": []string{"0.0125 kN", "9 N", "12.5 N"}[i%3]}, "task": object{"success": i%3 != 1}})
		}
		learn(t, s, "dock at the charger", object{"params": object{"f": 80}, "task": object{"success": true}})
		res := do(t, s.Advise, &robotmem.AdviseRequest{Query: "pick wet glass"})
		if g := res.Suggestion; g == nil || g.Parameters["params.f"] != "12.5 N" || !g.Tried || res.Attempts != 10 || res.Evidence != "good" {
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
		if few := do(t, s.Advise, &robotmem.AdviseRequest{Query: "charger"}); few.Suggestion != nil || few.Evidence != "none" {
			t.Errorf("from one attempt: got %+v", few)
		}
		equal(t, "groups", do(t, s.Aggregate, &robotmem.AggregateRequest{GroupBy: []string{"params.f"}, Limit: 1}).Groups[0].Successes, 7)
		refused(t, s.Aggregate, &robotmem.AggregateRequest{GroupBy: []string{"confidence"}}, robotmem.Invalid, "group_by", "day")
	}},
}
