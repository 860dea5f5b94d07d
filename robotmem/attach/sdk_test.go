package attach_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/attach"
)

// python is the interpreter of an environment with the SDK of Foxglove. Without it the test is skipped, in CI it
// fails.
func python(t testing.TB) string {
	t.Helper()
	p := os.Getenv("ROBOTMEM_FOXGLOVE_PYTHON")
	if p == "" {
		const how = "ROBOTMEM_FOXGLOVE_PYTHON is not set; run .ci/venv bin/foxglove foxglove-sdk==0.30.3 websockets mcap rosbags mcap-ros2-support and set it to bin/foxglove/bin/python"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	return p
}

// file is a recording beside the repository.
func file(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("the recordings of ../shared/data are not there: %v", err)
	}
	return path
}

// player is the server of the SDK of Foxglove that plays a file.
type player struct {
	port int

	mu        sync.Mutex
	published []string // topics
	done      chan struct{}
}

func play(t testing.TB, path string, arguments ...string) *player {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python(t), append([]string{"testdata/player.py", path}, arguments...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })

	p, listening := &player{done: make(chan struct{})}, make(chan int, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var line struct {
				Port, Done int
				Published  string
			}
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				continue
			}
			switch {
			case line.Port > 0:
				listening <- line.Port
			case line.Done > 0:
				return
			case line.Published != "":
				p.mu.Lock()
				p.published = append(p.published, line.Published)
				p.mu.Unlock()
			}
		}
	}()
	select {
	case p.port = <-listening:
	case <-p.done:
		t.Fatal("the player has ended")
	case <-time.After(time.Minute):
		t.Fatal("the player does not listen")
	}
	return p
}

// message is what is compared of a message.
type message struct {
	Topic, Schema, Encoding string
	Time                    uint64
	Data                    string
}

// exported are the messages of an episode, by topic and time.
func exported(t testing.TB, m robotmem.Node, session string) map[message]int {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.mcap")
	f, err := os.Create(path)
	if err == nil {
		_, err = sensors.ExportMCAP(t.Context(), m, f, sensors.ExportOptions{Session: session})
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	src, err := recording.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	out := map[message]int{}
	for one, err := range src.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out[message{one.Topic, one.SchemaName + string(one.SchemaData), one.MessageEncoding, one.LogTime, string(one.Data)}]++
	}
	return out
}

// The SDK of Foxglove plays real recordings with their bytes and schemas and is restarted three times. What is recorded
// is what an import of the file stores, and so is what happened.
func TestTheSDKPlaysRecordings(t *testing.T) {
	for _, name := range []string{
		"recordings/nav_failures.mcap", "rosbag2/cdr_test_0.mcap", "rosbag2/talker.mcap", "rosbag2/topics_and_services.mcap", "rosbag2/wbag_0.mcap",
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			path := file(t, name)
			p := play(t, path, "--speed", "10", "--restarts", "3")
			live, imported := open(t), open(t)

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				<-p.done
				time.Sleep(200 * time.Millisecond)
				cancel()
			}()
			report, err := attach.Run(ctx, attach.NewFoxglove(fmt.Sprint("ws://127.0.0.1:", p.port), attach.FoxgloveOptions{}), attach.Options{
				Node: live, Sink: &sensors.Sink{Node: live}, Record: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			if report.Connections != 4 || len(report.Dropped)+len(report.Problems) > 0 {
				t.Errorf("report %+v", report)
			}

			src, err := recording.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			want, err := recording.Import(t.Context(), src, recording.Options{Events: events.Builtin()}, &sensors.Sink{Node: imported}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if report.Recording == nil || report.Recording.Messages != want.Messages {
				t.Fatalf("recorded %+v, want %d messages", report.Recording, want.Messages)
			}
			if diff := cmp.Diff(exported(t, imported, want.Session), exported(t, live, report.Recording.Session)); diff != "" {
				t.Errorf("messages (-imported +attached):\n%.2000s", diff)
			}
			if diff := cmp.Diff(said(t, imported), said(t, live)); diff != "" {
				t.Errorf("facts (-imported +attached):\n%s", diff)
			}
		})
	}
}

// said are the facts of a memory with their outcomes and times.
func said(t testing.TB, m robotmem.Node) map[string]int {
	t.Helper()
	res, err := m.List(t.Context(), &robotmem.ListRequest{Type: "fact", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, f := range res.Memories {
		out[fmt.Sprintln(f.ObservedAt.UTC(), f.Outcome, f.Content)]++
	}
	return out
}

// A warning reaches the robot through the server of the SDK.
func TestTheRobotIsWarned(t *testing.T) {
	path, m := file(t, "recordings/nav_failures.mcap"), open(t)
	src, err := recording.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := recording.Import(t.Context(), src, recording.Options{Events: events.Builtin()}, &sensors.Sink{Node: m}, nil); err != nil {
		t.Fatal(err)
	}

	p := play(t, path, "--speed", "10", "--shift", "86400")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-p.done
		cancel()
	}()
	var warnings []attach.Warning
	report, err := attach.Run(ctx, attach.NewFoxglove(fmt.Sprint("ws://127.0.0.1:", p.port), attach.FoxgloveOptions{}), attach.Options{
		Node: m, Sink: &sensors.Sink{Node: m}, OnWarning: func(w attach.Warning) { warnings = append(warnings, w) },
	})
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}

	// The place is reached after 34.9 s, at 0.1 m/s.
	var kinds []string
	for _, w := range warnings {
		kinds = append(kinds, w.Kind)
		if at := w.Time.Sub(time.Unix(1764000000+86400, 0)).Seconds(); at > 32.9 {
			t.Errorf("warned after %.1f s: %s", at, w.Text)
		}
	}
	if diff := cmp.Diff([]string{"place", "goal"}, kinds); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	want := []string{"/robotmem/warning", "/robotmem/diagnostics", "/robotmem/warning", "/robotmem/diagnostics"}
	if diff := cmp.Diff(want, p.published); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
}
