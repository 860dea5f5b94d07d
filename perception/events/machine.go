package events

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/media"
)

// Message is a decoded message.
type Message struct {
	Topic, SchemaName, Encoding string
	Value                       *message.Value
	Time                        time.Time // when it was observed; zero if no clock says so
	LogTime                     uint64    // ns, on the clock of the source
	Stamp                       uint64    // ns, of its header if that is on the same clock; 0 without
}

// Kind is what an event is.
type Kind int

// The kinds of events.
const (
	Occurred    Kind = iota // something happened: a fact
	GoalStarted             // a goal became active
	GoalEnded               // a goal ended, with an outcome
	GoalKnown               // something about the goal that has just begun, in Context
)

// Event is what a rule found in one message.
type Event struct {
	Kind    Kind
	Rule    string
	Topic   string
	Text    string // what happened, one line
	Same    string // equal for events that are counted together
	Form    string // Same without the numbers of names that are in a text, for messages that have too many of them
	Outcome string // success, failure, partial (a goal that was canceled), or ""
	Context map[string]any
	At      time.Time
	LogTime uint64
	Stamp   uint64 // ns, the stamp of the message that At is; 0 without

	Goal string // identifies the goal within the source
	Task string // what the goal is called: navigate_to_pose
}

// Limits of what a machine keeps.
const (
	maxGoals      = 4096 // goals that are known to be active or to have ended
	maxStates     = 4096 // keys of rules with rise or change
	maxParameters = 256
	maxElements   = 1000 // of the list of one message
	maxLine       = 500  // characters of a text
	maxDetails    = 6
)

// Machine applies rules to the messages of one source. One goroutine uses it at a time.
type Machine struct {
	rules    []*Rule
	byTopic  map[[3]string][]*Rule
	holds    map[string]string // by rule and key: what held last
	goals    map[string]goalState
	seen     map[string]bool // topics of goals
	lastGoal uint64          // log time of the last start of a goal that nothing else serves
	params   map[string]any
	remember map[string]remembered
}

// remembered is a value with the log time at which it came.
type remembered struct {
	value any
	at    uint64
}

// NewMachine returns a machine in the state of a source that has sent nothing.
func (r *Rules) NewMachine() *Machine {
	return &Machine{
		rules: r.rules, byTopic: map[[3]string][]*Rule{}, holds: map[string]string{}, goals: map[string]goalState{},
		seen: map[string]bool{}, params: map[string]any{}, remember: map[string]remembered{},
	}
}

// Wants reports whether a rule is for the messages of a topic, so that a caller need not decode others.
func (m *Machine) Wants(topic, schema, encoding string) bool {
	return len(m.rulesOf(topic, schema, encoding)) > 0
}

func (m *Machine) rulesOf(topic, schema, encoding string) []*Rule {
	key := [3]string{topic, schema, encoding}
	found, known := m.byTopic[key]
	if known {
		return found
	}

	for _, r := range m.rules {
		if r.matches(topic, schema, encoding) {
			found = append(found, r)
		}
	}
	m.byTopic[key] = found

	return found
}

// Unmatched are the rules of files that extend the built-in ones for which no messages have come.
func (m *Machine) Unmatched() []string {
	matched := map[*Rule]bool{}

	for _, rules := range m.byTopic {
		for _, r := range rules {
			matched[r] = true
		}
	}

	var out []string

	for _, r := range m.rules {
		if r.own && !r.disabled && !matched[r] {
			out = append(out, r.Name)
		}
	}

	return out
}

// SetParameter notes that a parameter of the robot has a value, such as controller.max_speed. Parameters
// stand in the context of what happens afterwards, at params and the name, whose points nest.
func (m *Machine) SetParameter(name string, value any) {
	if _, known := m.params[name]; known || len(m.params) < maxParameters {
		m.params[name] = value
	}
}

