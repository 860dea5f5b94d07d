package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Each task of the recordings is a collection, and about two dozen recordings are a session.
// The trace of a recording is stored as a perception and its figures as a fact.

const (
	demoEpisode = 24               // recordings in a session, about
	demoPace    = 20 * time.Second // between recordings; the source has no times

	demoQuestion  = "torque rising while approaching the grasp position"
	demoNeighbors = 5
	demoMost      = 100 // memories of one answer
	demoShown     = 3   // answers that are printed whole

	// A trend is a last third that is 1.5 times as strong as the first one, or the reverse, and
	// differs by more than a motion without failure does.
	demoTrendRatio = 1.5
	demoJitter     = 8.0
)

// demoLived counts what was stored.
type demoLived struct {
	Recordings  int           `json:"recordings"`
	Sessions    int           `json:"sessions"`
	Facts       int           `json:"facts"`
	Duplicates  int           `json:"duplicates"` // facts that were known already
	Perceptions int           `json:"perceptions"`
	Conflicts   int           `json:"conflicts"`
	Merged      int           `json:"merged"`
	Tasks       []demoTask    `json:"tasks"`
	Foreseen    demoShare     `json:"foreseen"` // the nearest known trace had the class
	Chance      float64       `json:"foreseen_by_chance"`
	Seconds     float64       `json:"seconds"`
	Writes      demoQuantiles `json:"writes"`
	Asks        demoQuantiles `json:"asks"`
}

// demoTask is one data set.
type demoTask struct {
	Set        string `json:"set"`
	Name       string `json:"name"`
	Collection string `json:"collection"`
	Recordings int    `json:"recordings"`
	Successes  int    `json:"successes"`
	Sessions   int    `json:"sessions"`
}

// demoShare is Right of Of.
type demoShare struct {
	Right int `json:"right"`
	Of    int `json:"of"`
}

func (s demoShare) share() float64 { return float64(s.Right) / float64(max(1, s.Of)) }

// demoQuantiles are the times of many calls.
type demoQuantiles struct {
	N     int     `json:"n"`
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
}

func demoQuantilesOf(times []time.Duration) demoQuantiles {
	return demoQuantiles{len(times), quantile(times, 0.5), quantile(times, 0.99)}
}

// demoAnswer is one memory of an answer.
type demoAnswer struct {
	MemoryID int64          `json:"memory_id"`
	Content  string         `json:"content"`
	Class    string         `json:"class"`
	Task     string         `json:"task"`
	Trend    string         `json:"torque_trend"`
	Away     float64        `json:"away,omitempty"` // of a trace: 0 for equal ones
	Params   map[string]any `json:"params,omitempty"`
}

// demoWords is a question in words.
type demoWords struct {
	Query    string       `json:"query"`
	Answers  []demoAnswer `json:"answers"`
	Rising   int          `json:"rising"`    // answers whose torque rises
	RightJob int          `json:"right_job"` // answers about that task
	QueryMS  float64      `json:"query_ms"`
}

// demoFilter is a question by structure: every collision, in every task.
type demoFilter struct {
	Classes   []string     `json:"classes"`
	Known     int          `json:"known"` // collisions among the recordings
	Found     int          `json:"found"`
	Others    int          `json:"others"`
	Questions int          `json:"questions"`
	QueryMS   float64      `json:"query_ms"` // all of them
	Hardest   []demoAnswer `json:"hardest"`
	Above     float64      `json:"above"` // peak force of the question
	Rarest    string       `json:"rarest"`
	RareKnown int          `json:"rare_known"`
	RareFound int          `json:"rare_found"`
}

// demoLikeness is a question by trace.
type demoLikeness struct {
	Probe   demoAnswer   `json:"probe"`
	Nearest []demoAnswer `json:"nearest"`
	Same    int          `json:"same_class"` // of Nearest
	QueryMS float64      `json:"query_ms"`

	All    demoShare     `json:"all"` // with every recording as the probe
	Chance float64       `json:"chance"`
	Asks   demoQuantiles `json:"asks"`
}

// experience is a recording and where it is stored.
type experience struct {
	robotfailures.Failure
	force, torque vectorFigures
	collection    string
	perception    int64
}

// succeeded: the sets hold motions without a failure too.
func (x *experience) succeeded() bool { return x.Class == "normal" || x.Class == "ok" }

// demoLife stores the recordings and asks about them. After an error its methods do nothing.
type demoLife struct {
	m           *local.Node
	err         error
	report      *demoReport
	bar         *progressBar
	experiences []*experience
	at          time.Time                 // of the present recording
	known       map[string]map[string]int // recordings by collection and class; "" counts all
	writes      []time.Duration
	asks        []time.Duration
}

