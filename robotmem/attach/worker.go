package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem"
)

// passRule is the rule of the facts that say that a danger was passed.
const passRule = "danger-passed"

// worker decodes, stores and warns. One goroutine runs it; only the dangers are fetched in another.
type worker struct {
	f       *follower
	live    *recording.Live
	journal *events.Journal
	now     uint64    // the log time of the last message
	run     int       // of the clock
	id      string    // of this run of the program
	opened  int       // episodes, for their origins
	since   time.Time // of the first message

	stored     chan finished
	storing    int // incidents whose recording is being stored
	oneAtATime sync.Mutex

	goals    map[string]*goal // open episodes of goals, by the id of the goal
	captures []*capture

	motion  motion
	watch   watch
	dangers chan []*danger // from the goroutine that asks for them
	asking  bool
	asked   time.Time
	stale   bool // something was stored that may change the dangers
	lastAt  uint64

	otherMap bool      // it was said that dangers lie on another map
	failedAt time.Time // of the last failure of this run, less some slack; zero without one
}

// goal is an episode of a goal.
type goal struct {
	session string
	episode *events.Episode
	ended   bool
	pending int    // captures that store in it
	until   uint64 // log time until which its recording is stored
}

// capture is an incident whose seconds after it have not passed.
type capture struct {
	session string // the episode that it is stored in
	goal    *goal  // nil: the episode is of this incident alone
	texts   []string
	run     int    // of the clock
	first   uint64 // log time of the first failure
	last    uint64 // of the last
	until   uint64
	at      time.Time
	due     time.Time // by the clock of this computer, if log times do not go on
}

func newWorker(f *follower) (*worker, error) {
	w := &worker{
		f: f, id: runID()[:16], journal: events.NewJournal(), goals: map[string]*goal{}, dangers: make(chan []*danger, 1),
		stored: make(chan finished),
		watch:  watch{metres: f.o.Distance, seconds: f.o.Ahead, near: map[string]*approach{}, before: map[string]float64{}},
	}

	o := recording.LiveOptions{
		Options: recording.Options{
			Topics: f.o.Topics, Exclude: f.o.Exclude, RateHz: f.o.RateHz, Namespace: f.o.Namespace,
			Robot: f.o.Robot, MapID: f.o.MapID, Events: f.o.Rules,
		},
		Name: f.source.Name(), ID: runID(), OnEvent: w.event, OnRestart: w.restart,
	}
	if f.o.Record {
		o.Store = f.o.Sink
	}

	var err error
	w.live, err = recording.NewLive(o)

	return w, err
}

// work handles what is queued, until the queue is closed and empty.
func (w *worker) work(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	w.refresh(ctx)

	for {
		select {
		case i, open := <-w.f.queue:
			if !open {
				return w.close(ctx)
			}
			w.f.queueBytes.Add(-int64(len(i.data)))
			if err := w.handle(ctx, i); err != nil {
				return err
			}
		case found := <-w.dangers:
			w.asking = false
			if found != nil {
				w.watch.replace(found, &w.motion, w.failedAt)
				w.noteMaps(found)
			}
		case done := <-w.stored:
			w.finish(ctx, done)
		case <-tick.C:
			if err := w.poll(ctx); err != nil {
				return err
			}
		}
	}
}

// noteMaps says once that all dangers lie on other maps than that of the robot: perhaps its name was forgotten.
func (w *worker) noteMaps(found []*danger) {
	if w.otherMap || !w.motion.known {
		return
	}

	other := ""

	for _, d := range found {
		switch {
		case d.kind != "place":
		case d.frame == w.motion.frame && d.mapID == w.motion.mapID:
			return
		case d.mapID != w.motion.mapID:
			other = d.mapID
		}
	}
	if other != "" {
		w.otherMap = true
		w.f.log.Warn("the memory has dangers on another map only; choose it with --map-id, if the robot is there", "map", other, "robot", w.motion.mapID)
	}
}

func (w *worker) handle(ctx context.Context, i item) error {
	if i.channel == nil {
		w.live.SetParameter(i.parameter, i.value)
		return nil
	}

	m := &recording.Message{Channel: i.channel, Message: segment.Message{
		LogTime: i.logTime, PublishTime: i.logTime, Data: i.data,
	}}
	if i.run != w.run {
		// What is captured of the run before is stored now; its clock does not go on.
		w.storeDue(ctx, true)
		w.run = i.run
	}
	w.now = i.logTime
	if err := w.live.Add(ctx, m); err != nil {
		return err
	}
	if w.since.IsZero() {
		w.since = w.live.Time(i.logTime)
	}

	if !w.f.o.NoWarn {
		w.locate(ctx, i.logTime)
	}

	w.storeDue(ctx, false)

	return nil
}

