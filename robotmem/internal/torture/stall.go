package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A control loop records at 1 kHz while the disk blocks its syncs, or its writes
// too, for seconds at a time and the embedder does not answer. A stall is a fault
// if it really blocked something.

const (
	loopPeriod = time.Millisecond
	sampleSize = 6 * 8 // bytes
	// stallQueue holds half a second of the loop: longer stalls drop samples.
	stallQueue            = 500 * (24 + sampleSize)
	stallLeast, stallMost = 800 * time.Millisecond, 3 * time.Second
	pushLimit             = time.Millisecond
	learnLimit            = 200 * time.Millisecond
	// patience is how long a call with a time limit may take before it counts as
	// hanging; the limits are far below.
	patience = 10 * time.Second
	// backlogLimit is how long the node may take to embed what it learnt meanwhile.
	backlogLimit = time.Minute
)

type stallRun struct {
	*rig
	disk     *faultdisk.Disk
	engine   *local.Node
	embedder *fakeEmbedder
	ledger   *ledger
}

func stall(ctx context.Context, r *rig) error {
	dir := filepath.Join(r.dir, "node")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	d, err := faultdisk.Over(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	o := onDisk(d)
	s := &stallRun{rig: r, disk: d, embedder: &fakeEmbedder{}, ledger: newLedger()}
	o.Embedder = s.embedder
	if s.engine, err = local.Open(ctx, filepath.Join(d.Root(), memoryFile), o); err != nil {
		return err
	}

	return errors.Join(s.run(ctx), s.engine.Close())
}

func (s *stallRun) run(ctx context.Context) error {
	if err := s.robot("first").learn(ctx); err != nil {
		return err
	}

	rec := s.engine.Recorder(recorder.Options{Collection: "arm"})
	trace, err := rec.Trace("wrist/wrench", recorder.TraceOptions{
		Channels: []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}, RateHz: 1000, Kind: "wrench", QueueBytes: stallQueue,
	})
	if err != nil {
		return err
	}

	working, stop := context.WithTimeout(ctx, s.time)
	defer stop()

	var (
		pushes, idle durations
		others       sync.WaitGroup
	)
	values := make([]float64, 6)
	others.Go(func() {
		pushes = controlLoop(working, func(seq uint64, at time.Time) { trace.Push(seq, at, values) })
	})
	others.Go(func() { idle = controlLoop(working, func(uint64, time.Time) {}) })
	others.Go(func() { s.recallOn(working) })
	s.stalls(working)
	stop()
	others.Wait()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := errors.Join(rec.Close(closing), ctx.Err()); err != nil {
		return err
	}

	s.judgeLoops(pushes, idle)

	return errors.Join(s.judgeSamples(closing, rec.Counts()[0], len(pushes)), s.judgeBacklog(ctx))
}

func (s *stallRun) robot(name string) *robot {
	return newRobot("stall"+name, s.engine, 1, s.ledger.tell)
}

// stalls stalls the disk again and again, with pauses in which everything must recover.
func (s *stallRun) stalls(ctx context.Context) {
	whole := context.WithoutCancel(ctx)

	waiting, limited, after := s.robot("waiting"), s.robot("limited"), s.robot("after")
	for i := 0; ctx.Err() == nil; i++ {
		hold, held := s.disk.StallSyncs, s.disk.Held()
		if i%3 == 2 {
			hold = s.disk.Stall
		}
		release, answer := hold(), s.embedder.block()

		patient := make(chan error, 1)
		go func() { patient <- waiting.learn(whole) }()

		var err error

		until := time.Now().Add(s.between(stallLeast, stallMost))
		for time.Now().Before(until) && ctx.Err() == nil && !errors.Is(err, errHangs) {
			err = inTime(func() error {
				short, cancel := context.WithTimeout(whole, learnLimit)
				defer cancel()
				return limited.learn(short)
			})
			if err != nil && !errors.Is(err, robotmem.Unavailable) {
				s.broken("a learn with a limit of %v: %v", learnLimit, err)
			}
			sleep(ctx, 100*time.Millisecond)
		}
		release()
		answer()
		if err := inTime(func() error { return <-patient }); err != nil {
			s.broken("a learn that waited for the disk: %v", err)
		}
		if s.disk.Held() > held {
			s.fault()
		}
		if err := inTime(func() error { return after.learn(whole) }); err != nil {
			s.broken("learning after stall %d: %v", i, err)
		}
		sleep(ctx, s.between(stallLeast/3, stallLeast))
	}
}

var errHangs = fmt.Errorf("it hangs: no answer within %v", patience)

// inTime returns the error of a call, or errHangs.
func inTime(do func() error) error {
	answer := make(chan error, 1)
	go func() { answer <- do() }()

	select {
	case err := <-answer:
		return err
	case <-time.After(patience):
		return errHangs
	}
}

