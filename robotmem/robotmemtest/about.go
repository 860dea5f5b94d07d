package robotmemtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// learnGrippers stores facts of two grippers and returns their ids, by a short name.
func learnGrippers(t *testing.T, s robotmem.Service) map[string]int64 {
	t.Helper()
	ids := map[string]int64{}
	day := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

	for i, f := range []struct {
		name, text, outcome string
		context             object
	}{
		{"rule", "gripper 3 must never close with more than 20 N", "", nil},
		{"old pads", "the pads of gripper-3 are 4 mm thick", "", nil},
		{"pads", "the pads of gripper-3 are 2 mm thick", "", nil},
		{"slip 1", "Gripper 3 slipped at 8 N", "failure", object{"object": "wet glass", "robot": object{"id": "arm-7", "name": "Bertha"}}},
		{"slip 2", "Gripper 3 slipped at 9 N", "failure", object{"object": "wet glass", "robot": object{"id": "arm-7", "name": "Bertha"}}},
		{"slip 3", "Gripper 3 slipped at 10 N", "failure", object{"object": "wet glass", "robot": object{"id": "arm-7", "name": "Bertha"}}},
		{"held", "it held at 12.5 N", "success", object{"gripper": 3, "object": "wet glass", "spatial": object{"position": []any{1.5, 2.0, 0.0}, "map_id": "kitchen"}}},
		{"other", "gripper 30 held at 9 N", "success", object{"gripper": 30}},
		{"force", "open the gripper 3 N less", "", nil},
		{"none", "the floor is wet at dock B", "", nil},
	} {
		at := day.Add(time.Duration(i) * time.Hour)
		ids[f.name] = do(t, s.Learn, &robotmem.LearnRequest{
			Insight: f.text, Outcome: f.outcome, Context: f.context, ObservedAt: &at,
		}).MemoryID
	}

	return ids
}

