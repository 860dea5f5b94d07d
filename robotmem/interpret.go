package robotmem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"github.com/robotmem/robotmem-go/robotmem/where"
)

// Requests in JSON may use common other names and spellings, which are noted for the response. A
// value that fits the schema never takes another meaning, with one exception, which is also noted:
// a filter {"gt": 10}.

// Zoned is implemented by a Service with a clock, for dates without a zone and words such as
// yesterday. For any other Service the clock of the process counts.
type Zoned interface {
	// LocalNow returns the time in the zone of the node.
	LocalNow() time.Time
}

// requestReader decodes one request and collects notes on the values that it did not take as given.
type requestReader struct {
	ctx          context.Context
	service      Service  // nil if unknown
	within       string   // the fields around the one that is read, each with a dot
	notes, empty []string // empty: fields given as ""

	// Of the request that is read, for complete.
	score     *float64 // that outcome was given as
	mediaType string   // of a data: URL in data_base64
}

// maxNotes bounds the notes of one response.
const maxNotes = 50

func (r *requestReader) note(field, format string, args ...any) {
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, r.within+field+": "+fmt.Sprintf(format, args...))
	}
}

// aliases maps other names of fields, in lower case and without separators, to the fields that they may mean. The
// first of these fields that the request has counts.
var aliases = func() map[string][]string {
	all := map[string][]string{}

	for fields, names := range map[string]string{
		"n top_k limit":  "n topk limit k count",
		"insight":        "fact lesson",
		"new_content":    "insight newtext",
		"query q":        "query q question search",
		"memory_id":      "memory",
		"session_id":     "session episode episodeid",
		"request_id":     "idempotencykey callid",
		"collection":     "namespace",
		"tags":           "tag",
		"context_filter": "filter filters where",
		"spatial_sort":   "near nearest",
		"after":          "since", "before": "until", "observed_at": "timestamp time", "reason": "why because",
		"perception_type": "modality sense", "media_type": "mimetype mime contenttype", "data_base64": "base64",
		"used_memory_ids": "memoryids usedmemories used", "outcome_score": "score",
		"subject entity": "subject entity about name",
		"goal":           "objective", "criteria": "criterion successcriteria", "changed": "change changes tried action",
		"result": "output observation notes", "exit_status": "exitcode returncode rc", "verdict": "conclusion",
		"field": "path", "target": "position point", "max_distance": "radius within", "frame_id": "frame", "map_id": "map",
		"insight new_content description query q": "text content", "memory_id session_id": "id",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = append(all[name], strings.Fields(fields)...)
		}
	}

	return all
}()

// synonyms maps other words to the options of a field, and to true and false.
var synonyms = map[string]string{
	"force": "tactile", "torque": "tactile", "wrench": "tactile", "touch": "tactile",
	"image": "visual", "camera": "visual", "photo": "visual", "video": "visual", "depth": "visual",
	"audio": "auditory", "sound": "auditory", "microphone": "auditory",
	"lidar": "spatial", "laser": "spatial", "pointcloud": "spatial", "point_cloud": "spatial",
	"joint": "proprioceptive", "joints": "proprioceptive", "joint_state": "proprioceptive", "imu": "proprioceptive",
	"succeeded": "success", "ok": "success", "failed": "failure", "fail": "failure",
	"yes": "true", "on": "true", "no": "false", "off": "false",
}

// operators maps the operators of a filter without $, and their mathematical signs, to the operators.
var operators = map[string]string{
	"eq": "$eq", "ne": "$ne", "lt": "$lt", "lte": "$lte", "gt": "$gt", "gte": "$gte",
	"in": "$in", "nin": "$nin", "exists": "$exists",
	"==": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte",
}

// structFields caches the fields of each request struct by JSON name. Reflection would allocate them
// again for each call.
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

// separators removes the separators of names, so that context_filter, context-filter and contextFilter are equal.
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

// unknownField returns the error for a name that no field has. It suggests the nearest known name if at most a third
// of the letters differ.
func unknownField(name string, t reflect.Type) error {
	known, hint := fieldNames(t), ""

	least := len(name)/3 + 1
	for _, k := range slices.Concat(known, slices.Sorted(maps.Keys(foreignFields[t]))) {
		if n := differingBytes(strings.ToLower(name), k); n < least {
			hint, least = "did you mean "+k+"? ", n
		}
	}

	return Errorf(Invalid, abbreviate(name), "unknown field; %sknown are %s", hint, strings.Join(known, ", "))
}

