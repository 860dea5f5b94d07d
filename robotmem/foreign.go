package robotmem

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Callers give a request fields that it does not have, although their meaning is clear: success in
// learn, robot in recall. Such a foreign field is read into the field that has this meaning, and a
// remark says which. It never replaces what another field says: that is an error.

// foreignFields lists the foreign fields of each request, each with its other names.
var foreignFields = map[reflect.Type]map[string]string{
	reflect.TypeFor[LearnRequest]():          foreignNames(situation, "success", "type", "category", "metadata"),
	reflect.TypeFor[SavePerceptionRequest](): foreignNames(situation, "success", "outcome"),
	reflect.TypeFor[AttemptRequest]():        foreignNames(situation, "success"),
	reflect.TypeFor[UpdateRequest]():         foreignNames("success", "outcome"),
	reflect.TypeFor[StartSessionRequest]():   foreignNames("task", "robot", "robot_id", "env environment"),
	reflect.TypeFor[EndSessionRequest]():     foreignNames("success", "summary notes"),
	reflect.TypeFor[MemoryRequest]():         foreignNames("ids memory_ids"),
	reflect.TypeFor[RecallRequest](): foreignNames("outcome", "success", "robot robot_id", "days", "time_range",
		"sort sort_by order order_by", "position", "max_distance radius"),
}

// situation lists the foreign fields that belong into a context, in groups of synonyms.
const situation = "params parameters,position pose location,task,robot,robot_id,env environment,spatial"

// foreignNames maps each name to the first of its group.
func foreignNames(groups ...string) map[string]string {
	all := map[string]string{}

	for _, group := range strings.Split(strings.Join(groups, ","), ",") {
		own, _, _ := strings.Cut(group, " ")
		for name := range strings.FieldsSeq(group) {
			all[name] = own
		}
	}

	return all
}

// foreignNamed returns the foreign field of a request that has a name.
func foreignNamed(t reflect.Type, name string) (own string, ok bool) {
	plain := strings.ToLower(separators.Replace(name))
	for known, own := range foreignFields[t] {
		if separators.Replace(known) == plain {
			return own, true
		}
	}

	return "", false
}

// foreign holds a foreign field as the caller gave it.
type foreign struct {
	name  string
	value any
	raw   View
}

// shown returns the value as a remark shows it.
func (f foreign) shown() string { return abbreviate(string(f.raw)) }

// completer is implemented by requests that take foreign fields. complete runs after the request's own fields are set.
type completer interface {
	complete(r *requestReader, given map[string]foreign) error
}

// any decodes a JSON value with the limits of a request.
func (v View) any() (any, error) {
	d := newDecoder(v)
	defer d.release()
	d.left = maxValues
	return d.value()
}

func (q *LearnRequest) complete(r *requestReader, given map[string]foreign) error {
	if q.Outcome != "" && !slices.Contains(outcomes, q.Outcome) {
		r.note("outcome", "%q states no outcome and is ignored; give %s", abbreviate(q.Outcome), outcomeChoice)
		q.Outcome = ""
	}

	if err := r.readContextFields(&q.Context, given); err != nil {
		return err
	}
	if err := r.readSuccess(&q.Outcome, given); err != nil {
		return err
	}

	// Models use type both for the kind of memory and for how the attempt went.
	if f, ok := given["type"]; ok {
		word, _ := f.value.(string)
		outcome, _ := r.outcomeOf(f.value)

		switch {
		case slices.Contains([]string{"fact", "memory", "lesson"}, strings.ToLower(word)):
			r.note(f.name, "not needed, learn stores facts")
		case outcome == "":
			return Errorf(Invalid, f.name, "must be fact, success or failure, not %s; "+
				"give any other kind as a tag, and store sensor data with save_perception", f.shown())
		default:
			if err := r.setOutcome(&q.Outcome, f); err != nil {
				return err
			}
		}
	}

	// The classification rules own the category, so a given one is kept as a tag, which recall can filter by.
	if f, ok := given["category"]; ok {
		word, isText := f.value.(string)
		if !isText {
			return Errorf(Invalid, f.name, "must be a text, not %s", f.shown())
		}

		tag := strings.Join(strings.Fields(word), "_") // a tag has no spaces
		if tag == "" {
			return Errorf(Invalid, f.name, "is empty; leave it out")
		}
		if !slices.Contains(q.Tags, tag) {
			q.Tags = append(q.Tags, tag)
		}
		r.note(f.name, "stored as the tag %s; the category is read from the text", abbreviate(tag))
	}

	return nil
}

