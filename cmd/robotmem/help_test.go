package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem"
)

// runArgs runs the program in this process.
func runArgs(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestEveryCommandShowsAnExample(t *testing.T) {
	var paths []string
	for _, n := range parser(t).Model.Leaves(true) {
		paths = append(paths, n.Path())
	}
	for _, path := range paths {
		code, out, errs := runArgs(t, append(strings.Fields(path), "--help")...)
		if code != 0 || errs != "" {
			t.Errorf("%s --help: exit code %d, stderr %q", path, code, errs)
		}
		if !strings.Contains(out, "robotmem "+path) || !strings.Contains(out, "Examples:") {
			t.Errorf("%s --help shows no example:\n%s", path, out)
		}
	}
	for line := range strings.Lines(exampleText) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "= "); ok && !slices.Contains(paths, path) {
			t.Errorf("an example of %q, which is no command", path)
		}
	}
}

// Every field of every request can be given on the command line.
func TestEveryFieldIsAFlagOrArgument(t *testing.T) {
	for _, op := range robotmem.Ops() {
		if op.CLI == "" {
			continue
		}
		_, out, _ := runArgs(t, append(strings.Fields(op.CLI), "--help")...)
		for _, field := range op.Fields() {
			name := strings.ReplaceAll(field, "_", "-")
			if !strings.Contains(out, "--"+name) && !strings.Contains(out, "<"+name+">") && !strings.Contains(out, "--[no-]"+name) {
				t.Errorf("%s: no flag for %s", op.CLI, field)
			}
		}
	}
}

func TestEveryKindHasAnExitCode(t *testing.T) {
	for _, k := range []robotmem.Kind{robotmem.Invalid, robotmem.Forbidden, robotmem.NotFound, robotmem.Conflict,
		robotmem.TooLarge, robotmem.Unavailable, robotmem.Corrupt, robotmem.Internal} {
		if exitCodes[k] == 0 {
			t.Errorf("%s ends with 0", k)
		}
	}
}

func TestStoredTextCannotSteerTheTerminal(t *testing.T) {
	got := printed.OneLine("a\x1b[2Jb\nc\td\u202ee\x7f\U000E0041\xff")
	if want := `a\u{1b}[2Jb c d\u{202e}e\u{7f}\u{e0041}` + "\uFFFD"; got != want {
		t.Errorf("oneLine = %q, want %q", got, want)
	}
}

// contains reports whether a text has all the parts.
func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
