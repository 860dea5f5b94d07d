package recall

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Tokens of the parts of an answer, as text.Tokens estimates them.
const (
	compactTokens = 60 // a memory in compact form, as JSON
	paramTokens   = 14 // its parameters
	valueTokens   = 10 // one value
	leastText     = 12 // its text: facts give way to it
	sharedText    = 8  // the beginning that a long text has in common with another and does not repeat
	maxWord       = 20 // bytes
)

// Present reduces the memories of a response to the detail that the request asks for
// and drops the last ones until the response fits max_tokens.
func Present(r *robotmem.RecallRequest, res *robotmem.RecallResponse, now time.Time) {
	whole, w := res.Memories, NewWriter(res.Memories, now)
	w.collections = r.Collection == "*"
	if r.Detail == robotmem.DetailCompact || r.Detail == robotmem.DetailIDs {
		res.Memories = make([]robotmem.Memory, len(whole))
		for i := range whole {
			if res.Memories[i] = short(&whole[i]); r.Detail == robotmem.DetailCompact {
				res.Memories[i] = w.compact(&whole[i])
			}
		}
	}
	if r.MaxTokens == 0 {
		return
	}
	all := res.Memories
	res.Memories, res.More = all[:0:0], len(all)
	left := r.MaxTokens - TokensOf(res)
	for i := range all {
		if left -= TokensOf(all[i]); left < 0 && i == 0 { // the best one is not dropped
			all[0], left = w.compact(&whole[0]), 0
		} else if left < 0 {
			break
		}
		res.Memories = append(res.Memories, all[i])
	}
	res.More, res.Total = len(all)-len(res.Memories), len(res.Memories)
}

// Compact returns the memories of an answer in compact form.
func Compact(ms []robotmem.Memory, now time.Time) []robotmem.Memory {
	w, out := NewWriter(ms, now), make([]robotmem.Memory, len(ms))
	for i := range ms {
		out[i] = w.compact(&ms[i])
	}
	return out
}

// short returns a memory with its id and score alone.
func short(m *robotmem.Memory) robotmem.Memory {
	out := robotmem.Memory{MemoryID: m.MemoryID}
	if m.Score != nil {
		out.Score = new(math.Round(*m.Score*100) / 100)
	}
	return out
}

// Writer writes the memories of one answer as lines and repeats no text.
type Writer struct {
	now         time.Time
	collections bool                       // name the collection of each memory
	values      map[string]map[string]bool // of each parameter in the answer
	written     []*robotmem.Memory
}

// NewWriter returns a Writer for an answer with these memories.
func NewWriter(ms []robotmem.Memory, now time.Time) *Writer {
	w := &Writer{now: now, values: map[string]map[string]bool{}}
	for i := range ms {
		for _, p := range parameters(ms[i].Context) {
			if w.values[p.path] == nil {
				w.values[p.path] = map[string]bool{}
			}
			w.values[p.path][p.value] = true
		}
	}
	return w
}

func (w *Writer) compact(m *robotmem.Memory) robotmem.Memory {
	c := short(m)
	c.Line = w.Line(m, compactTokens-TokensOf(c)-3) // 3 for its key
	return c
}

// Line describes a memory in one line of about the given number of tokens: outcome,
// parameters, place, time and record, then a colon and the text. The text is last, so
// that nothing in it reads as one of the facts before it.
func (w *Writer) Line(m *robotmem.Memory, tokens int) string {
	content := w.textOf(m, tokens)
	w.written = append(w.written, m)
	var facts []string
	left := tokens - min(text.Tokens(content), leastText)
	for _, fact := range w.facts(m, content) {
		if n := text.Tokens(fact) + 1; fact != "" && n <= left {
			left -= n
			facts = append(facts, fact)
		}
	}
	age := w.now.Sub(m.ObservedAt)
	if left -= text.Tokens(content) - min(text.Tokens(content), leastText); age >= 0 && age < 48*time.Hour && left > 6 {
		facts = append(facts, m.ObservedAt.UTC().Format("15:04 UTC"))
	}
	head := strings.Join(facts, ", ")
	if head != "" {
		head += ": "
	}
	return head + text.ClipTokens(content, tokens-text.Tokens(head))
}

// textOf returns the text of a memory in one line. A text that begins as one that is
// already written names that memory and how it differs.
func (w *Writer) textOf(m *robotmem.Memory, tokens int) string {
	for _, b := range w.written {
		same := commonPrefix(b.Content, m.Content)
		switch {
		case b.Content == m.Content:
			return fmt.Sprintf("text of %d", b.MemoryID)
		case text.Tokens(m.Content[:same]) >= sharedText && text.Tokens(m.Content) > leastText:
			if at := strings.LastIndexByte(m.Content[:same], ' '); at > same-maxWord {
				same = at
			}
			return fmt.Sprintf("as %d, but ends: %s", b.MemoryID, OneLine(m.Content[same:]))
		}
	}
	content := OneLine(m.Content)
	if m.Type == "perception" && m.Summary != "" && m.Summary != m.Content {
		content = text.ClipTokens(content, tokens/3) + " | " + OneLine(m.Summary)
	}
	return content
}

