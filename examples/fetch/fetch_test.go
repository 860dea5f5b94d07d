package fetch_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// python is the interpreter with the packages of requirements.txt: that of PYTHON, or
// python3. Without them the test is skipped, except in CI.
func python(t *testing.T) string {
	t.Helper()
	path := cmp.Or(os.Getenv("PYTHON"), "python3")
	out, err := exec.CommandContext(t.Context(), path, "-c", "import gymnasium_robotics, mujoco").CombinedOutput()
	if err == nil {
		return path
	}
	const how = "python3 -m venv fetchenv && fetchenv/bin/pip install -r examples/fetch/requirements.txt && PYTHON=$PWD/fetchenv/bin/python go test ./examples/fetch"
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if os.Getenv("CI") != "" {
		t.Fatalf("%s: %v: %s; run %s", path, err, lines[len(lines)-1], how)
	}
	t.Skipf("%s: %v: %s; run %s", path, err, lines[len(lines)-1], how)
	return ""
}

type episode struct {
	Task, Phase, Way string
	Seed, Episode    int
	Error            float64
	Parameters       map[string]any
}

// The short form: 2 seeds and 20 episodes in each phase. Memory has answered for each
// place, and even 20 episodes bring the puck nearer to its goal than one strike for all.
func TestShortForm(t *testing.T) {
	interpreter, dir := python(t), t.TempDir()
	program := filepath.Join(dir, "robotmem")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/robotmem/robotmem-go/cmd/robotmem").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results := filepath.Join(dir, "results.jsonl")
	run := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		cmd := exec.CommandContext(t.Context(), interpreter, append([]string{"-B", "fetch.py", "--results", results, "--episodes", "20"}, args...)...)
		cmd.Env = append(os.Environ(), "ROBOTMEM_BINARY="+program, "OMP_NUM_THREADS=1")
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, &out)
		}
		return out.String()
	}
	run("--seeds", "1", "--task", "slide")
	said := run("--seeds", "2") // goes on
	for _, part := range []string{"FetchPush-v4, 2 seeds, phases of 20 episodes", "FetchSlide-v4, 2 seeds", "| advise | ", "| best constant | ", "t = "} {
		if !strings.Contains(said, part) {
			t.Errorf("%q was not printed:\n%s", part, said)
		}
	}
	data, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if want := 2 * 2 * 7 * 20; len(lines) != want {
		t.Errorf("%d episodes, want %d", len(lines), want)
	}
	errors, suggested := map[string][]float64{}, map[any]bool{}
	for _, line := range lines {
		var e episode
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Task == "slide" && e.Phase == "C" {
			errors[e.Way] = append(errors[e.Way], e.Error)
		}
		if e.Task == "slide" && e.Way == "advise" {
			suggested[e.Parameters["heading"]] = true
		}
		if action, _ := e.Parameters["action"].([]any); e.Task == "push" && e.Way == "recall" && e.Phase == "C" && len(action) != 4 {
			t.Errorf("%+v used no recalled action", e)
		}
	}
	if len(suggested) < 25 { // none where no puck came within 20 cm
		t.Errorf("%d strikes suggested for 40 places: %v", len(suggested), suggested)
	}
	for way, e := range errors {
		slices.Sort(e)
		t.Logf("slide, %-8s median distance from the goal %.3f m", way, e[len(e)/2])
	}
	if got, without := errors["advise"][20], errors["constant"][20]; got > 0.8*without {
		t.Errorf("the median distance from the goal is %.3f m with advise and %.3f m with the best constant", got, without)
	}
	folder := filepath.Join(dir, "figures")
	run("--report", folder)
	for _, name := range []string{"rates.csv", "fetch-push.svg", "fetch-slide.svg"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() < 500 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
