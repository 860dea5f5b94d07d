package robotmemtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// noted stores a fact in an episode.
func noted(t *testing.T, s robotmem.Service, session, insight string, ctx object) int64 {
	t.Helper()
	return created(t, s, &robotmem.LearnRequest{Insight: insight, Context: robotmem.Object(ctx), SessionID: session})
}

var words = []string{"alpha", "beta", "gamma", "delta"}

const slip = "as expected, the rubber gripper slips from the wet glass cup again"

// repeated are texts that report the same as slip, and slip.
var repeated = []string{
	"the rubber gripper slips from the wet glass cup", "the rubber gripper slips from the wet glass cup once more",
	"again the rubber gripper slips from the wet glass cup, like before", slip,
}

var consolidationCases = []testCase{
	{"WhatIsReportedAgainIsMergedAndStaysReadable", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")

		var all []int64
		for _, text := range repeated {
			all = append(all, noted(t, s, session, text, nil))
		}

		other := noted(t, s, session, "battery warm after climb", nil)
		res := end(t, s, session)
		c := res.Consolidated
		if c.MergedGroups != 1 || c.SupersededCount != 3 || c.CompressionRatio <= 0 || c.CompressionRatio > 1 ||
			c.AvgSimilarity <= 0.5 || c.AvgSimilarity > 1 {
			t.Errorf("got %+v, want one group with three superseded", c)
		}

		equal(t, "left", recalled(t, s, &robotmem.RecallRequest{Query: slip, N: 10}), all[3:])

		for i, id := range all {
			m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
			if id == all[3] {
				equal(t, "the newest", m.Status, "active")
				continue
			}
			if m.Status != "superseded" || m.SupersededBy != all[3] || m.Content != repeated[i] {
				t.Errorf("memory %d: got %+v, want it superseded by %d", id, m, all[3])
			}
			if h, ok := try(t, s.History, &robotmem.MemoryRequest{MemoryID: id}); ok &&
				(len(h.Versions) != 2 || h.Versions[0].Change != "superseded") {
				t.Errorf("memory %d: history %+v", id, h.Versions)
			}
			if _, ok := try(t, s.Restore, &robotmem.MemoryRequest{MemoryID: id}); ok {
				equal(t, "restored", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Status, "active")
			}
		}

		equal(t, "what is not like them", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: other}).Status, "active")
	}},
	{"FourGripForcesStayFour", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, f := range []string{"10", "11", "12", "12.5"} {
			noted(t, s, session, fmt.Sprintf("grip_force=%s N holds wet glass", f), nil)
		}
		keeps(t, s, session, "holds wet glass", 4)
	}},
	{"NumbersOfTheContextCount", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for f := range 4 {
			noted(t, s, session, repeated[f], object{"params": object{"grip_force": 10 + f}})
		}
		keeps(t, s, session, slip, 4)
	}},
	{"PlacesCount", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for x := range 4 {
			noted(t, s, session, repeated[x], object{"spatial": object{"position": []any{x, 0, 0}}})
			noted(t, s, session, repeated[x], object{"spatial": object{"room": words[x]}})
		}
		keeps(t, s, session, slip, 8)
	}},
	{"AnyOtherContextCounts", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for i := range 4 {
			noted(t, s, session, repeated[i], object{"robot": words[i]})
		}
		keeps(t, s, session, slip, 4)
	}},
	{"AWordThatNegatesLimitsOrRelatesCounts", func(t *testing.T, s robotmem.Service) {
		for _, texts := range [][]string{
			{
				"the gripper slips", "the gripper slips when wet", "the gripper almost slips",
				"the gripper slips only on glass",
			},
			{"the robot moves the cart", "the robot is moved by the cart", "the robot moves the cart under the table"},
			{"the cup is on the table", "the cup is on the chair under the table", "the cup is on the box"},
			{"open the drawer", "open the door before the drawer", "open the red lid or the drawer"},
			{"夹爪抓杯子", "夹爪抓杯子前停止", "如果夹爪抓杯子"},
			{"水杯", "水果刀和纸杯", "水果刀和玻璃杯"},
			{"コップを掴む", "コップを掴むな", "コップを掴む前に止まる"},
			{
				"Der Greifer rutscht", "Der Greifer rutscht nicht", "Der Greifer rutscht aus",
				"Der Greifer rutscht auf Glas",
			},
			{"el robot toca la taza", "el robot nunca toca la taza", "el robot toca la taza sin guante"},
		} {
			session := start(t, s, "")
			for _, text := range texts {
				noted(t, s, session, text, object{"of": texts[0]})
			}
			res := end(t, s, session)
			equal(t, texts[0]+": superseded", res.Consolidated.SupersededCount, 0)
		}
	}},
	{"SimilarOnesAreNamedAndStay", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		left := noted(t, s, session, "approach the wet glass cup from the left side", nil)
		right := noted(t, s, session, "approach the wet glass cup from the right side", nil)
		noted(t, s, session, "the battery is warm", nil)
		res := end(t, s, session)
		equal(t, "superseded", res.Consolidated.SupersededCount, 0)
		equal(t, "similar groups", res.SimilarGroups, [][]int64{{left, right}})
		equal(t, "left", len(recalled(t, s, &robotmem.RecallRequest{Query: "left right", N: 10})), 2)
	}},
	{"OppositeOutcomesNeverMerge", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")

		for _, success := range []bool{true, false} {
			for _, text := range repeated {
				noted(t, s, session, text, object{"task": object{"success": success}})
			}
		}
		res := end(t, s, session)
		equal(t, "superseded", res.Consolidated.SupersededCount, 6)

		for _, success := range []bool{true, false} {
			equal(t, fmt.Sprint("success ", success),
				len(recalled(t, s, &robotmem.RecallRequest{Query: slip, ContextFilter: robotmem.Object{"task.success": success}})),
				1)
		}
	}},
	{"NegationNeverMerges", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, more := range []string{"", " again"} {
			noted(t, s, session, "the rubber gripper can hold the glass cup"+more, nil)
			noted(t, s, session, "the rubber gripper cannot hold the glass cup"+more, nil)
		}
		end(t, s, session)
		yes := recall(t, s, &robotmem.RecallRequest{Query: "rubber gripper wet glass", N: 10})

		texts := map[string]bool{}
		for _, m := range yes.Memories {
			texts[m.Content] = true
		}
		if len(texts) != 2 {
			t.Errorf("left are %v, want both", texts)
		}
	}},
	{"ProtectedOnesStay", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")

		for i, text := range repeated {
			// Unpin it, so that only the category protects it.
			rule := "the arm must never exceed the limit near people" + strings.Repeat(" today", i)
			created(t, s, &robotmem.LearnRequest{Insight: rule, SessionID: session, Pinned: new(false)})
			created(t, s, &robotmem.LearnRequest{Insight: text, SessionID: session, Pinned: new(true)})
			do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: text, SessionID: session})
		}
		keeps(t, s, session, "rubber gripper slips", 8)
		equal(t, "constraints", len(recalled(t, s, &robotmem.RecallRequest{Query: "exceed limit people", N: 10})), 4)
	}},
	{"FewerThanThreeStay", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, text := range repeated[2:] {
			noted(t, s, session, text, nil)
		}
		keeps(t, s, session, slip, 2)
	}},
	{"OneSessionDoesNotTouchAnother", func(t *testing.T, s robotmem.Service) {
		first, second := start(t, s, ""), start(t, s, "")
		for i, session := range []string{first, second} {
			noted(t, s, session, repeated[2+i], nil)
			noted(t, s, session, "battery warm after climb "+words[i], nil)
			noted(t, s, session, "camera cold before start "+words[i], nil)
		}
		keeps(t, s, first, slip, 2)
		keeps(t, s, second, slip, 2)
	}},
}

// keeps ends a session and checks that nothing was merged.
func keeps(t *testing.T, s robotmem.Service, session, query string, want int) {
	t.Helper()
	res := end(t, s, session)
	if c := res.Consolidated; c.MergedGroups != 0 || c.SupersededCount != 0 {
		t.Errorf("consolidated %+v, want nothing", c)
	}
	equal(t, "left", len(recalled(t, s, &robotmem.RecallRequest{Query: query, N: 100})), want)
}
