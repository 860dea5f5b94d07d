package events_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// t0 is the time of the first message of a test.
var t0 = time.Date(2025, 11, 24, 16, 0, 0, 0, time.UTC)

// source is a robot of which a test sends messages.
type source struct {
	t       *testing.T
	machine *events.Machine
	journal *events.Journal
	place   map[string]any
}

func newSource(t *testing.T, rules *events.Rules) *source {
	return &source{t: t, machine: rules.NewMachine(), journal: events.NewJournal()}
}

// at moves the robot.
func (s *source) at(x, y float64) {
	s.place = map[string]any{"pose": map[string]any{"position": []any{x, y, 0.0}, "frame_id": "map"}}
}

// send sends a JSON message after some seconds, and returns the events in it.
func (s *source) send(after float64, topic, schema, text string) []events.Event {
	s.t.Helper()
	v, err := (&message.Schema{}).Decode([]byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	at := t0.Add(time.Duration(after * float64(time.Second)))
	found := s.machine.Observe(&events.Message{
		Topic: topic, SchemaName: schema, Encoding: "json", Value: v, Time: at, LogTime: uint64(at.UnixNano()),
	})
	for i := range found {
		s.journal.Add(&found[i], s.machine.Circumstances(), s.place)
	}
	return found
}

// told are the facts of the end, as "outcome text".
func told(facts []*events.Fact) []string {
	var out []string
	for i := range facts {
		out = append(out, strings.TrimSpace(facts[i].Outcome+" "+facts[i].Line()))
	}
	return out
}

const (
	log    = "rcl_interfaces/msg/Log"
	status = "action_msgs/msg/GoalStatusArray"
	nav    = "/navigate_to_pose/_action/status"
)

func rosout(level int, node, text string) string {
	return fmt.Sprintf(`{"level":%d,"name":%q,"msg":%q}`, level, node, text)
}

func goals(pairs ...any) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf(`{"goal_info":{"goal_id":{"uuid":%q}},"status":%d}`, pairs[i], pairs[i+1]))
	}
	return `{"status_list":[` + strings.Join(list, ",") + `]}`
}