// differingBytes counts the bytes of the longer text between the beginning and the end that two texts share.
func differingBytes(a, b string) int {
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))

	same, end := 0, 0
	for same < shorter && a[same] == b[same] {
		same++
	}

	for end < shorter-same && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}

	return longer - same - end
}

// field decodes a value into a field. A value that does not fit the schema is coerced if its meaning is clear.
func (r *requestReader) field(v reflect.Value, f reflect.StructField, raw View) error {
	name := jsonName(f)
	if (name == "outcome" || name == "verdict") && strings.Contains(f.Tag.Get("validate"), outcomeRule) {
		outcome, err := r.outcomeField(name, raw)
		v.SetString(outcome)
		return err
	}

	// The strict form comes first, so that a value that fits the schema is never coerced. The error of the strict form
	// is returned even if coercion fails, because it names the type that the schema asks for.
	if err := r.value(v, name, raw); err != nil {
		if conditions := conditionsIn(name, raw); conditions != nil {
			return r.shorthand(v, name, conditions)
		}
		read, shown, ok := r.coerce(f.Type, name, raw)
		v.SetZero() // decoding may have set a part of it
		if !ok || r.value(v, name, read) != nil {
			return notSinceStart(err, v.Type(), raw)
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
func (r *requestReader) value(v reflect.Value, name string, raw View) error {
	into := v.Addr().Interface()
	if v.Kind() == reflect.Pointer {
		into = reflect.New(v.Type().Elem()).Interface()
	}

	// These types decode their own fields leniently, and their notes need the name of this field before their own.
	if own, ok := into.(selfReader); ok {
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
		// The error text shows the value.
		e.JSONValue = jsontext.Value(raw)
	}

	return err
}

// coerce returns the JSON of a value in the type of its field, and the text that a note shows for it.
func (r *requestReader) coerce(t reflect.Type, name string, raw View) (read View, shown string, ok bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	// Objects such as SpatialSort have read their own fields leniently already. A time is a struct too, but one with
	// many spellings.
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
	case t == reflect.TypeFor[time.Time]() && (isText || raw[0] >= '0' && raw[0] <= '9' || raw[0] == '{'):
		at, exact := stampTime(text)
		if !exact {
			at = r.time(text)
		}
		shown := time.RFC3339
		if exact {
			shown = time.RFC3339Nano
		}
		read, err := EncodeJSON(at.Format(time.RFC3339Nano))

		return read, at.Format(shown), err == nil && !at.IsZero()
	case kind == reflect.Int, kind == reflect.Int64, kind == reflect.Float64:
		// Ids have this type, and answers show them as #12.
		if kind == reflect.Int64 {
			text = strings.TrimPrefix(text, "#")
		}
		n, err := strconv.ParseFloat(text, 64)
		if q, isQuantity := units.Parse(text); isQuantity && name == "max_distance" && q.Unit == "m" {
			n, err = q.Value, nil
		}
		text = strconv.FormatFloat(n, 'f', -1, 64)
		// From 2^53 on a float64 does not hold every whole number, so the id might become another one.
		whole := kind == reflect.Float64 || n == float64(int64(n)) && n < 1<<53 && n > -1<<53

		return View(text), text, err == nil && whole && json.Valid([]byte(text))
	case kind == reflect.Bool:
		is := strings.ToLower(text)
		yes, err := strconv.ParseBool(cmp.Or(synonyms[is], is))
		text = strconv.FormatBool(yes)
		return View(text), text, err == nil
	case name == "target" && raw[0] != '[':
		// ParseObject takes objects only, so the place is wrapped in one.
		place, _ := ParseObject(`{"":` + string(raw) + `}`).At("")
		xyz, _ := Coordinates(place)
		if xyz == nil {
			xyz = floats(parsePlace(place))
		}
		read, err := EncodeJSON(xyz)

		return read, string(read), xyz != nil && err == nil
	case name == "data_base64" && isText:
		kind, payload, isURL, err := dataURL(text)
		if err != nil || !isURL {
			return nil, "", false
		}
		r.mediaType = kind
		read, err := EncodeJSON(payload)

		return read, "bytes of " + kind, err == nil
	case kind == reflect.Slice && (isText || raw[0] == '[' || raw[0] != '{' && t.Elem().Kind() != reflect.String):
		// A bare 7 is a list of one id, but a bare number is no tag.
		return r.list(t, name, text)
	case name == "data" && (raw[0] == '[' || raw[0] == '{'):
		read, err := EncodeJSON(text)
		return read, "text", err == nil
	}

	return nil, "", false
}

// list reads a text as a list, with commas as several items, and each item as it can be read.
func (r *requestReader) list(t reflect.Type, name, text string) (read View, shown string, ok bool) {
	var items []json.RawMessage
	whole, err := jsonValue(t, []string{text})
	if err != nil || json.Unmarshal(whole, &items) != nil {
		return nil, "", false
	}

	for i := range items {
		if jsonv2.Unmarshal(items[i], reflect.New(t.Elem()).Interface(), lenient) != nil {
			read, _, ok := r.coerce(t.Elem(), name, View(items[i]))
			if !ok {
				return nil, "", false
			}
			items[i] = json.RawMessage(read)
		}
	}
	read, err = json.Marshal(items)

	return read, abbreviate(string(read)), err == nil
}

// time reads a date, a time without a zone, or words. It returns the zero time if it cannot. A day, a
// week, a month or a year means its first moment.
func (r *requestReader) time(text string) (at time.Time) {
	now := r.now()

	// timeparse knows neither numbers since 1970 nor leap seconds.
	if stamp, ok := stampTime(text); ok {
		return stamp
	}
	if leap, ok := leapSecond(text); ok {
		return leap
	}
	// Python and SQL write a space instead of the T of RFC 3339.
	if date, clock, _ := strings.Cut(text, " "); strings.HasSuffix(clock, "Z") {
		text = date + "T" + clock
	}
	// "3 days" alone means the last 3 days, so that "after": "3 days" works.
	if m := durationAgo.FindStringSubmatch(strings.ToLower(text)); m != nil {
		text = "last " + m[1] + " " + cmp.Or(durationUnits[m[2]], m[2])
	}

	// "before X" ends at the first moment of X, which is the moment that a single time means. Phrases that do not go
	// with "before", such as "since monday", begin at their own lower bound.
	own := timeparse.Parse(text, now)
	from := timeparse.Parse("before "+text, now)

	switch {
	case strings.EqualFold(text, "now"):
		at = now
	case from.Rest == "" && from.Before != nil && from.After == nil:
		at = *from.Before
	case own.Rest == "" && own.After != nil:
		at = *own.After
	}

	return at
}

// now returns the time in the zone of the service.
func (r *requestReader) now() time.Time {
	if z, ok := r.service.(Zoned); ok {
		return z.LocalNow()
	}
	return time.Now()
}

// durationAgo matches a duration, which counts back from now: "3 days", "24h".
var durationAgo = regexp.MustCompile(`^(\d{1,6})\s*(s|sec|min|h|hr|d|w|(?:second|minute|hour|day|week|month|year)s?)$`)

// durationUnits spells the short units of durationAgo out, as timeparse needs them.
var durationUnits = map[string]string{
	"s": "seconds", "sec": "seconds", "min": "minutes", "h": "hours", "hr": "hours", "d": "days", "w": "weeks",
}

// word reads a text that is one of a few options. Case, the plural and synonyms make no difference.
func (r *requestReader) word(v reflect.Value, f reflect.StructField) {
	given, rules := v.String(), f.Tag.Get("validate")
	taken := ""
	if _, list, ok := strings.Cut(rules, "oneof="); ok {
		list, _, _ = strings.Cut(list, ",")
		word := strings.ToLower(strings.TrimSpace(given))
		word = cmp.Or(synonyms[word], word)

		for o := range strings.FieldsSeq(list) {
			if word == o || word == o+"s" {
				taken = o
			}
		}
	} else if given == "all" && strings.Contains(rules, "collections") && r.service != nil {
		// all means every collection, unless one has this name.
		res, err := r.service.Collections(r.ctx, &admin.CollectionsRequest{})
		isGiven := func(c admin.CollectionCount) bool { return c.Collection == given }
		if err == nil && !slices.ContainsFunc(res.Collections, isGiven) {
			taken = "*"
		}
	}

	if taken != "" && taken != given {
		v.SetString(taken)
		r.note(jsonName(f), "%q taken as %s", abbreviate(given), taken)
	}
}

// conditionsIn returns the texts of a filter that is given in short: one text that is no object in JSON, or a list of
// texts. It is nil for anything else.
func conditionsIn(name string, raw View) (conditions []string) {
	if name != "context_filter" {
		return nil
	}

	var one string
	switch {
	case jsonv2.Unmarshal(raw, &one, lenient) == nil && !strings.HasPrefix(strings.TrimSpace(one), "{") && one != "":
		return []string{one}
	case jsonv2.Unmarshal(raw, &conditions, lenient) != nil:
		return nil
	}

	return conditions
}

// shorthand reads a filter in short: params.grip_force<15N. All of several conditions must hold.
func (r *requestReader) shorthand(v reflect.Value, name string, conditions []string) error {
	if len(conditions) == 0 {
		return nil
	}
	filter, err := where.Parse(conditions)
	if err != nil {
		return err
	}

	// The values become those that JSON has.
	data, err := EncodeJSON(filter)
	if err != nil {
		return err
	}

	r.note(name, "%q taken as %s", strings.Join(conditions, " and "), data)
	read := ParseObject(string(data))
	v.Set(reflect.ValueOf(read))
	r.filter(name, read)

	return nil
}

// filter adds the $ to operators without it, in place. It changes an object only if each of its names is an operator
// and each value fits it. {"$eq": {"gt": 10}} compares with that object.
func (r *requestReader) filter(field string, o map[string]any) {
	for _, path := range slices.Sorted(maps.Keys(o)) {
		inner, _ := o[path].(map[string]any)
		kids, _ := o[path].([]any)

		switch {
		case path == "$not":
			r.filter(field, inner)
		case path == "$and", path == "$or":
			for _, kid := range kids {
				kid, _ := kid.(map[string]any)
				r.filter(field, kid)
			}
		case !strings.HasPrefix(path, "$") && areOperators(inner):
			for _, word := range slices.Sorted(maps.Keys(inner)) {
				inner[operators[word]] = inner[word]
				delete(inner, word)
				r.note(field, "%s at %s taken as %s", word, abbreviate(path), operators[word])
			}
		}

		if path == "observed_at" {
			o[path] = r.timeInFilter(field, o[path])
			continue
		}
		// Operators come first, because outcomeInFilter knows only their form with $.
		if path == "outcome" {
			o[path] = r.outcomeInFilter(field, path, o[path])
			continue
		}
		// A text such as "<25" equals no stored value in practice, so a range is what the caller meant.
		if text, isText := o[path].(string); isText && !strings.HasPrefix(path, "$") {
			if bounds := parseRange(text); bounds != nil {
				o[path] = bounds
				data, _ := EncodeJSON(bounds)
				r.note(field, "%q at %s taken as %s", abbreviate(text), abbreviate(path), data)
			}
		}
	}
}

// timeInFilter reads the times that the field observed_at is compared with, as it reads those of after and before.
// What is no time stays, so that the filter refuses it.
func (r *requestReader) timeInFilter(field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for op := range v {
			v[op] = r.timeInFilter(field, v[op])
		}
	case []any:
		for i := range v {
			v[i] = r.timeInFilter(field, v[i])
		}
	case string, json.Number:
		text := fmt.Sprint(v)
		if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return v
		}
		if at := r.time(text); !at.IsZero() {
			r.note(field, "%q at observed_at taken as %s", abbreviate(text), at.Format(time.RFC3339))
			return at.Format(time.RFC3339Nano)
		}
	}

	return v
}

func areOperators(m map[string]any) bool {
	for word, v := range m {
		_, isList := v.([]any)
		_, isObject := v.(map[string]any)
		_, isBool := v.(bool)
		op := operators[word]
		takesList := op == "$in" || op == "$nin"

		if op == "" || isObject || takesList != isList || op == "$exists" && !isBool {
			return false
		}
	}

	return len(m) > 0
}
