package recall

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Tokens of the parts of an answer, as text.Tokens estimates them.
const (
	compactTokens = 110 // a memory in compact form, as JSON: a longer text is cut
	paramTokens   = 14  // its parameters
	valueTokens   = 10  // one value
	leastText     = 80  // its text: facts give way to it

	neighbourTokens = 30 // the text of a neighbour, beside these
)

// Present reduces the memories of a response to the detail that the request asks for
// and drops the last ones until the response fits max_tokens.
func Present(r *robotmem.RecallRequest, res *robotmem.RecallResponse, now time.Time) {
	if r.MaxTokens == 0 && r.Detail != robotmem.DetailCompact && r.Detail != robotmem.DetailIDs {
		return
	}

	whole := res.Memories
	w := NewWriter(whole, now)
	w.collections = r.Collection == robotmem.AllCollections || strings.Contains(r.Collection, ",")

	all := slices.Clone(whole)
	for i := range all {
		switch r.Detail {
		case robotmem.DetailCompact:
			all[i] = w.compact(&whole[i])
		case robotmem.DetailIDs:
			all[i] = short(&whole[i])
		}
	}

	res.Memories = all
	if r.MaxTokens == 0 {
		return
	}

	// Measure the response without memories first. More is set because its digits count too.
	res.Memories, res.More = all[:0], len(all)

	left := r.MaxTokens - TokensOf(res)
	for i := range all {
		left -= TokensOf(all[i])

		// The first memory is always returned, in compact form if it does not fit, because an empty answer would
		// read as if nothing was found.
		if left < 0 && i == 0 {
			all[0], left = w.compact(&whole[0]), 0
		} else if left < 0 {
			break
		}
		res.Memories = all[:i+1]
	}

	res.More, res.Total = len(all)-len(res.Memories), len(res.Memories)
}

// Lines returns memories in compact form.
func Lines(ms []robotmem.Memory, now time.Time) []robotmem.MemoryLine {
	w, out := NewWriter(ms, now), make([]robotmem.MemoryLine, len(ms))
	for i := range ms {
		out[i] = robotmem.MemoryLine{MemoryID: ms[i].MemoryID, Line: w.compact(&ms[i]).Line}
	}
	return out
}

// short returns a memory with its id and score alone.
func short(m *robotmem.Memory) robotmem.Memory {
	out := identified(m)
	if m.Score != nil {
		out.Score = new(math.Round(*m.Score*100) / 100)
	}
	return out
}

// identified returns a memory with its id alone: a memory of the site has no memory_id here, and keeps its uid.
func identified(m *robotmem.Memory) robotmem.Memory {
	if m.MemoryID == 0 {
		return robotmem.Memory{UID: m.UID, Scope: m.Scope}
	}
	return robotmem.Memory{MemoryID: m.MemoryID}
}

// nameOf returns how a line names a memory: by its memory_id, or by its uid if it is at the site.
func nameOf(m *robotmem.Memory) string {
	if m.MemoryID == 0 {
		return m.UID
	}
	return strconv.FormatInt(m.MemoryID, 10)
}

// Writer writes the memories of one answer as lines and repeats no text.
type Writer struct {
	now         time.Time
	collections bool           // name the collection of each memory
	authors     bool           // name who stored each memory: not all are by one
	values      map[string]int // by parameter: the number of different values in the answer
	written     []written
}

// written is a memory and the text that its line shows.
type written struct {
	*robotmem.Memory
	shown string
}

// NewWriter returns a Writer for an answer with these memories.
func NewWriter(ms []robotmem.Memory, now time.Time) *Writer {
	w := &Writer{now: now, values: map[string]int{}}
	seen := map[Leaf]bool{}

	for i := range ms {
		w.authors = w.authors || authorOf(&ms[i]) != authorOf(&ms[0])
		for _, p := range parameters(ms[i].Context) {
			if !seen[p] {
				seen[p] = true
				w.values[p.Path]++
			}
		}
	}

	return w
}

func (w *Writer) compact(m *robotmem.Memory) robotmem.Memory {
	// The score is left out, because it only compares a memory with the others and the order shows that.
	c := identified(m)
	c.Line = w.Line(m, compactTokens-TokensOf(c)-3) // 3 for the key "line"
	c.Before, c.After = clipped(m.Before), clipped(m.After)
	return c
}

func clipped(all []robotmem.Neighbour) (out []robotmem.Neighbour) {
	for _, n := range all {
		shown := text.ClipTokens(OneLine(n.Text), neighbourTokens)
		out = append(out, robotmem.Neighbour{MemoryID: n.MemoryID, Text: shown})
	}
	return out
}