// Circumstances are the context of the moment: the parameters that were set, and what rules remember.
func (m *Machine) Circumstances() map[string]any {
	out := map[string]any{}

	for _, name := range slices.Sorted(maps.Keys(m.params)) {
		setNested(out, append([]string{"params"}, strings.Split(name, ".")...), m.params[name])
	}

	for _, path := range slices.Sorted(maps.Keys(m.remember)) {
		// What is remembered of a task belongs to the goal that follows, see GoalCircumstances.
		if !strings.HasPrefix(path, taskPrefix) {
			setNested(out, strings.Split(path, "."), m.remember[path].value)
		}
	}

	return out
}

// SetBack notes that the clock of the log times was set back by some ns, and that the source goes on.
func (m *Machine) SetBack(ns uint64) {
	m.lastGoal -= min(m.lastGoal, ns)
	for path, r := range m.remember {
		r.at -= min(r.at, ns)
		m.remember[path] = r
	}
}

const (
	taskPrefix = "task."
	// A target or a plan belongs to the goal that begins at most so long after it, or so shortly before it, in ns of log
	// time.
	beforeGoal = 5e9
	afterStart = 2e9
)

// ofTask returns what was remembered of a task around the start of a goal.
func (m *Machine) ofTask(start uint64) map[string]any {
	out := map[string]any{}

	for _, path := range slices.Sorted(maps.Keys(m.remember)) {
		r := m.remember[path]
		if strings.HasPrefix(path, taskPrefix) && r.at+beforeGoal >= start && r.at <= start+afterStart {
			setNested(out, strings.Split(path, "."), r.value)
		}
	}

	return out
}

// takeTask is ofTask, and forgets what it returns: the next goal has a target of its own.
func (m *Machine) takeTask(start uint64) map[string]any {
	out := m.ofTask(start)
	maps.DeleteFunc(m.remember, func(path string, _ remembered) bool { return strings.HasPrefix(path, taskPrefix) })
	return out
}

