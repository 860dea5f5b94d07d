package recording

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// happenings finds in the messages of a recording what happened, and stores it: each goal is an episode
// of its own with its facts, and all other facts belong to the episode of the recording.
type happenings struct {
	machine *events.Machine
	journal *events.Journal
}

// wants reports whether the messages of a channel may say that something happened.
func (h *happenings) wants(c *Channel) bool {
	return h != nil && h.machine.Wants(c.Topic, c.SchemaName, c.MessageEncoding)
}

// ClockReset is how far a clock must be set back so that another run begins, in ns. Messages that come late are
// less late.
const ClockReset = 5e9

// clockStep is how far the time of one channel must step back so that its clock was set back, in ns. A recorder may
// write messages of several channels out of order, and those of one channel by less.
const clockStep = 1e9

// follow notices that the clock of a living source was set back, as when a simulation is begun again.
func (imp *importer) follow(ctx context.Context, logTime uint64) error {
	if logTime+ClockReset >= imp.newest {
		imp.newest = max(imp.newest, logTime)
		return nil
	}

	imp.newest = logTime
	imp.restartPoses()
	if imp.o.Events == nil {
		return nil
	}
	imp.robots[0].happened.machine = imp.o.Events.NewMachine()

	return imp.onRestart(ctx)
}

// restartPoses forgets where the robots were before the clock was set back.
func (imp *importer) restartPoses() {
	imp.report.ClockResets++
	for _, r := range imp.robots {
		r.poses.restart()
	}
}

// followChannel notices that the clock of a recording was set back: the time of a channel steps back. The times of
// different channels do not tell, since a file may have one channel after the other.
func (imp *importer) followChannel(ctx context.Context, c *channel, logTime uint64) error {
	last, known := imp.channelTimes[c]
	before := imp.lastLog
	imp.lastLog, imp.channelTimes[c] = logTime, logTime
	if !known || logTime+clockStep >= last {
		return nil
	}

	if err := imp.addEvents(ctx, math.MaxUint64); err != nil {
		return err
	}

	// The other channels step back with this one.
	clear(imp.channelTimes)
	imp.channelTimes[c] = logTime
	isReset := logTime+ClockReset < last
	if isReset {
		imp.restartPoses()
	}
	if imp.o.Events == nil {
		return nil
	}

	// A wall clock was set, and what was going on goes on. The clock of a simulator begins another run.
	if logTime >= firstWall && imp.clock.scale == "" {
		step := max(before, last) - logTime
		for _, r := range imp.robots {
			r.happened.machine.SetBack(step)
			r.happened.journal.SetBack(step)
		}

		return nil
	}
	if !isReset {
		return nil
	}

	// Goals of which the end was not seen ended with the run.
	for _, r := range imp.robots {
		ended := r.happened.journal
		r.happened.machine, r.happened.journal = imp.o.Events.NewMachine(), events.NewJournal()
		if err := imp.saveAll(ctx, r, ended, imp.lastTime); err != nil {
			return err
		}
	}

	return nil
}

// observe applies the rules to a message, and stores the goals that it ends.
func (imp *importer) observe(ctx context.Context, c *channel, m *Message, v *message.Value) error {
	at, _ := imp.clock.observed(v, m)
	if at.IsZero() {
		// The message came after the one before it.
		at = imp.lastTime
	}

	r := imp.robotNamed(c, v)
	for _, e := range r.happened.machine.Observe(&events.Message{
		Topic: c.Topic, SchemaName: c.SchemaName, Encoding: c.MessageEncoding, Value: v, Time: at, LogTime: m.LogTime,
		Stamp: stampOn(v, m.LogTime),
	}) {
		if err := imp.event(ctx, r, &e); err != nil {
			return err
		}
	}

	return nil
}

// pendingEvent is an event that waits for the pose of the robot after it, so that its place is between two poses.
type pendingEvent struct {
	events.Event
	circumstances map[string]any
	at            uint64 // on the clock of the poses
	tried         uint64 // the changes of the poses when the place was last looked for
}

// addEvents adds the events to the journals whose places are known by a log time, in their order, and stores the goals
// that they end. Those that are older than a pose may be are placed by the nearest one.
func (imp *importer) addEvents(ctx context.Context, now uint64) error {
	for _, r := range imp.robots {
		for len(r.pending) > 0 {
			e := &r.pending[0]
			if now < e.LogTime+poseStale*1e9 {
				if e.tried == r.poses.changes {
					break
				}
				e.tried = r.poses.changes
				if _, isExact, _ := r.poses.find("", e.at); !isExact {
					break
				}
			}
			r.happened.journal.Add(&e.Event, e.circumstances, r.poses.place(e.at))
			r.pending = r.pending[1:]

			for _, g := range r.happened.journal.Take() {
				if err := imp.saveGoal(ctx, r, g); err != nil {
					return err
				}
			}
		}
	}

	return nil
}