var aboutCases = []testCase{
	{"PageOfASubject", func(t *testing.T, s robotmem.Service) {
		ids := learnGrippers(t, s)
		res := do(t, s.About, &robotmem.AboutRequest{Subject: "Gripper_3"})
		equal(t, "memories", res.Memories, 7)
		equal(t, "kind", res.Kind, "part")
		equal(t, "counts", res.Counts, map[string]int{"failure": 3, "success": 1, "unknown": 3})

		if len(res.Rules) != 1 || res.Rules[0].MemoryID != ids["rule"] {
			t.Errorf("rules: got %+v", res.Rules)
		}
		if len(res.Worked) != 1 || res.Worked[0].MemoryID != ids["held"] {
			t.Errorf("worked: got %+v", res.Worked)
		}

		// Three that differ in a number are one line.
		if len(res.Failed) != 1 || res.Failed[0].Alike != 3 || res.Failed[0].MemoryID != ids["slip 3"] ||
			!strings.Contains(res.Failed[0].Line, "8 to 10 N") || len(res.Failed[0].MemoryIDs) != 2 {
			t.Errorf("failed: got %+v", res.Failed)
		}
		// What a later fact replaces comes last, and says so.
		if len(res.Current) != 2 || res.Current[0].MemoryID != ids["pads"] || res.Current[1].MemoryID != ids["old pads"] ||
			!strings.Contains(res.Current[1].Line, fmt.Sprintf("%d is newer", ids["pads"])) {
			t.Errorf("current: got %+v", res.Current)
		}

		seen := res.LastSeen
		if seen == nil || seen.MemoryID != ids["held"] || seen.MapID != "kitchen" || len(seen.Position) != 3 {
			t.Errorf("last seen: got %+v", seen)
		}
		if len(res.Related) == 0 || res.Related[0].Name != "wet glass" || res.Related[0].Memories != 4 {
			t.Errorf("related: got %+v", res.Related)
		}

		none := do(t, s.About, &robotmem.AboutRequest{Subject: "gripper 4"})
		if none.Memories != 0 || len(none.Notes) != 1 || !strings.Contains(none.Notes[0], "gripper 4") {
			t.Errorf("got %+v", none)
		}

		if near := do(t, s.About, &robotmem.AboutRequest{Subject: "gripper 03"}); !strings.HasSuffix(strings.Join(near.Notes, " "), "did you mean gripper 3?") {
			t.Errorf("got %q", near.Notes)
		}

		refused(t, s.About, &robotmem.AboutRequest{Subject: "?!"}, robotmem.Invalid, "subject", "letters")
	}},
	{"OtherNamesOfASubject", func(t *testing.T, s robotmem.Service) {
		learnGrippers(t, s)
		learn(t, s, "Bertha drifts to the left", nil)

		// The name stands beside the id in contexts.
		res := do(t, s.About, &robotmem.AboutRequest{Subject: "arm 7"})
		equal(t, "memories", res.Memories, 4)
		equal(t, "kind", res.Kind, "robot")
		equal(t, "aliases", res.Aliases, []string{"Bertha"})

		// A name that two robots have is the name of neither.
		learn(t, s, "arm 8 is new", object{"robot": object{"id": "arm-8", "name": "Bertha"}})
		res = do(t, s.About, &robotmem.AboutRequest{Subject: "arm 7"})
		equal(t, "memories", res.Memories, 3)
		equal(t, "aliases", len(res.Aliases), 0)
		res = do(t, s.About, &robotmem.AboutRequest{Subject: "Bertha"})
		equal(t, "aliases", len(res.Aliases), 0)
		if !strings.Contains(strings.Join(res.Notes, " "), "Bertha is a name of arm-7 and arm-8") {
			t.Errorf("got %q", res.Notes)
		}
	}},
	{"RenamedSubjects", func(t *testing.T, s robotmem.Service) {
		for _, name := range []string{"Bertha", "Big Bertha"} {
			learn(t, s, "picked as "+name, object{"robot": object{"id": "arm-7", "name": name}})
		}
		res := do(t, s.About, &robotmem.AboutRequest{Subject: "arm-7"})
		equal(t, "aliases", res.Aliases, []string{"Bertha", "Big Bertha"})
		equal(t, "notes", len(res.Notes), 0)
	}},
	{"SubjectsInContextsAlone", func(t *testing.T, s robotmem.Service) {
		names := map[string]object{
			"AGV 12": {"robot": object{"id": "AGV 12"}}, "hall 2": {"spatial": object{"place": "hall 2"}},
			"gripper 5": {"gripper": object{"id": 5}}, "gripper 06": {"gripper": "06"}, "R2-D2": {"robot": "R2-D2"},
			"UR5e_left": {"robot": object{"name": "UR5e_left"}}, "10.0.0.7": {"robot": object{"id": "10.0.0.7"}},
			"机械臂7": {"robot": "机械臂7"}, "робот 7": {"robot": "робот 7"}, "dock:3": {"dock": "dock:3"},
			"b4:2e:99:01": {"sensor": object{"serial": "b4:2e:99:01"}}, "cell-4b": {"cell": "cell-4b"},
		}
		for name, context := range names {
			id := learn(t, s, "it went as planned", context)
			res := do(t, s.About, &robotmem.AboutRequest{Subject: name})
			if res.Memories != 1 || len(res.Current) != 1 || res.Current[0].MemoryID != id {
				t.Errorf("%s: got %+v", name, res)
			}
			found := do(t, s.Recall, &robotmem.RecallRequest{Query: "planned", Entity: name})
			if len(found.Memories) != 1 || found.Memories[0].MemoryID != id {
				t.Errorf("recall of %s: got %+v", name, found.Memories)
			}
		}

		listed := do(t, s.About, &robotmem.AboutRequest{}).Subjects
		for _, l := range listed {
			if res := do(t, s.About, &robotmem.AboutRequest{Subject: l.Name}); res.Memories == 0 {
				t.Errorf("%s is listed and not found", l.Name)
			}
		}
		equal(t, "listed", len(listed), len(names))

		for _, vague := range []string{"7", "the", "🤖7"} {
			refused(t, s.About, &robotmem.AboutRequest{Subject: vague}, robotmem.Invalid, "subject", "names nothing alone")
		}
	}},
	{"SubjectsAreListed", func(t *testing.T, s robotmem.Service) {
		learnGrippers(t, s)

		want := map[string]robotmem.SubjectCount{
			"wet glass": {Name: "wet glass", Kind: "object", Memories: 4},
			"arm-7":     {Name: "arm-7", Kind: "robot", Memories: 3},
			"gripper 3": {Name: "gripper 3", Kind: "part", Memories: 1},
			"kitchen":   {Name: "kitchen", Kind: "place", Memories: 1},
		}
		for _, got := range do(t, s.About, &robotmem.AboutRequest{}).Subjects {
			if w, ok := want[got.Name]; ok && got != w {
				t.Errorf("got %+v, want %+v", got, w)
			}
			delete(want, got.Name)
		}
		if len(want) != 0 {
			t.Errorf("not listed: %v", want)
		}
	}},
	{"SurprisesAreNoAnswers", func(t *testing.T, s robotmem.Service) {
		var ids []int64

		for i := range 30 {
			learn(t, s, fmt.Sprintf("shelf %d holds boxes of kind %d", i, i%7), nil)
		}

		for _, text := range []string{
			"turbine WT-08 has a crack of 40 cm in blade A", "a sea eagle attacked the drone near WT-08",
			"a crack in the floor of the hangar",
		} {
			ids = append(ids, learn(t, s, text, nil))
		}

		ask := &robotmem.RecallRequest{Query: "crack in the blade", N: 1, Surprise: 3}
		res := do(t, s.Recall, ask)
		if len(res.Memories) != 1 || res.Memories[0].MemoryID != ids[0] {
			t.Fatalf("got %+v", res.Memories)
		}
		if len(res.Surprising) != 1 || res.Surprising[0].MemoryID != ids[1] ||
			!strings.HasPrefix(res.Surprising[0].Because, fmt.Sprintf("shares wt-08 with %d", ids[0])) {
			t.Errorf("got %+v", res.Surprising)
		}

		ask.Surprise = 0
		if res := do(t, s.Recall, ask); res.Surprising != nil {
			t.Errorf("not asked for: %+v", res.Surprising)
		}
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", Surprise: 11}, robotmem.Invalid, "surprise", "10")
	}},
	{"RecallOfASubject", func(t *testing.T, s robotmem.Service) {
		ids := learnGrippers(t, s)
		res := do(t, s.Recall, &robotmem.RecallRequest{Query: "held at 12.5 N", Entity: "gripper 3"})
		if len(res.Memories) == 0 || res.Memories[0].MemoryID != ids["held"] {
			t.Errorf("got %+v", res.Memories)
		}

		for _, m := range do(t, s.Recall, &robotmem.RecallRequest{Entity: "gripper 3", N: 100}).Memories {
			if m.MemoryID == ids["other"] || m.MemoryID == ids["force"] || m.MemoryID == ids["none"] {
				t.Errorf("got %q", m.Content)
			}
		}
		res = do(t, s.Recall, &robotmem.RecallRequest{Query: "held", Entity: "gripper 4"})
		if len(res.Memories) != 0 || !strings.Contains(strings.Join(res.Notes, " "), "gripper 4") {
			t.Errorf("got %+v", res)
		}
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "held", Entity: "--"}, robotmem.Invalid, "entity", "")
	}},
}
