package pointcloud

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// maxHeader bounds the part of a file that is read for its header, in bytes. Real
// headers take a few hundred.
const maxHeader = 8 << 10

// A PCD file of the Point Cloud Library is a header of lines, each a word and its values, of which
// the last is DATA. Then come the points: a line each (ascii), as records (binary), or field after
// field in LZF (binary_compressed).

// IsPCD looks at the first line that is not a comment. Files of the library begin with
// the comment "# .PCD", but other files may not.
func IsPCD(data []byte) bool {
	head := data[:min(len(data), maxHeader)]
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		return bytes.HasPrefix(line, []byte("VERSION ")) && bytes.Contains(head, []byte("\nFIELDS "))
	}

	return false
}

func openPCD(data []byte) (*source, error) {
	words, at := map[string][]string{}, 0
	for line := range bytes.Lines(data[:min(len(data), maxHeader)]) {
		at += len(line)
		if fields := strings.Fields(string(line)); len(fields) > 0 {
			words[fields[0]] = fields[1:]
		}
		// The points follow the line DATA at once, so the bytes read so far are the header.
		if words["DATA"] != nil {
			break
		}
	}

	if len(words["DATA"]) != 1 {
		return nil, fmt.Errorf("the PCD header has no line DATA within %d bytes", maxHeader)
	}

	f := &source{form: words["DATA"][0], data: data[at:], height: 1}
	points, err := strconv.ParseUint(strings.Join(words["POINTS"], " "), 10, 31)
	if err != nil {
		return nil, errPointCount
	}
	if f.fields, err = pcdFields(words); err != nil {
		return nil, err
	}

	f.points, f.width, f.isText = int64(points), int64(points), f.form == "ascii"
	if !f.isText && f.form != "binary" && f.form != "binary_compressed" {
		return nil, fmt.Errorf("PCD data %q is not read; use ascii, binary or binary_compressed",
			media.Clean(f.form, media.MaxName))
	}

	for i := range f.fields {
		field := &f.fields[i]
		// In text a field is counted in words, and a word has the size 1.
		if f.isText {
			field.typ.Size = 1 // word
			if field.slot == slotColor && field.typ.Code == "f4" {
				// The bits of a colour do not survive as decimals.
				field.slot = unused
			}
		}
		field.offset = int(f.stride)
		f.stride += int64(field.bytes())
	}

	f.need = f.points * f.stride
	if f.form == "binary_compressed" {
		f.unpack = f.unpackPoints
	}

	return f, nil
}

func pcdFields(words map[string][]string) ([]field, error) {
	names, sizes, types, counts := words["FIELDS"], words["SIZE"], words["TYPE"], words["COUNT"]
	if len(names) > maxFields {
		return nil, fmt.Errorf("the PCD header names %d fields; the limit is %d", len(names), maxFields)
	}
	if len(sizes) != len(names) || len(types) != len(names) || counts != nil && len(counts) != len(names) {
		return nil, fmt.Errorf("the PCD header names %d fields with %d sizes, %d types and %d counts", len(names),
			len(sizes), len(types), len(counts))
	}

	fields := make([]field, len(names))
	for i, name := range names {
		if !slices.Contains([]string{"I1", "I2", "I4", "I8", "U1", "U2", "U4", "U8", "F4", "F8"}, types[i]+sizes[i]) {
			return nil, fmt.Errorf("PCD field %d is of type %q and size %q; I and U have sizes 1, 2, 4, 8 and F has 4, 8", i+1, media.Clean(types[i], media.MaxName), media.Clean(sizes[i], media.MaxName))
		}
		fields[i] = newField(name, strings.ToLower(types[i]+sizes[i]), binary.LittleEndian)
		// Without a line COUNT each field has one value.
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
