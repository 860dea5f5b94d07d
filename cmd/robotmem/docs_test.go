package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/used"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Lists of the reference are made from the code. A page has a list between the lines "<!-- made: NAME -->"
// and "<!-- end -->"; the text around it is written by hand.

var updateDocs = flag.Bool("update", false, "write the lists of docs/reference that are made from the code")

const reference = "../../docs/reference/"

// checkMade compares the list of a page with the one that make returns for the kept list, or writes it.
func checkMade(t *testing.T, page, name string, make func(kept string) string) {
	t.Helper()

	data, err := os.ReadFile(reference + page)
	if err != nil {
		t.Fatal(err)
	}
	begin := "<!-- made: " + name + " -->\n"
	before, rest, found := strings.Cut(string(data), begin)
	kept, after, ended := strings.Cut(rest, "<!-- end -->")
	if !found || !ended {
		t.Fatalf("%s has no list %q", page, name)
	}

	made := "\n" + make(kept) + "\n"
	if *updateDocs {
		if err := os.WriteFile(reference+page, []byte(before+begin+made+"<!-- end -->"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(kept, made); diff != "" {
		t.Errorf("%s: run go test ./cmd/robotmem -run ReferenceIsMade -update\n%s", page, diff)
	}
}

// cell is a text as a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

// code is a text as code in a cell.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// operationRows are all operations, or those that are tools of MCP.
func operationRows() string {
	var b strings.Builder

	b.WriteString("| operation | route | command | MCP | changes | does |\n|---|---|---|---|---|---|\n")
	for _, op := range robotmem.Ops() {
		tool, changes := "", "yes"
		if op.Hints.Tool {
			tool = "tool"
		}
		switch {
		case op.Hints.ReadOnly:
			changes = ""
		case op.Hints.Destructive:
			changes = "may remove"
		}
		first, _, _ := strings.Cut(op.Doc, ". ")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", code(op.Name), code(op.Route), code(op.CLI), tool, changes, cell(strings.TrimSuffix(first, ".")))
	}

	return b.String()
}

func toolRows() string {
	var b strings.Builder

	b.WriteString("| tool | title | changes | fields |\n|---|---|---|---|\n")
	for _, op := range robotmem.Ops() {
		if !op.Hints.Tool {
			continue
		}
		changes := "yes"
		switch {
		case op.Hints.ReadOnly:
			changes = ""
		case op.Hints.Destructive:
			changes = "may remove"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code(op.Name), op.Title, changes, code(strings.Join(op.Fields(), " ")))
	}

	return b.String()
}

// parser is the grammar of the command line.
func parser(t *testing.T) *kong.Kong {
	t.Helper()

	_, _, p, err := newParser()
	if err != nil {
		t.Fatal(err)
	}

	return p
}

// commandText describes each command: its help, its arguments and its own flags.
func commandText(p *kong.Kong) string {
	var b strings.Builder

	for _, n := range p.Model.Leaves(true) {
		usage := "robotmem " + n.Path()
		for _, arg := range n.Positional {
			usage += " " + arg.Summary()
		}
		fmt.Fprintf(&b, "### %s\n\n%s\n\n```\n%s\n```\n\n", n.Path(), cell(strings.TrimSpace(n.Help)), usage)

		rows := ""
		for _, arg := range n.Positional {
			rows += fmt.Sprintf("| %s | %s |\n", code(arg.Summary()), cell(arg.Help))
		}
		for _, f := range n.Flags {
			rows += fmt.Sprintf("| %s | %s |\n", code(f.String()), cell(f.Help))
		}
		if rows != "" {
			b.WriteString("| argument or flag | meaning |\n|---|---|\n" + rows + "\n")
		}
	}

	return strings.TrimRight(b.String(), "\n") + "\n"
}

// settingRow is a setting in the table; the last column is written by hand.
var settingRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|.*\\| ([^|]*) \\|$")

// settingRows has every setting with its spellings, its default and where it is used. It keeps the meanings.
func settingRows(p *kong.Kong, kept string) string {
	meanings := map[string]string{}
	for _, m := range settingRow.FindAllStringSubmatch(kept, -1) {
		meanings[m[1]] = m[2]
	}

	flags := map[string]string{}
	for _, f := range p.Model.Flags {
		flags[f.Name] = "`--" + f.Name + "`"
	}
	for _, n := range p.Model.Leaves(true) {
		for _, f := range n.Flags {
			setting := strings.ReplaceAll(f.Name, "-", "_")
			if use, ok := used.Usages[setting]; ok && slices.Contains(use.By, n.Path()) && flags[f.Name] == "" {
				flags[f.Name] = "`--" + f.Name + "` of `" + n.Path() + "`"
			}
		}
	}

	var b strings.Builder
	b.WriteString("| setting | flag | default | used for | by | needs | meaning |\n|---|---|---|---|---|---|---|\n")
	usual := defaults()
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		use := used.Usages[name]
		value := ""
		if v := fmt.Sprint(usual[name]); v != "" && v != "[]" && v != "map[]" {
			value = code(v)
		}
		kinds := map[used.Target]string{used.OnFile: "file", used.OnSite: "site", used.OnNode: "node"}
		var on []string
		for _, kind := range []used.Target{used.OnFile, used.OnSite, used.OnNode} {
			if use.On&kind != 0 {
				on = append(on, kinds[kind])
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", code(name), flags[strings.ReplaceAll(name, "_", "-")], value,
			strings.Join(on, ", "), code(strings.Join(use.By, " ")), code(use.Needs), meanings[name])
	}

	return b.String()
}

func TestReferenceIsMade(t *testing.T) {
	p := parser(t)

	checkMade(t, "operations.md", "operations", func(string) string { return operationRows() })
	checkMade(t, "mcp.md", "tools", func(string) string { return toolRows() })
	checkMade(t, "commands.md", "commands", func(string) string { return commandText(p) })
	checkMade(t, "exit-codes.md", "exit codes", func(string) string { return exitRows() })
	checkMade(t, "configuration.md", "settings", func(kept string) string {
		rows := settingRows(p, kept)
		for _, m := range settingRow.FindAllStringSubmatch(rows, -1) {
			if strings.TrimSpace(m[2]) == "" {
				t.Errorf("configuration.md: write the meaning of %s into its row", m[1])
			}
		}
		return rows
	})
}

// exitRows are the codes with which the program ends.
func exitRows() string {
	var b strings.Builder

	b.WriteString("| code | meaning | next step |\n|---|---|---|\n")
	for _, exit := range exits {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", exit.code, kinds.ReplaceAllString(exit.meaning, "`$0`"), exit.next)
	}

	return b.String()
}

// kinds are the kinds of errors in a text.
var kinds = regexp.MustCompile(`\b(unavailable|conflict|internal|invalid|forbidden|too_large|not_found|corrupt)\b`)

// The list of exit codes has every kind of error with its code, and no kind with another.
func TestTheExitCodesNameEveryKind(t *testing.T) {
	named := 0
	for _, exit := range exits {
		for _, kind := range kinds.FindAllString(exit.meaning, -1) {
			named++
			if got := exitCodes[robotmem.Kind(kind)]; got != exit.code {
				t.Errorf("%s ends with %d, and is listed with %d", kind, got, exit.code)
			}
		}
	}
	if named != len(exitCodes) {
		t.Errorf("%d kinds are listed, of %d", named, len(exitCodes))
	}
}
