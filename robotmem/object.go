package robotmem

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object of the caller: a context, a filter or metadata. In JSON it may also be
// a string that contains the object. Decoded numbers keep their spelling (json.Number).
type Object map[string]any

func (o *Object) UnmarshalJSON(data []byte) error {
	data, err := unquoteObject(data)
	if err != nil {
		return err
	}
	fields, err := decodeObject(data, maxValues)
	if err != nil && !errors.Is(err, TooLarge) {
		return errors.New("must be a JSON object, such as {\"task\":{\"success\":true}}: " + jsonReason(err))
	}
	*o = fields

	return err
}

// unquoteObject returns the JSON object in data, which is the object itself or
// a string that contains it.
func unquoteObject(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != '"' {
		return data, nil
	}

	var text string
	if err := jsonv2.Unmarshal(data, &text, lenient); err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return []byte("{}"), nil
	}

	// text may be large, so it is copied only once.
	object := []byte(text)

	return object, surrogateError(object)
}

// EncodeJSON returns the JSON of v as the node stores and sends it: with sorted
// keys, without HTML escapes (no \u003c) and without a final line break.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}

	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// ParseObject decodes the output of EncodeJSON. It returns nil for an empty object
// and for anything that is not an object.
func ParseObject(data string) Object {
	if data == "" || data == "{}" {
		return nil
	}
	fields, _ := decodeObject([]byte(data), math.MaxInt)
	return fields
}

// decodeObject decodes a JSON object with at most so many values, or null.
func decodeObject(data []byte, values int) (fields map[string]any, err error) {
	d := newDecoder(data)
	defer d.release()
	d.left = values

	value, err := d.value()
	if err != nil {
		return nil, err
	}

	fields, isObject := value.(map[string]any)
	if !isObject {
		// null is no error, and the decoder has a text for any other value.
		return nil, jsonv2.Unmarshal(data, &fields)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("there is more after it")
	}

	return fields, nil
}

// decoder decodes a JSON value in half the time of encoding/json.
type decoder struct {
	jsontext.Decoder
	data bytes.Buffer
	left int // values that value may still decode
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// newDecoder returns a decoder that reads data in place.
func newDecoder(data []byte) *decoder {
	d, _ := decoders.Get().(*decoder)
	d.data = *bytes.NewBuffer(data)
	d.Reset(&d.data, lenient)
	return d
}

// release keeps the decoder for others, without its data.
func (d *decoder) release() {
	d.data = bytes.Buffer{}
	d.Reset(&d.data)
	decoders.Put(d)
}

func (d *decoder) value() (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	// Each value takes tens of bytes of memory, however short its JSON is.
	if d.left--; d.left < 0 {
		return nil, Errorf(TooLarge, "", "holds more than %d values; store arrays of data with save_perception",
			maxValues)
	}

	switch token.Kind() {
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindNumber:
		// The spelling stays: 12.50 and large integers must not pass through a float64.
		return json.Number(token.String()), nil
	case jsontext.KindBeginArray:
		list := []any{}

		for d.PeekKind() != jsontext.KindEndArray {
			item, err := d.value()
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = d.ReadToken()

		return list, err
	case jsontext.KindBeginObject:
		fields := map[string]any{}

		for d.PeekKind() != jsontext.KindEndObject {
			token, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name := token.String()
			if fields[name], err = d.value(); err != nil {
				return nil, err
			}
		}
		_, err = d.ReadToken()

		return fields, err
	}

	return nil, nil // null
}

// CanonicalJSON returns the JSON of v with canonical numbers, so that 12.50 and 12.5
// compare equal. Values are nil, bool, string, json.Number, []any and map[string]any.
func CanonicalJSON(v any) ([]byte, error) {
	return EncodeJSON(canonical(v))
}

// Canonical returns the CanonicalJSON of o. raw is the JSON of o; it is returned if it
// is already canonical.
func (o Object) Canonical(raw string) (string, error) {
	isCanonical := func(v any) bool {
		n, isNumber := v.(json.Number)
		return !isNumber || canonicalNumber(string(n)) == string(n)
	}
	// Nearly all objects are canonical already, and a walk costs less than encoding them again.
	if walk(map[string]any(o), isCanonical) {
		return raw, nil
	}
	data, err := CanonicalJSON(map[string]any(o))

	return string(data), err
}

func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(canonicalNumber(string(v)))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = canonical(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = canonical(v[k])
		}
		return out
	}

	return v
}

// walk visits a decoded value and the values in it until visit returns false, and returns
// what visit returned last.
func walk(v any, visit func(any) bool) bool {
	more := visit(v)
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && more; i++ {
			more = walk(v[i], visit)
		}
	case map[string]any:
		for k := range v {
			more = more && walk(v[k], visit)
		}
	}

	return more
}

