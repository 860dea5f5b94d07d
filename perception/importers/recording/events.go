package recording

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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

func newHappenings(rules *events.Rules) *happenings {
	if rules == nil {
		return nil
	}
	return &happenings{rules.NewMachine(), events.NewJournal()}
}

// wants reports whether the messages of a channel may say that something happened.
func (h *happenings) wants(c *Channel) bool {
	return h != nil && h.machine.Wants(c.Topic, c.SchemaName, c.MessageEncoding)
}

// noteRobot notes the namespace of an action. The same action in two namespaces is that of two robots.
func (imp *importer) noteRobot(topic string) {
	action, ok := strings.CutSuffix(topic, "/_action/status")
	if !ok || imp.o.Namespace != "" {
		return
	}

	cut := strings.LastIndex(action, "/")
	namespace, name := action[:max(0, cut)], action[cut+1:]
	if imp.actions == nil {
		imp.actions = map[string][]string{}
	}
	if known := imp.actions[name]; !slices.Contains(known, namespace) && len(known) < maxRobots {
		imp.actions[name] = append(known, namespace)
	}
	if all := imp.actions[name]; len(all) > max(1, len(imp.report.Robots)) {
		imp.report.Robots = slices.Sorted(slices.Values(all))
	}
}

// maxRobots bounds the namespaces that are listed.
const maxRobots = 100

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
	imp.poses.restart()
	imp.report.ClockResets++
	if imp.happened == nil {
		return nil
	}
	imp.happened.machine = imp.o.Events.NewMachine()

	return imp.onRestart(ctx)
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

	// The other channels step back with this one.
	clear(imp.channelTimes)
	imp.channelTimes[c] = logTime
	isReset := logTime+ClockReset < last
	if isReset {
		imp.poses.restart()
		imp.report.ClockResets++
	}
	if imp.happened == nil {
		return nil
	}

	// A wall clock was set, and what was going on goes on. The clock of a simulator begins another run.
	if logTime >= firstWall && imp.clock.scale == "" {
		step := max(before, last) - logTime
		imp.happened.machine.SetBack(step)
		imp.happened.journal.SetBack(step)

		return nil
	}
	if !isReset {
		return nil
	}
	imp.happened.machine = imp.o.Events.NewMachine()

	// Goals of which the end was not seen ended with the run.
	ended := imp.happened.journal
	imp.happened.journal = events.NewJournal()

	return imp.saveAll(ctx, ended, imp.lastTime)
}

// observe applies the rules to a message, and stores the goals that it ends.
func (imp *importer) observe(ctx context.Context, c *channel, m *Message, v *message.Value) error {
	at, _ := imp.clock.observed(v, m)
	if at.IsZero() {
		// The message came after the one before it.
		at = imp.lastTime
	}

	for _, e := range imp.happened.machine.Observe(&events.Message{
		Topic: c.Topic, SchemaName: c.SchemaName, Encoding: c.MessageEncoding, Value: v, Time: at, LogTime: m.LogTime,
		Stamp: stampOn(v, m.LogTime),
	}) {
		if err := imp.event(ctx, &e); err != nil {
			return err
		}
	}

	for _, g := range imp.happened.journal.Take() {
		if err := imp.saveGoal(ctx, g); err != nil {
			return err
		}
	}

	return nil
}

// closeEvents stores what the end of the recording leaves open.
func (imp *importer) closeEvents(ctx context.Context) error {
	if imp.happened == nil {
		return nil
	}

	err := imp.saveAll(ctx, imp.happened.journal, imp.lastTime)
	imp.report.EventsLimited = imp.happened.journal.Limited()

	return err
}

// saveAll stores what a journal holds at its end. The goals that are still active were last seen then.
func (imp *importer) saveAll(ctx context.Context, j *events.Journal, end time.Time) error {
	goals, others := j.Close(end, imp.lastLog)
	for _, g := range goals {
		if err := imp.saveGoal(ctx, g); err != nil {
			return err
		}
	}

	return imp.learn(ctx, imp.session, others)
}

func (imp *importer) saveGoal(ctx context.Context, g *events.Episode) error {
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
		Context: imp.eventContext(g.About(), g.From, g.StartLog), StartedAt: start,
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
	if err := imp.learn(ctx, session, g.Facts); err != nil {
		return err
	}

	return imp.sink.End(ctx, session, importers.Ending{Outcome: g.Score(), At: end})
}

func (imp *importer) learn(ctx context.Context, session string, facts []*events.Fact) error {
	if len(facts) == 0 {
		return nil
	}

	out := make([]importers.Fact, 0, len(facts))

	for _, f := range facts {
		out = append(out, importers.Fact{
			Origin: importers.Origin(imp.id[:32] + imp.o.hash() + imp.o.eventsHash() + "#" + f.Rule + "@" + imp.clock.decimal(f.LogTime) + "/" +
				strconv.Itoa(f.Count) + "/" + f.Goal + "/" + f.Text),
			Text: f.Line(), Outcome: f.Outcome, Context: imp.eventContext(f.About(), f.Spatial, f.LogTime), ObservedAt: importers.Clock(f.At), Source: "recording",
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
func (imp *importer) eventContext(own, spatial map[string]any, logTime uint64) map[string]any {
	out := maps.Clone(own)
	if out == nil {
		out = map[string]any{}
	}
	out["source"] = map[string]any{
		"recording": imp.name, "recording_id": imp.id, "session_id": imp.session, "log_time": imp.clock.decimal(logTime),
		"at_s": float64(int64(imp.sinceStart(logTime)*1000)) / 1000,
	}
	if imp.o.Robot != "" {
		out["robot"] = map[string]any{"id": imp.o.Robot}
	}
	if spatial != nil {
		out["spatial"] = spatial
	}

	return out
}
