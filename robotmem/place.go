package robotmem

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
)

// SpatialSort sorts memories by the distance to a point, nearest first: Euclidean, or in
// metres on the globe for latitude and longitude.
type SpatialSort struct {
	Field       string    `json:"field" validate:"required,max=256" doc:"Context path of the coordinates, such as spatial.object_position, or of a pose that holds them."`
	Target      []float64 `json:"target" validate:"required,min=2,max=32,dive,finite" doc:"[x, y] or [x, y, z] in the unit of the stored coordinates, [lat, lon] or [lat, lon, alt], or up to 32 joint values."`
	MaxDistance *float64  `json:"max_distance,omitempty" validate:"omitempty,finite,min=0" doc:"Largest distance, in the same unit; metres for latitude and longitude."`
	Mode        string    `json:"mode,omitempty" validate:"omitempty,oneof=strict fused" default:"strict" doc:"strict: exact nearest neighbours, nearest first. fused: place is one more ranked list."`
	FrameID     string    `json:"frame_id,omitempty" validate:"max=256" doc:"Only coordinates of this frame."`
	MapID       string    `json:"map_id,omitempty" validate:"max=256" doc:"Only coordinates of this map."`
}

// WGS84 is the frame of coordinates in latitude and longitude.
const WGS84 = "WGS84"

// MaxDimensions is the largest number of coordinates of a place: joints of a robot.
const MaxDimensions = 32

// Coordinates reads a place as contexts and targets hold it: a list of 2 to 32 numbers, such
// a list as text ("1, 2, 0"), {x, y[, z]}, a homogeneous transform of 4×4 numbers, {easting,
// northing[, altitude]} in metres of a zone of UTM, or {lat, lon[, alt]} in degrees and metres, for
// which earth is true. It returns nil for anything else.
func Coordinates(v any) (xyz []float64, earth bool) {
	switch v := v.(type) {
	case []any:
		if len(v) == matrixRows {
			if xyz = translation(v); xyz != nil {
				return xyz, false
			}
		}
		return floats(v), false
	case string:
		return floats(splitNumbers(v)), false
	case map[string]any:
		if xyz = floats(members(v, planeNames)); xyz != nil {
			// An orientation has x, y and z as well, and its numbers look like a position near the origin.
			if _, quaternion := v["w"]; quaternion {
				return nil, false
			}
			return xyz, false
		}
		if xyz = floats(members(v, gridNames)); xyz != nil {
			return xyz, false
		}
		xyz = floats(members(v, earthNames))
		// Longitudes of 0 to 360 are in use beside -180 to 180.
		if xyz == nil || math.Abs(xyz[0]) > 90 || math.Abs(xyz[1]) > 360 {
			return nil, false
		}

		return xyz, true
	}

	return nil, false
}

// matrixRows is the number of rows of a homogeneous transform.
const matrixRows = 4

// translation returns the position of a homogeneous transform, a list of four rows of four numbers of which
// the last is 0, 0, 0, 1. It returns nil for anything else.
func translation(rows []any) []float64 {
	out := make([]float64, 0, matrixRows)

	for i, row := range rows {
		list, _ := row.([]any)
		numbers := floats(list)
		if len(numbers) != matrixRows || i == matrixRows-1 && !slices.Equal(numbers, []float64{0, 0, 0, 1}) {
			return nil
		}
		out = append(out, numbers[matrixRows-1])
	}

	return out[:matrixRows-1]
}

// planeNames, gridNames and earthNames hold the names of each coordinate, in order.
var (
	gridNames  = [3][]string{{"easting"}, {"northing"}, {"altitude", "alt", "height"}}
	planeNames = [3][]string{{"x"}, {"y"}, {"z"}}
	earthNames = [3][]string{{"lat", "latitude"}, {"lon", "lng", "longitude"}, {"alt", "altitude"}}
)

// members returns the values of the coordinates of an object, each under the first of its names that the object has.
func members(m map[string]any, names [3][]string) (list []any) {
	for i, spellings := range names {
		if i > len(list) {
			// A coordinate before this one is missing. Most objects are no place.
			return nil
		}

		for _, name := range spellings {
			if v, ok := m[name]; ok {
				list = append(list, v)
				break
			}
		}
	}

	return list
}

// splitNumbers returns the numbers of a text such as "1, 2, 0", with or without brackets.
func splitNumbers(s string) (list []any) {
	// Every text of a context passes here, so those that cannot be a list are left at once.
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

// UnmarshalJSON implements json.Unmarshaler. It accepts an object or a string that contains one.
func (s *SpatialSort) UnmarshalJSON(data []byte) error { return s.read(&requestReader{}, data) }

// read reads a place. Its target may be spelt like stored coordinates: [requestReader.coerce].
func (s *SpatialSort) read(r *requestReader, data []byte) error {
	if place := placeToSort(data); place != nil {
		r.note("target", "taken from %s", abbreviate(string(data)))
		data = place
	}

	data, err := unquoteObject(data)
	if err != nil {
		return err
	}

	// plain has no methods, so that decoding into it does not come back here.
	type plain SpatialSort
	fields, err := decodeObject(data, maxValues)
	if err != nil {
		return r.decode(data, (*plain)(s)) // the error
	}

	earth := false

	// The target is checked before the strict decoding: its error would name a Go type, and null would become 0.
	for name, v := range fields {
		if f, ok := fieldNamed(reflect.TypeFor[plain](), name); !ok || jsonName(f) != "target" {
			continue
		}
		list, isList := v.([]any)

		// Many encoders write NaN as null. Reading it as 0 would give a wrong position.
		if slices.Contains(list, nil) {
			return Errorf(Invalid, "target", "holds null, perhaps for a number that is not finite; give numbers")
		}

		var xyz []float64
		xyz, earth = Coordinates(v)
		if xyz == nil && parsePlace(v) == nil && !isList && v != nil && v != "" {
			return Errorf(Invalid, "target", "must be numbers, such as [x, y, z], "+
				"{\"x\":1,\"y\":2} or {\"lat\":48.1,\"lon\":11.5}")
		}
	}

	// Without a frame, degrees would be compared with metres.
	if err = r.decode(data, (*plain)(s)); err == nil && earth && s.FrameID == "" {
		s.FrameID = WGS84
	}

	return err
}
