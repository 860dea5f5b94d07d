package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Processes write without a break while the program makes one backup after the other. Each is
// restored, and must hold all that was acknowledged before it began, and of each writer no fact
// without those before it. A fault is a backup during which the memory changed.

const (
	backupWriters = 3
	backupsKept   = "3"
	// writerPause keeps the memory so small that every backup can be read.
	writerPause = 100 * time.Millisecond
)

func backups(ctx context.Context, r *rig) error {
	path, folder := filepath.Join(r.dir, memoryFile), filepath.Join(r.dir, "backups")

	var mu sync.Mutex

	var calls []call // of all writers
	told := func() []call {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(calls)
	}

	var writers []*process
	defer func() {
		for _, w := range writers {
			w.kill()
		}
		all := told()
		r.acknowledge(ledgerAt(all, len(all), false).take())
	}()

	for i := range backupWriters {
		p := plan{
			Path: path, Name: fmt.Sprint("w", i), Visits: 1, Robots: 1,
			Mix: append(slices.Repeat([]string{"learn"}, 19), "large"), Pause: writerPause,
		}
		w, err := r.startRobots(ctx, p, func(c call) {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, c)
		}, nil)
		if err != nil {
			return err
		}
		writers = append(writers, w)
		w.reach("open", 1)
	}

	var took durations

	for n := 0; r.faults < r.times && ctx.Err() == nil; n++ {
		began := len(told())

		var b struct {
			Path    string
			Seconds float64
		}
		if err := r.command(ctx, &b, "backup", folder, "--db", path, "--keep", backupsKept, "--json"); err != nil {
			return err
		}
		took = append(took, time.Duration(b.Seconds*float64(time.Second)))
		// The memory changed while it was made.
		if len(told()) > began {
			r.fault()
		}
		if err := r.command(ctx, nil, "backup", "verify", folder); err != nil {
			r.broken("a backup that is listed is not whole: %v", err)
		}
		to := filepath.Join(r.dir, fmt.Sprint("restored-", n), memoryFile)
		if err := r.command(ctx, nil, "backup", "restore", b.Path, "--to", to); err != nil {
			r.broken("%v", err)
			continue
		}
		l := ledgerAt(told(), began, true)
		l.take() // counted at the end
		if err := r.reopened(ctx, to, l, fmt.Sprintf("backup %d, restored", n)); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Dir(to)); err != nil {
			return err
		}
	}

	r.note("a backup took %v", took)

	return ctx.Err()
}
