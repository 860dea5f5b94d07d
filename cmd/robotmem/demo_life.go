package main

import (
	"context"
	"fmt"
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

	demoWords     = "torque rising while approaching the grasp position"
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
	Recordings  int     `json:"recordings"`
	Sessions    int     `json:"sessions"`
	Facts       int     `json:"facts"`
	Duplicates  int     `json:"duplicates"` // facts that were known already
	Perceptions int     `json:"perceptions"`
	Merged      int     `json:"merged"`
	Collection  string  `json:"collection"` // of the first task
	Seconds     float64 `json:"seconds"`
}

// demoQuestion is a question and what came back.
type demoQuestion struct {
	Question string   `json:"question"`
	Lines    []string `json:"lines"`
	Right    int      `json:"right"` // memories that the question means
	Of       int      `json:"of"`
	MS       float64  `json:"ms"`
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

func (x *experience) isCollision() bool { return strings.Contains(x.Label(), "collision") }

// demoLife stores the recordings and asks about them. After an error its methods do nothing.
type demoLife struct {
	m           *local.Node
	err         error
	report      *demoReport
	bar         *progressBar
	experiences []*experience
	at          time.Time // of the present recording
}

// demoCall calls an operation of the memory and returns the time in milliseconds.
func demoCall[Req, Res any](ctx context.Context, l *demoLife, op func(context.Context, *Req) (*Res, error), req *Req) (*Res, float64) {
	began := time.Now()
	if l.err == nil {
		var res *Res
		if res, l.err = op(ctx, req); l.err == nil {
			return res, millis(time.Since(began))
		}
	}
	return new(Res), 0
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
	l.report.Lived.Collection = l.experiences[0].collection
	l.report.Lived.Seconds = time.Since(began).Seconds()
}

// task stores one set. Its recordings are sorted by class: session i of n takes every n-th of
// them, so that a session is as mixed as a day of work.
func (l *demoLife) task(ctx context.Context, set []robotfailures.Failure) {
	collection := strings.ReplaceAll(set[0].Task, " ", "-")
	sessions := (len(set) + demoEpisode - 1) / demoEpisode
	for i := range sessions {
		s, _ := demoCall(ctx, l, l.m.StartSession, &robotmem.StartSessionRequest{Collection: collection, Context: sessionContext(set[0].Task)})
		successes, n := 0, 0
		for j := i; j < len(set); j += sessions {
			x := &experience{set[j], vectorOf(set[j], 0), vectorOf(set[j], 3), collection, 0}
			l.remember(ctx, s.SessionID, x)
			if n++; x.succeeded() {
				successes++
			}
			l.at = l.at.Add(demoPace)
			l.bar.Add(1)
		}
		score := float64(successes) / float64(n)
		end, _ := demoCall(ctx, l, l.m.EndSession, &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score})
		l.report.Lived.Sessions++
		l.report.Lived.Merged += end.Consolidated.SupersededCount
	}
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
	saved, _ := demoCall(ctx, l, l.m.SavePerception, &robotmem.SavePerceptionRequest{
		Description:    fmt.Sprintf("wrench at the wrist during %s, %s: torque %s, force %s", x.Task, x.Label(), x.torque.trend, x.force.trend),
		PerceptionType: "tactile", MediaType: "text/csv", Data: string(x.CSV()),
		Metadata: robotmem.Object{
			"kind": "wrench", "channels": robotfailures.Channels, "duration_s": robotfailures.Window.Seconds(),
			"recording": fmt.Sprintf("%s %d", x.Set, x.Index+1),
		},
		Context: about, SessionID: session, ObservedAt: &observed,
	})
	learnt, _ := demoCall(ctx, l, l.m.Learn, &robotmem.LearnRequest{
		Insight: x.sentence(), Context: about, SessionID: session, ObservedAt: &known,
		Source: fmt.Sprintf("Robot Execution Failures (UCI), %s recording %d", x.Set, x.Index+1),
	})
	r := &l.report.Lived
	r.Recordings++
	r.Perceptions++
	if learnt.Status == "duplicate" {
		r.Duplicates++
	} else {
		r.Facts++
	}
	x.perception = saved.MemoryID
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
	l.askWords(ctx)
	l.askCollisions(ctx)
	l.askLikeness(ctx)
	first := l.experiences[0]
	s, ms := demoCall(ctx, l, l.m.StartSession, &robotmem.StartSessionRequest{Collection: first.collection, Context: sessionContext(first.Task)})
	l.report.SessionID = s.SessionID
	l.tell(demoQuestion{Question: "A new session begins: its briefing", Lines: strings.Split(strings.TrimSpace(s.Briefing.Text), "\n"), MS: ms})
	l.report.Stats, _ = demoCall(ctx, l, l.m.Stats, &admin.StatsRequest{})
	l.report.Doctor, _ = demoCall(ctx, l, l.m.Doctor, &admin.DoctorRequest{})
}

