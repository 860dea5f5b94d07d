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
	items   int // in a batch
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
	// again, with other random numbers.
	cutsPerRecording = 60
	memoryFile       = "memory.db"
)

func power(ctx context.Context, r *rig) error {
	for round := 0; r.faults < r.times && ctx.Err() == nil; round++ {
		cuts := min(cutsPerRecording, (r.times-r.faults)/len(workloads)+1)

		var all sync.WaitGroup

		errs := make([]error, len(workloads))
		for i, w := range workloads {
			rnd := rand.New(rand.NewPCG(r.rand.Uint64(), 0))
			all.Go(func() { errs[i] = r.recordAndCut(ctx, w, rnd, cuts, round) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}

	return ctx.Err()
}

// encrypted is power for a memory with a key.
func encrypted(ctx context.Context, r *rig) error {
	key, _, err := local.NewKey()
	if err != nil {
		return err
	}
	if ctx, err = local.WithKey(ctx, key); err != nil {
		return err
	}

	return power(ctx, r)
}

// record lets robots work on a recording disk. They tell of each call before they make it and after its answer,
// and calls has all that they told. The log has a mark for each entry of calls, at the moment when it was told.
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
	// The log is taken before the file is closed, because closing syncs everything.
	log = d.Log()

	return log, calls, errors.Join(append(errs, e.Close())...)
}

// recordAndCut records a workload and cuts it until the given number of cuts took something
// away. Half of the cuts are beside operations that are no writes, the others anywhere.
func (r *rig) recordAndCut(ctx context.Context, w workload, rnd *rand.Rand, cuts, round int) error {
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
	for tries := 0; done < cuts && tries < 20 && ctx.Err() == nil; tries++ {
		var points []int
		for i := range cuts - done {
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
			// The acknowledged calls were counted above, for the whole recording.
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

// cutPower makes one state that a cut may leave, and checks it. It reports whether the cut took anything away.
func (r *rig) cutPower(
	ctx context.Context, replay *faultdisk.Replay, l *ledger, rnd *rand.Rand, name string,
) (bool, error) {
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
	before := r.violations()
	where := fmt.Sprintf("%s by sectors of %d", filepath.Base(dir), sector)
	err = r.opened(ctx, filepath.Join(d.Root(), memoryFile), onDisk(d), where, func(e *local.Node) {
		r.check(ctx, e, l, where)
		if err := newRobot("after", e, 1, func(call) {}).learn(ctx); err != nil {
			r.broken("%s: writing after it: %v", where, err)
		}
	})
	// The files are kept if anything was found meanwhile. Cuts of other workloads may have found it, as they count in
	// the same rig.
	if err != nil || r.violations() > before {
		return true, err
	}

	return true, os.RemoveAll(dir)
}
