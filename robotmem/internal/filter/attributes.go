package filter

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

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
		return norm.NFC.String(v) // one spelling of ü
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i
		}
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			// Refused before it got here.
			return string(v)
		}

		return f
	case map[string]any:
		return Digest(BlobObject, v)
	}

	return Digest(BlobList, v)
}

func Digest(mark string, v any) []byte {
	// It came from JSON, so it has a JSON form.
	data, _ := robotmem.CanonicalJSON(v)
	sum := sha256.Sum256(data)
	return append([]byte(mark), sum[:16]...)
}

// QuantityOf reads a JSON value as a quantity: a text or an object with a value and a unit. It also
// returns the unit as written.
func QuantityOf(v any) (q units.Quantity, unit string, ok bool) {
	switch v := v.(type) {
	case string:
		if q, unit, ok := units.ParseWritten(v); ok {
			return q, unit, ok
		}
		return units.ParseWritten(plainNumber(v))
	case map[string]any:
		unit, isText := v["unit"].(string)
		number := operands(v["value"])
		if f, isNumber := Number(number[len(number)-1]); isText && isNumber {
			q, ok = units.Of(f, unit)
			return q, unit, ok
		}
	}

	return units.Quantity{}, "", false
}

// thousands matches a number with commas between its thousands, as in 1,500.
var thousands = regexp.MustCompile(`^\s*[-+]?\d{1,3}(?:,\d{3})+\b`)

// plainNumber spells full-width digits and letters as ASCII, and leaves out thousands separators.
func plainNumber(s string) string {
	s = norm.NFKC.String(s)
	number := thousands.FindString(s)
	return strings.ReplaceAll(number, ",", "") + s[len(number):]
}

// measured returns the value at a key of an object. If the object is a quantity, its key value
// stands for the whole object, so that the number has its unit at both paths.
func measured(m map[string]any, key string) (v any, ok bool) {
	if v, ok = m[key]; ok && key == "value" {
		if _, _, isQuantity := QuantityOf(m); isQuantity {
			return m, true
		}
	}
	return v, ok
}

// Spelt is the number that a text spells, as "12.5" does. It is an operand beside the text
// itself. Two texts are equal only as texts: "1.10" is another version than "1.1".
type Spelt struct{ number any }

func speltNumber(v any) (Spelt, bool) {
	s, _ := v.(string)
	if s = strings.TrimSpace(s); s == "" || s[0] > '9' || !json.Valid([]byte(s)) || s[0] == '"' {
		return Spelt{}, false
	}
	number := attributeValue(json.Number(s))
	_, outside := number.(string)

	return Spelt{number}, !outside
}

// Walk visits every value of a context with its path and the frame and map that hold
// there, an object before the values in it.
func Walk(context robotmem.Object, visit func(path string, v any, frame, mapID string)) {
	walk(context, 0, func(n *node) { visit(n.path, n.value, n.frame, n.mapID) })
}

// node is a value of a context.
type node struct {
	path         string
	value        any
	beside       map[string]any // the object that holds the value
	frame, mapID string         // that hold there
}

// walk visits every value of a context, an object before the values in it. Of each list it enters the first objects,
// at most so many, whose values have the path of the list and their own.
func walk(context robotmem.Object, items int, visit func(*node)) {
	var enter func(prefix string, m map[string]any, frame, mapID string)
	enter = func(prefix string, m map[string]any, frame, mapID string) {
		for key, v := range m {
			at := prefix + key

			object, isObject := v.(map[string]any)
			if isObject {
				frame, mapID := frameOf(object, frame, mapID)
				visit(&node{at, v, m, frame, mapID})
				enter(at+".", object, frame, mapID)
				continue
			}

			if key == "value" {
				v, _ = measured(m, key)
			}
			visit(&node{at, v, m, frame, mapID})

			list, _ := v.([]any)
			for _, item := range list[:min(len(list), items)] {
				if object, isObject := item.(map[string]any); isObject {
					frame, mapID := frameOf(object, frame, mapID)
					visit(&node{at, item, m, frame, mapID})
					enter(at+".", object, frame, mapID)
				}
			}
		}
	}
	frame, mapID := frameOf(context, "", "")
	enter("", context, frame, mapID)
}

