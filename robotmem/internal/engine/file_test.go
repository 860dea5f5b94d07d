package engine

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// fileOption changes how openFile opens a file.
type fileOption func(*sqlite.Options)

// fast commits without a sync of the disk.
func fast(o *sqlite.Options) { o.Normal = true }

// waiting waits so long for the lock of another process, instead of [patience].
func waiting(d time.Duration) fileOption {
	return func(o *sqlite.Options) { o.BusyTimeout = d }
}

// openFile opens an engine on a file, as package local does.
func openFile(ctx context.Context, path string, o Options, edits ...fileOption) (*Engine, error) {
	return Open(ctx, o, func(s *store.Store, o *Options, records func() *record.Builder) (store.Database, error) {
		file := sqlite.Options{BusyTimeout: patience, Memory: o.Memory, Disk: o.Disk, Log: o.Logger}
		for _, edit := range edits {
			edit(&file)
		}

		return sqlite.OpenStore(ctx, path, file, s, records)
	})
}