func (q *SavePerceptionRequest) complete(r *requestReader, given map[string]foreign) error {
	if err := r.readContextFields(&q.Context, given); err != nil {
		return err
	}
	if err := r.storeOutcome(&q.Context, given); err != nil {
		return err
	}

	// Browsers and vision models send a payload as a data: URL. One in data_base64 was decoded with the field, which
	// left its media type in r.
	mediaType := r.mediaType
	if kind, payload, ok, err := dataURL(q.Data); err != nil {
		return Errorf(Invalid, "data", "is a data: URL whose payload is not base64: %v", err)
	} else if ok {
		mediaType, q.Data, q.DataBase64 = kind, "", payload
		r.note("data", "a data: URL, taken as bytes of %s", kind)
	}

	// The caller's own media type wins over that of the URL.
	if q.MediaType == "" {
		q.MediaType = mediaType
	}

	return nil
}

func (q *AttemptRequest) complete(r *requestReader, given map[string]foreign) error {
	if q.Outcome != "" && !slices.Contains(outcomes, q.Outcome) {
		r.note("outcome", "%q states no outcome and is ignored; give %s", abbreviate(q.Outcome), outcomeChoice)
		q.Outcome = ""
	}

	// A number in outcome is more exact than the word that it was turned into.
	if r.score != nil && q.Progress == nil {
		q.Progress = r.score
		r.note("progress", "taken from the outcome")
	}

	if !slices.Contains(outcomes, q.Verdict) && givenUp.MatchString(q.Verdict) {
		r.note("verdict", "%q taken as failure", abbreviate(q.Verdict))
		q.Verdict = OutcomeFailure
	}

	if err := r.readContextFields(&q.Context, given); err != nil {
		return err
	}

	return r.readSuccess(&q.Outcome, given)
}

// givenUp matches a verdict of an attempt that was ended before its goal was reached.
var givenUp = regexp.MustCompile(`(?i)\b(?:g[ai]ven? up|abandon|quit)`)

func (q *UpdateRequest) complete(r *requestReader, given map[string]foreign) error {
	// The old context is not known here, and a new one replaces it whole. A context with only the outcome would
	// delete everything else.
	for _, name := range []string{"outcome", "success"} {
		if f, ok := given[name]; ok && q.Context == nil {
			return Errorf(Invalid, f.name, "update has no outcome; "+
				"give context with task.success in it, which replaces the old context that get returns")
		}
	}
	if err := r.storeOutcome(&q.Context, given); err != nil {
		return err
	}

	if q.NewContent == "" && q.Context != nil {
		r.note("new_content", "not given, the text stays")
	}

	return nil
}

func (q *ForgetRequest) complete(r *requestReader, _ map[string]foreign) error {
	if q.Reason == "" && !q.Purge {
		q.Reason = noReason
		r.note("reason", "stored as %q; the audit log keeps the reason", noReason)
	}
	return nil
}

func (q *StartSessionRequest) complete(r *requestReader, given map[string]foreign) error {
	return r.readContextFields(&q.Context, given)
}

func (q *EndSessionRequest) complete(r *requestReader, given map[string]foreign) error {
	// A number in outcome is more exact than the word that it was turned into.
	if r.score != nil && q.OutcomeScore == nil {
		q.OutcomeScore = r.score
		r.note("outcome_score", "taken from the outcome")
	}
	if f, ok := given["summary"]; ok {
		r.note(f.name, "not stored, an episode has no such field; learn it as a fact with this session_id")
	}

	// Models write ids as #12. Sorted, so that the remarks have a fixed order.
	for _, key := range slices.Sorted(maps.Keys(q.MemoryScores)) {
		id, marked := strings.CutPrefix(key, "#")
		if _, twice := q.MemoryScores[id]; marked && !twice {
			q.MemoryScores[id] = q.MemoryScores[key]
			delete(q.MemoryScores, key)
			r.note("memory_scores", "%s taken as %s", abbreviate(key), abbreviate(id))
		}
	}

	return r.readSuccess(&q.Outcome, given)
}

