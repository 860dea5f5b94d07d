package recording

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/occupancy"
	"github.com/robotmem/robotmem-go/perception/segment"
)

const (
	// A batch is saved when it has this many perceptions or bytes.
	batchCount = 64
	batchBytes = 16 << 20
	// maxOpenSegments bounds the bytes of the open segments. If they take more, the
	// oldest is closed.
	maxOpenSegments = 64 << 20
)

// Import stores a recording as one session. A damaged recording is imported up to the damage, and
// beyond it if the rest can be read; the report says where it is damaged. Any other error ends the
// import and comes with the report so far. What was saved stays; importing the same file again with
// the same options continues, since the sink knows each Origin. A recording that was imported to
// its end fails with [importers.ErrEnded]. The report is nil only if nothing was read.
func Import(
	ctx context.Context, src Source, o Options, sink importers.Sink, progress func(importers.Progress),
) (*Report, error) {
	o, err := o.normal()
	if err != nil {
		return nil, err
	}

	id, err := src.ID(ctx)
	if err != nil {
		return nil, err
	}

	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}

	imp := &importer{
		o: o, sink: sink, id: id, name: src.Name(), info: info, progress: progress,
		topics: map[string]*topic{}, channels: map[*Channel]*channel{}, channelTimes: map[*channel]uint64{},
		clock:   clockOf(info),
		schemas: schemas{known: map[definitionKey]parsed{}}, report: &Report{
			Recording: id, AttachmentsSkipped: info.Attachments, MetadataSkipped: info.MetadataRecords,
			UnknownSkipped: info.UnknownRecords,
		},
	}
	// A robot that sets its clock after boot logs its first messages near 1970. Count from the first wall-clock
	// time, or the recording would seem to take decades.
	if imp.clock.wall {
		info.Start = max(info.Start, info.wallStart)
	}

	imp.findRobots()
	err = imp.run(ctx, src)
	imp.account()

	return imp.report, err
}

type importer struct {
	o        Options
	sink     importers.Sink
	id, name string
	info     *Info
	clock    clock
	progress func(importers.Progress)

	session   string
	topics    map[string]*topic
	channels  map[*Channel]*channel
	schemas   schemas
	repeated  int        // bytes of the heads of segments
	open      []*channel // with a segment, in the order of opening
	openBytes int
	robots    []*robot // the first has the topics of no other one
	newest    uint64   // log time of this run of the clock of a living source
	lastLog   uint64   // log time of the last message

	channelTimes map[*channel]uint64 // the log times of the last messages, since the clock was set back

	lastTime   time.Time           // of the last message whose log time can be a time
	grids      map[string]keptGrid // the last map of each topic
	namespaces namespaces          // of a living source
	onRestart  func(ctx context.Context) error
	onEvent    func(ctx context.Context, e *events.Event, circumstances, spatial map[string]any) error
	placements []placement // of the open segments and of the batch
	batch      []importers.Perception
	batchBytes int
	report     *Report
}

// topic is the state of a topic. Its messages may come through several channels.
type topic struct {
	report   TopicReport
	included bool
	rate     float64
	lastTime uint64 // of the last stored message
	stored   bool
}

type channel struct {
	*Channel
	topic      *topic
	robot      *robot
	schema     *message.Schema
	problem    string // why messages are not decoded
	pose       poseKind
	hasPayload bool
	tells      bool // its messages may say that something happened
	grid       bool // its messages are maps
	segment    *openSegment
}

type openSegment struct {
	*segment.Writer
	head     int // bytes of the channel: long ones are not repeated for each message
	count    int
	first    segment.Message
	last     uint64 // log time, ns
	from, to uint64 // the numbers of its messages within the topic, from 0
	context  map[string]any
	observed time.Time
	problem  string // of the log time, "" if it has none
}

func (imp *importer) run(ctx context.Context, src Source) error {
	if err := imp.start(ctx); err != nil {
		return err
	}

	for m, err := range src.Messages(ctx) {
		if broken := (*BreakError)(nil); errors.As(err, &broken) {
			// Keep the first damage, but add up all losses: a source goes on behind a damaged chunk or file.
			imp.report.Broken = cmp.Or(imp.report.Broken, broken.Error())
			imp.report.Lost += broken.Lost
			continue
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = imp.message(ctx, m)
		}
		if err != nil {
			return err
		}
	}

	return imp.finish(ctx)
}

