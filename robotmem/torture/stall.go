package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Stall: a control loop records at 1 kHz while the disk holds up its syncs, or
// its writes too, for seconds at a time and the embedder answers nothing. A stall
// counts when it really held something up.

const (
	// stallQueue holds half a second of the loop, so that longer stalls
	// drop samples.
	stallQueue = 500 * (32 + 6*4)
	// patience is how long a call that has a time limit may take to answer before
	// it is called hanging; the limits are far below.
	patience    = 10 * time.Second
	learnLimit  = 200 * time.Millisecond
	recallEvery = 50 * time.Millisecond
)

func stall(ctx context.Context, r *rig) error {
	dir, err := r.folder("node")
	if err != nil {
		return err
	}
	d, err := faultdisk.Over(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	hang := &hangingEmbedder{}
	e, err := local.Open(ctx, local.Options{Path: filepath.Join(d.Root(), memoryName), Disk: d, Embedder: hang})
	if err != nil {
		return err
	}
	s := &stallRun{rig: r, disk: d, engine: e, hang: hang, known: map[int64]memo{}}
	err = s.run(ctx)
	hang.release()
	return errors.Join(err, e.Close())
}

type stallRun struct {
	*rig
	disk   *faultdisk.Disk
	engine *local.Node
	hang   *hangingEmbedder

	mu      sync.Mutex // guards what follows
	known   map[int64]memo
	recalls []time.Duration
	answers []time.Duration // of learns with a time limit
	n       int
}

func (s *stallRun) run(ctx context.Context) error {
	if err := s.learn(ctx); err != nil {
		return err
	}
	rec := s.engine.Recorder(recorder.Options{Collection: "arm"})
	trace, err := rec.Trace("wrist/wrench", recorder.TraceOptions{
		Channels: []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}, RateHz: 1000, Kind: "wrench", Float32: true, QueueBytes: stallQueue,
	})
	if err != nil {
		return err
	}
	working, stop := context.WithTimeout(ctx, s.time)
	defer stop()
	var pushes, control *loopFigures
	var others sync.WaitGroup
	values := make([]float64, 6)
	others.Go(func() {
		pushes = loop(working, func(seq uint64, at time.Time) { trace.Push(seq, at, values) })
	})
	idle := make([]float64, 6)
	others.Go(func() { control = loop(working, func(uint64, time.Time) { copy(idle, values) }) })
	others.Go(func() { s.recallOn(working) })
	err = s.stalls(working)
	stop()
	others.Wait()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := errors.Join(err, rec.Close(closing)); err != nil {
		return err
	}
	s.judgeLoop(pushes, control)
	counts := rec.Counts()[0]
	err = errors.Join(s.judgeSamples(closing, counts, len(pushes.took)), s.judgeFacts(closing), s.judgeBacklog(ctx))
	return errors.Join(err, s.happened(counts, len(pushes.took)))
}

// happened fails when what this part is there for did not take place, so that
// nothing broken says nothing.
func (s *stallRun) happened(n recorder.SourceCount, offered int) error {
	var err error
	asked := s.hang.asked()
	s.note("the embedder was asked %d times while it hung", asked)
	if asked == 0 {
		err = errors.Join(err, errors.New("nobody asked the embedder while it hung"))
	}
	if n.Dropped == 0 {
		err = errors.Join(err, errors.New("no stall was so long that samples were dropped"))
	}
	if least := int(0.9 * s.time.Seconds() * float64(time.Second/loopPeriod)); offered < least {
		err = errors.Join(err, fmt.Errorf("the loop offered %d samples, which is less than the %d that make it one of 1 kHz: the machine was too busy", offered, least))
	}
	return err
}

// backlogLimit is how long the node may take to embed what it learnt while the
// embedder hung.
const backlogLimit = time.Minute

// judgeBacklog waits until every memory has its vector.
func (s *stallRun) judgeBacklog(ctx context.Context) error {
	start := time.Now()
	for {
		stats, err := s.engine.Stats(ctx, &robotmem.StatsRequest{})
		if err != nil {
			return err
		}
		took := time.Since(start)
		switch {
		case stats.Backlog == 0:
			s.note("the backlog of the embedder was empty after %v", took.Round(10*time.Millisecond))
			return nil
		case took > backlogLimit:
			s.broken("%d memories still wait for their vectors %v after the embedder answers again", stats.Backlog, backlogLimit)
			return nil
		}
		sleep(ctx, 50*time.Millisecond)
	}
}

