package recording_test

import (
	"bytes"
	stdcmp "cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// Three goals of a navigation, of which the second is aborted after two errors and a recovery.
func TestWhatHappenedInARecording(t *testing.T) {
	data := realFile(t, "recordings/nav_failures.mcap")
	sink := importerstest.New(t)
	run := func(rules *events.Rules) *recording.Report {
		t.Helper()
		src := open(t, write(t, "nav.mcap", data))
		report, err := recording.Import(t.Context(), src, recording.Options{Robot: "r1", Events: rules}, sink, nil)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}

	if before := run(nil); before.Events+uint64(before.Facts) != 0 || before.Stored == 0 {
		t.Fatalf("without rules: %+v", before)
	}
	// Rules find in a recording that is known what its first import did not look for, and nothing else.
	report := run(events.Builtin())
	if report.Stored != 0 || report.Facts != 6 || report.Episodes != 3 {
		t.Errorf("stored %d perceptions, %d facts, %d episodes", report.Stored, report.Facts, report.Episodes)
	}

	var got []string
	for _, f := range sink.Facts {
		s := sink.Sessions[f.Session]
		task, _ := s.Context["task"].(map[string]any)
		got = append(got, strings.Join([]string{task["name"].(string), f.ObservedAt.Format("15:04:05"), f.Outcome, f.Text}, " | "))
		pose := f.Context["spatial"].(map[string]any)["pose"].(map[string]any)
		if x := pose["position"].([]any)[0].(float64); pose["frame_id"] != "map" || x < 1 {
			t.Errorf("%s: pose %v", f.Text, pose)
		}
	}
	want := []string{
		"navigate_to_pose | 16:00:19 | success | navigate_to_pose to x=5 y=3 succeeded after 19.0 s",
		"navigate_to_pose | 16:00:35 | failure | controller_server: Failed to make progress",
		"navigate_to_pose | 16:00:35 | failure | left wheel motor: overcurrent (current 12.4 A), 4 times in 3.0 s",
		"navigate_to_pose | 16:00:36 |  | bt_navigator: Running recovery: spin",
		"navigate_to_pose | 16:00:39 | failure | navigate_to_pose to x=6 y=3 aborted after 19.0 s: controller_server: Failed to make progress; left wheel motor: overcurrent (current 12.4 A)",
		"navigate_to_pose | 16:00:59 | success | navigate_to_pose to x=7 y=3 succeeded after 19.0 s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}

	outcomes := map[float64]int{}
	for _, s := range sink.Sessions {
		if s.Ending.Outcome != nil {
			outcomes[*s.Ending.Outcome]++
		}
	}
	if diff := cmp.Diff(map[float64]int{1: 2, 0: 1}, outcomes); diff != "" {
		t.Errorf("outcomes of the episodes (-want +got):\n%s", diff)
	}
}

// An import that was interrupted after some of its goals had ended goes on.
func TestGoalsOfAnInterruptedImport(t *testing.T) {
	sink := importerstest.New(t)
	run := func() (*recording.Report, error) {
		src := open(t, write(t, "nav.mcap", realFile(t, "recordings/nav_failures.mcap")))
		return recording.Import(t.Context(), src, recording.Options{Events: events.Builtin()}, sink, nil)
	}

	sink.Fail = errors.New("the disk is full")
	if _, err := run(); !errors.Is(err, sink.Fail) {
		t.Fatal(err)
	}
	if len(sink.Facts) == 0 {
		t.Fatal("no goal was stored before the error")
	}
	sink.Fail = nil
	report, err := run()
	if err != nil || report.Episodes != 3 || len(sink.Facts) != 6 {
		t.Errorf("%+v, %v; %d facts", report, err, len(sink.Facts))
	}
}

// Of two robots in one recording each can be chosen, and without a choice the report names them.
func TestTwoRobotsInOneRecording(t *testing.T) {
	var sent []jsonMessage
	send := func(at int, topic, schema, text string) {
		sent = append(sent, jsonMessage{1764000000 + float64(at), topic, schema, text})
	}
	for i, robot := range []string{"/r1", "/r2"} {
		pose := fmt.Sprintf(`{"header":{"frame_id":"map"},"pose":{"pose":{"position":{"x":%d,"y":0,"z":0}}}}`, 10*i)
		status := `{"status_list":[{"goal_info":{"goal_id":{"uuid":"aa"}},"status":%d}]}`
		for at, state := range []int{2, 2, 4 + 2*i} {
			send(i+at, robot+"/amcl_pose", "geometry_msgs/msg/PoseWithCovarianceStamped", pose)
			send(i+at, robot+"/navigate_to_pose/_action/status", "action_msgs/msg/GoalStatusArray", fmt.Sprintf(status, state))
		}
	}

	path := write(t, "two.mcap", jsonMCAP(t, &mcap.WriterOptions{}, sent))
	for namespace, want := range map[string]string{
		"/r1": "success navigate_to_pose succeeded after 2.0 s [0 0 0]", "r2/": "failure navigate_to_pose aborted after 2.0 s [10 0 0]",
	} {
		sink := importerstest.New(t)
		report, err := recording.Import(t.Context(), open(t, path), recording.Options{Events: events.Builtin(), Namespace: namespace}, sink, nil)
		if err != nil || len(report.Robots) > 0 || len(sink.Facts) != 1 {
			t.Fatalf("%s: %+v, %d facts, %v", namespace, report, len(sink.Facts), err)
		}
		f := sink.Facts[0]
		at := f.Context["spatial"].(map[string]any)["pose"].(map[string]any)["position"]
		if got := fmt.Sprint(f.Outcome, " ", f.Text, " ", at); got != want {
			t.Errorf("%s: %s, want %s", namespace, got, want)
		}
	}
	sink := importerstest.New(t)
	report, err := recording.Import(t.Context(), open(t, path), recording.Options{Events: events.Builtin()}, sink, nil)
	if err != nil || !slices.Equal(report.Robots, []string{"/r1", "/r2"}) {
		t.Errorf("robots %q, %v", report.Robots, err)
	}
	var got []string
	for _, f := range sink.Facts {
		at := f.Context["spatial"].(map[string]any)["pose"].(map[string]any)["position"]
		got = append(got, fmt.Sprint(f.Outcome, " ", f.Context["robot"], " ", at))
	}
	want := []string{"success map[namespace:/r1] [0 0 0]", "failure map[namespace:/r2] [10 0 0]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// Each robot has its own place, also for what its nodes say on a topic of all robots. Actions of two arms are of one
// robot, whose place they have.
func TestThePlacesOfTwoRobots(t *testing.T) {
	const began = 1764000000
	var sent []jsonMessage
	for i := range 10 {
		for n, robot := range []string{"r1", "r2"} {
			sent = append(sent, jsonMessage{
				began + float64(i), "/" + robot + "/tf", "tf2_msgs/msg/TFMessage",
				fmt.Sprintf(`{"transforms":[{"header":{"frame_id":"map"},"child_frame_id":"base_link","transform":{"translation":{"x":%d,"y":0,"z":0}}}]}`, 100*n+i),
			})
		}
	}
	for i, robot := range []string{"r1", "r2"} {
		says := func(topic string) jsonMessage {
			return jsonMessage{began + 9 + float64(i)/10, topic, logSchema, fmt.Sprintf(`{"level":40,"name":"%s.planner","msg":"no path"}`, robot)}
		}
		sent = append(sent, says("/"+robot+"/rosout"), says("/rosout"))
	}
	got, report := told(t, jsonMCAP(t, &mcap.WriterOptions{}, sent), recording.Options{}, began)
	want := []string{"9.0 r1.planner: no path, 2 times [9 0 0]", "9.1 r2.planner: no path, 2 times [109 0 0]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if want := []string{"/r1", "/r2"}; !slices.Equal(report.Robots, want) {
		t.Errorf("got robots %q, want %q", report.Robots, want)
	}

	got, _ = told(t, jsonMCAP(t, &mcap.WriterOptions{}, drive(10, func(s float64) float64 { return began + s },
		jsonMessage{4, "/left/move/_action/status", statusSchema, statusOf("aa", 2)},
		jsonMessage{5, "/right/move/_action/status", statusSchema, statusOf("bb", 2)},
		jsonMessage{6, "/right/move/_action/status", statusSchema, statusOf("bb", 6)},
		jsonMessage{7, "/left/move/_action/status", statusSchema, statusOf("aa", 4)},
	)), recording.Options{}, began)
	slices.Sort(got)
	want = []string{
		"6.0 move aborted after 1.0 s [6 0 0]", "7.0 move succeeded after 3.0 s [7 0 0]", "move from 4.0 to 7.0: 1",
		"move from 5.0 to 6.0: 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts of two arms (-want +got):\n%s", diff)
	}
}

// jsonMessage is a message in JSON at a log time in seconds.
type jsonMessage struct {
	at                  float64
	topic, schema, text string
}

func jsonMCAP(t testing.TB, o *mcap.WriterOptions, messages []jsonMessage) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := mcap.NewWriter(&b, o)
	if err == nil {
		err = w.WriteHeader(&mcap.Header{})
	}
	ids := map[string]uint16{}
	for _, m := range messages {
		id, known := ids[m.topic]
		if !known {
			id = uint16(len(ids) + 1)
			ids[m.topic] = id
			err = errors.Join(err,
				w.WriteSchema(&mcap.Schema{ID: id, Name: m.schema, Encoding: "jsonschema", Data: []byte("{}")}),
				w.WriteChannel(&mcap.Channel{ID: id, SchemaID: id, Topic: m.topic, MessageEncoding: "json"}))
		}
		ns := uint64(math.Round(m.at*1e3)) * 1e6
		err = errors.Join(err, w.WriteMessage(&mcap.Message{ChannelID: id, LogTime: ns, PublishTime: ns, Data: []byte(m.text)}))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	statusTopic  = "/navigate_to_pose/_action/status"
	statusSchema = "action_msgs/msg/GoalStatusArray"
	logSchema    = "rcl_interfaces/msg/Log"
)

// statusOf is a status of one goal.
func statusOf(goal string, state int) string {
	return fmt.Sprintf(`{"status_list":[{"goal_info":{"goal_id":{"uuid":%q}},"status":%d}]}`, goal, state)
}

// drive is a robot that moves by 1 m/s in the map for some seconds, with the times of a clock.
func drive(seconds int, clock func(s float64) float64, more ...jsonMessage) []jsonMessage {
	var all []jsonMessage
	for i := range 10 * seconds {
		s := float64(i) / 10
		text := fmt.Sprintf(`{"header":{"frame_id":"map"},"pose":{"pose":{"position":{"x":%g,"y":0,"z":0}}}}`, s)
		all = append(all, jsonMessage{s, "/amcl_pose", "geometry_msgs/msg/PoseWithCovarianceStamped", text})
	}
	all = append(all, more...)
	slices.SortStableFunc(all, func(a, b jsonMessage) int { return stdcmp.Compare(a.at, b.at) })
	for i := range all {
		all[i].at = clock(all[i].at)
	}
	return all
}

// told imports a recording and writes its facts and episodes in lines, with times since a beginning in seconds.
func told(t testing.TB, data []byte, o recording.Options, began float64) ([]string, *recording.Report) {
	t.Helper()
	if o.Events == nil {
		o.Events = events.Builtin()
	}
	sink := importerstest.New(t)
	report, err := recording.Import(t.Context(), open(t, write(t, "told.mcap", data)), o, sink, nil)
	if err != nil {
		t.Fatal(err)
	}
	since := func(at time.Time) string {
		if at.IsZero() {
			return "never"
		}
		return fmt.Sprintf("%.1f", float64(at.UnixMilli())/1e3-began)
	}
	var lines []string
	for _, f := range sink.Facts {
		spatial, _ := f.Context["spatial"].(map[string]any)
		pose, _ := spatial["pose"].(map[string]any)
		position, _ := pose["position"].([]any)
		lines = append(lines, fmt.Sprint(since(f.ObservedAt), " ", f.Text, " ", position))
	}
	for _, s := range sink.Sessions {
		task, _ := s.Context["task"].(map[string]any)
		if s.Ending.At.Before(s.StartedAt) {
			t.Errorf("an episode from %v ends at %v", s.StartedAt, s.Ending.At)
		}
		if task != nil {
			outcome := "unknown"
			if s.Ending.Outcome != nil {
				outcome = fmt.Sprint(*s.Ending.Outcome)
			}
			lines = append(lines, fmt.Sprint(task["name"], " from ", since(s.StartedAt), " to ", since(s.Ending.At), ": ", outcome))
		}
	}
	return lines, report
}

// A clock that is set while a goal is active says when the goal began: as long before as the messages tell.
func TestAGoalWhileTheClockIsSet(t *testing.T) {
	const set = 1764000000
	clock := func(s float64) float64 {
		if s < 10 {
			return 100 + s
		}
		return set + s
	}
	got, _ := told(t, jsonMCAP(t, &mcap.WriterOptions{}, drive(20, clock,
		jsonMessage{4, statusTopic, statusSchema, statusOf("aa", 2)},
		jsonMessage{6, "/rosout", logSchema, `{"level":40,"name":"planner","msg":"no path"}`},
		jsonMessage{15, statusTopic, statusSchema, statusOf("aa", 6)},
	)), recording.Options{}, set)
	want := []string{
		"6.1 planner: no path [6 0 0]",
		"15.0 navigate_to_pose aborted after 10.9 s: planner: no path [15 0 0]",
		"navigate_to_pose from 4.1 to 15.0: 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts and episodes (-want +got):\n%s", diff)
	}
}

// A goal that is active at the end of the recording ends with it.
func TestAGoalThatDoesNotEnd(t *testing.T) {
	const began = 1764000000
	got, _ := told(t, jsonMCAP(t, &mcap.WriterOptions{}, drive(20, func(s float64) float64 { return began + s },
		jsonMessage{4, statusTopic, statusSchema, statusOf("aa", 2)},
	)), recording.Options{}, began)
	want := []string{"navigate_to_pose from 4.0 to 19.9: unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts and episodes (-want +got):\n%s", diff)
	}
}

// A wall clock that is set back while a goal is active does not end the goal, and what is found is the same for all
// chunks of the file.
func TestAGoalWhileTheClockIsSetBack(t *testing.T) {
	const began = 1764000000
	for _, test := range []struct {
		back   float64
		resets int
		want   []string
	}{
		{3600, 1, []string{
			"6.0 planner: slow [6 0 0]",
			"-3588.0 planner: no path, 2 times in 1.0 s [12 0 0]",
			"-3585.0 navigate_to_pose aborted after 10.9 s: planner: no path [15 0 0]",
			"navigate_to_pose from -3595.9 to -3585.0: 0",
		}},
		{5, 0, []string{
			"6.0 planner: slow [6 0 0]",
			"7.0 planner: no path, 2 times in 1.0 s [12 0 0]",
			"10.0 navigate_to_pose aborted after 10.9 s: planner: no path [15 0 0]",
			"navigate_to_pose from -0.9 to 10.0: 0",
		}},
	} {
		clock := func(s float64) float64 {
			if s < 10 {
				return began + s
			}
			return began + s - test.back
		}
		messages := drive(20, clock,
			jsonMessage{4, statusTopic, statusSchema, statusOf("aa", 2)},
			jsonMessage{6, "/rosout", logSchema, `{"level":30,"name":"planner","msg":"slow"}`},
			jsonMessage{12, "/rosout", logSchema, `{"level":40,"name":"planner","msg":"no path"}`},
			jsonMessage{13, "/rosout", logSchema, `{"level":40,"name":"planner","msg":"no path"}`},
			jsonMessage{15, statusTopic, statusSchema, statusOf("aa", 6)},
		)
		for name, o := range map[string]*mcap.WriterOptions{
			"no chunks": {}, "one chunk": {Chunked: true, ChunkSize: 1 << 20}, "small chunks": {Chunked: true, ChunkSize: 1000},
		} {
			got, report := told(t, jsonMCAP(t, o, messages), recording.Options{}, began)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%g s, %s: facts and episodes (-want +got):\n%s", test.back, name, diff)
			}
			if report.ClockResets != test.resets {
				t.Errorf("%g s, %s: %d resets of the clock, want %d", test.back, name, report.ClockResets, test.resets)
			}
		}
	}
}

