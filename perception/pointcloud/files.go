package pointcloud

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// maxHeader bounds the part of a file that is read for its header, in bytes. Real
// headers take a few hundred.
const maxHeader = 8 << 10

// headerLines calls f with the words of each header line until f returns false, and
// returns what follows that line.
func headerLines(data []byte, f func(words []string) bool) (rest []byte, ended bool) {
	at := 0
	for line := range bytes.Lines(data[:min(len(data), maxHeader)]) {
		at += len(line)
		words := strings.Fields(string(line))
		if len(words) > 0 && !f(words) {
			return data[at:], true
		}
	}
	return nil, false
}

// A PCD file of the Point Cloud Library is a header of lines, each a word and its values, of which
// the last is DATA. Then come the points: a line each (ascii), as records (binary), or field after
// field behind the compressed and the full size, of 32 bits each (binary_compressed).

// IsPCD looks at the first line that is not a comment. Files of the library begin with
// the comment "# .PCD", but other files may not.
func IsPCD(data []byte) bool {
	head := data[:min(len(data), maxHeader)]
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		return bytes.HasPrefix(line, []byte("VERSION ")) &&
			(bytes.Contains(head, []byte("\nFIELDS ")) || bytes.Contains(head, []byte("\nCOLUMNS ")))
	}
	return false
}

func openPCD(data []byte) (*source, error) {
	words := map[string][]string{}
	body, ok := headerLines(data, func(line []string) bool {
		words[line[0]] = line[1:]
		return line[0] != "DATA"
	})
	if !ok || len(words["DATA"]) != 1 {
		return nil, fmt.Errorf("the PCD header has no line DATA within %d bytes", maxHeader)
	}
	f := &source{what: "point cloud", form: words["DATA"][0]}
	var err error
	if f.points, err = pcdPoints(words); err == nil {
		f.fields, err = pcdFields(words)
	}
	if err != nil {
		return nil, err
	}
	points := &element{"point", f.points, f.fields}
	var walk func([]byte, func(*values)) ([]byte, error)
	switch f.form {
	case "ascii":
		walk = points.walkText
	case "binary":
		walk = points.walkRecords
	case "binary_compressed":
		walk = points.walkCompressed
	default:
		return nil, fmt.Errorf("PCD data %q is not known; use ascii, binary or binary_compressed", media.Clean(f.form, media.MaxName))
	}
	f.each = func(yield func(*values)) error { _, err := walk(body, yield); return err }
	return f, nil
}

func pcdPoints(words map[string][]string) (int64, error) {
	read := func(key string) (int64, error) {
		if len(words[key]) != 1 {
			return 0, fmt.Errorf("the PCD header has no line %s with a number", key)
		}
		return parseCount(words[key][0])
	}
	if words["POINTS"] != nil {
		return read("POINTS")
	}
	width, err := read("WIDTH")
	if err != nil {
		return 0, err
	}
	height, err := read("HEIGHT")
	if err == nil && width*height > math.MaxInt32 {
		err = errPointCount
	}
	return width * height, err
}

func parseCount(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, errPointCount
	}
	return int64(n), nil
}

func pcdFields(words map[string][]string) ([]field, error) {
	names := words["FIELDS"]
	if names == nil {
		names = words["COLUMNS"]
	}
	sizes, types, counts := words["SIZE"], words["TYPE"], words["COUNT"]
	if len(names) > maxFields {
		return nil, fmt.Errorf("the PCD header names %d fields; the limit is %d", len(names), maxFields)
	}
	if len(sizes) != len(names) || len(types) != len(names) || counts != nil && len(counts) != len(names) {
		return nil, fmt.Errorf("the PCD header names %d fields with %d sizes, %d types and %d counts", len(names), len(sizes), len(types), len(counts))
	}
	fields := make([]field, len(names))
	for i, name := range names {
		if !slices.Contains([]string{"I1", "I2", "I4", "I8", "U1", "U2", "U4", "U8", "F4", "F8"}, types[i]+sizes[i]) {
			return nil, fmt.Errorf("PCD field %d is of type %q and size %q; I and U have sizes 1, 2, 4, 8 and F has 4, 8", i+1, media.Clean(types[i], media.MaxName), media.Clean(sizes[i], media.MaxName))
		}
		fields[i] = newField(name, strings.ToLower(types[i]+sizes[i]), binary.LittleEndian)
		if counts != nil {
			n, err := strconv.ParseUint(counts[i], 10, 31)
			if err != nil || n > maxFieldCount {
				return nil, fmt.Errorf("PCD field %d has a count that is not from 0 to %d", i+1, maxFieldCount)
			}
			fields[i].count = int(n)
		}
	}
	return fields, assign(fields)
}

