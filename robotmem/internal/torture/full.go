package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A disk is filled until it refuses, read while it does, and written to again
// once it has space: a disk with a quota or, where this process may mount one, a
// tmpfs of a few MiB. A refused write is a fault.

const (
	refusalsARound       = 12
	tmpfsBytes     int64 = 64 << 20
)

// refusedText is what a refusal says.
var refusedText = regexp.MustCompile(`the disk is full \([0-9.]+ (B|KiB|MiB) are free\); nothing was stored`)

// limitedDisk is a disk whose free space can be set.
type limitedDisk struct {
	root    string
	options local.Options
	limit   func(free int64) error // no limit if negative
	close   func() error
}

// newDisk returns the empty disk of a round.
func (r *rig) newDisk(ctx context.Context, round int) (*limitedDisk, error) {
	dir := filepath.Join(r.dir, fmt.Sprintf("round-%d", round))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}

	size := tmpfsBytes
	mount := func(more string) error {
		return exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprint(more, "size=", size), "tmpfs",
			dir).Run()
	}
	if round%2 == 1 && mount("") == nil {
		return &limitedDisk{dir, local.Options{}, func(free int64) error {
			now, err := disk.System{}.FreeBytes(dir)
			if size += free - now; free < 0 {
				size = tmpfsBytes
			}
			return errors.Join(err, mount("remount,"))
		}, exec.Command("umount", "-l", dir).Run}, nil //nolint:noctx // also when ctx has ended
	}

	d, err := faultdisk.Over(dir)
	if err != nil {
		return nil, err
	}

	return &limitedDisk{
		d.Root(), onDisk(d), func(free int64) error { d.Limit(free); return nil },
		func() error { d.Close(); return nil },
	}, nil
}

// onDisks calls f with a new disk for each round, until there is enough.
func (r *rig) onDisks(ctx context.Context, enough func() bool, f func(round int, d *limitedDisk) error) error {
	for round := 0; !enough() && ctx.Err() == nil; round++ {
		d, err := r.newDisk(ctx, round)
		if err == nil {
			err = errors.Join(f(round, d), d.close())
		}
		if err != nil {
			return err
		}
	}

	return ctx.Err()
}

func full(ctx context.Context, r *rig) error {
	start := time.Now()
	return r.onDisks(ctx, func() bool { return time.Since(start) >= r.time },
		func(_ int, d *limitedDisk) error { return r.fillDisk(ctx, d) })
}

// fillDisk writes until the disk is full, and again when there is space.
func (r *rig) fillDisk(ctx context.Context, d *limitedDisk) error {
	path, o, where := filepath.Join(d.root, memoryFile), d.options, filepath.Base(d.root)
	e, err := local.Open(ctx, path, o)
	if err != nil {
		return err
	}

	l := newLedger()
	b := newRobot("full", e, r.rand.Uint64(), l.tell)
	stored := func(err error) bool {
		if err != nil && (!errors.Is(err, robotmem.Unavailable) || !refusedText.MatchString(err.Error())) {
			r.broken("%s: a write is refused with %v", where, err)
		}
		return err == nil
	}
	if !stored(b.learn(ctx)) {
		r.broken("%s: the first write is refused", where)
	}
	if err := d.limit(100_000 + r.rand.Int64N(2_000_000)); err != nil {
		return errors.Join(err, e.Close())
	}

	for refusals := 0; refusals < refusalsARound && ctx.Err() == nil; {
		if !stored(b.step(ctx, everyday)) {
			refusals++
			r.fault()
			r.check(ctx, e, l, where+", full")
		}
	}

	err = r.opened(ctx, path, o, where+", full, opened by another", func(other *local.Node) {
		r.check(ctx, other, l, where+", full, opened by another")
	})
	if err := errors.Join(err, e.Close()); err != nil {
		r.broken("%s: closing on the full disk: %v", where, err)
	}

	return r.opened(ctx, path, o, where+", full, opened again", func(e *local.Node) {
		r.check(ctx, e, l, where+", full, opened again")
		if err := d.limit(-1); err != nil {
			r.broken("%s: making space: %v", where, err)
		}

		b.node = e
		for _, action := range []string{"learn", "batch", "update", "session", "small", "large"} {
			if !stored(actions[action](b, ctx)) {
				r.broken("%s: %s is refused though there is space", where, action)
			}
		}

		r.check(ctx, e, l, where+", with space again")
		err := filepath.WalkDir(filepath.Dir(path), func(path string, _ fs.DirEntry, err error) error {
			if strings.HasPrefix(filepath.Base(path), "tmp-") {
				err = errors.Join(err, fmt.Errorf("%s is left over", path))
			}
			return err
		})
		if err != nil {
			r.broken("%s: %v", where, err)
		}
	})
}

