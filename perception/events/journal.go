package events

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

	"github.com/robotmem/robotmem-go/perception/media"
)

// Fact is one or many equal events.
type Fact struct {
	Event
	Count     int
	Last      time.Time // At is the first
	LastLog   uint64
	Spatial   map[string]any // where the first was; nil if it is unknown
	EndedGoal *Episode       // set if the fact is the end of a goal
	Stored    any            // for the caller: what it knows of the stored fact
}

// Line is the text with the count: "left wheel motor: overcurrent (current 12.4 A), 5 times in 4.0 s".
func (f *Fact) Line() string {
	if f.Count < 2 {
		return f.Text
	}
	line := fmt.Sprintf("%s, %d times", f.Text, f.Count)
	if d := f.Last.Sub(f.At); d > 0 && !f.At.IsZero() {
		line += " in " + spanOf(d)
	}

	return line
}

// About is the context of the fact as it is stored: its own, with how often it came and when last.
func (f *Fact) About() map[string]any {
	about := maps.Clone(f.Context)
	if about == nil {
		about = map[string]any{}
	}
	event, _ := about["event"].(map[string]any)
	event = maps.Clone(event)
	if event == nil {
		event = map[string]any{}
	}

	if f.Count > 1 {
		event["count"] = float64(f.Count)
		if !f.Last.IsZero() {
			event["last"] = f.Last.UTC().Format("2006-01-02T15:04:05.999Z07:00")
		}
	}
	about["event"] = event

	return about
}

// spanOf writes a duration: "4.0 s", "12 min", "3 h".
func spanOf(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}

	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Episode is a goal with what happened while it was active.
type Episode struct {
	ID, Task, Rule, Topic string
	Start, End            time.Time // End is zero for a goal of which no end was seen
	StartLog, EndLog      uint64
	Outcome               string // success, failure, partial (canceled), or "" without an end
	Context               map[string]any
	From, To              map[string]any // where it began and ended; nil if that is unknown
	Facts                 []*Fact        // in the order of their first time; the last is the outcome

	setBack  uint64 // ns by which the clock of the log times was set back since the start
	order    int
	replaced bool   // by another goal of its action
	parent   string // the goal that this one serves, "" for none
	orphaned time.Time
}

// About is the context of the episode as it is stored: its own, with the name of the task.
func (g *Episode) About() map[string]any {
	about := maps.Clone(g.Context)
	if about == nil {
		about = map[string]any{}
	}
	task, _ := about["task"].(map[string]any)
	task = maps.Clone(task)
	if task == nil {
		task = map[string]any{}
	}
	task["name"] = g.Task
	about["task"] = task

	return about
}

// Score is the outcome from 0 (failure) to 1 (success), nil if the end was not seen.
func (g *Episode) Score() *float64 {
	if score, known := map[string]float64{"success": 1, "partial": 0.5, "failure": 0}[g.Outcome]; known {
		return &score
	}
	return nil
}

// Limits of a journal.
const (
	maxKinds   = 500   // different facts of one rule
	maxFacts   = 20000 // of all
	samePlace  = 2.0   // metres within which equal events are counted together
	maxReasons = 3
	maxNumbers = 32              // facts of one form that differ in numbers
	continues  = 5e9             // ns of log time within which an event that comes again goes on, also while the robot drives
	childEnd   = 2 * time.Second // after the end of its parent, in which a goal that served it ends too
)

// Journal counts events together and assigns them to goals. One goroutine uses it at a time.
type Journal struct {
	facts    map[string][]*Fact // by goal, rule and text
	order    []*Fact
	kinds    map[string]int // facts by rule
	active   map[string]*Episode
	started  int
	limited  map[string]uint64
	complete []*Episode
	setBack  int // how often the clock was set back
}

// NewJournal returns an empty journal.
func NewJournal() *Journal {
	return &Journal{
		facts: map[string][]*Fact{}, kinds: map[string]int{}, active: map[string]*Episode{}, limited: map[string]uint64{},
	}
}

// Limited counts the events that were left out, because a rule found too many different things, by rule.
func (j *Journal) Limited() map[string]uint64 {
	if len(j.limited) == 0 {
		return nil
	}
	return maps.Clone(j.limited)
}

// Current returns the goal that is active, or nil. Of several it is the one that the others serve.
func (j *Journal) Current() *Episode {
	var out *Episode
	for _, e := range j.active {
		if e.parent == "" && (out == nil || e.order < out.order) {
			out = e
		}
	}

	return out
}

