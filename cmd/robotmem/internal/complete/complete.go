// Package complete completes command lines of a program from its grammar, for bash, zsh and fish.
package complete

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Candidate is a word that may stand at the cursor.
type Candidate struct {
	Text string
	Help string
}

// Values returns the words that a flag or an argument of a command takes, such as the names that a memory holds.
// known is false if they are not known.
type Values func(command string, value *kong.Value) (words []Candidate, known bool)

// line is a command line up to the cursor.
type line struct {
	node    *kong.Node
	args    int        // positional arguments before the cursor
	literal bool       // "--" was given: no flags follow
	pending *kong.Flag // the flag whose value is at the cursor, nil without one
}

// Line returns what may stand for the last of the words, which begin after the name of the program. files says that
// names of files may stand there too.
func Line(app *kong.Application, words []string, values Values) (found []Candidate, files bool) {
	if len(words) == 0 {
		words = []string{""}
	}

	l := &line{node: app.Node}
	for _, word := range words[:len(words)-1] {
		l.read(word)
	}

	current := words[len(words)-1]

	name, begun, assigned := strings.Cut(current, "=")
	switch {
	case l.pending != nil:
		found, files = l.valuesOf(l.pending.Value, values)
	case !l.literal && assigned && strings.HasPrefix(name, "--"):
		flag := l.flag(name[2:], 0)
		if flag == nil {
			return nil, false
		}
		current = begun

		found, files = l.valuesOf(flag.Value, values)
		for i := range found {
			found[i].Text = name + "=" + found[i].Text
		}
		current = name + "=" + current
	case !l.literal && strings.HasPrefix(current, "-"):
		found = l.flags()
	default:
		if l.args == 0 {
			found = l.commands()
		}
		if arg := l.argument(); arg != nil {
			more, isFile := l.valuesOf(arg, values)
			found, files = append(found, more...), isFile
		}
	}

	return slices.DeleteFunc(found, func(c Candidate) bool { return !strings.HasPrefix(c.Text, current) }), files
}

// read takes a whole word before the cursor.
func (l *line) read(word string) {
	switch {
	case l.pending != nil:
		l.pending = nil
	case l.literal || !strings.HasPrefix(word, "-") || word == "-":
		if child := l.child(word); child != nil && l.args == 0 && !l.literal {
			l.node = child
			return
		}
		l.args++
	case word == "--":
		l.literal = true
	case strings.HasPrefix(word, "--"):
		if flag := l.flag(word[2:], 0); flag != nil && takesValue(flag) {
			l.pending = flag
		}
	default:
		// The last of several short flags may take the next word, unless its value follows at once.
		for i, short := range word[1:] {
			flag := l.flag("", short)
			if flag == nil || takesValue(flag) {
				if flag != nil && i == len(word)-2 {
					l.pending = flag
				}
				return
			}
		}
	}
}

func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

func (l *line) child(name string) *kong.Node {
	for _, child := range l.node.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}

	return nil
}

// nodes are the command and those above it, and the command that it stands for without a name.
func (l *line) nodes() (all []*kong.Node) {
	if l.node.DefaultCmd != nil {
		all = append(all, l.node.DefaultCmd)
	}

	for n := l.node; n != nil; n = n.Parent {
		all = append(all, n)
	}

	return all
}

// flag is the flag with the name, or with the short name.
func (l *line) flag(name string, short rune) *kong.Flag {
	for _, n := range l.nodes() {
		for _, f := range n.Flags {
			if short != 0 && f.Short == short || short == 0 && f.Name == name {
				return f
			}
		}
	}

	return nil
}

func (l *line) flags() (found []Candidate) {
	for _, n := range l.nodes() {
		for _, f := range n.Flags {
			if f.Hidden {
				continue
			}
			found = append(found, Candidate{"--" + f.Name, f.Help})
			if f.Tag.Negatable != "" {
				found = append(found, Candidate{"--no-" + f.Name, f.Help})
			}
		}
	}

	return found
}

func (l *line) commands() (found []Candidate) {
	for _, child := range l.node.Children {
		if !child.Hidden {
			found = append(found, Candidate{child.Name, child.Help})
		}
	}

	return found
}

// argument is the positional argument at the cursor, nil without one. The last one may take several words.
func (l *line) argument() *kong.Value {
	for _, n := range l.nodes() {
		if len(n.Positional) == 0 {
			continue
		}
		if l.args < len(n.Positional) {
			return n.Positional[l.args]
		}
		if last := n.Positional[len(n.Positional)-1]; last.IsCumulative() {
			return last
		}
	}

	return nil
}

// filePlaceholders stand for names of files and folders in the help.
var filePlaceholders = []string{"FILE", "DIR", "PATH"}

func (l *line) valuesOf(v *kong.Value, values Values) (found []Candidate, files bool) {
	command := l.node
	if command.DefaultCmd != nil {
		command = command.DefaultCmd
	}
	if words, known := values(command.Path(), v); known {
		return words, false
	}

	if v.Enum != "" {
		for _, word := range v.EnumSlice() {
			found = append(found, Candidate{Text: word})
		}
		return found, false
	}

	isFile := v.Tag.Type == "path" || slices.Contains(filePlaceholders, v.Tag.PlaceHolder) || v.Flag == nil && v.Name == "file"

	return nil, isFile
}
