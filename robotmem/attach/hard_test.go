package attach_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/attach"
	"github.com/robotmem/robotmem-go/robotmem/attach/attachtest"
)

// facts are those of a memory, as "outcome text", by their time.
func facts(t testing.TB, m robotmem.Node) []string {
	t.Helper()
	res, err := m.List(t.Context(), &robotmem.ListRequest{Type: "fact", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(res.Memories, func(a, b robotmem.Memory) int { return a.ObservedAt.Compare(b.ObservedAt) })
	var out []string
	for _, f := range res.Memories {
		out = append(out, f.Outcome+" "+f.Content)
	}
	return out
}

// A goal that begins within another one and outlives it is an episode, and its failure an incident.
func TestAGoalThatOutlivesAnother(t *testing.T) {
	m := open(t)
	got := follow(t, m, 1, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) {
		d.Status("navigate_to_pose", "aa", 2)
		d.Along(0, 0, 2)
		d.Status("dock_robot", "bb", 2)
		d.Wait(1)
		d.Status("navigate_to_pose", "aa", 4)
		d.Wait(5)
		d.Error("charger not found")
		d.Wait(1)
		d.Status("dock_robot", "bb", 6)
		d.Wait(12)
		d.Pose(2, 0)
	}))
	want := []string{
		"success navigate_to_pose succeeded after 5.0 s", "failure controller: charger not found",
		"failure dock_robot aborted after 7.0 s: controller: charger not found",
	}
	if diff := cmp.Diff(want, facts(t, m)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if len(got.incidents) != 1 || got.report.Episodes != 2 {
		t.Errorf("%+v, incidents %+v", got.report, got.incidents)
	}
}

// A goal that is replaced is no incident; the failure of the one that replaces it is.
func TestAGoalThatIsReplaced(t *testing.T) {
	m := open(t)
	got := follow(t, m, 1, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) {
		d.Status("navigate_to_pose", "aa", 2)
		d.Along(0, 0, 2)
		d.Status("navigate_to_pose", "aa", 6, "bb", 2)
		d.Along(0, 2, 4)
		d.Status("navigate_to_pose", "aa", 6, "bb", 6)
		d.Wait(12)
		d.Pose(4, 0)
	}))
	want := []string{"partial navigate_to_pose was replaced by another goal after 4.0 s", "failure navigate_to_pose aborted after 4.0 s"}
	if diff := cmp.Diff(want, facts(t, m)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if len(got.incidents) != 1 {
		t.Errorf("incidents %+v", got.incidents)
	}
}

// After the clock was set back, poses, warnings and incidents are those of the new run alone.
func TestAClockThatIsSetBack(t *testing.T) {
	m := open(t)
	follow(t, m, 1, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) { d.To(5, 7) }))
	got := follow(t, m, 2, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) {
		d.Wait(700)
		d.Along(20, 0, 3)
		d.Wait(-706)
		d.Along(5, 0, 9)
		d.Error("no route")
		d.Wait(12)
		d.Pose(9, 5)
	}))
	if len(got.warnings) != 1 || got.report.ClockResets != 1 {
		t.Errorf("%d warnings, %+v", len(got.warnings), got.report)
	}
	if len(got.incidents) != 1 || got.incidents[0].Messages > 190 {
		t.Errorf("incidents %+v, want one of the 180 poses of the second run", got.incidents)
	}
	res, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: "no route", N: 1})
	if err != nil || len(res.Memories) != 1 || res.Memories[0].Spatial == nil {
		t.Errorf("%+v, %v", res.Memories, err)
	}
}

// A robot that turns round before the place has not passed it.
func TestTurningRoundIsNotPassing(t *testing.T) {
	m := open(t)
	follow(t, m, 1, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) { d.To(5, 7) }))
	for day := range 2 {
		got := follow(t, m, 2+day, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) {
			d.Along(5, 0, 6.5)
			d.Along(5, 6.5, 0)
		}))
		if len(got.warnings) != 1 {
			t.Errorf("day %d: %d warnings", 2+day, len(got.warnings))
		}
	}
	for _, f := range facts(t, m) {
		if strings.Contains(f, "passed") {
			t.Errorf("stored %q", f)
		}
	}
	if got := follow(t, m, 4, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) { d.Along(5, 0, 12) })); len(got.warnings) != 1 {
		t.Errorf("%d warnings in the end", len(got.warnings))
	}
}

// A robot that stands keeps its place, although localization is silent.
func TestARobotThatStands(t *testing.T) {
	m := open(t)
	follow(t, m, 1, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) {
		d.Along(5, 0, 7)
		d.Wait(15)
		d.Error("no progress")
		d.Wait(12)
		d.Error("still")
	}))
	got := follow(t, m, 2, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) { d.Along(5, 0, 12) }))
	if len(got.warnings) != 1 || got.warnings[0].Position[0] < 6.9 {
		t.Errorf("warnings %+v", got.warnings)
	}
}

// A map whose name was forgotten is named, once.
func TestDangersOnAnotherMapAreNamed(t *testing.T) {
	m := open(t)
	follow(t, m, 1, attach.Options{}, attachtest.Day(func(d *attachtest.Drive) { d.To(5, 7) }))
	var log bytes.Buffer
	got := followOn(t, m, 2, "", attach.Options{Log: slog.New(slog.NewTextHandler(&log, nil))},
		attachtest.Day(func(d *attachtest.Drive) { d.Along(5, 0, 12) }))
	if len(got.warnings) != 0 || strings.Count(log.String(), "map=hall") != 1 {
		t.Errorf("%d warnings, log %s", len(got.warnings), log.String())
	}
}