// canonicalNumber returns an integer of any size in full, and any other number as
// the shortest decimal that parses to the same float64.
func canonicalNumber(s string) string {
	if plainNumber(s) {
		return s
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(i, 10)
	}

	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}

	// 12.0 and 1.2e1 are the integer 12. Below 1e15 a float64 holds every integer.
	if f == float64(int64(f)) && f > -1e15 && f < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}

	// JSON has only one spelling of an integer beyond 64 bits, and a float64 would round it.
	if !strings.ContainsAny(s, ".eE") {
		return s
	}

	return strconv.FormatFloat(f, 'g', -1, 64)
}

// plainNumber reports whether a number in JSON is surely canonical: nearly all are.
func plainNumber(s string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	for _, digits := range [...]string{whole, fraction} {
		for i := range len(digits) {
			if digits[i] < '0' || digits[i] > '9' {
				return false
			}
		}
	}
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if !point {
		return len(whole) <= 15 && s != "-0"
	}

	// 6 and 9 digits are within the 15 that a float64 holds exactly. FormatFloat writes smaller numbers, which begin
	// with 0.0000, with an exponent.
	n := len(fraction)

	return len(whole) <= 6 && n > 0 && n <= 9 && fraction[n-1] != '0' && !strings.HasPrefix(fraction, "0000")
}

// DefaultCollection is the collection of a request that names none.
const DefaultCollection = "default"

// MaxContext is the largest context of one memory, in bytes of JSON.
const MaxContext = 1 << 20

const (
	maxDepth  = 32   // levels of nesting in a context
	maxLeaves = 4096 // values in one context
)

// Normalize encodes o as JSON and decodes it again, so that objects of Go callers
// and of remote callers have the same types. It returns the object and its JSON. It
// fails with Invalid if o cannot be stored (NaN, nested more than 32 deep), and with
// TooLarge over limit bytes or 4,096 values. The error names field.
func (o Object) Normalize(field string, limit int) (Object, string, error) {
	if len(o) == 0 {
		return nil, "{}", nil
	}

	// The fast path handles most objects. It says nothing about the reason of a failure, which the steps below find.
	var n normalizer
	if v, ok := n.value(map[string]any(o), 0); ok && len(n.out) <= limit {
		fields, _ := v.(map[string]any)
		return fields, string(n.out), nil
	}

	data, err := EncodeJSON(map[string]any(o))
	if err != nil {
		return nil, "", Errorf(Invalid, field, "must be JSON; NaN and infinite numbers have no JSON form, "+
			"leave them out: %s", jsonReason(err))
	}
	if len(data) > limit {
		return nil, "", Errorf(TooLarge, field, "is %d bytes of JSON; the limit is %d; "+
			"store large data with save_perception", len(data), limit)
	}

	// The number of values is not limited here: checkValue has the limit of a context, and names the path.
	out, err := decodeObject(data, math.MaxInt)
	if err != nil {
		return nil, "", Errorf(Invalid, field, "%v", err)
	}

	leaves := 0
	if err := checkValue(field, out, 0, &leaves); err != nil {
		return nil, "", err
	}

	return out, string(data), nil
}

// normalizer does the work of Normalize in a third of the time, for the types and numbers that nearly all objects hold.
// value reports false for anything else, and for anything that cannot be stored.
type normalizer struct {
	out    []byte
	leaves int
}

func (n *normalizer) value(v any, depth int) (any, bool) {
	if n.leaves++; depth > maxDepth || n.leaves > maxLeaves {
		return nil, false
	}

	switch v := v.(type) {
	case nil:
		n.out = append(n.out, "null"...)
	case bool:
		n.out = strconv.AppendBool(n.out, v)
	case int:
		return n.number(strconv.AppendInt(n.out, int64(v), 10))
	case float64:
		// encoding/json writes numbers outside of these bounds with an exponent.
		if size := math.Abs(v); v == 0 || size >= 1e-6 && size < 1e21 {
			return n.number(strconv.AppendFloat(n.out, v, 'f', -1, 64))
		}
		return nil, false
	case json.Number:
		// A Go caller may put any text into a json.Number.
		if _, err := strconv.ParseFloat(string(v), 64); err != nil || !jsontext.Value(v).IsValid() {
			return nil, false
		}
		n.out = append(n.out, v...)
	case string:
		return v, n.text(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			n.out = append(n.out, "[,"[min(i, 1)])

			var ok bool
			if list[i], ok = n.value(v[i], depth+1); !ok {
				return nil, false
			}
		}
		n.out = append(n.out, ']')

		// An empty list has written no bracket above. It takes the slow path.
		return list, len(v) > 0
	case map[string]any:
		fields := make(map[string]any, len(v))
		// EncodeJSON sorts the keys, and both paths must give the same bytes.
		for i, k := range slices.Sorted(maps.Keys(v)) {
			n.out = append(n.out, "{,"[min(i, 1)])
			named := n.text(k)
			n.out = append(n.out, ':')

			var ok bool
			if fields[k], ok = n.value(v[k], depth+1); !ok || !named {
				return nil, false
			}
		}
		n.out = append(n.out, '}')

		return fields, len(v) > 0
	default:
		return nil, false
	}

	return v, true
}

// number takes over out, which is the output so far with a number at its end, and returns that number.
func (n *normalizer) number(out []byte) (any, bool) {
	number := json.Number(out[len(n.out):])
	n.out = out
	return number, true
}

