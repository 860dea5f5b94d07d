package message

import "errors"

// Kind is the kind of a field or a value.
type Kind uint8

// The kinds. Bytes and Numbers are arrays of numbers, of one byte and of more. List is an
// array of anything else.
const (
	Invalid Kind = iota
	Bool
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float32
	Float64
	String
	Bytes
	Numbers
	List
	Struct
	Null
)

// sizes are the bytes of primitives.
var sizes = [Null + 1]int{
	Bool: 1, Int8: 1, Uint8: 1, Int16: 2, Uint16: 2,
	Int32: 4, Uint32: 4, Int64: 8, Uint64: 8, Float32: 4, Float64: 8,
}

// size returns the bytes of a primitive, 0 for other kinds.
func (k Kind) size() int { return sizes[k] }

// primitives are the names of the built-in types of the interface language.
var primitives = map[string]Kind{
	"bool": Bool, "byte": Uint8, "char": Uint8,
	"int8": Int8, "uint8": Uint8, "int16": Int16, "uint16": Uint16,
	"int32": Int32, "uint32": Uint32, "int64": Int64, "uint64": Uint64,
	"float32": Float32, "float64": Float64, "string": String,
}

// Array is how often a field repeats.
type Array uint8

// The ways a field repeats.
const (
	Single   Array = iota
	Fixed          // exactly Len times
	Sequence       // as often as the message says; at most Len times unless Len is 0
)

// Type is a message type.
type Type struct {
	Name   string // pkg/Type, without the msg of ROS 2
	Fields []Field

	names []string // of Fields
}

// Field is one field of a type.
type Field struct {
	Name  string
	Kind  Kind
	Type  *Type // if Kind is Struct
	Array Array
	Len   int // the length of a Fixed array, or the limit of a Sequence

	ref string // the name of the Type as the field gives it
}

// Schema is a message definition.
type Schema struct {
	Root   *Type // nil if messages describe themselves (JSON), and for protobuf
	Fields int   // of all its types together

	ros1  bool       // the messages are in the serialization of ROS 1
	proto *protoType // of messages in protobuf
}

// ErrEncoding means that definitions or messages of an encoding are not read.
var ErrEncoding = errors.New("is not decoded; its messages are kept as bytes")

// Value is a decoded message or a part of one. Kind says which of the other fields is set.
type Value struct {
	Kind Kind
	// Float holds any number; a Bool is 0 or 1.
	Float float64
	Text  string
	// Data is an array of one-byte elements. It is a part of the message, not a copy, and
	// begins there at Offset.
	Data    []byte
	Offset  int
	Numbers []float64
	// List holds the elements of a list or, in the order of Names, the fields of a structure.
	List  []Value
	Names []string
}

// Field returns a field of a structure, nil if there is none. A nil value has no fields.
func (v *Value) Field(name string) *Value {
	if v == nil || v.Kind != Struct {
		return nil
	}

	for i, n := range v.Names {
		if n == name && i < len(v.List) {
			return &v.List[i]
		}
	}

	return nil
}

// At follows names from field to field. If one is missing, it returns an empty value, never nil.
func (v *Value) At(names ...string) *Value {
	for _, name := range names {
		v = v.Field(name)
	}
	if v == nil {
		return &Value{}
	}

	return v
}

// IsNumber reports whether Float holds the value.
func (v *Value) IsNumber() bool {
	return v != nil && Bool <= v.Kind && v.Kind <= Float64
}

// Stamp returns the time of a message in nanoseconds since 1970: of its header, or the timestamp of Foxglove's
// schemas. ok is false if it has none.
func Stamp(v *Value) (ns uint64, ok bool) {
	if stamp := v.At("header", "stamp"); stamp.Kind == Struct {
		return Time(stamp, "nanosec")
	}
	return Time(v.At("timestamp"), "nsec")
}

// Time returns a ROS time in nanoseconds since 1970. The value has a field of seconds and one of
// nanoseconds, whose name is fraction; or it is a google.protobuf.Timestamp. ok is false if the value is
// not a time after 1970.
func Time(v *Value, fraction string) (ns uint64, ok bool) {
	const maxSeconds = 1 << 33 // the year 2242
	sec, nanosec := v.Field("sec"), v.Field(fraction)
	if sec == nil {
		sec, nanosec = v.Field("seconds"), v.Field("nanos")
	}
	if !sec.IsNumber() || !nanosec.IsNumber() {
		return 0, false
	}

	// NaN is in no range.
	inRange := sec.Float >= 1 && sec.Float <= maxSeconds && nanosec.Float >= 0 && nanosec.Float < 1e9
	if !inRange {
		return 0, false
	}

	return uint64(sec.Float)*1e9 + uint64(nanosec.Float), true
}
