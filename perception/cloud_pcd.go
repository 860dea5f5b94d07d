package perception

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A PCD file of the Point Cloud Library is a header of lines, a word and its
// values each, the last of which is DATA; then the points: as text, a line
// each (ascii), as records (binary), or field by field behind the compressed and
// the full size, 32 bits each (binary_compressed).

// maxCloudHeader bounds the part of a point cloud that is read for its header;
// real ones take a few hundred bytes.
const maxCloudHeader = 8 << 10

// headerLines calls f with the words of each header line until it returns
// false, and returns what follows that line.
func headerLines(data []byte, f func(words []string) bool) (rest []byte, ended bool) {
	at := 0
	for line := range bytes.Lines(data[:min(len(data), maxCloudHeader)]) {
		at += len(line)
		words := strings.Fields(string(line))
		if len(words) > 0 && !f(words) {
			return data[at:], true
		}
	}
	return nil, false
}

func openPCD(data []byte) (*cloudFile, error) {
	words := map[string][]string{}
	body, ok := headerLines(data, func(line []string) bool {
		words[line[0]] = line[1:]
		return line[0] != "DATA"
	})
	if !ok || len(words["DATA"]) != 1 {
		return nil, fmt.Errorf("the PCD header has no line DATA within %d bytes", maxCloudHeader)
	}
	f := &cloudFile{what: "point cloud", form: words["DATA"][0]}
	var err error
	if f.points, err = pcdPoints(words); err != nil {
		return nil, err
	}
	if f.fields, err = pcdFields(words); err != nil {
		return nil, err
	}
	switch f.form {
	case "ascii":
		f.each = func(yield func(*pointValues)) error { return f.eachLine(body, yield) }
	case "binary":
		f.each = func(yield func(*pointValues)) error { return f.eachRecord(body, yield) }
	case "binary_compressed":
		f.each = func(yield func(*pointValues)) error { return f.eachCompressed(body, yield) }
	default:
		return nil, fmt.Errorf("PCD data %q is not known; there are ascii, binary and binary_compressed", clean(f.form, maxNameRunes))
	}
	return f, nil
}

