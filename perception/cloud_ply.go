package perception

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A PLY file (the Stanford polygon format) is a header of lines up to
// end_header, which names elements and the properties of each, and then the
// elements in that order. A property is a number or a list: a count and as many
// numbers.

type plyElement struct {
	name       string
	count      int64
	properties []plyProperty
}

type plyProperty struct {
	cloudField
	lengths numberKind // of the length of a list, 0 for a number
}

var plyKinds = map[string]numberKind{
	"char": kindInt8, "uchar": kindUint8, "short": kindInt16, "ushort": kindUint16,
	"int": kindInt32, "uint": kindUint32, "float": kindFloat32, "double": kindFloat64,
	"int8": kindInt8, "uint8": kindUint8, "int16": kindInt16, "uint16": kindUint16,
	"int32": kindInt32, "uint32": kindUint32, "float32": kindFloat32, "float64": kindFloat64,
}

func openPLY(data []byte) (*cloudFile, error) {
	f := &cloudFile{what: "point cloud"}
	var elements []plyElement
	var bad error
	body, ended := headerLines(data, func(words []string) bool {
		switch words[0] {
		case "format":
			if len(words) > 1 {
				f.form = words[1]
			}
		case "element":
			var e plyElement
			e, bad = plyElementOf(words)
			elements = append(elements, e)
		case "property":
			bad = plyAddProperty(elements, words)
		}
		return words[0] != "end_header" && bad == nil
	})
	if bad != nil {
		return nil, bad
	}
	if !ended {
		return nil, fmt.Errorf("the PLY header has no end_header within %d bytes", maxCloudHeader)
	}
	w := plyWalker{}
	switch f.form {
	case "ascii":
	case "binary_little_endian":
		w.order = binary.LittleEndian
	case "binary_big_endian":
		w.order = binary.BigEndian
	default:
		return nil, fmt.Errorf("PLY format %q is not known; there are ascii, binary_little_endian and binary_big_endian", clean(f.form, maxNameRunes))
	}
	vertex := -1
	for i, e := range elements {
		switch e.name {
		case "vertex":
			if vertex < 0 {
				vertex = i
			}
		case "face":
			f.what, f.faces = "mesh", e.count
		}
	}
	if vertex < 0 {
		return nil, errors.New("the PLY header names no element vertex")
	}
	if f.faces == 0 {
		f.what = "point cloud"
	}
	f.points = elements[vertex].count
	if err := f.takePLYFields(elements[vertex].properties); err != nil {
		return nil, err
	}
	f.each = func(yield func(*pointValues)) error {
		w.rest = body
		for _, e := range elements[:vertex] {
			if err := w.walk(e, func(*pointValues) {}); err != nil {
				return err
			}
		}
		return w.walk(elements[vertex], yield)
	}
	return f, nil
}

// takePLYFields makes the fields of the cloud of the vertex's properties, and
// tells these which are used.
func (f *cloudFile) takePLYFields(properties []plyProperty) error {
	for _, p := range properties {
		field := p.cloudField
		if p.lengths != 0 {
			field.count = 0
		}
		f.fields = append(f.fields, field)
	}
	if err := assign(f.fields); err != nil {
		return err
	}
	for i := range properties {
		properties[i].slot = f.fields[i].slot
	}
	return nil
}

func plyElementOf(words []string) (e plyElement, err error) {
	if len(words) != 3 {
		return e, errors.New("a PLY element has a name and a count")
	}
	e.name = words[1]
	e.count, err = pointCount(words[2])
	return e, err
}

func plyAddProperty(elements []plyElement, words []string) error {
	if len(elements) == 0 {
		return errors.New("a PLY property comes before any element")
	}
	e := &elements[len(elements)-1]
	if len(e.properties) == maxCloudFields {
		return fmt.Errorf("a PLY element has more than %d properties", maxCloudFields)
	}
	p := plyProperty{}
	p.slot = unused
	kind := ""
	switch {
	case len(words) == 3:
		kind, p.name, p.count = words[1], words[2], 1
	case len(words) == 5 && words[1] == "list":
		kind, p.name = words[3], words[4]
		if p.lengths = plyKinds[words[2]]; p.lengths == 0 || p.lengths == kindFloat32 || p.lengths == kindFloat64 {
			return fmt.Errorf("PLY property %q: %q cannot count a list", clean(p.name, maxNameRunes), clean(words[2], maxNameRunes))
		}
	default:
		return errors.New("a PLY property has a type and a name")
	}
	if p.kind = plyKinds[kind]; p.kind == 0 {
		return fmt.Errorf("PLY property %q is of the unknown type %q", clean(p.name, maxNameRunes), clean(kind, maxNameRunes))
	}
	e.properties = append(e.properties, p)
	return nil
}
