package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/message"
)

const (
	// A batch goes to the sink when it has so many perceptions or bytes.
	batchCount = 64
	batchBytes = 16 << 20
	// maxOpenSegments bounds the bytes of the segments that are being written;
	// beyond it the largest is closed.
	maxOpenSegments = 64 << 20
	progressEvery   = 2000 // messages
	maxBroken       = 100
)

// Import stores a recording as one session. Its memory does not grow with the
// recording: it holds a batch, an open segment per topic and some seconds of
// poses. A recording that breaks is imported up to there, and further when the
// rest can be read; the report says where. Any other error ends the import and
// comes with the report so far. What was saved stays, and importing the same
// file again with the same options goes on from there, since the sink knows each
// Origin; a recording that was imported to its end fails with
// [importing.ErrEnded]. The report is nil only if nothing was read.
func Import(ctx context.Context, src Source, o Options, sink importing.Sink, progress func(Progress)) (*Report, error) {
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
		topics: map[string]*topic{}, channels: map[*Channel]*stream{}, poses: newPoses(o.MapID),
		report: &Report{Recording: id},
	}
	err = imp.run(ctx, src)
	imp.account()
	return imp.report, err
}

type importer struct {
	o        Options
	sink     importing.Sink
	id, name string
	info     *Info
	progress func(Progress)

	session    string
	topics     map[string]*topic
	channels   map[*Channel]*stream
	open       []*stream // with a segment, in the order they were opened
	openBytes  int
	poses      *poses
	batch      []importing.Perception
	batchBytes int
	bytes      uint64
	lastTime   uint64
	report     *Report
}

// topic is the state of a topic, whose messages may come by several channels.
type topic struct {
	report   TopicReport
	chosen   bool
	rate     float64
	change   float64
	lastKept uint64
	kept     bool
	previous *view
}

// stream is the state of a channel.
type stream struct {
	*Channel
	topic   *topic
	schema  *message.Schema
	problem string // why messages are not decoded
	pose    poseKind
	payload bool
	segment *segment
}