// restart ends what the run of the clock before has left open: it was set back, as when a simulation begins again.
func (w *worker) restart(ctx context.Context) error {
	w.f.log.Info("the clock of the robot was set back; a new run begins")
	w.closeJournal(ctx)
	w.journal = events.NewJournal()
	w.motion, w.lastAt = motion{}, 0
	clear(w.watch.near)
	clear(w.watch.before)

	return nil
}

// closeJournal stores the facts that are open, and ends the episodes of goals of which no end was seen.
func (w *worker) closeJournal(ctx context.Context) {
	goals, others := w.journal.Close(time.Time{}, 0)
	for _, e := range goals {
		if g := w.goals[e.ID]; g != nil {
			for _, fact := range e.Facts {
				w.save(ctx, g.session, fact)
			}
			g.episode, g.ended = e, true
			if g.pending == 0 {
				w.endGoal(ctx, g)
			}
		}
	}
	clear(w.goals)

	for _, fact := range others {
		w.save(ctx, w.sessionOf(fact), fact)
	}
}

// poll does what is due by time.
func (w *worker) poll(ctx context.Context) error {
	if err := w.live.Flush(ctx, w.now); err != nil {
		return err
	}
	if w.stale || time.Since(w.asked) > refreshEvery {
		w.refresh(ctx)
	}
	w.saveOpen(ctx, settle)

	w.storeDue(ctx, false)

	return nil
}

// settle is how long a fact waits for others like it before it is stored, in seconds.
const settle = 5

// positionEvery is how often the position is compared with the dangers, in ns of log time.
const positionEvery = 5e7

// locate follows the robot, and warns.
func (w *worker) locate(ctx context.Context, logTime uint64) {
	if w.lastAt <= logTime && logTime-w.lastAt < positionEvery {
		return
	}
	w.lastAt = logTime

	spatial := w.live.PoseNow(logTime)
	at, frame, mapID, ok := placeOf(robotmem.Object{"spatial": spatial})
	if !ok {
		return
	}

	first := !w.motion.known
	w.motion.move(at, frame, mapID, logTime)
	if first {
		w.noteMaps(w.watch.dangers)
	}

	begun, ended := w.watch.moved(&w.motion, w.params)
	for _, d := range begun {
		w.warn(ctx, d)
	}

	for _, a := range ended {
		w.passed(ctx, a)
	}
}

// params are the parameters of the moment.
func (w *worker) params() map[string]string { return paramsOf(w.live.Circumstances()) }

// warn tells the robot and whoever listens.
func (w *worker) warn(ctx context.Context, d *danger) {
	warning := d.warning(time.Now())
	if at := w.live.Time(w.now); !at.IsZero() {
		warning.Time = at
	}
	if w.motion.known && d.kind == "place" {
		warning.DistanceM, warning.SpeedMPS = round(d.distance(w.motion.at)), round(w.motion.speed)
	}
	warning.say()

	w.f.mu.Lock()
	w.f.report.Warnings++
	w.f.mu.Unlock()
	if w.f.o.OnWarning != nil {
		w.f.o.OnWarning(warning)
	}

	// The robot may be slow to take it, and the worker does not wait.
	go w.publish(context.WithoutCancel(ctx), warning)
}

const (
	warningTopic = ownTopics + "warning"
	statusTopic  = ownTopics + "diagnostics"
	// publishWithin bounds how long a robot may take to accept a warning.
	publishWithin = 2 * time.Second
)

func (w *worker) publish(ctx context.Context, warning Warning) {
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()

	text, err := json.Marshal(warning)
	if err == nil {
		err = w.f.source.Publish(ctx, warningTopic, textSchema, text)
	}
	if err == nil {
		err = w.f.source.Publish(ctx, statusTopic, "diagnostic_msgs/msg/DiagnosticArray", diagnosticOf(warning))
	}
	if err != nil && !errors.Is(err, ErrNoPublish) {
		w.f.Problem("a warning was not published: "+err.Error(), 1)
	}
}

