package recording

// A ULog (https://docs.px4.io/main/en/dev_log/ulog_file_format.html) is a head of 16 bytes and records. A record is the
// length of its body in two bytes, one byte of kind, and the body. Everything is little-endian. The kinds that are
// read:
//
//	B flags         the first record: which features the file uses, and where data was appended after a crash
//	F format        a type: "name:uint64_t timestamp;float[3] xyz;esc_report[8] esc;"
//	I info          a key and a value, such as the version of the software
//	P parameter     before the data its value at the start, later a change
//	A subscription  the number of a topic, its type and which of several instances it is
//	D data          a message of a topic: its fields, packed
//	L, C text       a line of the log, with the level of syslog as a digit
//	O dropout       how many milliseconds could not be written
//
// The fields of a message are packed as those of a ROS 1 message are. So a type becomes a definition of ROS 1, and the
// messages are decoded, and exported, as those of ROS 1.

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	ulogMagic = "ULog\x01\x12\x35"
	ulogHead  = 16 // the magic, a version and the time of the start
	// ulogSync is the body of a record that a logger repeats, so that a reader finds the next record behind damage.
	ulogSync = "\x2f\x73\x13\x20\x25\x0c\xbb\x12"
	// ulogRecordHead is the bytes before the body of a record.
	ulogRecordHead = 3
	// maxULogRecord is the largest length of a record of an unknown kind. A larger one is taken for damage, as pyulog
	// does.
	maxULogRecord = 10_000
	maxULogTypes  = 4096
	maxULogDepth  = 16
	// maxULogFields bounds the definitions of one type with all types within it.
	maxULogFields = 4096
)

// ulogPrimitives are the names and the sizes of types, and what ROS 1 calls them.
var ulogPrimitives = map[string]struct {
	ros1 string
	size int
}{
	"int8_t": {"int8", 1}, "uint8_t": {"uint8", 1}, "int16_t": {"int16", 2}, "uint16_t": {"uint16", 2},
	"int32_t": {"int32", 4}, "uint32_t": {"uint32", 4}, "int64_t": {"int64", 8}, "uint64_t": {"uint64", 8},
	"float": {"float32", 4}, "double": {"float64", 8}, "bool": {"bool", 1}, "char": {"char", 1},
}

// ulogField is a field of a format.
type ulogField struct {
	typ, name string
	count     int // of an array; 0 is none
}

// ulogTypes are the formats of a file by their names.
type ulogTypes map[string][]ulogField

// add reads a format.
func (t ulogTypes) add(body string) error {
	name, rest, ok := strings.Cut(body, ":")
	if !ok || name == "" {
		return fmt.Errorf("the format %.60q has no fields", body)
	}
	if len(t) >= maxULogTypes {
		return fmt.Errorf("there are more than %d formats", maxULogTypes)
	}

	var fields []ulogField

	for one := range strings.SplitSeq(rest, ";") {
		if one == "" {
			continue
		}
		f := ulogField{}
		if f.typ, f.name, ok = strings.Cut(one, " "); !ok {
			return fmt.Errorf("the field %.60q of the format %.60s has no name", one, name)
		}
		if base, length, isArray := strings.Cut(f.typ, "["); isArray {
			n, err := strconv.Atoi(strings.TrimSuffix(length, "]"))
			if err != nil || n < 1 || n > math.MaxUint16 {
				return fmt.Errorf("the field %.60q of the format %.60s has no length between 1 and %d", one, name, math.MaxUint16)
			}
			f.typ, f.count = base, n
		}
		fields = append(fields, f)
	}
	t[name] = fields

	return nil
}

// ulogLayout is how the messages of a topic are written.
type ulogLayout struct {
	definition string // in the language of ROS 1
	size       int    // bytes of a message, without the padding at its end
	padded     int    // and with it
	time       int    // where the time is, in microseconds; -1 is nowhere
}

// layout makes the definition of a type.
func (t ulogTypes) layout(name string) (ulogLayout, error) {
	out := ulogLayout{time: -1}
	b := &ulogBuilder{types: t, sizes: map[string]int{}}
	fields, ok := t[name]
	if !ok {
		return out, fmt.Errorf("the format of %.80s is missing", name)
	}

	for _, f := range fields {
		size, err := b.sizeOf(f, 0)
		if err != nil {
			return out, fmt.Errorf("the format of %.80s: %w", name, err)
		}
		if f.name == "timestamp" && f.typ == "uint64_t" && f.count == 0 {
			out.time = out.padded
		}
		if out.padded += size; out.padded > math.MaxUint16 {
			return out, fmt.Errorf("a message of %.80s takes more than %d bytes", name, math.MaxUint16)
		}
	}

	// A logger leaves out the padding at the end.
	out.size = out.padded
	for len(fields) > 0 && strings.HasPrefix(fields[len(fields)-1].name, "_padding") {
		size, err := b.sizeOf(fields[len(fields)-1], 0)
		if err != nil {
			return out, err
		}
		out.size -= size
		fields = fields[:len(fields)-1]
	}

	var text strings.Builder
	writeULogFields(&text, fields)

	for _, nested := range b.order {
		text.WriteString(strings.Repeat("=", 80) + "\nMSG: " + ulogSchema(nested) + "\n")
		writeULogFields(&text, t[nested])
	}
	out.definition = text.String()

	return out, nil
}