// small opens, migrates or purges a file on a disk with little space, and does it again
// with more. A refusal is a fault, as is a purge that has to be finished later.
func small(ctx context.Context, r *rig) error {
	moments := []func(*rig, context.Context, *limitedDisk, string, *ledger) (then func(*local.Node, string), err error){(*rig).openSmall, (*rig).migrateSmall, (*rig).purgeSmall}
	counts := make([]int, len(moments))
	err := r.onDisks(ctx, func() bool { return r.faults >= r.times && slices.Min(counts) > 0 }, func(round int, d *limitedDisk) error {
		path, l, at, before := filepath.Join(d.root, memoryFile), newLedger(), round/2%len(moments), r.faults
		err := r.opened(ctx, path, d.options, "filling", func(e *local.Node) {
			b := newRobot("small", e, r.rand.Uint64(), l.tell)
			for range 20 {
				if err := b.step(ctx, everyday); err != nil {
					r.broken("filling: %v", err)
				}
			}
		})
		if err != nil {
			return err
		}

		then, err := moments[at](r, ctx, d, path, l)
		if err = errors.Join(err, d.limit(-1)); err != nil {
			return err
		}

		counts[at] += r.faults - before

		return r.opened(ctx, path, d.options, "with space again",
			func(e *local.Node) { then(e, fmt.Sprintf("round %d, with space again", round)) })
	})
	r.note("%d openings, %d migrations and %d purges met a full disk", counts[0], counts[1], counts[2])

	return err
}

// refusedOrDone reports whether an operation was done, and counts a refusal.
func (r *rig) refusedOrDone(what string, err error) bool {
	if err != nil {
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "the disk is full") {
			r.broken("%s on a full disk: %v", what, err)
		}
		r.fault()
	}

	return err == nil
}

// openOn opens a file on a disk with so much space and calls f, unless it is refused.
func (r *rig) openOn(
	ctx context.Context, d *limitedDisk, path string, free int64, what string, f func(*local.Node, string),
) error {
	if err := d.limit(r.rand.Int64N(free)); err != nil {
		return err
	}
	e, err := local.Open(ctx, path, d.options)
	if !r.refusedOrDone(what, err) {
		return nil
	}
	f(e, what+" with little space")

	return e.Close()
}

func (r *rig) openSmall(
	ctx context.Context, d *limitedDisk, path string, l *ledger,
) (func(*local.Node, string), error) {
	check := func(e *local.Node, where string) { r.check(ctx, e, l, where) }
	return check, r.openOn(ctx, d, path, 40_000, "an opening", check)
}

func (r *rig) migrateSmall(
	ctx context.Context, d *limitedDisk, path string, _ *ledger,
) (func(*local.Node, string), error) {
	_, check, err := r.oldFile(ctx, d.root, 1+r.rand.IntN(7), 2000)
	if err != nil {
		return nil, err
	}
	return check, r.openOn(ctx, d, path, 3_000_000, "a migration", check)
}

func (r *rig) purgeSmall(
	ctx context.Context, d *limitedDisk, path string, l *ledger,
) (func(*local.Node, string), error) {
	s := state{Text: "purgesmallmark of a fact", Status: "active"}
	err := r.opened(ctx, path, d.options, "a purge", func(e *local.Node) {
		res, err := e.Learn(ctx, &robotmem.LearnRequest{Insight: s.Text})
		if err = errors.Join(err, d.limit(r.rand.Int64N(600_000))); err != nil {
			r.broken("before a purge: %v", err)
			return
		}
		s.ID = res.MemoryID
		gone, err := e.Forget(ctx, &robotmem.ForgetRequest{MemoryID: s.ID, Reason: "to see it gone", Purge: true})
		if r.refusedOrDone("a purge", err) && strings.HasPrefix(gone.Purged.OldPages, "pending") {
			r.fault()
		}
	})

	return func(e *local.Node, where string) { r.purged(ctx, e, l, s, where) }, err
}
