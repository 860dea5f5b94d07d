package attach

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem"
)

// ErrNoPublish means that a source takes no messages.
var ErrNoPublish = errors.New("the robot takes no messages from its clients")

// Defaults of [Options].
const (
	DefaultSeconds  = 60
	DefaultAfter    = 10
	DefaultBytes    = 256 << 20
	DefaultDistance = 2 // m
	DefaultAhead    = 2 // s

	DefaultPictureHz = 2
)

// Options choose what is kept and when the robot is warned. Node, and the Sink that stores in it, are needed.
type Options struct {
	Node       robotmem.Node
	Sink       importers.Sink
	Collection string
	Robot      string // names the robot in every context
	MapID      string // names the map of the frame "map"
	Rules      *events.Rules
	// Topics, Exclude and RateHz choose what is kept in the ring and stored, as in [recording.Options].
	Topics, Exclude []string
	Namespace       string
	RateHz          map[string]float64
	// Parameters are globs of the parameters of the robot that stand in what happens.
	Parameters []string

	Seconds float64 // of the ring; 0 is DefaultSeconds
	After   float64 // seconds that an incident is followed; 0 is DefaultAfter
	Bytes   int     // of the ring; 0 is DefaultBytes
	// PictureHz is how many pictures and point clouds a second of each topic an incident holds, but for the
	// seconds around the failure, of which it holds all; 0 is DefaultPictureHz, below 0 is all.
	PictureHz float64
	// Record stores everything that comes as one episode, as an import of a recording does.
	Record bool

	Distance float64 // metres before a danger at which a warning is due; 0 is DefaultDistance
	Ahead    float64 // seconds of travel before it; 0 is DefaultAhead
	NoWarn   bool    // no warnings

	OnWarning  func(Warning)
	OnIncident func(Incident)
	Log        *slog.Logger
}

// Incident is one that was stored.
type Incident struct {
	SessionID   string    `json:"session_id"`
	Time        time.Time `json:"time"`
	Text        string    `json:"text"`
	Messages    int       `json:"messages"`
	Perceptions int       `json:"perceptions"`
	// PicturesLeft counts pictures and point clouds that were left out, see Options.PictureHz.
	PicturesLeft int `json:"pictures_left_out,omitempty"`
}

// Report counts what came, and what became of it.
type Report struct {
	Source      string            `json:"source"`
	Connections int               `json:"connections"`
	Messages    uint64            `json:"messages"`
	Dropped     map[string]uint64 `json:"dropped,omitempty"`  // by topic: the queue was full
	Repeated    uint64            `json:"repeated,omitempty"` // sent again after a connection was lost
	Thinned     uint64            `json:"thinned,omitempty"`  // of the ring, for want of memory
	Problems    map[string]uint64 `json:"problems,omitempty"` // by reason
	Gaps        []Gap             `json:"gaps,omitempty"`     // the last ones
	Facts       int               `json:"facts"`
	Episodes    int               `json:"episodes"`
	Incidents   int               `json:"incidents"`
	Warnings    int               `json:"warnings"`
	// Robots are namespaces whose goals were mixed, see Options.Namespace.
	Robots      []string          `json:"robots,omitempty"`
	Unmatched   []string          `json:"unmatched,omitempty"`    // globs and rules that match nothing
	ClockResets int               `json:"clock_resets,omitempty"` // the clock of the robot was set back
	Limited     map[string]uint64 `json:"events_limited,omitempty"`
	Recording   *recording.Report `json:"recording,omitempty"`
}

// Gap is a time without a connection.
type Gap struct {
	From    time.Time `json:"from"`
	Seconds float64   `json:"seconds"`
	Reason  string    `json:"reason"`
}

const (
	maxQueue      = 1 << 16  // messages
	maxQueueBytes = 64 << 20 // of their data
	maxGaps       = 100
	maxReasons    = 50
	pollEvery     = 100 * time.Millisecond
	firstPause    = 500 * time.Millisecond
	longestPause  = 10 * time.Second
)

// follower follows one source. Its receiver methods run in the goroutine of the source, work in another.
type follower struct {
	o      Options
	source Source
	log    *slog.Logger
	ring   *ring

	queue      chan item
	queueBytes atomic.Int64

	mu       sync.Mutex // guards what follows
	report   Report
	channels map[string]*segment.Channel // by their description: one pointer over all connections
	byOrigin map[*segment.Channel]*route
	interest *events.Machine

	lastReason string // for which there is no connection

	newest uint64 // log time of this run of the clock
	run    int    // how often the clock was set back
	recent recent

	*worker
}