// ulogSchema is the name of a type as ROS 1 writes names.
func ulogSchema(name string) string { return "ulog/" + name }

func writeULogFields(to *strings.Builder, fields []ulogField) {
	for _, f := range fields {
		typ := ulogSchema(f.typ)
		if p, ok := ulogPrimitives[f.typ]; ok {
			typ = p.ros1
		}
		if f.count > 0 {
			typ += "[" + strconv.Itoa(f.count) + "]"
		}
		to.WriteString(typ + " " + f.name + "\n")
	}
}

// ulogBuilder measures types.
type ulogBuilder struct {
	types  ulogTypes
	sizes  map[string]int // of types within the type
	order  []string       // those types
	fields int
}

func (b *ulogBuilder) sizeOf(f ulogField, depth int) (int, error) {
	if b.fields++; b.fields > maxULogFields {
		return 0, fmt.Errorf("there are more than %d fields", maxULogFields)
	}

	size := ulogPrimitives[f.typ].size
	if size == 0 {
		var err error
		if size, err = b.nested(f.typ, depth+1); err != nil {
			return 0, err
		}
	}
	size *= max(f.count, 1)
	if size > math.MaxUint16 {
		return 0, fmt.Errorf("the field %.60s takes more than %d bytes", f.name, math.MaxUint16)
	}

	return size, nil
}

func (b *ulogBuilder) nested(name string, depth int) (int, error) {
	if size, known := b.sizes[name]; known {
		return size, nil
	}
	fields, ok := b.types[name]
	if !ok || depth > maxULogDepth {
		return 0, fmt.Errorf("the type %.60s is missing, or nested more than %d deep", name, maxULogDepth)
	}

	total := 0

	for _, f := range fields {
		size, err := b.sizeOf(f, depth)
		if err != nil {
			return 0, err
		}
		total += size
	}
	b.sizes[name] = total
	b.order = append(b.order, name)

	return total, nil
}

// ulogTopic is a subscription.
type ulogTopic struct {
	*Channel
	ulogLayout
}

// ulogValue reads an info or a parameter: the length of "type name", that text, and the value. The value is a text, a
// number as JSON has it, or nil for another kind.
func ulogValue(body []byte) (key string, value any, err error) {
	if len(body) == 0 || len(body) < 1+int(body[0]) {
		return "", nil, errors.New("a key takes more bytes than its record has")
	}
	typ, key, ok := strings.Cut(string(body[1:1+int(body[0])]), " ")
	raw := body[1+int(body[0]):]
	if !ok {
		return "", nil, fmt.Errorf("the key %.60q has no type", typ)
	}
	if strings.HasPrefix(typ, "char[") {
		return key, media.Clean(string(raw), maxName), nil
	}
	if p := ulogPrimitives[typ]; p.size != len(raw) {
		return key, nil, nil
	}

	switch typ {
	case "float":
		return key, ulogNumber(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), 32), nil
	case "double":
		return key, ulogNumber(math.Float64frombits(binary.LittleEndian.Uint64(raw)), 64), nil
	case "bool":
		return key, raw[0] != 0, nil
	}

	var wide [8]byte
	copy(wide[:], raw)
	n := binary.LittleEndian.Uint64(wide[:])
	if strings.HasPrefix(typ, "uint") || typ == "char" {
		return key, json.Number(strconv.FormatUint(n, 10)), nil
	}
	shift := 64 - 8*len(raw)

	return key, json.Number(strconv.FormatInt(int64(n<<shift)>>shift, 10)), nil
}

// ulogNumber returns a number as JSON has it, in the fewest digits that give it again; nil for NaN and infinity.
func ulogNumber(v float64, bits int) any {
	if !media.Finite(v) {
		return nil
	}
	return json.Number(strconv.FormatFloat(v, 'g', -1, bits))
}

// ulogParameter writes a parameter as rcl_interfaces/ParameterEvent does, for the rules of events.
func ulogParameter(name string, value any) any {
	number, isNumber := value.(json.Number)
	switch {
	case isNumber && strings.ContainsAny(number.String(), ".eE"):
		return object{"name": name, "value": object{"type": 3, "double_value": value}}
	case isNumber:
		return object{"name": name, "value": object{"type": 2, "integer_value": value}}
	}

	return object{"name": name, "value": object{"type": 4, "string_value": fmt.Sprint(value)}}
}
