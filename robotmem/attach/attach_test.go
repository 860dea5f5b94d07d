package attach_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/attach"
	"github.com/robotmem/robotmem-go/robotmem/attach/attachtest"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func open(t testing.TB) *local.Node {
	t.Helper()
	m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// told is what a run said.
type told struct {
	report    *attach.Report
	warnings  []attach.Warning
	said      []float64 // when, in seconds of the drive
	incidents []attach.Incident
	published []string
}

// follow lets a robot drive on a day.
func follow(t testing.TB, m robotmem.Node, day int, o attach.Options, connections ...[]attachtest.Sent) *told {
	t.Helper()
	return followOn(t, m, day, "hall", o, connections...)
}

// followOn is follow on a map.
func followOn(t testing.TB, m robotmem.Node, day int, mapID string, o attach.Options, connections ...[]attachtest.Sent) *told {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &attachtest.Robot{
		Start: time.Date(2026, 3, day, 8, 0, 0, 0, time.UTC), Speed: 60, Connections: connections, End: cancel,
	}
	out := &told{}
	o.Node, o.Sink, o.MapID = m, &sensors.Sink{Node: m}, mapID
	o.OnWarning = func(w attach.Warning) {
		out.warnings = append(out.warnings, w)
		out.said = append(out.said, w.Time.Sub(s.Start).Seconds())
	}
	o.OnIncident = func(i attach.Incident) { out.incidents = append(out.incidents, i) }
	var err error
	if out.report, err = attach.Run(ctx, s, o); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // publications go on behind the worker
	out.published = s.Published()
	if len(out.report.Problems) > 0 || len(out.report.Dropped) > 0 {
		t.Errorf("problems %v, dropped %v", out.report.Problems, out.report.Dropped)
	}
	return out
}

// A robot fails at a place; the next time it is warned before it comes there, also another robot; after two successes it is
// not.
func TestTheSecondDriveIsWarned(t *testing.T) {
	m := open(t)
	const place = 7.0
	failing := attachtest.Day(func(d *attachtest.Drive) { d.MaxSpeed(0.8); d.To(1, 0); d.To(5, place); d.To(1, 0) })

	first := follow(t, m, 1, attach.Options{Robot: "cart-1"}, failing)
	if len(first.warnings) != 0 || len(first.incidents) != 1 {
		t.Fatalf("first drive: %d warnings, incidents %+v", len(first.warnings), first.incidents)
	}
	i := first.incidents[0]
	if want := "controller: wheel slip of 32 %; navigate_to_pose to x=12 y=5 aborted after 14.5 s: controller: wheel slip of 32 %"; i.Text != want {
		t.Errorf("incident %q", i.Text)
	}
	// Its recording has the minute before and the seconds after.
	if i.Messages < 600 || i.Perceptions < 12 {
		t.Errorf("the incident has %d messages in %d perceptions", i.Messages, i.Perceptions)
	}
	listed, err := m.Incidents(t.Context(), &admin.IncidentsRequest{})
	if err != nil || listed.Total != 1 || listed.Incidents[0].Robot != "cart-1" || listed.Incidents[0].PerceptionID == 0 {
		t.Errorf("%d incidents listed: %+v, %v", listed.Total, listed.Incidents, err)
	}

	// Another robot, which fails at the place again.
	second := follow(t, m, 2, attach.Options{Robot: "cart-2"}, failing)
	if len(second.incidents) != 1 {
		t.Errorf("second drive: incidents %+v", second.incidents)
	}
	reached := 24 + 15 + place/0.5
	var kinds []string
	for k, w := range second.warnings {
		kinds = append(kinds, w.Kind)
		if lead := reached - second.said[k]; w.Kind == "place" && (lead < 2 || lead > 10) {
			t.Errorf("the warning comes %.1f s before the place", lead)
		}
		if w.Failures != 1 || len(w.Robots) != 1 || w.Robots[0] != "cart-1" {
			t.Errorf("warning %+v", w)
		}
	}
	if diff := cmp.Diff([]string{"goal", "place"}, kinds); diff != "" {
		t.Errorf("warnings (-want +got):\n%s\n%+v", diff, second.warnings)
	}
	if len(second.published) != 4 || !strings.HasPrefix(second.published[0], "/robotmem/") {
		t.Errorf("published %q", second.published)
	}

	// Slower, it passes twice.
	passing := attachtest.Day(func(d *attachtest.Drive) { d.MaxSpeed(0.4); d.To(5, 0); d.To(5, 0); d.To(5, 0) })
	third := follow(t, m, 3, attach.Options{Robot: "cart-1"}, passing)
	if len(third.warnings) != 4 || len(third.incidents) != 0 {
		t.Errorf("third drive: %d warnings, want two for each of two passes; %+v", len(third.warnings), third.warnings)
	}
	fourth := follow(t, m, 4, attach.Options{Robot: "cart-2"}, passing)
	if len(fourth.warnings) != 0 {
		t.Errorf("after two successes: %+v", fourth.warnings)
	}

	// With the speed that failed, it is warned still.
	fifth := follow(t, m, 5, attach.Options{Robot: "cart-2"}, failing)
	if len(fifth.warnings) != 2 {
		t.Errorf("with the parameters that failed: %d warnings, want 2; %+v", len(fifth.warnings), fifth.warnings)
	}

	// What it says of the failure names what differed when it succeeded there.
	if i := fifth.incidents; len(i) != 1 {
		t.Errorf("fifth drive: %d incidents", len(i))
	}
	told, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: "navigate aborted", N: 1, After: new(time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)), ContextFilter: robotmem.Object{"event.differs": map[string]any{"$exists": true}}})
	if err != nil || len(told.Memories) != 1 || !strings.Contains(told.Memories[0].Content, "(when it succeeded: controller.max_speed was 0.4, now 0.8)") {
		t.Errorf("%+v, %v", told.Memories, err)
	}

	// What was learnt is advised at the place.
	near := 4.0
	advice, err := m.Advise(t.Context(), &robotmem.AdviseRequest{NMin: 2, SpatialSort: &robotmem.SpatialSort{
		Field: "spatial.pose", Target: []float64{place, 5}, MaxDistance: &near, MapID: "hall",
	}})
	if err != nil || advice.Suggestion == nil {
		t.Fatalf("advice %+v, %v", advice, err)
	}
	if got := fmt.Sprint(advice.Suggestion.Parameters["params.controller.max_speed"]); got != "0.4" {
		t.Errorf("advised %v", advice.Suggestion.Parameters)
	}
}