// Add adds an event. The circumstances are the context of the moment ([Machine.Circumstances]), spatial is
// where the robot was (nil if that is unknown). It returns the fact that the event is counted in, and whether it is
// the first of it; nil if it makes none.
func (j *Journal) Add(e *Event, circumstances, spatial map[string]any) (f *Fact, first bool) {
	switch e.Kind {
	case GoalStarted:
		j.start(e, circumstances, spatial)
		return nil, false
	case GoalKnown:
		if g := j.Current(); g != nil {
			fill(g.Context, e.Context)
		}
		return nil, false
	case GoalEnded:
		return j.end(e, circumstances, spatial)
	}

	return j.occurred(e, circumstances, spatial)
}

// SetBack notes that the clock of the log times was set back by some ns, and that the source goes on. Events are no
// longer counted together with those before, since their times do not compare.
func (j *Journal) SetBack(ns uint64) {
	j.setBack++
	for _, g := range j.active {
		g.setBack += ns
	}
}

// toNewClock dates the start of a goal on the clock of its end, if that was set back meanwhile. The stamps of messages
// may be of another clock than the log times, one that was not set: the span of the log times tells.
func (g *Episode) toNewClock() {
	if g.setBack == 0 || g.Start.IsZero() || g.End.IsZero() {
		return
	}

	logged := time.Duration(g.EndLog + g.setBack - g.StartLog)
	shifted := g.Start.Add(-time.Duration(g.setBack))
	if (g.End.Sub(shifted) - logged).Abs() < (g.End.Sub(g.Start) - logged).Abs() {
		g.Start = shifted
	}
}

func (j *Journal) start(e *Event, circumstances, spatial map[string]any) {
	parent := ""
	// A goal that begins while one of another action is active serves it, as the actions of a navigation do. One of the
	// same action replaces it.
	if outer := j.Current(); outer != nil && outer.Topic != e.Topic {
		parent = outer.ID
	}
	if circumstances = maps.Clone(circumstances); circumstances == nil {
		circumstances = map[string]any{}
	}
	fill(circumstances, e.Context)
	j.started++
	j.active[e.Goal] = &Episode{
		ID: e.Goal, Task: e.Task, Rule: e.Rule, Topic: e.Topic, Start: e.At, StartLog: e.LogTime,
		Context: circumstances, From: spatial, order: j.started, parent: parent,
	}
}

func (j *Journal) end(e *Event, circumstances, spatial map[string]any) (*Fact, bool) {
	g := j.active[e.Goal]
	if g == nil {
		return nil, false
	}

	delete(j.active, e.Goal)
	g.End, g.EndLog, g.Outcome, g.To = e.At, e.LogTime, e.Outcome, spatial
	g.toNewClock()

	// A parameter that changed meanwhile is not one of the attempt: it is unknown which value made the outcome.
	if before, ok := g.Context["params"].(map[string]any); ok {
		after, _ := circumstances["params"].(map[string]any)
		dropChanged(before, after)
		delete(circumstances, "params")
	}
	// What rules remember of a goal may come just after its start, such as a plan.
	fill(g.Context, circumstances)

	if g.Outcome == "failure" && j.replaced(g) {
		g.Outcome, g.replaced = "partial", true
	}

	// A goal that serves another, or ends with it, is a part of that episode.
	if g.parent != "" || !g.orphaned.IsZero() && g.End.Sub(g.orphaned) <= childEnd {
		if g.Outcome != "failure" {
			return nil, false
		}
		part := *e
		part.Kind, part.Text, part.Context = Occurred, g.line(), map[string]any{}
		part.Same, part.Outcome = strings.ToLower(g.Task+" aborted"), "unknown"
		part.Form = part.Same
		set(part.Context, []string{"event", "rule"}, g.Rule)
		set(part.Context, []string{"event", "topic"}, g.Topic)

		return j.occurred(&part, circumstances, spatial)
	}

	for _, other := range j.active {
		if other.parent == g.ID {
			other.parent, other.orphaned = "", g.End
		}
	}

	j.finish(g)

	return g.Facts[len(g.Facts)-1], true
}

// replaceWithin is how long before the end of a goal the one that replaces it may have begun, in ns.
const replaceWithin = 2e9

// replaced reports whether another goal of the action began just before the goal ended: an action server that takes
// one goal at a time aborts the old one then, and nothing has gone wrong.
func (j *Journal) replaced(g *Episode) bool {
	for _, other := range j.active {
		began := other.StartLog - min(other.StartLog, other.setBack)
		if other.Topic == g.Topic && other.order > g.order && g.EndLog >= began && g.EndLog-began <= replaceWithin {
			return true
		}
	}

	return false
}