// setNested sets a path unless a shorter or longer one has a value already.
func setNested(context map[string]any, path []string, value any) {
	at := context
	for _, key := range path[:len(path)-1] {
		next, ok := at[key].(map[string]any)
		if at[key] != nil && !ok {
			return
		}
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	if last := path[len(path)-1]; at[last] == nil {
		at[last] = value
	}
}

// Observe applies the rules to a message.
func (m *Machine) Observe(msg *Message) []Event {
	var out []Event

	for _, r := range m.rulesOf(msg.Topic, msg.SchemaName, msg.Encoding) {
		root := &scope{element: msg.Value, root: msg.Value, topic: msg.Topic}
		if len(r.each.names) == 0 {
			out = m.apply(out, r, root, msg)
			continue
		}

		list := r.each.of(msg.Value).List
		for i := range list[:min(len(list), maxElements)] {
			out = m.apply(out, r, &scope{element: &list[i], root: msg.Value, topic: msg.Topic}, msg)
		}
		if r.goal != nil {
			m.seen[msg.Topic] = true
			// A goal that replaces another begins before that ends.
			slices.SortStableFunc(out, func(a, b Event) int { return cmp.Compare(ordinal(a), ordinal(b)) })
		}
	}

	return out
}

func (m *Machine) apply(out []Event, r *Rule, s *scope, msg *Message) []Event {
	switch {
	case r.goal != nil:
		return m.goal(out, r, s, msg)
	case r.params != nil:
		m.parameters(r, s)
		return out
	case len(r.remember) > 0:
		if r.when.hold(s) {
			for _, a := range r.remember {
				if v := a.value.value(s); v != nil {
					path := strings.Join(a.path, ".")
					m.remember[path] = remembered{v, msg.LogTime}
					// What comes just after the start of a goal belongs to it.
					if strings.HasPrefix(path, taskPrefix) && m.lastGoal > 0 && msg.LogTime-m.lastGoal <= afterStart && msg.LogTime >= m.lastGoal {
						late := map[string]any{}
						setNested(late, a.path, v)
						out = append(out, Event{Kind: GoalKnown, Rule: r.Name, Topic: msg.Topic, Context: late, LogTime: msg.LogTime, At: msg.Time})
						delete(m.remember, path)
					}
				}
			}
		}

		return out
	}

	// Rules that keep a state must see also the messages in which their condition does not hold.
	holds := r.when.hold(s)
	if r.limit != nil {
		if !m.crosses(r, s, holds) {
			return out
		}
	} else if r.edge != onEach {
		if !m.rises(r, s, holds) {
			return out
		}
	} else if !holds {
		return out
	}

	// A message that has none of the fields of the text is of another definition than the rule was written for.
	if !r.text.fits(s) {
		return out
	}

	return append(out, r.event(s, msg))
}

// crosses reports whether the value passes the bound of a limit. It can do so again only after it was
// beyond the clearing value.
func (m *Machine) crosses(r *Rule, s *scope, holds bool) bool {
	v := s.of(r.limit.value)
	if !holds || !v.IsNumber() || math.IsNaN(v.Float) {
		return false
	}

	beyond, cleared := v.Float > r.limit.bound, v.Float < r.limit.clear
	if r.limit.below {
		beyond, cleared = v.Float < r.limit.bound, v.Float > r.limit.clear
	}
	s.value = media.Figure(v.Float)

	key := r.Name + "\x00" + s.topic + "\x00" + r.key.write(s)
	if _, over := m.holds[key]; over {
		if cleared {
			delete(m.holds, key)
		}
		return false
	}
	if !beyond || len(m.holds) >= maxStates {
		return false
	}
	m.holds[key] = s.value

	return true
}

// rises reports whether the condition begins to hold, or the key changes. The first key is no change.
func (m *Machine) rises(r *Rule, s *scope, holds bool) bool {
	text := r.key.write(s)
	key := r.Name + "\x00" + s.topic
	if r.edge == onRise {
		key, text = key+"\x00"+text, fmt.Sprint(holds)
	} else if !holds || text == "" {
		return false
	}

	old, known := m.holds[key]
	if !known && len(m.holds) >= maxStates {
		return false
	}
	m.holds[key] = text
	if r.edge == onRise {
		return holds && old != text
	}

	return known && old != text
}

func (r *Rule) event(s *scope, msg *Message) Event {
	at, stamp := r.timeOf(s, msg)
	e := Event{
		Rule: r.Name, Topic: msg.Topic, At: at, LogTime: msg.LogTime, Stamp: stamp, Context: map[string]any{},
		Text: media.Clean(r.text.write(s), maxLine),
	}
	if e.Text == "" {
		e.Text = r.Name + " on " + media.Clean(msg.Topic, 255)
	}
	e.Same, e.Form = r.text.same(s)

	if said := detailsOf(s.of(r.details)); len(r.details.names) > 0 && said != "" {
		e.Text = media.Clean(e.Text+" ("+said+")", maxLine)
	}

	for _, a := range r.context {
		if v := a.value.value(s); v != nil && v != "" {
			set(e.Context, a.path, v)
		}
	}
	if own, ok := e.Context["event"].(map[string]any); ok {
		// Two devices may have the same name for what went wrong.
		about := strings.ToLower(fmt.Sprint("\x00", own["node"], "\x00", own["hardware"]))
		e.Same += about
		e.Form += about
	}
	set(e.Context, []string{"event", "rule"}, r.Name)
	set(e.Context, []string{"event", "topic"}, media.Clean(msg.Topic, 255))

	switch {
	case len(r.failure) > 0 && r.failure.hold(s):
		e.Outcome = "failure"
	case len(r.success) > 0 && r.success.hold(s):
		e.Outcome = "success"
	}

	return e
}

// maxStampSkew is how far the stamp of an event may be from the time of its message. A stamp on another
// clock is not used.
const maxStampSkew = time.Hour

// timeOf returns when an event took place, and that as a stamp of the message, 0 if it has none.
func (r *Rule) timeOf(s *scope, msg *Message) (at time.Time, stamp uint64) {
	if len(r.stamp.names) == 0 {
		return msg.Time, msg.Stamp
	}
	ns, ok := message.Time(s.of(r.stamp), "nanosec")
	if !ok {
		return msg.Time, msg.Stamp
	}
	at = time.Unix(int64(ns/1e9), int64(ns%1e9)).UTC()
	if !msg.Time.IsZero() && at.Sub(msg.Time).Abs() > maxStampSkew {
		return msg.Time, msg.Stamp
	}

	return at, ns
}

// detailsOf writes pairs of a key and a value: "current 12.4 A, temperature 61".
func detailsOf(v *message.Value) string {
	var out []string

	for i := range v.List[:min(len(v.List), maxDetails)] {
		key, value := textOf(v.List[i].At("key")), textOf(v.List[i].At("value"))
		if key != "" && value != "" {
			out = append(out, media.Clean(key, media.MaxName)+" "+media.Clean(value, media.MaxName))
		}
	}

	return strings.Join(out, ", ")
}

// parameters notes the parameters of a message of rcl_interfaces/ParameterEvent.
func (m *Machine) parameters(r *Rule, s *scope) {
	node := strings.ReplaceAll(strings.Trim(textOf(s.of(r.params.node)), "/"), "/", ".")

	for _, list := range r.params.lists {
		all := s.of(list).List
		for i := range all[:min(len(all), maxElements)] {
			name := textOf(all[i].At("name"))
			if value := parameterOf(all[i].At("value")); name != "" && value != nil {
				m.SetParameter(strings.TrimPrefix(node+"."+name, "."), value)
			}
		}
	}
}

// parameterFields are the fields of rcl_interfaces/ParameterValue by its type. Lists are left out.
var parameterFields = map[float64]string{1: "bool_value", 2: "integer_value", 3: "double_value", 4: "string_value"}

func parameterOf(v *message.Value) any {
	field, ok := parameterFields[v.At("type").Float]
	if !ok {
		return nil
	}
	return plain(v.At(field), 0)
}

// goal follows one goal of a list.
func (m *Machine) goal(out []Event, r *Rule, s *scope, msg *Message) []Event {
	id := textOf(s.of(r.goal.id))
	state := r.goal.words[textOf(s.of(r.goal.status))]
	if id == "" || state == goalUnknown {
		return out
	}

	id = msg.Topic + "#" + id

	before, known := m.goals[id]
	switch {
	case known && (before == state || before != goalActive):
		return out // nothing new; a goal ends once
	case !known && len(m.goals) >= maxGoals:
		m.forgetGoals()
	}
	m.goals[id] = state

	e := Event{
		Rule: r.Name, Topic: msg.Topic, Goal: id, Task: r.taskOf(s, msg.Topic), At: msg.Time, LogTime: msg.LogTime,
		Stamp: msg.Stamp,
	}
	if !known {
		// The first message of a topic lists also what ended before anybody listened.
		if state != goalActive && !m.seen[msg.Topic] {
			return out
		}
		started := e
		started.Kind = GoalStarted
		if !m.busy(id) {
			started.Context = m.takeTask(msg.LogTime)
			m.lastGoal = msg.LogTime
		}
		out = append(out, started)
	}
	if state == goalActive {
		return out
	}

	e.Kind = GoalEnded
	e.Outcome = map[goalState]string{goalSucceeded: "success", goalFailed: "failure", goalCanceled: "partial"}[state]

	return append(out, e)
}

// busy reports whether a goal of another action than that of the id is active.
func (m *Machine) busy(id string) bool {
	topic, _, _ := strings.Cut(id, "#")
	for other, state := range m.goals {
		if state == goalActive && !strings.HasPrefix(other, topic+"#") {
			return true
		}
	}

	return false
}

// ordinal orders the events of one message: goals that end come last.
func ordinal(e Event) int {
	if e.Kind == GoalEnded {
		return 1
	}
	return 0
}

// forgetGoals forgets goals that have ended, so that new ones can be followed.
func (m *Machine) forgetGoals() {
	maps.DeleteFunc(m.goals, func(_ string, state goalState) bool { return state != goalActive })
	if len(m.goals) >= maxGoals {
		clear(m.goals)
	}
}

func (r *Rule) taskOf(s *scope, topic string) string {
	name := topic
	if len(r.goal.name.names) > 0 {
		name = textOf(s.of(r.goal.name))
	}
	name = strings.TrimSuffix(name, r.goal.before)
	name = name[strings.LastIndex(name, "/")+1:]

	return media.Clean(cmp.Or(name, r.Name), media.MaxName)
}
