package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

var (
	// block is a fenced block with its language and, behind it, the name of a file.
	block = regexp.MustCompile("(?ms)^```(console|python) ?([\\w.]*)\n(.*?)^```$")
	// volatile matches the parts of an output that differ between runs: ids, times, durations and sizes of files.
	volatile = []struct {
		found *regexp.Regexp
		as    string
	}{
		{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d( UTC| [+-]\d\d:\d\d)?`), "TIME"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\d|memory-\d{8}T[\d.]+Z`), "DATE"},
		{regexp.MustCompile(`query ms: [\d.]+`), "query DURATION"},
		{regexp.MustCompile(`[\d.]+ ?(ms|µs|us|s)\b`), "DURATION"},
		{regexp.MustCompile(`[\d.]+ ?([KMG]i?B|bytes)\b`), "SIZE"},
		{regexp.MustCompile(` +`), " "},
	}
)

// home is the home folder of the reader in the tutorials.
const readersHome = "/home/ada"

func steady(output string) string {
	for _, v := range volatile {
		output = v.found.ReplaceAllString(output, v.as)
	}
	return output
}

// The tutorials show what the program prints: each block "console" is run, in a home folder of its own, and
// blocks of Python that name a file are written to it. -update writes the output into the page.
func TestTutorials(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the tutorials use a Unix shell")
	}

	pages, err := filepath.Glob("../../docs/tutorials/*.md")
	if err != nil || len(pages) < 2 {
		t.Fatal(pages, err)
	}
	pages = append(pages, "../../docs/zh/first-half-hour.md")
	for _, page := range pages {
		t.Run(strings.TrimPrefix(page, "../../docs/"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte("$ python3 ")) {
				if _, err := exec.LookPath("python3"); err != nil && !rounds.InCI() {
					t.Skip("needs Python: apt-get install python3")
				}
			}

			// A command computes the vector of a new fact for a tenth of a second at most. On a busy machine
			// one may be missing, and the next command answers without it: try again, and wait for the vectors.
			kept, made := string(data), ""
			for try := range 5 {
				made = follow(t, kept, try > 0)
				if steady(made) == steady(kept) {
					return
				}
			}
			if *updateDocs {
				if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("run go test ./cmd/robotmem -run Tutorials -update\n%s", cmp.Diff(steady(kept), steady(made)))
		})
	}
}

// follow does what a page says and returns the page with the output of its commands. With patience it completes the
// vectors after each new memory.
func follow(t *testing.T, page string, patience bool) string {
	t.Helper()

	home := t.TempDir()
	source, err := filepath.Abs("../../robotmem/client/python/src")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("robotmem")
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+home, "ROBOTMEM_HOME=", "ROBOTMEM_BINARY="+program, "PYTHONPATH="+source, "PYTHONDONTWRITEBYTECODE=1")

	return block.ReplaceAllStringFunc(page, func(text string) string {
		m := block.FindStringSubmatch(text)
		if m[1] == "python" {
			if m[2] != "" {
				if err := os.WriteFile(filepath.Join(home, m[2]), []byte(m[3]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			return text
		}

		out := "```console\n"
		for line := range strings.Lines(m[3]) {
			command, isCommand := strings.CutPrefix(line, "$ ")
			if !isCommand {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			cmd.Dir, cmd.Env = home, env
			printed, err := cmd.CombinedOutput()
			if err != nil {
				t.Logf("%s: %v", command, err)
			}
			if patience && strings.Contains(command, "robotmem learn") {
				complete := exec.CommandContext(t.Context(), program, "reembed")
				complete.Dir, complete.Env = home, env
				if text, err := complete.CombinedOutput(); err != nil {
					t.Logf("reembed: %v: %s", err, text)
				}
			}
			out += line + strings.ReplaceAll(string(printed), home, readersHome)
			if !strings.HasSuffix(out, "\n") {
				out += "\n"
			}
		}

		return out + "```"
	})
}