func pcdPoints(words map[string][]string) (int64, error) {
	read := func(key string) (int64, error) {
		if len(words[key]) != 1 {
			return 0, fmt.Errorf("the PCD header has no line %s with a number", key)
		}
		return pointCount(words[key][0])
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

var errPointCount = fmt.Errorf("the number of points is not from 0 to %d", math.MaxInt32)

func pointCount(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, errPointCount
	}
	return int64(n), nil
}

// pcdKinds are the number kinds by TYPE and SIZE.
var pcdKinds = map[string]numberKind{
	"I1": kindInt8, "I2": kindInt16, "I4": kindInt32, "I8": kindInt64,
	"U1": kindUint8, "U2": kindUint16, "U4": kindUint32, "U8": kindUint64,
	"F4": kindFloat32, "F8": kindFloat64,
}

func pcdFields(words map[string][]string) ([]cloudField, error) {
	names := words["FIELDS"]
	if names == nil {
		names = words["COLUMNS"]
	}
	sizes, types, counts := words["SIZE"], words["TYPE"], words["COUNT"]
	if len(names) > maxCloudFields {
		return nil, fmt.Errorf("the PCD header names %d fields; the limit is %d", len(names), maxCloudFields)
	}
	if len(sizes) != len(names) || len(types) != len(names) || counts != nil && len(counts) != len(names) {
		return nil, fmt.Errorf("the PCD header names %d fields with %d sizes, %d types and %d counts", len(names), len(sizes), len(types), len(counts))
	}
	fields, offset := make([]cloudField, len(names)), 0
	for i, name := range names {
		kind, ok := pcdKinds[types[i]+sizes[i]]
		if !ok {
			return nil, fmt.Errorf("PCD field %d is of type %q and size %q; there are I and U of 1, 2, 4, 8 and F of 4, 8", i+1, clean(types[i], maxNameRunes), clean(sizes[i], maxNameRunes))
		}
		count := 1
		if counts != nil {
			n, err := strconv.ParseUint(counts[i], 10, 31)
			if err != nil || n > maxFieldCount {
				return nil, fmt.Errorf("PCD field %d has a count that is not from 0 to %d", i+1, maxFieldCount)
			}
			count = int(n)
		}
		fields[i] = cloudField{name: name, kind: kind, count: count, offset: offset}
		offset += fields[i].bytes()
	}
	return fields, assign(fields)
}

// step is the bytes of a point.
func (f *cloudFile) step() int {
	step := 0
	for _, field := range f.fields {
		step += field.bytes()
	}
	return step
}

func (f *cloudFile) eachRecord(body []byte, yield func(*pointValues)) error {
	step := f.step()
	if need := f.points * int64(step); need > int64(len(body)) {
		return fmt.Errorf("the %d points need %d bytes; %d are there", f.points, need, len(body))
	}
	r := records{data: body, order: binary.LittleEndian, width: f.points, height: 1, stride: func(cloudField) int { return step }}
	r.each(f.fields, yield)
	return nil
}

func (f *cloudFile) eachCompressed(body []byte, yield func(*pointValues)) error {
	if len(body) < 8 {
		return errors.New("the compressed points end before their size")
	}
	packed, size := binary.LittleEndian.Uint32(body), int64(binary.LittleEndian.Uint32(body[4:]))
	body = body[8:]
	if int64(packed) > int64(len(body)) {
		return fmt.Errorf("the compressed points claim %d bytes; %d are there", packed, len(body))
	}
	if need := f.points * int64(f.step()); size != need {
		return fmt.Errorf("the compressed points hold %d bytes; the %d points need %d", size, f.points, need)
	}
	data, err := unpackLZF(body[:packed], size)
	if err != nil {
		return err
	}
	fields, offset := make([]cloudField, len(f.fields)), int64(0)
	for i, field := range f.fields {
		field.offset = int(offset)
		fields[i] = field
		offset += f.points * int64(field.bytes())
	}
	r := records{data: data, order: binary.LittleEndian, width: f.points, height: 1, stride: cloudField.bytes}
	r.each(fields, yield)
	return nil
}

// eachLine reads a point per line; blank lines are skipped.
func (f *cloudFile) eachLine(body []byte, yield func(*pointValues)) error {
	n := int64(0)
	for line := range bytes.Lines(body) {
		if n == f.points {
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		n++
		var v pointValues
		for _, field := range f.fields {
			for i := range field.count {
				word, rest := nextWord(line)
				if line = rest; len(word) == 0 {
					return fmt.Errorf("point %d has fewer values than fields", n)
				}
				if i > 0 || field.slot == unused {
					continue
				}
				value, err := strconv.ParseFloat(string(word), 64)
				if err != nil && !errors.Is(err, strconv.ErrRange) {
					return fmt.Errorf("point %d: %q is no number", n, clean(string(word[:min(len(word), 4*maxNameRunes)]), maxNameRunes))
				}
				if field.slot == slotPacked && field.kind == kindFloat32 {
					value = packedColor(word, value)
				}
				v[field.slot] = value
			}
		}
		yield(&v)
	}
	if n < f.points {
		return fmt.Errorf("the header says %d points; %d are there", f.points, n)
	}
	return nil
}

// packedColor reads a colour that is written as a float. It stands for its bits,
// which with an alpha of 0 or 255 are tiny or huge; old files hold the bits as a
// number, "4.2108e+06".
func packedColor(word []byte, value float64) float64 {
	if value >= 1 && value <= 0xffffff {
		return math.Trunc(value)
	}
	narrow, err := strconv.ParseFloat(string(word), 32)
	if err != nil {
		return 0
	}
	return float64(math.Float32bits(float32(narrow)))
}

// nextWord parts a line of text after its first word.
func nextWord(line []byte) (word, rest []byte) {
	line = bytes.TrimLeft(line, " \t\r\n\v\f,")
	if end := bytes.IndexAny(line, " \t\r\n\v\f,"); end >= 0 {
		return line[:end], line[end:]
	}
	return line, nil
}
