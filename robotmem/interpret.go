package robotmem

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Requests in JSON may use common other names and spellings, which are noted for the response. A
// value that is as the schema says never takes another meaning, with two exceptions that are noted
// too: a filter {"gt": 10}, and data that is a data: URL or base64 of a binary format.

// Zoned is a Service with a clock, for dates without a zone and words such as yesterday. Without
// one the clock of the process counts.
type Zoned interface {
	// LocalNow returns the time in the zone of the node.
	LocalNow() time.Time
}

// reading decodes one request and collects what it takes otherwise than given.
type reading struct {
	ctx          context.Context
	service      Service  // nil if unknown
	within       string   // the fields around the one that is read, each with a dot
	notes, empty []string // empty: fields given as ""
	media        string   // media type of a data: URL
}

// maxNotes bounds the notes of one response.
const maxNotes = 50

func (r *reading) note(field, format string, args ...any) {
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, r.within+field+": "+fmt.Sprintf(format, args...))
	}
}

// aliases are other names of fields in lower case, without separators. The first field that the
// request has counts.
var aliases = func() map[string][]string {
	all := map[string][]string{}
	for fields, names := range map[string]string{
		"n top_k limit":  "n topk limit k count",
		"insight":        "fact lesson",
		"new_content":    "insight newtext",
		"query q":        "query q question search",
		"memory_id":      "memory",
		"session_id":     "session episode episodeid",
		"collection":     "namespace",
		"tags":           "tag",
		"context_filter": "filter filters where",
		"spatial_sort":   "near nearest",
		"after":          "since", "before": "until", "observed_at": "timestamp time", "reason": "why because",
		"perception_type": "modality sense", "media_type": "mimetype mime contenttype", "data_base64": "base64",
		"used_memory_ids": "memoryids usedmemories used", "outcome_score": "score",
		"field": "path", "target": "position point", "max_distance": "radius within", "frame_id": "frame", "map_id": "map",
		"insight new_content description query q": "text content", "memory_id session_id": "id",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = append(all[name], strings.Fields(fields)...)
		}
	}
	return all
}()

// words are other words for the options of a field.
var words = map[string]string{
	"force": "tactile", "torque": "tactile", "wrench": "tactile", "touch": "tactile",
	"image": "visual", "camera": "visual", "photo": "visual", "video": "visual", "depth": "visual",
	"audio": "auditory", "sound": "auditory", "microphone": "auditory",
	"lidar": "spatial", "laser": "spatial", "pointcloud": "spatial", "point_cloud": "spatial",
	"joint": "proprioceptive", "joints": "proprioceptive", "joint_state": "proprioceptive", "imu": "proprioceptive",
	"succeeded": "success", "ok": "success", "failed": "failure", "fail": "failure",
}

// operators are those of a filter without their sign.
var operators = map[string]string{
	"eq": "$eq", "ne": "$ne", "lt": "$lt", "lte": "$lte", "gt": "$gt", "gte": "$gte", "in": "$in", "nin": "$nin", "exists": "$exists",
	"==": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte",
}

// unitOf is the canonical unit that a quantity of a field is taken in.
var unitOf = map[string]string{"max_distance": "m"}

// structFields are the fields of each request struct by JSON name: reflection makes them anew for
// each call.
var structFields sync.Map // of reflect.Type to map[string]reflect.StructField

func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	if known, ok := structFields.Load(t); ok {
		return known.(map[string]reflect.StructField)
	}
	fields := map[string]reflect.StructField{}
	for i := range t.NumField() {
		if name := jsonName(t.Field(i)); name != "" {
			fields[name] = t.Field(i)
		}
	}
	structFields.Store(t, fields)
	return fields
}

// separators are what other languages write names with, or without: contextFilter.
var separators = strings.NewReplacer("_", "", "-", "")

// fieldNamed returns the field with a JSON name, another spelling of it, or an alias.
func fieldNamed(t reflect.Type, name string) (f reflect.StructField, ok bool) {
	fields := fieldsOf(t)
	if f, ok = fields[name]; ok {
		return f, true
	}
	plain := strings.ToLower(separators.Replace(name))
	for own, f := range fields {
		if separators.Replace(own) == plain {
			return f, true
		}
	}
	for _, own := range aliases[plain] {
		if f, ok = fields[own]; ok {
			return f, true
		}
	}
	return f, false
}

// unknownField is the error of a name that no field has. It names the nearest one, of which at
// most a third of the letters differ.
func unknownField(name string, t reflect.Type) error {
	known, hint := fieldNames(t), ""
	least := min(len(name)/3, 3) + 1
	for _, k := range known {
		if max(len(name), len(k))-min(len(name), len(k)) < least && levenshtein(strings.ToLower(name), k) < least {
			hint, least = "did you mean "+k+"? ", levenshtein(strings.ToLower(name), k)
		}
	}
	return Errorf(Invalid, abbreviate(name), "unknown field; %sknown are %s", hint, strings.Join(known, ", "))
}

// levenshtein is the edit distance of two short texts in bytes.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			if a[i] != b[j] {
				diagonal = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], diagonal
		}
	}
	return row[len(b)]
}