// text appends a string. It reports false if JSON would have to escape a part of it, or if it is not UTF-8.
func (n *normalizer) text(s string) bool {
	n.out = append(append(append(n.out, '"'), s...), '"')
	for i := range len(s) {
		// 0xe2 is the first byte of U+2028, which EncodeJSON escapes.
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == 0xe2 {
			return false
		}
	}

	return utf8.ValidString(s)
}

func checkValue(path string, v any, depth int, leaves *int) error {
	if depth > maxDepth {
		return Errorf(Invalid, path, "is nested more than %d deep", maxDepth)
	}
	if *leaves++; *leaves > maxLeaves {
		return Errorf(TooLarge, path, "holds more than %d values; store arrays of data with save_perception", maxLeaves)
	}

	switch v := v.(type) {
	case json.Number:
		if _, err := strconv.ParseFloat(string(v), 64); err != nil {
			return Errorf(Invalid, path, "%s is outside the range of a number (about -1.8e308 to 1.8e308)",
				abbreviate(string(v)))
		}
	case []any:
		for i := range v {
			if err := checkValue(fmt.Sprintf("%s[%d]", path, i), v[i], depth+1, leaves); err != nil {
				return err
			}
		}
	case map[string]any:
		for k := range v {
			if err := checkValue(path+"."+k, v[k], depth+1, leaves); err != nil {
				return err
			}
		}
	}

	return nil
}

// abbreviate shortens a caller's value for an error text.
func abbreviate(s string) string { return Clip(s, 40) }

// At returns the value at a dot path. Keys may contain dots; the shorter key is tried first.
func (o Object) At(path string) (any, bool) {
	if v, ok := o[path]; ok {
		return v, true
	}

	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if sub, ok := o[path[:i]].(map[string]any); ok {
			if v, ok := Object(sub).At(path[i+1:]); ok {
				return v, true
			}
		}
	}

	return nil, false
}

// ValuesAt returns the JSON of the values at a dot path of an object in JSON: what a walk
// through its ParseObject finds, in half the time. Keys may contain dots. found is true
// for a value, and for a key that begins with the path and a dot.
func ValuesAt(data, path string) (values []string, found bool) {
	last := path[strings.LastIndexByte(path, '.')+1:]
	// Without this text there is no such key, and nothing needs to be decoded. An escape may hide the key, and bytes that
	// are not UTF-8 are replaced in it.
	if !strings.Contains(data, last) && !strings.Contains(data, `\`) && utf8.ValidString(data) {
		return nil, false
	}

	d := newDecoder([]byte(data))
	defer d.release()
	if d.PeekKind() != jsontext.KindBeginObject {
		return nil, false
	}

	values, found, err := d.valuesAt(path, data)
	if err == nil {
		_, err = d.ReadToken()
	}

	// ParseObject takes no object with more after it, and this has to agree.
	if err != io.EOF {
		return nil, false
	}

	return values, found
}

// valuesAt is ValuesAt for the next value, which is an object, within data.
func (d *decoder) valuesAt(path, data string) (values []string, found bool, err error) {
	type hit struct {
		name   string
		values []string
	}

	var hits []hit

	// next returns the JSON of the next value as a part of data, without a copy.
	next := func() string {
		var raw []byte
		raw, err = d.ReadValue()
		end := int(d.InputOffset())
		return data[end-len(raw) : end]
	}

	_, err = d.ReadToken()
	for err == nil && d.PeekKind() != jsontext.KindEndObject {
		name := plainText(next())

		// within: the key is the path or a prefix of it, so the rest of the path is in its value. below: the path is a
		// prefix of the key, which shows that the path exists.
		rest, within := strings.CutPrefix(path, name)
		within = within && (rest == "" || rest[0] == '.')
		below := strings.HasPrefix(name, path) && len(name) > len(path) && name[len(path)] == '.'
		if err != nil || !within && !below {
			err = cmp.Or(err, d.SkipValue())
			continue
		}

		// Of several members with the same name the last counts, as in ParseObject.
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.name == name })

		switch {
		case within && rest == "":
			hits = append(hits, hit{name, []string{next()}})
		case within && d.PeekKind() == jsontext.KindBeginObject:
			var inner []string
			if inner, found, err = d.valuesAt(rest[1:], data); found {
				hits = append(hits, hit{name, inner})
			}
		default:
			if err = d.SkipValue(); below {
				hits = append(hits, hit{name, nil})
			}
		}
	}

	if err == nil {
		_, err = d.ReadToken()
	}

	for _, h := range hits {
		values = append(values, h.values...)
	}

	return values, len(hits) > 0, err
}

// plainText returns the text of a JSON string.
func plainText(s string) string {
	if len(s) > 1 && !strings.Contains(s, `\`) && utf8.ValidString(s) {
		return s[1 : len(s)-1]
	}
	// Replaces bytes that are not UTF-8.
	text, _ := jsontext.AppendUnquote(nil, s)
	return string(text)
}
