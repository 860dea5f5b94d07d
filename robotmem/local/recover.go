package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// RecoverInPlace replaces the damaged file X in these steps, so that a crash at any
// point loses neither file:
//
//  1. write the new file as X.recovering-STAMP, and rename it to X.recovered-STAMP once
//     it is complete and checked;
//  2. link X and its log to X.damaged-STAMP and X.damaged-STAMP-wal;
//  3. remove the log's first name: SQLite must not apply the log to the new file;
//  4. rename X.recovered-STAMP to X.
//
// X exists at all times. After a crash between 1 and 4 the next repair refuses and names
// X.recovered-STAMP: after 3 the log of X is gone, so that reading X again would lose rows.
// Payloads stay in X.payloads.
const stampFormat = "20060102T150405.000Z"

// RecoverInPlace copies the readable rows of the damaged file at path, with its log, to a
// new file, which takes its place. It copies table by table through SQLite: a damaged page
// loses the rows on it. The damaged file and its log are kept beside it, under the name in
// the report. All indexes are rebuilt and the new file is checked by doctor. Only the fields
// of o that concern the creation and the check of a file are used.
//
// Ids, uids, times and versions are kept; revisions continue after the largest one. A memory
// whose text does not match its checksum becomes invalidated, with the reason in its history.
//
// It fails with Corrupt if the file is another program's or SQLite cannot read its
// schema (then only a backup helps), Conflict if a newer robotmem wrote it, Unavailable
// if another process has it open or the new file cannot be written. It leaves no new
// file when it fails before the exchange.
func RecoverInPlace(ctx context.Context, path string, o Options) (_ *maintenance.RecoverReport, err error) {
	defer func() { err = sqlite.Wrap("recover", err) }()
	if path, err = sqlite.AbsPath(path); err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "there is no file (%s)", sqlite.Reason(err))
	}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	source, err := sqlite.OpenDamaged(ctx, path, sqlite.ConnOptions{CacheKiB: sqlite.ReaderCacheKiB}, func(c *sqlite.Conn) error {
		version, err := store.RefuseForeign(c)
		if err == nil && version == 0 {
			err = robotmem.Errorf(robotmem.Corrupt, "db", "the file holds no memory; bring it back from a backup")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }() // opened for reading only
	if err := refuseInterrupted(path); err != nil {
		return nil, err
	}
	stamp := o.Clock().UTC().Format(stampFormat)
	recovering := path + ".recovering-" + stamp
	if _, err := os.Lstat(recovering); err == nil {
		return nil, robotmem.Errorf(robotmem.Conflict, "db", "an interrupted repair left %s; remove it", filepath.Base(recovering))
	}
	report, err := writeRecovered(ctx, source, path, recovering, o)
	if err != nil {
		for _, suffix := range []string{"", "-wal", "-shm", store.PayloadsSuffix} {
			err = errors.Join(err, os.RemoveAll(recovering+suffix))
		}
		return nil, err
	}
	if err := exchange(ctx, path, recovering, stamp, source.Close); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the recovered file could not be put in place (%s); nothing is lost: see the files named damaged and recovered beside it", sqlite.Reason(err))
	}
	report.File, report.Damaged = path, path+".damaged-"+stamp
	return report, nil
}

// writeRecovered copies the damaged file to a new one, whose payloads are linked into the
// folder beside it, or copied where the disk has no links.
func writeRecovered(ctx context.Context, source *sqlite.Damaged, from, to string, o Options) (*maintenance.RecoverReport, error) {
	records, err := o.records()
	if err != nil {
		return nil, err
	}
	co := sqlite.ConnOptions{Normal: o.Durability == DurabilityNormal, BusyTimeout: o.BusyTimeout, VFS: o.Disk.VFS(), CacheKiB: sqlite.ReaderCacheKiB}
	if err := sqlite.Create(ctx, o.Disk, to, co); err != nil {
		return nil, err
	}
	c, err := sqlite.OpenWriter(ctx, to, co, &sqlite.Options{Disk: o.Disk, Migrate: store.Migrate(records)})
	if err != nil {
		return nil, err
	}
	r := &maintenance.Recovery{
		Tx:     &store.Tx{Conn: &store.Conn{SQL: c}, Now: o.Clock().UTC()},
		Source: &store.Conn{SQL: source.Conn}, Report: &maintenance.RecoverReport{Doubtful: []int64{}, Torn: []string{}, Notes: []string{}},
		From: store.PayloadFolder(from, o.Disk), To: store.PayloadFolder(to, o.Disk),
	}
	if err := errors.Join(r.Run(ctx), c.Close()); err != nil {
		return nil, err
	}
	if err := finishRecovered(ctx, from, to, o, r.Report); err != nil {
		return nil, err
	}
	if err := errors.Join(sqlite.SyncPath(to), sqlite.SyncPath(filepath.Dir(to))); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the new file could not be synced (%s)", sqlite.Reason(err))
	}
	return r.Report, nil
}

// finishRecovered opens a recovered file, rebuilds its indexes and runs doctor.
func finishRecovered(ctx context.Context, from, path string, o Options, report *maintenance.RecoverReport) error {
	o.Embedder, o.Retention = nil, maintenance.Retention{}
	n, err := Open(ctx, path, o)
	if err != nil {
		return err
	}
	if _, err = n.maintenance.Repair(ctx, "recovered from "+filepath.Base(from)); err == nil {
		var d *admin.DoctorResponse
		if d, err = n.Doctor(ctx, &admin.DoctorRequest{Deep: true}); err == nil {
			report.Doctor = *d
			report.Conclude()
		}
	}
	return errors.Join(err, n.Close())
}

// refuseInterrupted fails if a crash interrupted the exchange of an earlier repair.
func refuseInterrupted(path string) error {
	entries, _ := os.ReadDir(filepath.Dir(path))
	base := filepath.Base(path)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+".recovered-") {
			return robotmem.Errorf(robotmem.Conflict, "db", "an earlier repair recovered everything and was then interrupted: it is in %s; move %s and its log (%[2]s-wal, %[2]s-shm) aside, and rename the recovered file to %[2]s", e.Name(), base)
		}
	}
	return nil
}

// exchange replaces the damaged file at path by the recovered one, which is fresh. letGo
// releases the lock of the damaged file.
func exchange(ctx context.Context, path, fresh, stamp string, letGo func() error) error {
	// The payloads stay in place, so the links to them are not needed.
	if err := os.RemoveAll(fresh + store.PayloadsSuffix); err != nil {
		return err
	}
	recovered, damaged := path+".recovered-"+stamp, path+".damaged-"+stamp
	if err := os.Rename(fresh, recovered); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := sqlite.LinkOrCopy(ctx, path+suffix, damaged+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := sqlite.SyncPath(filepath.Dir(path)); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := sqlite.SyncPath(filepath.Dir(path)); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // Windows cannot rename over an open file
		if err := letGo(); err != nil {
			return err
		}
	}
	if err := os.Rename(recovered, path); err != nil {
		return err
	}
	return sqlite.SyncPath(filepath.Dir(path))
}
