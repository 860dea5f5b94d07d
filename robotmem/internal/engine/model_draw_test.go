package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"pgregory.net/rapid"
)

// Requests are drawn from a small set of values, so that facts are duplicates,
// contradict each other and are similar, and queries find some of them.

var (
	modelWords       = []string{"kamo", "tiru", "senpol", "vaxdim", "gorlun", "bamik", "dovex", "wulan"}
	modelCollections = []string{"default", "arm7", "site-b"}
	modelTags        = []string{"red", "green", "blue"}
	unknownSession   = "0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e"
)

const (
	negation = "never "
	lesson   = "lesson learned: "
)

func drawText(t *rapid.T) string {
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "", "", "", negation, lesson}).Draw(t, "begins"))
	b.WriteString(rapid.SampledFrom([]string{"", "", "force=5 N ", "force=9 N "}).Draw(t, "number"))
	words := rapid.SliceOfNDistinct(rapid.SampledFrom(modelWords), 1, 6, rapid.ID).Draw(t, "words")
	b.WriteString(strings.Join(words, " "))
	return b.String()
}

// situation is a context with few values.
type situation struct {
	success, task string // as JSON; "" for none
	force         string
	place, frame  string
	try           string
	real          bool
}

func drawSituation(t *rapid.T) situation {
	some := func(label string, of ...string) string {
		return rapid.SampledFrom(append([]string{"", ""}, of...)).Draw(t, label)
	}
	if rapid.Bool().Draw(t, "bare") {
		return situation{}
	}
	s := situation{success: some("success", "true", "false"), task: some("task", `"lift"`, `"pour"`), force: some("force", "1", "12.5", "30", `"soft"`),
		place: some("place", "[0,0]", "[3,4]", "[1,1,1]", "[2.5,-1]"), try: some("try", "1", "2"), real: some("real", "yes") != ""}
	if s.place != "" {
		s.frame = some("frame", `"map"`, `"odom"`)
	}
	return s
}

// object is the context of a response, with numbers as spelled in the request.
func (s situation) object() robotmem.Object {
	section := func(pairs ...string) string {
		var members []string
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				members = append(members, fmt.Sprintf("%q:%s", pairs[i], pairs[i+1]))
			}
		}
		if len(members) == 0 {
			return ""
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	env := ""
	if s.real {
		env = `{"sim_or_real":"real"}`
	}
	whole := section("task", section("success", s.success, "name", s.task), "params", section("force", s.force),
		"spatial", section("position", s.place, "frame_id", s.frame), "try", s.try, "env", env)
	if whole == "" {
		return nil
	}
	var out robotmem.Object
	if err := json.Unmarshal([]byte(whole), &out); err != nil {
		panic(err) // made above
	}
	return out
}

func (s situation) position() []float64 {
	var xyz []float64
	if s.place != "" && json.Unmarshal([]byte(s.place), &xyz) != nil {
		panic("a place that is none: " + s.place)
	}
	return xyz
}

// drawSession returns "", a session, or an id that does not exist.
func (w *world) drawSession(t *rapid.T) string {
	ids := []string{"", "", unknownSession}
	for _, s := range w.sessions {
		ids = append(ids, s.id, s.id)
	}
	return rapid.SampledFrom(ids).Draw(t, "session")
}

// drawID returns the id of a memory, or one that does not exist.
func (w *world) drawID(t *rapid.T) int64 {
	if len(w.memories) == 0 || rapid.IntRange(0, 19).Draw(t, "unknown") == 0 {
		return 987654
	}
	return rapid.SampledFrom(w.memories).Draw(t, "memory").id
}

func (w *world) drawLearn(t *rapid.T) *robotmem.LearnRequest {
	return &robotmem.LearnRequest{
		Insight: drawText(t), Context: drawSituation(t).object(), SessionID: w.drawSession(t),
		Collection: rapid.SampledFrom(append([]string{"", ""}, modelCollections...)).Draw(t, "collection"),
		Tags:       rapid.SliceOfNDistinct(rapid.SampledFrom(modelTags), 0, 2, rapid.ID).Draw(t, "tags"),
		Pinned:     rapid.SampledFrom([]*bool{nil, nil, nil, new(true), new(false)}).Draw(t, "pinned"),
		Source:     rapid.SampledFrom([]string{"", "arm"}).Draw(t, "source"),
	}
}

// situationOf returns the context of a drawn request.
func situationOf(o robotmem.Object) situation {
	text := func(v any) string {
		if v == nil {
			return ""
		}
		data, err := json.Marshal(v)
		if err != nil {
			panic(err) // it was JSON
		}
		return string(data)
	}
	section := func(name string) map[string]any { m, _ := o[name].(map[string]any); return m }
	return situation{
		success: text(section("task")["success"]), task: text(section("task")["name"]), force: text(section("params")["force"]),
		place: text(section("spatial")["position"]), frame: text(section("spatial")["frame_id"]), try: text(o["try"]), real: section("env") != nil,
	}
}