// finish stores what is open, and ends the session.
func (imp *importer) finish(ctx context.Context) error {
	for len(imp.open) > 0 {
		if err := imp.closeSegment(ctx, imp.open[0]); err != nil {
			return err
		}
	}

	grids, err := imp.gridPerceptions()
	if err != nil {
		return err
	}

	for _, p := range grids {
		if err := imp.add(ctx, p); err != nil {
			return err
		}
		imp.report.Maps++
	}

	if err := imp.flush(ctx); err != nil {
		return err
	}

	if err := imp.closeEvents(ctx); err != nil {
		return err
	}

	// Only a complete import ends its session. An interrupted one stays open, and the next import continues it.
	return imp.sink.End(ctx, imp.session, importers.Ending{At: imp.ended()})
}

func (imp *importer) start(ctx context.Context) error {
	about := imp.context(nil, nil, 0)
	if began := timeOf(imp.info.Start); imp.clock.problem(imp.info.Start) == "" && imp.info.Start > 0 {
		maps.Copy(about["source"].(map[string]any),
			map[string]any{
				"began": began.Format(time.RFC3339Nano), "seconds": float64(imp.info.End-imp.info.Start) * 1e-9,
			})
	}
	session, err := imp.sink.Start(ctx, importers.Session{
		Origin: importers.Origin("recording/" + imp.id + imp.o.hash() + imp.o.eventsHash()), Context: about,
		StartedAt: imp.began(),
	})
	if err != nil {
		return fmt.Errorf("starting the session: %w", err)
	}
	imp.session, imp.report.Session = session, session

	return imp.add(ctx, imp.manifest())
}

func (imp *importer) channel(c *Channel) *channel {
	if known, ok := imp.channels[c]; ok {
		return known
	}

	t, ok := imp.topics[c.Topic]
	if !ok {
		t = &topic{
			report: TopicReport{
				Topic: importers.Cut(c.Topic, maxTopic), SchemaName: importers.Cut(c.SchemaName, maxTopic),
				Skipped: map[string]uint64{}, Notes: map[string]uint64{},
			},
			included: imp.o.includes(c.Topic), rate: limit(imp.o.RateHz, c.Topic),
		}
		imp.topics[c.Topic] = t
	}

	one := &channel{
		Channel: c, topic: t, robot: imp.robotOf(c.Topic), pose: poseKindOf(c),
		hasPayload: slices.Contains(payloadTypes, message.ShortName(c.SchemaName)),
		grid:       occupancy.IsMap(c.Topic, c.SchemaName),
	}
	// What is left out of a recording tells nothing either. Of a living source the topics choose only what is kept.
	one.tells = (t.included || imp.onEvent != nil) && one.robot.happened.wants(c)
	if !imp.o.InNamespace(c.Topic) {
		one.pose, one.tells = poseNone, false
	}
	if imp.namespaces != nil && imp.o.Namespace == "" {
		imp.namespaces.add(c.Topic)
		imp.report.Robots = imp.namespaces.robots()
	}

	var err error
	// Without a schema the messages are kept as bytes, and each counts as undecoded for this reason.
	if one.schema, err = imp.schemas.of(c); err != nil {
		one.problem = err.Error()
	}

	imp.channels[c] = one

	return one
}

func (imp *importer) message(ctx context.Context, m *Message) error {
	c := imp.channel(m.Channel)
	t := c.topic
	number := t.report.Read
	t.report.Read++
	following := imp.followChannel
	if imp.onRestart != nil {
		following = func(ctx context.Context, _ *channel, logTime uint64) error { return imp.follow(ctx, logTime) }
	}
	if err := following(ctx, c, m.LogTime); err != nil {
		return err
	}
	if imp.clock.problem(m.LogTime) == "" {
		imp.lastTime = timeOf(m.LogTime)
	}
	imp.report.Messages++

	var (
		v           *message.Value
		undecodable error
	)
	// Poses are taken before the filters: an excluded or rate-limited /tf still tells where the camera was.
	if c.pose != poseNone {
		if v, undecodable = c.decode(m); v != nil {
			imp.observePose(c, v, m.LogTime)
			imp.locate(m.LogTime)
		}
	}
	if err := imp.addEvents(ctx, m.LogTime); err != nil {
		return err
	}

	// What happened is read before the limit on the rate, which must not leave out the one message that names the error.
	if c.tells {
		if v == nil && undecodable == nil {
			v, undecodable = c.decode(m)
		}
		if v != nil {
			if err := imp.observe(ctx, c, m, v); err != nil {
				return err
			}
		}
	}

	switch {
	case !t.included:
		t.report.Skipped[SkippedTopic]++
		return nil
	// A step back in time restarts the limit. Otherwise all messages would be dropped until the old time is reached
	// again.
	case t.rate > 0 && t.stored && m.LogTime >= t.lastTime && float64(m.LogTime-t.lastTime)*1e-9 < (1-rateSlack)/t.rate:
		t.report.Skipped[SkippedRate]++
		return nil
	}

	if imp.decodesOnly() {
		if undecodable != nil {
			imp.report.Undecoded++
			t.note(undecodable.Error())
		}
		return nil
	}

	// Every stored message is decoded, so that the report counts those that cannot be.
	if v == nil && undecodable == nil {
		v, undecodable = c.decode(m)
	}

	if undecodable != nil {
		imp.report.Undecoded++
		t.note(undecodable.Error())
	}

	observed, problem := imp.clock.observed(v, m)
	imp.mistimed(t, problem)
	if c.grid && v != nil {
		imp.keepGrid(t, c.Topic, v, observed)
	}

	t.lastTime, t.stored = m.LogTime, true
	t.report.Kept++
	if v != nil && c.hasPayload {
		if p, ok := unwrap(m, v); ok {
			t.report.Perceptions++
			if note := noPicture(m, &p); note != "" {
				t.note(note)
			}
			one := imp.payloadPerception(c, m, v, p, number)
			one.ObservedAt = observed
			if problem != "" {
				one.Metadata["time_problem"] = problem
			}
			if one.Data = p.Data; len(p.Data) < batchBytes {
				// A larger one is saved at once.
				one.Data = bytes.Clone(p.Data)
			}

			imp.place(placement{
				context: one.Context, robot: c.robot, frame: frameOf(v), at: c.robot.placeTime(v, m.LogTime), logTime: m.LogTime,
			})

			return imp.add(ctx, one)
		}
	}

	return imp.append(ctx, c, m, v, number)
}

