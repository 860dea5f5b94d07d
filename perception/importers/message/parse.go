package message

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// MaxDefinition bounds the text of a definition that is read, in bytes.
const MaxDefinition = 1 << 20

const (
	maxTypes       = 1024
	maxFields      = 16384 // of all types together
	maxDepth       = 32    // of types within types
	maxFixedLength = 1 << 28
)

// Parse reads a definition. The encoding is that of MCAP's schema records: ros2msg or ros1msg, in which the
// types of the fields follow the root type, each after a line of equals signs and "MSG: pkg/Type";
// protobuf, a FileDescriptorSet; or jsonschema, which is not used, since JSON describes itself. For an empty ros2msg text the
// built-in [Definition] is used. The error shows the line, or wraps [ErrEncoding].
func Parse(name, encoding string, text []byte) (*Schema, error) {
	builtIn := builtInTexts()[ShortName(name)]
	switch {
	case encoding == "ros2msg" || encoding == ros1Encoding:
	case encoding == protobufEncoding && len(text) > 0:
	case encoding == "ros2idl" && builtIn != "":
		// The built-in text defines the same type in the language of ros2msg.
		text = []byte(builtIn)
	case encoding == "ros2idl":
		return nil, fmt.Errorf("the definition of %.80s is written in IDL (ros2idl), which %w", name, ErrEncoding)
	case encoding == "" || encoding == "cdr" || encoding == "ros1" || encoding == protobufEncoding:
		return nil, fmt.Errorf("the definition of %.80s is missing, so it %w", name, ErrEncoding)
	case encoding == "jsonschema" || encoding == "json":
		return &Schema{}, nil
	default:
		return nil, fmt.Errorf("schema encoding %.40q %w", encoding, ErrEncoding)
	}

	if len(text) > MaxDefinition {
		return nil, fmt.Errorf("the definition of %.80s takes %d bytes; at most %d are read", name, len(text),
			MaxDefinition)
	}
	if encoding == protobufEncoding {
		root, fields, err := parseProtobuf(name, text)
		if err != nil {
			return nil, fmt.Errorf("definition of %.80s: %w", name, err)
		}
		return &Schema{Fields: fields, proto: root}, nil
	}

	ros1 := encoding == ros1Encoding
	// The empty text of ROS 1 defines a message without fields, such as std_msgs/Empty.
	if len(text) == 0 && !ros1 {
		text = []byte(builtIn)
	}

	types, err := parse(ShortName(name), string(text), ros1)
	if err != nil {
		return nil, fmt.Errorf("definition of %.80s: %w", name, err)
	}

	schema := &Schema{Root: types[0], ros1: ros1}
	for _, t := range types {
		schema.Fields += len(t.Fields)
	}

	return schema, nil
}

type parser struct {
	types  map[string]*Type
	order  []*Type
	fields int
	ros1   bool              // the text is in the language of ROS 1
	known  map[string]string // the texts of types that the text need not define
}

// separator is the line between two types.
var separator = regexp.MustCompile(`(?m)^[ \t]*={8,}[ \t\r]*$`)

// parse returns the types in their order, the root first.
func parse(root, text string, ros1 bool) ([]*Type, error) {
	p := &parser{types: map[string]*Type{}, ros1: ros1, known: ros1Texts}
	if !ros1 {
		p.known = builtInTexts()
	}

	for i, part := range separator.Split(text, -1) {
		name := root
		// A separator may follow the last type.
		if i > 0 && strings.TrimSpace(part) == "" {
			continue
		}
		if i > 0 {
			head, rest, _ := strings.Cut(strings.TrimSpace(part), "\n")
			kind, given, ok := strings.Cut(head, ":")
			if !ok || kind != "MSG" && kind != "SRV" && kind != "ACTION" {
				return nil, fmt.Errorf("expected MSG: and the name of a type, got %.60q", head)
			}
			name, part = ShortName(strings.TrimSpace(given)), rest
		}
		if err := p.defineAll(name, part); err != nil {
			return nil, err
		}
	}

	return p.order, p.link()
}

// define adds a type with the fields of a text.
func (p *parser) define(name, text string) (*Type, error) {
	if len(p.order) >= maxTypes {
		return nil, fmt.Errorf("there are more than %d types", maxTypes)
	}
	t := &Type{Name: name}
	// The first definition of a name counts, as in other readers.
	if _, ok := p.types[name]; !ok {
		p.types[name] = t
	}

	p.order = append(p.order, t)
	for line := range strings.Lines(text) {
		if err := p.line(t, strings.TrimSpace(line)); err != nil {
			return nil, err
		}
	}

	return t, nil
}

