package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/internal/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Robots work on a disk that records. Then the power fails at points of the
// recording, and each state that may be left is opened and compared. A cut is a
// fault if it took away something that was not synced.

// workload is a way to use a memory, written as actions of robots.
type workload struct {
	name    string
	actions string // in this order
	rounds  int
	robots  int // at a time
	items   int // of a batch
}

var workloads = []workload{
	{"facts", "learn", 40, 1, 0},
	{"batches", "batch", 2, 1, batchChunk + 120},
	{"changes", "learn update forget learn restore", 12, 1, 0},
	{"sessions", "learn session", 3, 1, 0},
	{"payloads", "small large repeat", 5, 1, 0},
	{"evictions", "large large large large retain", 3, 1, 0},
	{"checkpoints", strings.Repeat("quarter ", 24) + "learn learn", 3, 1, 0},
	{"reopenings", "learn learn learn learn reopen learn learn reopen repair", 2, 1, 0},
	{"together", "learn learn pause learn large pause", 6, 4, 0},
}

const (
	// cutsPerRecording is the number of cuts after which the workload is recorded
	// again, with other chances.
	cutsPerRecording = 60
	memoryFile       = "memory.db"
)

func power(ctx context.Context, r *rig) error {
	for round := 0; r.faults < r.times && ctx.Err() == nil; round++ {
		share := min(cutsPerRecording, (r.times-r.faults)/len(workloads)+1)

		var all sync.WaitGroup

		errs := make([]error, len(workloads))
		for i, w := range workloads {
			rnd := rand.New(rand.NewPCG(r.rand.Uint64(), 0))
			all.Go(func() { errs[i] = r.recordAndCut(ctx, w, rnd, share, round) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}

	return ctx.Err()
}

// record lets robots work on a recording disk. There is a mark for each call told.
func record(ctx context.Context, w workload, dir string, rnd *rand.Rand) (log *faultdisk.Log, calls []call, err error) {
	d, err := faultdisk.New(dir)
	if err != nil {
		return nil, nil, err
	}

	defer d.Close()
	path, o := filepath.Join(d.Root(), memoryFile), onDisk(d)
	e, err := local.Open(ctx, path, o)
	if err != nil {
		return nil, nil, err
	}

	var mu sync.Mutex
	tell := func(c call) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, c)
		d.Mark()
	}

	var working sync.WaitGroup

	errs := make([]error, w.robots)
	for i := range w.robots {
		b := newRobot(fmt.Sprint("power", i), e, rnd.Uint64(), tell)
		b.items = w.items
		b.reopen = func() (*local.Node, error) {
			if err := e.Close(); err != nil {
				return nil, err
			}
			e, err = local.Open(ctx, path, o)
			return e, err
		}
		working.Go(func() {
			for range w.rounds {
				for _, action := range strings.Fields(w.actions) {
					if errs[i] == nil {
						errs[i] = actions[action](b, ctx)
					}
				}
			}
		})
	}

	working.Wait()
	// Before closing, which syncs everything.
	log = d.Log()

	return log, calls, errors.Join(append(errs, e.Close())...)
}

// recordAndCut records a workload and cuts it until so many cuts took something
// away: half of them beside operations that are no writes, half anywhere.
func (r *rig) recordAndCut(ctx context.Context, w workload, rnd *rand.Rand, share, round int) error {
	dir := filepath.Join(r.dir, fmt.Sprintf("%s-%d", w.name, round))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}

	log, calls, err := record(ctx, w, dir, rnd)
	if err != nil {
		return fmt.Errorf("recording %s: %w", w.name, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}

	r.acknowledge(ledgerAt(calls, len(calls), false).take())
	turns := log.Turns()

	done := 0
	for tries := 0; done < share && tries < 20 && ctx.Err() == nil; tries++ {
		var points []int
		for i := range share - done {
			points = append(points, rnd.IntN(log.Len()+1))
			if i%2 == 0 {
				points[i] = turns[rnd.IntN(len(turns))]
			}
		}
		slices.Sort(points)

		replay := log.Replay()
		for _, at := range points {
			replay.Advance(at)
			l := ledgerAt(calls, log.Marks(at), false)
			// Counted once for the recording.
			l.take()
			hit, err := r.cutPower(ctx, replay, l, rnd, fmt.Sprintf("%s-at-%d-", dir, at))
			if err != nil {
				return err
			}
			if hit {
				done++
			}
		}
	}

	return nil
}

// cutPower makes one state and checks it. It reports whether anything was lost.
func (r *rig) cutPower(ctx context.Context, replay *faultdisk.Replay, l *ledger, rnd *rand.Rand, name string) (bool, error) {
	dir, err := os.MkdirTemp(r.dir, filepath.Base(name))
	if err != nil {
		return false, err
	}

	sector := []int{512, 4096}[rnd.IntN(2)]
	lost, err := replay.Cut(rnd, sector, dir)
	if err != nil {
		return false, err
	}
	if lost == 0 {
		return false, os.RemoveAll(dir)
	}

	r.fault()
	d, err := faultdisk.Over(dir)
	if err != nil {
		return true, err
	}

	defer d.Close()
	before := r.wrongs()
	where := fmt.Sprintf("%s by sectors of %d", filepath.Base(dir), sector)
	err = r.opened(ctx, filepath.Join(d.Root(), memoryFile), onDisk(d), where, func(e *local.Node) {
		r.check(ctx, e, l, where)
		if err := newRobot("after", e, 1, func(call) {}).learn(ctx); err != nil {
			r.broken("%s: writing after it: %v", where, err)
		}
	})
	// Other cuts may have caused it.
	if err != nil || r.wrongs() > before {
		return true, err
	}

	return true, os.RemoveAll(dir)
}