// field decodes a value into a field: as the schema says, or else as it can be read.
func (r *reading) field(v reflect.Value, f reflect.StructField, raw View) error {
	name := jsonName(f)
	if err := r.value(v, name, raw); err != nil {
		read, shown, ok := r.loosen(f.Type, name, raw)
		v.SetZero()
		if !ok || r.value(v, name, read) != nil {
			return err
		}
		r.note(name, "%s taken as %s", abbreviate(string(raw)), shown)
	}
	switch {
	case v.Kind() == reflect.String:
		r.word(v, f)
	case name == "context_filter":
		o, _ := v.Interface().(Object)
		r.filter(name, o)
	}
	return nil
}

// value decodes a value as the schema says.
func (r *reading) value(v reflect.Value, name string, raw View) error {
	into := v.Addr().Interface()
	if v.Kind() == reflect.Pointer {
		into = reflect.New(v.Type().Elem()).Interface()
	}
	if own, ok := into.(selfReading); ok {
		outer := r.within
		r.within += name + "."
		err := own.read(r, raw)
		r.within = outer
		if err == nil && v.Kind() == reflect.Pointer {
			v.Set(reflect.ValueOf(into))
		}
		return err
	}
	err := jsonv2.Unmarshal(raw, v.Addr().Interface(), lenient, jsonv2.RejectUnknownMembers(true))
	if e := (*jsonv2.SemanticError)(nil); errors.As(err, &e) && e.JSONPointer == "" && e.Err == nil {
		e.JSONValue = jsontext.Value(raw) // for the text of the error
	}
	return err
}

// loosen returns the JSON of a value in the type of its field, and what a note calls it.
func (r *reading) loosen(t reflect.Type, name string, raw View) (read View, shown string, ok bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind := t.Kind()
	if kind == reflect.Map || kind == reflect.Struct && t != reflect.TypeFor[time.Time]() {
		return nil, "", false
	}
	text, isText := string(raw), raw[0] == '"'
	if isText {
		isText = jsonv2.Unmarshal(raw, &text, lenient) == nil
		text = strings.TrimSpace(text)
	}
	switch {
	case t == reflect.TypeFor[time.Time]() && isText:
		return r.time(text)
	case t == reflect.TypeFor[[]byte]():
		return r.dataURL(text)
	case kind == reflect.Int, kind == reflect.Int64, kind == reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if q, isQuantity := units.Parse(text); err != nil && isQuantity && q.Unit == unitOf[name] {
			n, err = q.Value, nil
		}
		text = strconv.FormatFloat(n, 'f', -1, 64)
		whole := kind == reflect.Float64 || n == float64(int64(n)) && n < 1<<53 && n > -1<<53
		return View(text), text, err == nil && whole && json.Valid([]byte(text))
	case kind == reflect.Bool:
		is := strings.ToLower(text)
		yes := slices.Contains([]string{"true", "yes", "on", "1"}, is)
		text = strconv.FormatBool(yes)
		return View(text), text, yes || slices.Contains([]string{"false", "no", "off", "0"}, is)
	case name == "target" && raw[0] != '[':
		place, _ := ParseObject(`{"":` + string(raw) + `}`).At("")
		xyz, _ := Coordinates(place)
		read, err := EncodeJSON(xyz)
		return read, string(read), xyz != nil && err == nil
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Struct:
		return r.list(t.Elem(), name, raw, text)
	case kind == reflect.String && name == "data" && (raw[0] == '[' || raw[0] == '{'):
		read, err := EncodeJSON(text)
		return read, "text", err == nil
	}
	return nil, "", false
}

// list reads one value as a list, text with commas as several, and each item as it can be read.
func (r *reading) list(item reflect.Type, name string, raw View, text string) (View, string, bool) {
	var items []json.RawMessage
	switch {
	case strings.HasPrefix(text, "["):
		if json.Unmarshal([]byte(text), &items) != nil {
			return nil, "", false
		}
	case raw[0] == '"':
		for part := range strings.SplitSeq(text, ",") {
			quoted, _ := EncodeJSON(strings.TrimSpace(part)) // text has a JSON form
			items = append(items, quoted)
		}
	default:
		items = append(items, json.RawMessage(raw))
	}
	for i := range items {
		if jsonv2.Unmarshal(items[i], reflect.New(item).Interface(), lenient) != nil {
			read, _, ok := r.loosen(item, name, View(items[i]))
			if !ok {
				return nil, "", false
			}
			items[i] = json.RawMessage(read)
		}
	}
	read, err := json.Marshal(items)
	return read, abbreviate(string(read)), err == nil
}

// layouts are times without a zone, which are of the node's.
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02", "2006/01/02"}

