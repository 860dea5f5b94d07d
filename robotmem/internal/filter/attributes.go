package filter

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// A context is stored as JSON and indexed as attributes, one row for each value at each path, and
// as points, one for each list of two or three numbers. A quantity has a second row: its number in
// the canonical unit, at a path that names the unit, so that a range finds values in any unit.

// Attribute is a path with its value as SQLite compares it: int64, float64, string, otherwise a blob.
type Attribute struct {
	Path  string
	Value any
}

// Place is a coordinate in a context with its frame and map.
type Place struct {
	Path         string
	XYZ          []float64
	Frame, MapID string
}

// Z is the third coordinate, nil of a point in the plane.
func (p *Place) Z() any {
	if len(p.XYZ) < 3 {
		return nil
	}
	return p.XYZ[2]
}

// Blobs that stand for values that are neither number nor text.
const (
	BlobNull   = "\x00"
	BlobFalse  = "\x01"
	BlobTrue   = "\x02"
	BlobObject = "\x03" // and 16 bytes of SHA-256 over its canonical JSON
	BlobList   = "\x04" // likewise
)

// attributeValue is how a JSON value is stored and compared.
func attributeValue(v any) any {
	switch v := v.(type) {
	case nil:
		return []byte(BlobNull)
	case bool:
		if v {
			return []byte(BlobTrue)
		}
		return []byte(BlobFalse)
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
		return Digest(BlobObject, v)
	}
	return Digest(BlobList, v)
}

func Digest(mark string, v any) []byte {
	data, err := robotmem.CanonicalJSON(v)
	if err != nil {
		data = nil // it came from JSON, so it has a JSON form
	}
	sum := sha256.Sum256(data)
	return append([]byte(mark), sum[:16]...)
}

// QuantityMark separates a path and a unit: a control character, which keys hardly contain.
const QuantityMark = "\x1f"

// QuantityPath is the path of the row of a quantity.
func QuantityPath(path, unit string) string { return path + QuantityMark + unit }

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

// Flatten lists every attribute and every place of a context.
func Flatten(context robotmem.Object) (attrs []Attribute, places []Place) {
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
				attrs = append(attrs, Attribute{QuantityPath(path, q.Unit), q.Value})
			}
			object, isObject := v.(map[string]any)
			if isObject && len(object) > 0 {
				walk(path+".", object, frame, mapID) // its values stand for it
				continue
			}
			attrs = append(attrs, Attribute{path, attributeValue(v)})
			if v, ok := v.([]any); ok {
				if xyz := Coordinates(v); xyz != nil {
					places = append(places, Place{path, xyz, frame, mapID})
				}
			}
		}
	}
	walk("", context, "", "")
	// The order of a map is random.
	slices.SortFunc(attrs, func(a, b Attribute) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(places, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
	return attrs, places
}

// Coordinates reads a list of two or three numbers, nil if v is something else.
func Coordinates(v []any) []float64 {
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

// CompareValues orders two stored values like SQLite; ok is false without a common order.
func CompareValues(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), true
		case float64:
			return -compareFloatInt(b, a), true
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return compareFloatInt(a, b), true
		case float64:
			return cmp.Compare(a, b), true
		}
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), true
		}
	case units.Quantity:
		if b, ok := b.(units.Quantity); ok && a.Unit == b.Unit {
			return cmp.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
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
	order, ok := CompareValues(a, b)
	return ok && order == 0
}
