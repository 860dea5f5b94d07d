package robotmemtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const grip = "grip_force=12.5 N holds wet glass"

var learnCases = []testCase{
	{"CreatedIsReadBackWhole", func(t *testing.T, s robotmem.Service) {
		ctx := object{
			"params": object{"grip_force": 12.5}, "task": object{"success": true}, "robot": "arm-1",
			"mine": []any{nil, true, "x"},
		}
		res := do(t, s.Learn,
			&robotmem.LearnRequest{Insight: grip, Context: ctx, Collection: "lab", Source: "test", ObservedAt: at(0)})
		if res.Status != "created" || res.MemoryID < 1 || len(res.UID) != 36 || res.UID[14] != '7' {
			t.Errorf("got %+v, want it created with a UUIDv7", res)
		}
		if a := res.AutoInferred; a.Category == "" || a.Confidence < 0.8 || a.Confidence > 0.95 {
			t.Errorf("inferred %+v", a)
		}
		if len(res.Conflicts) != 0 {
			t.Errorf("conflicts %+v", res.Conflicts)
		}

		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: res.MemoryID})
		if m.Content != grip || m.UID != res.UID || m.Type != "fact" || m.Status != "active" || m.Collection != "lab" ||
			m.Source != "test" || !m.ObservedAt.Equal(day) {
			t.Errorf("got %+v", m)
		}
		if time.Since(m.CreatedAt).Abs() > time.Hour {
			t.Errorf("created at %v", m.CreatedAt)
		}

		equal(t, "context", any(object(m.Context)), asJSON(t, ctx))
		equal(t, "params", m.Params, asJSON(t, ctx["params"]))
		equal(t, "robot", m.Robot, any("arm-1"))
	}},
	{"AFactThatSupersedesAnother", func(t *testing.T, s robotmem.Service) {
		old := learn(t, s, "the dock stands at x=4.2 of hall B", nil)
		res := do(t, s.Learn, &robotmem.LearnRequest{Insight: "the dock stands at x=9.5 of hall B", Supersedes: old})
		if res.Status != "created" || res.Superseded != old || len(res.Conflicts)+len(res.Similar) != 0 {
			t.Errorf("got %+v, want it to replace memory %d", res, old)
		}
		equal(t, "recalled", recalled(t, s, &robotmem.RecallRequest{Query: "dock of hall B"}), []int64{res.MemoryID})

		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: old})
		if m.Status != "superseded" || m.SupersededBy != res.MemoryID || m.Content != "the dock stands at x=4.2 of hall B" {
			t.Errorf("the old one: %+v", m)
		}

		// What cannot be replaced is refused, and nothing is stored.
		before := do(t, s.List, &robotmem.ListRequest{Status: "all"}).Total
		for name, r := range map[string]struct {
			request robotmem.LearnRequest
			kind    robotmem.Kind
		}{
			"one that is superseded":   {robotmem.LearnRequest{Insight: "a b c", Supersedes: old}, robotmem.Conflict},
			"one that is not there":    {robotmem.LearnRequest{Insight: "a b c", Supersedes: 4711}, robotmem.NotFound},
			"one of another namespace": {robotmem.LearnRequest{Insight: "a b c", Supersedes: res.MemoryID, Collection: "lab"}, robotmem.Invalid},
		} {
			_, err := s.Learn(t.Context(), &r.request)
			if robotmem.KindOf(err) != r.kind || !strings.Contains(fmt.Sprint(err), "supersedes") {
				t.Errorf("%s: %v, want %s of supersedes", name, err, r.kind)
			}
		}
		equal(t, "memories", do(t, s.List, &robotmem.ListRequest{Status: "all"}).Total, before)

		do(t, s.Restore, &robotmem.MemoryRequest{MemoryID: old})
		if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: old}); m.Status != "active" {
			t.Errorf("restored: %+v", m)
		}
	}},
	{"SameTextAndContextIsADuplicate", func(t *testing.T, s robotmem.Service) {
		ctx := object{"params": object{"a": json.Number("12.50"), "b": "x"}}

		id := learn(t, s, grip, ctx)
		for name, r := range map[string]*robotmem.LearnRequest{
			"the same":     {Insight: grip, Context: ctx},
			"space around": {Insight: "  " + grip + "\n", Context: ctx},
			"number spelt otherwise": {
				Insight: grip, Context: object{"params": object{"b": "x", "a": json.Number("12.5")}},
			},
			"collection by name":  {Insight: grip, Context: ctx, Collection: "default"},
			"another observed_at": {Insight: grip, Context: ctx, ObservedAt: at(0)},
		} {
			res := do(t, s.Learn, r)
			if res.Status != "duplicate" || res.Method != "exact" || res.ExistingID != id || res.MemoryID != id ||
				res.Similarity != 1 {
				t.Errorf("%s: got %+v, want an exact duplicate of %d", name, res, id)
			}
		}
		if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}); m.Sightings != 6 {
			t.Errorf("%d sightings, want 6", m.Sightings)
		}
	}},
	{"RepetitionIsADuplicate", func(t *testing.T, s robotmem.Service) {
		for _, pair := range [][2]string{
			{
				"gripper slipped on wet glass cup near table edge",
				"The gripper slipped, on the wet glass cup near the table edge.",
			},
			{"the cups are on the tray", "THE CUP IS ON THE TRAY"},
			{"the arm doesn't reach the shelf", "the arm does not reach the shelf"},
			{"夹爪的力太大。", "夹爪力太大"},
			{"棚の幅は1000 mm。", "棚の幅は1 m"},
			{"Die Tür „klemmt“", "die tür   klemmt"},
		} {
			id := learn(t, s, pair[0], nil)
			res := do(t, s.Learn, &robotmem.LearnRequest{Insight: pair[1]})
			if res.Status != "duplicate" || res.Method != "sequence" || res.ExistingID != id || res.Similarity < 0.7 ||
				res.Similarity > 1 || len(res.Similar) > 0 {
				t.Errorf("%q after %q: got %+v, want a duplicate of %d", pair[1], pair[0], res, id)
			}
		}
	}},
	{"OneWordMakesANewMemory", func(t *testing.T, s robotmem.Service) {
		for _, pair := range [][2]string{
			{
				"approach the wet glass from the left side of the shelf",
				"approach the wet glass from the right side of the shelf",
			},
			{
				"increase the grip force when the cup starts to slip",
				"decrease the grip force when the cup starts to slip",
			},
			{
				"turn the valve of the pump clockwise until it stops",
				"turn the valve of the pump counterclockwise until it stops",
			},
			{
				"press the red button on the control panel of the belt",
				"press the green button on the control panel of the belt",
			},
			{
				"the heavy boxes stand on the top shelf of the rack",
				"the heavy boxes stand on the bottom shelf of the rack",
			},
			{"从左侧接近货架上的箱子并慢慢抓取", "从右侧接近货架上的箱子并慢慢抓取"},
			{"the red block is on the blue block", "the blue block is on the red block"},
			{"the cup is on the box", "the cup is in the box"},
			{"the gripper is closed", "the gripper is close"},
			{"ロボットがカートを押す", "ロボットをカートが押す"},
			{"Der Roboter schaltet die Pumpe ein", "Der Roboter schaltet die Pumpe aus"},
			{"Die Tür ist schon offen", "Die Tür ist schön offen"},
			{"the signal of the dock is 🔴", "the signal of the dock is 🟢"},
		} {
			id := learn(t, s, pair[0], nil)
			res := do(t, s.Learn, &robotmem.LearnRequest{Insight: pair[1]})
			if res.Status != "created" || res.MemoryID == id || len(res.Conflicts) > 0 {
				t.Errorf("%q after %q: got %+v, want it created", pair[1], pair[0], res)
			}
		}
	}},
	{"SimilarOnesAreNamed", func(t *testing.T, s robotmem.Service) {
		ids := []int64{}
		for _, side := range words {
			ids = append(ids,
				learn(t, s, "approach the wet glass cup slowly from the "+side+" side of the long shelf", nil))
		}
		learn(t, s, "approach the wet glass cup slowly from the left side of the long shelf", object{"robot": "arm-1"})
		learn(t, s, "camera lost focus on wet floor tiles near the door", nil)
		text := "approach the wet glass cup slowly from the beta side of the long upper shelf"
		res := do(t, s.LearnBatch, &robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{{Insight: text}}}).Results[0]
		if res.LearnResponse == nil || res.Status != "created" || len(res.Similar) != 4 ||
			res.Similar[0].MemoryID != ids[1] {
			t.Fatalf("got %+v, want the four of %v, first the one of the beta side", res.LearnResponse, ids)
		}

		for i, m := range res.Similar {
			if !slices.Contains(ids, m.MemoryID) || m.Method != "jaccard" || m.Similarity < 0.7 || m.Similarity > 1 ||
				i > 0 && m.Similarity > res.Similar[i-1].Similarity {
				t.Errorf("similar %d: got %+v", i, m)
			}
		}
	}},
	{"FarTextIsNew", func(t *testing.T, s robotmem.Service) {
		learn(t, s, "gripper slipped on wet glass cup near table edge", nil)
		learn(t, s, "camera lost focus on wet floor tiles near the door", nil)
	}},
	{"ANumberOrUnitIsContent", func(t *testing.T, s robotmem.Service) {
		for _, text := range []string{
			grip,
			"grip_force=12.6 N holds wet glass",
			"grip_force=-12.5 N holds wet glass",
			"grip_force=12.5 mN holds wet glass",
			"grip_force=125 N holds wet glass",
			"joint_3 of the left arm drifts while the gripper carries a wet glass",
			"joint_4 of the left arm drifts while the gripper carries a wet glass",
			"在第3次抓取湿玻璃杯时夹爪稍微打滑了一下",
			"在第5次抓取湿玻璃杯时夹爪稍微打滑了一下",
		} {
			learn(t, s, text, nil)
		}
	}},
	{"ANumberInAnotherUnitIsADuplicate", func(t *testing.T, s robotmem.Service) {
		for _, pair := range [][2]string{
			{"the shelf above the bench is 1000 mm wide", "the shelf above the bench is 1 m wide"},
			{"shelf_width=1000mm", "shelf_width = 1 m"},
			{"the oven of the east lab cools in 2 hours", "the oven of the east lab cools in 120 min"},
			{"the wrist turns by 180 degrees at speed=36 km/h", "the wrist turns by 180° at speed=10 m/s"},
			{"heat the plate to 20 °C first", "heat the plate to 68 °F first"},
			{"工作台上方的货架宽1000毫米", "工作台上方的货架宽1米"},
			{"工作台旁边的箱子重2千克", "工作台旁边的箱子重2公斤"},
		} {
			id := learn(t, s, pair[0], nil)
			if res := do(t, s.Learn, &robotmem.LearnRequest{Insight: pair[1]}); res.Status != "duplicate" ||
				res.ExistingID != id || len(res.Conflicts) > 0 {
				t.Errorf("%q after %q: got %+v, want a duplicate of %d", pair[1], pair[0], res, id)
			}
		}
	}},
	{"AnotherNumberInAnotherUnitIsAConflict", func(t *testing.T, s robotmem.Service) {
		for _, pair := range [][2]string{
			{"the shelf above the bench is 1001 mm wide", "the shelf above the bench is 1 m wide"},
			{"shelf_width=999.999999999 mm", "shelf_width=1 m"},
		} {
			id := learn(t, s, pair[0], nil)
			res := do(t, s.Learn, &robotmem.LearnRequest{Insight: pair[1]})
			if res.Status != "created" || len(res.Conflicts) != 1 || res.Conflicts[0].MemoryID != id {
				t.Errorf("%q after %q: got %+v, want it created in conflict with %d", pair[1], pair[0], res, id)
			}
		}
		m := do(t, s.List, &robotmem.ListRequest{}).Memories[0]
		if full := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: m.MemoryID}); len(full.Conflicts) != 1 ||
			!strings.Contains(full.Conflicts[0].Reason, "999.999999999 mm, not 1 m") {
			t.Errorf("got %+v, want a reason with the numbers as they were written", full.Conflicts)
		}
	}},
	{"AnyDifferenceInTheContextIsNew", func(t *testing.T, s robotmem.Service) {
		for _, ctx := range []object{
			nil,
			{"params": object{"f": 1}},
			{"params": object{"f": 2}},
			{"params": object{"f": "1"}},
			{"params": object{"f": []any{1}}},
			{"params": object{"f": nil}},
			{"params": object{"f": true}},
			{"robot": "arm-1"},
			{"robot": "arm-2"},
			{"spatial": object{"position": []any{0, 0, 0}}},
			{"spatial": object{"position": []any{0, 0, 0.001}}},
			{"task": object{"success": true}},
			{"task": object{"success": false}},
			{"i": json.Number("9007199254740993")},
			{"i": json.Number("9007199254740992")},
		} {
			learn(t, s, grip, ctx)
		}
	}},
	{"NegationIsNew", func(t *testing.T, s robotmem.Service) {
		for _, text := range []string{
			"the rubber gripper holds the wet glass cup above the sink",
			"the rubber gripper does not hold the wet glass cup above the sink",
			"夹爪可以夹住水槽上方的湿玻璃杯",
			"夹爪不可以夹住水槽上方的湿玻璃杯",
		} {
			learn(t, s, text, nil)
		}
	}},
	{"AnotherCollectionIsAnotherMemory", func(t *testing.T, s robotmem.Service) {
		created(t, s, &robotmem.LearnRequest{Insight: grip, Collection: "a"})
		created(t, s, &robotmem.LearnRequest{Insight: grip, Collection: "b"})
	}},
	{"WhatWasForgottenIsNoDuplicate", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: "wrong"})
		if again := learn(t, s, grip, nil); again == id {
			t.Errorf("the forgotten id %d was given again", id)
		}
	}},
	{"KeptByteForByte", func(t *testing.T, s robotmem.Service) {
		for _, text := range []string{
			"x",
			"quotes \" ' ` and \\ backslash",
			"force < 12 N and speed > 3 & <b>bold</b>",
			"0.123456789 rad, 0123-456-789, +1e-9",
			"日本語、中文、한국어, עברית",
			"👩‍🚀 a\u0301 é \u2028 \ufeff end",
			"tab\tline\nreturn\r\nbell\a escape\x1b del\x7f",
			"%s %d {{.}} ${x} '; DROP TABLE memories; --",
			strings.Repeat("a b ", 4095) + "end",
		} {
			id := learn(t, s, text, nil)
			if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}); m.Content != text {
				t.Errorf("got %.80q, want %.80q", m.Content, text)
			}
		}

		id := learn(t, s, " \n around \t", nil)
		if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}); m.Content != "around" {
			t.Errorf("got %q, want it trimmed", m.Content)
		}
	}},
	{"NumbersKeepTheirSpelling", func(t *testing.T, s robotmem.Service) {
		const request = `{"insight":"numbers","context":{"params":{"a":12.50,"b":9007199254740993,"c":1e3,"d":-0.0,"e":0.1000}}}`
		res, ok := call(t, s, "learn", request).(*robotmem.LearnResponse)
		if !ok {
			t.Fatal("no answer")
		}
		want := object{
			"a": json.Number("12.50"), "b": json.Number("9007199254740993"), "c": json.Number("1e3"),
			"d": json.Number("-0.0"), "e": json.Number("0.1000"),
		}
		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: res.MemoryID})
		equal(t, "params by get", m.Params, any(want))
		equal(t, "context by recall",
			any(object(recall(t, s, &robotmem.RecallRequest{Query: "numbers"}).Memories[0].Context)),
			any(object{"params": want}))
	}},
	{"Limits", func(t *testing.T, s robotmem.Service) {
		learn(t, s, strings.Repeat("é", 8192), nil)
		refused(t, s.Learn, &robotmem.LearnRequest{Insight: strings.Repeat("é", 8192) + "x"}, robotmem.TooLarge,
			"insight", "16384")
		refused(t, s.Learn, &robotmem.LearnRequest{Insight: " \n\t "}, robotmem.Invalid, "insight")
		refused(t, s.Learn, &robotmem.LearnRequest{Insight: "a\xffb"}, robotmem.Invalid, "insight", "UTF-8")

		for _, name := range []string{"a b", "ä", "a/b", "*", strings.Repeat("x", 65)} {
			refused(t, s.Learn, &robotmem.LearnRequest{Insight: "x", Collection: name}, robotmem.Invalid, "collection",
				name[:1])
		}

		created(t, s, &robotmem.LearnRequest{Insight: "x", Collection: strings.Repeat("x", 62) + ".-"})

		for _, name := range []string{
			"operator", "verified", " Operator ", "VERIFIED", "oper\u200bator", "[verified]",
			"\uff4f\uff50\uff45\uff52\uff41\uff54\uff4f\uff52", "\u043eperator", "v\u0435rified",
		} {
			refused(t, s.Learn, &robotmem.LearnRequest{Insight: "x", Source: name}, robotmem.Invalid, "source",
				"reserved", "a sensor, a program or a robot")
			refused(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: "a cup", Data: "x", Source: name},
				robotmem.Invalid, "source", "reserved")
		}

		created(t, s, &robotmem.LearnRequest{Insight: "y is another", Source: "operator panel 2"})
		created(t, s, &robotmem.LearnRequest{Insight: "z is a third", Source: "/operator"})
		refused(t, s.Learn, &robotmem.LearnRequest{Insight: "x", Tags: []string{"ok", "not ok"}}, robotmem.Invalid,
			"tags[1]")
		refused(t, s.Learn, &robotmem.LearnRequest{Insight: "x", Tags: []string{strings.Repeat("玻", 65)}},
			robotmem.Invalid, "tags[0]")
		created(t, s, &robotmem.LearnRequest{Insight: "x with a long tag", Tags: []string{strings.Repeat("玻", 64)}})

		deep := any(1)
		for range 40 {
			deep = object{"x": deep}
		}

		_, err := s.Learn(t.Context(), &robotmem.LearnRequest{Insight: "x", Context: object{"deep": deep}})
		if robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("40 deep: %v, want invalid", err)
		}

		refused(t, s.Learn, &robotmem.LearnRequest{Insight: "x", Context: object{"x": strings.Repeat("x", 1<<20)}},
			robotmem.TooLarge, "context")
	}},
	{"TimeZeroIsATime", func(t *testing.T, s robotmem.Service) {
		epoch := time.Unix(0, 0)
		id := created(t, s, &robotmem.LearnRequest{Insight: grip, ObservedAt: &epoch})
		if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}); !m.ObservedAt.Equal(epoch) {
			t.Errorf("observed at %v, want %v", m.ObservedAt, epoch)
		}
		now := created(t, s, &robotmem.LearnRequest{Insight: "observed when it was told"})
		if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: now}); time.Since(m.ObservedAt).Abs() > time.Hour {
			t.Errorf("observed at %v, want about now", m.ObservedAt)
		}
		odd := time.Date(2026, 3, 1, 23, 30, 0, 123456789, time.FixedZone("", -9*3600))
		id = created(t, s, &robotmem.LearnRequest{Insight: "with nanoseconds in another zone", ObservedAt: &odd})
		if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}); !m.ObservedAt.Equal(odd) {
			t.Errorf("observed at %v, want %v", m.ObservedAt, odd)
		}
		refused(t, s.Learn,
			&robotmem.LearnRequest{Insight: "x", ObservedAt: new(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))},
			robotmem.Invalid, "observed_at")
	}},
	{"TagsOfTheCallerAreAdded", func(t *testing.T, s robotmem.Service) {
		id := created(t, s, &robotmem.LearnRequest{Insight: grip, Tags: []string{"kitchen", "玻璃"}})
		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
		if !slices.Contains(m.Tags, "kitchen") || !slices.Contains(m.Tags, "玻璃") {
			t.Errorf("tags %v", m.Tags)
		}
	}},
	{"ConflictsNameTheOther", func(t *testing.T, s robotmem.Service) {
		for _, pair := range [][2]string{
			{"max_force=12 N for the blue cup", "max_force=15 N for the blue cup"},
			{
				"the suction gripper is safe for thin glass plates",
				"the suction gripper is not safe for thin glass plates",
			},
		} {
			first := learn(t, s, pair[0], nil)
			res := do(t, s.Learn, &robotmem.LearnRequest{Insight: pair[1]})
			if res.Status != "created" || len(res.Conflicts) != 1 || res.Conflicts[0].MemoryID != first ||
				res.Conflicts[0].Reason == "" {
				t.Errorf("%q after %q: got %+v, want a conflict with %d", pair[1], pair[0], res, first)
			}

			for id, other := range map[int64]int64{first: res.MemoryID, res.MemoryID: first} {
				m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
				if m.Status != "active" || len(m.Conflicts) != 1 || m.Conflicts[0].MemoryID != other {
					t.Errorf("memory %d is %s with conflicts %+v, want it active, with one of %d", id, m.Status,
						m.Conflicts, other)
				}
			}
			do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: first, Reason: "settled"})
			if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: res.MemoryID}); len(m.Conflicts) != 0 {
				t.Errorf("conflicts after one was forgotten: %+v, want none", m.Conflicts)
			}
		}
	}},
	{"ClassificationGoesByTheText", func(t *testing.T, s robotmem.Service) {
		for text, want := range map[string]string{
			"the arm must never exceed 20 N near people": "constraint",
			"必须先校准力传感器":                                  "constraint",
			"root cause of the drift was a loose cable":  "root_cause",
		} {
			if res := do(t, s.Learn, &robotmem.LearnRequest{Insight: text}); res.AutoInferred.Category != want {
				t.Errorf("%q is %q, want %q", text, res.AutoInferred.Category, want)
			}
		}
	}},
}

