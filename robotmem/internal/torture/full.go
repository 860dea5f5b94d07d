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
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A disk is filled until it refuses, read while it does, and written to again
// once it has space: a disk with a quota or, where this process may mount one, a
// tmpfs of a few MiB. A refused write is a fault.

const (
	refusalsARound       = 12
	tmpfsSize, tmpfsMore = "size=3m", "remount,size=64m"
)

// refusedText is what a refusal says.
var refusedText = regexp.MustCompile(`the disk is full: .* needs (about|more than) [0-9.]+ (B|KiB|MiB), [0-9.]+ (B|KiB|MiB) are free; nothing was stored`)

func full(ctx context.Context, r *rig) error {
	rounds, mounted := 0, 0
	for start := time.Now(); time.Since(start) < r.time && ctx.Err() == nil; rounds++ {
		dir := filepath.Join(r.dir, fmt.Sprintf("round-%d", rounds))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		mount := func(options string) error {
			return exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).Run()
		}
		if rounds%2 == 1 && mount(tmpfsSize) == nil {
			mounted++
			err := r.fillDisk(ctx, filepath.Join(dir, memoryFile), local.Options{}, func() {}, func() error { return mount(tmpfsMore) })
			if err := errors.Join(err, exec.Command("umount", "-l", dir).Run()); err != nil { //nolint:noctx // also when ctx has ended
				return err
			}
			continue
		}
		d, err := faultdisk.Over(dir)
		if err != nil {
			return err
		}
		limit := 100_000 + r.rand.Int64N(2_000_000)
		err = r.fillDisk(ctx, filepath.Join(d.Root(), memoryFile), local.Options{Disk: d}, func() { d.Limit(limit) }, func() error { d.Limit(-1); return nil })
		d.Close()
		if err != nil {
			return err
		}
	}
	r.note("%d disks were filled, emptied and written to again, %d of them tmpfs", rounds, mounted)
	return ctx.Err()
}

// fillDisk writes until the disk is full, and again when more has made space. limit
// makes the disk small.
func (r *rig) fillDisk(ctx context.Context, path string, o local.Options, limit func(), more func() error) error {
	where := filepath.Base(filepath.Dir(path))
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
	limit()
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
		if err := more(); err != nil {
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
