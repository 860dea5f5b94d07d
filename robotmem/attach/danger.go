package attach

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

const (
	// Failures within this distance are one danger, in metres.
	clusterRadius = 2.0
	// Goals whose targets are this near are the same, in metres.
	goalRadius = 0.5
	// Failures of one robot within this time are one incident.
	sameIncident = time.Minute
	// So many successes after the last failure end a danger.
	masteredAfter = 2
	// So many facts of each kind count, the newest.
	newest = 1000
	// The memory is asked again after this time, and after each incident.
	refreshEvery = 30 * time.Second
)

// danger is a place, or a goal, at which something went wrong.
type danger struct {
	key   string
	kind  string // place or goal
	at    [3]float64
	frame string
	mapID string
	task  string // of a goal

	failures  []happened // incidents
	successes []happened
	reasons   []string // what was said, most telling first
	robots    map[string]bool
	advice    string
	suggested map[string]any // by path
	last      int64          // the newest memory that tells of it
}

// happened is one attempt.
type happened struct {
	at     time.Time
	robot  string
	params map[string]string // by path
}

// since are the successes after the last failure.
func (d *danger) since() []happened {
	last := d.failures[len(d.failures)-1].at
	return slices.DeleteFunc(slices.Clone(d.successes), func(s happened) bool { return !s.at.After(last) })
}

// open reports whether nothing shows that the danger is mastered with the parameters of the moment. It is
// mastered after two successes, unless a parameter has a value that failed and that none of them had.
func (d *danger) open(params map[string]string) bool {
	if len(d.failures) == 0 {
		return false
	}

	since := d.since()
	if len(since) < masteredAfter {
		return true
	}

	for path, value := range params {
		has := func(h happened) bool { return h.params[path] == value }
		other := func(h happened) bool { return h.params[path] != "" && h.params[path] != value }
		if slices.ContainsFunc(d.failures, has) && !slices.ContainsFunc(since, has) && slices.ContainsFunc(since, other) {
			return true
		}
	}

	return false
}

// paramsOf returns the parameters of a context as texts, by path.
func paramsOf(context map[string]any) map[string]string {
	out := map[string]string{}

	for path, v := range leavesOf("params", context["params"]) {
		if n, ok := events.Number(v); ok {
			v = n // 0.80 is 0.8
		}
		out[path] = fmt.Sprint(v)
	}

	return out
}

// distance returns the distance of a position in metres. Height counts only between positions that have one.
func (d *danger) distance(p [3]float64) float64 {
	return math.Hypot(math.Hypot(d.at[0]-p[0], d.at[1]-p[1]), d.at[2]-p[2])
}

// asker asks the memory for dangers.
type asker struct {
	node       robotmem.Service
	collection string
	since      time.Time // of the first message of this run of the program
}

// odometryFrame is the frame of poses that no map corrects.
const odometryFrame = "odom"

// failures are found by what they are, whoever stored them: a rule, an agent or another robot.
func (a *asker) failures(ctx context.Context) ([]robotmem.Memory, error) {
	return a.list(ctx, robotmem.Object{"outcome": robotmem.OutcomeFailure, positionPath: map[string]any{"$exists": true}})
}

// passes are the facts that this package stores when a danger was passed without a failure.
func (a *asker) passes(ctx context.Context) ([]robotmem.Memory, error) {
	return a.list(ctx, robotmem.Object{"event.rule": passRule})
}

// goals are the facts about goals that ended, of which the failed ones make dangers of their own.
func (a *asker) goals(ctx context.Context) ([]robotmem.Memory, error) {
	return a.list(ctx, robotmem.Object{"event.goal": true})
}

// positionPath is where facts have the position of the robot.
const positionPath = "spatial.pose.position"

// list returns the newest facts that pass a filter. Unlike a recall it leaves no trace in the statistics of the
// memory, which would count the dangers as asked for every half minute.
func (a *asker) list(ctx context.Context, filter robotmem.Object) ([]robotmem.Memory, error) {
	res, err := a.node.List(ctx, &robotmem.ListRequest{
		Collection: cmp.Or(a.collection, robotmem.DefaultCollection), Type: "fact", ContextFilter: filter, Limit: newest,
	})
	if err != nil {
		return nil, err
	}

	return res.Memories, nil
}

// resolved are the memories and episodes of incidents that somebody has resolved.
func (a *asker) resolved(ctx context.Context) (memories map[int64]bool, sessions map[string]bool, err error) {
	yes := true
	memories, sessions = map[int64]bool{}, map[string]bool{}
	res, err := a.node.Incidents(ctx, &admin.IncidentsRequest{Collection: a.collection, Resolved: &yes, Limit: 200})
	if err != nil {
		return nil, nil, err
	}

	for i := range res.Incidents {
		in := &res.Incidents[i]
		if in.Kind == "session" {
			sessions[in.SessionID] = true
		}
		memories[in.MemoryID] = true
	}

	return memories, sessions, nil
}