// diagnosticOf is a warning as a message of diagnostic_msgs/DiagnosticArray in JSON.
func diagnosticOf(warning Warning) []byte {
	type value struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	values := []value{{"failures", fmt.Sprint(warning.Failures)}, {"advice", warning.Advice}}
	if len(warning.Position) == 3 {
		values = append(values, value{"position", fmt.Sprint(warning.Position)}, value{"distance_m", fmt.Sprint(warning.DistanceM)})
	}
	stamp := map[string]any{"sec": warning.Time.Unix(), "nanosec": warning.Time.Nanosecond()}
	text, _ := json.Marshal(map[string]any{
		"header": map[string]any{"stamp": stamp, "frame_id": warning.FrameID},
		"status": []any{map[string]any{
			"level": 1, "name": "robotmem: danger ahead", "message": warning.Text, "hardware_id": "robotmem", "values": values,
		}},
	})

	return text
}

// passed stores that the robot passed a danger, if nothing went wrong.
func (w *worker) passed(ctx context.Context, a *approach) {
	if a.failed {
		return
	}

	d := a.danger
	about := w.live.Circumstances()
	about["event"] = map[string]any{"rule": passRule}
	pose := map[string]any{"position": []any{d.at[0], d.at[1], d.at[2]}, "frame_id": d.frame}
	if d.mapID != "" {
		pose["map_id"] = d.mapID
	}
	about["spatial"] = map[string]any{"pose": pose}
	if w.f.o.Robot != "" {
		about["robot"] = map[string]any{"id": w.f.o.Robot}
	}

	session := ""
	if g := w.current(ctx); g != nil {
		session = g.session
		task, _ := about["task"].(map[string]any)
		if task == nil {
			task = map[string]any{}
			about["task"] = task
		}
		task["name"] = g.episode.Task
	}

	text := fmt.Sprintf("passed x=%.2f y=%.2f without a failure, where it had happened: %s", d.at[0], d.at[1], d.reasons[0])
	_, err := w.learn(ctx, &robotmem.LearnRequest{
		Insight: importers.Cut(text, 1000), Outcome: robotmem.OutcomeSuccess, Context: about, SessionID: session, Source: source,
		ObservedAt: timeOrNil(w.live.Time(w.now)),
	})
	if err != nil {
		return
	}
	d.successes = append(d.successes, happened{w.live.Time(w.now), w.f.o.Robot, paramsOf(about)})
	w.stale = true
}

// current is the goal of the moment, nil without one.
func (w *worker) current(ctx context.Context) *goal {
	e := w.journal.Current()
	if e == nil {
		return nil
	}
	if g := w.goals[e.ID]; g != nil || !e.Settled(w.live.Time(w.now)) {
		return g
	}

	// It served another goal, and has outlived that.
	return w.openGoal(ctx, e)
}

// saved is what is known of a fact of the journal.
type saved struct {
	memory int64 // 0: not stored
	count  int   // that is stored
	last   uint64
}

func stateOf(fact *events.Fact) *saved {
	s, ok := fact.Stored.(*saved)
	if !ok {
		s = &saved{}
		fact.Stored = s
	}
	return s
}

// save stores a fact of the journal, or its new count. What cannot be stored is a problem that is counted,
// and tried again: the robot goes on.
func (w *worker) save(ctx context.Context, session string, fact *events.Fact) {
	state := stateOf(fact)
	if state.memory != 0 && state.count == fact.Count {
		return
	}

	about := w.about(fact.About(), fact.Spatial)
	if state.memory == 0 {
		id, err := w.learn(ctx, &robotmem.LearnRequest{
			Insight: fact.Line(), Context: about, SessionID: session, Outcome: fact.Outcome, Source: source,
			ObservedAt: timeOrNil(importers.Clock(fact.At)),
		})
		if err == nil {
			state.memory, state.count = id, fact.Count
		}

		return
	}

	_, err := w.f.o.Node.Update(ctx, &robotmem.UpdateRequest{MemoryID: state.memory, NewContent: fact.Line(), Context: about})
	if err != nil {
		w.f.Problem("a count was not stored: "+err.Error(), 1)
		return
	}
	state.count = fact.Count
}

// source names this package as that of a fact.
const source = "attach"

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// learn stores a fact. Equal ones are stored side by side, since each is an observation of its own.
func (w *worker) learn(ctx context.Context, req *robotmem.LearnRequest) (int64, error) {
	if req.SessionID == "" {
		req.Collection = w.f.o.Collection
	}
	res, err := w.f.o.Node.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{*req}, KeepDuplicates: true})
	if err == nil && res.Results[0].Error != nil {
		err = errors.New(res.Results[0].Error.Detail)
	}
	if err != nil {
		w.f.log.Error("a fact was not stored", "text", req.Insight, "error", err)
		w.f.Problem("not stored: "+err.Error(), 1)

		return 0, err
	}

	w.f.mu.Lock()
	w.f.report.Facts++
	w.f.mu.Unlock()

	return res.Results[0].MemoryID, nil
}

