package message

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// A definition in protobuf is a FileDescriptorSet: the files that define the type of the messages and all that it
// uses. The library resolves it. Messages are read here and not by its dynamic messages, since a picture must stay a
// part of its message (see [Value]) and the number of values is limited.
//
// A field that is not in a message has its default, as in all implementations of protobuf, unless its absence means
// something: an optional field, a message or a part of a oneof is Null then.

const protobufEncoding = "protobuf"

// maxElements bounds the files, messages, fields and options of a definition. Each takes some hundred bytes when it is
// read, and may take two in the definition.
const maxElements = 1 << 16

// protoType is a type of messages.
type protoType struct {
	names    []string
	fields   []protoField
	byNumber map[protowire.Number]int // places in fields
}

// protoField is a field.
type protoField struct {
	proto    protoreflect.Kind
	kind     Kind       // of a single value
	message  *protoType // if kind is Struct
	list     bool       // also a map, which is a list of its entries
	presence bool       // absence means something
	oneof    int        // that the field is a part of; -1 is none
	utf8     bool       // the text must be valid
}

// parseProtobuf reads a FileDescriptorSet, and returns the type of a name with the number of all fields.
func parseProtobuf(name string, text []byte) (*protoType, int, error) {
	left := maxElements
	if err := countElements(text, setElements(), &left); err != nil {
		return nil, 0, err
	}

	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(text, set); err != nil {
		return nil, 0, fmt.Errorf("the FileDescriptorSet: %w", err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, 0, err
	}
	found, err := files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, 0, errors.New("the FileDescriptorSet lacks that type")
	}
	root, ok := found.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, 0, errors.New("the FileDescriptorSet has something else under that name")
	}

	b := &protoBuilder{known: map[protoreflect.FullName]*protoType{}}

	return b.typeOf(root), b.fields, nil
}

// elements are the parts of a descriptor that have parts of their own, by their numbers in descriptor.proto.
type elements map[protowire.Number]elements

// setElements returns those of a FileDescriptorSet.
func setElements() elements {
	enum := elements{2: nil}
	message := elements{2: nil, 4: enum, 6: nil, 8: nil}
	// Messages are defined within messages.
	message[3] = message

	return elements{1: {4: message, 5: enum, 6: {2: nil}, 7: nil, 9: {1: nil}}}
}

// countElements takes the parts of a descriptor from what is left. It fails if they are too many, before the library
// makes structures of them.
func countElements(raw []byte, of elements, left *int) error {
	for len(raw) > 0 {
		number, wire, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return fmt.Errorf("the FileDescriptorSet: %w", protowire.ParseError(n))
		}
		raw = raw[n:]
		length := protowire.ConsumeFieldValue(number, wire, raw)
		if length < 0 {
			return fmt.Errorf("the FileDescriptorSet: %w", protowire.ParseError(length))
		}
		if *left--; *left < 0 {
			return fmt.Errorf("the FileDescriptorSet has more than %d parts", maxElements)
		}

		if inner, ok := of[number]; ok && wire == protowire.BytesType {
			body, _ := protowire.ConsumeBytes(raw)
			if err := countElements(body, inner, left); err != nil {
				return err
			}
		}
		raw = raw[length:]
	}

	return nil
}

// protoBuilder makes types of descriptors, each once: a type may be a part of itself.
type protoBuilder struct {
	known  map[protoreflect.FullName]*protoType
	fields int
}

func (b *protoBuilder) typeOf(m protoreflect.MessageDescriptor) *protoType {
	if t, ok := b.known[m.FullName()]; ok {
		return t
	}
	t := &protoType{byNumber: map[protowire.Number]int{}}
	b.known[m.FullName()] = t
	b.fields += m.Fields().Len()

	for i := range m.Fields().Len() {
		d := m.Fields().Get(i)
		f := protoField{
			proto: d.Kind(), kind: protoKinds[d.Kind()], list: d.IsList() || d.IsMap(), presence: d.HasPresence(), oneof: -1,
			utf8: d.ParentFile().Syntax() != protoreflect.Proto2,
		}
		if o := d.ContainingOneof(); o != nil && !o.IsSynthetic() {
			f.oneof = o.Index()
		}
		if f.kind == Struct {
			f.message = b.typeOf(d.Message())
		}

		t.byNumber[d.Number()] = i
		t.names = append(t.names, string(d.Name()))
		t.fields = append(t.fields, f)
	}

	return t
}

