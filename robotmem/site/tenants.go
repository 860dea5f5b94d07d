package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres"
)

// folder is the folder of the large payloads of a tenant.
func (s *Site) folder(tenant int64) string {
	return filepath.Join(s.options.Payloads, "tenant-"+strconv.FormatInt(tenant, 10))
}

// Bytes returns what all tenants take in the database, with indexes.
func (s *Site) Bytes(ctx context.Context) (int64, error) { return s.server.Size(ctx) }

// DropTenant deletes a tenant with all that it holds, also its audit log. Its nodes are closed before.
// It fails with NotFound if there is no such tenant.
func (s *Site) DropTenant(ctx context.Context, name string) error {
	id, err := s.server.DropTenant(ctx, name)
	if errors.Is(err, postgres.ErrNone) {
		return robotmem.Errorf(robotmem.NotFound, "tenant", "there is no tenant %q", name)
	}
	if err != nil {
		return err
	}

	return errors.Join(os.RemoveAll(s.folder(id)), os.RemoveAll(files.At(s.folder(id)).Payloads()))
}
