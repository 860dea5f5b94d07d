package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Recover reads what can be read of the damaged file `from`, with its log, and
// writes it to a new one at o.Path, which must not exist. It copies table by
// table through SQLite: a damaged page costs the rows on it. The damaged file and
// its payloads are only read: large payloads are linked to the new file's folder,
// or copied where the disk has no links. All indexes are rebuilt and the new file
// is examined. Of o the fields count that make and check a file.
//
// Ids, uids, times and versions are kept; revisions go on from the largest one.
// A memory whose text does not match its checksum is kept as invalidated, with
// the reason in its history.
//
// It fails with Corrupt if the file is another program's or SQLite cannot read
// its schema (then only a backup helps), Conflict if a newer robotmem wrote it,
// Unavailable if another process has it open or the new one cannot be written.
// Then no new file is left.
func Recover(ctx context.Context, from string, o Options) (*maintenance.RecoverReport, error) {
	if err := o.Complete(); err != nil {
		return nil, sqlite.Wrap("recover", err)
	}
	report, err := recoverLocked(ctx, from, o)
	return report, sqlite.Wrap("recover", err)
}

func recoverLocked(ctx context.Context, from string, o Options) (*maintenance.RecoverReport, error) {
	source, err := openDamaged(ctx, from)
	if err != nil {
		return nil, err
	}
	report, err := recoverInto(ctx, source, from, o)
	return report, errors.Join(err, source.Close())
}

// openDamaged opens a file under the exclusive lock of the whole file.
func openDamaged(ctx context.Context, path string) (*sqlite.Damaged, error) {
	return sqlite.OpenDamaged(ctx, path, sqlite.ConnOptions{CacheKiB: sqlite.ReaderCacheKiB}, func(c *sqlite.Conn) error {
		_, err := store.RefuseForeign(c)
		return err
	})
}

// recoverInto copies the damaged file to a new one.
func recoverInto(ctx context.Context, source *sqlite.Damaged, from string, o Options) (*maintenance.RecoverReport, error) {
	to, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is not a path")
	}
	for _, name := range []string{to, to + "-wal", to + store.PayloadsSuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, robotmem.Errorf(robotmem.Conflict, "db", "there is a file under the new one's name; name one that does not exist")
		}
	}
	if version, err := store.RefuseForeign(source.Conn); err != nil {
		return nil, err
	} else if version == 0 {
		return nil, robotmem.Errorf(robotmem.Corrupt, "db", "the file holds no memory; bring it back from a backup")
	}
	report, err := writeRecovered(ctx, source, from, to, o)
	if err != nil {
		return nil, errors.Join(err, removeRecovered(to))
	}
	return report, nil
}

// removeRecovered removes a new file that was not finished.
func removeRecovered(to string) error {
	errs := []error{os.RemoveAll(to + store.PayloadsSuffix)}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(to + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func writeRecovered(ctx context.Context, source *sqlite.Damaged, from, to string, o Options) (*maintenance.RecoverReport, error) {
	if _, err := classify.Parse(o.Taxonomy); err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "taxonomy", "%v", err)
	}
	co := sqlite.ConnOptions{Normal: o.Durability == DurabilityNormal, BusyTimeout: o.BusyTimeout, VFS: o.Disk.VFS(), CacheKiB: sqlite.ReaderCacheKiB}
	if err := sqlite.Create(ctx, o.Disk, to, co); err != nil {
		return nil, err
	}
	c, err := sqlite.OpenWriter(ctx, to, co, &sqlite.Options{Disk: o.Disk, Check: store.RefuseForeign, Migrate: store.Migrate})
	if err != nil {
		return nil, err
	}
	fresh := &store.Conn{Conn: c}
	r := &maintenance.Recovery{
		Source: &store.Conn{Conn: source.Conn}, Now: o.Clock().UTC(), Report: &maintenance.RecoverReport{File: to, MissingIDs: []int64{}, Doubtful: []int64{}, Tables: []maintenance.RecoveredTable{}, Notes: []string{}},
		From: store.PayloadFolder(from, o.Disk), To: store.PayloadFolder(to, o.Disk),
	}
	r.Tx = &store.Tx{Conn: fresh, Now: r.Now}
	if err := errors.Join(r.Run(ctx), fresh.Close()); err != nil {
		return nil, err
	}
	if err := reindexRecovered(ctx, from, to, o, r.Report); err != nil {
		return nil, err
	}
	r.Report.Conclude()
	if err := r.To.Settle(); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the new payloads could not be synced (%s)", store.RootReason(err))
	}
	return r.Report, syncNew(to)
}

// reindexRecovered opens the new file as its user would, rebuilds all indexes,
// says so in its audit log and examines it.
func reindexRecovered(ctx context.Context, from, to string, o Options, report *maintenance.RecoverReport) error {
	o.Path, o.Embedder, o.Retention = to, nil, maintenance.Retention{}
	e, err := openNode(ctx, o)
	if err != nil {
		return err
	}
	m := robotmem.MeterOf(ctx)
	err = e.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := e.maintenance.Rebuild(tx, m)
		return errors.Join(err, tx.Audit(robotmem.AuditEntry{Action: store.ActionRepaired, Reason: "recovered from " + filepath.Base(from)}))
	})
	if err == nil {
		e.index.Drop()
		err = e.maintenance.RefillFeatures(ctx, m)
	}
	if err == nil {
		var d *robotmem.DoctorResponse
		if d, err = e.Doctor(ctx, &robotmem.DoctorRequest{Deep: true}); err == nil {
			report.Doctor = *d
		}
	}
	return errors.Join(err, e.Close())
}

// syncNew puts a closed file on the disk, with its name.
func syncNew(name string) error {
	if err := errors.Join(sqlite.SyncPath(name), sqlite.SyncPath(filepath.Dir(name))); err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the new file could not be synced (%s)", sqlite.Reason(err))
	}
	return nil
}