// decode returns why a message cannot be decoded. It is stored nevertheless.
func (c *channel) decode(m *Message) (*message.Value, error) {
	if c.schema == nil {
		return nil, errors.New(c.problem)
	}
	v, err := c.schema.Decode(m.Data) // nil with an error
	if err != nil {
		return nil, fmt.Errorf("not decoded, kept as bytes: %w", err)
	}

	return v, nil
}

func (imp *importer) append(ctx context.Context, c *channel, m *Message, v *message.Value, number uint64) error {
	if s := c.segment; s != nil {
		// A step back in time ends a segment, too.
		back := m.LogTime < s.last || float64(m.LogTime-s.first.LogTime)*1e-9 >= imp.o.SegmentSeconds
		// A long schema alone can fill a segment. Twice its length leaves room for messages.
		if back || s.count >= segmentMessages || s.Len()+len(m.Data) > max(segmentBytes, 2*s.head) {
			if err := imp.closeSegment(ctx, c); err != nil {
				return err
			}
		}
	}

	if c.segment == nil {
		w := segment.NewWriter(imp.written(c))
		imp.repeated += w.Len()
		c.segment = imp.placed(&openSegment{Writer: w, head: w.Len(), first: m.Message, from: number}, c, m, v)
		// The data belongs to the source's buffer, which the next message overwrites.
		c.segment.first.Data = nil
		imp.open = append(imp.open, c)
		imp.openBytes += w.Len()
	}

	s := c.segment
	before := s.Len()
	s.count++
	s.last, s.to = m.LogTime, number
	s.Add(m.Message)
	imp.openBytes += s.Len() - before
	if imp.openBytes > maxOpenSegments {
		// Close the oldest rather than the largest: it is the nearest to its regular end.
		return imp.closeSegment(ctx, imp.open[0])
	}

	return nil
}

func (imp *importer) closeSegment(ctx context.Context, c *channel) error {
	s := c.segment
	imp.openBytes -= s.Len()
	imp.open = slices.DeleteFunc(imp.open, func(o *channel) bool { return o == c })
	c.segment = nil
	c.topic.report.Perceptions++

	p := imp.segmentPerception(c, s, s.Close())
	for i := range imp.placements {
		if imp.placements[i].segment == s {
			imp.placements[i].segment = nil
		}
	}

	return imp.add(ctx, p)
}

func (imp *importer) add(ctx context.Context, p importers.Perception) error {
	imp.batch = append(imp.batch, p)
	imp.batchBytes += len(p.Data)
	imp.report.Perceptions++
	if len(imp.batch) < batchCount && imp.batchBytes < batchBytes {
		return nil
	}

	return imp.flush(ctx)
}

func (imp *importer) flush(ctx context.Context) error {
	if len(imp.batch) == 0 {
		return nil
	}
	n, err := imp.sink.Save(ctx, imp.session, imp.batch)
	imp.report.Stored += n
	// The slice is reused, and without this its elements would keep up to 16 MiB of payloads alive.
	clear(imp.batch)
	imp.forgetPlacements()
	imp.batch, imp.batchBytes = imp.batch[:0], 0
	if err != nil {
		return fmt.Errorf("saving perceptions: %w", err)
	}
	if imp.progress != nil {
		imp.progress(importers.Progress{Done: int64(imp.report.Messages), Total: int64(imp.info.Messages)})
	}

	return nil
}

