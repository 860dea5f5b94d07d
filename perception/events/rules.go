package events

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// Limits of a file of rules.
const (
	maxFile      = 1 << 20 // bytes
	maxRules     = 1000
	maxCondition = 1000 // characters
)

//go:embed events.yaml
var builtinText []byte

// Rules are compiled rules. They are immutable, and safe for several goroutines.
type Rules struct {
	rules []*Rule
	id    string
}

// ID is equal for the same rules. Those of the program keep theirs, so that a recording that was imported
// by an earlier version is known.
func (r *Rules) ID() string { return r.id }

// Rule is one rule. Its name identifies it in facts, and a later rule of this name replaces it.
type Rule struct {
	Name string

	schemas, topics, encodings []string

	each      fieldPath
	when      conditions
	edge      edge
	key       template
	text      template
	stamp     fieldPath
	details   fieldPath
	failure   conditions
	success   conditions
	context   []assignment
	remember  []assignment
	limit     *limit
	goal      *goalRule
	params    *parameterRule
	disabled  bool
	own       bool // of a file that extends the built-in rules
	condition bool // failure or success is given
}

// edge is when a rule whose condition holds makes an event.
type edge int

const (
	onEach   edge = iota // for every message
	onRise               // when the condition begins to hold
	onChange             // when the key changes
)

// limit is a bound of a number, with hysteresis.
type limit struct {
	value        fieldPath
	bound, clear float64
	below        bool
}

// goalRule reads goals and how they ended.
type goalRule struct {
	id, status fieldPath
	words      map[string]goalState
	name       fieldPath // empty: the topic
	before     string    // the end of the topic, which the name lacks
}

type goalState int

const (
	goalUnknown goalState = iota
	goalActive
	goalSucceeded
	goalFailed
	goalCanceled
)

// parameterRule reads changes of parameters.
type parameterRule struct {
	node  fieldPath
	lists []fieldPath
}

// assignment sets a path of a context.
type assignment struct {
	path  []string
	value template
}

// ParseError says where a file of rules is wrong.
type ParseError struct {
	File         string // "" if it is unknown
	Line, Column int    // from 1; 0 if they are unknown
	Reason       string
}

func (e *ParseError) Error() string {
	where := e.File
	if where == "" {
		where = "events"
	}
	if e.Line > 0 {
		where += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}

	return where + ": " + e.Reason
}

func errorAt(at *token.Token, format string, args ...any) *ParseError {
	e := &ParseError{Reason: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		e.Line, e.Column = at.Position.Line, at.Position.Column
	}
	return e
}

// Builtin returns the rules of the program.
var Builtin = sync.OnceValue(func() *Rules {
	r, err := Parse("events.yaml", builtinText)
	if err != nil {
		panic(err) // the file is a part of the program, and its tests read it
	}
	r.id = "builtin"

	return r
})

// fileOf is the form of a file.
type fileOf struct {
	Version int
	Rules   []located
}

// written is a rule as a file has it.
type written struct {
	Name, Text, Key, Each, Stamp, Details, On string
	Schemas, Topics, Encodings                []string
	When, Failure, Success                    []string
	Context                                   map[string]string
	Remember                                  map[string]string
	Names                                     map[string]map[string]string
	Limit                                     *struct {
		Value        string
		Above, Below *float64
		Clear        *float64
	}
	Goal *struct {
		ID, Status, Name, Before           string
		Active, Success, Canceled, Failure []any
	}
	Parameters *struct {
		Node  string
		Lists []string
	}
	Disabled bool
}

// located is a rule with its place in the file.
type located struct {
	written
	at *token.Token
}

func (l *located) UnmarshalYAML(n ast.Node) error {
	l.at = n.GetToken()
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		// The token of a mapping is its first colon.
		l.at = m.Values[0].Key.GetToken()
	}
	return yaml.NodeToValue(n, &l.written, yaml.Strict())
}

// Parse compiles a file of rules. Every error is a *[ParseError].
func Parse(name string, data []byte) (*Rules, error) {
	r, err := parse(data)
	if err != nil {
		err.File = name
		return nil, err
	}
	sum := sha256.Sum256(data)
	r.id = hex.EncodeToString(sum[:6])

	return r, nil
}