// event handles what a rule found.
func (w *worker) event(ctx context.Context, e *events.Event, circumstances, spatial map[string]any) error {
	fact, first := w.journal.Add(e, circumstances, spatial)

	switch {
	case e.Kind == events.GoalStarted:
		return w.goalStarted(ctx, e.Goal)
	case e.Kind == events.GoalKnown:
		if g := w.journal.Current(); g != nil && !w.f.o.NoWarn {
			if _, target, has := goalOf(e.Context); has {
				w.warnOfGoal(ctx, g.Task, target, true)
			}
		}
		return nil
	case fact == nil:
		return nil
	case fact.EndedGoal != nil:
		return w.goalEnded(ctx, fact.EndedGoal)
	}

	if fact.Outcome != robotmem.OutcomeFailure {
		return nil
	}

	w.failed(e.At)
	// A failure that goes on is the same incident, until it was quiet for a while.
	state := stateOf(fact)
	again := state.last > 0 && e.LogTime > state.last && e.LogTime-state.last > quietFor
	state.last = e.LogTime
	if first || again {
		w.capture(ctx, fact.Text, e.LogTime, e.At, w.current(ctx))
		// The failure may be the last thing before the power is gone.
		w.save(ctx, w.sessionOf(fact), fact)
	}

	return nil
}

// failed notes that something went wrong where the robot is.
func (w *worker) failed(at time.Time) {
	w.watch.failedHere()
	if !at.IsZero() {
		w.failedAt = at.Add(-sameIncident)
	}
}

// quietFor is how long a failure must not have come until it is a new incident, in ns of log time.
const quietFor = 60e9

// goalStarted opens the episode of a goal that serves no other one, and warns if such goals failed.
func (w *worker) goalStarted(ctx context.Context, id string) error {
	e := w.journal.Goal(id)
	if e == nil {
		return nil
	}
	if w.openGoal(ctx, e) == nil || w.f.o.NoWarn {
		return nil
	}

	name, target, has := goalOf(e.Context)
	if name == "" {
		name = e.Task
	}
	w.warnOfGoal(ctx, name, target, has)

	return nil
}

// warnOfGoal warns if such goals failed before.
func (w *worker) warnOfGoal(ctx context.Context, name string, target [3]float64, has bool) {
	params := w.params()
	for _, d := range w.watch.dangers {
		if d.matchesGoal(name, target, has) && d.open(params) {
			w.warn(ctx, d)
		}
	}
}

// openGoal opens the episode of a goal; nil if it cannot be stored, which is counted.
func (w *worker) openGoal(ctx context.Context, e *events.Episode) *goal {
	session, err := w.f.o.Sink.Start(ctx, importers.Session{
		Origin:  w.origin(),
		Context: w.about(e.About(), e.From), StartedAt: importers.Clock(e.Start),
	})
	if err != nil {
		w.f.Problem("an episode was not started: "+err.Error(), 1)
		return nil
	}

	g := &goal{session: session, episode: e}
	w.goals[e.ID] = g
	w.f.mu.Lock()
	w.f.report.Episodes++
	w.f.mu.Unlock()

	return g
}

// goalEnded stores the facts of a goal. A failed one is an incident, and its episode ends with that.
func (w *worker) goalEnded(ctx context.Context, e *events.Episode) error {
	w.journal.Take()
	g := w.goals[e.ID]
	if g == nil {
		// It served another goal, and has outlived that.
		if g = w.openGoal(ctx, e); g == nil {
			return nil
		}
	}
	delete(w.goals, e.ID)
	g.episode, g.ended = e, true

	if e.Outcome == robotmem.OutcomeFailure {
		w.compare(ctx, e.Facts[len(e.Facts)-1])
	}

	for _, fact := range e.Facts {
		w.save(ctx, g.session, fact)
	}
	w.stale = true

	if e.Outcome == robotmem.OutcomeFailure {
		w.failed(e.End)
		w.capture(ctx, e.Facts[len(e.Facts)-1].Text, e.EndLog, e.End, g)
	}
	if g.pending == 0 {
		w.endGoal(ctx, g)
	}

	return nil
}

// origin identifies a new episode: one of this run of the program, which is not followed twice.
func (w *worker) origin() string {
	w.opened++
	return fmt.Sprintf("attach/%s/%d", w.id, w.opened)
}

