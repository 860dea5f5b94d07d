package foxglove_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// patience is how long a test waits before it calls something stuck. It is no measure of speed: under the
// race detector, on a loaded machine, the largest test takes half a minute.
const patience = 3 * time.Minute

// python returns the interpreter with the SDK of Foxglove.
func python(t testing.TB) string {
	t.Helper()
	path := os.Getenv("ROBOTMEM_FOXGLOVE_PYTHON")
	if path == "" {
		const how = "ROBOTMEM_FOXGLOVE_PYTHON is not set: run .ci/venv bin/foxglove foxglove-sdk==0.30.3 websockets mcap rosbags mcap-ros2-support, and set it to bin/foxglove/bin/python"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}

	return path
}

// shared returns the path of a recording that the project's folder has beside it.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the recordings of ../shared/data are not there: %v", err)
		}
		t.Skipf("the recordings of ../shared/data are not there: %v", err)
	}

	return path
}

// said is a line that a program of testdata writes.
type said struct {
	What           string
	Port, Messages int

	Topic, Encoding, Schema, SchemaEncoding, Definition, Data string

	Command, ID string
	Speed       float32
	Seek        *uint64

	Text   json.RawMessage // a message of JSON
	Binary string          // one that is not, as hex
}

// program is a program of testdata. It ends with the test.
type program struct {
	t     testing.TB
	stdin io.Writer
	lines chan said
}

func start(t testing.TB, script string, arguments ...string) *program {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python(t), append([]string{"-u", filepath.Join("testdata", script)}, arguments...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	p := &program{t, in, make(chan said, 10_000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 64<<20)
		for s.Scan() {
			var line said
			if err := json.Unmarshal(s.Bytes(), &line); err != nil {
				t.Errorf("%s says %.200q: %v", script, s.Text(), err)
			}
			p.lines <- line
		}
	}()
	t.Cleanup(func() {
		in.Close()
		stuck := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		defer stuck.Stop()
		<-read
		cmd.Wait()
	})

	return p
}

// tell gives the program a line.
func (p *program) tell(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// await returns the next line of a kind.
func (p *program) await(what string) said {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the program ended without saying %q", what)
			}
			if line.What == what {
				return line
			}
		case <-deadline:
			p.t.Fatalf("the program does not say %q", what)
		}
	}
}

// next returns the next value of a channel.
func next[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-c:
		if !ok {
			t.Fatal("nothing more comes")
		}

		return v
	case <-time.After(patience):
		t.Fatal("it does not come")
		panic("unreachable")
	}
}
