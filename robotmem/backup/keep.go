package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Keep configures which backups are kept: the union of its fields.
type Keep struct {
	Last   int // number of newest backups; 7 if zero
	Daily  int // number of days (UTC) of which the newest backup is kept
	Weekly int // number of weeks (ISO 8601, UTC) of which the newest backup is kept
}

const (
	defaultKeep = 7
	// MaxKeep is the largest value of each field of Keep.
	MaxKeep = 10_000
)

func (k *Keep) complete() error {
	if k.Last == 0 {
		k.Last = defaultKeep
	}
	for _, n := range []struct {
		field       string
		least, have int
	}{{"keep", 1, k.Last}, {"keep-daily", 0, k.Daily}, {"keep-weekly", 0, k.Weekly}} {
		if n.have < n.least || n.have > MaxKeep {
			return robotmem.Errorf(robotmem.Invalid, n.field, "must be %d to %d, not %d", n.least, MaxKeep, n.have)
		}
	}
	return nil
}

// remove returns the backups of one memory to remove, oldest first.
func (k Keep) remove(all []Backup) []Backup {
	newest := slices.Clone(all)
	slices.SortFunc(newest, func(a, b Backup) int { return -cmp.Compare(a.Number, b.Number) })
	stays := map[string]bool{}
	for _, rule := range []struct {
		n      int
		bucket func(b Backup) string
	}{
		{k.Last, func(b Backup) string { return b.Name }},
		{k.Daily, func(b Backup) string { return b.CreatedAt.UTC().Format(time.DateOnly) }},
		{k.Weekly, func(b Backup) string {
			year, week := b.CreatedAt.UTC().ISOWeek()
			return fmt.Sprintf("%d-%d", year, week)
		}},
	} {
		seen := map[string]bool{}
		for _, b := range newest {
			if bucket := rule.bucket(b); !seen[bucket] && len(seen) < rule.n {
				seen[bucket], stays[b.Name] = true, true
			}
		}
	}
	slices.Reverse(newest)
	return slices.DeleteFunc(newest, func(b Backup) bool { return stays[b.Name] })
}

// rotate removes the earlier backups of this memory that are not kept. It renames each
// before the removal, so that no incomplete backup is ever listed.
func (b *job) rotate(ctx context.Context, keep Keep) (removed []string, err error) {
	removed = []string{}
	for _, p := range keep.remove(append(b.ours, b.report.Backup)) {
		if ctx.Err() != nil {
			return removed, nil // the next backup removes it
		}
		temp := filepath.Join(b.dir, backupTemp+p.Name)
		if err := errors.Join(os.Rename(p.Path, temp), sqlite.SyncPath(b.dir)); err != nil {
			return removed, backupDisk(err)
		}
		if err := os.RemoveAll(temp); err != nil {
			return removed, backupDisk(err)
		}
		removed = append(removed, p.Name)
	}
	return removed, nil
}

// ofThisMemory returns the earlier backups of this memory: backups of a file of the same
// name, with a memory that this file has too, or without memories.
func (b *job) ofThisMemory(c *store.Conn) (ours []Backup, err error) {
	for _, p := range b.past {
		if p.Problem != "" || p.File != b.report.File {
			continue
		}
		known, err := c.Number("SELECT count(*) FROM memories WHERE uid IN (?, ?)", p.Held.Oldest, p.Held.Newest)
		if err != nil {
			return nil, err
		}
		if known > 0 || p.Held.Memories == 0 {
			ours = append(ours, p)
		}
	}
	return ours, nil
}
