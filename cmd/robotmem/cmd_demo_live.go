package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// How the demo turns recordings into a robot's life: each task has a
// collection, about two dozen recordings make a session, and each recording is
// sensed (its trace, as a perception) and learnt (its figures, as a fact).

const (
	demoEpisode = 24               // recordings in a session, about
	demoPace    = 20 * time.Second // between recordings; the source does not say when they were made
)

// demoLived is what the robot lived through.
type demoLived struct {
	Recordings  int            `json:"recordings"`
	Sessions    int            `json:"sessions"`
	Facts       int            `json:"facts"`
	Duplicates  int            `json:"duplicates"` // facts that were known already
	Perceptions int            `json:"perceptions"`
	Conflicts   int            `json:"conflicts"`
	Merged      int            `json:"merged"`
	Tasks       []demoTask     `json:"tasks"`
	Foreseen    demoShare      `json:"foreseen"` // class of the nearest known trace was right
	Chance      float64        `json:"foreseen_by_chance"`
	Seconds     float64        `json:"seconds"`
	Writes      demoQuantiles  `json:"writes"`
	Asks        demoQuantiles  `json:"asks"`
	Classes     map[string]int `json:"classes"`
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
	if len(times) == 0 {
		return demoQuantiles{}
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[int(q*float64(len(times)-1))].Seconds() * 1e3 }
	return demoQuantiles{len(times), at(0.5), at(0.99)}
}

// experience is a recording and where it is remembered.
type experience struct {
	robotfailures.Failure
	collection string
	perception int64
}

// succeeded: the sets hold motions without a failure too, for comparison.
func (x *experience) succeeded() bool { return x.Class == "normal" || x.Class == "ok" }

// demoLife lives.
type demoLife struct {
	m           *local.Node
	report      *demoLived
	bar         *progress
	experiences []*experience
	at          time.Time        // of the recording that is lived
	classOf     map[int64]string // by perception
	writes      []time.Duration
	asks        []time.Duration
}

func (l *demoLife) live(ctx context.Context, failures []robotfailures.Failure) error {
	began := time.Now()
	l.at = began.Add(-demoPace * time.Duration(len(failures)))
	l.classOf = map[int64]string{}
	l.report.Classes = map[string]int{}
	expected := 0.0
	for _, task := range tasksOf(failures) {
		l.report.Tasks = append(l.report.Tasks, task.demoTask)
		episodes := task.deal()
		for _, episode := range episodes {
			if err := l.episode(ctx, task.demoTask, episode); err != nil {
				return err
			}
		}
		expected += drawn(slices.Concat(episodes...))
	}
	r := l.report
	r.Chance = expected / float64(max(1, r.Foreseen.Of))
	r.Seconds = time.Since(began).Seconds()
	r.Writes, r.Asks = demoQuantilesOf(l.writes), demoQuantilesOf(l.asks)
	return nil
}

// drawn is how often someone who names the class of any known trace, drawn at
// random, is right on average, in the order of the life.
func drawn(lived []*experience) float64 {
	right := 0.0
	known := map[string]int{}
	for met, x := range lived {
		right += float64(known[x.Class]) / float64(max(1, met))
		known[x.Class]++
	}
	return right
}

// taskLife is a data set with its recordings.
type taskLife struct {
	demoTask
	all []*experience
}

// tasksOf groups recordings by data set, in their order.
func tasksOf(failures []robotfailures.Failure) []*taskLife {
	var tasks []*taskLife
	for _, f := range failures {
		if len(tasks) == 0 || tasks[len(tasks)-1].Set != f.Set {
			name := strings.ReplaceAll(f.Task, " ", "-")
			tasks = append(tasks, &taskLife{demoTask: demoTask{Set: f.Set, Name: f.Task, Collection: name}})
		}
		t := tasks[len(tasks)-1]
		x := &experience{Failure: f, collection: t.Collection}
		t.all = append(t.all, x)
		t.Recordings++
		if x.succeeded() {
			t.Successes++
		}
	}
	for _, t := range tasks {
		t.Sessions = (t.Recordings + demoEpisode - 1) / demoEpisode
	}
	return tasks
}

// deal makes sessions. The files are sorted by class; recordings are dealt out
// like cards, so that a session is as mixed as a day of work.
func (t *taskLife) deal() [][]*experience {
	episodes := make([][]*experience, t.Sessions)
	for i, x := range t.all {
		episodes[i%t.Sessions] = append(episodes[i%t.Sessions], x)
	}
	return episodes
}

