package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

const (
	defaultKeep = 7
	// MaxKeep is the largest number of backups to keep.
	MaxKeep = 10_000
)

// rotate removes the earlier backups of this memory that are not kept. It renames each
// before the removal, so that no incomplete backup is ever listed.
func (b *job) rotate(ctx context.Context, keep int) (removed []string, err error) {
	removed = []string{}
	for _, p := range b.ours[:max(0, len(b.ours)+1-keep)] { // the new one is not in ours
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
