package record

import (
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
		q, _ := robotmem.Coordinates(v)

		squares := 0.0
		for _, x := range q {
			squares += x * x
		}
		if len(q) != 4 || math.Abs(math.Sqrt(squares)-1) > unitTolerance {
			return robotmem.Errorf(robotmem.Invalid, field+".orientation",
				"must be a unit quaternion [x, y, z, w]; leave it out if it is unknown")
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
			return robotmem.Errorf(robotmem.Invalid, field+".stamp",
				"must be a time such as 2026-03-01T14:05:00Z (RFC 3339), or seconds as a number")
		}
	}

	return nil
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

// MapOf returns the map of a context's coordinates: spatial.pose.map_id, or else spatial.map_id.
func MapOf(context robotmem.Object) string {
	for _, path := range [][]string{{"spatial", "pose"}, {"spatial"}} {
		m, _ := Object(context, path...)
		if id, _ := m["map_id"].(string); id != "" {
			return id
		}
	}

	return ""
}
