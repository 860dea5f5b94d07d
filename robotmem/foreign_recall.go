package robotmem

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

const (
	maxRecalled  = 100    // the most memories of one recall
	maxDays      = 36_500 // as in list
	defaultField = "spatial.position"
)

func (q *RecallRequest) complete(r *requestReader, given map[string]foreign) error {
	if q.N > maxRecalled {
		r.note("n", "%d taken as %d, the most of one call", q.N, maxRecalled)
		q.N = maxRecalled
	}

	// readTimeRange comes after readDays, because it refuses bounds that are set already. readPlace may query the
	// service and is last, so that a request that is refused anyway costs no query.
	for _, read := range []func(*requestReader, map[string]foreign) error{
		q.readOutcome, q.readRobot, q.readDays, q.readTimeRange, q.readPlace,
	} {
		if err := read(r, given); err != nil {
			return err
		}
	}

	if f, ok := given["sort"]; ok {
		r.note(f.name, "%s", q.orderNote(f))
	}

	return nil
}

// readOutcome reads outcome and success into the filter.
func (q *RecallRequest) readOutcome(r *requestReader, given map[string]foreign) error {
	for _, name := range []string{"outcome", "success"} {
		f, ok := given[name]
		if !ok {
			continue
		}

		// A list means any of its values, a single value only itself. Both pass the same checks.
		list, isList := f.value.([]any)
		if !isList {
			list = []any{f.value}
		}

		read := len(list) > 0
		for i := range list {
			list[i], ok = r.filterOutcome(f.name, list[i])
			read = read && ok
		}
		if !read {
			return Errorf(Invalid, f.name, "must be %s, or a list of them, not %s", outcomeChoice, f.shown())
		}

		condition := any(map[string]any{"$in": list})
		if !isList {
			condition = list[0]
		}

		q.filterBy("outcome", condition)
		data, _ := EncodeJSON(map[string]any{"outcome": condition})
		r.note(f.name, "%s taken as context_filter %s", f.shown(), data)
	}

	return nil
}

// filterOutcome reads an outcome to filter by. A text that is none stays in the filter, where a remark names it:
// without it the answer would be another one than asked for. It is false for any other value.
func (r *requestReader) filterOutcome(name string, v any) (any, bool) {
	if outcome, _ := r.outcomeOf(v); outcome != "" {
		return outcome, true
	}
	text, isText := v.(string)
	if isText {
		r.noteNoOutcome(name, text)
	}

	return v, isText
}

// readRobot reads a robot into the filter: its id, its name, or an object with both.
func (q *RecallRequest) readRobot(r *requestReader, given map[string]foreign) error {
	f, ok := given["robot"]
	if !ok {
		return nil
	}

	switch v := f.value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			q.filterBy("robot."+key, v[key])
		}
		r.note(f.name, "%s taken as context_filter below robot", f.shown())
	case []any, nil, bool:
		return Errorf(Invalid, f.name, "must be the id or the name of a robot, not %s; "+
			"use context_filter for several", f.shown())
	default:
		// Contexts name a robot in three ways, and the caller does not know which the memories use.
		q.filterBy("$or", []any{
			map[string]any{"robot.id": v},
			map[string]any{"robot.name": v},
			map[string]any{"robot": v},
		})
		r.note(f.name, "%s taken as context_filter on robot.id, robot.name or robot", f.shown())
	}

	return nil
}

// filterBy adds a condition to the filter.
func (q *RecallRequest) filterBy(key string, condition any) {
	if q.ContextFilter == nil {
		q.ContextFilter = Object{}
	}

	old, exists := q.ContextFilter[key]
	switch {
	case !exists:
		q.ContextFilter[key] = condition
	case !sameValue(old, condition):
		// The caller's filter has another condition at this path. Both must hold.
		q.ContextFilter = Object{"$and": []any{map[string]any(q.ContextFilter), map[string]any{key: condition}}}
	}
}

