package robotmem

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// SpatialSort sorts memories by the distance to a point, nearest first: Euclidean, or in
// metres on the globe for latitude and longitude. In JSON it may also be a list of up to
// four places.
type SpatialSort struct {
	Field       string    `json:"field" validate:"required,max=256" doc:"Context path of the coordinates, such as spatial.object_position, or of a pose that holds them."`
	Target      []float64 `json:"target" validate:"required,min=2,max=32,dive,finite" doc:"[x, y] or [x, y, z] in the unit of the stored coordinates, [lat, lon] or [lat, lon, alt], or up to 32 joint values."`
	MaxDistance *float64  `json:"max_distance,omitempty" validate:"omitempty,finite,min=0" doc:"Largest distance, in the same unit; metres for latitude and longitude."`
	Mode        string    `json:"mode,omitempty" validate:"omitempty,oneof=strict fused" default:"strict" doc:"strict: exact nearest neighbours, nearest first. fused: place is one more ranked list."`
	FrameID     string    `json:"frame_id,omitempty" validate:"max=256" doc:"Only coordinates of this frame."`
	MapID       string    `json:"map_id,omitempty" validate:"max=256" doc:"Only coordinates of this map."`

	// Also are more places: each is a ranked list, and all lists are fused.
	Also []SpatialSort `json:"-" validate:"max=3,dive"`
}

const maxPlaces = 4

// WGS84 is the frame of coordinates in latitude and longitude.
const WGS84 = "WGS84"

// MaxDimensions is the largest number of coordinates of a place: joints of a robot.
const MaxDimensions = 32

// Coordinates reads a place as contexts and targets hold it: a list of 2 to 32 numbers, such
// a list as text ("1, 2, 0"), {x, y[, z]}, or {lat, lon[, alt]} in degrees and metres, for
// which earth is true. It returns nil for anything else.
func Coordinates(v any) (xyz []float64, earth bool) {
	switch v := v.(type) {
	case []any:
		return floats(v), false
	case string:
		return floats(listed(v)), false
	case map[string]any:
		if v["x"] != nil && v["w"] == nil { // not a quaternion
			return floats(members(v, "x", "y", "z")), false
		}
		xyz = floats(members(v, "lat latitude", "lon lng longitude", "alt altitude"))
		if xyz != nil && math.Abs(xyz[0]) <= 90 && math.Abs(xyz[1]) <= 360 {
			return xyz, true
		}
	}
	return nil, false
}

// members returns the values of an object under the first of some names each.
func members(m map[string]any, names ...string) (list []any) {
	for _, spellings := range names {
		for name := range strings.FieldsSeq(spellings) {
			if v, ok := m[name]; ok {
				list = append(list, v)
				break
			}
		}
	}
	return list
}

// listed returns the numbers of a text such as "1, 2, 0", with or without brackets.
func listed(s string) (list []any) {
	const longest = 30 * MaxDimensions
	if len(s) > longest || s == "" || s[0] > '9' && s[0] != '[' {
		return nil
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" ,;[]()", r) }) {
		list = append(list, json.Number(part))
	}
	return list
}

// floats returns 2 to 32 finite numbers, nil for anything else.
func floats(list []any) []float64 {
	if len(list) < 2 || len(list) > MaxDimensions {
		return nil
	}
	out := make([]float64, len(list))
	for i, v := range list {
		n, isNumber := v.(json.Number)
		f, err := n.Float64()
		if !isNumber || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
		out[i] = f
	}
	return out
}

// UnmarshalJSON implements json.Unmarshaler. It accepts an object, a list of objects, or a
// string that contains one of them.
func (s *SpatialSort) UnmarshalJSON(data []byte) error { return s.read(&reading{}, data) }

func (s *SpatialSort) read(r *reading, data []byte) error {
	data, err := unquoteObject(data)
	if err != nil {
		return err
	}
	var list []View
	if jsonv2.Unmarshal(data, &list) != nil {
		return s.decodeOne(r, data)
	}
	if len(list) < 1 || len(list) > maxPlaces {
		return Errorf(Invalid, "", "takes 1 to %d places, not %d", maxPlaces, len(list))
	}
	places := make([]SpatialSort, len(list))
	for i, raw := range list {
		p := &places[i]
		err := p.decodeOne(r, raw)
		if err == nil && p.Mode == "strict" && len(list) > 1 {
			err = Errorf(Invalid, "mode", "must not be strict: several places are fused")
		}
		if err == nil && len(list) > 1 {
			err = Validate("", p)
		}
		if err != nil {
			return namedError(strconv.Itoa(i), err)
		}
	}
	*s = places[0]
	s.Also = places[1:]
	return nil
}

func (s *SpatialSort) decodeOne(r *reading, data []byte) error {
	type plain SpatialSort
	fields, err := decodeObject(data, maxValues)
	if err != nil {
		return r.decode(data, (*plain)(s)) // the error
	}
	switch target := fields["target"].(type) {
	case []any:
		// Many encoders write NaN as null. Decoding null as 0 would give a wrong position.
		if slices.Contains(target, nil) {
			return Errorf(Invalid, "target", "holds null, perhaps for a number that is not finite; give numbers")
		}
	case string, map[string]any:
		xyz, earth := Coordinates(target)
		if xyz == nil {
			return Errorf(Invalid, "target", "must be numbers: [x, y], [x, y, z], {\"x\":1,\"y\":2} or {\"lat\":48.1,\"lon\":11.5}, not %s", abbreviate(fmt.Sprint(target)))
		}
		fields["target"] = xyz
		if _, given := fields["frame_id"]; earth && !given {
			fields["frame_id"] = WGS84
		}
		if data, err = EncodeJSON(fields); err != nil {
			return err
		}
	}
	return r.decode(data, (*plain)(s))
}

// MarshalJSON implements json.Marshaler: several places are a list.
func (s SpatialSort) MarshalJSON() ([]byte, error) {
	type plain SpatialSort
	if len(s.Also) == 0 {
		return json.Marshal(plain(s))
	}
	var list []plain
	for _, p := range s.All() {
		one := plain(*p)
		one.Mode = ""
		list = append(list, one)
	}
	return json.Marshal(list)
}

// All returns the places, none for nil.
func (s *SpatialSort) All() (places []*SpatialSort) {
	if s == nil {
		return nil
	}
	places = append(places, s)
	for i := range s.Also {
		places = append(places, &s.Also[i])
	}
	return places
}