func (imp *importer) run(ctx context.Context, src Source) error {
	if err := imp.start(ctx); err != nil {
		return err
	}
	for m, err := range src.Messages(ctx) {
		if broken := (*BreakError)(nil); errors.As(err, &broken) {
			if len(imp.report.Broken) < maxBroken {
				imp.report.Broken = append(imp.report.Broken, broken)
			}
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
	for len(imp.open) > 0 {
		if err := imp.closeSegment(ctx, imp.open[0]); err != nil {
			return err
		}
	}
	if err := imp.flush(ctx); err != nil {
		return err
	}
	return imp.sink.End(ctx, imp.session, nil)
}

func (imp *importer) start(ctx context.Context) error {
	session, err := imp.sink.Start(ctx, importing.Session{
		Origin: importing.Origin("recording/" + imp.id + imp.o.mark()), Context: imp.context(nil, 0), StartedAt: timeOf(imp.info.Start),
	})
	if err != nil {
		return fmt.Errorf("starting the session: %w", err)
	}
	imp.session, imp.report.Session = session, session
	p, err := imp.manifest()
	if err != nil {
		return err
	}
	return imp.add(ctx, p)
}

// timeOf is zero for what no clock shows: MCAP counts to the year 2554.
func timeOf(ns uint64) time.Time {
	return importing.Clock(time.Unix(int64(ns/1e9), int64(ns%1e9)))
}

// stream finds a channel's state, or sets it up.
func (imp *importer) stream(c *Channel) *stream {
	if s, ok := imp.channels[c]; ok {
		return s
	}
	t, ok := imp.topics[c.Topic]
	if !ok {
		t = &topic{
			report: TopicReport{Topic: c.Topic, SchemaName: c.SchemaName, Skipped: map[string]uint64{}, Notes: map[string]uint64{}},
			chosen: imp.o.chosen(c.Topic), rate: limit(imp.o.RateHz, c.Topic), change: limit(imp.o.Keyframes, c.Topic),
		}
		imp.topics[c.Topic] = t
	}
	s := &stream{Channel: c, topic: t, pose: poseKindOf(c)}
	encoding := c.SchemaEncoding
	switch c.MessageEncoding {
	case "json":
		encoding = "jsonschema"
	case "cdr":
	default:
		encoding = c.MessageEncoding
	}
	var err error
	if s.schema, err = message.Parse(c.SchemaName, encoding, c.SchemaData); err != nil {
		s.problem = err.Error()
	}
	switch typeName(c.SchemaName) {
	case "sensor_msgs/CompressedImage", "sensor_msgs/Image", "sensor_msgs/PointCloud2", foxgloveImage:
		s.payload = true
	}
	imp.channels[c] = s
	return s
}

func (imp *importer) message(ctx context.Context, m *Message) error {
	s := imp.stream(m.Channel)
	number := s.topic.report.Read
	s.topic.report.Read++
	imp.report.Messages++
	imp.bytes += uint64(len(m.Data))
	imp.lastTime = m.LogTime
	if imp.progress != nil && imp.report.Messages%progressEvery == 0 {
		imp.tell()
	}
	v := imp.decodeIf(s, m, s.pose != poseNone)
	if v != nil {
		imp.poses.observe(s.pose, v, m.LogTime)
	}
	t := s.topic
	switch {
	case !t.chosen:
		t.report.Skipped[SkippedTopic]++
		return nil
	case t.tooSoon(m.LogTime):
		t.report.Skipped[SkippedRate]++
		return nil
	}
	if v == nil {
		v = imp.decodeIf(s, m, s.payload || t.change > 0)
	}
	if t.unchanged(m, v) {
		t.report.Skipped[SkippedUnchanged]++
		return nil
	}
	t.lastKept, t.kept = m.LogTime, true
	if s.problem != "" {
		t.report.Notes[s.problem]++
	}
	if v != nil && s.payload {
		if p, ok := unwrap(m, v); ok {
			t.report.Kept++
			t.report.Perceptions++
			return imp.add(ctx, imp.enveloped(m, v, p, number))
		}
	}
	t.report.Kept++
	return imp.append(ctx, s, m, number)
}

// decodeIf decodes when it is asked for and possible. What cannot be decoded is
// noted, and kept as bytes all the same.
func (imp *importer) decodeIf(s *stream, m *Message, wanted bool) *message.Value {
	if !wanted || s.schema == nil {
		return nil
	}
	v, err := s.schema.Decode(m.Data)
	if err != nil {
		s.topic.report.Notes["undecodable, kept as bytes"]++
		return nil
	}
	return v
}

// append adds a message to its channel's segment.
func (imp *importer) append(ctx context.Context, s *stream, m *Message, number uint64) error {
	if g := s.segment; g != nil {
		// A time that went back ends a segment, too.
		late := m.LogTime < g.last || float64(m.LogTime-g.first)*1e-9 >= imp.o.SegmentSeconds
		if late || g.count >= imp.o.SegmentMessages || g.buf.Len()+len(m.Data) > imp.o.SegmentBytes {
			if err := imp.closeSegment(ctx, s); err != nil {
				return err
			}
		}
	}
	if s.segment == nil {
		g, err := newSegment(s.Channel)
		if err != nil {
			return err
		}
		s.segment = g
		imp.open = append(imp.open, s)
		imp.openBytes += g.buf.Len()
	}
	before := s.segment.buf.Len()
	if err := s.segment.add(m, number); err != nil {
		return err
	}
	imp.openBytes += s.segment.buf.Len() - before
	if imp.openBytes > maxOpenSegments {
		largest := slices.MaxFunc(imp.open, func(a, b *stream) int { return cmp.Compare(a.segment.buf.Len(), b.segment.buf.Len()) })
		return imp.closeSegment(ctx, largest)
	}
	return nil
}

func (imp *importer) closeSegment(ctx context.Context, s *stream) error {
	g := s.segment
	imp.openBytes -= g.buf.Len()
	imp.open = slices.DeleteFunc(imp.open, func(o *stream) bool { return o == s })
	s.segment = nil
	data, err := g.close()
	if err != nil {
		return err
	}
	s.topic.report.Perceptions++
	return imp.add(ctx, imp.segmented(s, g, data))
}

func (imp *importer) add(ctx context.Context, p importing.Perception) error {
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
	clear(imp.batch)
	imp.batch, imp.batchBytes = imp.batch[:0], 0
	if err != nil {
		return fmt.Errorf("saving perceptions: %w", err)
	}
	if imp.progress != nil {
		imp.tell()
	}
	return nil
}

func (imp *importer) tell() {
	imp.progress(Progress{
		Messages: imp.report.Messages, Total: imp.info.Messages,
		Perceptions: imp.report.Perceptions, Bytes: imp.bytes, LogTime: imp.lastTime,
	})
}

// account lists the topics, those without a message too.
func (imp *importer) account() {
	for _, c := range imp.info.Channels {
		imp.stream(c.Channel)
	}
	for _, name := range slices.Sorted(maps.Keys(imp.topics)) {
		imp.report.Topics = append(imp.report.Topics, imp.topics[name].report)
	}
}

// maxTopic bounds a topic's name within a description; ROS 2 allows
// 255 characters.
const maxTopic = 255

// origin is the recording, the topic and the number of the message among the
// topic's, with its time; of a segment also its last message and how many it
// holds, since a rate limit leaves some out.
func (imp *importer) origin(topic string, number, logTime uint64, rest string) string {
	return importing.Origin(imp.id[:32] + topic + "#" + strconv.FormatUint(number, 10) + "@" + strconv.FormatUint(logTime, 10) + rest)
}