// dangers returns the places and goals at which something went wrong, mastered or not.
func (a *asker) dangers(ctx context.Context) ([]*danger, error) {
	failed, err := a.failures(ctx)
	if err != nil {
		return nil, err
	}
	passed, err := a.passes(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := a.goals(ctx)
	if err != nil {
		return nil, err
	}
	memories, sessions, err := a.resolved(ctx)
	if err != nil {
		return nil, err
	}
	settled := func(m robotmem.Memory) bool {
		return memories[m.MemoryID] || sessions[m.SessionID] && m.SessionID != ""
	}
	failed = slices.DeleteFunc(failed, settled)
	ended = slices.DeleteFunc(ended, settled)

	all := placesOf(failed, passed, a.since)
	all = append(all, goalsOf(ended)...)

	all = slices.DeleteFunc(all, func(d *danger) bool { return len(d.failures) == 0 })
	for _, d := range all {
		d.advise()
	}

	return all, nil
}

// byTime sorts memories, the oldest first.
func byTime(ms []robotmem.Memory) {
	slices.SortStableFunc(ms, func(x, y robotmem.Memory) int {
		return cmp.Or(x.ObservedAt.Compare(y.ObservedAt), cmp.Compare(x.MemoryID, y.MemoryID))
	})
}

// placesOf joins failures that are near each other, and counts who passed them since.
func placesOf(failed, passed []robotmem.Memory, since time.Time) []*danger {
	var out []*danger

	byTime(failed)

	for i := range failed {
		m := &failed[i]
		at, frame, mapID, ok := placeOf(m.Context)
		// The origin of odometry is another one after each start.
		if !ok || frame == odometryFrame && (since.IsZero() || m.ObservedAt.Before(since)) {
			continue
		}

		var d *danger

		for _, old := range out {
			if old.frame == frame && old.mapID == mapID && old.distance(at) <= clusterRadius {
				d = old
				break
			}
		}
		if d == nil {
			d = &danger{kind: "place", at: at, frame: frame, mapID: mapID, robots: map[string]bool{}}
			d.key = fmt.Sprintf("place %s %s %.1f %.1f %.1f", frame, mapID, at[0], at[1], at[2])
			out = append(out, d)
		}
		d.fail(m)
	}

	for i := range passed {
		m := &passed[i]
		at, frame, mapID, ok := placeOf(m.Context)
		if !ok {
			continue
		}

		for _, d := range out {
			if d.frame == frame && d.mapID == mapID && d.distance(at) <= clusterRadius {
				d.successes = append(d.successes, happened{m.ObservedAt, robotOf(m.Context), paramsOf(m.Context)})
			}
		}
	}

	return out
}

// fail counts a failure of the danger. What one robot says of the same minute is one incident.
func (d *danger) fail(m *robotmem.Memory) {
	robot := robotOf(m.Context)
	same := slices.IndexFunc(d.failures, func(h happened) bool {
		return h.robot == robot && m.ObservedAt.Sub(h.at).Abs() <= sameIncident
	})
	if same < 0 {
		d.failures = append(d.failures, happened{at: m.ObservedAt, robot: robot, params: map[string]string{}})
		same = len(d.failures) - 1
	}
	maps.Copy(d.failures[same].params, paramsOf(m.Context))
	if robot != "" {
		d.robots[robot] = true
	}
	d.last = m.MemoryID

	// A goal only says that it was aborted, and repeats what the other facts say.
	if isGoal(m.Context) {
		if len(d.reasons) > 0 {
			return
		}
		d.reasons = append(d.reasons, m.Content)
		return
	}
	d.reasons = slices.DeleteFunc(d.reasons, func(s string) bool { return s == m.Content || strings.Contains(s, m.Content) })
	d.reasons = slices.Insert(d.reasons, 0, m.Content)
	d.reasons = d.reasons[:min(len(d.reasons), 3)]
}

// goalsOf joins goals of one task, and one target if it has one, of which the last ones failed.
func goalsOf(ended []robotmem.Memory) []*danger {
	var out []*danger

	byTime(ended)

	for i := range ended {
		m := &ended[i]
		task, target, has := goalOf(m.Context)
		// Without a target, goals of one name may lead anywhere. Where the failure has a place, that is the danger.
		if _, _, _, placed := placeOf(m.Context); task == "" || !has && placed {
			continue
		}

		var d *danger

		for _, old := range out {
			if old.matchesGoal(task, target, has) {
				d = old
				break
			}
		}
		if d == nil {
			_, frame, mapID, _ := placeOf(m.Context)
			d = &danger{kind: "goal", task: task, at: target, frame: frame, mapID: mapID, robots: map[string]bool{}}
			if !has {
				d.at[0] = math.NaN()
			}
			d.key = fmt.Sprintf("goal %s %.1f", task, d.at)
			out = append(out, d)
		}

		switch m.Outcome {
		case robotmem.OutcomeFailure:
			d.fail(m)
			d.reasons = []string{m.Content}
		case robotmem.OutcomeSuccess:
			d.successes = append(d.successes, happened{m.ObservedAt, robotOf(m.Context), paramsOf(m.Context)})
		}
	}

	return out
}

// matchesGoal reports whether a goal resembles that of the danger: the same task and target.
func (d *danger) matchesGoal(task string, target [3]float64, has bool) bool {
	if d.kind != "goal" || d.task != task || has == math.IsNaN(d.at[0]) {
		return false
	}
	return !has || d.distance(target) <= goalRadius
}

// advise adds what the parameters were that worked, and that failed: each incident and each success counts once.
func (d *danger) advise() {
	values := map[string]map[string]*tally{} // by path and value
	count := func(all []happened, success bool) {
		for _, h := range all {
			for path, value := range h.params {
				if values[path] == nil {
					values[path] = map[string]*tally{}
				}
				t := values[path][value]
				if t == nil {
					t = &tally{}
					values[path][value] = t
				}
				t.of++
				if success {
					t.worked++
				}
			}
		}
	}
	count(d.failures, false)
	count(d.successes, true)

	var said []string
	d.suggested = robotmem.Object{}

	for _, path := range slices.Sorted(maps.Keys(values)) {
		best, t := "", &tally{}
		for _, value := range slices.Sorted(maps.Keys(values[path])) {
			if other := values[path][value]; other.better(t) {
				best, t = value, other
			}
		}
		// A value that worked says nothing if no other one failed.
		if t.worked == 0 || len(values[path]) < 2 || len(said) >= maxAdvice {
			continue
		}
		d.suggested[path] = typed(best)
		said = append(said, fmt.Sprintf("%s %s worked %d of %d times", strings.TrimPrefix(path, "params."), best, t.worked, t.of))
	}
	d.advice = strings.Join(said, ", ")
}

// maxAdvice bounds the parameters of an advice.
const maxAdvice = 3

// tally counts how often a value worked.
type tally struct{ worked, of int }

// better compares lower bounds of the share of successes (Wilson, 95 %).
func (t *tally) better(other *tally) bool { return t.bound() > other.bound() }

func (t *tally) bound() float64 {
	if t.of == 0 {
		return -1
	}
	low, _ := consolidate.Wilson(float64(t.worked), float64(t.of))

	return low
}

// typed returns a value as the type that it was written from.
func typed(s string) any {
	if v, err := strconv.ParseFloat(s, 64); err == nil && media.Finite(v) {
		return v
	}
	if v, err := strconv.ParseBool(s); err == nil {
		return v
	}

	return s
}

// placeOf reads the position of a memory.
func placeOf(context robotmem.Object) (at [3]float64, frame, mapID string, ok bool) {
	spatial, _ := context["spatial"].(map[string]any)
	if at, ok = events.Position(spatial); !ok {
		return at, "", "", false
	}
	pose := spatial["pose"].(map[string]any)
	frame, _ = pose["frame_id"].(string)
	mapID, _ = pose["map_id"].(string)

	return at, frame, mapID, true
}

func robotOf(context robotmem.Object) string {
	robot, _ := context["robot"].(map[string]any)
	id, _ := robot["id"].(string)
	return id
}

// isGoal reports whether a memory says how a goal ended.
func isGoal(context robotmem.Object) bool {
	event, _ := context["event"].(map[string]any)
	is, _ := event["goal"].(bool)
	return is
}

// goalOf reads the task of a memory, and its target if it has one.
func goalOf(context map[string]any) (task string, target [3]float64, has bool) {
	section, _ := context["task"].(map[string]any)
	task, _ = section["name"].(string)

	goal, _ := section["goal"].(map[string]any)
	for i, axis := range []string{"x", "y", "z"} {
		v, ok := events.Number(goal[axis])
		if !ok {
			if axis == "z" {
				break
			}
			return task, [3]float64{}, false
		}
		target[i] = v
	}

	return task, target, true
}