// dropChanged removes the parameters that have another value later.
func dropChanged(before, after map[string]any) {
	for name, value := range before {
		inner, isMap := value.(map[string]any)

		later, laterIsMap := after[name].(map[string]any)
		switch {
		case isMap && laterIsMap:
			dropChanged(inner, later)
		case isMap || laterIsMap || value != after[name]:
			delete(before, name)
		}
	}
}

// fill adds what a context lacks.
func fill(context, more map[string]any) {
	for key, value := range more {
		inner, isMap := value.(map[string]any)

		old, wasMap := context[key].(map[string]any)
		switch {
		case isMap && wasMap:
			fill(old, inner)
		case context[key] == nil:
			context[key] = value
		}
	}
}

// finish moves the facts of a goal to its episode, and adds that of its outcome.
func (j *Journal) finish(g *Episode) {
	for _, f := range j.order {
		if f.Goal == g.ID {
			g.Facts = append(g.Facts, f)
		}
	}
	j.forget(func(f *Fact) bool { return f.Goal == g.ID })

	if !g.End.IsZero() || g.Outcome != "" {
		event := Event{
			Kind: GoalEnded, Rule: g.Rule, Topic: g.Topic, Text: g.line(), Outcome: g.Outcome, At: g.End, LogTime: g.EndLog,
			Goal: g.ID, Task: g.Task, Context: map[string]any{"event": map[string]any{"rule": g.Rule, "topic": g.Topic, "goal": true}},
		}
		fill(event.Context, g.Context)
		if task, ok := event.Context["task"].(map[string]any); ok {
			event.Context["task"] = maps.Clone(task)
		}
		set(event.Context, []string{"task", "name"}, g.Task)
		if d := g.span(); d > 0 {
			set(event.Context, []string{"event", "seconds"}, math.Round(d.Seconds()*100)/100)
		}
		spatial := g.To
		if spatial == nil {
			spatial = g.From
		}
		g.Facts = append(g.Facts, &Fact{
			Event: event, Count: 1, Last: g.End, LastLog: g.EndLog, Spatial: spatial, EndedGoal: g,
		})
	}
	j.complete = append(j.complete, g)
}

// firstWall is before the time of any clock that is set.
var firstWall = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// span is how long the goal was active, 0 if that is unknown: an end is not seen, or the clock was set meanwhile.
func (g *Episode) span() time.Duration {
	if g.Start.IsZero() || g.End.IsZero() || g.Start.Before(firstWall) != g.End.Before(firstWall) {
		return 0
	}
	return max(0, g.End.Sub(g.Start))
}

// line says how the goal ended: "navigate_to_pose to x=6 y=3 aborted after 19.0 s: controller_server: Failed to make progress".
func (g *Episode) line() string {
	word := map[string]string{"success": "succeeded", "failure": "aborted", "partial": "was canceled"}[g.Outcome]
	line := g.Task
	if task, ok := g.Context["task"].(map[string]any); ok {
		if at, ok := task["goal"].(map[string]any); ok {
			x, xok := at["x"].(float64)
			y, yok := at["y"].(float64)
			if xok && yok {
				line += fmt.Sprintf(" to x=%s y=%s", media.Figure(x), media.Figure(y))
			}
		}
	}
	if g.replaced {
		word = "was replaced by another goal"
	}
	line += " " + cmp.Or(word, "did not end")
	if d := g.span(); d > 0 {
		line += " after " + spanOf(d)
	}

	if g.Outcome != "failure" {
		return line
	}

	var reasons []string

	for i := range g.Facts {
		if g.Facts[i].Outcome == "failure" {
			reasons = append(reasons, g.Facts[i].Text)
		}
	}
	if len(reasons) > 0 {
		line += ": " + strings.Join(reasons[:min(len(reasons), maxReasons)], "; ")
	}

	return media.Clean(line, maxLine)
}

func (j *Journal) occurred(e *Event, circumstances, spatial map[string]any) (*Fact, bool) {
	goal := ""
	if g := j.Current(); g != nil {
		goal = g.ID
	}

	prefix := goal + "\x00" + strconv.Itoa(j.setBack) + "\x00" + e.Rule + "\x00"
	key := prefix + e.Same
	if len(j.facts[key]) == 0 && e.Same != e.Form && j.numbered(goal, e) {
		key = prefix + e.Form
	}

	for _, f := range j.facts[key] {
		goesOn := e.LogTime >= f.LastLog && e.LogTime-f.LastLog <= continues
		if goesOn || near(f.Spatial, spatial) {
			f.Count++
			f.Last, f.LastLog = e.At, e.LogTime
			if e.Outcome == "failure" {
				f.Outcome = e.Outcome
			}

			return f, false
		}
	}

	if j.kinds[e.Rule] >= maxKinds || len(j.order) >= maxFacts {
		j.limited[e.Rule]++
		return nil, false
	}
	j.kinds[e.Rule]++

	f := &Fact{Event: *e, Count: 1, Last: e.At, LastLog: e.LogTime, Spatial: spatial}
	f.Goal = goal
	fill(f.Context, circumstances)
	if g := j.active[goal]; g != nil {
		f.Task = g.Task
		if task, ok := f.Context["task"].(map[string]any); ok {
			f.Context["task"] = maps.Clone(task)
		}
		set(f.Context, []string{"task", "name"}, g.Task)
		set(f.Context, []string{"event", "during"}, g.Task)
	}
	j.facts[key] = append(j.facts[key], f)
	j.order = append(j.order, f)

	return f, true
}