// demoCall calls an operation of the memory and adds its time to times, which may be nil.
func demoCall[Req, Res any](ctx context.Context, l *demoLife, op func(context.Context, *Req) (*Res, error), req *Req, times *[]time.Duration) *Res {
	began := time.Now()
	if l.err == nil {
		var res *Res
		if res, l.err = op(ctx, req); l.err == nil {
			if times != nil {
				*times = append(*times, time.Since(began))
			}
			return res
		}
	}
	return new(Res)
}

// live stores all recordings, one set after the other.
func (l *demoLife) live(ctx context.Context, failures []robotfailures.Failure) {
	began := time.Now()
	l.at = began.Add(-demoPace * time.Duration(len(failures)))
	for len(failures) > 0 {
		n := slices.IndexFunc(failures, func(f robotfailures.Failure) bool { return f.Set != failures[0].Set })
		if n < 0 {
			n = len(failures)
		}
		l.task(ctx, failures[:n])
		failures = failures[n:]
	}
	r := &l.report.Lived
	r.Chance /= float64(max(1, r.Foreseen.Of))
	r.Seconds = time.Since(began).Seconds()
	r.Writes, r.Asks = demoQuantilesOf(l.writes), demoQuantilesOf(l.asks)
}

// task stores one set. Its recordings are sorted by class: session i of n takes every n-th of
// them, so that a session is as mixed as a day of work.
func (l *demoLife) task(ctx context.Context, set []robotfailures.Failure) {
	first := set[0]
	t := demoTask{Set: first.Set, Name: first.Task, Collection: strings.ReplaceAll(first.Task, " ", "-"), Recordings: len(set)}
	t.Sessions = (len(set) + demoEpisode - 1) / demoEpisode
	l.known[t.Collection] = map[string]int{}
	for i := range t.Sessions {
		var episode []*experience
		for j := i; j < len(set); j += t.Sessions {
			episode = append(episode, &experience{set[j], vectorOf(set[j], 0), vectorOf(set[j], 3), t.Collection, 0})
		}
		t.Successes += l.session(ctx, t, episode)
	}
	l.report.Lived.Tasks = append(l.report.Lived.Tasks, t)
}

func (l *demoLife) session(ctx context.Context, t demoTask, episode []*experience) (successes int) {
	s := demoCall(ctx, l, l.m.StartSession, &robotmem.StartSessionRequest{Collection: t.Collection, Context: sessionContext(t.Name)}, nil)
	var used []int64
	for _, x := range episode {
		if id := l.foresee(ctx, s.SessionID, x); id != 0 {
			used = append(used, id)
		}
		l.remember(ctx, s.SessionID, x)
		if x.succeeded() {
			successes++
		}
		l.at = l.at.Add(demoPace)
		l.bar.Add(1)
	}
	slices.Sort(used)
	score := float64(successes) / float64(len(episode))
	end := demoCall(ctx, l, l.m.EndSession, &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score, UsedMemoryIDs: slices.Compact(used)}, nil)
	l.report.Lived.Sessions++
	l.report.Lived.Merged += end.Consolidated.SupersededCount
	return successes
}

// foresee asks for the known trace that is most like the present one, before that is stored.
// If the classes are equal the memory helped, and foresee returns its id.
func (l *demoLife) foresee(ctx context.Context, session string, x *experience) int64 {
	res := demoCall(ctx, l, l.m.Recall, &robotmem.RecallRequest{
		Collection: x.collection, N: 1, ForSession: session,
		Like: &robotmem.Like{DataBase64: x.CSV(), MediaType: "text/csv"},
	}, &l.asks)
	if len(res.Memories) == 0 {
		return 0 // the first of its task
	}
	r, known := &l.report.Lived, l.known[x.collection]
	r.Foreseen.Of++
	r.Chance += float64(known[x.Label()]) / float64(known[""])
	if answerOf(res.Memories[0]).Class != x.Label() {
		return 0
	}
	r.Foreseen.Right++
	return res.Memories[0].MemoryID
}