// readDays reads a number of days back from now.
func (q *RecallRequest) readDays(r *requestReader, given map[string]foreign) error {
	f, ok := given["days"]
	if !ok {
		return nil
	}

	number := strings.TrimSpace(fmt.Sprint(f.value))
	for _, unit := range []string{"days", "day", "d"} { // "3 days"
		number = strings.TrimSpace(strings.TrimSuffix(number, unit))
	}

	days, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(days >= 0 && days <= maxDays):
		return Errorf(Invalid, f.name, "must be between 0 and %d, not %s; or give after", maxDays, f.shown())
	case q.After != nil:
		return Errorf(Invalid, f.name, "%s and after both bound the time; give one", f.name)
	case days == 0: // as in list
		r.note(f.name, "0 taken as all times")
		return nil
	}

	// Whole days go by the calendar, so that the time of day stays when the clocks change. Only the fraction is a
	// duration.
	whole := int(days)
	fraction := time.Duration((days - float64(whole)) * 24 * float64(time.Hour))
	after := r.now().AddDate(0, 0, -whole).Add(-fraction)
	q.After = &after
	r.note(f.name, "%s taken as after %s", f.shown(), after.Format(time.RFC3339))

	return nil
}

// rangeEnds lists the names of both ends of a time range in pairs: the start has an even index, the end an odd one.
var rangeEnds = strings.Fields("from to after before start end since until")

// readTimeRange reads both ends of a time: a list of two, an object, or words such as last week.
func (q *RecallRequest) readTimeRange(r *requestReader, given map[string]foreign) error {
	f, ok := given["time_range"]
	if !ok {
		return nil
	}
	if q.After != nil || q.Before != nil {
		return Errorf(Invalid, f.name, "%s and after, before or days both bound the time; give one", f.name)
	}

	// First find both ends in any of the forms, without reading them. nil and "" leave an end open.
	var ends [2]any
	read := true

	switch v := f.value.(type) {
	case []any:
		if read = len(v) == 2; read {
			ends = [2]any(v)
		}
	case map[string]any:
		for key, end := range v {
			i := slices.Index(rangeEnds, strings.ToLower(key))
			if i < 0 {
				read = false
				continue
			}
			ends[i%2] = end
		}
	case string:
		if from, to, both := strings.Cut(v, ".."); both {
			ends = [2]any{from, to}
			break
		}
		// Words such as "last week" name both bounds at once, so that there are no ends to read. A rest means that
		// not all words were understood.
		within := timeparse.Parse(v, r.now())
		read = within.Rest == "" && (within.After != nil || within.Before != nil)
		q.After, q.Before = within.After, within.Before
	default:
		read = false
	}

	// Reading a single end takes the first moment of a day or a week, as in after and before.
	for i, into := range []**time.Time{&q.After, &q.Before} {
		if ends[i] == nil || ends[i] == "" {
			continue // open
		}
		at := r.time(strings.TrimSpace(fmt.Sprint(ends[i])))
		read = read && !at.IsZero()
		*into = &at
	}

	var bounds []string

	// The remark and the errors show the bounds that were read, so that the caller sees a wrong zone.
	for name, at := range map[string]*time.Time{"after": q.After, "before": q.Before} {
		if at != nil {
			bounds = append(bounds, name+" "+at.Format(time.RFC3339))
		}
	}

	slices.Sort(bounds)

	switch {
	case !read || bounds == nil:
		return Errorf(Invalid, f.name, `must be ["2026-03-01","2026-03-02"], {"from":"yesterday","to":"today"} `+
			"or words such as last week, not %s; or give after and before", f.shown())
	case q.After != nil && q.Before != nil && !q.After.Before(*q.Before):
		return Errorf(Invalid, f.name, "must end later than it begins: %s", strings.Join(bounds, ", "))
	}

	r.note(f.name, "taken as %s", strings.Join(bounds, ", "))

	return nil
}