// numbered reports whether there are so many facts that differ from an event in numbers that these are no names.
func (j *Journal) numbered(goal string, e *Event) bool {
	different := map[string]bool{}

	for _, f := range j.order {
		if f.Goal == goal && f.Rule == e.Rule && f.Form == e.Form {
			different[f.Same] = true
		}
	}

	return len(different) >= maxNumbers
}

// near reports whether two poses are at one place. An unknown place is one of its own.
func near(a, b map[string]any) bool {
	p, pok := Position(a)
	q, qok := Position(b)
	if !pok || !qok {
		return pok == qok
	}
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]) <= samePlace
}

// Position returns the position of a value of spatial: pose.position as x, y and z in metres.
func Position(spatial map[string]any) (p [3]float64, ok bool) {
	pose, _ := spatial["pose"].(map[string]any)
	list, _ := pose["position"].([]any)
	if len(list) < 2 {
		return p, false
	}

	for i := range list[:min(len(list), 3)] {
		v, isNumber := Number(list[i])
		if !isNumber {
			return p, false
		}
		p[i] = v
	}

	return p, true
}

// Open are the facts of goals that have not ended, and those outside of all goals, by their first time.
func (j *Journal) Open() []*Fact { return j.order }

// TakeQuiet removes and returns the facts outside of all goals that have not come since a log time.
func (j *Journal) TakeQuiet(since uint64) []*Fact {
	var out []*Fact

	for _, f := range j.order {
		if f.Goal == "" && f.LastLog < since {
			out = append(out, f)
		}
	}
	j.forget(func(f *Fact) bool { return slices.Contains(out, f) })

	return out
}

// forget removes facts.
func (j *Journal) forget(is func(*Fact) bool) {
	for _, f := range j.order {
		if is(f) {
			j.kinds[f.Rule]--
		}
	}

	j.order = slices.DeleteFunc(j.order, is)
	for key, facts := range j.facts {
		if facts = slices.DeleteFunc(facts, is); len(facts) == 0 {
			delete(j.facts, key)
		} else {
			j.facts[key] = facts
		}
	}
}

// Number returns a finite number of a context, as it was made or as it was read from JSON.
func Number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, media.Finite(n)
	case json.Number:
		f, err := n.Float64()
		return f, err == nil && media.Finite(f)
	}

	return 0, false
}

// Settled reports whether the goal is an episode of its own for certain at a time: it serves no other one, and
// has outlived the one that it served by more than a moment.
func (g *Episode) Settled(now time.Time) bool {
	return g.parent == "" && (g.orphaned.IsZero() || now.Sub(g.orphaned) > childEnd)
}

// Goal returns a goal that is active and that no other one is served by, nil if there is none of this id.
func (j *Journal) Goal(id string) *Episode {
	if g := j.active[id]; g != nil && g.parent == "" {
		return g
	}
	return nil
}

// Take returns the goals that have ended since the last call.
func (j *Journal) Take() []*Episode {
	out := j.complete
	j.complete = nil
	return out
}

// Close ends the journal: the goals of which no end was seen, and the facts outside of all goals. The last time of the
// source, with its log time, is the end of these goals; it may be zero.
func (j *Journal) Close(last time.Time, lastLog uint64) (goals []*Episode, others []*Fact) {
	open := slices.SortedFunc(maps.Values(j.active), func(a, b *Episode) int { return cmp.Compare(a.order, b.order) })
	for _, g := range open {
		if g.parent == "" && g.orphaned.IsZero() {
			j.finish(g)
			g.End, g.EndLog = last, lastLog
			g.toNewClock()
		}
	}
	clear(j.active)

	for _, f := range j.order {
		if f.Goal == "" {
			others = append(others, f)
		}
	}
	j.order = nil
	clear(j.facts)

	return j.Take(), others
}