func parse(data []byte) (*Rules, *ParseError) {
	if len(data) > maxFile {
		return nil, errorAt(nil, "the file takes %d bytes; at most %d are read", len(data), maxFile)
	}

	f, err := decode(data)
	if err != nil {
		return nil, err
	}

	switch {
	case f.Version != 1:
		return nil, errorAt(nil, "version: is %d; write version: 1", f.Version)
	case len(f.Rules) > maxRules:
		return nil, errorAt(nil, "%d rules; at most %d are read", len(f.Rules), maxRules)
	}

	out, seen := &Rules{}, map[string]bool{}

	for i := range f.Rules {
		l := &f.Rules[i]
		rule, reason := compile(&l.written)
		if reason == nil && seen[rule.Name] {
			reason = errors.New("a second rule of this name")
		}
		if reason != nil {
			return nil, errorAt(l.at, "rule %q: %v", l.Name, reason)
		}
		seen[rule.Name] = true
		out.rules = append(out.rules, rule)
	}

	return out, nil
}

func decode(data []byte) (f *fileOf, err *ParseError) {
	// The library panics on some bad files.
	defer func() {
		if problem := recover(); problem != nil {
			err = errorAt(nil, "bad YAML: %v", problem)
		}
	}()

	f = &fileOf{}
	failed := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(f)
	if at, ok := errors.AsType[yaml.Error](failed); ok {
		return nil, errorAt(at.GetToken(), "bad YAML: %s", at.GetMessage())
	}
	if failed != nil && failed != io.EOF {
		return nil, errorAt(nil, "bad YAML: %v", failed)
	}

	return f, nil
}

// Extend returns the rules of r and those of more. One of more replaces one of r that has its name;
// "disabled: true" is enough to switch a rule off.
func (r *Rules) Extend(more *Rules) *Rules {
	out := &Rules{rules: slices.Clone(r.rules), id: r.id + "+" + more.id}

	for _, given := range more.rules {
		rule := *given
		rule.own = true
		at := slices.IndexFunc(out.rules, func(old *Rule) bool { return old.Name == rule.Name })
		if at < 0 {
			out.rules = append(out.rules, &rule)
		} else {
			out.rules[at] = &rule
		}
	}

	return out
}

// Names are the names of the rules that are on, in their order.
func (r *Rules) Names() []string {
	var out []string

	for _, rule := range r.rules {
		if !rule.disabled {
			out = append(out, rule.Name)
		}
	}

	return out
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

func compile(w *written) (*Rule, error) {
	r := &Rule{
		Name: w.Name, topics: w.Topics, encodings: w.Encodings, disabled: w.Disabled,
		condition: len(w.Failure)+len(w.Success) > 0,
	}
	for _, s := range w.Schemas {
		r.schemas = append(r.schemas, message.ShortName(s))
	}

	switch {
	case !ruleName.MatchString(w.Name):
		return nil, errors.New("name: is lower-case letters, digits and -, at most 64, and begins with a letter")
	case w.Disabled:
		return r, nil
	case len(w.Schemas)+len(w.Topics) == 0:
		return nil, errors.New("give topics or schemas: a rule for every message is none")
	}

	for _, glob := range w.Topics {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("topics: %q: %w", glob, err)
		}
	}

	var err error
	on, ok := map[string]edge{"": onEach, "each": onEach, "rise": onRise, "change": onChange}[w.On]
	if r.edge = on; !ok {
		return nil, fmt.Errorf("on: is %q; write each, rise or change", w.On)
	}
	if on == onChange && w.Key == "" {
		return nil, errors.New("on: change needs a key, the text whose change counts")
	}

	for _, c := range []struct {
		name string
		from []string
		to   *conditions
	}{{"when", w.When, &r.when}, {"failure", w.Failure, &r.failure}, {"success", w.Success, &r.success}} {
		if *c.to, err = parseConditions(c.from); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}

	for _, f := range []struct {
		name, from string
		to         *fieldPath
	}{{"each", w.Each, &r.each}, {"stamp", w.Stamp, &r.stamp}, {"details", w.Details, &r.details}} {
		if *f.to, err = parsePath(f.from); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}

	if r.text, err = parseTemplate(w.Text, w.Names); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	if r.key, err = parseTemplate(w.Key, nil); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	if r.context, err = parseAssignments(w.Context, w.Names); err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}

	braced := map[string]string{}
	for path, field := range w.Remember {
		braced[path] = "{" + field + "}"
	}
	if r.remember, err = parseAssignments(braced, w.Names); err != nil {
		return nil, fmt.Errorf("remember: %w", err)
	}

	return r, r.compileParts(w)
}