var batchCases = []testCase{
	{"OneBadItemDoesNotStopTheRest", func(t *testing.T, s robotmem.Service) {
		res := do(t, s.LearnBatch, &robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{
			{Insight: grip},
			{Insight: ""},
			{Insight: "force trace rises before the slip"},
			{Insight: "x", Collection: "not a name"},
			{Insight: grip},
			{Insight: "x", SessionID: "0190163d-8694-739b-aea5-966c26f8ad90"},
			{Insight: "the last one"},
		}})
		if len(res.Results) != 7 {
			t.Fatalf("%d results, want 7", len(res.Results))
		}

		got := ""

		for _, r := range res.Results {
			if r.Error != nil {
				got += fmt.Sprintf("%s:%s ", r.Error.Kind, r.Error.Field)
				continue
			}
			got += r.Status + " "
		}

		equal(t, "results", got,
			"created invalid:insight created invalid:collection duplicate not_found:session_id created ")
		if first, dup := res.Results[0], res.Results[4]; dup.LearnResponse != nil && first.LearnResponse != nil &&
			dup.ExistingID != first.MemoryID {
			t.Errorf("duplicate of %d, want %d", dup.ExistingID, first.MemoryID)
		}

		equal(t, "stored", len(recalled(t, s, &robotmem.RecallRequest{Query: "holds trace last", N: 10})), 3)
	}},
	{"AnItemThatCannotBeReadKeepsItsPlace", func(t *testing.T, s robotmem.Service) {
		res, ok := call(t, s, "learn_batch",
			`{"items":[{"insight":"one"},{"insigth":"two"},7,{"insight":"three","context":[]},{"insight":"four"}]}`).(*robotmem.LearnBatchResponse)
		if !ok || len(res.Results) != 5 {
			t.Fatalf("got %+v", res)
		}

		for i, r := range res.Results {
			if bad := i >= 1 && i <= 3; (r.Error != nil) != bad {
				t.Errorf("item %d: got %+v", i, r)
			}
		}
	}},
	{"KeepDuplicatesKeepsThem", func(t *testing.T, s robotmem.Service) {
		res := do(t, s.LearnBatch,
			&robotmem.LearnBatchRequest{
				KeepDuplicates: true, Items: []robotmem.LearnRequest{{Insight: grip}, {Insight: grip}, {Insight: grip}},
			})
		for i, r := range res.Results {
			if r.Error != nil || r.Status != "created" {
				t.Errorf("item %d: got %+v, want it created", i, r)
			}
		}
		equal(t, "stored", len(recalled(t, s, &robotmem.RecallRequest{Query: grip})), 3)
	}},
	{"Limits", func(t *testing.T, s robotmem.Service) {
		refused(t, s.LearnBatch, &robotmem.LearnBatchRequest{}, robotmem.Invalid, "items")
		refused(t, s.LearnBatch, &robotmem.LearnBatchRequest{Items: make([]robotmem.LearnRequest, 10001)},
			robotmem.Invalid, "items", "10000")
	}},
}