func (l *demoLife) episode(ctx context.Context, task demoTask, episode []*experience) error {
	s, err := l.m.StartSession(ctx, &robotmem.StartSessionRequest{Collection: task.Collection, Context: sessionContext(task.Name)})
	if err != nil {
		return err
	}
	var used []int64
	successes := 0
	for _, x := range episode {
		id, err := l.foresee(ctx, s.SessionID, x)
		if err != nil {
			return err
		}
		if id != 0 {
			used = append(used, id)
		}
		if err := l.remember(ctx, s.SessionID, x); err != nil {
			return err
		}
		if x.succeeded() {
			successes++
		}
		l.at = l.at.Add(demoPace)
		l.bar.Add(1)
	}
	slices.Sort(used)
	score := float64(successes) / float64(len(episode))
	end, err := l.m.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score, UsedMemoryIDs: slices.Compact(used)})
	if err != nil {
		return err
	}
	l.report.Sessions++
	l.report.Merged += end.Consolidated.SupersededCount
	return nil
}

// foresee asks which known trace is most like the one that is being felt,
// before it is stored. It returns the memory if its class was the right one:
// that is a memory that helped.
func (l *demoLife) foresee(ctx context.Context, session string, x *experience) (int64, error) {
	began := time.Now()
	res, err := l.m.Recall(ctx, &robotmem.RecallRequest{
		Collection: x.collection, N: 1, ForSession: session,
		Like: &robotmem.Like{DataBase64: x.CSV(), MediaType: "text/csv"},
	})
	if err != nil {
		return 0, err
	}
	l.asks = append(l.asks, time.Since(began))
	if len(res.Memories) == 0 {
		return 0, nil // the first of its task
	}
	l.report.Foreseen.Of++
	id := res.Memories[0].MemoryID
	if l.classOf[id] != x.Class {
		return 0, nil
	}
	l.report.Foreseen.Right++
	return id, nil
}

// remember stores the trace and the fact.
func (l *demoLife) remember(ctx context.Context, session string, x *experience) error {
	f := figuresOf(x)
	about := robotmem.Object{
		"params": f.params(),
		"task":   map[string]any{"name": x.Task, "set": x.Set, "success": x.succeeded(), "class": x.Label()},
		"robot":  map[string]any{"id": demoRobot},
		"env":    map[string]any{"sim_or_real": "real"},
	}
	began := time.Now()
	saved, err := l.m.SavePerception(ctx, &robotmem.SavePerceptionRequest{
		Description:    fmt.Sprintf("wrench at the wrist during %s, %s: torque %s, force %s", x.Task, x.Label(), f.torque.trend, f.force.trend),
		PerceptionType: "tactile", MediaType: "text/csv", Data: string(x.CSV()),
		Metadata: robotmem.Object{
			"kind": "wrench", "channels": robotfailures.Channels, "duration_s": robotfailures.Window.Seconds(),
			"recording": fmt.Sprintf("%s %d", x.Set, x.Index+1),
		},
		Context: about, SessionID: session, ObservedAt: &l.at,
	})
	if err != nil {
		return err
	}
	l.writes = append(l.writes, time.Since(began))
	began = time.Now()
	known := l.at.Add(robotfailures.Window)
	learnt, err := l.m.Learn(ctx, &robotmem.LearnRequest{
		Insight: f.sentence(x), Context: about, SessionID: session, ObservedAt: &known,
		Source: fmt.Sprintf("Robot Execution Failures (UCI), %s recording %d", x.Set, x.Index+1),
	})
	if err != nil {
		return err
	}
	l.writes = append(l.writes, time.Since(began))
	l.report.count(x, learnt)
	x.perception = saved.MemoryID
	l.classOf[saved.MemoryID] = x.Class
	l.experiences = append(l.experiences, x)
	return nil
}

func (r *demoLived) count(x *experience, learnt *robotmem.LearnResponse) {
	r.Recordings++
	r.Perceptions++
	r.Classes[x.Label()]++
	r.Conflicts += len(learnt.Conflicts)
	if learnt.Status == "duplicate" {
		r.Duplicates++
	} else {
		r.Facts++
	}
}

// demoRobot is a name for the arm; the source gives none.
const demoRobot = "demo-arm"

func sessionContext(task string) robotmem.Object {
	return robotmem.Object{
		"task":  map[string]any{"name": task},
		"robot": map[string]any{"id": demoRobot},
		"env":   map[string]any{"sim_or_real": "real"},
	}
}
