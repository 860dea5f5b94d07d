package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const (
	demoEpisode   = 24               // recordings in a session, about
	demoPace      = 20 * time.Second // between recordings; the source has no times
	demoWords     = "torque rising while approaching the grasp position"
	demoClass     = "front collision"
	demoNeighbors = 5
	demoWidth     = 100 // characters of a usual terminal
)

// demoCmd stores 463 real recordings of a robot arm as sessions and asks the questions of a
// controller. Every number that it prints is measured in the run.
type demoCmd struct {
	Dir  string  `name:"dir" placeholder:"DIR" help:"Make the new folder of the demo below this one. Default the system's folder for temporary files."`
	Keep bool    `name:"keep" default:"true" negatable:"" help:"Leave the file, to try more on it. --no-keep removes it."`
	JSON bool    `name:"json" help:"Print it as JSON."`
	Web  bool    `name:"web" help:"Then serve the dashboard on the demo's file, until Ctrl-C."`
	Addr *string `name:"addr" placeholder:"HOST:PORT" help:"Where --web listens (ROBOTMEM_ADDR; default 127.0.0.1:7878). Port 0 takes a free one."`
}

// demoReport is what the demo measured.
type demoReport struct {
	DB         string                `json:"db"`
	Kept       bool                  `json:"kept"`
	Recordings int                   `json:"recordings"` // each is stored as a perception and a fact
	Sessions   int                   `json:"sessions"`
	Facts      int                   `json:"facts"` // the others were known already
	Questions  []demoQuestion        `json:"questions"`
	Probe      int64                 `json:"probe"` // the trace of the question by trace
	Stats      *admin.StatsResponse  `json:"stats"`
	Doctor     *admin.DoctorResponse `json:"doctor"`
}

// demoQuestion is a question and what came back.
type demoQuestion struct {
	Question string   `json:"question"`
	Lines    []string `json:"lines"`
	Right    int      `json:"right"` // memories that the question means
	Of       int      `json:"of"`
}