// remember stores the trace and the fact.
func (l *demoLife) remember(ctx context.Context, session string, x *experience) {
	about := sessionContext(x.Task)
	about["params"] = map[string]any{
		"peak_force": x.force.peak, "force_trend": x.force.trend,
		"peak_torque": x.torque.peak, "torque_trend": x.torque.trend,
	}
	about["task"] = map[string]any{"name": x.Task, "set": x.Set, "success": x.succeeded(), "class": x.Label()}
	observed, known := l.at, l.at.Add(robotfailures.Window)
	saved := demoCall(ctx, l, l.m.SavePerception, &robotmem.SavePerceptionRequest{
		Description:    fmt.Sprintf("wrench at the wrist during %s, %s: torque %s, force %s", x.Task, x.Label(), x.torque.trend, x.force.trend),
		PerceptionType: "tactile", MediaType: "text/csv", Data: string(x.CSV()),
		Metadata: robotmem.Object{
			"kind": "wrench", "channels": robotfailures.Channels, "duration_s": robotfailures.Window.Seconds(),
			"recording": fmt.Sprintf("%s %d", x.Set, x.Index+1),
		},
		Context: about, SessionID: session, ObservedAt: &observed,
	}, &l.writes)
	learnt := demoCall(ctx, l, l.m.Learn, &robotmem.LearnRequest{
		Insight: x.sentence(), Context: about, SessionID: session, ObservedAt: &known,
		Source: fmt.Sprintf("Robot Execution Failures (UCI), %s recording %d", x.Set, x.Index+1),
	}, &l.writes)
	r := &l.report.Lived
	r.Recordings++
	r.Perceptions++
	r.Conflicts += len(learnt.Conflicts)
	if learnt.Status == "duplicate" {
		r.Duplicates++
	} else {
		r.Facts++
	}
	x.perception = saved.MemoryID
	l.known[x.collection][x.Label()]++
	l.known[x.collection][""]++
	l.experiences = append(l.experiences, x)
}

func sessionContext(task string) robotmem.Object {
	return robotmem.Object{
		"task":  map[string]any{"name": task},
		"robot": map[string]any{"id": "demo-arm"}, // the source has no name
		"env":   map[string]any{"sim_or_real": "real"},
	}
}

// ask asks the questions of a controller and starts a session.
func (l *demoLife) ask(ctx context.Context) {
	l.words(ctx)
	l.filter(ctx)
	l.likeness(ctx)
	var took []time.Duration
	first := l.experiences[0]
	s := demoCall(ctx, l, l.m.StartSession, &robotmem.StartSessionRequest{Collection: first.collection, Context: sessionContext(first.Task)}, &took)
	r := l.report
	r.SessionID, r.Briefing, r.BriefMS = s.SessionID, s.Briefing, quantile(took, 1)
	r.Stats = demoCall(ctx, l, l.m.Stats, &admin.StatsRequest{}, nil)
	r.Doctor = demoCall(ctx, l, l.m.Doctor, &admin.DoctorRequest{}, nil)
}

// recall returns the answers and the time in milliseconds.
func (l *demoLife) recall(ctx context.Context, req *robotmem.RecallRequest, times *[]time.Duration) ([]demoAnswer, float64) {
	res := demoCall(ctx, l, l.m.Recall, req, times)
	answers := make([]demoAnswer, len(res.Memories))
	for i, m := range res.Memories {
		answers[i] = answerOf(m)
	}
	return answers, res.QueryMS
}

// countAnswers counts the answers for which is holds.
func countAnswers(answers []demoAnswer, is func(demoAnswer) bool) (n int) {
	for _, a := range answers {
		if is(a) {
			n++
		}
	}
	return n
}

func (l *demoLife) words(ctx context.Context) {
	w := &l.report.Words
	w.Query = demoQuestion
	w.Answers, w.QueryMS = l.recall(ctx, &robotmem.RecallRequest{Query: w.Query, Collection: "*", Type: "fact", N: demoShown}, nil)
	w.Rising = countAnswers(w.Answers, func(a demoAnswer) bool { return a.Trend == "rising" })
	w.RightJob = countAnswers(w.Answers, func(a demoAnswer) bool { return a.Task == l.experiences[0].Task })
}

