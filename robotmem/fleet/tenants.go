package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// folder is the folder of the large payloads of a tenant.
func (s *Site) folder(tenant int64) string {
	return filepath.Join(s.options.Payloads, "tenant-"+strconv.FormatInt(tenant, 10))
}

// Bytes returns what all tenants take in the database, with indexes.
func (s *Site) Bytes(ctx context.Context) (n int64, err error) {
	err = s.pool.QueryRow(ctx, "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE relnamespace = 'robotmem'::regnamespace AND relkind = 'r'").Scan(&n)
	return n, explained(err)
}

// DropTenant deletes a tenant with all that it holds, also its audit log. Its nodes are closed before.
// It fails with NotFound if there is no such tenant.
func (s *Site) DropTenant(ctx context.Context, name string) error {
	id := int64(0)
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "DELETE FROM robotmem.tenants WHERE name = $1 RETURNING id", name).Scan(&id)
		if err != nil {
			return err
		}
		_, err = tx.Conn().PgConn().Exec(ctx, fmt.Sprintf(`SET LOCAL statement_timeout = 0; SELECT set_config('robotmem.tenant', '%d', true);
			DO $$ DECLARE name text;
			BEGIN
				FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'robotmem'::regnamespace AND relkind = 'p' LOOP
					EXECUTE format('DELETE FROM robotmem.%%I WHERE tenant = %[1]d', name);
				END LOOP;
			END $$`, id)).ReadAll()

		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return robotmem.Errorf(robotmem.NotFound, "tenant", "there is no tenant %q", name)
	}
	if err != nil {
		return explained(err)
	}

	return errors.Join(os.RemoveAll(s.folder(id)), os.RemoveAll(files.At(s.folder(id)).Payloads()))
}
