package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const (
	demoQuestion  = "torque rising while approaching the grasp position"
	demoNeighbors = 5
	demoMost      = 100 // of one answer
	demoShown     = 3   // answers that are printed whole
)

// demoAnswer is one memory of an answer.
type demoAnswer struct {
	MemoryID int64          `json:"memory_id"`
	Content  string         `json:"content"`
	Class    string         `json:"class"`
	Task     string         `json:"task"`
	Trend    string         `json:"torque_trend"`
	Away     float64        `json:"away,omitempty"` // of a trace: 0 for equals
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
	Found     int          `json:"found"` // recordings behind the facts that came back
	Others    int          `json:"others"`
	Questions int          `json:"questions"`
	QueryMS   float64      `json:"query_ms"` // all of them
	Hardest   []demoAnswer `json:"hardest"`
	Above     float64      `json:"above"` // peak force asked for
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

	All    demoShare     `json:"all"` // over every recording as the probe
	Chance float64       `json:"chance"`
	Asks   demoQuantiles `json:"asks"`
}

// demoAsker asks what a controller would ask.
type demoAsker struct {
	m           *local.Node
	experiences []*experience
}

func (q *demoAsker) ask(ctx context.Context, r *demoReport) error {
	if err := q.words(ctx, &r.Words); err != nil {
		return err
	}
	if err := q.filter(ctx, &r.Filter, r.Lived.Tasks); err != nil {
		return err
	}
	if err := q.likeness(ctx, &r.Likeness); err != nil {
		return err
	}
	began := time.Now()
	s, err := q.m.StartSession(ctx, &robotmem.StartSessionRequest{
		Collection: q.experiences[0].collection, Context: sessionContext(q.experiences[0].Task),
	})
	if err != nil {
		return err
	}
	r.SessionID, r.Briefing, r.BriefMS = s.SessionID, s.Briefing, time.Since(began).Seconds()*1e3
	return nil
}

func (q *demoAsker) words(ctx context.Context, w *demoWords) error {
	w.Query = demoQuestion
	res, err := q.m.Recall(ctx, &robotmem.RecallRequest{Query: w.Query, Collection: "*", Type: "fact", N: demoShown})
	if err != nil {
		return err
	}
	w.QueryMS, w.Answers = res.QueryMS, answersOf(res.Memories)
	for _, a := range w.Answers {
		if a.Trend == "rising" {
			w.Rising++
		}
		if a.Task == q.experiences[0].Task {
			w.RightJob++
		}
	}
	return nil
}

// filter asks each task for all its collisions, then all tasks for the hardest
// ones and for the rarest class: a filter finds what it fits, however rare.
func (q *demoAsker) filter(ctx context.Context, f *demoFilter, tasks []demoTask) error {
	counts := map[string]int{}
	var forces []float64
	for _, x := range q.experiences {
		counts[x.Label()]++
		if strings.Contains(x.Label(), "collision") {
			f.Known++
			forces = append(forces, figuresOf(x).force.peak)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		if strings.Contains(label, "collision") {
			f.Classes = append(f.Classes, label)
		}
		if f.Rarest == "" || counts[label] < counts[f.Rarest] {
			f.Rarest = label
		}
	}
	collisions := robotmem.Object{"task.class": map[string]any{"$in": f.Classes}}
	for _, task := range tasks {
		res, err := q.m.Recall(ctx, &robotmem.RecallRequest{
			Collection: task.Collection, Type: "perception", N: demoMost, ContextFilter: collisions,
		})
		if err != nil {
			return err
		}
		f.Questions++
		f.QueryMS += res.QueryMS
		f.Found += len(res.Memories)
		for _, a := range answersOf(res.Memories) {
			if !slices.Contains(f.Classes, a.Class) {
				f.Others++
			}
		}
	}

	// The hardest one in twenty.
	slices.Sort(forces)
	f.Above = forces[len(forces)*19/20]
	res, err := q.m.Recall(ctx, &robotmem.RecallRequest{
		Query: "collision", Collection: "*", Type: "fact", N: demoShown,
		ContextFilter: robotmem.Object{"$and": []any{collisions, robotmem.Object{"params.peak_force": map[string]any{"$gt": f.Above}}}},
	})
	if err != nil {
		return err
	}
	f.Hardest = answersOf(res.Memories)

	f.RareKnown = counts[f.Rarest]
	res, err = q.m.Recall(ctx, &robotmem.RecallRequest{
		Collection: "*", Type: "perception", N: demoMost, ContextFilter: robotmem.Object{"task.class": f.Rarest},
	})
	if err != nil {
		return err
	}
	f.RareFound = len(res.Memories)
	return nil
}

// likeness asks for the traces most like a trace, within its task, first for
// one that failed and then for every recording.
func (q *demoAsker) likeness(ctx context.Context, l *demoLikeness) error {
	var times []time.Duration
	expected := 0.0
	for _, x := range q.experiences {
		began := time.Now()
		res, err := q.m.Recall(ctx, &robotmem.RecallRequest{
			Collection: x.collection, N: demoNeighbors, Like: &robotmem.Like{MemoryID: x.perception}, Explain: true,
		})
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
		nearest := answersOf(res.Memories)
		same := 0
		for _, a := range nearest {
			if a.Class == x.Label() {
				same++
			}
		}
		l.All.Right += same
		l.All.Of += len(nearest)
		expected += q.chance(x) * float64(len(nearest))
		if l.Nearest == nil && !x.succeeded() {
			probe, err := q.m.Get(ctx, &robotmem.GetRequest{MemoryID: x.perception})
			if err != nil {
				return err
			}
			l.Probe, l.Nearest, l.Same, l.QueryMS = answerOf(*probe), nearest, same, res.QueryMS
		}
	}
	l.Chance = expected / float64(max(1, l.All.Of))
	l.Asks = demoQuantilesOf(times)
	return nil
}

// chance is how often another recording of the task, drawn at random, has the
// class of x.
func (q *demoAsker) chance(x *experience) float64 {
	same, others := 0, 0
	for _, o := range q.experiences {
		if o == x || o.collection != x.collection {
			continue
		}
		others++
		if o.Class == x.Class {
			same++
		}
	}
	return float64(same) / float64(max(1, others))
}

func answersOf(memories []robotmem.Memory) []demoAnswer {
	out := make([]demoAnswer, len(memories))
	for i, m := range memories {
		out[i] = answerOf(m)
	}
	return out
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
