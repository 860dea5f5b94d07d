package attach

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	// maxDifferences bounds what a fact says of the nearest success.
	maxDifferences = 4
	// Numbers of a moment that differ by less than this share are not worth a word.
	alike = 0.1
)

// compare adds to a failed goal what differed when such a goal succeeded: that of the same task that ended
// nearest to where this one did, of several the newest. Without one it adds nothing.
func (w *worker) compare(ctx context.Context, fact *events.Fact) {
	task, _, _ := goalOf(fact.Context)
	parse := false
	req := &robotmem.RecallRequest{
		Collection: w.f.o.Collection, N: 1, Type: "fact", ParseTime: &parse, MinConfidence: new(float64),
		ContextFilter: robotmem.Object{
			"outcome": robotmem.OutcomeSuccess, "event.goal": true, "task.name": task,
		},
	}
	if at, frame, mapID, ok := placeOf(robotmem.Object{"spatial": fact.Spatial}); ok {
		req.SpatialSort = &robotmem.SpatialSort{Field: "spatial.pose", Target: at[:], FrameID: frame, MapID: mapID}
	}

	res, err := w.f.o.Node.Recall(ctx, req)
	if err != nil || len(res.Memories) == 0 {
		return // the failure is stored without it
	}

	success := &res.Memories[0]
	differs := differences(success.Context, fact.Context)
	if len(differs) == 0 {
		return
	}

	var said []string
	changed := map[string]any{}

	for _, d := range differs[:min(len(differs), maxDifferences)] {
		said = append(said, fmt.Sprintf("%s was %v, now %v", strings.TrimPrefix(d.path, "params."), d.then, d.now))
		changed[strings.ReplaceAll(d.path, ".", "/")] = []any{d.then, d.now}
	}
	fact.Text = importers.Cut(fact.Text+" (when it succeeded: "+strings.Join(said, ", ")+")", maxText)
	event, _ := fact.Context["event"].(map[string]any)
	event = maps.Clone(event)
	if event == nil {
		event = map[string]any{}
	}
	event["differs"], event["success"] = changed, success.UID
	fact.Context["event"] = event
}

// maxText bounds the text of a fact, in bytes.
const maxText = 1000

// difference is one value that two contexts do not share.
type difference struct {
	path      string
	then, now any
}

// differences lists the parameters, and the numbers of the moment, that both contexts have and that differ.
// Parameters come first.
func differences(then, now map[string]any) []difference {
	var out []difference

	for _, section := range []string{"params", "env"} {
		before, after := leavesOf(section, then[section]), leavesOf(section, now[section])
		for _, path := range slices.Sorted(maps.Keys(after)) {
			old, known := before[path]
			x, xok := events.Number(old)

			y, yok := events.Number(after[path])
			switch {
			case !known:
			case xok && yok:
				if x != y && (section == "params" || math.Abs(x-y) > alike*max(math.Abs(x), math.Abs(y))) {
					out = append(out, difference{path, old, after[path]})
				}
			case fmt.Sprint(old) != fmt.Sprint(after[path]):
				out = append(out, difference{path, old, after[path]})
			}
		}
	}

	return out
}

// leavesOf returns the values below a path that are no objects, by their path.
func leavesOf(path string, v any) map[string]any {
	out := map[string]any{}
	if inner, ok := v.(map[string]any); ok {
		for key, value := range inner {
			maps.Copy(out, leavesOf(path+"."+key, value))
		}
		return out
	}
	if v != nil {
		out[path] = v
	}

	return out
}
