package backup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Schedule makes a backup whenever the newest one in the folder is older than Every.
// Several nodes on one file may have the same schedule: one of them makes the backup.
type Schedule struct {
	Options               // Dir is required
	Every   time.Duration // MinEvery to MaxEvery
}

const (
	MinEvery = time.Minute
	MaxEvery = 366 * 24 * time.Hour
	// scheduleDelay lets a node that starts load its indexes first.
	scheduleDelay = 10 * time.Second
	// scheduleTick limits a pause, because a timer does not follow a clock that is set.
	scheduleTick = time.Minute
	// retryMost limits the pause after a failure: a minute, and twice as long each time.
	retryMost = time.Hour
)

// Run makes backups of the node until ctx ends. Stats and Doctor of every node on the file
// show the last result.
func (s Schedule) Run(ctx context.Context, n *local.Node) {
	e := engine.Of(n)
	if why := e.Store.ReadOnly(); why != "" {
		e.Log.Warn("no backups are made: the memory is served read-only", "reason", why)
		return
	}

	r := &running{Schedule: s, n: e, file: e.Store.Files().BackupState()}
	for wait := scheduleDelay; ; wait = r.step(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// running holds the state of a running schedule.
type running struct {
	Schedule
	n     *engine.Engine
	file  string            // holds last for all processes that use the memory
	last  admin.BackupState // the last result
	next  time.Time         // when the folder is looked at again
	retry time.Duration     // pause after the last failure; 0 after a success
}

// step makes a backup if it is time, and returns the pause until the next step.
func (r *running) step(ctx context.Context) time.Duration {
	now := r.n.Now()

	// A longer wait than that means that the clock was set back. The folder is then looked at now.
	if wait := r.next.Sub(now); wait > 0 && wait < 2*r.Every {
		return min(wait, scheduleTick)
	}

	b, err := r.make(ctx)
	switch {
	case ctx.Err() != nil:
		return 0
	case errors.Is(err, errRunning):
		// Another node with the same schedule makes the backup. That is no failure.
		r.next = now.Add(scheduleTick)
		return scheduleTick
	case err != nil:
		r.retry = min(max(MinEvery, 2*r.retry), retryMost, r.Every)
		r.next = now.Add(r.retry)
		r.last.LastFailure, r.last.Failure = now, robotmem.Detail(err)
		r.last.Failures++
	default:
		r.retry, r.next = 0, b.CreatedAt.Add(r.Every)
		r.last.LastSuccess, r.last.Seconds, r.last.Failure = b.CreatedAt, b.Seconds, ""
	}

	// Other processes read this file at any time, so it is replaced by a rename.
	data, err := json.Marshal(r.last)
	if err == nil {
		err = os.WriteFile(files.Part(r.file), data, 0o600)
	}
	if err = errors.Join(err, os.Rename(files.Part(r.file), r.file)); err != nil {
		r.n.Log.Warn("the result of a backup is not recorded", "err", err)
	}

	return min(r.next.Sub(now), scheduleTick)
}

// make returns the newest backup: a new one if it is time.
func (r *running) make(ctx context.Context) (*Report, error) {
	if data, err := os.ReadFile(r.file); err == nil { // another node may have written it
		_ = json.Unmarshal(data, &r.last) // Stats reports an error
	}

	id, err := r.n.Store.FileID(ctx)
	if err != nil {
		return nil, err
	}

	// The state is of another file: this memory is a copy, and the state was copied with it.
	if r.last.FileID != id {
		r.last = admin.BackupState{FileID: id}
	}

	was := r.last
	r.last.To = r.Dir
	r.last.EverySeconds = int64(r.Every / time.Second)
	r.last.OwnDisk = r.onOwnDisk()

	// An unmounted disk leaves its empty mount point, and backups would fill the disk that they should survive.
	if r.last.OwnDisk && !was.OwnDisk && !was.LastSuccess.IsZero() && was.To == r.Dir {
		r.last.OwnDisk = false
		return nil, robotmem.Errorf(robotmem.Unavailable, "backup.to", "the folder was on another disk and "+
			"is now on that of the memory; mount that disk, or name another folder")
	}

	o := r.Options
	o.every = r.Every

	return makeLogged(ctx, r.n, o)
}

// onOwnDisk reports whether the folder, or what exists of its path, is on the disk of the
// memory. A folder beside the memory is there on purpose and does not count.
func (r *running) onOwnDisk() bool {
	path, dir := r.n.Store.Path(), r.Dir
	if rel, err := filepath.Rel(filepath.Dir(path), dir); err == nil && filepath.IsLocal(rel) {
		return false
	}

	same, err := disk.SameDisk(dir, path)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		same, err = disk.SameDisk(dir, path)
	}

	return same
}
