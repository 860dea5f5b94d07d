package robotmem

import (
	"encoding/json"
	"maps"
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
	Heading     *float64  `json:"heading,omitempty" validate:"omitempty,finite" doc:"Only where the orientation beside the coordinates looks this way: the angle about z in rad, within max_angle."`
	Orientation []float64 `json:"orientation,omitempty" validate:"omitempty,len=4,dive,finite" doc:"Instead of heading, a unit quaternion [x, y, z, w]."`
	MaxAngle    *float64  `json:"max_angle,omitempty" validate:"omitempty,finite,min=0,max=3.15" doc:"Largest angle to heading or orientation, in rad (0.7854, which is 45 degrees)."`
	Angular     bool      `json:"angular,omitempty" doc:"The coordinates are angles in rad, as those of joints: 6.2 is near 0."`
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

// Orientation reads the orientation of a place as a unit quaternion x, y, z, w: that of coordinates that hold
// one, {x, y, theta} or a homogeneous transform, or else that of the object around them. An object gives it
// as orientation, rotation or quaternion (a list x, y, z, w or {x, y, z, w}), as one of these with _wxyz (a list w, x,
// y, z), or as yaw, theta or heading, the angle about z in rad, or in degrees with _deg. Orientation returns nil
// if there is none.
func Orientation(v any, beside map[string]any) []float64 {
	if rows, ok := v.([]any); ok && len(rows) == matrixRows && translation(rows) != nil {
		return rotation(rows)
	}
	own, _ := v.(map[string]any)
	if q := orientationIn(own); q != nil {
		return q
	}

	return orientationIn(beside)
}

func orientationIn(m map[string]any) []float64 {
	for _, name := range [...]string{"orientation", "rotation", "quaternion"} {
		switch v := m[name].(type) {
		case []any:
			if q := unit(floats(v)); q != nil {
				return q
			}
		case map[string]any:
			if q := unit(floats([]any{v["x"], v["y"], v["z"], v["w"]})); q != nil {
				return q
			}
		}
		if v, ok := m[name+"_wxyz"].([]any); ok && len(v) == quaternionLength {
			if q := unit(floats([]any{v[1], v[2], v[3], v[0]})); q != nil {
				return q
			}
		}
	}

	for _, name := range [...]string{"yaw", "theta", "heading"} {
		for suffix, scale := range map[string]float64{"": 1, "_rad": 1, "_deg": math.Pi / 180} {
			if angle, ok := m[name+suffix].(json.Number); ok {
				if f, err := angle.Float64(); err == nil && !math.IsInf(f, 0) {
					half := math.Remainder(f*scale, 2*math.Pi) / 2
					return []float64{0, 0, math.Sin(half), math.Cos(half)}
				}
			}
		}
	}

	return nil
}

const quaternionLength = 4

// unit returns a quaternion with the norm 1, nil for anything that is far from one.
func unit(q []float64) []float64 {
	const tolerance = 0.05

	if len(q) != quaternionLength {
		return nil
	}
	norm := math.Hypot(math.Hypot(q[0], q[1]), math.Hypot(q[2], q[3]))
	if math.Abs(norm-1) > tolerance {
		return nil
	}

	for i := range q {
		q[i] /= norm
	}

	return q
}

// rotation returns the quaternion of the rotation of a homogeneous transform, nil if it is none: its columns are not
// of length 1. (Shepperd, "Quaternion from rotation matrix", 1978.)
func rotation(rows []any) []float64 {
	var m [3][]float64
	for i := range m {
		list, _ := rows[i].([]any)
		m[i] = floats(list)
	}

	// Each of the four numbers is found from the diagonal; the largest is the one to divide by.
	squares := [...]float64{
		1 + m[0][0] - m[1][1] - m[2][2], 1 - m[0][0] + m[1][1] - m[2][2],
		1 - m[0][0] - m[1][1] + m[2][2], 1 + m[0][0] + m[1][1] + m[2][2],
	}

	most := 0
	for i, s := range squares {
		if s > squares[most] {
			most = i
		}
	}

	products := [...][4]float64{
		{squares[0], m[1][0] + m[0][1], m[0][2] + m[2][0], m[2][1] - m[1][2]},
		{m[1][0] + m[0][1], squares[1], m[2][1] + m[1][2], m[0][2] - m[2][0]},
		{m[0][2] + m[2][0], m[2][1] + m[1][2], squares[2], m[1][0] - m[0][1]},
		{m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], squares[3]},
	}
	scale := 2 * math.Sqrt(squares[most])
	q := products[most]

	return unit([]float64{q[0] / scale, q[1] / scale, q[2] / scale, q[3] / scale})
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

	fields, data, err = r.poseTarget(fields, data)
	if err != nil {
		return err
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

	if err = r.decode(data, (*plain)(s)); err != nil {
		return err
	}

	// Without a frame, degrees would be compared with metres.
	if earth && s.FrameID == "" {
		s.FrameID = WGS84
	}

	return s.completeAngle(r)
}

// UsualMaxAngle is the largest angle of a question that gives none, in rad: 45 degrees.
const UsualMaxAngle = math.Pi / 4

// mostAngle is pi with few digits.
const mostAngle = 3.15

// completeAngle refuses what says no direction, and gives the largest angle where it is missing.
func (s *SpatialSort) completeAngle(r *requestReader) error {
	turned := s.Heading != nil || s.Orientation != nil

	switch {
	case s.Heading != nil && s.Orientation != nil:
		return Errorf(Invalid, "heading", "heading and orientation both name a direction; give one")
	case s.Orientation != nil && unit(slices.Clone(s.Orientation)) == nil:
		return Errorf(Invalid, "orientation", "must be a unit quaternion [x, y, z, w], not %v", s.Orientation)
	case s.MaxAngle != nil && !turned:
		return Errorf(Invalid, "max_angle", "needs heading, the angle about z in rad, or orientation")
	case s.MaxAngle != nil && *s.MaxAngle > mostAngle:
		return Errorf(Invalid, "max_angle", "must be between 0 and 3.15, in rad, not %v; %[1]v degrees are %.4[2]f rad",
			*s.MaxAngle, *s.MaxAngle*math.Pi/180)
	case turned && s.MaxAngle == nil:
		s.MaxAngle = new(UsualMaxAngle)
		r.note("max_angle", "not given, taken as %.4f rad, which is 45 degrees", UsualMaxAngle)
	}

	return nil
}

// poseTarget takes the target of a question from a pose or a message with one, {x, y, theta} or {pose: {position,
// orientation}, header: {frame_id}}: its coordinates, its frame unless the question names one, and its
// orientation if the question has a largest angle. It returns the fields and their JSON.
func (r *requestReader) poseTarget(fields map[string]any, data View) (map[string]any, View, error) {
	pose, ok := fields["target"].(map[string]any)
	if !ok {
		return fields, data, nil
	}
	if xyz, _ := Coordinates(pose); xyz != nil && Orientation(pose, nil) == nil {
		return fields, data, nil
	}

	taken := maps.Clone(fields)

	for range [...]string{"pose with covariance", "stamped pose"} {
		header, _ := pose["header"].(map[string]any)
		for _, of := range []map[string]any{header, pose} {
			for _, name := range []string{"frame_id", "map_id"} {
				if _, given := fields[name]; !given && of[name] != nil {
					taken[name] = of[name]
				}
			}
		}

		inner, isPose := pose["pose"].(map[string]any)
		if !isPose {
			break
		}
		pose = inner
	}

	place, holds := any(pose), false
	if position, ok := pose["position"]; ok {
		place, holds = position, true
	}
	xyz, earth := Coordinates(place)
	if xyz == nil {
		return fields, data, nil // the check of the target says what is missing
	}

	taken["target"] = place
	if !earth {
		taken["target"] = xyz
	}
	_, asked := fields["max_angle"]
	_, heading := fields["heading"]
	_, orientation := fields["orientation"]
	turn := Orientation(place, pose)
	if turn != nil && asked && !heading && !orientation {
		taken["orientation"] = turn
	}
	if turn != nil && !asked && !heading && !orientation {
		r.note("target", "its orientation was not used; give max_angle, in rad, for poses that look the same way")
	}

	read, err := EncodeJSON(taken)
	if err != nil {
		return nil, nil, err
	}
	if holds {
		shown, _ := EncodeJSON(taken["target"])
		r.note("target", "the position of a pose taken, %s", shown)
	}

	taken, err = decodeObject(View(read), maxValues)

	return taken, View(read), err
}
