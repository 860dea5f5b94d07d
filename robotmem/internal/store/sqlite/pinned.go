package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// A checkpoint brings the pages of the log into the file, as far as no reader needs the older ones. While
// another program keeps an old read transaction open, the log grows with every write.

const (
	// pinnedTime is how long a checkpoint may make no progress beside ordinary readers, which are short.
	pinnedTime  = 500 * time.Millisecond
	pinnedPause = 50 * time.Millisecond
)

// PinnedLog is a log that cannot be brought into the file.
type PinnedLog struct {
	Bytes   int64    // that wait in the log
	Holders []string // the other processes that have the file open, as far as this user may see them
	NoSpace bool     // what prevents it is not a reader but a full disk
}

// Pinned brings what it can of the log into the file. It returns nil unless a reader prevents it from
// going on for half a second, or the disk has no space for the pages.
func (db *DB) Pinned(ctx context.Context) (*PinnedLog, error) {
	if db.readOnly != "" {
		// A read-only node must not write to the file.
		return nil, nil
	}

	release, open := db.Hold()
	if !open {
		return nil, store.ErrClosed
	}

	defer release()
	c, err := db.reader(ctx)
	if err != nil {
		return nil, err
	}

	defer func() { db.readers <- c }()

	var before [2]int

	for started := time.Now(); ; {
		// A passive checkpoint waits for no reader and no writer.
		all, done, err := c.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		if err != nil && !errors.Is(err, sqlite3.BUSY) && !errors.Is(err, sqlite3.LOCKED) {
			return db.withoutSpace(err)
		}

		now := [2]int{done, max(0, all-done)}
		switch {
		case err == nil && all == done:
			return nil, nil
		case now[0] != before[0]:
			// The checkpoint makes progress, or another process has begun the log anew.
			started, before = time.Now(), now
		case time.Since(started) >= pinnedTime:
			return &PinnedLog{Bytes: int64(now[1]) * frameBytes, Holders: holders(db.files.LogIndex())}, nil
		}

		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pinnedPause):
		}
	}
}

// withoutSpace describes a log that a full disk keeps out of the file. It returns other errors unchanged.
func (db *DB) withoutSpace(err error) (*PinnedLog, error) {
	waiting := int64(0)
	if info, serr := os.Stat(db.files.Log()); serr == nil {
		waiting = info.Size()
	}

	if !db.isFullDisk(err, waiting) {
		return nil, err
	}

	return &PinnedLog{Bytes: waiting, NoSpace: true}, nil
}

// holders lists the other processes that have a file open, where the system shows it (Linux).
func holders(path string) (found []string) {
	want, err := os.Stat(path)
	if err != nil {
		return nil
	}

	processes, _ := os.ReadDir("/proc") // elsewhere there is none
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() || !hasOpen(pid, want) {
			continue
		}
		// "" for one that has ended.
		name, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "comm"))
		found = append(found, strings.TrimSpace(fmt.Sprintf("process %d %s", pid, strings.TrimSpace(string(name)))))
	}

	return found
}

// hasOpen reports whether a process has a file open, false if this user may not know.
func hasOpen(pid int, file fs.FileInfo) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	descriptors, _ := os.ReadDir(dir)
	return slices.ContainsFunc(descriptors, func(d fs.DirEntry) bool {
		at, err := os.Stat(filepath.Join(dir, d.Name()))
		return err == nil && os.SameFile(at, file)
	})
}
