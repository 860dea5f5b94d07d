package message

import (
	"fmt"
	"strings"
)

// link finds the type of each field: by its whole name, in the package of the
// type it stands in, or Header, which is std_msgs'. What the text leaves out may
// be built in.
func (p *parser) link() error {
	for i := 0; i < len(p.order); i++ {
		t := p.order[i]
		for j := range t.Fields {
			ref := p.refs[t][j]
			if ref == "" {
				continue
			}
			found, err := p.find(t, ref)
			if err != nil {
				return err
			}
			t.Fields[j].Type = found
		}
	}
	_, err := p.order[0].measure(0)
	return err
}

func (p *parser) find(in *Type, ref string) (*Type, error) {
	pkg, _, _ := strings.Cut(in.Name, "/")
	names := []string{ref, pkg + "/" + ref}
	if ref == "Header" {
		names = append(names, "std_msgs/Header")
	}
	for _, name := range names {
		if t, ok := p.types[name]; ok {
			return t, nil
		}
	}
	for _, name := range names {
		text, ok := ownText(name)
		if !ok {
			continue
		}
		t, err := p.add(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if err := p.line(t, strings.TrimSpace(line)); err != nil {
				return nil, err
			}
		}
		return t, nil
	}
	return nil, fmt.Errorf("type %.80s is not defined", ref)
}

// measuring marks a type that is being measured: to meet it again means that it
// holds itself.
const measuring = -2

// measure finds the least size, and that the types end.
func (t *Type) measure(depth int) (int, error) {
	switch {
	case t.minSize == measuring:
		return 0, fmt.Errorf("type %.80s holds itself", t.Name)
	case t.minSize >= 0:
		return t.minSize, nil
	case depth >= maxDepth:
		return 0, fmt.Errorf("types are nested more than %d deep", maxDepth)
	}
	t.minSize = measuring
	total := 0
	for i := range t.Fields {
		n := t.Fields[i].elementSize()
		if t.Fields[i].Kind == Struct {
			var err error
			if n, err = t.Fields[i].Type.measure(depth + 1); err != nil {
				return 0, err
			}
		}
		switch t.Fields[i].Array {
		case Fixed:
			n *= t.Fields[i].Len
		case Sequence:
			n = 4
		}
		total = min(total+n, maxFixedLength)
	}
	// IDL has no empty structure: ROS 2 puts one byte into it.
	t.minSize = max(total, 1)
	return t.minSize, nil
}

// elementSize is the least that one element takes: a string is its length.
func (f *Field) elementSize() int {
	switch f.Kind {
	case String, WString:
		return 4
	case Struct:
		return max(f.Type.minSize, 1)
	}
	return f.Kind.size()
}
