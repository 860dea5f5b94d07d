package subjects

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Kinds of subjects.
const (
	Robot  = "robot"
	Object = "object"
	Place  = "place"
	Part   = "part"
	Person = "person"
)

// kinds maps the keys of contexts whose values name subjects to their kind.
var kinds = func() map[string]string {
	all := map[string]string{}

	for kind, keys := range map[string]string{
		Robot: "robot arm drone vehicle agv amr uav manipulator turtle base",
		Object: "object target item product workpiece package parcel box pallet tote bin glass cup sku crate plant " +
			"instrument sample patient",
		Place: "place room station location zone area map dock corridor aisle shelf rack bay cell ward floor hall site " +
			"field row turbine elevator lift door table site_id waypoint",
		Part: "part tool gripper sensor camera battery motor joint wheel lidar hand finger end_effector effector " +
			"actuator pump valve spindle vise machine device component hardware",
		Person: "person operator user who engineer nurse worker owner author",
	} {
		for key := range strings.FieldsSeq(keys) {
			all[key] = kind
		}
	}

	return all
}()

// naming are the keys whose values name what their object is.
var naming = []string{"id", "name", "serial", "label", "alias", "title", "number", "no"}

// KindOfPath returns the kind of what the value at a context path names, "" for a path that names nothing.
func KindOfPath(path string) string {
	return kinds[aboutOf(path)]
}

// Found is where a context names a subject.
type Found struct {
	Path string
	Kind string
	// Others are the other names that stand beside it, by their key: the name of a robot beside its id.
	Others map[string]string
}

// ByID reports whether the name stands at a key for ids, which belong to one subject.
func (f *Found) ByID() bool {
	key := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
	return slices.Contains([]string{"id", "serial", "number", "no"}, strings.ToLower(key))
}

// IsAt reports whether the value at a context path is the name: as a text, or as a number of what the path is about.
// {"gripper": 3}, {"gripper_id": "3"} and {"gripper": {"id": 3}} are gripper 3.
func (n *Name) IsAt(path string, value any) bool {
	text := fmt.Sprint(value)
	if own := ParseName(text); n.Same(&own) {
		_, isText := value.(string)
		return isText
	}

	keyed := ParseName(aboutOf(path) + " " + text)

	return n.Same(&keyed)
}

// aboutOf is the key that says what the value at a path names: the last one, or the one above it if the last one says
// that it is a name.
func aboutOf(path string) string {
	keys := strings.Split(strings.ToLower(path), ".")
	last := keys[len(keys)-1]
	if slices.Contains(naming, last) && len(keys) > 1 {
		last = keys[len(keys)-2]
	}

	return bareKey(last)
}

// InContext returns the places where the values of a context name the subject; texts that only mention it among other
// words are left out.
func (n *Name) InContext(context robotmem.Object) (out []Found) {
	n.walk("", "", map[string]any(context), nil, &out)
	slices.SortFunc(out, func(a, b Found) int { return strings.Compare(a.Path, b.Path) })

	return out
}

func (n *Name) walk(path, key string, v any, parent map[string]any, out *[]Found) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			at := k
			if path != "" {
				at = path + "." + k
			}
			n.walk(at, k, child, v, out)
		}
	case []any:
		for _, child := range v {
			n.walk(path, key, child, parent, out)
		}
	case string, json.Number, float64, int, int64:
		if n.IsAt(path, v) {
			*out = append(*out, Found{Path: path, Kind: KindOfPath(path), Others: n.siblings(key, parent)})
		}
	}
}

// siblings returns the other names in the object that a name stands in.
func (n *Name) siblings(key string, parent map[string]any) map[string]string {
	if !slices.Contains(naming, strings.ToLower(key)) {
		return nil
	}

	out := map[string]string{}

	for k, v := range parent {
		text, ok := v.(string)
		if other := ParseName(text); ok && k != key && slices.Contains(naming, strings.ToLower(k)) && !other.Empty() &&
			!n.Same(&other) {
			out[strings.ToLower(k)] = text
		}
	}
	if len(out) == 0 {
		return nil
	}

	return out
}

// Mentions reports whether a memory is about the subject: its text has the name, or its context names it.
func (n *Name) Mentions(content string, context robotmem.Object) bool {
	return n.In(content) || n.inValues(map[string]any(context)) || len(n.InContext(context)) > 0
}

// inValues reports whether a text of a context has the name among other words.
func (n *Name) inValues(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			if n.inValues(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, n.inValues)
	case string:
		return n.In(v)
	}

	return false
}

// KeyOf returns the last key of a path in lower case, without what says that its value is a name.
func KeyOf(path string) string {
	return bareKey(strings.ToLower(path[strings.LastIndexByte(path, '.')+1:]))
}

// bareKey is a key without what says that its value is a name: robot_id is a robot.
func bareKey(key string) string {
	for _, n := range naming {
		if bare, ok := strings.CutSuffix(key, "_"+n); ok {
			return bare
		}
	}

	return key
}

// Named is a name in a context.
type Named struct {
	Name string
	Kind string
}

// maxNamed is the longest text that is taken for a name, in bytes.
const maxNamed = 64

// NameAt returns the name that a value at a context path is; ok is false if it names nothing. {"gripper": 3} is
// gripper 3.
func NameAt(path string, value any) (named Named, ok bool) {
	named.Kind = KindOfPath(path)
	if named.Kind == "" {
		return named, false
	}

	switch v := value.(type) {
	case string:
		// "3" is a number that the caller has quoted, and "34 %" a measured value.
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			return NameAt(path, json.Number(v))
		}
		if _, measured := units.Parse(v); measured {
			return named, false
		}
		named.Name = strings.TrimSpace(v)
	case json.Number, int64, int, float64:
		named.Name = fmt.Sprint(aboutOf(path), " ", v)
	}

	n := ParseName(named.Name)

	return named, !n.Empty() && len(named.Name) <= maxNamed
}

// NamedIn returns what the values of a context name, each once, ordered by kind and name.
func NamedIn(context robotmem.Object) (out []Named) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, child := range v {
				if path == "" {
					walk(key, child)
				} else {
					walk(path+"."+key, child)
				}
			}
		case []any:
			for _, child := range v {
				walk(path, child)
			}
		default:
			if named, ok := NameAt(path, v); ok && !slices.Contains(out, named) {
				out = append(out, named)
			}
		}
	}
	walk("", map[string]any(context))
	slices.SortFunc(out, func(a, b Named) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})

	return out
}