// Line describes a memory in one line of about the given number of tokens: outcome,
// parameters, place, time and record, then a colon and the text. The text is last, so
// that nothing in it reads as one of the facts before it.
func (w *Writer) Line(m *robotmem.Memory, tokens int) string {
	content := OneLine(m.Content)
	if m.Type == "perception" && m.Summary != "" && m.Summary != m.Content {
		content = text.ClipTokens(content, tokens/3) + " | " + OneLine(m.Summary)
	}

	// Facts use only the tokens that the first leastText tokens of the text leave. A fact that does not fit is
	// skipped, because a shorter one after it may fit.
	var facts []string
	left := tokens - min(text.Tokens(content), leastText)

	// A text chooses its own length, so its origin does not give way to it.
	origin := OneLine(w.origin(m))
	if origin != "" {
		left -= text.Tokens(origin) + 1
	}

	for _, fact := range w.facts(m, origin) {
		fact = OneLine(fact)
		switch n := text.Tokens(fact) + 1; {
		case fact == "":
		case fact == origin:
			facts = append(facts, fact)
		case n <= left:
			left -= n
			facts = append(facts, fact)
		}
	}

	head := strings.Join(facts, ", ")
	if head != "" {
		head += ": "
	}

	return head + w.once(m, text.ClipMiddle(content, tokens-text.Tokens(head)))
}

// once returns the shown text of a memory, or a reference to the line that has shown the same text already.
func (w *Writer) once(m *robotmem.Memory, shown string) string {
	begins := func(long, short string) bool {
		cut, isCut := strings.CutSuffix(short, "…")
		return long == short || isCut && strings.HasPrefix(long, cut)
	}

	for _, b := range w.written {
		switch {
		case b.Content == m.Content:
			return "text of " + nameOf(b.Memory)
		case begins(b.shown, shown), begins(shown, b.shown):
			return "begins as " + nameOf(b.Memory)
		}
	}
	w.written = append(w.written, written{m, shown})

	return shown
}

// OneLine replaces line breaks by spaces and shows hidden characters.
func OneLine(s string) string { return robotmem.Visible(strings.Join(strings.Fields(s), " ")) }

// facts returns the facts that a line states before the text of a memory, the most important first.
func (w *Writer) facts(m *robotmem.Memory, origin string) []string {
	var facts []string
	if m.Type == "perception" {
		facts = append(facts, m.PerceptionType+" "+m.MediaType)
	}
	if record.Proposed(m) {
		facts = append(facts, "proposed by a model and not confirmed")
	}
	if m.Outcome != robotmem.OutcomeUnknown {
		facts = append(facts, m.Outcome)
	}

	facts = append(facts, w.parameters(m))
	if i := slices.IndexFunc(m.Conflicts, func(c robotmem.ConflictWith) bool { return c.Newer }); i >= 0 {
		facts = append(facts, fmt.Sprintf("%d is newer", m.Conflicts[i].MemoryID))
	}

	// The time of day matters only for recent memories.
	when := time.DateOnly
	if age := w.now.Sub(m.ObservedAt); age >= 0 && age < 48*time.Hour {
		when = "2006-01-02 15:04 UTC"
	}

	facts = append(facts, m.ObservedAt.UTC().Format(when), origin)
	if m.Distance != nil {
		facts = append(facts, fmt.Sprintf("%.3g away", *m.Distance))
	}
	if m.Sightings > 1 {
		facts = append(facts, fmt.Sprintf("seen %d times", m.Sightings))
	}

	facts = append(facts, m.Record, placeOf(m.Context))
	// The outcome of the episode is less certain than that of the memory, so it is shown only without the latter.
	if m.Outcome == robotmem.OutcomeUnknown && m.EpisodeOutcome != "" {
		facts = append(facts, episodeWords[m.EpisodeOutcome])
	}
	if w.collections {
		facts = append(facts, m.Collection)
	}

	return facts
}

// origin returns where a memory comes from: the source that its writer named, and who the writer was if the
// answer has several. That of a passage is its place in its document.
func (w *Writer) origin(m *robotmem.Memory) string {
	origin := ""
	if label := robotmem.DocumentLabel(m); label != "" {
		return unlike(robotmem.Clip(label, maxLabel), ":")
	}
	if m.Source != "" {
		origin = "from " + named(m.Source)
	}
	if author := authorOf(m); w.authors && author != "" {
		origin += " by " + named(author)
	}

	return strings.TrimSpace(origin)
}

func authorOf(m *robotmem.Memory) string {
	if m.Provenance == nil {
		return ""
	}
	return m.Provenance.Who
}

const maxLabel = 100 // characters of the place of a passage in a line

const maxName = 32 // characters of a source or an author in a line

// named returns a name that a caller chose, for a line. A name with other characters than those of usual names is
// quoted, so that it cannot be read as another part of the line.
func named(name string) string {
	name = robotmem.Clip(robotmem.Visible(name), maxName)
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/@+…", r)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(name)
	}

	return name
}

