package screen

import (
	"os"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

func TestColourGoesByTheEnvironment(t *testing.T) {
	for _, tt := range []struct {
		color    string
		terminal bool
		env      []string
		want     bool
	}{
		{"auto", true, nil, true},
		{"auto", false, nil, false},
		{"always", false, []string{"NO_COLOR=1"}, true},
		{"never", true, []string{"CLICOLOR_FORCE=1"}, false},
		{"auto", true, []string{"NO_COLOR=1"}, false},
		{"auto", true, []string{"NO_COLOR="}, true},
		{"auto", true, []string{"TERM=dumb"}, false},
		{"auto", true, []string{"CLICOLOR=0"}, false},
		{"auto", false, []string{"CLICOLOR_FORCE=1"}, true},
		{"auto", false, []string{"CLICOLOR_FORCE=0"}, false},
		{"auto", false, []string{"CLICOLOR_FORCE=1", "NO_COLOR=1"}, false},
	} {
		if got := colored(tt.color, tt.terminal, env(tt.env...)); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
	if s := Of(&strings.Builder{}, "auto", env()); s != (Screen{}) {
		t.Errorf("a buffer: %+v", s)
	}
	if f, err := os.Open(os.DevNull); err != nil || Of(f, "auto", env("COLUMNS=100")).Width != 0 {
		t.Errorf("no terminal has a width: %v", err)
	}
}

func everything(string) bool { return true }

// Columns stand below each other, whatever the script of the texts.
func TestTablesAreAligned(t *testing.T) {
	rows := [][]string{{"1", "a cup", "x"}, {"2", "厨房的杯子很重", "x"}, {"3", "Tür 👩‍🔧 é", "x"}, {"10", "한국어", "x"}}
	lines, _ := Screen{}.Table([]string{"ID", "TEXT", "END"}, rows, everything)
	for _, line := range lines {
		before := line[:strings.LastIndexAny(line, "xE")]
		if strings.HasSuffix(line, "END") {
			before = strings.TrimSuffix(line, "END")
		}
		if got := Columns(before); got != 4+14+2 {
			t.Errorf("%q: the last column begins at %d", line, got)
		}
	}
}

func TestTablesFitTheScreen(t *testing.T) {
	header := []string{"ID", "TEXT", "AT", "MORE"}
	rows := [][]string{
		{"1", strings.Repeat("杯", 80), "2026-03-01 10:00:00 +01:00", "a"},
		{"2", strings.Repeat("word ", 40), "-", strings.Repeat("b", 30)},
	}
	for width, want := range map[int]string{40: "AT MORE", 60: "MORE", 100: "", 400: ""} {
		lines, left := Screen{Width: width}.Table(header, rows, everything)
		if got := strings.Join(left, " "); got != want {
			t.Errorf("a screen of %d: %q is left out, want %q", width, got, want)
		}
		for _, line := range lines {
			if got := Columns(line); got > width {
				t.Errorf("%d columns on a screen of %d: %s", got, width, line)
			}
		}
		if cut := strings.Contains(strings.Join(lines, ""), "…"); cut != (width < 400) {
			t.Errorf("a screen of %d: cut is %v", width, cut)
		}
	}
	lines, left := Screen{}.Table(header, rows, everything)
	if len(left) > 0 || strings.Contains(strings.Join(lines, ""), "…") {
		t.Errorf("cut in a file: %q %q", left, lines)
	}
	// Two columns stay, whatever the screen.
	lines, _ = Screen{Width: 10}.Table([]string{"AAAAAAAAAA", "BBBBBBBBBB"}, nil, everything)
	if got := lines[0]; got != "AAAAAAA…  BBBBBBB…" {
		t.Errorf("got %q", got)
	}
}

func TestCutCountsColumns(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{{"杯子很重", 8, "杯子很重"}, {"杯子很重", 7, "杯子很…"}, {"杯子很重", 6, "杯子…"}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"é́́é́é", 2, "é́́…"}} {
		if got := Cut(tt.text, tt.columns); got != tt.want {
			t.Errorf("%s to %d: got %q, want %q", tt.text, tt.columns, got, tt.want)
		}
	}
}

func TestColourDoesNotMoveColumns(t *testing.T) {
	rows := [][]string{{"failure", "x"}, {"success", "x"}, {"other", "x"}}
	colored, _ := Screen{Color: true}.Table([]string{"OUTCOME", "END"}, rows, func(c string) bool { return c == "OUTCOME" })
	if want := "\x1b[31mfailure\x1b[0m  x"; colored[1] != want {
		t.Errorf("got %q, want %q", colored[1], want)
	}
	if want := "other    x"; colored[3] != want {
		t.Errorf("got %q, want %q", colored[3], want)
	}
}
