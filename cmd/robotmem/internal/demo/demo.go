// Package demo stores 463 real recordings of a robot arm as sessions and asks the questions of a controller. Every number
// that it prints is measured in the run.
package demo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	episodeLength = 24               // recordings in a session
	pace          = 20 * time.Second // between recordings; the source has no times
	words         = "torque rising while approaching the grasp position"
	// Class is that of the failures that the demo asks for.
	Class = "front collision"
	// Hits is how many answers each question has.
	Hits = 3
	// Width is that of its lines.
	Width = 100 // characters of a usual terminal
)

// Report has the counts and the answers of the demo.
type Report struct {
	DB         string     `json:"db"`
	Recordings int        `json:"recordings"` // each is stored as a perception and a fact
	Sessions   int        `json:"sessions"`
	Facts      int        `json:"facts"` // fewer than recordings, because some recordings give the same fact
	Questions  []Question `json:"questions"`
	Probe      int64      `json:"probe"` // the perception whose trace the question by trace asks with

	m      robotmem.Service
	at     time.Time // of the present recording
	probed string    // the collection of Probe
}

// Question is a question and what came back.
type Question struct {
	Question string   `json:"question"`
	Lines    []string `json:"lines"`
}

// Run stores the recordings in the memory of a file and asks.
func (r *Report) Run(ctx context.Context, m robotmem.Service) error {
	failures, err := robotfailures.Load()
	if err != nil {
		return fmt.Errorf("the demo's data: %w", err)
	}
	r.m, r.at = m, time.Now().Add(-pace*time.Duration(len(failures)))

	return r.store(ctx, failures)
}

// store stores each set as the episodes of a collection, then asks.
func (r *Report) store(ctx context.Context, failures []robotfailures.Failure) error {
	for _, set := range []string{"LP1", "LP2", "LP3", "LP4", "LP5"} {
		ofSet := slices.DeleteFunc(slices.Clone(failures), func(f robotfailures.Failure) bool { return f.Set != set })
		for part := range slices.Chunk(ofSet, episodeLength) {
			if err := r.episode(ctx, part); err != nil {
				return err
			}
		}
	}

	return r.ask(ctx)
}

// episode stores recordings of one task as a session.
func (r *Report) episode(ctx context.Context, part []robotfailures.Failure) error {
	task := part[0].Task
	s, err := r.m.StartSession(ctx, &robotmem.StartSessionRequest{Collection: collectionOf(task), Context: contextOf(task)})
	if err != nil {
		return err
	}

	for _, f := range part {
		if err := r.remember(ctx, s.SessionID, f); err != nil {
			return err
		}
	}
	r.Sessions++
	_, err = r.m.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID})

	return err
}

// remember stores the trace of a recording as a perception and its figures as a fact.
func (r *Report) remember(ctx context.Context, session string, f robotfailures.Failure) error {
	about := contextOf(f.Task)
	observed := r.at
	peak, trend := torque(f)
	about["params"] = map[string]any{"peak_torque": peak, "torque_trend": trend}
	// The sets hold motions without a failure too.
	succeeded := f.Class == "normal" || f.Class == "ok"
	verb := "failed"
	if succeeded {
		verb = "succeeded"
	}
	about["task"] = map[string]any{"name": f.Task, "success": succeeded, "class": f.Label()}
	saved, err := r.m.SavePerception(ctx, &robotmem.SavePerceptionRequest{
		Description:    fmt.Sprintf("wrench at the wrist during %s, %s: torque %s", f.Task, f.Label(), trend),
		PerceptionType: "tactile", MediaType: "text/csv", Data: string(f.CSV()),
		Metadata: robotmem.Object{"kind": "wrench", "channels": robotfailures.Channels, "duration_s": robotfailures.Window.Seconds()},
		Context:  about, SessionID: session, ObservedAt: &observed,
	})
	if err != nil {
		return err
	}

	learnt, err := r.m.Learn(ctx, &robotmem.LearnRequest{
		Insight: fmt.Sprintf("observed that %s %s with %s: torque %s, peak torque %.0f", f.Task, verb, f.Label(), trend, peak),
		Context: about, SessionID: session, ObservedAt: &observed, Source: fmt.Sprintf("Robot Execution Failures (UCI), %s recording %d", f.Set, f.Index+1),
	})
	if err != nil {
		return err
	}
	if learnt.Status == "created" {
		r.Facts++
	}
	if f.Label() == Class {
		r.Probe, r.probed = saved.MemoryID, collectionOf(f.Task)
	}

	r.Recordings++
	r.at = r.at.Add(pace)

	return nil
}

func collectionOf(task string) string { return strings.ReplaceAll(task, " ", "-") }

func contextOf(task string) robotmem.Object {
	return robotmem.Object{"task": map[string]any{"name": task}, "robot": map[string]any{"id": "demo-arm"}, "env": map[string]any{"sim_or_real": "real"}}
}

// torque returns the largest magnitude and the trend. The trend is rising if the last five samples are 1.5 times
// as strong as the first five, and falling if the first five are 1.5 times as strong as the last five.
func torque(f robotfailures.Failure) (peak float64, trend string) {
	var sums [robotfailures.SampleCount / 5]float64

	for i, s := range f.Samples {
		magnitude := math.Hypot(math.Hypot(s[3], s[4]), s[5])
		// The readings are whole numbers.
		peak = max(peak, math.Round(magnitude))
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

// ask asks one question in words, one by structure and one by a trace.
func (r *Report) ask(ctx context.Context) error {
	for _, q := range []struct {
		text    string
		request robotmem.RecallRequest
	}{
		{fmt.Sprintf("In words: %q", words), robotmem.RecallRequest{Query: words, Collection: "*", Type: "fact"}},
		{fmt.Sprintf("By structure: task.class is %q", Class), robotmem.RecallRequest{Collection: "*", Type: "fact", ContextFilter: robotmem.Object{"task.class": Class}}},
		{fmt.Sprintf("By trace: most like [%d], a %s", r.Probe, Class), robotmem.RecallRequest{Collection: r.probed, Like: &robotmem.Like{MemoryID: r.Probe}}},
	} {
		q.request.N = Hits
		res, err := r.m.Recall(ctx, &q.request)
		if err != nil {
			return err
		}

		answer := Question{Question: fmt.Sprintf("%s (%.1f ms)", q.text, res.QueryMS)}
		for _, m := range res.Memories {
			answer.Lines = append(answer.Lines, fmt.Sprintf("[%d] %s", m.MemoryID, m.Content))
		}
		r.Questions = append(r.Questions, answer)
	}

	return nil
}

// Print shows the answers, and what to try next.
func (r *Report) Print(w *printed.Lines) {
	w.Line("Robot Execution Failures (L. Seabra Lopes, L. Camarinha-Matos, 1999), UCI, CC BY 4.0:")
	w.Line("%d recordings of a robot arm, stored as %d sessions with %d facts", r.Recordings, r.Sessions, r.Facts)

	for i, q := range r.Questions {
		w.Line("\n%d. %s", i+1, q.Question)

		for _, text := range q.Lines {
			w.Line("   %s", robotmem.Clip(printed.OneLine(text), Width-4))
		}
	}
	w.Line("\nNext, on the same file:")
	w.Line("   export ROBOTMEM_DB=%s", shell.Quote(r.DB))
	w.Line(`   robotmem recall --collection '*' --context-filter '{"task.class":%q}' --type fact`, Class)
	w.Line(`   robotmem recall --collection '*' --like '{"memory_id":%d}'`, r.Probe)
	w.Line("   robotmem web    # its page /incident/m/%d shows a failure, and what to do about it", r.Probe)
}
