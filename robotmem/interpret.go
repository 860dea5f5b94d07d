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

// Requests in JSON may use common other names and spellings. What is not given as the schema says is noted for the response. A value that
// is given as the schema says never takes another meaning, with two exceptions that are noted
// too: a filter {"gt": 10}, and data that is a data: URL or base64 of a binary format.

// Zoned is a Service that has a clock in a time zone, which counts for dates without a zone and
// for words such as yesterday. Without one the process's clock counts.
type Zoned interface {
	LocalNow() time.Time
}

// Forwarding is a Service that sends requests to another one, which reads words for a time with
// its own clock.
type Forwarding interface {
	// Sending returns the service with texts in place of the fields of the next requests.
	Sending(texts map[string]string) Service
}

// reading decodes one request and collects what it interprets.
type reading struct {
	ctx     context.Context
	service Service // nil if unknown
	forward bool    // times in words are kept in texts
	within  string  // the field around those that are read, with a dot
	notes   []string
	empty   []string          // fields given as ""
	texts   map[string]string // times in words, for a Forwarding service
	media   string            // media type of a data: URL
}

// maxNotes bounds the notes of one response.
const maxNotes = 50

func (r *reading) note(field, format string, args ...any) {
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, r.within+field+": "+fmt.Sprintf(format, args...))
	}
}

// interpreted returns the notes, also that on the empty fields.
func (r *reading) interpreted() []string {
	if len(r.empty) == 0 {
		return r.notes
	}
	return append(r.notes, strings.Join(r.empty[:min(len(r.empty), maxNotes)], ", ")+": empty, taken as not given")
}

func (r *reading) now() time.Time {
	if z, ok := r.service.(Zoned); ok {
		return z.LocalNow()
	}
	return time.Now()
}

// isEmpty reports whether a field is given as an empty string, which means not given. An empty
// data_base64 is a payload of no bytes, and an empty query is as good as none.
func isEmpty(field string, raw View) bool {
	return string(raw) == `""` && field != "data_base64" && field != "query"
}

// structFields holds the fields of each request struct by JSON name, because reflection makes
// them anew for each call.
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

// plainName removes what names of fields are written with in other languages.
var plainName = strings.NewReplacer("_", "", "-", "")