// closeEvents stores what the end of the recording leaves open.
func (imp *importer) closeEvents(ctx context.Context) error {
	if imp.o.Events == nil {
		return nil
	}
	if err := imp.addEvents(ctx, math.MaxUint64); err != nil {
		return err
	}

	for _, r := range imp.robots {
		err := imp.saveAll(ctx, r, r.happened.journal, imp.lastTime)
		for rule, n := range r.happened.journal.Limited() {
			if imp.report.EventsLimited == nil {
				imp.report.EventsLimited = map[string]uint64{}
			}
			imp.report.EventsLimited[rule] += n
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// saveAll stores what a journal holds at its end. The goals that are still active were last seen then.
func (imp *importer) saveAll(ctx context.Context, r *robot, j *events.Journal, end time.Time) error {
	goals, others := j.Close(end, imp.lastLog)
	for _, g := range goals {
		if err := imp.saveGoal(ctx, r, g); err != nil {
			return err
		}
	}

	return imp.learn(ctx, r, imp.session, others)
}

func (imp *importer) saveGoal(ctx context.Context, r *robot, g *events.Episode) error {
	// A sink takes its own time for one that is missing, and that may lie years from the other.
	start, end := importers.Clock(g.Start), importers.Clock(g.End)
	if start.IsZero() {
		start = end
	}
	if end.Before(start) {
		end = start
	}

	session, err := imp.sink.Start(ctx, importers.Session{
		Origin:  importers.Origin("recording/" + imp.id + imp.o.hash() + imp.o.eventsHash() + g.ID + "@" + imp.clock.decimal(g.StartLog)),
		Context: imp.eventContext(r, g.About(), g.From, g.StartLog), StartedAt: start,
	})
	if errors.Is(err, importers.ErrEnded) {
		// An import that was interrupted has stored it whole.
		imp.report.Episodes++
		return nil
	}
	if err != nil {
		return fmt.Errorf("starting the episode of a goal: %w", err)
	}

	imp.report.Episodes++
	if err := imp.learn(ctx, r, session, g.Facts); err != nil {
		return err
	}

	return imp.sink.End(ctx, session, importers.Ending{Outcome: g.Score(), At: end})
}

func (imp *importer) learn(ctx context.Context, r *robot, session string, facts []*events.Fact) error {
	if len(facts) == 0 {
		return nil
	}

	out := make([]importers.Fact, 0, len(facts))

	for _, f := range facts {
		out = append(out, importers.Fact{
			Origin: importers.Origin(imp.id[:32] + imp.o.hash() + imp.o.eventsHash() + "#" + f.Rule + "@" + imp.clock.decimal(f.LogTime) + "/" +
				strconv.Itoa(f.Count) + "/" + f.Goal + "/" + f.Text + r.namespace),
			Text: f.Line(), Outcome: f.Outcome, Context: imp.eventContext(r, f.About(), f.Spatial, f.LogTime), ObservedAt: importers.Clock(f.At), Source: "recording",
		})
	}

	n, err := imp.sink.Learn(ctx, session, out)
	imp.report.Facts += n
	if err != nil {
		return fmt.Errorf("storing what happened: %w", err)
	}

	return nil
}

// eventContext is the context of something that happened: its own, the robot, the place and where the
// recording shows it.
func (imp *importer) eventContext(r *robot, own, spatial map[string]any, logTime uint64) map[string]any {
	out := maps.Clone(own)
	if out == nil {
		out = map[string]any{}
	}
	out["source"] = map[string]any{
		"recording": imp.name, "recording_id": imp.id, "session_id": imp.session, "log_time": imp.clock.decimal(logTime),
		"at_s": float64(int64(imp.sinceStart(logTime)*1000)) / 1000,
	}
	about := map[string]any{}
	if imp.o.Robot != "" {
		about["id"] = imp.o.Robot
	}
	if r.namespace != "" {
		about["namespace"] = r.namespace
	}
	if len(about) > 0 {
		out["robot"] = about
	}
	if spatial != nil {
		out["spatial"] = spatial
	}

	return out
}