// readPlace reads a position and a distance into spatial_sort, and completes its field.
func (q *RecallRequest) readPlace(r *requestReader, given map[string]foreign) error {
	if f, ok := given["position"]; ok {
		if q.SpatialSort != nil {
			return Errorf(Invalid, f.name, "%s and spatial_sort both name a place; give one", f.name)
		}
		r.note(f.name, "taken as spatial_sort")
		q.SpatialSort = &SpatialSort{}
		if err := r.value(reflect.ValueOf(q.SpatialSort).Elem(), "spatial_sort", f.raw); err != nil {
			const forms = `[x, y, z], {"x":1,"y":2} or {"lat":48.1,"lon":11.5}`
			return Errorf(Invalid, f.name, "must be numbers, such as %s, not %s", forms, f.shown())
		}
	}

	// This comes after position, which may just have made the spatial_sort that the distance belongs to.
	if f, ok := given["max_distance"]; ok {
		read, _, isNumber := r.coerce(reflect.TypeFor[float64](), "max_distance", f.raw)
		switch {
		case q.SpatialSort == nil:
			return Errorf(Invalid, f.name, "needs a place; give near: [x, y] with it")
		case q.SpatialSort.MaxDistance != nil:
			return Errorf(Invalid, f.name, "%s and spatial_sort.max_distance are names of the same field; give one",
				f.name)
		case !isNumber:
			return Errorf(Invalid, f.name, "must be a number, not %s", f.shown())
		}
		distance, _ := strconv.ParseFloat(string(read), 64)
		q.SpatialSort.MaxDistance = &distance
		r.note(f.name, "taken as spatial_sort.max_distance")
	}

	if q.SpatialSort == nil || q.SpatialSort.Field != "" {
		return nil
	}

	field, err := r.placeField(cmp.Or(q.Collection, DefaultCollection))
	if err == nil {
		q.SpatialSort.Field = field
		r.note("spatial_sort.field", "not given, taken as %s", field)
	}

	return err
}

// placeField returns the path of coordinates that a place without a field means: the usual one, or
// the only one that the memories have.
func (r *requestReader) placeField(collection string) (string, error) {
	if r.service == nil {
		return defaultField, nil
	}

	known, err := r.service.Places(r.ctx, &PlacesRequest{Collection: collection})
	if err != nil {
		return defaultField, nil //nolint:nilerr // recall itself reports what is wrong with the node
	}

	var paths []string
	for _, f := range known.Fields {
		// A path is there for each frame.
		if !slices.Contains(paths, f.Field) {
			paths = append(paths, f.Field)
		}
	}

	switch {
	case len(paths) == 0 || slices.Contains(paths, defaultField):
		return defaultField, nil
	case len(paths) == 1:
		return paths[0], nil
	}

	shown := strings.Join(paths[:min(len(paths), 10)], ", ")

	return "", Errorf(Invalid, "spatial_sort.field", "is required: there are coordinates at %s", shown)
}

// orderNote says how the results are ordered, because recall has no order to choose.
func (q *RecallRequest) orderNote(f foreign) string {
	word := strings.ToLower(strings.Trim(string(f.raw), `"`))

	// The order is reported instead of refused: the results are right, only their order may differ from the request.
	newest := slices.Contains(strings.Fields("newest newest_first recent latest recency time date desc observed_at"),
		word)
	switch {
	case q.SpatialSort != nil && q.SpatialSort.Mode != "fused":
		return "not used, with spatial_sort the nearest are first"
	case q.Query == "" && q.SessionID != "":
		return "not used, without a query the memories of an episode are in the order of time"
	case q.Query == "" && newest:
		return "not needed, without a query the newest are first"
	case q.Query == "":
		return "not used, without a query the newest are first"
	}

	return "not used, results are ordered by relevance; leave query out to get the newest first"
}

// compared matches a comparison such as "<25" and ">= 3 N", spanned a range such as "10..20 N".
var (
	compared = regexp.MustCompile(`^(<=|>=|<|>|≤|≥)\s*([-+]?[.\d].*)$`)
	spanned  = regexp.MustCompile(`^([-+]?\d[\d.]*?)\s*(?:\.\.\.?|…)\s*([-+]?\.?\d.*)$`)
)

