package message

import "errors"

// Kind is what a field or a value holds.
type Kind uint8

// The kinds. Bytes and Numbers are arrays of one-byte and of wider elements;
// List is an array of anything else.
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
	WString
	Bytes
	Numbers
	List
	Struct
	Null
)

// size is the bytes of a primitive in CDR, 0 for all else.
func (k Kind) size() int {
	switch k {
	case Bool, Int8, Uint8:
		return 1
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Int64, Uint64, Float64:
		return 8
	}
	return 0
}

// primitives are the names of the built-in types of the interface language.
var primitives = map[string]Kind{
	"bool": Bool, "byte": Uint8, "char": Uint8,
	"int8": Int8, "uint8": Uint8, "int16": Int16, "uint16": Uint16,
	"int32": Int32, "uint32": Uint32, "int64": Int64, "uint64": Uint64,
	"float32": Float32, "float64": Float64, "string": String, "wstring": WString,
}

// Array says how often a field repeats.
type Array uint8

// The ways a field repeats.
const (
	Single   Array = iota
	Fixed          // exactly Len times
	Sequence       // as often as the message says, at most Len times unless that is 0
)

// Type is a message type.
type Type struct {
	Name      string // pkg/Type, without the msg that ROS 2 puts between
	Fields    []Field
	Constants []Constant

	names   []string
	minSize int // bytes that any value of it takes, without padding
}

// Field is one field of a type.
type Field struct {
	Name    string
	Kind    Kind
	Type    *Type // of a Struct
	Array   Array
	Len     int    // of the array: its length or its bound
	Max     int    // of a bounded string: its characters
	Default string // as it is written, "" without
}

// Constant is a named value of a type, as it is written.
type Constant struct {
	Name  string
	Kind  Kind
	Value string
}

// Schema is a message definition.
type Schema struct {
	Root *Type // nil when messages describe themselves (JSON)
}

// ErrEncoding says that definitions or messages of this encoding are not read.
var ErrEncoding = errors.New("is not decoded; its messages are kept as bytes")