// Run runs the demo in a folder of its own. It never opens a file that exists.
func (c *demoCmd) Run(ctx context.Context, a *app) (err error) {
	if c.Dir != "" {
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			return invalid("dir", "cannot be made: %v", err)
		}
	}
	dir, err := os.MkdirTemp(c.Dir, "robotmem-demo-")
	if err != nil {
		return invalid("dir", "is not writable: %v", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	told := false
	defer func() {
		if !told || !c.Keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	r := &demoReport{DB: filepath.Join(dir, "memory.db"), Kept: c.Keep}
	if err := r.run(ctx, a); err != nil {
		return err
	}
	if err := a.show(c.JSON, r, r.print); err != nil {
		return err
	}
	told = true
	if !c.Web {
		return nil
	}
	// Other settings of the user, such as tokens, are of another file.
	a.Config.DB, a.Config.URL, a.Config.Collection = r.DB, "", ""
	a.Config.Home, a.Config.Token = dir, ""
	return (&webCmd{Addr: c.Addr}).Run(ctx, a)
}

func (r *demoReport) run(ctx context.Context, a *app) (err error) {
	failures, err := robotfailures.Load()
	if err != nil {
		return fmt.Errorf("the demo's data: %w", err)
	}
	m, err := a.Open(ctx, r.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	life := &demoLife{m: m, report: r, at: time.Now().Add(-demoPace * time.Duration(len(failures)))}
	bar := a.newProgress("storing", int64(len(failures)))
	for _, set := range []string{"LP1", "LP2", "LP3", "LP4", "LP5"} {
		life.task(ctx, slices.DeleteFunc(slices.Clone(failures), func(f robotfailures.Failure) bool { return f.Set != set }))
		bar.Set(int64(len(life.experiences)), int64(len(failures)))
	}
	bar.Done()
	life.ask(ctx)
	return life.err
}

// experience is a recording and where it is stored.
type experience struct {
	robotfailures.Failure
	perception int64
}

func (x *experience) collection() string { return strings.ReplaceAll(x.Task, " ", "-") }

// demoLife stores the recordings and asks about them. After an error its methods do nothing.
type demoLife struct {
	m           *local.Node
	err         error
	report      *demoReport
	experiences []*experience
	at          time.Time // of the present recording
}

// demoCall calls an operation of the memory.
func demoCall[Req, Res any](ctx context.Context, l *demoLife, op func(context.Context, *Req) (*Res, error), req *Req) *Res {
	if l.err == nil {
		var res *Res
		if res, l.err = op(ctx, req); l.err == nil {
			return res
		}
	}
	return new(Res)
}

// task stores one set as a collection. Its recordings are sorted by class: session i of n takes
// every n-th of them, so that a session is as mixed as a day of work.
func (l *demoLife) task(ctx context.Context, set []robotfailures.Failure) {
	sessions := (len(set) + demoEpisode - 1) / demoEpisode
	for i := range sessions {
		first := &experience{Failure: set[i]}
		s := demoCall(ctx, l, l.m.StartSession, &robotmem.StartSessionRequest{Collection: first.collection(), Context: first.context()})
		for j := i; j < len(set); j += sessions {
			l.remember(ctx, s.SessionID, &experience{Failure: set[j]})
		}
		demoCall(ctx, l, l.m.EndSession, &robotmem.EndSessionRequest{SessionID: s.SessionID})
		l.report.Sessions++
	}
}

// remember stores the trace of a recording as a perception and its figures as a fact.
func (l *demoLife) remember(ctx context.Context, session string, x *experience) {
	about, observed := x.context(), l.at
	force, forceTrend := x.figures(0)
	torque, torqueTrend := x.figures(3)
	about["params"] = map[string]any{"peak_force": force, "force_trend": forceTrend, "peak_torque": torque, "torque_trend": torqueTrend}
	succeeded := x.Class == "normal" || x.Class == "ok" // the sets hold motions without a failure too
	about["task"] = map[string]any{"name": x.Task, "success": succeeded, "class": x.Label()}
	source := fmt.Sprintf("Robot Execution Failures (UCI), %s recording %d", x.Set, x.Index+1)
	saved := demoCall(ctx, l, l.m.SavePerception, &robotmem.SavePerceptionRequest{
		Description:    fmt.Sprintf("wrench at the wrist during %s, %s: torque %s, force %s", x.Task, x.Label(), torqueTrend, forceTrend),
		PerceptionType: "tactile", MediaType: "text/csv", Data: string(x.CSV()),
		Metadata: robotmem.Object{"kind": "wrench", "channels": robotfailures.Channels, "duration_s": robotfailures.Window.Seconds(), "recording": source},
		Context:  about, SessionID: session, ObservedAt: &observed,
	})
	learnt := demoCall(ctx, l, l.m.Learn, &robotmem.LearnRequest{
		Insight: fmt.Sprintf("observed %s in %s: torque %s, force %s, peak force %.0f, peak torque %.0f", x.Label(), x.Task, torqueTrend, forceTrend, force, torque),
		Context: about, SessionID: session, ObservedAt: &observed, Source: source,
	})
	if learnt.Status == "created" {
		l.report.Facts++
	}
	l.report.Recordings++
	l.at = l.at.Add(demoPace)
	x.perception = saved.MemoryID
	l.experiences = append(l.experiences, x)
}

func (x *experience) context() robotmem.Object {
	return robotmem.Object{
		"task":  map[string]any{"name": x.Task},
		"robot": map[string]any{"id": "demo-arm"}, // the source has no name
		"env":   map[string]any{"sim_or_real": "real"},
	}
}

// figures are the largest magnitude of the three channels from first on, and whether its last
// five samples are 1.5 times as strong as the first five, or the reverse.
func (x *experience) figures(first int) (peak float64, trend string) {
	var sums [robotfailures.SampleCount / 5]float64
	for i, s := range x.Samples {
		magnitude := math.Hypot(math.Hypot(s[first], s[first+1]), s[first+2])
		peak = max(peak, math.Round(magnitude)) // the readings are whole numbers
		sums[i/5] += magnitude
	}
	switch begin, end := sums[0], sums[len(sums)-1]; {
	case end > 1.5*begin:
		return peak, "rising"
	case begin > 1.5*end:
		return peak, "falling"
	}
	return peak, "steady"
}

// ask asks by words, by structure and by a trace, and starts a session.
func (l *demoLife) ask(ctx context.Context) {
	first, r := l.experiences[0], l.report
	res := demoCall(ctx, l, l.m.Recall, &robotmem.RecallRequest{Query: demoWords, Collection: "*", Type: "fact", N: 3})
	q := demoQuestion{Question: fmt.Sprintf("In words: %q, in all tasks (%.1f ms)", demoWords, res.QueryMS), Of: len(res.Memories)}
	for _, m := range res.Memories {
		q.Lines = append(q.Lines, fmt.Sprintf("[%d] %s", m.MemoryID, m.Content))
		if said(m.Params, "torque_trend") == "rising" && said(m.Task, "name") == first.Task {
			q.Right++
		}
	}
	r.Questions = append(r.Questions, q)

	res = demoCall(ctx, l, l.m.Recall, &robotmem.RecallRequest{Collection: "*", Type: "perception", N: 100, ContextFilter: robotmem.Object{"task.class": demoClass}})
	q = demoQuestion{Question: fmt.Sprintf("By structure: task.class is %q, in all tasks (%.1f ms)", demoClass, res.QueryMS), Right: sameClass(res, demoClass)}
	for _, x := range l.experiences {
		if x.Label() == demoClass {
			q.Of++
		}
	}
	q.Lines = []string{fmt.Sprintf("%d of %d found, and %d of anything else", q.Right, q.Of, len(res.Memories)-q.Right)}
	r.Questions = append(r.Questions, q)

	q = demoQuestion{}
	for _, x := range l.experiences {
		res := demoCall(ctx, l, l.m.Recall, &robotmem.RecallRequest{Collection: x.collection(), N: demoNeighbors, Like: &robotmem.Like{MemoryID: x.perception}})
		q.Of += len(res.Memories)
		q.Right += sameClass(res, x.Label())
		if q.Question != "" || x.Label() != demoClass {
			continue
		}
		r.Probe, q.Question = x.perception, fmt.Sprintf("By trace: most like [%d], %s in %s (%.1f ms)", x.perception, x.Label(), x.Task, res.QueryMS)
		for _, m := range res.Memories {
			q.Lines = append(q.Lines, fmt.Sprintf("[%d] %s", m.MemoryID, m.Content))
		}
	}
	q.Lines = append(q.Lines, fmt.Sprintf("With each of the %d traces as the question, %d %% of the %d nearest share its class", len(l.experiences), 100*q.Right/max(1, q.Of), demoNeighbors))
	r.Questions = append(r.Questions, q)

	s := demoCall(ctx, l, l.m.StartSession, &robotmem.StartSessionRequest{Collection: first.collection(), Context: first.context()})
	r.Questions = append(r.Questions, demoQuestion{Question: "A new session begins: its briefing", Lines: strings.Split(strings.TrimSpace(s.Briefing.Text), "\n")})
	r.Stats = demoCall(ctx, l, l.m.Stats, &admin.StatsRequest{})
	r.Doctor = demoCall(ctx, l, l.m.Doctor, &admin.DoctorRequest{})
}

func sameClass(res *robotmem.RecallResponse, class string) (n int) {
	for _, m := range res.Memories {
		if said(m.Task, "class") == class {
			n++
		}
	}
	return n
}

// said returns a field of the section of a memory's context.
func said(section any, key string) string {
	fields, _ := section.(map[string]any)
	return fmt.Sprint(fields[key])
}

func (r *demoReport) print(w *lines) {
	say := func(format string, args ...any) {
		w.line("%s", clip(oneLine(fmt.Sprintf(format, args...)), demoWidth))
	}
	say("Robot Execution Failures (L. Seabra Lopes, L. Camarinha-Matos, 1999), UCI, CC BY 4.0:")
	say("%d recordings of a robot arm, stored as %d sessions with %d facts", r.Recordings, r.Sessions, r.Facts)
	for i, q := range r.Questions {
		w.line("")
		say("%d. %s", i+1, q.Question)
		for _, text := range q.Lines {
			say("   %s", text)
		}
	}
	w.line("")
	say("The node: %d memories in %d collections, %s, doctor: %s", r.Stats.Total, r.Stats.Collections, sizeText(r.Stats.DBBytes), r.Doctor.Status)
	if !r.Kept {
		return
	}
	w.line("   %s", r.DB) // not clipped: the user copies it
	w.line("")
	say("Next, on the same file:")
	w.line("   export ROBOTMEM_DB=%s", shellQuote(r.DB))
	w.line(`   robotmem recall "torque rising" --collection '*' --explain`)
	w.line(`   robotmem recall --collection '*' --context-filter '{"task.class":%q}' --type fact`, demoClass)
	w.line(`   robotmem recall --collection '*' --like '{"memory_id":%d}'`, r.Probe)
	w.line("   robotmem web")
}