// item is a message, a parameter or the end of a connection on its way to the worker.
type item struct {
	channel   *segment.Channel
	logTime   uint64
	run       int
	data      []byte
	parameter string
	value     any
}

// route is what is done with the messages of a channel of this connection.
type route struct {
	channel *segment.Channel
	kept    bool // in the ring, and stored
	needed  bool // for rules or the pose, whatever is kept
	rate    float64
	last    uint64 // log time
	seen    bool
	fresh   bool // the connection is not the first: what came before may come again
}

// Run follows the source until ctx ends, over interruptions of the connection. What has begun is stored
// before it returns; the report is never nil.
func Run(ctx context.Context, source Source, o Options) (*Report, error) {
	o.Seconds, o.After = cmp.Or(o.Seconds, DefaultSeconds), cmp.Or(o.After, DefaultAfter)
	o.Bytes, o.PictureHz = cmp.Or(o.Bytes, DefaultBytes), cmp.Or(o.PictureHz, DefaultPictureHz)
	o.Distance, o.Ahead = cmp.Or(o.Distance, DefaultDistance), cmp.Or(o.Ahead, DefaultAhead)
	if o.Rules == nil {
		o.Rules = events.Builtin()
	}

	f := &follower{
		o: o, source: source, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), ring: newRing(o.Seconds, o.Bytes),
		queue: make(chan item, maxQueue), channels: map[string]*segment.Channel{},
		byOrigin: map[*segment.Channel]*route{}, interest: o.Rules.NewMachine(), recent: newRecent(),
		report: Report{Source: source.Name(), Dropped: map[string]uint64{}, Problems: map[string]uint64{}},
	}

	var err error
	if f.worker, err = newWorker(f); err != nil {
		return &f.report, err
	}

	// The worker stores what has begun also after ctx has ended.
	worked := make(chan error, 1)
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	go func() {
		err := f.work(context.WithoutCancel(ctx))
		if err != nil {
			stop(err)
		}
		worked <- err
	}()

	f.connect(working)
	close(f.queue)
	err = <-worked

	f.mu.Lock()
	defer f.mu.Unlock()
	_, f.report.Thinned = f.ring.state()
	if len(f.report.Dropped) == 0 {
		f.report.Dropped = nil
	}
	if len(f.report.Problems) == 0 {
		f.report.Problems = nil
	}

	return &f.report, err
}