// protoKinds are the kinds of single values.
var protoKinds = map[protoreflect.Kind]Kind{
	protoreflect.BoolKind: Bool, protoreflect.EnumKind: Int32, protoreflect.FloatKind: Float32, protoreflect.DoubleKind: Float64,
	protoreflect.Int32Kind: Int32, protoreflect.Sint32Kind: Int32, protoreflect.Sfixed32Kind: Int32,
	protoreflect.Uint32Kind: Uint32, protoreflect.Fixed32Kind: Uint32,
	protoreflect.Int64Kind: Int64, protoreflect.Sint64Kind: Int64, protoreflect.Sfixed64Kind: Int64,
	protoreflect.Uint64Kind: Uint64, protoreflect.Fixed64Kind: Uint64,
	protoreflect.StringKind: String, protoreflect.BytesKind: Bytes, protoreflect.MessageKind: Struct, protoreflect.GroupKind: Struct,
}

// wire returns how a single value is written.
func (f *protoField) wire() protowire.Type {
	switch f.proto {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	}

	return protowire.VarintType
}

// isNumber reports whether a single value is a number.
func (f *protoField) isNumber() bool { return f.kind <= Float64 }

// absent is the value of a field that is not in the message.
func (f *protoField) absent() Value {
	switch {
	case f.list && f.isNumber():
		return Value{Kind: Numbers}
	case f.list:
		return Value{Kind: List}
	case f.presence:
		return Value{Kind: Null}
	}

	return Value{Kind: f.kind}
}

// protoDecoder reads one message.
type protoDecoder struct {
	values  int
	numbers int // that are packed
}

// maxPacked bounds the packed numbers of a message. One takes eight bytes, and may take a single one in the message.
const maxPacked = 1 << 24

func decodeProtobuf(t *protoType, data []byte) (*Value, error) {
	v := &Value{}
	if err := (&protoDecoder{}).message(v, t, data, 0, 0); err != nil {
		return nil, err
	}
	return v, nil
}

// message reads the fields of a message, which begins at a byte of the whole. The parts of a message that is written
// more than once are merged.
func (d *protoDecoder) message(v *Value, t *protoType, raw []byte, at, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("messages are nested more than %d deep", maxDepth)
	}
	if v.Kind != Struct {
		if d.values += len(t.fields); d.values > maxValues {
			return fmt.Errorf("the message holds more than %d values", maxValues)
		}

		*v = Value{Kind: Struct, Names: t.names, List: make([]Value, len(t.fields))}
		for i := range t.fields {
			v.List[i] = t.fields[i].absent()
		}
	}

	for len(raw) > 0 {
		number, wire, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return fmt.Errorf("the field at byte %d: %w", at, protowire.ParseError(n))
		}
		raw, at = raw[n:], at+n

		length := protowire.ConsumeFieldValue(number, wire, raw)
		i, known := t.byNumber[number]
		if length < 0 {
			name := fmt.Sprintf("field %d", number)
			if known {
				name = t.names[i]
			}
			return fmt.Errorf("%s at byte %d: %w", name, at, protowire.ParseError(length))
		}
		if known {
			if err := d.field(v, t, i, number, wire, raw[:length], at, depth); err != nil {
				return fmt.Errorf("%s at byte %d: %w", t.names[i], at, err)
			}
		}
		raw, at = raw[length:], at+length
	}

	return nil
}