// line reads "type name", "type name default" or "type NAME=value".
func (p *parser) line(t *Type, line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}

	typeName, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	f, err := p.parseType(typeName)
	if err != nil {
		return err
	}

	end := strings.IndexFunc(rest, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(rest)
	}

	f.Name = rest[:end]
	rest = strings.TrimSpace(rest[end:])
	if f.Name == "" {
		return fmt.Errorf("%.60q has no field name", line)
	}
	p.fields++
	if p.fields > maxFields {
		return fmt.Errorf("there are more than %d fields", maxFields)
	}

	// A constant is part of the definition only, and no message holds its value.
	isConstant := strings.HasPrefix(rest, "=") && f.Array == Single && f.ref == ""
	if isConstant {
		return nil
	}

	t.Fields = append(t.Fields, f)
	t.names = append(t.names, f.Name)

	return nil
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// parseType reads float64, string<=10, pkg/Type[3], pkg/Type[] and int8[<=5].
func parseType(s string) (f Field, err error) {
	whole := s
	if base, length, ok := strings.Cut(s, "["); ok {
		length, ok = strings.CutSuffix(length, "]")
		if !ok {
			return f, fmt.Errorf("%.60q has no closing bracket", whole)
		}
		s, f.Array = base, Fixed
		bound, bounded := strings.CutPrefix(length, "<=")
		if bounded || length == "" {
			f.Array = Sequence
			length = bound
		}
		if length != "" {
			if f.Len, err = strconv.Atoi(length); err != nil || f.Len < 0 || f.Len > maxFixedLength {
				return f, fmt.Errorf("%.60q: the length is not between 0 and %d", whole, maxFixedLength)
			}
		}
	}

	// The bound of a string, as in string<=10, does not change how it is read.
	s, _, _ = strings.Cut(s, "<=")
	if k, ok := primitives[s]; ok {
		f.Kind = k
		return f, nil
	}

	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r != '/' && !isNameRune(r) }) {
		return f, fmt.Errorf("%.60q is not a type", whole)
	}

	f.Kind, f.ref = Struct, ShortName(s)

	return f, nil
}

// ShortName returns pkg/Type for pkg/msg/Type, pkg/srv/Type and pkg/action/Type.
func ShortName(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) == 3 {
		return parts[0] + "/" + parts[2]
	}
	return name
}

// link finds the type of each field: by its full name, in the package of the type that has the
// field, or std_msgs/Header for Header. A type that the text does not define may be built in.
func (p *parser) link() error {
	// find may add built-in types to the order while it runs, and their fields need types, too.
	for i := 0; i < len(p.order); i++ {
		t := p.order[i]
		for j := range t.Fields {
			f := &t.Fields[j]
			if f.Kind != Struct || f.Type != nil {
				continue
			}

			var err error
			if f.Type, err = p.find(t, f.ref); err != nil {
				return err
			}
		}
	}

	return nil
}

// find returns the type that a field of in refers to. It defines a built-in type that the text does not define.
func (p *parser) find(in *Type, ref string) (*Type, error) {
	pkg, _, _ := strings.Cut(in.Name, "/")
	names := []string{ref, pkg + "/" + ref}
	if ref == "Header" {
		names = append(names, "std_msgs/Header")
	}

	// The text comes before the built-in types: the robot may have another version of them.
	for _, name := range names {
		if t, ok := p.types[name]; ok {
			return t, nil
		}
	}

	for _, name := range names {
		if text, ok := p.known[name]; ok {
			return p.define(name, text)
		}
	}

	return nil, fmt.Errorf("type %.80s is not defined", ref)
}

// elementSize returns the least number of bytes that one element takes. A string begins with its length in
// four bytes, and a structure takes at least a byte.
func (f *Field) elementSize() int {
	switch f.Kind {
	case String:
		return 4
	case Struct:
		return 1
	}

	return f.Kind.size()
}

// definitionText has the public ROS 2 interfaces that robots record most, each as a line
// "= pkg/Type" and its fields. rosbag2 files from before 2023 name their types without
// defining them. testdata/generate.py writes the file.
//
//go:embed definitions.txt
var definitionText string

// builtInTexts maps a type to the lines of its fields. The types of the fields have entries of their own.
var builtInTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}

	for block := range strings.SplitSeq(definitionText, "= ") {
		if name, text, ok := strings.Cut(block, "\n"); ok {
			texts[name] = text
		}
	}
	maps.Copy(texts, introspection)

	return texts
})

// Definition returns the built-in definition of a type, such as sensor_msgs/msg/Imu, as
// ros2msg text with the types of its fields.
func Definition(name string) (string, bool) {
	root := ShortName(name)
	text, ok := builtInTexts()[root]
	if !ok {
		return "", false
	}

	var b strings.Builder
	b.WriteString(text)

	types, _ := parse(root, text, false) // the built-in texts are valid
	for _, t := range types[1:] {
		b.WriteString(strings.Repeat("=", 80) + "\nMSG: " + t.Name + "\n" + builtInTexts()[t.Name])
	}

	return b.String(), true
}