// Once it is known what works there, the warning says so.
func TestAWarningAdvises(t *testing.T) {
	m := open(t)
	follow(t, m, 1, attach.Options{Robot: "a"}, attachtest.Day(func(d *attachtest.Drive) { d.MaxSpeed(0.8); d.To(5, 7); d.MaxSpeed(0.4); d.To(5, 0) }))
	next := follow(t, m, 2, attach.Options{Robot: "b"}, attachtest.Day(func(d *attachtest.Drive) { d.To(5, 0) }))
	if len(next.warnings) == 0 {
		t.Fatal("no warning")
	}
	for _, w := range next.warnings {
		if w.Successes != 1 || !strings.Contains(w.Text, "max_speed") || fmt.Sprint(w.Parameters["params.controller.max_speed"]) != "0.4" {
			t.Errorf("warning %+v", w)
		}
	}
}

func TestCleanDrivingMakesNoIncident(t *testing.T) {
	m := open(t)
	clean := attachtest.Day(func(d *attachtest.Drive) {
		for range 20 {
			d.To(1, 0)
			d.Send(attachtest.Logs, `{"level":30,"name":"amcl","msg":"the scan is 12 ms late"}`)
			d.Send(attachtest.Logs, `{"level":20,"name":"amcl","msg":"error: none"}`)
		}
	})
	got := follow(t, m, 1, attach.Options{}, clean)
	if len(got.incidents)+len(got.warnings) != 0 || got.report.Episodes != 20 {
		t.Errorf("%+v; warnings %+v, incidents %+v", got.report, got.warnings, got.incidents)
	}
	res, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: "scan late", N: 50})
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, f := range res.Memories {
		if strings.Contains(f.Content, "scan") {
			late++
		}
	}
	if late != 10 { // 20 warnings within a minute of each other share a place and stand outside of goals
		t.Logf("%d facts of the warning", late)
	}
}

// A lost connection loses nothing that came, and what comes again is not counted twice.
func TestReconnects(t *testing.T) {
	m := open(t)
	all := attachtest.Day(func(d *attachtest.Drive) { d.To(1, 0); d.To(5, 7) })
	third := len(all) / 3
	got := follow(t, m, 1, attach.Options{Record: true}, all[:third], all[third-20:2*third], all[2*third-1:])
	if got.report.Connections != 3 || len(got.report.Gaps) != 2 || got.report.Repeated != 21 {
		t.Errorf("report %+v", got.report)
	}
	if n := got.report.Recording.Messages; n != uint64(len(all)) {
		t.Errorf("%d of %d messages are recorded", n, len(all))
	}
	if len(got.incidents) != 1 || got.report.Episodes != 2 {
		t.Errorf("%d episodes, incidents %+v", got.report.Episodes, got.incidents)
	}
}

func TestDiagnosticsMessageIsValid(t *testing.T) {
	m := open(t)
	failing := attachtest.Day(func(d *attachtest.Drive) { d.To(5, 7) })
	follow(t, m, 1, attach.Options{}, failing)
	for _, p := range follow(t, m, 2, attach.Options{}, failing).published {
		_, text, _ := strings.Cut(p, " ")
		if !json.Valid([]byte(text)) {
			t.Errorf("published %s", p)
		}
	}
}
