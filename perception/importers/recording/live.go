package recording

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers"
)

// LiveOptions choose what is done with the messages of a living source.
type LiveOptions struct {
	Options
	Name string // of the source, as the name of a file
	ID   string // at least 32 characters, of this run alone
	// Store is the sink of all messages, as those of a recording; nil stores none.
	Store importers.Sink
	// OnEvent gets what the rules find, with the circumstances ([events.Machine.Circumstances]) and where
	// the robot was (nil if that is unknown). Without it events are stored as those of a recording are.
	OnEvent func(ctx context.Context, e *events.Event, circumstances, spatial map[string]any) error
	// OnRestart is called when the clock of the source was set back, before the first message of the new run.
	OnRestart func(ctx context.Context) error
}

// Live follows a living source as [Import] follows a recording: it decodes messages, knows the poses of
// the robot and applies the rules. One goroutine uses it at a time.
type Live struct {
	imp     *importer
	started bool
}

// NewLive returns a Live of which no message has come.
func NewLive(o LiveOptions) (*Live, error) {
	options, err := o.normal()
	if err != nil {
		return nil, err
	}
	if len(o.ID) < 32 {
		return nil, fmt.Errorf("the id %q of a living source is shorter than 32 characters", o.ID)
	}

	imp := &importer{
		o: options, sink: o.Store, id: o.ID, name: o.Name, info: &Info{Format: "live"},
		topics: map[string]*topic{}, channels: map[*Channel]*channel{}, channelTimes: map[*channel]uint64{},
		schemas: schemas{known: map[definitionKey]parsed{}}, report: &Report{Recording: o.ID},
		onEvent: o.OnEvent, onRestart: o.OnRestart, namespaces: namespaces{},
	}
	imp.newRobot("")

	return &Live{imp: imp}, nil
}

// Add follows a message. Its data is kept no longer than the call. The channel must be the same pointer
// for all messages of one channel.
func (l *Live) Add(ctx context.Context, m *Message) error {
	if !l.started {
		if err := l.start(ctx, m); err != nil {
			return err
		}
	}

	l.imp.info.span(m.LogTime, m.LogTime, 1)
	l.imp.info.count(m.Channel)

	return l.imp.message(ctx, m)
}

func (l *Live) start(ctx context.Context, m *Message) error {
	l.started = true
	l.imp.clock = clock{wall: m.LogTime >= firstWall}
	l.imp.robots[0].poses.clock = l.imp.clock
	l.imp.info.Start, l.imp.info.End = m.LogTime, m.LogTime
	if l.imp.sink == nil {
		return nil
	}

	session, err := l.imp.sink.Start(ctx, importers.Session{
		Origin: importers.Origin("recording/" + l.imp.id), Context: l.imp.context(nil, nil, 0), StartedAt: l.imp.began(),
	})
	l.imp.session, l.imp.report.Session = session, session

	return err
}

// Session is the episode in which all messages are stored, "" without one.
func (l *Live) Session() string { return l.imp.session }

// SetParameter notes a parameter of the robot, see [events.Machine.SetParameter].
func (l *Live) SetParameter(name string, value any) {
	if h := l.imp.robots[0].happened; h != nil {
		h.machine.SetParameter(name, value)
	}
}

// Circumstances are the context of the moment.
func (l *Live) Circumstances() map[string]any {
	h := l.imp.robots[0].happened
	if h == nil {
		return map[string]any{}
	}
	return h.machine.Circumstances()
}

// Pose returns the value of spatial for where the robot was at a log time, or for its last pose of the minute
// before: localization may be silent while it stands. It is nil if neither is known.
func (l *Live) Pose(logTime uint64) map[string]any {
	poses := l.imp.robots[0].poses
	return poses.place(poses.logged(logTime))
}

// PoseNow is Pose without poses that are older than two seconds.
func (l *Live) PoseNow(logTime uint64) map[string]any {
	poses := l.imp.robots[0].poses
	pose, ok := poses.of("", poses.logged(logTime))
	if !ok {
		return nil
	}
	return map[string]any{"pose": pose}
}

// Time returns the time of a log time, zero if it is no time of a wall clock.
func (l *Live) Time(logTime uint64) time.Time {
	if l.imp.clock.problem(logTime) != "" {
		return time.Time{}
	}
	return timeOf(logTime)
}

// Flush stores what is complete at a log time: the segments that began so long before that no message can
// be added to them. Without it a message of a rare topic waits for the next one.
func (l *Live) Flush(ctx context.Context, now uint64) error {
	if l.imp.sink == nil {
		return nil
	}

	for _, c := range slices.Clone(l.imp.open) {
		if began := c.segment.first.LogTime; now > began && float64(now-began)*1e-9 >= l.imp.o.SegmentSeconds {
			if err := l.imp.closeSegment(ctx, c); err != nil {
				return err
			}
		}
	}

	return l.imp.flush(ctx)
}

// Close stores what is open and ends the episode of the messages. It returns the report also with an error.
func (l *Live) Close(ctx context.Context) (*Report, error) {
	if l.imp.sink == nil || !l.started {
		l.imp.account()
		return l.imp.report, nil
	}

	err := l.imp.add(ctx, l.imp.manifest())
	if err == nil {
		err = l.imp.finish(ctx)
	}
	l.imp.account()

	return l.imp.report, err
}

// place returns the value of spatial for where the robot was at a time of the poses; nil if that is unknown.
func (p *poses) place(at uint64) map[string]any {
	pose, ok := p.robotAt(at)
	if !ok {
		return nil
	}
	return map[string]any{"pose": pose}
}

// event hands on an event, or queues it for the journal.
func (imp *importer) event(ctx context.Context, r *robot, e *events.Event) error {
	imp.report.Events++
	circumstances, at := r.happened.machine.Circumstances(), cmp.Or(e.Stamp, r.poses.logged(e.LogTime))
	if imp.onEvent != nil {
		return imp.onEvent(ctx, e, circumstances, r.poses.place(at))
	}
	r.pending = append(r.pending, pendingEvent{Event: *e, circumstances: circumstances, at: at})

	return nil
}

// decodesOnly reports that messages are followed and not stored, so that most need not be decoded.
func (imp *importer) decodesOnly() bool { return imp.sink == nil }

// count counts a message of a channel.
func (i *Info) count(c *Channel) {
	if i.places == nil {
		i.places = map[*Channel]int{}
	}
	at, ok := i.places[c]
	if !ok {
		at = len(i.Channels)
		i.places[c] = at
		i.Channels = append(i.Channels, ChannelInfo{Channel: c})
	}
	i.Channels[at].Messages++
}

// HasPoses reports whether the messages of a channel say where the robot is.
func HasPoses(c *Channel) bool { return poseKindOf(c) != poseNone }
