package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// The recovery of a damaged file X takes these steps, so that a crash at any point loses neither file:
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
func RecoverInPlace(ctx context.Context, path string, o Options) (_ *admin.RecoverReport, err error) {
	defer func() { err = robotmem.Wrap("recover", err) }()
	place, err := files.Resolve(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(place.DB()); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "there is no file (%s)", robotmem.Reason(err))
	}
	filled, err := o.filled()
	if err != nil {
		return nil, err
	}

	if ctx, err = WithKey(ctx, o.Key); err != nil {
		return nil, err
	}
	found, err := sqlite.KeysOf(ctx, place)
	if err != nil {
		return nil, err
	}

	source, err := sqlite.OpenDamaged(ctx, place.DB(), sqlite.ConnOptions{
		Keys: found, CacheKiB: budget.ReaderCacheKiB,
	}, func(c *sqlite.Conn) error {
		version, err := sqlite.RefuseForeign(c)
		if err == nil && version == 0 {
			err = robotmem.Errorf(robotmem.Corrupt, "db", "the file holds no memory; bring it back from a backup")
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	defer func() { _ = source.Close() }() // opened for reading only
	if err := refuseInterrupted(place); err != nil {
		return nil, err
	}

	now := filled.Clock()
	recovering := place.Recovering(now)
	if _, err := os.Lstat(recovering.DB()); err == nil {
		return nil, robotmem.Errorf(robotmem.Conflict, "db", "an interrupted repair left %s; remove it",
			recovering.Base())
	}

	// The new file has the same keys, and until it takes the place of the damaged one a copy of their file.
	if found != nil {
		if err := found.Save(filled.Disk, recovering); err != nil {
			return nil, err
		}
	}

	report, err := writeRecovered(ctx, source, place, recovering, &o, filled, found)

	// Nothing is exchanged yet, so the incomplete new file can go.
	if err != nil {
		for _, name := range recovering.All() {
			err = errors.Join(err, os.RemoveAll(name))
		}
		return nil, err
	}

	if err := exchange(ctx, place, recovering, now, source.Close); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db",
			"the recovered file could not be put in place (%s); nothing is lost: see the files named damaged and recovered beside it",
			robotmem.Reason(err))
	}

	report.File, report.Damaged = place.DB(), place.Damaged(now).DB()

	return report, nil
}

// writeRecovered copies the damaged file to a new one, whose payloads are linked into the
// folder beside it, or copied where the disk has no links.
func writeRecovered(
	ctx context.Context, source *sqlite.Damaged, from, to files.Memory, o *Options, filled *engine.Options, k *keys.Keys,
) (*admin.RecoverReport, error) {
	records, err := filled.Records()
	if err != nil {
		return nil, err
	}

	co := sqlite.ConnOptions{
		Normal: o.Durability == DurabilityNormal, BusyTimeout: o.BusyTimeout, VFS: filled.Disk.VFS(),
		Keys: k, CacheKiB: budget.ReaderCacheKiB,
	}
	if err := sqlite.Create(ctx, filled.Disk, to.DB(), co); err != nil {
		return nil, err
	}

	c, err := sqlite.OpenWriter(ctx, to.DB(), co, &sqlite.Options{Disk: filled.Disk, Migrate: sqlite.Migrate(records)})
	if err != nil {
		return nil, err
	}

	r := &maintenance.Recovery{
		Tx: &store.Tx{Conn: c.Tables().Conn, Now: filled.Clock().UTC()}, File: c,
		Source: source.Tables(), Report: &admin.RecoverReport{Doubtful: []int64{}, Torn: []string{}, Notes: []string{}},
		From: store.PayloadFolder(from, filled.Disk, k), To: store.PayloadFolder(to, filled.Disk, k),
	}
	if err := errors.Join(r.Run(ctx), c.Close()); err != nil {
		return nil, err
	}
	if err := finishRecovered(ctx, from, to, *o, r.Report); err != nil {
		return nil, err
	}

	// The file must be on the disk before exchange renames it.
	if err := errors.Join(disk.SyncPath(to.DB()), disk.SyncPath(to.Folder())); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the new file could not be synced (%s)",
			robotmem.Reason(err))
	}

	return r.Report, nil
}

// finishRecovered opens a recovered file, rebuilds its indexes and runs doctor.
func finishRecovered(ctx context.Context, from, to files.Memory, o Options, report *admin.RecoverReport) error {
	// Without an embedder and retention no background work changes the new file while doctor checks it.
	o.Embedder, o.Retention = nil, admin.Retention{}
	n, err := Open(ctx, to.DB(), o)
	if err != nil {
		return err
	}
	if err = engine.Of(n).Rebuild(ctx, "recovered from "+from.Base()); err == nil {
		var d *admin.DoctorResponse
		if d, err = n.Doctor(ctx, &admin.DoctorRequest{Deep: true}); err == nil {
			report.Doctor = *d
			maintenance.Conclude(report)
		}
	}

	return errors.Join(err, n.Close())
}

// refuseInterrupted fails if a crash interrupted the exchange of an earlier repair.
func refuseInterrupted(place files.Memory) error {
	left, ok := place.Interrupted()
	if !ok {
		return nil
	}
	return robotmem.Errorf(robotmem.Conflict, "db", "an earlier repair recovered everything and was then interrupted: it is in %s; move %s and its log (%s, %s) aside, and rename the recovered file to %[2]s",
		left.Base(), place.Base(), filepath.Base(place.Log()), filepath.Base(place.LogIndex()))
}

// exchange replaces the damaged file of a memory by the recovered one, which is fresh. letGo
// releases the lock of the damaged file.
func exchange(ctx context.Context, place, fresh files.Memory, now time.Time, letGo func() error) error {
	// The payloads and the keys stay in place, so the links and the copy are not needed.
	if err := errors.Join(os.RemoveAll(fresh.Payloads()), os.RemoveAll(fresh.PayloadsOwner()), os.RemoveAll(fresh.Keys())); err != nil {
		return err
	}

	recovered, damaged := place.Recovered(now).DB(), place.Damaged(now)
	if err := os.Rename(fresh.DB(), recovered); err != nil {
		return err
	}

	// The damaged file keeps its name until the last rename, so that a crash leaves a file at it.
	for _, f := range [][2]string{
		{place.Keys(), damaged.Keys()},
		{place.Log(), damaged.Log()},
		{place.LogIndex(), damaged.LogIndex()},
		{place.DB(), damaged.DB()},
	} {
		err := disk.LinkOrCopy(ctx, f[0], f[1])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	// The links must be on the disk before the log loses its first name, otherwise a power loss could lose the log.
	if err := disk.SyncPath(place.Folder()); err != nil {
		return err
	}

	for _, log := range []string{place.Log(), place.LogIndex()} {
		if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	// The removal must be on the disk before the rename, otherwise a power loss could leave the old log beside the new
	// file, and SQLite would apply it.
	if err := disk.SyncPath(place.Folder()); err != nil {
		return err
	}

	// Windows cannot rename over an open file.
	if runtime.GOOS == "windows" {
		if err := letGo(); err != nil {
			return err
		}
	}

	if err := os.Rename(recovered, place.DB()); err != nil {
		return err
	}

	return disk.SyncPath(place.Folder())
}