// field reads one value of a field. A value that is written in another way than the field is has the number of an
// unknown field, and is left out.
func (d *protoDecoder) field(
	v *Value, t *protoType, i int, number protowire.Number, wire protowire.Type, raw []byte, at, depth int,
) error {
	f, to := &t.fields[i], &v.List[i]
	if f.list && f.isNumber() && wire == protowire.BytesType {
		packed, _ := protowire.ConsumeBytes(raw)
		return d.packed(to, f, packed)
	}
	if wire != f.wire() {
		return nil
	}

	// Of a oneof the last part counts.
	if f.oneof >= 0 {
		for j := range t.fields {
			if j != i && t.fields[j].oneof == f.oneof {
				v.List[j] = t.fields[j].absent()
			}
		}
	}

	if f.list && f.isNumber() {
		to.Numbers = append(to.Numbers, f.number(raw))
		return nil
	}
	if f.list {
		if d.values++; d.values > maxValues {
			return fmt.Errorf("the message holds more than %d values", maxValues)
		}
		to.List = append(to.List, Value{})
		to = &to.List[len(to.List)-1]
	}

	switch f.kind {
	case Struct:
		body, head := delimited(number, wire, raw)
		return d.message(to, f.message, body, at+head, depth+1)
	case String:
		body, _ := protowire.ConsumeBytes(raw)
		if f.utf8 && !utf8.Valid(body) {
			return errors.New("the text is not UTF-8")
		}
		*to = Value{Kind: String, Text: string(body)}
	case Bytes:
		body, n := protowire.ConsumeBytes(raw)
		*to = Value{Kind: Bytes, Data: slices.Clip(body), Offset: at + n - len(body)}
	default:
		*to = Value{Kind: f.kind, Float: f.number(raw)}
	}

	return nil
}

// delimited returns the fields of a message within another, and how many bytes come before them. The lengths have been
// checked.
func delimited(number protowire.Number, wire protowire.Type, raw []byte) (body []byte, head int) {
	if wire == protowire.StartGroupType {
		body, _ = protowire.ConsumeGroup(number, raw)
		return body, 0
	}
	body, n := protowire.ConsumeBytes(raw)

	return body, n - len(body)
}

// packed reads numbers that are written one after the other.
func (d *protoDecoder) packed(to *Value, f *protoField, raw []byte) error {
	wire := f.wire()

	count := len(raw) / 4
	if wire == protowire.VarintType {
		// The last byte of a number is below 128.
		count = 0
		for _, b := range raw {
			count += int(^b >> 7)
		}
	}
	if d.numbers += count; d.numbers > maxPacked {
		return fmt.Errorf("the message holds more than %d numbers", maxPacked)
	}
	to.Numbers = slices.Grow(to.Numbers, count)

	for len(raw) > 0 {
		n := protowire.ConsumeFieldValue(1, wire, raw)
		if n < 0 {
			return protowire.ParseError(n)
		}
		to.Numbers = append(to.Numbers, f.number(raw[:n]))
		raw = raw[n:]
	}

	return nil
}

// number returns a single number, whose length has been checked.
func (f *protoField) number(raw []byte) float64 {
	switch f.proto {
	case protoreflect.FloatKind:
		v, _ := protowire.ConsumeFixed32(raw)
		return float64(math.Float32frombits(v))
	case protoreflect.DoubleKind:
		v, _ := protowire.ConsumeFixed64(raw)
		return math.Float64frombits(v)
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		v, _ := protowire.ConsumeFixed32(raw)
		if f.kind == Int32 {
			return float64(int32(v))
		}
		return float64(v)
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		v, _ := protowire.ConsumeFixed64(raw)
		if f.kind == Int64 {
			return float64(int64(v))
		}
		return float64(v)
	}

	v, _ := protowire.ConsumeVarint(raw)

	switch f.proto {
	case protoreflect.BoolKind:
		return float64(min(v, 1))
	case protoreflect.Sint32Kind:
		return float64(int32(protowire.DecodeZigZag(v & math.MaxUint32)))
	case protoreflect.Sint64Kind:
		return float64(protowire.DecodeZigZag(v))
	}

	// A varint of more bits than the field has is cut.
	switch f.kind {
	case Int32:
		return float64(int32(v))
	case Uint32:
		return float64(uint32(v))
	case Int64:
		return float64(int64(v))
	}

	return float64(v)
}
