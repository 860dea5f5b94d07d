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

// Place is a coordinate in a context with its frame and map.
type Place struct {
	Path         string
	XYZ          []float64
	Frame, MapID string
}

// Blobs that stand for values that are neither number nor text.
const (
	BlobNull   = "\x00"
	BlobFalse  = "\x01"
	BlobTrue   = "\x02"
	BlobObject = "\x03" // and 16 bytes of SHA-256 over its canonical JSON
	BlobList   = "\x04" // likewise
)

// attributeValue is how a JSON value is compared: int64, float64, string, otherwise a blob.
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

// QuantityOf reads a JSON value as a quantity: a text or an object of value and unit.
func QuantityOf(v any) (units.Quantity, bool) {
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

// Walk visits every value of a context with its path and the frame and map that hold
// there, an object before the values in it.
func Walk(context robotmem.Object, visit func(path string, v any, frame, mapID string)) {
	var walk func(prefix string, m map[string]any, frame, mapID string)
	walk = func(prefix string, m map[string]any, frame, mapID string) {
		if s, ok := m["frame_id"].(string); ok {
			frame = s
		}
		if s, ok := m["map_id"].(string); ok {
			mapID = s
		}
		for key, v := range m {
			visit(prefix+key, v, frame, mapID)
			if object, ok := v.(map[string]any); ok {
				walk(prefix+key+".", object, frame, mapID)
			}
		}
	}
	walk("", context, "", "")
}

// Places lists every coordinate of a context, by path.
func Places(context robotmem.Object) (places []Place) {
	Walk(context, func(path string, v any, frame, mapID string) {
		if v, ok := v.([]any); ok {
			if xyz := Coordinates(v); xyz != nil {
				places = append(places, Place{path, xyz, frame, mapID})
			}
		}
	})
	slices.SortFunc(places, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
	return places
}

// ValuesIn returns the JSON of the values at a path of a stored context, with commas
// between them, for [DecodeValues]. ok is false if the path does not exist. Objects are
// left out unless they may be quantities: only [Condition.NamesObject] compares them.
func ValuesIn(context, path string) (values string, ok bool) {
	all, ok := robotmem.ValuesAt(context, path)
	all = slices.DeleteFunc(all, func(v string) bool {
		return len(v) > 2 && v[0] == '{' && !strings.Contains(v, `\`) && !(strings.Contains(v, `"unit"`) && strings.Contains(v, `"value"`))
	})
	return strings.Join(all, ","), ok
}

// DecodeValues returns the values of ValuesIn as conditions compare them.
func DecodeValues(values string) (out []any) {
	if values != "" && values[0] <= '9' && values[0] != '"' && !strings.Contains(values, ",") { // a number
		return operands(json.Number(values))
	}
	list, _ := robotmem.ParseObject(`{"v":[` + values + `]}`)["v"].([]any)
	for _, v := range list {
		out = append(out, operands(v)...)
	}
	return out
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
	const whole = 1 << 53 // up to here every integer is a float64
	if -whole <= i && i <= whole {
		return cmp.Compare(f, float64(i))
	}
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