// parseRange reads a text in a filter as a range. It returns nil if it is none.
func parseRange(text string) map[string]any {
	if m := compared.FindStringSubmatch(text); m != nil {
		op := cmp.Or(operators[m[1]], map[string]string{"≤": "$lte", "≥": "$gte"}[m[1]])
		if limit := parseMeasure(m[2]); limit != nil {
			return map[string]any{op: limit}
		}
		return nil
	}

	m := spanned.FindStringSubmatch(text)
	if m == nil {
		return nil
	}

	least, most := parseMeasure(m[1]), parseMeasure(m[2])

	// In "10..20 N" the unit belongs to both ends, but only the second one has it.
	if _, isQuantity := most.(string); isQuantity && least != nil {
		number := m[2][:len(m[2])-len(strings.TrimLeft(m[2], "+-.0123456789"))]
		least = parseMeasure(m[1] + " " + strings.TrimSpace(m[2][len(number):]))
	}

	if least == nil || most == nil {
		return nil
	}

	return map[string]any{"$gte": least, "$lte": most}
}

// parseMeasure returns a number, or a quantity as the filter reads it; nil for anything else.
func parseMeasure(text string) any {
	text = strings.TrimSpace(text)
	if number := strings.TrimPrefix(text, "+"); json.Valid([]byte(number)) {
		return json.Number(number)
	}
	if _, ok := units.Parse(text); ok {
		return text
	}

	return nil
}

// spelled matches coordinates with the names of their axes: "x=1.0 y=2.0", "x: 1, y: 2, z: 0".
var spelled = regexp.MustCompile(`(?i)^\(?\s*x\s*[=:]\s*([^\s,;]+)[\s,;]+y\s*[=:]\s*([^\s,;)]+)` +
	`(?:[\s,;]+z\s*[=:]\s*([^\s,;)]+))?\s*\)?$`)

// parsePlace returns the coordinates in a text, as a context holds them, nil if there are none. In
// a list they may be texts.
func parsePlace(v any) (xyz []any) {
	switch v := v.(type) {
	case string:
		if m := spelled.FindStringSubmatch(strings.TrimSpace(v)); m != nil {
			for _, number := range m[1:] {
				if number != "" {
					xyz = append(xyz, json.Number(number))
				}
			}
			break
		}
		xyz = splitNumbers(v)
	case []any:
		for _, item := range v {
			text, isText := item.(string)
			if !isText {
				return nil
			}
			xyz = append(xyz, json.Number(strings.TrimSpace(text)))
		}
	}

	// json.Number takes any text. A number such as 01 or 0x1 would become invalid JSON in the stored context.
	isInvalid := func(n any) bool { return !json.Valid([]byte(n.(json.Number))) }
	if floats(xyz) == nil || slices.ContainsFunc(xyz, isInvalid) {
		return nil
	}

	return xyz
}

// placeToSort returns the JSON of a spatial_sort for a place that was given instead of it: coordinates as
// a list, a text or {x, y}, also with the other fields beside them. It returns nil for anything else.
func placeToSort(data View) View {
	v, err := data.any()
	if err != nil {
		return nil
	}

	fields := map[string]any{}

	switch v := v.(type) {
	case []any:
		fields["target"] = v
	case string:
		xyz := parsePlace(v)
		if xyz == nil {
			// It may still be an object in a string, which the caller of this function decodes.
			return nil
		}
		fields["target"] = xyz
	case map[string]any:
		if xyz, _ := Coordinates(v); xyz == nil {
			return nil
		}
		// The coordinates move into target. All other members, such as radius, are fields of spatial_sort itself.
		axes := slices.Concat(slices.Concat(planeNames[:]...), slices.Concat(earthNames[:]...), []string{"theta", "yaw"})
		target := map[string]any{}

		for key, value := range v {
			if slices.Contains(axes, key) {
				target[key] = value
			} else {
				fields[key] = value
			}
		}
		fields["target"] = target
	default:
		return nil
	}

	read, err := EncodeJSON(fields)
	if err != nil {
		return nil
	}

	return read
}
