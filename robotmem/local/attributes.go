package local

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// A context is stored as JSON and indexed as attributes, one row for each
// value at each path (an object is there through its values), and as points, one
// for each list of two or three numbers. A quantity ("12.5 N", or an object of
// value and unit) has a further row: its number in the canonical unit, at a path
// that names the unit, so that a range finds what was given in any other.

// attribute is a path with its value as SQLite compares it: int64, float64,
// string, or a blob for all else.
type attribute struct {
	path  string
	value any
}

// place is a coordinate in a context with the frame and the map it is in.
type place struct {
	path         string
	xyz          []float64
	frame, mapID string
}

// Blobs that stand for values that are neither number nor text.
const (
	blobNull   = "\x00"
	blobFalse  = "\x01"
	blobTrue   = "\x02"
	blobObject = "\x03" // and 16 bytes of SHA-256 over its canonical JSON
	blobList   = "\x04" // likewise
)

// attributeValue is how a JSON value is stored and compared.
func attributeValue(v any) any {
	switch v := v.(type) {
	case nil:
		return []byte(blobNull)
	case bool:
		if v {
			return []byte(blobTrue)
		}
		return []byte(blobFalse)
	case string:
		return v
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i
		}
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return string(v) // refused before it got here
		}
		return f
	case map[string]any:
		return digest(blobObject, v)
	}
	return digest(blobList, v)
}

func digest(mark string, v any) []byte {
	data, err := robotmem.CanonicalJSON(v)
	if err != nil {
		data = nil // it came from JSON, so it has a JSON form
	}
	sum := sha256.Sum256(data)
	return append([]byte(mark), sum[:16]...)
}

// quantityMark stands between a path and a unit. It is a control character, so
// that no key of a caller's is likely to read like it.
const quantityMark = "\x1f"

// quantityPath is where a quantity at a path is indexed.
func quantityPath(path, unit string) string { return path + quantityMark + unit }

// quantityOf reads a JSON value as a quantity.
func quantityOf(v any) (units.Quantity, bool) {
	switch v := v.(type) {
	case string:
		return units.Parse(v)
	case map[string]any:
		unit, isText := v["unit"].(string)
		value, isNumber := v["value"].(json.Number)
		if f, err := value.Float64(); isText && isNumber && err == nil && len(v) == 2 {
			return units.Of(f, unit)
		}
	}
	return units.Quantity{}, false
}

// flatten lists every attribute and every place of a context.
func flatten(context robotmem.Object) (attrs []attribute, places []place) {
	var walk func(prefix string, m map[string]any, frame, mapID string)
	walk = func(prefix string, m map[string]any, frame, mapID string) {
		if s, ok := m["frame_id"].(string); ok {
			frame = s
		}
		if s, ok := m["map_id"].(string); ok {
			mapID = s
		}
		for key, v := range m {
			path := prefix + key
			if q, ok := quantityOf(v); ok {
				attrs = append(attrs, attribute{quantityPath(path, q.Unit), q.Value})
			}
			object, isObject := v.(map[string]any)
			if isObject && len(object) > 0 {
				walk(path+".", object, frame, mapID) // its values stand for it
				continue
			}
			attrs = append(attrs, attribute{path, attributeValue(v)})
			if v, ok := v.([]any); ok {
				if xyz := coordinates(v); xyz != nil {
					places = append(places, place{path, xyz, frame, mapID})
				}
			}
		}
	}
	walk("", context, "", "")
	// The order of a map is random; that of the rows is not.
	slices.SortFunc(attrs, func(a, b attribute) int { return strings.Compare(a.path, b.path) })
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return attrs, places
}

// coordinates reads a list of two or three numbers; nil if it is anything else.
func coordinates(v []any) []float64 {
	if len(v) != 2 && len(v) != 3 {
		return nil
	}
	xyz := make([]float64, len(v))
	for i := range v {
		n, ok := v[i].(json.Number)
		if !ok {
			return nil
		}
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			return nil
		}
		xyz[i] = f
	}
	return xyz
}

// compareValues orders two stored values of one type the way SQLite does; ok
// is false when the types differ or the type has no order.
func compareValues(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return cmpOrdered(a, b), true
		case float64:
			return -compareFloatInt(b, a), true
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return compareFloatInt(a, b), true
		case float64:
			return cmpOrdered(a, b), true
		}
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), true
		}
	case units.Quantity:
		if b, ok := b.(units.Quantity); ok && a.Unit == b.Unit {
			return cmpOrdered(a.Value, b.Value), true
		}
	}
	return 0, false
}

func cmpOrdered[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareFloatInt is exact: 2^53 + 1 is not equal to 2^53.
func compareFloatInt(f float64, i int64) int {
	return big.NewFloat(f).Cmp(new(big.Float).SetInt64(i))
}

func equalValues(a, b any) bool {
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && string(x) == string(y)
	}
	order, ok := compareValues(a, b)
	return ok && order == 0
}