func (s *stallRun) recallOn(ctx context.Context) {
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		res, err := s.engine.Recall(limited, &robotmem.RecallRequest{Query: "stallfirstn1", DeadlineMS: 500})
		cancel()
		if err != nil || res.Total == 0 {
			s.broken("recall while the disk hangs: %+v, %v", res, err)
		}
		sleep(ctx, 50*time.Millisecond)
	}
}

// controlLoop calls f every millisecond until ctx ends, and returns how long the calls took.
func controlLoop(ctx context.Context, f func(seq uint64, at time.Time)) (took durations) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	next := time.Now()
	for seq := uint64(1); ctx.Err() == nil; seq++ {
		time.Sleep(time.Until(next))
		start := time.Now()
		f(seq, start)
		took = append(took, time.Since(start))
		if next = next.Add(loopPeriod); time.Since(next) > 20*loopPeriod {
			// Samples that are so late are never offered.
			next = time.Now()
		}
	}

	return took
}

// judgeLoops says whether pushes took longer than they may. The loop that does
// nothing shows what the machine adds.
func (s *stallRun) judgeLoops(pushes, idle durations) {
	if p, q := pushes.quantile(0.999), idle.quantile(0.999); p > max(pushLimit, 2*q) {
		s.broken("p99.9 of a push is %v, of the loop that does nothing %v", p, q)
	}
	if p, q := pushes.quantile(1), idle.quantile(1); p > max(stallLeast/10, 2*q) {
		s.broken("a push took %v: it waits for the disk", p)
	}
	s.note("push: p99.9 %v, %v; doing nothing: p99.9 %v", pushes.quantile(0.999), pushes, idle.quantile(0.999))
}

// judgeSamples compares what the recorder counted with what can be read, and all
// memories with the ledger.
func (s *stallRun) judgeSamples(ctx context.Context, n recorder.SourceCount, offered int) error {
	all, err := listAll(ctx, s.engine)
	if err != nil {
		return err
	}

	stored := uint64(0)

	for id, m := range all {
		if m.Data == "" {
			continue
		}
		data, err := s.engine.Data(ctx, &robotmem.MemoryRequest{MemoryID: id})
		if err != nil {
			s.lost("samples of memory %d: %v", id, err)
			continue
		}
		stored += uint64(data.Bytes) / sampleSize
		s.ledger.tell(call{Parts: only(m), Outcome: acknowledged}) // judged by its count
	}

	s.check(ctx, s.engine, s.ledger, "after the stalls")
	s.acknowledge(int(n.Stored))
	s.note("%d samples were offered, %d stored, %d dropped and counted", offered, stored, n.Dropped)
	if n.Received != uint64(offered) || n.Received != n.Stored+n.Dropped || stored != n.Stored {
		s.broken("of %d samples %d were received, %d stored and %d dropped; %d can be read", offered, n.Received,
			n.Stored, n.Dropped, stored)
	}
	if n.Dropped == 0 {
		err = errors.New("no stall was so long that samples were dropped")
	}
	if least := int(0.9 * s.time.Seconds() * float64(time.Second/loopPeriod)); offered < least {
		err = errors.Join(err,
			fmt.Errorf("the loop offered %d samples, and %d make it one of 1 kHz: the machine was too busy", offered,
				least))
	}

	return err
}

// judgeBacklog waits until every memory has its vector.
func (s *stallRun) judgeBacklog(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, backlogLimit)
	defer cancel()
	if err := untilIdle(limited, s.engine); err != nil {
		s.broken("memories have no vector though the embedder answers again: %v", err)
	}
	s.note("the embedder was asked %d times while it hung", s.embedder.hung)
	if s.embedder.hung == 0 {
		return errors.New("nobody asked the embedder while it hung")
	}

	return ctx.Err()
}

// untilIdle waits until the work in the background is done.
func untilIdle(ctx context.Context, e *local.Node) error {
	for {
		stats, err := e.Stats(ctx, nil)
		if err != nil || stats.Backlog == 0 && stats.ToCompare == 0 {
			return err
		}
		sleep(ctx, 10*time.Millisecond)
	}
}

// fakeEmbedder makes vectors of the bytes of texts. While it is blocked it answers
// nothing, not even to the end of a context.
type fakeEmbedder struct {
	mu      sync.Mutex
	blocked chan struct{} // closed at the end of a block; nil when it answers
	hung    int           // how often it was asked while blocked
}

var _ robotmem.Embedder = (*fakeEmbedder)(nil)

func (f *fakeEmbedder) block() (release func()) {
	blocked := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocked = blocked

	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.blocked = nil
		close(blocked)
	}
}

func (f *fakeEmbedder) State() robotmem.EmbedderState {
	return robotmem.EmbedderState{Model: "fake:bytes"}
}

func (f *fakeEmbedder) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	f.mu.Lock()
	blocked := f.blocked
	if blocked != nil {
		f.hung++
	}

	f.mu.Unlock()
	if blocked != nil {
		<-blocked
	}

	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 64)
		for j := range len(text) {
			vectors[i][(int(text[j])*7+j%3)%64]++
		}
	}

	return vectors, nil
}