// fieldNamed returns the field with a JSON name, an alias, or another spelling of its name such
// as contextFilter or context-filter.
func fieldNamed(t reflect.Type, name string) (f reflect.StructField, ok bool) {
	fields := fieldsOf(t)
	if f, ok = fields[name]; ok {
		return f, true
	}
	plain := strings.ToLower(plainName.Replace(name))
	for own, f := range fields {
		if plainName.Replace(own) == plain {
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

// aliases are other names of fields, without underscores. The first field that the request has
// counts.
var aliases = func() map[string][]string {
	all := map[string][]string{}
	for fields, names := range map[string]string{
		"n top_k limit": "n topk limit k count maxresults numresults",
		"insight new_content description query q": "text content",
		"insight":              "fact memory lesson",
		"new_content":          "insight newtext",
		"query q":              "query q question search",
		"memory_id session_id": "id",
		"memory_id":            "memory",
		"session_id":           "session episode episodeid",
		"collection":           "namespace",
		"tags":                 "tag",
		"context_filter":       "filter filters where",
		"spatial_sort":         "near nearest",
		"after":                "since",
		"before":               "until",
		"observed_at":          "timestamp time",
		"perception_type":      "modality sense",
		"media_type":           "mimetype mime contenttype",
		"reason":               "why because",
		"data_base64":          "base64",
		"used_memory_ids":      "memoryids usedmemories used",
		"outcome_score":        "score",
		"field":                "path",
		"target":               "position point",
		"max_distance":         "radius within",
		"frame_id":             "frame",
		"map_id":               "map",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = append(all[name], strings.Fields(fields)...)
		}
	}
	return all
}()

func unknownField(name string, t reflect.Type) error {
	known := fieldNames(t)
	hint := ""
	if near := nearest(strings.ToLower(name), known); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	return Errorf(Invalid, abbreviate(name), "unknown field; %sknown are %s", hint, strings.Join(known, ", "))
}

// nearest returns the name with the smallest Levenshtein distance, "" if it is more than a third
// of the letters.
func nearest(name string, known []string) (best string) {
	least := min(len(name)/3, 3) + 1
	for _, k := range known {
		if d := distance(name, k, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes, or at least most.
func distance(a, b string, most int) int {
	if max(len(a), len(b))-min(len(a), len(b)) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// field decodes a value into a field: as the schema says, and if it is not, as it can be read.
func (r *reading) field(v reflect.Value, f reflect.StructField, raw View) error {
	name := jsonName(f)
	err := r.value(v, name, raw)
	if err != nil {
		read, shown, ok := r.loosen(f.Type, f, raw)
		if !ok {
			return err
		}
		if read == nil {
			return nil
		}
		v.SetZero()
		if r.value(v, name, read) != nil {
			return err
		}
		if shown != "" {
			r.note(name, "%s taken as %s", abbreviate(string(raw)), shown)
		}
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
	nested, ok := into.(selfReading)
	if !ok {
		err := jsonv2.Unmarshal(raw, v.Addr().Interface(), lenient, jsonv2.RejectUnknownMembers(true))
		if e := (*jsonv2.SemanticError)(nil); errors.As(err, &e) && e.JSONPointer == "" && e.Err == nil {
			e.JSONValue = jsontext.Value(raw) // for the text of the error
		}
		return err
	}
	outer := r.within
	r.within += name + "."
	defer func() { r.within = outer }()
	err := nested.read(r, raw)
	if err == nil && v.Kind() == reflect.Pointer {
		v.Set(reflect.ValueOf(into))
	}
	return err
}

// loosen returns the JSON of a value in the type of its field, and how a note shows it.
func (r *reading) loosen(t reflect.Type, f reflect.StructField, raw View) (read View, shown string, ok bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var text string
	isText := jsonv2.Unmarshal(raw, &text, lenient) == nil && raw[0] == '"'
	text = strings.TrimSpace(text)
	if !isText {
		text = string(raw)
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		if !isText {
			return nil, "", false
		}
		return r.time(jsonName(f), text)
	case t == reflect.TypeFor[[]byte]():
		return r.dataURL(text)
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n != float64(int64(n)) || n > 1<<53 || n < -1<<53 {
			return nil, "", false
		}
		text = strconv.FormatInt(int64(n), 10)
		return View(text), text, true
	case t.Kind() == reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if q, isQuantity := units.Parse(text); err != nil && isQuantity && q.Unit == unitOf[jsonName(f)] {
			n, err = q.Value, nil
		}
		text = strconv.FormatFloat(n, 'g', -1, 64)
		return View(text), text, err == nil && json.Valid([]byte(text))
	case t.Kind() == reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "yes", "1", "on":
			return View("true"), "true", true
		case "false", "no", "0", "off":
			return View("false"), "false", true
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Struct:
		return r.list(t, f, raw, text, isText)
	case t.Kind() == reflect.String && jsonName(f) == "data" && (raw[0] == '[' || raw[0] == '{'):
		read, err := EncodeJSON(text)
		return read, "text", err == nil
	}
	return nil, "", false
}

// unitOf is the canonical unit in which the quantity of a field is taken.
var unitOf = map[string]string{"max_distance": "m"}

// list reads one value as a list of one, text with commas as several, and each item leniently.
func (r *reading) list(t reflect.Type, f reflect.StructField, raw View, text string, isText bool) (View, string, bool) {
	var items []json.RawMessage
	switch {
	case strings.HasPrefix(text, "["):
		if jsonv2.Unmarshal([]byte(text), &items, lenient) != nil {
			return nil, "", false
		}
	case isText:
		for item := range strings.SplitSeq(text, ",") {
			quoted, err := EncodeJSON(strings.TrimSpace(item))
			if err != nil {
				return nil, "", false
			}
			items = append(items, quoted)
		}
	default:
		items = []json.RawMessage{json.RawMessage(raw)}
	}
	for i := range items {
		if into := reflect.New(t.Elem()); jsonv2.Unmarshal(items[i], into.Interface(), lenient) == nil {
			continue
		}
		item, _, ok := r.loosen(t.Elem(), f, View(items[i]))
		if !ok {
			return nil, "", false
		}
		items[i] = json.RawMessage(item)
	}
	read, err := json.Marshal(items)
	return read, abbreviate(string(read)), err == nil
}

// layouts are times without a zone, which are of the node's zone, the longest first.
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "2006/01/02"}

// time reads a date or a time without a zone, and words. A day, week, month or year means its
// first moment.
func (r *reading) time(field, text string) (View, string, bool) {
	now := r.now()
	zoned := text
	if !strings.Contains(zoned, "T") {
		zoned = strings.Replace(zoned, " ", "T", 1)
	}
	at, err := time.Parse(time.RFC3339, strings.Replace(zoned, " ", "+", 1)) // a query string turns + into a space
	for i := 0; err != nil && i < len(layouts); i++ {
		at, err = time.ParseInLocation(layouts[i], text, now.Location())
	}
	if err != nil && strings.EqualFold(text, "now") {
		at, err = now, nil
	}
	if err != nil {
		t, ok := moment(text, now)
		if !ok {
			return nil, "", false
		}
		at = t
	}
	if r.forward && r.within == "" {
		if r.texts == nil {
			r.texts = map[string]string{}
		}
		r.texts[field] = text
		return nil, "", true
	}
	shown := at.Format(time.RFC3339)
	read, err := EncodeJSON(at.Format(time.RFC3339Nano))
	return read, shown, err == nil
}

// moment reads words for a time: what "before" them counts from.
func moment(text string, now time.Time) (time.Time, bool) {
	if before := timeparse.Parse("before "+text, now); before.Rest == "" && before.Before != nil && before.After == nil {
		return *before.Before, true
	}
	if own := timeparse.Parse(text, now); own.Rest == "" && own.After != nil {
		return *own.After, true
	}
	return time.Time{}, false
}

// senses are common words for the types of perceptions.
var senses = map[string]string{
	"force": "tactile", "torque": "tactile", "wrench": "tactile", "touch": "tactile", "haptic": "tactile",
	"image": "visual", "camera": "visual", "photo": "visual", "video": "visual", "vision": "visual", "rgb": "visual", "depth": "visual",
	"audio": "auditory", "sound": "auditory", "microphone": "auditory",
	"lidar": "spatial", "laser": "spatial", "pointcloud": "spatial", "point_cloud": "spatial", "map": "spatial",
	"joint": "proprioceptive", "joints": "proprioceptive", "joint_state": "proprioceptive", "imu": "proprioceptive",
}

// word reads a text that is one of a few words, in other letters or as a synonym.
func (r *reading) word(v reflect.Value, f reflect.StructField) {
	given, rules := v.String(), f.Tag.Get("validate")
	if given == "all" && strings.Contains(rules, "collections") && !r.hasCollection(given) {
		v.SetString("*")
		r.note(jsonName(f), `"all" taken as *`)
	}
	_, rules, _ = strings.Cut(rules, "oneof=")
	rules, _, _ = strings.Cut(rules, ",")
	options := strings.Fields(rules)
	if options == nil || slices.Contains(options, given) {
		return
	}
	word := strings.ToLower(strings.TrimSpace(given))
	word = cmp.Or(senses[word], word)
	if i := slices.IndexFunc(options, func(o string) bool { return word == o || word == o+"s" }); i >= 0 {
		v.SetString(options[i])
		r.note(jsonName(f), "%q taken as %s", abbreviate(given), options[i])
	}
}

// hasCollection reports whether a collection has this name, or cannot be asked.
func (r *reading) hasCollection(name string) bool {
	if r.service == nil {
		return true
	}
	res, err := r.service.Collections(r.ctx, &admin.CollectionsRequest{})
	return err != nil || slices.ContainsFunc(res.Collections, func(c admin.CollectionCount) bool { return c.Collection == name })
}

// filterWords are operators of a filter as they are written without their sign.
var filterWords = map[string]string{
	"eq": "$eq", "ne": "$ne", "lt": "$lt", "lte": "$lte", "gt": "$gt", "gte": "$gte", "in": "$in", "nin": "$nin", "exists": "$exists",
	"==": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte",
}

// filter rewrites operators without their $, in place. An object is read so only if each of its
// names is an operator and each value fits it; {"$eq": {"gt": 10}} compares with such an object.
func (r *reading) filter(field string, o map[string]any) {
	for path, v := range o {
		switch v := v.(type) {
		case map[string]any:
			if path == "$not" {
				r.filter(field, v)
			} else if !strings.HasPrefix(path, "$") && isOperators(v) {
				for _, word := range slices.Sorted(maps.Keys(v)) {
					v[filterWords[word]] = v[word]
					delete(v, word)
					r.note(field, "%s at %s taken as %s", word, abbreviate(path), filterWords[word])
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

func isOperators(m map[string]any) bool {
	for word, v := range m {
		_, isList := v.([]any)
		_, isObject := v.(map[string]any)
		_, isBool := v.(bool)
		switch op := filterWords[word]; {
		case op == "", isObject, (op == "$in" || op == "$nin") != isList, op == "$exists" && !isBool:
			return false
		}
	}
	return len(m) > 0
}

// dataURL reads a data: URL as base64, and keeps its media type.
func (r *reading) dataURL(text string) (View, string, bool) {
	head, body, ok := strings.Cut(text, ",")
	head, isURL := cutPrefixFold(head, "data:")
	if !ok || !isURL {
		return nil, "", false
	}
	mediaType, isBase64 := strings.CutSuffix(head, ";base64")
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

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// payload reads text that is a data: URL or base64 of a binary format, and gives the media type
// of the URL.
func (r *reading) payload(text *string, data *[]byte, mediaType *string) {
	if *text != "" && len(*data) == 0 {
		*data = nil // "" beside another field is not given
		if read, shown, ok := r.dataURL(*text); ok && jsonv2.Unmarshal(read, data, lenient) == nil {
			r.note("data", "taken as %s", shown)
			*text = ""
		} else if found := base64Of(*text); found != nil {
			r.note("data", "taken as base64 of %s", sniffed(found))
			*text, *data = "", found
		}
	}
	if *mediaType == "" {
		*mediaType = r.media
	}
	r.media = ""
}

// leastBase64 is the shortest text, in characters, that is looked at as base64: a magic number
// and a few bytes.
const leastBase64 = 32

// base64Of returns the bytes of text if it is base64 of a format that its first bytes prove and
// that is no text.
func base64Of(text string) []byte {
	if len(text) < leastBase64 || sniffed(decodeBase64(text[:leastBase64])) == "" {
		return nil
	}
	if data := decodeBase64(text); data != nil && sniffed(data) != "" {
		return data
	}
	return nil
}

func decodeBase64(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text) // ignores line breaks
	if err != nil {
		return nil
	}
	return data
}

// sniffed returns the media type that the first bytes prove, "" for text and unknown bytes.
func sniffed(data []byte) string {
	t, err := perception.Sniff(data, "")
	if err != nil || t == "application/octet-stream" || strings.HasPrefix(t, "text/") || strings.Contains(t, "json") || strings.Contains(t, "xml") {
		return ""
	}
	return t
}