func (q *MemoryRequest) complete(r *requestReader, given map[string]foreign) error {
	f, ok := given["ids"]
	if !ok {
		return nil
	}

	list, isList := f.value.([]any)
	switch {
	case isList && len(list) != 1:
		return Errorf(Invalid, f.name, "must be one memory, not %d; "+
			"call get for each, or recall with detail full for several at once", len(list))
	case q.MemoryID != 0:
		return Errorf(Invalid, f.name, "%s and memory_id are names of the same field; give one", f.name)
	case isList:
		f.value = list[0]
	}

	// A number in JSON and the text "#12" are the same id.
	text := strings.TrimPrefix(fmt.Sprint(f.value), "#")
	if err := r.value(reflect.ValueOf(&q.MemoryID).Elem(), "memory_id", View(text)); err != nil {
		return Errorf(Invalid, f.name, "must be the number of a memory, not %s", f.shown())
	}

	r.note(f.name, "taken as memory_id %d", q.MemoryID)

	return nil
}

// readSuccess reads the flag success into an outcome.
func (r *requestReader) readSuccess(outcome *string, given map[string]foreign) error {
	if f, ok := given["success"]; ok {
		return r.setOutcome(outcome, f)
	}
	return nil
}

// setOutcome reads a foreign field into an outcome.
func (r *requestReader) setOutcome(outcome *string, f foreign) error {
	stated, _ := r.outcomeOf(f.value)
	switch {
	case stated == "":
		r.note(f.name, "%s states no outcome and is ignored; give outcome: %s", f.shown(), outcomeChoice)
		return nil
	case *outcome != "" && *outcome != stated:
		return Errorf(Invalid, f.name, "says %s, but outcome says %s; leave one out", stated, abbreviate(*outcome))
	}

	*outcome = stated
	r.note(f.name, "%s taken as outcome %s", f.shown(), stated)

	return nil
}

// storeOutcome stores outcome and success in a context, for requests without an outcome.
func (r *requestReader) storeOutcome(context *Object, given map[string]foreign) error {
	for _, name := range []string{"outcome", "success"} {
		f, ok := given[name]
		if !ok {
			continue
		}

		stated, _ := r.outcomeOf(f.value)
		if stated == "" {
			r.note(f.name, "%s states no outcome and is ignored; give %s", f.shown(), outcomeChoice)
			continue
		}
		if err := putInContext(context, f, stated, "outcome"); err != nil {
			return err
		}
		r.note(f.name, "%s stored at context.outcome as %s", f.shown(), stated)
	}

	return nil
}

// readContextFields stores the foreign fields that describe the situation in a context.
func (r *requestReader) readContextFields(context *Object, given map[string]foreign) error {
	r.readPosition(*context)

	// robot_id comes before robot, which is its name then.
	// Paths such as robot.id depend on the form of what is there already.
	for _, part := range []string{"params", "spatial", "position", "metadata", "task", "robot_id", "robot", "env"} {
		f, ok := given[part]
		if !ok {
			continue
		}

		// Callers quote objects as text. One with half of a surrogate pair, which has no UTF-8, stays a text.
		value, taken := f.value, ""
		if text, isText := value.(string); isText {
			fields := ParseObject(text)
			if fields != nil && (!strings.Contains(text, `\u`) || surrogateError([]byte(text)) == nil) {
				value = map[string]any(fields)
			}
		}

		path := []string{part}
		_, isText := value.(string)

		switch part {
		case "position":
			// "position": "kitchen" is a name, and spatial.position must hold coordinates for search by place.
			if path, value, taken = placeIn(value); path == nil {
				path = []string{"location"}
				taken = "no coordinates, "
			}
			if taken != "" && taken != "no coordinates, " {
				taken = f.shown() + " taken as " + taken + ", "
			}

		case "task":
			// The context already describes the task by its parts, so a text can only be its name.
			if _, isObject := (*context)["task"].(map[string]any); isText && isObject {
				path = []string{"task", "name"}
			}

		case "robot_id":
			path = robotPath(*context, "id")

		case "robot":
			if isText {
				path = robotPath(*context, "id")
				// robot_id was stored first and took the place of the id.
				if _, both := given["robot_id"]; both {
					path = robotPath(*context, "name")
				}
			}
		}

		if err := putInContext(context, f, value, path...); err != nil {
			return err
		}
		r.note(f.name, "%sstored at context.%s", taken, strings.Join(path, "."))
	}

	return nil
}

