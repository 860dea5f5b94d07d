package sqlite

import (
	"context"
	"os"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// OwnID reads the id of a file that this process has not opened, without taking a lock or creating a file beside it.
// The id is "" if the file is missing, is encrypted and the identity of ctx does not open it, has no id yet, or is a copy that gets an id of its own when it is opened.
func OwnID(ctx context.Context, path string) (id string) {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	k, err := KeysOf(ctx, files.At(path))
	if err != nil {
		return ""
	}
	c, err := Open(ctx, path,
		ConnOptions{Keys: k, ReadOnly: true, Immutable: true, BusyTimeout: time.Second, CacheKiB: budget.ReaderCacheKiB})
	if err != nil {
		return ""
	}
	// An error of Close is ignored, because nothing was written.
	defer func() { _ = c.Close() }()

	place := ""
	_, err = c.One("SELECT file_id, place FROM identity", nil,
		func(r store.Row) { id, place = r.ColumnText(0), r.ColumnText(1) })
	now := disk.Place(path)
	isCopy := place != "" && now != "" && place != now
	if err != nil || isCopy {
		return ""
	}

	return id
}
