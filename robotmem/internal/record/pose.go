package record

import (
	"encoding/json"
	"math"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The context path spatial.pose holds a pose: {position, orientation, frame_id,
// map_id, stamp}. It is stored unchanged. An invalid pose is refused, because a
// search by place would return wrong distances for it.

// unitTolerance is the largest deviation of a quaternion's norm from 1. It admits
// quaternions in float32 or rounded to three digits.
const unitTolerance = 0.01

// checkPose refuses an invalid spatial.pose. A value that is not an object has no
// defined meaning and is accepted.
func checkPose(context robotmem.Object) error {
	pose, ok := Object(context, "spatial", "pose")
	if !ok {
		return nil
	}
	const field = "context.spatial.pose"
	v, isList := pose["position"].([]any)
	if xyz, _ := robotmem.Coordinates(v); isList && (xyz == nil || len(xyz) > 3) {
		return robotmem.Errorf(robotmem.Invalid, field+".position", "must be [x, y] or [x, y, z], in metres")
	}
	if v, ok := pose["orientation"].([]any); ok {
		if norm := quaternionNorm(v); math.Abs(norm-1) > unitTolerance || math.IsNaN(norm) {
			return robotmem.Errorf(robotmem.Invalid, field+".orientation", "must be a unit quaternion [x, y, z, w]; leave it out if it is unknown")
		}
	}
	for _, name := range []string{"frame_id", "map_id"} {
		if v, given := pose[name]; given {
			if _, ok := v.(string); !ok {
				return robotmem.Errorf(robotmem.Invalid, field+"."+name, "must be a text")
			}
		}
	}
	if s, ok := pose["stamp"].(string); ok {
		if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
			return robotmem.Errorf(robotmem.Invalid, field+".stamp", "must be a time such as 2026-03-01T14:05:00Z (RFC 3339), or seconds as a number")
		}
	}
	return nil
}

// quaternionNorm returns the norm of [x, y, z, w], or NaN if v has another form.
func quaternionNorm(v []any) float64 {
	if len(v) != 4 {
		return math.NaN()
	}
	sum := 0.0
	for _, e := range v {
		n, ok := e.(json.Number)
		f, err := n.Float64()
		if !ok || err != nil {
			return math.NaN()
		}
		sum += f * f
	}
	return math.Sqrt(sum)
}

// Object returns the object at a path of keys.
func Object(o robotmem.Object, path ...string) (map[string]any, bool) {
	m := map[string]any(o)
	for _, key := range path {
		inner, ok := m[key].(map[string]any)
		if !ok {
			return nil, false
		}
		m = inner
	}
	return m, true
}

// MapOf returns the map of a context's coordinates: spatial.pose.map_id, or else
// spatial.map_id.
func MapOf(context robotmem.Object) string {
	for _, path := range [][]string{{"spatial", "pose"}, {"spatial"}} {
		if m, ok := Object(context, path...); ok {
			if id, ok := m["map_id"].(string); ok && id != "" {
				return id
			}
		}
	}
	return ""
}