// connect keeps a connection until ctx ends.
func (f *follower) connect(ctx context.Context) {
	pause := firstPause

	for ctx.Err() == nil {
		before := f.received()
		err := f.source.Run(ctx, f)
		if ctx.Err() != nil {
			return
		}

		// A connection that brought something was good: the next attempt comes soon.
		if f.received() > before {
			pause = firstPause
		}
		f.lost(err)

		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

func (f *follower) received() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report.Messages
}

// lost notes the end of a connection.
func (f *follower) lost(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	reason := "the connection ended"
	if err != nil {
		reason = err.Error()
	}
	if f.report.Connections > 0 && (len(f.report.Gaps) == 0 || f.report.Gaps[len(f.report.Gaps)-1].Seconds > 0) {
		f.report.Gaps = append(f.report.Gaps, Gap{From: time.Now(), Reason: reason})
		f.report.Gaps = f.report.Gaps[max(0, len(f.report.Gaps)-maxGaps):]
	}
	// A robot that is switched off for the night fills no log.
	if reason != f.lastReason {
		f.lastReason = reason
		f.log.Warn("no connection to the robot", "source", f.source.Name(), "reason", reason)
	}

	for _, r := range f.byOrigin {
		r.fresh = true
	}
}

// Connected implements [Receiver].
func (f *follower) Connected(properties map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.report.Connections++
	if n := len(f.report.Gaps); n > 0 && f.report.Gaps[n-1].Seconds == 0 {
		f.report.Gaps[n-1].Seconds = time.Since(f.report.Gaps[n-1].From).Seconds()
	}
	f.lastReason = ""
	f.log.Info("connected", "source", f.source.Name(), "robot", properties["name"])
}

// Message implements [Receiver].
func (f *follower) Message(c *segment.Channel, logTime uint64, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.report.Messages++
	r := f.routeOf(c)
	if !r.kept && !r.needed {
		return
	}
	sum := sumOf(r.channel, logTime, data)
	if r.fresh && f.recent.has(sum) {
		f.report.Repeated++
		return
	}
	f.recent.add(sum)

	// As recording.Live does: a clock that is set back begins another run.
	if logTime+recording.ClockReset < f.newest {
		f.run, f.newest = f.run+1, logTime
	}
	f.newest = max(f.newest, logTime)

	limited := r.rate > 0 && r.seen && logTime >= r.last && float64(logTime-r.last)*1e-9 < 0.99/r.rate
	if !limited {
		r.last, r.seen = logTime, true
		if r.kept {
			f.ring.add(r.channel, logTime, f.run, data)
		}
	} else if !r.needed {
		return
	}
	f.push(item{channel: r.channel, logTime: logTime, run: f.run, data: data})
}

// push queues an item for the worker, or counts it as dropped.
func (f *follower) push(i item) {
	if f.queueBytes.Load()+int64(len(i.data)) > maxQueueBytes && len(f.queue) > 0 {
		f.drop(i)
		return
	}
	f.queueBytes.Add(int64(len(i.data)))

	select {
	case f.queue <- i:
	default:
		f.queueBytes.Add(-int64(len(i.data)))
		f.drop(i)
	}
}

func (f *follower) drop(i item) {
	if i.channel != nil {
		f.report.Dropped[i.channel.Topic]++
	}
}

// Parameter implements [Receiver].
func (f *follower) Parameter(name string, value any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(f.o.Parameters, func(glob string) bool { return parameterMatches(glob, name) }) {
		f.push(item{parameter: name, value: value})
	}
}

// parameterMatches reports whether a glob is that of a parameter: controller_server.*vel*.
func parameterMatches(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return err == nil && ok
}

// Problem implements [Receiver].
func (f *follower) Problem(reason string, n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addProblem(reason, n)
}

// addProblem counts a problem. The lock is held.
func (f *follower) addProblem(reason string, n uint64) {
	if _, known := f.report.Problems[reason]; !known && len(f.report.Problems) >= maxReasons {
		reason = "other reasons"
	}
	f.report.Problems[reason] += n
}

// routeOf returns the route of a channel of this connection. A channel that is described as one of an
// earlier connection continues it.
func (f *follower) routeOf(c *segment.Channel) *route {
	if r, ok := f.byOrigin[c]; ok {
		return r
	}

	key := fmt.Sprintf("%q %q %q %q %x", c.Topic, c.SchemaName, c.SchemaEncoding, c.MessageEncoding, c.SchemaData)
	known := f.channels[key]
	if known == nil {
		known = c
		f.channels[key] = c
	}

	// The routes of earlier connections are of no use any more but for what they sent last.
	r := &route{
		channel: known, kept: f.keeps(known), needed: f.needs(known), rate: rateOf(f.o.RateHz, known.Topic),
	}
	for old, before := range f.byOrigin {
		if before.channel == known {
			r.last, r.seen, r.fresh = before.last, before.seen, true
			delete(f.byOrigin, old)
		}
	}
	f.byOrigin[c] = r

	return r
}

// ownTopics begin the topics on which this program publishes.
const ownTopics = "/robotmem/"

func (f *follower) keeps(c *segment.Channel) bool {
	if strings.HasPrefix(c.Topic, ownTopics) {
		return false
	}
	o := recording.Options{Topics: f.o.Topics, Exclude: f.o.Exclude, Namespace: f.o.Namespace}
	return o.Includes(c.Topic)
}

// needs reports whether rules or the pose need the messages of a channel.
func (f *follower) needs(c *segment.Channel) bool {
	return !strings.HasPrefix(c.Topic, ownTopics) && recording.Options{Namespace: f.o.Namespace}.InNamespace(c.Topic) &&
		(recording.HasPoses(c) || f.interest.Wants(c.Topic, c.SchemaName, c.MessageEncoding))
}

// Wants implements [Receiver].
func (f *follower) Wants(c *segment.Channel) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keeps(c) || f.needs(c)
}

func rateOf(rates map[string]float64, topic string) float64 {
	return recording.Options{RateHz: rates}.Rate(topic)
}

// runID identifies a run.
func runID() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// recent knows the messages that came last. It forgets the older half of them at a time.
type recent struct {
	now, before map[uint64]struct{}
}

// maxRecent is the number of messages in one half.
const maxRecent = 200_000

func newRecent() recent { return recent{now: map[uint64]struct{}{}, before: map[uint64]struct{}{}} }

func (r *recent) add(sum uint64) {
	if len(r.now) >= maxRecent {
		r.before, r.now = r.now, make(map[uint64]struct{}, maxRecent)
	}
	r.now[sum] = struct{}{}
}

func (r *recent) has(sum uint64) bool {
	_, now := r.now[sum]
	_, before := r.before[sum]
	return now || before
}

var seed = maphash.MakeSeed()

// sumOf is equal for equal messages.
func sumOf(c *segment.Channel, logTime uint64, data []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(c.Topic)

	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], logTime)
	_, _ = h.Write(at[:])
	_, _ = h.Write(data)

	return h.Sum64()
}