// stalls holds the disk up again and again, with pauses in which everything is
// to recover.
func (s *stallRun) stalls(ctx context.Context) error {
	for i := 0; ctx.Err() == nil; i++ {
		hold, held := s.disk.StallSyncs, s.disk.Held()
		if i%3 == 2 {
			hold = s.disk.Stall
		}
		release := hold()
		s.hang.block()
		err := s.during(ctx, time.Duration(800+s.rand.IntN(2200))*time.Millisecond, release)
		release()
		s.hang.release()
		if err != nil {
			return err
		}
		if s.disk.Held() > held {
			s.fault()
		}
		if err := s.learn(context.WithoutCancel(ctx)); err != nil {
			s.broken("stall %d: learning after it: %v", i, err)
		}
		sleep(ctx, time.Duration(300+s.rand.IntN(400))*time.Millisecond)
	}
	return nil
}

// during learns while the disk is held up: with patience, and within a time.
func (s *stallRun) during(ctx context.Context, length time.Duration, release func()) error {
	waits := make(chan error, 1)
	go func() { waits <- s.learn(context.WithoutCancel(ctx)) }()
	until := time.Now().Add(length)
	for time.Now().Before(until) && ctx.Err() == nil {
		if err := s.learnInTime(ctx); err != nil {
			s.broken("%v", err)
		}
		sleep(ctx, 100*time.Millisecond)
	}
	release()
	select {
	case err := <-waits:
		if err != nil {
			s.broken("a learn that waited for the disk: %v", err)
		}
		return nil
	case <-time.After(patience):
		return errors.New("a learn still hangs after the stall")
	}
}

// learnInTime fails unless a learn with a time limit answers soon after it: with
// unavailable, or that it is stored.
func (s *stallRun) learnInTime(ctx context.Context) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnLimit)
	defer cancel()
	start := time.Now()
	answer := make(chan error, 1)
	go func() { answer <- s.learn(limited) }()
	select {
	case err := <-answer:
		s.mu.Lock()
		s.answers = append(s.answers, time.Since(start))
		s.mu.Unlock()
		if err != nil && !errors.Is(err, robotmem.Unavailable) {
			return fmt.Errorf("a learn within %v: %w", learnLimit, err)
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("a learn that had %v hangs", learnLimit)
	}
}

func (s *stallRun) learn(ctx context.Context) error {
	s.mu.Lock()
	s.n++
	text := fmt.Sprintf("stall%06d the belt runs at %d mm/s", s.n, s.n)
	s.mu.Unlock()
	res, err := s.engine.Learn(ctx, &robotmem.LearnRequest{Insight: text})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[res.MemoryID] = memo{text: text, status: "active"}
	return nil
}

// recallOn asks all the time.
func (s *stallRun) recallOn(ctx context.Context) {
	for ctx.Err() == nil {
		start := time.Now()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		res, err := s.engine.Recall(limited, &robotmem.RecallRequest{Query: "stall000001", DeadlineMS: 500})
		cancel()
		switch {
		case err != nil:
			s.broken("recall while the disk hangs: %v", err)
		case res.Total == 0:
			s.broken("recall while the disk hangs finds nothing (%v)", res.Degraded)
		}
		s.mu.Lock()
		s.recalls = append(s.recalls, time.Since(start))
		s.mu.Unlock()
		sleep(ctx, recallEvery)
	}
}

