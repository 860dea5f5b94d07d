package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/faultdisk"
)

// Power: a node works on a disk that records; then the power fails at points of
// the recording, and what may be left is opened as after the next start. A cut
// counts when it took something away that was not synced.

const (
	// cutsPerRecording is how many cuts a recording is good for before the same
	// work is recorded anew, with other chances.
	cutsPerRecording = 60
	// doctorEvery and deepEvery are the shares of cuts that a doctor looks at;
	// the other checks are made of all.
	doctorEvery, deepEvery = 3, 15
	memoryName             = "memory.db"
)

func power(ctx context.Context, r *rig) error {
	p := &powerRun{rig: r}
	for round := 0; r.Faults < r.times && ctx.Err() == nil; round++ {
		jobs := make(chan func() error)
		failed := make(chan error, runtime.GOMAXPROCS(0))
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for job := range jobs {
					if err := job(); err != nil {
						select {
						case failed <- err:
						default:
						}
					}
				}
			})
		}
		share := min(cutsPerRecording, (r.times-r.Faults)/len(labours)+1)
		for _, l := range labours {
			seed := r.rand.Uint64()
			jobs <- func() error { return p.recordAndCut(ctx, l, seed, share, round) }
		}
		close(jobs)
		workers.Wait()
		select {
		case err := <-failed:
			return err
		default:
		}
	}
	r.note("%d sectors were torn or not written, %d names and %d sizes not kept", p.sectors.Load(), p.names.Load(), p.sizes.Load())
	r.note("%d recordings of %d operations; %d cuts that lost nothing are not counted", p.recordings.Load(), p.operations.Load(), p.harmless.Load())
	return ctx.Err()
}

// powerRun are the figures of all recordings.
type powerRun struct {
	*rig
	sectors, names, sizes, harmless, recordings, operations atomic.Int64
}

// recordAndCut records a labour and cuts it until so many cuts took something
// away: at every kind of turn, and anywhere.
func (p *powerRun) recordAndCut(ctx context.Context, l labour, seed uint64, share, round int) error {
	rnd := rand.New(rand.NewPCG(seed, 0))
	dir, err := p.folder(fmt.Sprintf("%s-%d", l.name, round))
	if err != nil {
		return err
	}
	rec, err := record(ctx, l, dir, rnd)
	if err != nil {
		return fmt.Errorf("recording %s: %w", l.name, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	p.recordings.Add(1)
	p.operations.Add(int64(rec.log.Len()))
	p.acknowledged(len(rec.steps))
	turns := rec.log.Turns()
	done := 0
	for tries := 0; done < share && tries < 20 && ctx.Err() == nil; tries++ {
		var points []int
		for i := range share - done {
			if i%2 == 0 {
				points = append(points, turns[rnd.IntN(len(turns))])
			} else {
				points = append(points, rnd.IntN(rec.log.Len()+1))
			}
		}
		slices.Sort(points)
		replay := rec.log.Replay()
		for _, at := range points {
			replay.Advance(at)
			hit, err := p.cut(ctx, rec, replay, at, rnd, filepath.Join(dir, "cut"))
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

// cut makes one state and judges it. It reports whether anything was taken away.
func (p *powerRun) cut(ctx context.Context, rec *recording, replay *faultdisk.Replay, at int, rnd *rand.Rand, dir string) (bool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	sector := []int{512, 4096}[rnd.IntN(2)]
	loss, err := replay.Cut(rnd, sector, dir)
	if err != nil {
		return false, err
	}
	if !loss.Any() {
		p.harmless.Add(1)
		return false, os.RemoveAll(dir)
	}
	p.sectors.Add(int64(loss.Sectors))
	p.names.Add(int64(loss.Names))
	p.sizes.Add(int64(loss.Sizes))
	p.fault()
	j := &judge{rig: p.rig, rec: rec, rnd: rnd, where: fmt.Sprintf("%s cut at %d of %d by sectors of %d", rec.name, at, rec.log.Len(), sector)}
	before := p.wrongs()
	if err := j.judge(ctx, dir, rec.log.Marks(at)); err != nil {
		return true, err
	}
	if p.wrongs() > before { // to be looked at
		return true, os.Rename(dir, fmt.Sprintf("%s-at-%d", dir, at))
	}
	return true, os.RemoveAll(dir)
}

// recording is what a labour did, and what it was told that it had done.
type recording struct {
	name  string
	loose bool // by several at a time
	log   *faultdisk.Log
	steps []step // the first is mark 1
}

// step is one acknowledged call: what it changed, in the parts that are each
// stored whole or not at all.
type step []map[int64]memo

// memo is a memory as a cut is to show it.
type memo struct {
	text, status, sum string
}

func memoOf(m *robotmem.Memory) memo { return memo{m.Content, m.Status, m.SHA256} }

// record lets a labour work on a recording disk.
func record(ctx context.Context, l labour, dir string, rnd *rand.Rand) (*recording, error) {
	d, err := faultdisk.New(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	w := &worker{disk: d, rnd: rnd, known: map[int64]memo{}}
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	if err := l.work(w, ctx); err != nil {
		return nil, err
	}
	// Before it closes, which brings everything to the disk.
	rec := &recording{name: l.name, loose: l.loose, log: d.Log(), steps: w.steps}
	return rec, w.engine.Close()
}