func (e *element) walkCompressed(body []byte, yield func(*values)) ([]byte, error) {
	if len(body) < 8 {
		return nil, errors.New("the compressed points end before their size")
	}
	packed, size := binary.LittleEndian.Uint32(body), int64(binary.LittleEndian.Uint32(body[4:]))
	body = body[8:]
	if int64(packed) > int64(len(body)) {
		return nil, fmt.Errorf("the compressed points claim %d bytes; %d are there", packed, len(body))
	}
	fields := slices.Clone(e.fields)
	if need := e.count * int64(layOut(fields)); size != need {
		return nil, fmt.Errorf("the compressed points hold %d bytes; the %d points need %d", size, e.count, need)
	}
	data, err := unpackLZF(body[:packed], size)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		fields[i].offset *= int(e.count)
	}
	r := records{data: data, width: e.count, height: 1, stride: field.bytes}
	r.each(fields, yield)
	return nil, nil
}

// LZF, the compression of Marc Lehmann's liblzf, is a sequence of pieces:
//
//	000LLLLL <L+1 bytes>          these bytes
//	LLLooooo oooooooo             L+2 bytes from o+1 back, L from 1 to 6
//	111ooooo LLLLLLLL oooooooo    L+9 bytes from o+1 back
//
// A copy may overlap what it writes.

const (
	// lzfRatio is the most that a byte can stand for: 3 bytes give 264.
	lzfRatio = 88
	// maxUnpacked is the limit of the unpacked bytes.
	maxUnpacked = 256 << 20
)

// unpackLZF returns exactly size bytes. It reads all pieces before it allocates, so
// that a false claim takes no memory.
func unpackLZF(in []byte, size int64) ([]byte, error) {
	if size > maxUnpacked {
		return nil, fmt.Errorf("the compressed points claim %d bytes; the limit is %d", size, maxUnpacked)
	}
	if size > lzfRatio*int64(len(in)) {
		return nil, fmt.Errorf("the compressed points claim %d bytes; %d compressed ones cannot hold that", size, len(in))
	}
	total := int64(0)
	whole := lzfPieces(in, func(literal []byte, back, n int) bool {
		total += int64(len(literal) + n)
		return total <= size && int64(back) <= total-int64(n)
	})
	if !whole || total != size {
		return nil, errors.New("the compressed points are damaged")
	}
	out := make([]byte, 0, size)
	lzfPieces(in, func(literal []byte, back, n int) bool {
		out = append(out, literal...)
		for range n {
			out = append(out, out[len(out)-back])
		}
		return true
	})
	return out, nil
}

// lzfPieces calls f with each piece, literal bytes or a copy of n bytes from back
// before, until f returns false. It reports whether it came to the end.
func lzfPieces(in []byte, f func(literal []byte, back, n int) bool) bool {
	for len(in) > 0 {
		control := int(in[0])
		in = in[1:]
		if control < 32 {
			if control+1 > len(in) || !f(in[:control+1], 0, 0) {
				return false
			}
			in = in[control+1:]
			continue
		}
		n := control>>5 + 2
		if control>>5 == 7 && len(in) > 0 {
			n += int(in[0])
			in = in[1:]
		}
		if len(in) == 0 || !f(nil, (control&0x1f)<<8+int(in[0])+1, n) {
			return false
		}
		in = in[1:]
	}
	return true
}

// A PLY file (the Stanford polygon format) is a header of lines up to end_header,
// which names elements and the properties of each, and then the elements in that
// order. A property is a number, or a list: a length and that many numbers.