func (l *demoLife) tell(q demoQuestion) { l.report.Questions = append(l.report.Questions, q) }

// said returns a field of the section of a memory's context.
func said(section any, key string) string {
	fields, _ := section.(map[string]any)
	return fmt.Sprint(fields[key])
}

// askWords asks for rising torques in words, in all tasks.
func (l *demoLife) askWords(ctx context.Context) {
	res, _ := demoCall(ctx, l, l.m.Recall, &robotmem.RecallRequest{Query: demoWords, Collection: "*", Type: "fact", N: demoShown})
	q := demoQuestion{Question: fmt.Sprintf("In words: %q, in all tasks", demoWords), Of: len(res.Memories), MS: res.QueryMS}
	for _, m := range res.Memories {
		q.Lines = append(q.Lines, fmt.Sprintf("[%d] %s", m.MemoryID, m.Content))
		if said(m.Params, "torque_trend") == "rising" && said(m.Task, "name") == l.experiences[0].Task {
			q.Right++
		}
	}
	q.Lines = append(q.Lines, fmt.Sprintf("In %d of %d the torque rises during that task.", q.Right, q.Of))
	l.tell(q)
}

// askCollisions asks each task for all its collisions by their class.
func (l *demoLife) askCollisions(ctx context.Context) {
	q := demoQuestion{Question: "By structure: task.class is one of the kinds of collision"}
	var classes, collections []string
	for _, x := range l.experiences {
		if !slices.Contains(collections, x.collection) {
			collections = append(collections, x.collection)
		}
		if !x.isCollision() {
			continue
		}
		if q.Of++; !slices.Contains(classes, x.Label()) {
			classes = append(classes, x.Label())
		}
	}
	others := 0
	for _, collection := range collections {
		res, _ := demoCall(ctx, l, l.m.Recall, &robotmem.RecallRequest{
			Collection: collection, Type: "perception", N: demoMost, ContextFilter: robotmem.Object{"task.class": map[string]any{"$in": classes}},
		})
		q.MS += res.QueryMS
		for _, m := range res.Memories {
			if slices.Contains(classes, said(m.Task, "class")) {
				q.Right++
			} else {
				others++
			}
		}
	}
	q.Lines = []string{fmt.Sprintf("%d of %d collisions found with %d questions, %d of anything else.", q.Right, q.Of, len(collections), others)}
	l.tell(q)
}

// askLikeness asks, for every recording, for the traces of its task that are most like it. The
// first failure is the one that is printed.
func (l *demoLife) askLikeness(ctx context.Context) {
	q := demoQuestion{}
	for _, x := range l.experiences {
		res, _ := demoCall(ctx, l, l.m.Recall, &robotmem.RecallRequest{Collection: x.collection, N: demoNeighbors, Like: &robotmem.Like{MemoryID: x.perception}})
		for _, m := range res.Memories {
			if q.Of++; said(m.Task, "class") == x.Label() {
				q.Right++
			}
		}
		if q.Question != "" || x.succeeded() {
			continue
		}
		l.report.Probe, q.MS = x.perception, res.QueryMS
		q.Question = fmt.Sprintf("By trace: most like [%d], %s in %s", x.perception, x.Label(), x.Task)
		for _, m := range res.Memories {
			q.Lines = append(q.Lines, fmt.Sprintf("%-6s %-16s peak force %s, peak torque %s, torque %s", fmt.Sprintf("[%d]", m.MemoryID),
				said(m.Task, "class"), said(m.Params, "peak_force"), said(m.Params, "peak_torque"), said(m.Params, "torque_trend")))
		}
	}
	q.Lines = append(q.Lines, fmt.Sprintf("With each of the %d traces as the question, %d %% of the %d nearest share its class.", len(l.experiences), 100*q.Right/max(1, q.Of), demoNeighbors))
	l.tell(q)
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