// compileParts compiles the blocks of a rule that not every rule has.
func (r *Rule) compileParts(w *written) error {
	makes := 0

	if l := w.Limit; l != nil {
		if (l.Above == nil) == (l.Below == nil) {
			return errors.New("limit: give above or below")
		}
		r.limit = &limit{below: l.Below != nil}
		if l.Above != nil {
			r.limit.bound = *l.Above
		} else {
			r.limit.bound = *l.Below
		}
		r.limit.clear = r.limit.bound
		if l.Clear != nil {
			r.limit.clear = *l.Clear
		}
		if r.limit.below != (r.limit.clear >= r.limit.bound) && r.limit.clear != r.limit.bound {
			return errors.New("limit: clear lies on the wrong side of the bound")
		}

		var err error
		if r.limit.value, err = parsePath(l.Value); err != nil || len(r.limit.value.names) == 0 {
			return fmt.Errorf("limit: value: name a field; %w", errors.Join(err))
		}
	}

	if g := w.Goal; g != nil {
		makes++
		if err := r.compileGoal(w); err != nil {
			return fmt.Errorf("goal: %w", err)
		}
	}

	if p := w.Parameters; p != nil {
		makes++
		r.params = &parameterRule{}

		var err error
		if r.params.node, err = parsePath(p.Node); err != nil {
			return fmt.Errorf("parameters: node: %w", err)
		}

		for _, l := range p.Lists {
			list, err := parsePath(l)
			if err != nil {
				return fmt.Errorf("parameters: lists: %w", err)
			}
			r.params.lists = append(r.params.lists, list)
		}
	}

	if len(r.remember) > 0 {
		makes++
	}
	if len(r.text) > 0 {
		makes++
	}

	switch {
	case makes == 0:
		return errors.New("give text, goal, remember or parameters: a rule makes something")
	case makes > 1:
		return errors.New("give one of text, goal, remember and parameters")
	}

	return nil
}

func (r *Rule) compileGoal(w *written) error {
	g, out := w.Goal, &goalRule{before: w.Goal.Before, words: map[string]goalState{}}

	var err error
	if out.id, err = parsePath(g.ID); err != nil || len(out.id.names) == 0 {
		return fmt.Errorf("id: name a field; %w", errors.Join(err))
	}
	if out.status, err = parsePath(g.Status); err != nil || len(out.status.names) == 0 {
		return fmt.Errorf("status: name a field; %w", errors.Join(err))
	}
	if g.Name != "topic" {
		if out.name, err = parsePath(g.Name); err != nil || len(out.name.names) == 0 {
			return fmt.Errorf("name: topic, or a field; %w", errors.Join(err))
		}
	}

	for _, words := range []struct {
		from []any
		to   goalState
	}{{g.Active, goalActive}, {g.Success, goalSucceeded}, {g.Canceled, goalCanceled}, {g.Failure, goalFailed}} {
		for _, word := range words.from {
			out.words[fmt.Sprint(word)] = words.to
		}
	}
	if len(g.Active) == 0 || len(g.Success) == 0 {
		return errors.New("give the values of status that are active and success")
	}
	r.goal = out

	return nil
}

// matches reports whether the rule is for the messages of a topic.
func (r *Rule) matches(topic, schema, encoding string) bool {
	switch {
	case r.disabled:
		return false
	case len(r.schemas) > 0 && !slices.Contains(r.schemas, message.ShortName(schema)):
		return false
	case len(r.encodings) > 0 && !slices.Contains(r.encodings, encoding):
		return false
	}

	return len(r.topics) == 0 || slices.ContainsFunc(r.topics, func(glob string) bool { return topicMatches(glob, topic) })
}

// topicMatches reports whether a glob is that of a topic. A * matches also slashes.
func topicMatches(glob, topic string) bool {
	const slash = "\x00"
	ok, err := path.Match(strings.ReplaceAll(strings.ToLower(glob), "/", slash), strings.ReplaceAll(strings.ToLower(topic), "/", slash))
	return ok && err == nil
}