// The clock of the recorder is set back, and that of the robot, which stamps its messages, is not.
func TestARecorderWhoseClockIsSetBack(t *testing.T) {
	const began = 1764000000
	messages := drive(20, func(s float64) float64 { return began + s },
		jsonMessage{15, "/rosout", logSchema, fmt.Sprintf(`{"stamp":{"sec":%d,"nanosec":0},"level":40,"name":"planner","msg":"no path"}`, began+15)},
		jsonMessage{16, statusTopic, statusSchema, statusOf("aa", 2)},
		jsonMessage{17, statusTopic, statusSchema, statusOf("aa", 6)},
	)
	for i := range messages {
		m := &messages[i]
		sec, nanosec := int(m.at), math.Round((m.at-math.Floor(m.at))*1e9)
		m.text = strings.Replace(m.text, `{"frame_id"`, fmt.Sprintf(`{"stamp":{"sec":%d,"nanosec":%.0f},"frame_id"`, sec, nanosec), 1)
		if m.at >= began+10 {
			m.at -= 3600
		}
	}
	got, report := told(t, jsonMCAP(t, &mcap.WriterOptions{}, messages), recording.Options{}, began)
	want := []string{
		"-3583.0 navigate_to_pose aborted after 1.0 s [17 0 0]",
		"15.0 planner: no path [15 0 0]",
		"navigate_to_pose from -3584.0 to -3583.0: 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts and episodes (-want +got):\n%s", diff)
	}
	if report.ClockResets != 1 {
		t.Errorf("%d resets of the clock, want 1", report.ClockResets)
	}
}

