package record

import (
	"encoding/json"
	"math"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// A pose in a context is spatial.pose: {position, orientation, frame_id, map_id,
// stamp}. It is kept as it came; what cannot be a pose is refused, so that no
// search by place ever compares with it.

// unitTolerance is how far a quaternion's length may be from 1: those that
// drivers write in float32 or round to three digits are within it.
const unitTolerance = 0.01

// checkPose refuses a spatial.pose that is none. What is no object is the
// caller's own.
func checkPose(context robotmem.Object) error {
	pose, ok := Object(context, "spatial", "pose")
	if !ok {
		return nil
	}
	const field = "context.spatial.pose"
	if v, ok := pose["position"].([]any); ok && filter.Coordinates(v) == nil {
		return robotmem.Errorf(robotmem.Invalid, field+".position", "must be [x, y] or [x, y, z], in metres")
	}
	if v, ok := pose["orientation"].([]any); ok {
		if norm := quaternionNorm(v); math.Abs(norm-1) > unitTolerance || math.IsNaN(norm) {
			return robotmem.Errorf(robotmem.Invalid, field+".orientation", "must be a unit quaternion [x, y, z, w]; leave it out if it is not known")
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

// quaternionNorm is the length of [x, y, z, w]; NaN if v is no such list.
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

// Object is the object at a path of keys.
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

// MapOf is the map that a context's coordinates are of: that of its pose, or of
// the section.
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
