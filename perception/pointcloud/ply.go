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

	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/media"
)

// A PLY file (the Stanford polygon format) is a header of lines up to end_header, which names elements
// and the properties of each, and then the elements in that order. A property is a number, or a list: a
// length and that many numbers. The points are the element vertex; of a mesh only its vertices are read.

// IsPLY reports whether data begins as a PLY file.
func IsPLY(data []byte) bool {
	first, rest, ok := bytes.Cut(data[:min(len(data), maxHeader)], []byte("\n"))
	return ok && string(bytes.TrimRight(first, "\r")) == "ply" && bytes.Contains(rest, []byte("format "))
}

type plyElement struct {
	name   string
	count  int64
	fields []plyField
}

type plyField struct {
	field
	isList bool
	length npy.Type // of a list
}

var plyTypes = map[string]string{
	"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
	"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8",
}

// plyOrders are the orders of the bytes by format, nil for text.
var plyOrders = map[string]binary.ByteOrder{
	"ascii": nil, "binary_little_endian": binary.LittleEndian, "binary_big_endian": binary.BigEndian,
}

func openPLY(data []byte) (*source, error) {
	f := &source{}
	elements, body, err := plyHeader(data, f)
	if err != nil {
		return nil, err
	}

	order, ok := plyOrders[f.form]
	if !ok {
		return nil, fmt.Errorf("PLY format %q is not known; use ascii, binary_little_endian or binary_big_endian",
			media.Clean(f.form, media.MaxName))
	}

	vertex := slices.IndexFunc(elements, func(e plyElement) bool { return e.name == "vertex" })
	if vertex < 0 {
		return nil, errors.New("the PLY header names no element vertex")
	}

	for _, e := range elements {
		if e.name == "face" {
			f.faces = e.count
		}
	}

	f.points = elements[vertex].count
	for _, property := range elements[vertex].fields {
		one := property.field
		if property.isList {
			// It is no value of a point.
			one.count = 0
		}
		f.fields = append(f.fields, one)
	}

	// PLY has no packed colour, so points packs the three channels. The field of red stands for the colour.
	colours := joinColours(f.fields)
	if err := assign(f.fields); err != nil {
		return nil, err
	}
	if colours[0] >= 0 && f.fields[colours[0]].slot == unused {
		f.fields[colours[0]].slot = slotColor
	}

	f.walk = func(yield func(*values)) error {
		r := &plyReader{data: body, order: order}
		// PLY has no offsets: elements before the vertices must be read to find where these begin.
		for i := range vertex {
			if err := r.skip(&elements[i]); err != nil {
				return err
			}
		}

		return r.points(&elements[vertex], f.fields, colours, yield)
	}

	return f, nil
}

// plyHeader reads the elements and returns what follows them.
func plyHeader(data []byte, f *source) (elements []plyElement, body []byte, err error) {
	at := 0
	for line := range bytes.Lines(data[:min(len(data), maxHeader)]) {
		at += len(line)
		words := strings.Fields(string(line))
		if len(words) == 0 {
			continue
		}

		switch words[0] {
		case "end_header":
			return elements, data[at:], nil
		case "format":
			if len(words) > 1 {
				f.form = words[1]
			}
		case "element":
			if len(words) != 3 {
				return nil, nil, errors.New("a PLY element has a name and a count")
			}
			n, err := strconv.ParseUint(words[2], 10, 31)
			if err != nil {
				return nil, nil, errPointCount
			}
			elements = append(elements, plyElement{name: words[1], count: int64(n)})
		case "property":
			if len(elements) == 0 {
				return nil, nil, errors.New("a PLY property comes before any element")
			}
			if err := elements[len(elements)-1].add(words); err != nil {
				return nil, nil, err
			}
		}
	}

	return nil, nil, fmt.Errorf("the PLY header has no end_header within %d bytes", maxHeader)
}

func (e *plyElement) add(words []string) error {
	isList := len(words) == 5 && words[1] == "list"
	switch {
	case len(e.fields) == maxFields:
		return fmt.Errorf("a PLY element has more than %d properties", maxFields)
	case !isList && len(words) != 3:
		return errors.New("a PLY property has a type and a name")
	}

	name, typ := words[len(words)-1], words[len(words)-2]
	code, ok := plyTypes[typ]
	if !ok {
		return fmt.Errorf("PLY property %q is of the unknown type %q", media.Clean(name, media.MaxName),
			media.Clean(typ, media.MaxName))
	}

	one := plyField{field: newField(name, code, nil), isList: isList}
	if isList {
		length := plyTypes[words[2]]
		if length == "" || length[0] == 'f' {
			return fmt.Errorf("PLY property %q: %q cannot count a list", media.Clean(name, media.MaxName),
				media.Clean(words[2], media.MaxName))
		}
		one.length = newField("", length, nil).typ
	}

	e.fields = append(e.fields, one)

	return nil
}