// unmatched lists the globs that match no topic, and the own rules that match none.
func (imp *importer) unmatched() []string {
	var out []string

	for _, glob := range slices.Compact(slices.Sorted(slices.Values(imp.o.globs()))) {
		known := false
		for topic := range imp.topics {
			known = known || matches(glob, topic)
		}
		if !known {
			out = append(out, fmt.Sprintf("no topic matches %q; topics begin with a slash, as in %q", glob, "/"+strings.TrimPrefix(glob, "/")))
		}
	}

	missing := map[string]int{} // robots that have no messages for a rule

	for _, r := range imp.robots {
		if r.happened == nil {
			continue
		}

		for _, name := range r.happened.machine.Unmatched() {
			if missing[name]++; missing[name] == len(imp.robots) {
				out = append(out, fmt.Sprintf("no message is of the topics and schemas of the rule %q", name))
			}
		}
	}

	return out
}

// account lists the topics, including those without messages.
func (imp *importer) account() {
	for _, c := range imp.info.Channels {
		imp.channel(c.Channel)
	}

	imp.report.Unmatched = imp.unmatched()
	for _, name := range slices.Sorted(maps.Keys(imp.topics)) {
		imp.report.Topics = append(imp.report.Topics, imp.topics[name].report)
	}
}

// Report accounts for every message of a recording.
type Report struct {
	Recording   string        `json:"recording"` // its ID
	Session     string        `json:"session_id"`
	Messages    uint64        `json:"messages"`    // read
	Perceptions int           `json:"perceptions"` // with the manifest and the maps
	Maps        int           `json:"maps,omitempty"`
	Stored      int           `json:"stored"` // of them new to the sink
	Topics      []TopicReport `json:"topics,omitempty"`
	// Undecoded counts the messages that were stored and could not be decoded, Mistimed those whose log
	// time cannot be the time of an observation. The notes of their topics give the reasons.
	Undecoded uint64 `json:"undecoded,omitempty"`
	Mistimed  uint64 `json:"mistimed,omitempty"`
	// Events counts what rules found in messages, Facts what became of them, Episodes the goals among
	// them. EventsLimited counts the events that were left out because a rule found too many different
	// things, by rule.
	// Robots are the namespaces of several robots, if there are several. What happened to them is told apart in a
	// recording, and mixed in a living source, unless Options.Namespace chooses one.
	Robots []string `json:"robots,omitempty"`
	// Unmatched are globs of Options that no topic matches, and rules of a file of one's own for which there are no
	// messages: perhaps they are misspelt.
	Unmatched []string `json:"unmatched,omitempty"`
	// ClockResets counts how often the clock was set back, as by a simulation that begins again.
	ClockResets   int               `json:"clock_resets,omitempty"`
	Events        uint64            `json:"events,omitempty"`
	Facts         int               `json:"facts,omitempty"`
	Episodes      int               `json:"episodes,omitempty"`
	EventsLimited map[string]uint64 `json:"events_limited,omitempty"`
	// AttachmentsSkipped and MetadataSkipped count the attachments and the metadata records of MCAP, which are not
	// imported.
	AttachmentsSkipped uint64 `json:"attachments_skipped,omitempty"`
	MetadataSkipped    uint64 `json:"metadata_records_skipped,omitempty"`
	// UnknownSkipped counts the records of a ULog whose kinds are not known. A newer logger wrote them, or the file is
	// damaged there.
	UnknownSkipped uint64 `json:"unknown_records_skipped,omitempty"`
	// Broken is the first place where the recording is damaged, "" if there is none.
	Broken string `json:"broken,omitempty"`
	// Lost counts the messages that are known to be in the recording and could not be read. A damaged
	// place without an index does not say how many it held.
	Lost uint64 `json:"lost,omitempty"`
}

// TopicReport accounts for a topic: Read is Kept plus all of Skipped.
type TopicReport struct {
	Topic       string            `json:"topic"`
	SchemaName  string            `json:"type"`
	Read        uint64            `json:"read"`
	Kept        uint64            `json:"kept"` // messages within perceptions
	Perceptions int               `json:"perceptions"`
	Skipped     map[string]uint64 `json:"skipped,omitempty"` // messages by reason
	// Notes count stored messages by what is wrong with them: that they could not be decoded, or that
	// their time cannot be. Of many reasons the first are listed, and the others counted together.
	Notes map[string]uint64 `json:"notes,omitempty"`
}

// The reasons for which messages are skipped.
const (
	SkippedTopic = "topic not chosen"
	SkippedRate  = "over the rate"
)