func TestEqualWarningsAreOneFact(t *testing.T) {
	s := newSource(t, events.Builtin())
	s.at(1, 1)
	for i := range 10_000 {
		s.send(float64(i)*0.1, "/rosout", log, rosout(30, "planner", fmt.Sprintf("no path after %d ms", i)))
	}
	s.at(9, 1) // another place
	s.send(2000, "/rosout", log, rosout(30, "planner", "no path after 3 ms"))
	s.send(2001, "/rosout", log, rosout(20, "planner", "fine"))

	_, facts := s.journal.Close(time.Time{}, 0)
	want := []string{"planner: no path after 0 ms, 10000 times in 17 min", "planner: no path after 3 ms"}
	if diff := cmp.Diff(want, told(facts)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if f := facts[0]; !f.At.Equal(t0) || !f.Last.Equal(t0.Add(999_900*time.Millisecond)) {
		t.Errorf("from %v to %v", f.At, f.Last)
	}
}

// What differs in the number of a name is about another device. If it has very many numbers, they are no names.
func TestDevicesAreToldApart(t *testing.T) {
	s := newSource(t, events.Builtin())
	for i := range 4 {
		n := 1 + i%2
		s.send(float64(i), "/rosout", log, rosout(40, fmt.Sprint("motor_driver_", n), fmt.Sprintf("overcurrent %d A", i)))
		s.send(float64(i), "/rosout", log, rosout(40, "arm", fmt.Sprintf("joint %d limit exceeded", n)))
		for _, hardware := range []string{"can-0x11", "can-0x12"} {
			s.send(float64(i), "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray",
				fmt.Sprintf(`{"status":[{"level":2,"name":"wheel %d","message":"stalled","hardware_id":%q}]}`, n, hardware))
		}
	}
	for i := range 2000 {
		s.send(10+float64(i)/100, "/rosout", log, rosout(30, "shop", fmt.Sprintf("order %d is late", i%1000)))
	}

	_, facts := s.journal.Close(time.Time{}, 0)
	late := 0
	var got []string
	for _, line := range told(facts) {
		if strings.HasPrefix(line, "shop") {
			late++
			continue
		}
		got = append(got, line)
	}
	want := []string{
		"failure motor_driver_1: overcurrent 0 A, 2 times in 2.0 s", "failure arm: joint 1 limit exceeded, 2 times in 2.0 s",
		"failure wheel 1: stalled, 2 times in 2.0 s", "failure wheel 1: stalled, 2 times in 2.0 s",
		"failure motor_driver_2: overcurrent 1 A, 2 times in 2.0 s", "failure arm: joint 2 limit exceeded, 2 times in 2.0 s",
		"failure wheel 2: stalled, 2 times in 2.0 s", "failure wheel 2: stalled, 2 times in 2.0 s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if late > 40 {
		t.Errorf("%d facts of one warning", late)
	}
}

func TestAGoalIsAnEpisode(t *testing.T) {
	s := newSource(t, events.Builtin())
	// What ended before anybody listened is no episode.
	s.send(0, nav, status, goals("00", 6))
	s.send(1, "/goal_pose", "geometry_msgs/msg/PoseStamped", `{"pose":{"position":{"x":6,"y":3,"z":0}}}`)
	s.send(1, nav, status, goals("00", 6, "aa", 2))
	s.send(1.1, "/plan", "nav_msgs/msg/Path", `{"poses":[{"pose":{"position":{"x":0,"y":0,"z":0}}},{"pose":{"position":{"x":3,"y":4,"z":0}}}]}`)
	s.at(3, 1)
	s.send(5, "/rosout", log, rosout(40, "controller", "Failed to make progress"))
	// The actions that serve it are a part of it.
	s.send(5.5, "/follow_path/_action/status", status, goals("bb", 2))
	s.send(6, "/follow_path/_action/status", status, goals("bb", 6))
	s.send(7, nav, status, goals("00", 6, "aa", 6))
	s.send(8, nav, status, goals("00", 6, "aa", 6, "cc", 1))
	s.send(9, nav, status, goals("cc", 4))
	s.send(10, nav, status, goals("dd", 5)) // canceled at once
	s.send(11, nav, status, goals("ee", 2)) // never ends

	done, others := s.journal.Close(time.Time{}, 0)
	if len(others) != 0 {
		t.Errorf("facts outside of all goals: %q", told(others))
	}
	want := [][]string{
		{
			"failure controller: Failed to make progress", "unknown follow_path aborted after 0.5 s",
			"failure navigate_to_pose to x=6 y=3 aborted after 6.0 s: controller: Failed to make progress",
		},
		{"success navigate_to_pose succeeded after 1.0 s"},
		{"partial navigate_to_pose was canceled"},
		nil,
	}
	var got [][]string
	for _, g := range done {
		got = append(got, told(g.Facts))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("facts of the goals (-want +got):\n%s", diff)
	}
	task := done[0].Facts[2].Context["task"].(map[string]any)
	if task["name"] != "navigate_to_pose" || task["plan_length_m"] != 5.0 {
		t.Errorf("task %v", task)
	}
}

func TestAGoalOfROS1IsAnEpisode(t *testing.T) {
	s := newSource(t, events.Builtin())
	list := func(id string, status int) string {
		return fmt.Sprintf(`{"status_list":[{"goal_id":{"id":%q},"status":%d}]}`, id, status)
	}
	for i, status := range []int{0, 1, 1, 4} {
		s.send(float64(i), "/move_base/status", "actionlib_msgs/GoalStatusArray", list("a", status))
	}
	s.send(10, "/move_base/status", "actionlib_msgs/GoalStatusArray", list("b", 1))
	s.send(12, "/move_base/status", "actionlib_msgs/GoalStatusArray", list("b", 3))

	done, _ := s.journal.Close(time.Time{}, 0)
	var got []string
	for _, g := range done {
		got = append(got, told(g.Facts)...)
	}
	want := []string{"failure move_base aborted after 3.0 s", "success move_base succeeded after 2.0 s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// What was said during a goal says so: the goal is the attempt.
func TestTheParametersOfTheMoment(t *testing.T) {
	s := newSource(t, events.Builtin())
	s.send(0, "/parameter_events", "rcl_interfaces/msg/ParameterEvent",
		`{"node":"/controller","changed_parameters":[{"name":"max_speed","value":{"type":3,"double_value":0.8}}]}`)
	s.send(1, nav, status, goals("aa", 2))
	s.send(2, "/rosout", log, rosout(40, "controller", "stuck"))
	s.send(3, nav, status, goals("aa", 6))
	s.send(4, "/rosout", log, rosout(40, "controller", "stuck"))

	done, others := s.journal.Close(time.Time{}, 0)
	want := map[string]any{"controller": map[string]any{"max_speed": 0.8}}
	facts := append(done[0].Facts, others...)
	for i, expected := range []any{want, want, want} {
		if diff := cmp.Diff(expected, facts[i].Context["params"]); diff != "" {
			t.Errorf("params of %q (-want +got):\n%s", facts[i].Text, diff)
		}
		if during := facts[i].Context["event"].(map[string]any)["during"]; (during != nil) != (i == 0) {
			t.Errorf("%q happened during %v", facts[i].Text, during)
		}
	}
}

// A goal that succeeded after its speed was changed says nothing of either speed.
func TestAParameterThatChangesDuringAGoal(t *testing.T) {
	s := newSource(t, events.Builtin())
	speed := func(at, v float64) {
		s.send(at, "/parameter_events", "rcl_interfaces/msg/ParameterEvent", fmt.Sprintf(
			`{"node":"/c","changed_parameters":[{"name":"speed","value":{"type":3,"double_value":%g}},{"name":"mode","value":{"type":4,"string_value":"a"}}]}`, v))
	}
	speed(0, 0.8)
	s.send(1, nav, status, goals("aa", 2))
	speed(2, 0.4)
	s.send(3, nav, status, goals("aa", 4))
	done, _ := s.journal.Close(time.Time{}, 0)
	want := map[string]any{"c": map[string]any{"mode": "a"}}
	if diff := cmp.Diff(want, done[0].Facts[0].Context["params"]); diff != "" {
		t.Errorf("params (-want +got):\n%s", diff)
	}
}

// A new goal of the same action replaces the old one, which its server aborts; that is no failure.
func TestAGoalThatIsReplaced(t *testing.T) {
	s := newSource(t, events.Builtin())
	s.send(0, nav, status, goals("aa", 2))
	s.send(5, nav, status, goals("aa", 6, "bb", 2))
	s.send(9, nav, status, goals("aa", 6, "bb", 6))
	done, _ := s.journal.Close(time.Time{}, 0)
	var got []string
	for _, g := range done {
		got = append(got, told(g.Facts)...)
	}
	want := []string{"partial navigate_to_pose was replaced by another goal after 5.0 s", "failure navigate_to_pose aborted after 4.0 s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// What has neither a name nor a text is still an event.
func TestAnEventWithoutAText(t *testing.T) {
	s := newSource(t, events.Builtin())
	s.send(0, "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", `{"status":[{"level":2,"name":"","message":""}]}`)
	// A message without the fields is of another type, whatever its schema is called.
	s.send(1, "/rosout", log, `{"level":251}`)
	_, facts := s.journal.Close(time.Time{}, 0)
	if diff := cmp.Diff([]string{"failure diagnostics on /diagnostics"}, told(facts)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// An error that goes on while the robot drives is one.
func TestAnErrorThatGoesOn(t *testing.T) {
	s := newSource(t, events.Builtin())
	for i := range 600 {
		s.at(float64(i)*0.1, 0)
		s.send(float64(i)*0.1, "/rosout", log, rosout(40, "lidar", "no data"))
	}
	s.at(0, 50)
	s.send(120, "/rosout", log, rosout(40, "lidar", "no data"))
	_, facts := s.journal.Close(time.Time{}, 0)
	want := []string{"failure lidar: no data, 600 times in 59.9 s", "failure lidar: no data"}
	if diff := cmp.Diff(want, told(facts)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestStatesAndLimits(t *testing.T) {
	s := newSource(t, events.Builtin())
	battery := func(at, share float64) {
		s.send(at, "/battery_state", "sensor_msgs/msg/BatteryState", fmt.Sprintf(`{"percentage":%g}`, share))
	}
	battery(0, 0.5)
	battery(1, 0.14)
	battery(2, 0.16) // below the clearing value
	battery(3, 0.13)
	battery(4, 0.4)
	battery(5, 0.1)
	for i, data := range []string{"false", "true", "true", "false", "true"} {
		s.send(float64(10+i), "/left/estop", "std_msgs/msg/Bool", `{"data":`+data+`}`)
	}
	s.send(20, "/mavros/state", "mavros_msgs/msg/State", `{"mode":"AUTO"}`)
	s.send(21, "/mavros/state", "mavros_msgs/msg/State", `{"mode":"AUTO"}`)
	s.send(22, "/mavros/state", "mavros_msgs/msg/State", `{"mode":"RTL"}`)
	s.send(23, "/safety_mode", "ur_dashboard_msgs/msg/SafetyMode", `{"mode":3}`)
	s.send(24, "uagv/v2/x/1/state", "", `{"errors":[{"errorType":"orderError","errorDescription":"no route","errorLevel":"FATAL"}]}`)
	s.send(25, "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray",
		`{"status":[{"level":0,"name":"a","message":"OK"},{"level":2,"name":"wheel","message":"overcurrent","hardware_id":"m1","values":[{"key":"current","value":"12.4 A"}]}]}`)

	_, facts := s.journal.Close(time.Time{}, 0)
	want := []string{
		"battery is low: 0.14 of its charge is left, 2 times in 4.0 s",
		"failure emergency stop on /left/estop, 2 times in 3.0 s",
		"flight mode is RTL",
		"failure safety mode of the arm: protective stop",
		"failure orderError: no route",
		"failure wheel: overcurrent (current 12.4 A)",
	}
	if diff := cmp.Diff(want, told(facts)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// A rule that finds something else in every message is limited and named; others go on.
func TestARuleThatMatchesEverything(t *testing.T) {
	more, err := events.Parse("mine.yaml", []byte(`{version: 1, rules: [{name: all, topics: ["*"], text: "{text}"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, events.Builtin().Extend(more))
	for i := range 2000 {
		s.send(float64(i), "/chatter", "std_msgs/msg/String", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", i%1000)+"y"))
	}
	s.send(3000, "/rosout", log, rosout(40, "controller", "stuck"))

	_, facts := s.journal.Close(time.Time{}, 0)
	if got := s.journal.Limited()["all"]; got == 0 || len(facts) > 501 {
		t.Errorf("%d facts, %d left out", len(facts), got)
	}
	if last := told(facts)[max(0, len(facts)-1)]; last != "failure controller: stuck" {
		t.Errorf("the last fact is %q", last)
	}
}

func TestExtend(t *testing.T) {
	more, err := events.Parse("mine.yaml", []byte("version: 1\nrules:\n  - {name: ros2-log, disabled: true}\n  - {name: dor, topics: [dor], text: x}\n  - name: door\n    topics: [/door]\n    when: [\"state == stuck\"]\n    text: \"the door is stuck\"\n    failure: [\"state exists\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, events.Builtin().Extend(more))
	s.send(0, "/rosout", log, rosout(40, "controller", "stuck"))
	s.send(1, "/door", "my/Door", `{"state":"stuck"}`)
	s.send(2, "/door", "my/Door", `{"state":"open"}`)
	_, facts := s.journal.Close(time.Time{}, 0)
	if got := s.machine.Unmatched(); len(got) != 1 || got[0] != "dor" {
		t.Errorf("rules without messages: %q", got)
	}
	if diff := cmp.Diff([]string{"failure the door is stuck"}, told(facts)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "version: 1\nrules:\n  - name: x\n    topics: [/a]\n"
	tests := []struct{ name, text, want string }{
		{"version", "version: 2\n", "m.yaml: version: is 2; write version: 1"},
		{"condition", head + "    text: t\n    when: [\"level\"]\n", `m.yaml:3:5: rule "x": when: "level": is no condition`},
		{"number", head + "    text: t\n    when: [\"level > high\"]\n", `"high" is no number`},
		{"regular expression", head + "    text: t\n    when: [\"msg matches (\"]\n", "missing closing )"},
		{"large expression", head + "    text: t\n    when: [\"msg matches ((a{100}){100}){100}\"]\n", "invalid repeat count"},
		{"template", head + "    text: \"{a\"\n", `"a" lacks a }`},
		{"nothing made", head, "a rule makes something"},
		{"two things made", head + "    text: t\n    remember: {task.x: y}\n", "give one of"},
		{"every message", "version: 1\nrules:\n  - name: x\n    text: t\n", "give topics or schemas"},
		{"twice", head + "    text: t\n  - {name: x, topics: [/b], text: t}\n", `m.yaml:6:6: rule "x": a second rule of this name`},
		{"key", head + "    text: t\n    frequency: 3\n", "m.yaml:6:5: bad YAML: unknown field"},
		{"hysteresis", head + "    text: t\n    limit: {value: a, above: 5, clear: 6}\n", "clear lies on the wrong side"},
		{"edge", head + "    text: t\n    on: fall\n", `on: is "fall"; write each, rise or change`},
		{"broken", "version: 1\nrules: [", "bad YAML"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := events.Parse("m.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