// joinColours returns the places of red, green and blue, -1 if not all three are there.
func joinColours(fields []field) [3]int {
	places := [3]int{-1, -1, -1}

	for i, f := range fields {
		name := strings.TrimPrefix(strings.ToLower(f.name), "diffuse_")
		for c, colour := range []string{"red", "green", "blue"} {
			if name == colour && f.typ.Code == "u1" && f.count == 1 && places[c] < 0 {
				places[c] = i
			}
		}
	}
	if slices.Min(places[:]) < 0 {
		return [3]int{-1, -1, -1}
	}

	return places
}

// plyReader reads numbers, one after another, from bytes or, without an order, from words.
type plyReader struct {
	data  []byte
	order binary.ByteOrder
}

var errPLYEnd = errors.New("the data ends")

func (r *plyReader) number(t npy.Type) (float64, error) {
	if r.order != nil {
		if len(r.data) < t.Size {
			return 0, errPLYEnd
		}
		t.Order = r.order
		v := t.Float(r.data)
		r.data = r.data[t.Size:]

		return v, nil
	}

	word, err := r.word()
	if err != nil {
		return 0, err
	}

	v, err := strconv.ParseFloat(string(word), 64)
	// A number out of range is read as infinity, and its point counts as missing.
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%q is not a number", media.Clean(string(word), media.MaxName))
	}

	return v, nil
}

func (r *plyReader) word() ([]byte, error) {
	r.data = bytes.TrimLeft(r.data, " \t\r\n")
	if len(r.data) == 0 {
		return nil, errPLYEnd
	}
	end := bytes.IndexAny(r.data, " \t\r\n")
	if end < 0 {
		end = len(r.data)
	}
	word := r.data[:end]
	r.data = r.data[end:]

	return word, nil
}

// pass skips n numbers of a type.
func (r *plyReader) pass(n int64, t npy.Type) error {
	if r.order != nil {
		if n > int64(len(r.data)/t.Size) {
			return errPLYEnd
		}
		r.data = r.data[n*int64(t.Size):]
		return nil
	}

	for range n {
		if _, err := r.word(); err != nil {
			return err
		}
	}

	return nil
}

// list skips a list.
func (r *plyReader) list(f *plyField) error {
	n, err := r.number(f.length)
	if err != nil {
		return err
	}
	if !(n >= 0 && n <= math.MaxInt32) {
		return errors.New("a list has less than no numbers")
	}

	return r.pass(int64(n), f.typ)
}

// skip passes over all of an element. Each property takes at least a byte, so a count that is too large
// fails where the data ends.
func (r *plyReader) skip(e *plyElement) error {
	if len(e.fields) == 0 {
		return nil
	}

	pass := func(i int) error { return r.pass(1, e.fields[i].typ) }
	for n := range e.count {
		if err := r.row(e, n, pass); err != nil {
			return err
		}
	}

	return nil
}

// row reads row n of an element. It skips the lists, and calls read with the index of each other field.
func (r *plyReader) row(e *plyElement, n int64, read func(i int) error) error {
	for i := range e.fields {
		var err error
		if f := &e.fields[i]; f.isList {
			err = r.list(f)
		} else {
			err = read(i)
		}
		if err != nil {
			return fmt.Errorf("%w within element %q %d of %d", err, media.Clean(e.name, media.MaxName), n+1, e.count)
		}
	}

	return nil
}

// points calls yield with each vertex. The fields are those of the element.
func (r *plyReader) points(e *plyElement, fields []field, colours [3]int, yield func(*values)) error {
	row := make([]float64, len(fields))

	number := func(i int) (err error) {
		row[i], err = r.number(e.fields[i].typ)
		return err
	}
	for n := range e.count {
		if err := r.row(e, n, number); err != nil {
			return err
		}

		var v values

		for i, f := range fields {
			if f.slot != unused {
				v[f.slot] = row[i]
			}
		}
		if c := colours; c[0] >= 0 && fields[c[0]].slot == slotColor {
			v[slotColor] = row[c[0]]*(1<<16) + row[c[1]]*(1<<8) + row[c[2]]
		}
		yield(&v)
	}

	return nil
}
