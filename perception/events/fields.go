package events

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// fieldPath names a field of a message: pose.position.x, or length(poses), the length of a path in metres.
type fieldPath struct {
	names  []string
	length bool
}

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func parsePath(s string) (p fieldPath, err error) {
	if inner, ok := strings.CutPrefix(s, "length("); ok {
		if s, ok = strings.CutSuffix(inner, ")"); !ok {
			return p, fmt.Errorf("%q lacks a )", inner)
		}
		p.length = true
	}
	if s == "" {
		return p, nil
	}

	p.names = strings.Split(s, ".")
	for _, name := range p.names {
		if !fieldName.MatchString(name) {
			return p, fmt.Errorf("%q is no name of a field", name)
		}
	}

	return p, nil
}

// of returns the field, or an empty value.
func (p fieldPath) of(v *message.Value) *message.Value {
	at := v.At(p.names...)
	if p.length {
		return lengthOf(at)
	}
	return at
}

// lengthOf returns the length of a list of poses, in the unit of their positions.
func lengthOf(v *message.Value) *message.Value {
	sum, last := 0.0, (*message.Value)(nil)

	for i := range v.List {
		at := v.List[i].At("pose", "position")
		if at.Kind != message.Struct {
			at = v.List[i].At("position")
		}
		x, y, z := at.At("x"), at.At("y"), at.At("z")
		if !x.IsNumber() || !y.IsNumber() {
			return &message.Value{}
		}
		if last != nil {
			sum += math.Hypot(math.Hypot(x.Float-last.At("x").Float, y.Float-last.At("y").Float), z.Float-last.At("z").Float)
		}
		last = at
	}

	if last == nil {
		return &message.Value{}
	}

	return &message.Value{Kind: message.Float64, Float: math.Round(sum*1000) / 1000}
}

// maxText bounds the text of a field, in bytes.
const maxText = 2 << 10

// textOf writes a value as a person reads it. A list of bytes, such as a UUID, is hexadecimal.
func textOf(v *message.Value) string {
	switch {
	case v.Kind == message.String:
		return strings.ToValidUTF8(v.Text[:min(len(v.Text), maxText)], "")
	case v.Kind == message.Bool:
		return strconv.FormatBool(v.Float != 0)
	case v.Kind == message.Float32:
		return strconv.FormatFloat(v.Float, 'g', 6, 64)
	case v.IsNumber():
		return strconv.FormatFloat(v.Float, 'f', -1, 64)
	case v.Kind == message.Bytes:
		return hex.EncodeToString(v.Data[:min(len(v.Data), 64)])
	}

	return ""
}

// plain returns a value as JSON has it, nil if it has nothing that a context can hold.
func plain(v *message.Value, depth int) any {
	switch {
	case v.Kind == message.Bool:
		return v.Float != 0
	case v.IsNumber():
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return nil
		}
		return v.Float
	case v.Kind == message.String, v.Kind == message.Bytes:
		return textOf(v)
	case v.Kind == message.Struct && depth < 4 && len(v.Names) <= 32:
		out := map[string]any{}

		for i, name := range v.Names {
			if one := plain(&v.List[i], depth+1); one != nil {
				out[name] = one
			}
		}

		return out
	}

	return nil
}

// template is a text with fields in braces: "{name}: {message}".
type template []part

// part is text, or a field.
type part struct {
	text  string
	field string // as it is written; topic and value are no fields of the message
	path  fieldPath
	names map[string]string // what its values are called
}

func parseTemplate(s string, names map[string]map[string]string) (template, error) {
	var out template

	for s != "" {
		before, rest, found := strings.Cut(s, "{")
		if before != "" {
			out = append(out, part{text: before})
		}
		if !found {
			break
		}
		field, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, fmt.Errorf("%q lacks a }", rest)
		}
		path, err := parsePath(field)
		if err != nil {
			return nil, err
		}
		if field == "" {
			return nil, errors.New("{} names no field")
		}
		out = append(out, part{field: field, path: path, names: names[field]})
		s = after
	}

	return out, nil
}