// episodeWords describe the outcome of an episode, for a memory whose own outcome is unknown.
var episodeWords = map[string]string{
	robotmem.OutcomeSuccess: "in an episode that succeeded", robotmem.OutcomeFailure: "in an episode that failed",
	robotmem.OutcomePartial: "in an episode that succeeded in part",
}

// parameters returns the parameters of a memory that fit a line and that its text does not
// state. Those that have several values in the answer come first.
func (w *Writer) parameters(m *robotmem.Memory) string {
	ps := parameters(m.Context)
	slices.SortStableFunc(ps, func(x, y Leaf) int { return cmp.Compare(w.values[y.Path], w.values[x.Path]) })

	var out []string
	left := paramTokens

	for _, p := range ps {
		s := unlike(p.Path, " ,:=") + "=" + unlike(p.Value, ",:")
		if n := text.Tokens(s) + 1; n <= left && !says(m.Content, p) {
			left -= n
			out = append(out, s)
		}
	}

	return strings.Join(out, " ")
}

// unlike quotes a text of a caller that holds one of the characters which separate the parts of a line.
func unlike(s, separators string) string {
	if strings.ContainsAny(s, separators+"\"\n\r") {
		return strconv.Quote(s)
	}
	return s
}

// says reports whether a text states a parameter under its name, as in "force=12.5 N".
func says(content string, p Leaf) bool {
	_, after, found := strings.Cut(content, p.Path[strings.LastIndexByte(p.Path, '.')+1:])
	after, has := strings.CutPrefix(strings.TrimLeft(after, " =:"), p.Value)
	return found && has && strings.TrimLeft(after, ".0123456789") == after
}

// parameters returns the parameters of a context: params, or else the values outside
// of the known sections, and env.
func parameters(context robotmem.Object) []Leaf {
	params, ok := context["params"]
	if !ok {
		params = map[string]any(context)
	}

	return slices.DeleteFunc(append(Leaves("", params), Leaves("", context["env"])...), func(p Leaf) bool {
		top, _, _ := strings.Cut(p.Path, ".")
		return p.Path == "" || slices.Contains(sections, top) || text.Tokens(p.Value) > valueTokens
	})
}

// placeOf returns where a memory was made: the first coordinates and the first name.
func placeOf(context robotmem.Object) string {
	at, name := "", ""

	for _, section := range placeSections {
		for _, l := range Leaves("", context[section]) {
			switch {
			case l.Point:
				at = cmp.Or(at, l.Value)
			case l.Path != "frame_id":
				name = cmp.Or(name, unlike(l.Value, ",:"))
			}
		}
	}
	if at+name == "" {
		return ""
	}

	return strings.Join(strings.Fields("at "+at+" "+name), " ")
}

// placeSections are the sections of a context that describe a place.
var placeSections = []string{"spatial", "place", "location", "room"}

// sections are the keys of a context that are no parameters.
var sections = append([]string{
	"params", "env", "robot", "task", "success", "outcome", "result", "status", "attempt", robotmem.DocumentSection,
}, placeSections...)

// Leaf is a value of a context with its path.
type Leaf struct {
	Path, Value string
	Point       bool // coordinates or joints
}

// Leaves returns the values in v in the order of their paths. A quantity, coordinates and
// a list are one value.
func Leaves(path string, v any) (out []Leaf) {
	m, isObject := v.(map[string]any)
	_, isText := v.(string)
	if xyz, earth := robotmem.Coordinates(v); xyz != nil && !isText {
		// Coordinates are rounded to a centimetre, and latitude and longitude to about a metre.
		digits := 100.0
		if earth {
			digits = 1e5
		}

		for i := range xyz {
			xyz[i] = math.Round(xyz[i]*digits) / digits
		}

		return []Leaf{{path, strings.ReplaceAll(strings.Trim(fmt.Sprint(xyz), "[]"), " ", ","), true}}
	}

	if unit, ok := m["unit"].(string); ok && m["value"] != nil {
		v, isObject = fmt.Sprint(m["value"], " ", unit), false
	}

	if isObject {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			out = append(out, Leaves(strings.TrimPrefix(path+"."+key, "."), m[key])...)
		}
	}

	if !isObject && v != nil && v != "" {
		out = append(out, Leaf{path, strings.TrimSuffix(fmt.Sprint(v), ".0"), false})
	}

	return out
}

// IsText reports whether a value does not begin as a number or a list.
func IsText(value string) bool { return strings.IndexAny(value, "-0123456789[") != 0 }

// TokensOf estimates the tokens of the JSON of v.
func TokensOf(v any) int {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return 0
	}
	return text.Tokens(string(data))
}