// judgeLoop says whether a push has waited: for longer than it may, and than the
// loop that does nothing did on this machine at the same time.
func (s *stallRun) judgeLoop(pushes, control *loopFigures) {
	if limit := max(pushLimit, 2*control.quantile(1)); pushes.waited > limit {
		s.broken("a push waited for %v; the loop that does nothing was held up for at most %v", pushes.waited, control.quantile(1))
	}
	if p := pushes.quantile(0.999); p > pushLimit && p > 2*control.quantile(0.999) {
		s.broken("p99.9 of a push is %v, of the loop that does nothing %v", p, control.quantile(0.999))
	}
	for _, l := range []struct {
		name string
		*loopFigures
	}{{"push", pushes}, {"doing nothing", control}} {
		s.note("%s: %d times, p50 %v, p99.9 %v, max %v, %d over 1 ms, longest wait %v", l.name, len(l.took), l.quantile(0.5), l.quantile(0.999), l.quantile(1), l.slow(), l.waited)
	}
	slices.Sort(s.recalls)
	slices.Sort(s.answers)
	if len(s.recalls) > 0 && len(s.answers) > 0 {
		s.note("meanwhile %d recalls, p50 %v, max %v; %d learns with a limit of %v, the slowest answered after %v", len(s.recalls),
			s.recalls[len(s.recalls)/2].Round(time.Millisecond), s.recalls[len(s.recalls)-1].Round(time.Millisecond), len(s.answers), learnLimit, s.answers[len(s.answers)-1].Round(time.Millisecond))
	}
}

// judgeSamples compares what the recorder counted with what can be read.
func (s *stallRun) judgeSamples(ctx context.Context, n recorder.SourceCount, offered int) error {
	stored := uint64(0)
	req := &robotmem.ListRequest{Limit: 1000, Type: "perception", Collection: "arm"}
	for {
		res, err := s.engine.List(ctx, req)
		if err != nil {
			return err
		}
		for i := range res.Memories {
			data, err := s.engine.Data(ctx, &robotmem.DataRequest{MemoryID: res.Memories[i].MemoryID})
			if err != nil {
				s.lost("samples of memory %d: %v", res.Memories[i].MemoryID, err)
				continue
			}
			stored += uint64(data.Bytes) / (6 * 4)
		}
		if res.Next == "" {
			break
		}
		req.Cursor = res.Next
	}
	s.note("%d samples were offered, %d stored, %d dropped and counted", offered, stored, n.Dropped)
	s.acknowledged(int(n.Stored))
	if n.Received != uint64(offered) || n.Received != n.Stored+n.Dropped || stored != n.Stored {
		s.broken("of %d samples %d were received, %d stored and %d dropped; %d can be read", offered, n.Received, n.Stored, n.Dropped, stored)
	}
	return nil
}

// judgeFacts looks for every acknowledged fact; one whose learn ran out of time
// may be there too.
func (s *stallRun) judgeFacts(ctx context.Context) error {
	found, err := listAll(ctx, s.engine)
	if err != nil {
		return err
	}
	s.acknowledged(len(s.known))
	for id, want := range s.known {
		if found[id] != want {
			s.lost("memory %d is %+v, want %+v", id, found[id], want)
		}
	}
	for id, m := range found {
		if m.sum == "" && !strings.HasPrefix(m.text, "stall") {
			s.broken("memory %d is %q, which nobody wrote", id, m.text)
		}
	}
	j := &judge{rig: s.rig, rnd: s.rand, where: "after the stalls"}
	j.doctor(ctx, s.engine, true)
	return nil
}

// hangingEmbedder is one that answers nothing while it is blocked, and does not
// look at its context either.
type hangingEmbedder struct {
	mu      sync.Mutex
	blocked chan struct{} // closed by release; nil when it answers
	hung    int           // how often it was asked meanwhile
}

var _ robotmem.Embedder = (*hangingEmbedder)(nil)

func (h *hangingEmbedder) block() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.blocked = make(chan struct{})
}

func (h *hangingEmbedder) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blocked != nil {
		close(h.blocked)
		h.blocked = nil
	}
}

func (h *hangingEmbedder) asked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hung
}

func (h *hangingEmbedder) State() robotmem.EmbedderState {
	return robotmem.EmbedderState{Model: "fake:hangs"}
}

func (h *hangingEmbedder) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	h.mu.Lock()
	blocked := h.blocked
	if blocked != nil {
		h.hung++
	}
	h.mu.Unlock()
	if blocked != nil {
		<-blocked
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, 8)
		for j := range len(text) {
			v[j%8] += float32(text[j])
		}
		vectors[i] = v
	}
	return vectors, nil
}