// IsPLY reports whether data begins as a PLY file.
func IsPLY(data []byte) bool {
	first, rest, ok := bytes.Cut(data[:min(len(data), maxHeader)], []byte("\n"))
	return ok && string(bytes.TrimRight(first, "\r")) == "ply" && bytes.Contains(rest, []byte("format "))
}

var plyTypes = map[string]string{
	"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
	"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8",
}

// plyOrders are the orders of the bytes by format, nil for text.
var plyOrders = map[string]binary.ByteOrder{"ascii": nil, "binary_little_endian": binary.LittleEndian, "binary_big_endian": binary.BigEndian}

func openPLY(data []byte) (*source, error) {
	f := &source{what: "point cloud"}
	var elements []element
	var err error
	body, ended := headerLines(data, func(words []string) bool {
		switch words[0] {
		case "format":
			if len(words) > 1 {
				f.form = words[1]
			}
		case "element":
			if len(words) != 3 {
				err = errors.New("a PLY element has a name and a count")
				break
			}
			e := element{name: words[1]}
			e.count, err = parseCount(words[2])
			elements = append(elements, e)
		case "property":
			err = addProperty(elements, words)
		}
		return words[0] != "end_header" && err == nil
	})
	if err != nil {
		return nil, err
	}
	if !ended {
		return nil, fmt.Errorf("the PLY header has no end_header within %d bytes", maxHeader)
	}
	order, ok := plyOrders[f.form]
	if !ok {
		return nil, fmt.Errorf("PLY format %q is not known; use ascii, binary_little_endian or binary_big_endian", media.Clean(f.form, media.MaxName))
	}
	for _, e := range elements {
		if e.name == "face" {
			f.faces = e.count
		}
	}
	vertex := slices.IndexFunc(elements, func(e element) bool { return e.name == "vertex" })
	if vertex < 0 {
		return nil, errors.New("the PLY header names no element vertex")
	}
	if f.faces > 0 {
		f.what = "mesh"
	}
	f.points, f.fields = elements[vertex].count, elements[vertex].fields
	if err := assign(f.fields); err != nil {
		return nil, err
	}
	f.each = func(yield func(*values)) error {
		rest := body
		for i := range vertex + 1 {
			to := func(*values) {}
			if i == vertex {
				to = yield
			}
			var err error
			if rest, err = elements[i].walkPLY(rest, order, to); err != nil {
				return err
			}
		}
		return nil
	}
	return f, nil
}

func addProperty(elements []element, words []string) error {
	if len(elements) == 0 {
		return errors.New("a PLY property comes before any element")
	}
	e := &elements[len(elements)-1]
	if len(e.fields) == maxFields {
		return fmt.Errorf("a PLY element has more than %d properties", maxFields)
	}
	isList := len(words) == 5 && words[1] == "list"
	if !isList && len(words) != 3 {
		return errors.New("a PLY property has a type and a name")
	}
	name, typ := words[len(words)-1], words[len(words)-2]
	code, ok := plyTypes[typ]
	if !ok {
		return fmt.Errorf("PLY property %q is of the unknown type %q", media.Clean(name, media.MaxName), media.Clean(typ, media.MaxName))
	}
	f := newField(name, code, nil)
	if isList {
		length := plyTypes[words[2]]
		if length == "" || length[0] == 'f' {
			return fmt.Errorf("PLY property %q: %q cannot count a list", media.Clean(name, media.MaxName), media.Clean(words[2], media.MaxName))
		}
		f.isList, f.count, f.lengths = true, 0, newField("", length, nil).typ
	}
	e.fields = append(e.fields, f)
	return nil
}

// walkPLY reads one element. The order is nil for text.
func (e *element) walkPLY(data []byte, order binary.ByteOrder, yield func(*values)) ([]byte, error) {
	if len(e.fields) == 0 {
		return data, nil
	}
	if order == nil {
		return e.walkText(data, yield)
	}
	lists := false
	for i := range e.fields {
		f := &e.fields[i]
		f.typ.Order, f.lengths.Order = order, order
		lists = lists || f.isList
	}
	if lists {
		return e.walkLists(data, yield)
	}
	return e.walkRecords(data, yield)
}
