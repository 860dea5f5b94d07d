// Package manual writes the pages of the manual, one for each command, from the grammar of the program.
package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Manual has what the pages need beside the grammar.
type Manual struct {
	App     *kong.Application
	Version string
	Date    string      // of the version, as 2026-03-01; "" if it is not known
	Exits   [][2]string // codes and what they mean
}

// Name is the name of the page of a command, and of the program for the root.
func (m *Manual) Name(n *kong.Node) string {
	return strings.Join(append([]string{m.App.Name}, strings.Fields(n.Path())...), "-")
}

// Pages are the nodes that have a page: the program, its commands and the groups of commands.
func (m *Manual) Pages() (all []*kong.Node) {
	var walk func(n *kong.Node)

	walk = func(n *kong.Node) {
		if n.Hidden {
			return
		}

		all = append(all, n)
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(m.App.Node)

	return all
}

// Page writes the page of a node.
func (m *Manual) Page(out io.Writer, n *kong.Node) error {
	p := &page{out: out}
	name := m.Name(n)
	p.printf(".TH %s 1 %q %q %q\n", strings.ToUpper(escape(name)), m.Date, m.App.Name+" "+m.Version, "Manual of "+m.App.Name)
	// No hyphens and no wide spaces: paths and JSON are copied from here.
	p.printf(".nh\n.ad l\n")
	p.section("NAME")
	p.printf("%s \\- %s\n", escape(name), escape(strings.TrimSuffix(n.Help, ".")))
	p.section("SYNOPSIS")
	p.printf(".B %s\n", escape(strings.TrimSpace(m.App.Name+" "+n.Path())))

	if len(n.Flags) > 0 {
		p.printf("[\\fIflags\\fR]\n")
	}

	for _, arg := range n.Positional {
		p.printf("%s\n", escape(arg.Summary()))
	}
	if len(n.Children) > 0 {
		p.printf("\\fIcommand\\fR ...\n")
	}

	about, examples, _ := strings.Cut(n.Detail, "Examples:\n\n")
	p.section("DESCRIPTION")
	p.paragraphs(n.Help)
	p.paragraphs(about)

	if len(n.Children) > 0 {
		m.commands(p, n)
	}
	if len(n.Positional) > 0 {
		p.section("ARGUMENTS")

		for _, arg := range n.Positional {
			p.item(arg.Summary(), arg.Help)
		}
	}

	m.flags(p, n)

	if examples != "" {
		p.section("EXAMPLES")
		p.printf(".nf\n")

		for line := range strings.Lines(examples) {
			p.printf("%s\n", escape(strings.TrimSpace(line)))
		}
		p.printf(".fi\n")
	}

	p.section("EXIT STATUS")

	for _, exit := range m.Exits {
		p.item(exit[0], exit[1])
	}

	m.seeAlso(p, n)

	return p.err
}

func (m *Manual) commands(p *page, n *kong.Node) {
	p.section("COMMANDS")

	for _, child := range n.Leaves(true) {
		p.item(child.Path(), child.Help)
	}
}

// flags writes those of the command, and on the page of the program those that every command takes.
func (m *Manual) flags(p *page, n *kong.Node) {
	shown := slices.DeleteFunc(slices.Clone(n.Flags), func(f *kong.Flag) bool { return f.Hidden })
	if len(shown) > 0 {
		p.section("OPTIONS")
	}

	for _, f := range shown {
		p.item(f.String(), f.Help)
	}

	if n.Parent != nil {
		p.printf(".PP\nEvery command also takes the settings of \\fB%s\\fR(1).\n", escape(m.App.Name))
	}
}

func (m *Manual) seeAlso(p *page, n *kong.Node) {
	var names []string

	if n.Parent != nil {
		names = append(names, m.Name(n.Parent))
	}

	for _, child := range n.Children {
		if !child.Hidden {
			names = append(names, m.Name(child))
		}
	}
	if len(names) == 0 {
		return
	}

	p.section("SEE ALSO")

	for i, name := range names {
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		p.printf(".BR %s (1)%s\n", escape(name), end)
	}
}

// page writes roff and keeps the first error.
type page struct {
	out   io.Writer
	err   error
	begun bool // a paragraph of the section is written
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

func (p *page) section(name string) {
	p.printf(".SH %s\n", name)
	p.begun = false
}

// item writes a term and what it means.
func (p *page) item(term, text string) {
	p.printf(".TP\n\\fB%s\\fR\n%s\n", escape(term), escape(oneLine(text)))
}

func (p *page) paragraphs(text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if part = oneLine(part); part == "" {
			continue
		}
		if p.begun {
			p.printf(".PP\n")
		}
		p.printf("%s\n", escape(part))
		p.begun = true
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// escape makes roff print a text as it is.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}

	return s
}
