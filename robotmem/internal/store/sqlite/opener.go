package sqlite

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// OpenStore opens the file at path as the database of a store. It completes the options: the functions of
// vectors, the check and the migration of the file, and the groups of commits.
func OpenStore(
	ctx context.Context, path string, o Options, s *store.Store, records func() *record.Builder,
) (store.Database, error) {
	o.SetUp = func(c *Conn) error { return vector.Register(c.Conn) }
	o.Check, o.Migrate, o.Version = RefuseForeign, Migrate(records), SchemaVersion()
	o.Group = GroupOf(s)

	place, err := files.Resolve(path)
	if err != nil {
		return nil, err
	}
	if s.Keys, err = keysToOpen(ctx, place, &o); err != nil {
		return nil, err
	}
	o.Keys = s.Keys

	db, err := OpenDB(ctx, path, o)
	if err != nil {
		return nil, err
	}

	return Database{DB: db}, nil
}
