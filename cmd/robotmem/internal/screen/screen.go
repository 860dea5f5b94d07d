// Package screen lays out text for a terminal: widths of characters, tables, colours.
package screen

import (
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Screen is where text is written.
type Screen struct {
	Width int  // in columns, 0 for a file or a pipe
	Color bool // text may be coloured
}

// Of returns the screen of a stream. color is auto, always or never.
func Of(out any, color string, env func(string) (string, bool)) (s Screen) {
	if env == nil {
		env = os.LookupEnv
	}

	f, isFile := out.(*os.File)
	if isFile && isatty.IsTerminal(f.Fd()) {
		s.Width = width(f, env)
	}

	s.Color = colored(color, s.Width > 0, env)

	return s
}

// narrowest is the least width for which tables are made smaller.
const narrowest = 40

func width(f *os.File, env func(string) (string, bool)) int {
	if text, ok := env("COLUMNS"); ok {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			return max(n, narrowest)
		}
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil || n <= 0 {
		return 80
	}

	return max(n, narrowest)
}

// colored follows no-color.org and bixense.com/clicolors.
func colored(color string, terminal bool, env func(string) (string, bool)) bool {
	set := func(name string) bool {
		v, _ := env(name)
		return v != ""
	}
	forced, _ := env("CLICOLOR_FORCE")
	off, _ := env("CLICOLOR")
	kind, _ := env("TERM")

	switch {
	case color == "always":
		return true
	case color == "never", set("NO_COLOR"):
		return false
	case forced != "" && forced != "0":
		return true
	}

	return terminal && off != "0" && kind != "dumb"
}

// colours of outcomes, states and kinds of memories. Words without a colour are printed as they are.
var colours = map[string]string{
	"success": "32", "healthy": "32", "ok": "32", "created": "32", "active": "32", "proven": "32",
	"failure": "31", "failed": "31", "damaged": "31", "suspect": "31",
	"partial": "33", "duplicate": "33", "mixed": "33", "warning": "33",
	"unknown": "2", "forgotten": "2", "superseded": "2", "closed": "2",
	"constraint": "35", "postmortem": "35", "gotcha": "35",
	"fact": "36", "perception": "36", "observation": "36", "preference": "36", "decision": "36",
	"pattern": "36", "tradeoff": "36", "root_cause": "36", "self_defect": "36", "config": "36",
	"worldview": "36", "revert": "36", "architecture": "36", "observation_code": "36", "observation_debug": "36",
}

// Paint colours a word by what it says.
func (s Screen) Paint(word string) string { return s.paint(word, word) }

func (s Screen) paint(word, text string) string {
	code := colours[word]
	if !s.Color || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Columns is the number of columns that a text takes.
func Columns(text string) int { return uniseg.StringWidth(text) }

// Cut cuts a text to a number of columns, with … in the last.
func Cut(text string, columns int) string {
	if Columns(text) <= columns {
		return text
	}

	var b strings.Builder

	used := 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		if used += g.Width(); used > columns-1 {
			break
		}
		b.WriteString(g.Str())
	}

	return b.String() + "…"
}

const (
	gap = 2 // columns between two of a table
	// readable is what a long text keeps before the last columns are left out, shortest what any keeps.
	readable = 20
	shortest = 8
	leastOf  = 2 // columns that are never left out
)

// Table lays out rows below a header, as wide as the screen at most, and names the columns that do not fit. Words of the
// columns in painted get a colour.
func (s Screen) Table(header []string, rows [][]string, painted func(column string) bool) (lines, left []string) {
	natural := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			natural[i] = max(natural[i], Columns(cell))
		}
	}

	widths := s.fit(natural)
	line := func(row []string, paint bool) string {
		var b strings.Builder

		for i, width := range widths {
			cut := Cut(row[i], width)
			pad := strings.Repeat(" ", width-Columns(cut)+gap)
			if paint && painted(header[i]) {
				cut = s.paint(row[i], cut)
			}
			b.WriteString(cut)
			if i < len(widths)-1 {
				b.WriteString(pad)
			}
		}

		return b.String()
	}

	lines = append(lines, line(header, false))
	for _, row := range rows {
		lines = append(lines, line(row, true))
	}

	return lines, header[len(widths):]
}

// fit returns the widths of the columns that fit: long texts are made shorter, then the last columns are left out.
func (s Screen) fit(natural []int) []int {
	for n := len(natural); ; n-- {
		widths := append([]int{}, natural[:n]...)
		if s.Width == 0 || shrink(widths, s.Width, readable) {
			return widths
		}
		if n <= leastOf {
			shrink(widths, s.Width, shortest)
			return widths
		}
	}
}

// shrink takes from the widest columns until the table fits, and reports whether it does.
func shrink(widths []int, screen, least int) bool {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}

	for ; total > screen; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= least {
			return false
		}
		widths[widest]--
	}

	return true
}