// robotPath returns the path of the id or the name of a robot in a context, in which robot may also be a text.
func robotPath(context Object, key string) []string {
	if _, isText := context["robot"].(string); isText {
		return []string{"robot"}
	}
	return []string{"robot", key}
}

// placeIn returns the path in a context for a place, and the place as it is stored; a nil path for
// anything else. read is the JSON of coordinates that were given as text.
func placeIn(v any) (path []string, stored any, read string) {
	if xyz := parsePlace(v); xyz != nil {
		data, _ := EncodeJSON(xyz)
		return []string{"spatial", "position"}, xyz, string(data)
	}
	if xyz, _ := Coordinates(v); xyz != nil {
		return []string{"spatial", "position"}, v, ""
	}

	pose, _ := v.(map[string]any)
	if pose["position"] != nil || pose["pose"] != nil {
		return []string{"spatial", "pose"}, v, ""
	}

	return nil, v, ""
}

// readPosition reads spatial.position of a context as coordinates if it is a text such as "x=1 y=2",
// which no search by place would find.
func (r *requestReader) readPosition(context Object) {
	const path = "spatial.position"
	spatial, _ := context["spatial"].(map[string]any)
	xyz := parsePlace(spatial["position"])
	if _, isText := spatial["position"].(string); !isText || xyz == nil {
		return
	}

	data, _ := EncodeJSON(xyz)
	r.note("context."+path, "%q taken as %s", abbreviate(fmt.Sprint(spatial["position"])), data)
	spatial["position"] = xyz
}

// putInContext stores a value at a path of a context, and refuses it if another one is there.
func putInContext(context *Object, f foreign, value any, path ...string) error {
	if *context == nil {
		*context = Object{}
	}
	if old, ok := context.At(strings.Join(path, ".")); ok && sameValue(old, value) {
		// Also under a key with dots.
		return nil
	}

	for i := len(path) - 1; i > 0; i-- {
		value = map[string]any{path[i]: value}
	}
	at, old := merge(*context, path[0], value)
	if at == "" {
		return nil
	}
	data, _ := EncodeJSON(old)

	return Errorf(Invalid, f.name, "is %s, but context.%s is %s; leave one out", f.shown(), at,
		abbreviate(string(data)))
}

// merge stores a value under a key, objects key by key. It returns the path of another value that is
// there already, empty if there is none.
func merge(into map[string]any, key string, value any) (at string, old any) {
	old, exists := into[key]
	if !exists {
		into[key] = value
		return "", nil
	}

	fields, isObject := value.(map[string]any)
	inner, both := old.(map[string]any)
	if !isObject || !both {
		if sameValue(old, value) {
			return "", nil
		}
		return key, old
	}

	// Sorted, so that the error names the same path each time.
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if at, old := merge(inner, k, fields[k]); at != "" {
			return key + "." + at, old
		}
	}

	return "", nil
}

func sameValue(a, b any) bool {
	one, err := CanonicalJSON(a)
	other, err2 := CanonicalJSON(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

// urlHeader matches the beginning of a data: URL with a media type.
var urlHeader = regexp.MustCompile(`^data:([\w.+-]+/[\w.+-]+)(?:;[\w-]+=[^,;\s]*)*(;base64)?,`)

// dataURL returns the media type and the bytes of a data: URL. ok is false for any other text.
func dataURL(text string) (mediaType string, payload []byte, ok bool, err error) {
	// Most payloads are no URL and may be long: the prefix is cheaper than the pattern.
	if !strings.HasPrefix(text, "data:") {
		return "", nil, false, nil
	}

	// On a whole payload without a comma the pattern would read megabytes.
	header := urlHeader.FindStringSubmatch(text[:min(len(text), maxURLHeader)])
	if header == nil {
		return "", nil, false, nil
	}

	text = text[len(header[0]):]
	if header[2] != "" {
		payload, err = base64.StdEncoding.DecodeString(text)
		if err != nil {
			// Some encoders leave out the padding.
			payload, err = base64.RawStdEncoding.DecodeString(text)
		}
		return header[1], payload, true, err
	}

	// A bad escape means that this is an ordinary text that begins like a URL, with % in it.
	plain, err := url.PathUnescape(text)
	if err != nil {
		return "", nil, false, nil
	}

	return header[1], []byte(plain), true, nil
}

const maxURLHeader = 256 // bytes