// A simulation that begins again is another run: its goals are not those of the run before.
func TestASimulationThatBeginsAgain(t *testing.T) {
	clock := func(s float64) float64 { return 1 + math.Mod(s, 10) }
	got, report := told(t, jsonMCAP(t, &mcap.WriterOptions{}, drive(20, clock,
		jsonMessage{4, statusTopic, statusSchema, statusOf("aa", 2)},
		jsonMessage{15, statusTopic, statusSchema, statusOf("aa", 2)},
		jsonMessage{17, statusTopic, statusSchema, statusOf("aa", 4)},
	)), recording.Options{}, 0)
	slices.Sort(got)
	want := []string{
		"8.0 navigate_to_pose succeeded after 2.0 s [17 0 0]",
		"navigate_to_pose from 5.0 to 10.9: unknown",
		"navigate_to_pose from 6.0 to 8.0: 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts and episodes (-want +got):\n%s", diff)
	}
	if report.ClockResets != 1 {
		t.Errorf("%d resets of the clock, want 1", report.ClockResets)
	}
}

// A place is between the poses before and after it, at the time of the stamp. Where there is none after it, its stamp
// is that of the pose.
func TestPlacesBetweenPoses(t *testing.T) {
	const began = 1764000000
	pose := func(at, x float64) jsonMessage {
		text := `{"header":{"stamp":{"sec":%d,"nanosec":%d},"frame_id":"map"},"pose":{"pose":{"position":{"x":%g,"y":0,"z":0}}}}`
		text = fmt.Sprintf(text, int(began+at), int(math.Round((at-math.Floor(at))*1e9)), x)
		return jsonMessage{began + at, "/amcl_pose", "geometry_msgs/msg/PoseWithCovarianceStamped", text}
	}
	late := func(logged, stamp float64, text string) jsonMessage {
		text = fmt.Sprintf(`{"stamp":{"sec":%d,"nanosec":%d},"level":40,"name":"planner","msg":%q}`, int(began+stamp),
			int(math.Round((stamp-math.Floor(stamp))*1e9)), text)
		return jsonMessage{began + logged, "/rosout", logSchema, text}
	}
	messages := []jsonMessage{
		pose(0, 0), late(0.25, 0.25, "between"), {began + 0.3, "/state", "std_msgs/msg/String", `{"data":"a"}`}, pose(0.5, 2),
		pose(1, 4), pose(1.5, 6), late(1.6, 0.75, "late"), pose(2, 8), late(2.9, 2.9, "after the last"),
	}
	got, _ := told(t, jsonMCAP(t, &mcap.WriterOptions{}, messages), recording.Options{}, began)
	want := []string{
		"0.2 planner: between [1 0 0]", "0.8 planner: late [3 0 0]", "2.9 planner: after the last [8 0 0]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}

	sink := importerstest.New(t)
	src := open(t, write(t, "x.mcap", jsonMCAP(t, &mcap.WriterOptions{}, messages)))
	if _, err := recording.Import(t.Context(), src, recording.Options{Events: events.Builtin()}, sink, nil); err != nil {
		t.Fatal(err)
	}
	last := sink.Facts[2].Context["spatial"].(map[string]any)["pose"].(map[string]any)["stamp"]
	if want := time.Unix(began+2, 0).UTC().Format(time.RFC3339Nano); last != want {
		t.Errorf("the pose has the stamp %v, want %s", last, want)
	}
	for _, p := range sink.Saved {
		if p.Metadata["topic"] != "/state" {
			continue
		}
		at := p.Context["spatial"].(map[string]any)["pose"].(map[string]any)["position"]
		if got := fmt.Sprintf("%.1f", at); got != "[1.2 0.0 0.0]" {
			t.Errorf("a perception is at %s", got)
		}
	}
}

// A robot that drives by odometry after localization said where it is has moved in the map.
func TestPlacesByOdometry(t *testing.T) {
	const began = 1764000000
	messages := []jsonMessage{{began, "/amcl_pose", "geometry_msgs/msg/PoseWithCovarianceStamped",
		`{"header":{"frame_id":"map"},"pose":{"pose":{"position":{"x":5,"y":5,"z":0},"orientation":{"x":0,"y":0,"z":1,"w":0}}}}`}}
	for i := range 101 {
		messages = append(messages, jsonMessage{began + float64(i)/10, "/odom", "nav_msgs/msg/Odometry",
			fmt.Sprintf(`{"header":{"frame_id":"odom"},"child_frame_id":"base_link","pose":{"pose":{"position":{"x":%g,"y":0,"z":0}}}}`, float64(i)/10)})
	}
	localized := messages[0]
	messages[0], messages[1] = messages[1], localized
	messages = append(messages, jsonMessage{began + 10, "/rosout", logSchema, `{"level":40,"name":"planner","msg":"no path"}`})
	got, _ := told(t, jsonMCAP(t, &mcap.WriterOptions{}, messages), recording.Options{}, began)
	if want := []string{"10.0 planner: no path [-5 5 0]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A topic that is left out gives no events; poses are read nevertheless.
func TestEventsOfTopicsThatAreLeftOut(t *testing.T) {
	const began = 1764000000
	data := jsonMCAP(t, &mcap.WriterOptions{}, drive(10, func(s float64) float64 { return began + s },
		jsonMessage{4, "/rosout", logSchema, `{"level":40,"name":"planner","msg":"no path"}`},
		jsonMessage{5, "/front/rosout", logSchema, `{"level":40,"name":"front","msg":"blocked"}`},
	))
	for name, test := range map[string]struct {
		o    recording.Options
		want []string
	}{
		"all":      {recording.Options{}, []string{"4.0 planner: no path [4 0 0]", "5.0 front: blocked [5 0 0]"}},
		"excluded": {recording.Options{Exclude: []string{"/rosout", "/amcl_pose"}}, []string{"5.0 front: blocked [5 0 0]"}},
		"chosen":   {recording.Options{Topics: []string{"/rosout"}}, []string{"4.0 planner: no path [4 0 0]"}},
	} {
		if got, _ := told(t, data, test.o, began); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