// frameOf returns the frame and the map that an object names itself or in the header of a
// message, or else those around it.
func frameOf(m map[string]any, frame, mapID string) (string, string) {
	header, _ := m["header"].(map[string]any)
	for _, of := range []map[string]any{header, m} {
		if s, ok := of["frame_id"].(string); ok {
			frame = s
		}
		if s, ok := of["map_id"].(string); ok {
			mapID = s
		}
	}

	// Coordinates of UTM are those of a zone.
	if zone, ok := m["zone"].(string); ok && m["easting"] != nil {
		frame = "UTM " + zone
	}

	return frame, mapID
}

// ValuesIn returns the JSON of the values at a path of a stored context, with commas
// between them, for [DecodeValues]. ok is false if the path does not exist. Objects are
// left out unless they may be quantities: only [Condition.NamesObject] compares them.
func ValuesIn(context, path string) (values string, ok bool) {
	all, ok := robotmem.ValuesAt(context, path)
	// The path of the number of a quantity has the whole object as its value.
	if strings.HasSuffix("."+path, ".value") && strings.Contains(context, "unit") {
		var values []any
		collect(robotmem.ParseObject(context), path, &values)
		all = nil

		for _, v := range values {
			data, _ := robotmem.EncodeJSON(v)
			all = append(all, string(data))
		}
	}
	all = slices.DeleteFunc(all, func(v string) bool {
		return len(v) > 2 && v[0] == '{' && !strings.Contains(v, `\`) &&
			!(strings.Contains(v, `"unit"`) && strings.Contains(v, `"value"`))
	})

	return strings.Join(all, ","), ok
}

// Values are the values at a path of one context, as conditions compare them.
type Values struct {
	All  []any
	Unit string // of the first quantity, as written
	Bare bool   // has a number without a unit
	Text bool   // has a text that is neither a number nor a quantity
}

// DecodeValues reads the values of ValuesIn.
func DecodeValues(values string) (out Values) {
	if values != "" && values[0] <= '9' && values[0] != '"' && !strings.Contains(values, ",") { // a number
		return Values{All: operands(json.Number(values)), Bare: true}
	}

	list, _ := robotmem.ParseObject(`{"v":[` + values + `]}`)["v"].([]any)
	for _, v := range list {
		all := operands(v)
		out.All = append(out.All, all...)
		last := all[len(all)-1]
		_, bare := Number(last)
		_, isText := last.(string)
		out.Bare, out.Text = out.Bare || bare, out.Text || isText
		if _, unit, ok := QuantityOf(v); ok && out.Unit == "" {
			out.Unit = unit
		}
	}

	return out
}

// Number returns a number without a unit, also one that is written as text.
func Number(v any) (f float64, ok bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case Spelt:
		return Number(n.number)
	}

	return 0, false
}

// compareValues orders two values; ok is false without a common order. A number without a
// unit gets that of unit if the other value is a quantity.
func compareValues(a, b any, unit func() string) (order int, ok bool) {
	a, b = inUnit(a, b, unit), inUnit(b, a, unit)
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), true
		case float64:
			return compareIntFloat(a, b), true
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return -compareIntFloat(b, a), true
		case float64:
			return cmp.Compare(a, b), true
		}
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), true
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b), true
		}
	case units.Quantity:
		if b, ok := b.(units.Quantity); ok && a.Unit == b.Unit {
			return cmp.Compare(a.Value, b.Value), true
		}
	}

	return 0, false
}

// compareIntFloat is exact: 2^53 + 1 is not equal to 2^53.
func compareIntFloat(i int64, f float64) int {
	if order := cmp.Compare(float64(i), f); order != 0 || -1<<53 <= i && i <= 1<<53 {
		return order
	}
	return new(big.Float).SetInt64(i).Cmp(big.NewFloat(f))
}

// inUnit returns the number of a text as a number, and a number as a quantity where the
// other value is one.
func inUnit(v, other any, unit func() string) any {
	if _, ok := other.(units.Quantity); ok {
		if f, bare := Number(v); bare {
			if q, ok := units.Of(f, unit()); ok {
				return q
			}
		}
	}
	if s, ok := v.(Spelt); ok {
		return s.number
	}

	return v
}

func equalValues(a, b any, unit func() string) bool {
	switch x := a.(type) {
	case []byte:
		y, ok := b.([]byte)
		return ok && string(x) == string(y)
	case Spelt:
		if _, texts := b.(Spelt); texts {
			return false
		}
	}
	order, ok := compareValues(a, b, unit)

	return ok && order == 0
}