// filter asks each task for all its collisions, and all tasks for the hardest ones and for the
// rarest class.
func (l *demoLife) filter(ctx context.Context) {
	f := &l.report.Filter
	counts := map[string]int{}
	var forces []float64
	for _, x := range l.experiences {
		counts[x.Label()]++
		if strings.Contains(x.Label(), "collision") {
			forces = append(forces, x.force.peak)
		}
	}
	f.Known = len(forces)
	labels := slices.Sorted(maps.Keys(counts))
	f.Rarest = slices.MinFunc(labels, func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	f.RareKnown = counts[f.Rarest]
	f.Classes = slices.DeleteFunc(labels, func(label string) bool { return !strings.Contains(label, "collision") })
	collisions := robotmem.Object{"task.class": map[string]any{"$in": f.Classes}}
	for _, task := range l.report.Lived.Tasks {
		found, ms := l.recall(ctx, &robotmem.RecallRequest{Collection: task.Collection, Type: "perception", N: demoMost, ContextFilter: collisions}, nil)
		f.Questions++
		f.QueryMS += ms
		f.Found += len(found)
		f.Others += countAnswers(found, func(a demoAnswer) bool { return !slices.Contains(f.Classes, a.Class) })
	}
	slices.Sort(forces)
	f.Above = forces[len(forces)*19/20] // the hardest one in twenty
	f.Hardest, _ = l.recall(ctx, &robotmem.RecallRequest{
		Query: "collision", Collection: "*", Type: "fact", N: demoShown,
		ContextFilter: robotmem.Object{"$and": []any{collisions, robotmem.Object{"params.peak_force": map[string]any{"$gt": f.Above}}}},
	}, nil)
	rare, _ := l.recall(ctx, &robotmem.RecallRequest{Collection: "*", Type: "perception", N: demoMost, ContextFilter: robotmem.Object{"task.class": f.Rarest}}, nil)
	f.RareFound = len(rare)
}

// likeness asks, for every recording, for the traces of its task that are most like it. The
// first failure is the one that is printed. Chance is that of another recording of the task,
// drawn at random.
func (l *demoLife) likeness(ctx context.Context) {
	k := &l.report.Likeness
	var times []time.Duration
	for _, x := range l.experiences {
		nearest, ms := l.recall(ctx, &robotmem.RecallRequest{
			Collection: x.collection, N: demoNeighbors, Like: &robotmem.Like{MemoryID: x.perception}, Explain: true,
		}, &times)
		same := countAnswers(nearest, func(a demoAnswer) bool { return a.Class == x.Label() })
		k.All.Right += same
		k.All.Of += len(nearest)
		known := l.known[x.collection]
		k.Chance += float64(len(nearest)*(known[x.Label()]-1)) / float64(max(1, known[""]-1))
		if k.Nearest == nil && !x.succeeded() {
			probe := demoCall(ctx, l, l.m.Get, &robotmem.MemoryRequest{MemoryID: x.perception}, nil)
			k.Probe, k.Nearest, k.Same, k.QueryMS = answerOf(*probe), nearest, same, ms
		}
	}
	k.Chance /= float64(max(1, k.All.Of))
	k.Asks = demoQuantilesOf(times)
}

func answerOf(m robotmem.Memory) demoAnswer {
	a := demoAnswer{MemoryID: m.MemoryID, Content: m.Content}
	if task, ok := m.Task.(map[string]any); ok {
		a.Task, a.Class = fmt.Sprint(task["name"]), fmt.Sprint(task["class"])
	}
	if params, ok := m.Params.(map[string]any); ok {
		a.Params, a.Trend = params, fmt.Sprint(params["torque_trend"])
	}
	if i := slices.IndexFunc(m.Found, func(e robotmem.ListEntry) bool { return e.List == "likeness" }); i >= 0 {
		a.Away = m.Found[i].Value
	}
	return a
}

// vectorFigures describe a force or a torque over time.
type vectorFigures struct {
	peak  float64 // largest magnitude
	axis  string  // the axis of the largest single reading
	value float64 // that reading, signed
	trend string  // rising, falling or steady
}

// vectorOf computes the figures of three channels from first on.
func vectorOf(f robotfailures.Failure, first int) vectorFigures {
	const third = robotfailures.SampleCount / 3
	v := vectorFigures{axis: robotfailures.Channels[first], trend: "steady"}
	var sums [3]float64 // of the magnitudes of each third
	for i, sample := range f.Samples {
		for c := first; c < first+3; c++ {
			if math.Abs(sample[c]) > math.Abs(v.value) {
				v.axis, v.value = robotfailures.Channels[c], sample[c]
			}
		}
		magnitude := math.Hypot(math.Hypot(sample[first], sample[first+1]), sample[first+2])
		v.peak = max(v.peak, magnitude)
		sums[i/third] += magnitude
	}
	begin, end := sums[0]/third, sums[2]/third
	switch {
	case end > demoTrendRatio*begin && end-begin > demoJitter:
		v.trend = "rising"
	case begin > demoTrendRatio*end && begin-end > demoJitter:
		v.trend = "falling"
	}
	v.peak = math.Round(v.peak) // the readings are whole numbers
	return v
}

func (x *experience) sentence() string {
	outcome := "failed with " + x.Label()
	if x.succeeded() {
		outcome = "succeeded (" + x.Label() + ")"
	}
	return fmt.Sprintf("observed that %s %s: torque %s, force %s, peak force %.0f (%s %.0f), peak torque %.0f (%s %.0f)",
		x.Task, outcome, x.torque.trend, x.force.trend,
		x.force.peak, x.force.axis, x.force.value, x.torque.peak, x.torque.axis, x.torque.value)
}