// time reads a date, a time without a zone, and words. A day, a week, a month or a year means its
// first moment.
func (r *reading) time(text string) (read View, shown string, ok bool) {
	now := time.Now()
	if z, ok := r.service.(Zoned); ok {
		now = z.LocalNow()
	}
	joined := text
	if !strings.Contains(text, "T") {
		joined = strings.Replace(text, " ", "T", 1)
	}
	at, err := time.Parse(time.RFC3339, strings.Replace(joined, " ", "+", 1)) // a query string turns + into a space
	for i := 0; err != nil && i < len(layouts); i++ {
		at, err = time.ParseInLocation(layouts[i], joined, now.Location())
	}
	if err != nil {
		from := timeparse.Parse("before "+text, now)
		own := timeparse.Parse(text, now)
		switch {
		case strings.EqualFold(text, "now"):
			at = now
		case from.Rest == "" && from.Before != nil && from.After == nil:
			at = *from.Before // what "before" counts from
		case own.Rest == "" && own.After != nil:
			at = *own.After
		default:
			return nil, "", false
		}
	}
	read, err = EncodeJSON(at.Format(time.RFC3339Nano))
	return read, at.Format(time.RFC3339), err == nil
}

// word reads a text that is one of a few words: in other letters, in the plural, or a synonym.
func (r *reading) word(v reflect.Value, f reflect.StructField) {
	given, rules := v.String(), f.Tag.Get("validate")
	taken := ""
	if _, list, ok := strings.Cut(rules, "oneof="); ok {
		list, _, _ = strings.Cut(list, ",")
		word := strings.ToLower(strings.TrimSpace(given))
		word = cmp.Or(words[word], word)
		for o := range strings.FieldsSeq(list) {
			if word == o || word == o+"s" {
				taken = o
			}
		}
	} else if given == "all" && strings.Contains(rules, "collections") && r.service != nil {
		res, err := r.service.Collections(r.ctx, &admin.CollectionsRequest{})
		if err == nil && !slices.ContainsFunc(res.Collections, func(c admin.CollectionCount) bool { return c.Collection == given }) {
			taken = "*"
		}
	}
	if taken != "" && taken != given {
		v.SetString(taken)
		r.note(jsonName(f), "%q taken as %s", abbreviate(given), taken)
	}
}

// filter writes operators without their $ as such, in place. An object is read so only if each of
// its names is an operator and each value fits it; {"$eq": {"gt": 10}} compares with that object.
func (r *reading) filter(field string, o map[string]any) {
	for _, path := range slices.Sorted(maps.Keys(o)) {
		switch v := o[path].(type) {
		case map[string]any:
			if path == "$not" {
				r.filter(field, v)
			} else if !strings.HasPrefix(path, "$") && areOperators(v) {
				for _, word := range slices.Sorted(maps.Keys(v)) {
					v[operators[word]] = v[word]
					delete(v, word)
					r.note(field, "%s at %s taken as %s", word, abbreviate(path), operators[word])
				}
			}
		case []any:
			for i := range v {
				if kid, ok := v[i].(map[string]any); ok && (path == "$and" || path == "$or") {
					r.filter(field, kid)
				}
			}
		}
	}
}

func areOperators(m map[string]any) bool {
	for word, v := range m {
		_, isList := v.([]any)
		_, isObject := v.(map[string]any)
		_, isBool := v.(bool)
		if op := operators[word]; op == "" || isObject || (op == "$in" || op == "$nin") != isList || op == "$exists" && !isBool {
			return false
		}
	}
	return len(m) > 0
}

// dataURL reads a data: URL as base64, and keeps its media type.
func (r *reading) dataURL(text string) (View, string, bool) {
	head, body, ok := strings.Cut(text, ",")
	if !ok || !strings.EqualFold(head[:min(len(head), 5)], "data:") {
		return nil, "", false
	}
	mediaType, isBase64 := strings.CutSuffix(head[5:], ";base64")
	if !isBase64 {
		plain, err := url.PathUnescape(body)
		if err != nil {
			return nil, "", false
		}
		body = base64.StdEncoding.EncodeToString([]byte(plain))
	}
	r.media = mediaType
	read, err := EncodeJSON(body)
	return read, "the bytes of a data: URL", err == nil
}

// payload reads text that is a data: URL, or base64 of a format that is no text and that its first
// bytes prove, and sets the media type of a URL.
func (r *reading) payload(text *string, data *[]byte, mediaType *string) {
	if *text != "" && len(*data) == 0 {
		*data = nil // "" beside another field is not given
		if read, shown, ok := r.dataURL(*text); ok && jsonv2.Unmarshal(read, data, lenient) == nil {
			r.note("data", "taken as %s", shown)
			*text = ""
		} else if head := (*text)[:min(len(*text), 32)]; len(head) == 32 && sniffed(head) != "" && sniffed(*text) != "" {
			r.note("data", "taken as base64 of %s", sniffed(*text))
			*data, _ = base64.StdEncoding.DecodeString(*text) // sniffed has decoded it
			*text = ""
		}
	}
	*mediaType = cmp.Or(*mediaType, r.media)
	r.media = ""
}

// sniffed returns the media type of bytes in base64 that their beginning proves, "" for text, for
// unknown bytes and for what is no base64.
func sniffed(text string) string {
	data, err := base64.StdEncoding.DecodeString(text)
	t, _ := perception.Sniff(data, "")
	if err != nil || t == "application/octet-stream" || strings.HasPrefix(t, "text/") || strings.Contains(t, "json") || strings.Contains(t, "xml") {
		return ""
	}
	return t
}