func (w *worker) endGoal(ctx context.Context, g *goal) {
	ending := importers.Ending{Outcome: g.episode.Score(), At: importers.Clock(g.episode.End)}
	if err := w.f.o.Sink.End(ctx, g.session, ending); err != nil {
		w.f.Problem("an episode was not ended: "+err.Error(), 1)
	}
}

// about completes a context with the robot and the place.
func (w *worker) about(own, spatial map[string]any) map[string]any {
	out := maps.Clone(own)
	if out == nil {
		out = map[string]any{}
	}
	if w.f.o.Robot != "" {
		out["robot"] = map[string]any{"id": w.f.o.Robot}
	}
	if spatial != nil {
		out["spatial"] = spatial
	}
	out["source"] = map[string]any{"live": w.f.source.Name()}

	return out
}

// trailing is how long after the end of a goal what is said belongs to it, in ns.
const trailing = 2e9

// longestCapture bounds the seconds of one incident after its beginning, in ns.
const longestCapture = 60e9

// capture begins an incident, or adds to the one of the moment. Its episode is open from now on: that of the
// goal, or else one of its own.
func (w *worker) capture(ctx context.Context, text string, logTime uint64, at time.Time, g *goal) {
	follow := uint64(w.f.o.After * 1e9)

	for _, c := range w.captures {
		// A server logs that its goal has failed just after that.
		trails := g == nil && c.goal != nil && logTime >= c.last && logTime-c.last <= trailing
		if c.goal != g && !trails || c.run != w.run || logTime < c.first || logTime > c.until {
			continue
		}
		c.last = max(c.last, logTime)
		c.until = min(logTime+follow, c.first+longestCapture)
		c.due = time.Now().Add(time.Duration(c.until-min(c.until, w.now)) + slack)
		if !slices.Contains(c.texts, text) {
			c.texts = append(c.texts, text)
		}

		return
	}

	c := &capture{
		goal: g, texts: []string{text}, run: w.run, first: logTime, last: logTime, until: logTime + follow, at: at,
		due: time.Now().Add(time.Duration(follow) + slack),
	}
	if g != nil {
		c.session = g.session
		g.pending++
	} else if err := w.ownEpisode(ctx, c); err != nil {
		w.f.Problem("an incident was not stored: "+err.Error(), 1)
		return
	}
	w.captures = append(w.captures, c)
	w.keep()
	w.f.ring.thinBefore(logTime-min(logTime, before), w.f.o.PictureHz)
}

// keep has the ring keep the minute before the first incident whose seconds after it have not passed.
func (w *worker) keep() {
	since := uint64(0)
	for _, c := range w.captures {
		if from := w.from(c); since == 0 || from < since {
			since = from
		}
	}
	w.f.ring.keep(since)
}

// from is the log time at which the recording of an incident begins, at least 1.
func (w *worker) from(c *capture) uint64 {
	return max(1, c.first-min(c.first, uint64(w.f.o.Seconds*1e9)))
}

// slack is how much longer than the seconds after it an incident waits for messages, if log times stand still.
const slack = 2 * time.Second

// storeDue stores the incidents whose time has come, or all of them.
func (w *worker) storeDue(ctx context.Context, all bool) {
	for i := 0; i < len(w.captures); {
		c := w.captures[i]
		if !all && w.now < c.until && time.Now().Before(c.due) {
			i++
			continue
		}
		w.store(ctx, c)
		w.captures = slices.Delete(w.captures, i, i+1)
		w.keep()
	}
}

// Of the pictures and clouds from these times before the first failure until these after the last, all are
// stored, in ns.
const (
	before = 5e9
	after  = 2e9
)

// store stores an incident: its facts, if no goal has them, and the recording of its time.
func (w *worker) store(ctx context.Context, c *capture) {
	w.saveOpen(ctx, 0)

	from := w.from(c)
	if c.goal != nil {
		// Of two incidents of a goal the second goes on where the first ends.
		from = max(from, min(c.goal.until, c.first)+1)
		c.goal.until = c.until
	}
	messages, left := sparse(w.f.ring.between(from, c.until, c.run), w.f.o.PictureHz, c.first-min(c.first, before), c.last+after)
	w.storing++

	// Describing pictures and writing to the disk take longer than the robot can wait.
	go func() {
		w.oneAtATime.Lock()
		defer w.oneAtATime.Unlock()
		report, err := recording.Import(ctx, &minute{name: w.f.source.Name(), id: runID(), messages: messages},
			recording.Options{Robot: w.f.o.Robot, MapID: w.f.o.MapID}, into{w.f.o.Sink, c.session}, nil)
		if err != nil {
			w.f.Problem("the recording of an incident was not stored: "+err.Error(), 1)
		}

		done := Incident{SessionID: c.session, Time: c.at, Text: strings.Join(c.texts, "; "), Messages: len(messages), PicturesLeft: left}
		if report != nil {
			done.Perceptions = report.Stored
		}
		w.stored <- finished{c, done}
	}()
}

