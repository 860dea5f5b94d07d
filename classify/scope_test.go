package classify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/classify"
)

func TestScope(t *testing.T) {
	for _, tt := range []struct {
		name, text      string
		files, entities []string
	}{
		{"seed", "grip_force=12.5N works best because sensor was calibrated", nil, []string{"grip_force"}},
		{"text order, unique", "b_2 before a_1, then b_2 again", nil, []string{"b_2", "a_1"}},
		{"values are no names", "12.5N 10_000 3.14 1e-3 0.5m/s 50kHz 2MPa 3 mmHg v1.2.3 10/min", nil, nil},
		{"prose is no name", "The robot(s) went and/or stopped, e.g. at 10:30. See Fig. 3 (left).", nil, nil},
		{"paths", "see src/arm/grip.go:42, ./run.sh, ../a.py and launch.py.", []string{"src/arm/grip.go", "./run.sh", "../a.py", "launch.py"}, nil},
		{"paths of the system", "/etc/robot/limits.yaml, /dev/ttyUSB0 and ~/maps/home", []string{"/etc/robot/limits.yaml", "/dev/ttyUSB0", "~/maps/home"}, nil},
		{"hidden and odd files", ".golangci.yml, my-file_2.JSON, a.b.tar.json, __init__.py", []string{".golangci.yml", "my-file_2.JSON", "a.b.tar.json", "__init__.py"}, nil},
		{"unknown endings", "node.js, example.com, a.zzz", nil, nil},
		{"an address is no path", "http://host:80/a/b.html?x_y=1, then c_d", nil, []string{"c_d"}},
		{"topics", "listens on /cmd_vel, /arm/joint_states/ and /tf; 5 /min", nil, []string{"/cmd_vel", "/arm/joint_states", "/tf"}},
		{"message types", "geometry_msgs/msg/Twist", nil, []string{"geometry_msgs/msg/Twist"}},
		{"snake", "MAX_TORQUE, spatial.object_position, __init__, left_arm/right_arm", nil, []string{"MAX_TORQUE", "spatial.object_position", "left_arm", "right_arm"}},
		{"camel", "GripController sets gripForce and OpenCV, not Robot or NASA", nil, []string{"GripController", "gripForce", "OpenCV"}},
		{"calls", "open() then arm.Move() and move_to(x, y), ns::Func(), not force(N)", nil, []string{"open", "arm.Move", "move_to", "Func"}},
		{"code spans", "`go test ./...` and `x` but not `12.5N` or ``", nil, []string{"go test ./...", "x"}},
		{"a code span is tried as a word first", "`a/b.go` `grip_force` `f()`", []string{"a/b.go"}, []string{"grip_force", "f"}},
		{"code span with names inside", "`cat /etc/x.conf`", []string{"/etc/x.conf"}, []string{"cat /etc/x.conf"}},
		{"open code span", "`a_b\nc`", nil, []string{"a_b"}},
		{"between Han", "发现load_config函数读取config.yaml，然后崩溃", []string{"config.yaml"}, []string{"load_config"}},
		{"not UTF-8", "\xffa_b\xfe\x00c_d", nil, []string{"a_b", "c_d"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := builtIn(t).Classify(tt.text, 0)
			if diff := cmp.Diff(append([]string{}, tt.files...), got.ScopeFiles); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{}, tt.entities...), got.ScopeEntities); diff != "" {
				t.Errorf("entities (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScopeIsCapped(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "name_%d f%d.go ", i, i)
	}
	got := builtIn(t).Classify(text.String(), 0)
	if len(got.ScopeFiles) != 32 || len(got.ScopeEntities) != 32 {
		t.Errorf("got %d files, %d entities, want 32 each", len(got.ScopeFiles), len(got.ScopeEntities))
	}
	if got.ScopeFiles[31] != "f31.go" {
		t.Errorf("the last file is %s, want the first 32 of the text", got.ScopeFiles[31])
	}
}

func TestConfidence(t *testing.T) {
	rules := builtIn(t)
	for _, tt := range []struct {
		name, text string
		contextLen int
		want       float64
	}{
		{"nothing", "the cup is red", 0, 0.80},
		{"empty", "", 0, 0.80},
		{"context of 20 bytes", "the cup is red", 20, 0.80},
		{"context of 21 bytes", "the cup is red", 21, 0.85},
		{"file", "see limits.yaml", 0, 0.85},
		{"code span", "set `x`", 0, 0.85},
		{"code span of a value", "set it to `12`", 0, 0.85},
		{"call", "stop() blocks", 0, 0.85},
		{"call of a package", "arm.Stop() blocks", 0, 0.85},
		{"code span and call count once", "`x` and stop()", 0, 0.85},
		{"fence", "```\nx\n```", 0, 0.85},
		{"a bare name is no code", "grip_force is 12", 0, 0.80},
		{"cause", "wet because of rain", 0, 0.85},
		{"cause in Chinese", "因为下雨", 0, 0.85},
		{"cause in the seed", "grip_force=12.5N works best because sensor was calibrated", 0, 0.85},
		{"file and cause", "a.go fails because of rain", 0, 0.90},
		{"file, code and cause", "a.go fails because `x` is 3", 0, 0.95},
		{"capped", "a.go fails because `x` is 3", 100, 0.95},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rules.Classify(tt.text, tt.contextLen).Confidence; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSeedExample(t *testing.T) {
	got := builtIn(t).Classify("grip_force=12.5N works best because sensor was calibrated", 0)
	want := classify.Result{
		Category:      "root_cause",
		Tags:          []string{"calibration", "force", "grasp", "observation", "root_cause", "sensor"},
		Confidence:    0.85,
		ScopeFiles:    []string{},
		ScopeEntities: []string{"grip_force"},
		Outcome:       classify.Success,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
