package message

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxSchemaText  = 1 << 20
	maxTypes       = 1024
	maxFields      = 16384 // of all types together
	maxDepth       = 32    // of types within types
	maxFixedLength = 1 << 28
)

// Parse reads a definition. Encoding is that of MCAP's schema records: ros2msg,
// where the types that the first is made of follow it, each after a line of
// equals signs and "MSG: pkg/Type"; or jsonschema, which is not looked at, since
// JSON describes itself. An empty text of ros2msg is looked up among the
// [Definition]s. The error names the line, or wraps [ErrEncoding].
func Parse(name, encoding string, text []byte) (*Schema, error) {
	switch encoding {
	case "ros2msg":
	case "jsonschema", "json":
		return &Schema{}, nil
	default:
		return nil, fmt.Errorf("schema encoding %.40q %w", encoding, ErrEncoding)
	}
	if len(text) > maxSchemaText {
		return nil, fmt.Errorf("the definition of %.80s takes %d bytes, at most %d are read", name, len(text), maxSchemaText)
	}
	if len(text) == 0 {
		if known, ok := Definition(name); ok {
			text = []byte(known)
		}
	}
	p := &parser{types: map[string]*Type{}}
	if err := p.parse(ShortName(name), string(text)); err != nil {
		return nil, fmt.Errorf("definition of %.80s: %w", name, err)
	}
	return &Schema{Root: p.order[0]}, nil
}

type parser struct {
	types  map[string]*Type
	order  []*Type
	refs   map[*Type][]string // type name of each field, "" of primitives
	fields int
}

func (p *parser) parse(root, text string) error {
	p.refs = map[*Type][]string{}
	current, err := p.add(root)
	if err != nil {
		return err
	}
	divided := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case len(line) >= 8 && strings.Trim(line, "=") == "":
			divided = true
			continue
		case divided && line != "":
			name, ok := strings.CutPrefix(line, "MSG:")
			if !ok {
				return fmt.Errorf("line %d: %.60q where MSG: and a type's name are due", number, line)
			}
			current, err = p.add(ShortName(strings.TrimSpace(name)))
			divided = false
		default:
			err = p.line(current, line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return p.link()
}

func (p *parser) add(name string) (*Type, error) {
	if len(p.order) >= maxTypes {
		return nil, fmt.Errorf("there are more than %d types", maxTypes)
	}
	t := &Type{Name: name, minSize: -1}
	// The first definition of a name counts, as it does for other readers.
	if _, ok := p.types[name]; !ok {
		p.types[name] = t
	}
	p.order = append(p.order, t)
	return t, nil
}

// line reads "type name", "type name default" or "type NAME=value".
func (p *parser) line(t *Type, line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	typ, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	f, ref, err := parseType(typ)
	if err != nil {
		return err
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(rest)
	}
	f.Name, rest = rest[:end], strings.TrimSpace(rest[end:])
	if f.Name == "" {
		return fmt.Errorf("%.60q has no field name", line)
	}
	if p.fields++; p.fields > maxFields {
		return fmt.Errorf("there are more than %d fields", maxFields)
	}
	if value, ok := strings.CutPrefix(rest, "="); ok && f.Array == Single && ref == "" {
		t.Constants = append(t.Constants, Constant{Name: f.Name, Kind: f.Kind, Value: literal(value, f.Kind)})
		return nil
	}
	f.Default = literal(rest, f.Kind)
	t.Fields = append(t.Fields, f)
	t.names = append(t.names, f.Name)
	p.refs[t] = append(p.refs[t], ref)
	return nil
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// literal is a default or a constant without the comment behind it. Within a
// string a hash is a character.
func literal(s string, k Kind) string {
	s = strings.TrimSpace(s)
	if k != String && k != WString {
		s, _, _ = strings.Cut(s, "#")
		return strings.TrimSpace(s)
	}
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		if end := strings.IndexByte(s[1:], s[0]); end >= 0 {
			return s[1 : 1+end]
		}
	}
	return s
}

// parseType reads float64, string<=10, pkg/Type[3], pkg/Type[] and int8[<=5].
func parseType(s string) (f Field, ref string, err error) {
	whole := s
	if base, length, ok := strings.Cut(s, "["); ok {
		length, ok = strings.CutSuffix(length, "]")
		if !ok {
			return f, "", fmt.Errorf("%.60q has no closing bracket", whole)
		}
		s, f.Array = base, Fixed
		if bound, ok := strings.CutPrefix(length, "<="); ok || length == "" {
			f.Array, length = Sequence, bound
		}
		if length != "" {
			if f.Len, err = strconv.Atoi(length); err != nil || f.Len < 0 || f.Len > maxFixedLength {
				return f, "", fmt.Errorf("%.60q: the length is not between 0 and %d", whole, maxFixedLength)
			}
		}
	}
	if base, bound, ok := strings.Cut(s, "<="); ok {
		s = base
		if f.Max, err = strconv.Atoi(bound); err != nil || f.Max < 0 {
			return f, "", fmt.Errorf("%.60q: the bound is no number", whole)
		}
	}
	if k, ok := primitives[s]; ok {
		f.Kind = k
		return f, "", nil
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r != '/' && !isNameRune(r) }) {
		return f, "", fmt.Errorf("%.60q is no type", whole)
	}
	f.Kind = Struct
	return f, ShortName(s), nil
}

// ShortName returns pkg/Type for pkg/msg/Type, pkg/srv/Type and pkg/action/Type.
func ShortName(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) == 3 {
		return parts[0] + "/" + parts[2]
	}
	return name
}
