package main

import (
	"cmp"
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
	demoEpisode   = 24               // recordings in a session
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

	m           *local.Node
	err         error // after the first, nothing more is called
	experiences []*experience
	at          time.Time // of the present recording
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
	dir, err := filepath.Abs(cmp.Or(c.Dir, os.TempDir()))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		dir, err = os.MkdirTemp(dir, "robotmem-demo-")
	}
	if err != nil {
		return invalid("dir", "is not writable: %v", err)
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
	return (&webCmd{Addr: c.Addr, start: r.incident()}).Run(ctx, a)
}

func (r *demoReport) run(ctx context.Context, a *app) (err error) {
	failures, err := robotfailures.Load()
	if err != nil {
		return fmt.Errorf("the demo's data: %w", err)
	}
	if r.m, err = a.Open(ctx, r.DB); err != nil {
		return err
	}
	r.at = time.Now().Add(-demoPace * time.Duration(len(failures)))
	for _, set := range []string{"LP1", "LP2", "LP3", "LP4", "LP5"} {
		r.task(ctx, slices.DeleteFunc(slices.Clone(failures), func(f robotfailures.Failure) bool { return f.Set != set }))
	}
	r.ask(ctx)
	return errors.Join(r.err, r.m.Close())
}

// experience is a recording and where it is stored.
type experience struct {
	robotfailures.Failure
	collection string
	perception int64
}

// demoCall calls an operation of the memory.
func demoCall[Req, Res any](ctx context.Context, r *demoReport, op func(context.Context, *Req) (*Res, error), req *Req) *Res {
	if r.err == nil {
		var res *Res
		if res, r.err = op(ctx, req); r.err == nil {
			return res
		}
	}
	return new(Res)
}

// task stores one set as a collection.
func (r *demoReport) task(ctx context.Context, set []robotfailures.Failure) {
	collection := strings.ReplaceAll(set[0].Task, " ", "-")
	for part := range slices.Chunk(set, demoEpisode) {
		s := demoCall(ctx, r, r.m.StartSession, &robotmem.StartSessionRequest{Collection: collection, Context: demoContext(set[0].Task)})
		for _, f := range part {
			r.remember(ctx, s.SessionID, &experience{Failure: f, collection: collection})
		}
		demoCall(ctx, r, r.m.EndSession, &robotmem.EndSessionRequest{SessionID: s.SessionID})
		r.Sessions++
	}
}

// remember stores the trace of a recording as a perception and its figures as a fact.
func (r *demoReport) remember(ctx context.Context, session string, x *experience) {
	about, observed := demoContext(x.Task), r.at
	peak, trend := x.torque()
	about["params"] = map[string]any{"peak_torque": peak, "torque_trend": trend}
	succeeded := x.Class == "normal" || x.Class == "ok" // the sets hold motions without a failure too
	about["task"] = map[string]any{"name": x.Task, "success": succeeded, "class": x.Label()}
	saved := demoCall(ctx, r, r.m.SavePerception, &robotmem.SavePerceptionRequest{
		Description:    fmt.Sprintf("wrench at the wrist during %s, %s: torque %s", x.Task, x.Label(), trend),
		PerceptionType: "tactile", MediaType: "text/csv", Data: string(x.CSV()),
		Metadata: robotmem.Object{"kind": "wrench", "channels": robotfailures.Channels, "duration_s": robotfailures.Window.Seconds()},
		Context:  about, SessionID: session, ObservedAt: &observed,
	})
	learnt := demoCall(ctx, r, r.m.Learn, &robotmem.LearnRequest{
		Insight: fmt.Sprintf("observed that %s %s with %s: torque %s, peak torque %.0f", x.Task, map[bool]string{true: "succeeded", false: "failed"}[succeeded], x.Label(), trend, peak),
		Context: about, SessionID: session, ObservedAt: &observed, Source: fmt.Sprintf("Robot Execution Failures (UCI), %s recording %d", x.Set, x.Index+1),
	})
	if learnt.Status == "created" {
		r.Facts++
	}
	r.Recordings++
	r.at = r.at.Add(demoPace)
	x.perception = saved.MemoryID
	r.experiences = append(r.experiences, x)
}

func demoContext(task string) robotmem.Object {
	return robotmem.Object{"task": map[string]any{"name": task}, "robot": map[string]any{"id": "demo-arm"}, "env": map[string]any{"sim_or_real": "real"}}
}