// OneLine replaces line breaks by spaces and shows hidden characters.
func OneLine(s string) string { return robotmem.Visible(strings.Join(strings.Fields(s), " ")) }

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// facts returns what a line says of a memory before its text, the most important first.
// It leaves out parameters that the text states.
func (w *Writer) facts(m *robotmem.Memory, content string) []string {
	facts := []string{"", w.parameters(m, content)}
	if m.Outcome != robotmem.OutcomeUnknown {
		facts[0] = m.Outcome
	}
	for _, c := range m.Conflicts {
		if c.Newer {
			facts = append(facts, fmt.Sprintf("%d is newer", c.MemoryID))
			break
		}
	}
	if m.Type == "perception" {
		facts = append([]string{m.PerceptionType + " " + m.MediaType}, facts...)
	}
	facts = append(facts, m.ObservedAt.UTC().Format(time.DateOnly))
	if m.Distance != nil {
		facts = append(facts, fmt.Sprintf("%.3g away", *m.Distance))
	}
	if m.Sightings > 1 {
		facts = append(facts, fmt.Sprintf("seen %d times", m.Sightings))
	}
	facts = append(facts, m.Record, placeOf(m.Context))
	if w.collections {
		facts = append(facts, m.Collection)
	}
	return facts
}

// parameters returns the parameters of a memory that fit a line. Those that have
// several values in the answer come first.
func (w *Writer) parameters(m *robotmem.Memory, content string) string {
	ps := parameters(m.Context)
	slices.SortStableFunc(ps, func(x, y parameter) int { return cmp.Compare(len(w.values[y.path]), len(w.values[x.path])) })
	var out []string
	left := paramTokens
	for _, p := range ps {
		if n := text.Tokens(p.String()) + 1; n <= left && !says(content, p) {
			left -= n
			out = append(out, p.String())
		}
	}
	return strings.Join(out, " ")
}

// parameter is a value of a context with its path, which begins below params.
type parameter struct{ path, value string }

func (p parameter) String() string { return p.path + "=" + p.value }

// parameters returns the parameters of a context: params, or else the values outside
// of the known sections, and env.
func parameters(context robotmem.Object) (out []parameter) {
	add := func(path, value string) {
		if top, _, _ := strings.Cut(path, "."); path != "" && !slices.Contains(sections, top) {
			out = append(out, parameter{path, value})
		}
	}
	if params, ok := context["params"]; ok {
		values("", params, add)
	} else {
		values("", map[string]any(context), add)
	}
	values("", context["env"], add)
	return out
}

// placeOf returns where a memory was made: the first coordinates and the first name.
func placeOf(context robotmem.Object) string {
	at, name := "", ""
	for _, section := range placeSections {
		values("", context[section], func(path, value string) {
			switch {
			case strings.Contains(value, ","):
				at = cmp.Or(at, value)
			case path != "frame_id":
				name = cmp.Or(name, value)
			}
		})
	}
	return strings.TrimSuffix(strings.TrimSpace("at "+strings.TrimSpace(at+" "+name)), "at")
}

// placeSections are the sections of a context that say where.
var placeSections = []string{"spatial", "place", "location", "room"}

// sections are the keys of a context that are no parameters.
var sections = append([]string{"params", "env", "robot", "task", "success", "outcome", "result", "status"}, placeSections...)

// values calls yield with the path and the text of every short value in v, in the
// order of the paths. A quantity, coordinates and a short list of numbers are one value.
func values(path string, v any, yield func(path, value string)) {
	switch v := v.(type) {
	case map[string]any:
		if unit, ok := v["unit"].(string); ok && v["value"] != nil {
			yield(path, fmt.Sprint(v["value"], " ", unit))
			return
		}
		if v["x"] != nil && v["y"] != nil {
			values(path, slices.DeleteFunc([]any{v["x"], v["y"], v["z"]}, func(c any) bool { return c == nil }), yield)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			values(strings.TrimPrefix(path+"."+key, "."), v[key], yield)
		}
	case []any:
		var parts []string
		for _, e := range v[:min(len(v), 4)] {
			n, ok := e.(json.Number)
			f, err := n.Float64()
			if !ok || err != nil || len(v) > 3 {
				return
			}
			parts = append(parts, strconv.FormatFloat(math.Round(f*100)/100, 'g', -1, 64))
		}
		yield(path, strings.Join(parts, ","))
	case nil:
	default:
		value := strings.Join(strings.Fields(fmt.Sprint(v)), " ")
		if n, ok := v.(json.Number); ok && strings.HasSuffix(value, ".0") {
			value = strings.TrimSuffix(n.String(), ".0")
		}
		if value != "" && text.Tokens(value) <= valueTokens {
			yield(path, robotmem.Visible(value))
		}
	}
}

// says reports whether a text states a parameter under its name, as in "force=12.5 N",
// or holds the whole of a long value.
func says(content string, p parameter) bool {
	if len(p.value) > 20 && strings.Contains(content, p.value) {
		return true
	}
	_, after, found := strings.Cut(content, p.path[strings.LastIndexByte(p.path, '.')+1:])
	after, has := strings.CutPrefix(strings.TrimLeft(after, " =:"), p.value)
	return found && has && !strings.HasPrefix(after, ".") && strings.TrimLeft(after, "0123456789") == after
}

// TokensOf estimates the tokens of the JSON of v.
func TokensOf(v any) int {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return 0
	}
	return text.Tokens(string(data))
}
