package record

import "github.com/robotmem/robotmem-go/robotmem"

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
		m, _ := Object(context, path...)
		if id, _ := m["map_id"].(string); id != "" {
			return id
		}
	}
	return ""
}