// torque returns the largest magnitude, and whether the last five samples are 1.5 times as strong
// as the first five, or the reverse.
func (x *experience) torque() (peak float64, trend string) {
	var sums [robotfailures.SampleCount / 5]float64
	for i, s := range x.Samples {
		magnitude := math.Hypot(math.Hypot(s[3], s[4]), s[5])
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

// ask asks by words, by structure and by a trace.
func (r *demoReport) ask(ctx context.Context) {
	res := demoCall(ctx, r, r.m.Recall, &robotmem.RecallRequest{Query: demoWords, Collection: "*", Type: "fact", N: 3})
	words := demoQuestion{Question: fmt.Sprintf("In words: %q (%.1f ms)", demoWords, res.QueryMS), Lines: texts(res)}
	words.Of, words.Right = len(res.Memories), saying(res, "params", "torque_trend", "rising")

	res = demoCall(ctx, r, r.m.Recall, &robotmem.RecallRequest{Collection: "*", Type: "perception", N: 100, ContextFilter: robotmem.Object{"task.class": demoClass}})
	structure := demoQuestion{Question: fmt.Sprintf("By structure: task.class is %q (%.1f ms)", demoClass, res.QueryMS), Right: saying(res, "task", "class", demoClass)}
	trace := demoQuestion{}
	for _, x := range r.experiences {
		near := demoCall(ctx, r, r.m.Recall, &robotmem.RecallRequest{Collection: x.collection, N: demoNeighbors, Like: &robotmem.Like{MemoryID: x.perception}})
		trace.Of += len(near.Memories)
		trace.Right += saying(near, "task", "class", x.Label())
		if x.Label() != demoClass {
			continue
		}
		structure.Of++
		r.Probe, trace.Lines = x.perception, texts(near)
		trace.Question = fmt.Sprintf("By trace: most like [%d], %s in %s (%.1f ms)", x.perception, demoClass, x.Task, near.QueryMS)
	}
	structure.Lines = []string{fmt.Sprintf("%d of %d found, and %d of anything else", structure.Right, structure.Of, len(res.Memories)-structure.Right)}
	trace.Lines = append(trace.Lines, fmt.Sprintf("With each of the %d traces as the question, %d %% of the %d nearest share its class", len(r.experiences), 100*trace.Right/max(1, trace.Of), demoNeighbors))
	r.Questions = []demoQuestion{words, structure, trace}
	r.Stats = demoCall(ctx, r, r.m.Stats, &admin.StatsRequest{})
	r.Doctor = demoCall(ctx, r, r.m.Doctor, &admin.DoctorRequest{})
}

func texts(res *robotmem.RecallResponse) (lines []string) {
	for _, m := range res.Memories {
		lines = append(lines, fmt.Sprintf("[%d] %s", m.MemoryID, m.Content))
	}
	return lines
}

// saying counts the memories whose section of the context says so.
func saying(res *robotmem.RecallResponse, section, key, value string) (n int) {
	for _, m := range res.Memories {
		if fields, _ := m.Context[section].(map[string]any); fields[key] == value {
			n++
		}
	}
	return n
}

func (r *demoReport) print(w *lines) {
	w.line("Robot Execution Failures (L. Seabra Lopes, L. Camarinha-Matos, 1999), UCI, CC BY 4.0:")
	w.line("%d recordings of a robot arm, stored as %d sessions with %d facts", r.Recordings, r.Sessions, r.Facts)
	for i, q := range r.Questions {
		w.line("\n%d. %s", i+1, q.Question)
		for _, text := range q.Lines {
			w.line("   %s", robotmem.Clip(oneLine(text), demoWidth-4))
		}
	}
	w.line("\nThe node: %d memories in %d collections, %s, doctor: %s", r.Stats.Total, r.Stats.Collections, sizeText(r.Stats.DBBytes), r.Doctor.Status)
	if !r.Kept {
		return
	}
	w.line("   %s\n\nNext, on the same file:", r.DB)
	w.line("   export ROBOTMEM_DB=%s", shellQuote(r.DB))
	w.line(`   robotmem recall --collection '*' --context-filter '{"task.class":%q}' --type fact`, demoClass)
	w.line(`   robotmem recall --collection '*' --like '{"memory_id":%d}'`, r.Probe)
	w.line("   robotmem web    # its page %s shows a failure, and what to do about it", r.incident())
}

// incident is the page of the failure that is asked about by trace.
func (r *demoReport) incident() string { return fmt.Sprintf("/incident/m/%d", r.Probe) }