// finished is an incident whose recording is stored.
type finished struct {
	capture  *capture
	incident Incident
}

// finish ends the episode of an incident.
func (w *worker) finish(ctx context.Context, done finished) {
	w.storing--
	w.stale = true
	w.f.mu.Lock()
	w.f.report.Incidents++
	w.f.mu.Unlock()

	if g := done.capture.goal; g != nil {
		if g.pending--; g.pending == 0 && g.ended {
			w.endGoal(ctx, g)
		}
	} else {
		failed := 0.0
		end := importers.Clock(w.live.Time(done.capture.until))
		if err := w.f.o.Sink.End(ctx, done.capture.session, importers.Ending{Outcome: &failed, At: end}); err != nil {
			w.f.Problem("an episode was not ended: "+err.Error(), 1)
		}
	}
	if w.f.o.OnIncident != nil {
		w.f.o.OnIncident(done.incident)
	}
}

// ownEpisode opens an episode for an incident outside of all goals, and stores its facts.
func (w *worker) ownEpisode(ctx context.Context, c *capture) error {
	about := w.about(w.live.Circumstances(), w.live.Pose(c.first))
	session, err := w.f.o.Sink.Start(ctx, importers.Session{
		Origin:  w.origin(),
		Context: about, StartedAt: w.live.Time(c.first),
	})
	if err != nil {
		return err
	}
	c.session = session

	return nil
}

// saveOpen stores the facts that are older than some seconds of log time and not stored, each in its episode.
func (w *worker) saveOpen(ctx context.Context, older float64) {
	for _, fact := range w.journal.Open() {
		if state := stateOf(fact); state.memory == 0 && w.now-min(w.now, fact.LogTime) >= uint64(older*1e9) {
			w.save(ctx, w.sessionOf(fact), fact)
		}
	}

	// What has not come for a while gets its last count, and begins anew when it comes again.
	for _, fact := range w.journal.TakeQuiet(w.now - min(w.now, quietFor)) {
		w.save(ctx, w.sessionOf(fact), fact)
	}
}

// sessionOf is the episode of a fact: that of its goal, that of the incident of its time, or none.
func (w *worker) sessionOf(fact *events.Fact) string {
	if g := w.goals[fact.Goal]; g != nil {
		return g.session
	}

	for _, c := range w.captures {
		trails := c.goal != nil && fact.LogTime >= c.last && fact.LogTime-c.last <= trailing
		if c.goal == nil && c.first <= fact.LogTime && fact.LogTime <= c.until || trails {
			return c.session
		}
	}

	return ""
}

// refresh asks the memory for dangers, in another goroutine.
func (w *worker) refresh(ctx context.Context) {
	if w.asking || w.f.o.NoWarn {
		return
	}
	w.asking, w.stale, w.asked = true, false, time.Now()
	a := &asker{node: w.f.o.Node, collection: w.f.o.Collection, since: w.since}

	go func() {
		found, err := a.dangers(ctx)
		if err != nil {
			w.f.Problem("the memory was not asked for dangers: "+err.Error(), 1)
		}
		w.dangers <- found
	}()
}

// close stores what is open. The robot is gone, or the program ends.
func (w *worker) close(ctx context.Context) error {
	w.storeDue(ctx, true)

	for w.storing > 0 {
		w.finish(ctx, <-w.stored)
	}

	w.closeJournal(ctx)

	report, closing := w.live.Close(ctx)
	w.f.mu.Lock()
	w.f.report.Limited = w.journal.Limited()

	w.f.report.ClockResets, w.f.report.Robots, w.f.report.Unmatched = report.ClockResets, report.Robots, report.Unmatched
	for _, t := range report.Topics {
		for reason, n := range t.Notes {
			w.f.addProblem(t.Topic+": "+reason, n)
		}
	}
	if w.f.o.Record {
		w.f.report.Recording = report
	}
	w.f.mu.Unlock()
	if w.asking {
		<-w.dangers
	}

	return closing
}