func parseAssignments(from map[string]string, names map[string]map[string]string) ([]assignment, error) {
	var out []assignment

	for _, path := range slices.Sorted(maps.Keys(from)) {
		t, err := parseTemplate(from[path], names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		keys := strings.Split(path, ".")
		if slices.Contains(keys, "") {
			return nil, fmt.Errorf("%q is no path of a context", path)
		}
		out = append(out, assignment{keys, t})
	}

	return out, nil
}

// scope is what the fields of a template are looked up in.
type scope struct {
	element, root *message.Value // root is the whole message
	topic         string
	value         string // of a limit
}

func (s *scope) of(p fieldPath) *message.Value {
	v := p.of(s.element)
	if v.Kind == message.Invalid && s.root != s.element {
		v = p.of(s.root)
	}
	return v
}

// write writes the template. Fields that the message lacks are left out.
func (t template) write(s *scope) string {
	var b strings.Builder

	for _, p := range t {
		switch p.field {
		case "":
			b.WriteString(p.text)
		case "topic":
			b.WriteString(s.topic)
		default:
			b.WriteString(s.named(p))
		}
	}

	return strings.TrimSpace(strings.Trim(strings.TrimSpace(b.String()), ":"))
}

// fits reports whether the message has any of the fields, or needs none.
func (t template) fits(s *scope) bool {
	needs := false

	for _, p := range t {
		switch p.field {
		case "", "topic", "value":
		default:
			if s.of(p.path).Kind != message.Invalid {
				return true
			}
			needs = true
		}
	}

	return !needs
}

func (s *scope) named(p part) string {
	if p.field == "value" && s.value != "" {
		return s.value
	}
	text := textOf(s.of(p.path))
	return cmp.Or(p.names[text], text)
}

// value returns a single field as it is, and any other template as a text. It is nil if there is nothing.
func (t template) value(s *scope) any {
	if len(t) == 1 && t[0].field != "" && t[0].field != "topic" {
		p := t[0]
		v := s.of(p.path)
		if name := p.names[textOf(v)]; name != "" {
			return name
		}
		return plain(v, 0)
	}
	if text := t.write(s); text != "" {
		return text
	}

	return nil
}

// set sets a path of a context.
func set(context map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		next, ok := context[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			context[key] = next
		}
		context = next
	}
	context[path[len(path)-1]] = value
}

// conditions all hold, or the rule does not.
type conditions []condition

// condition compares a field with values.
type condition struct {
	path   fieldPath
	op     string
	values []string
	number float64 // of the only value
	isNum  bool
	regex  *regexp.Regexp
}

var conditionForm = regexp.MustCompile(`^\s*([A-Za-z_][\w.()]*)\s*(==|!=|<=|>=|<|>|\bnot in\b|\bin\b|\bcontains\b|\bmatches\b|\bexists\b)\s*(.*?)\s*$`)

func parseConditions(from []string) (conditions, error) {
	var out conditions

	for _, s := range from {
		c, err := parseCondition(s)
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", s, err)
		}
		out = append(out, c)
	}

	return out, nil
}

func parseCondition(s string) (c condition, err error) {
	m := conditionForm.FindStringSubmatch(s)
	if len(s) > maxCondition || m == nil {
		return c, errors.New(`is no condition; one is a field, an operator (== != < <= > >= in, not in, contains, matches, exists) and a value: "level >= 30"`)
	}
	if c.path, err = parsePath(m[1]); err != nil {
		return c, err
	}

	c.op, c.values = m[2], []string{unquoted(m[3])}

	switch c.op {
	case "in", "not in":
		list, ok := strings.CutPrefix(m[3], "[")
		list, closed := strings.CutSuffix(list, "]")
		if !ok || !closed {
			return c, errors.New("needs a list: level in [1, 2]")
		}

		c.values = nil
		for one := range strings.SplitSeq(list, ",") {
			c.values = append(c.values, unquoted(strings.TrimSpace(one)))
		}
	case "matches":
		// The expressions of Go take a time that grows with the text, whatever they are. The size of one is bounded, too.
		if c.regex, err = regexp.Compile(c.values[0]); err != nil {
			return c, err
		}
	case "exists":
		if m[3] != "" {
			return c, errors.New("exists takes no value")
		}
	case "<", "<=", ">", ">=":
		if c.number, err = strconv.ParseFloat(c.values[0], 64); err != nil || math.IsNaN(c.number) {
			return c, fmt.Errorf("%q is no number", c.values[0])
		}
	case "==", "!=":
		if m[3] == "" {
			return c, errors.New("lacks a value")
		}
	}
	if c.op != "in" && c.op != "not in" {
		c.number, err = strconv.ParseFloat(c.values[0], 64)
		c.isNum = err == nil
	}

	return c, nil
}

func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

func (cs conditions) hold(s *scope) bool {
	return !slices.ContainsFunc(cs, func(c condition) bool { return !c.holds(s.of(c.path)) })
}

// holds compares a field. One that the message lacks fulfils no condition.
func (c *condition) holds(v *message.Value) bool {
	if v.Kind == message.Invalid || v.Kind == message.Null {
		return false
	}

	switch c.op {
	case "exists":
		return true
	case "<", "<=", ">", ">=":
		return v.IsNumber() && c.compares(v.Float)
	case "matches":
		return c.regex.MatchString(textOf(v))
	case "contains":
		return strings.Contains(strings.ToLower(textOf(v)), strings.ToLower(c.values[0]))
	case "in", "not in":
		return slices.Contains(c.values, textOf(v)) == (c.op == "in")
	}

	equal := textOf(v) == c.values[0] || v.IsNumber() && v.Kind != message.Bool && c.isNum && v.Float == c.number

	return equal == (c.op == "==")
}

func (c *condition) compares(x float64) bool {
	switch c.op {
	case "<":
		return x < c.number
	case "<=":
		return x <= c.number
	case ">":
		return x > c.number
	}

	return x >= c.number
}
