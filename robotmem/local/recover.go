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
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Recover copies the readable rows of the damaged file from, with its log, to a new
// file at to, which must not exist. It copies table by table through SQLite: a damaged
// page loses the rows on it. The damaged file and its payloads are only read. Large
// payloads are linked into the new file's folder, or copied where the disk has no
// links. All indexes are rebuilt and the new file is checked by doctor. Only the fields
// of o that concern the creation and the check of a file are used.
//
// Ids, uids, times and versions are kept; revisions continue after the largest one. A
// memory whose text does not match its checksum becomes invalidated, with the reason in
// its history.
//
// It fails with Corrupt if the file is another program's or SQLite cannot read its
// schema (then only a backup helps), Conflict if a newer robotmem wrote it, Unavailable
// if another process has it open or the new file cannot be written. It leaves no new
// file when it fails.
func Recover(ctx context.Context, from, to string, o Options) (*maintenance.RecoverReport, error) {
	if err := o.Complete(); err != nil {
		return nil, sqlite.Wrap("recover", err)
	}
	report, err := recoverLocked(ctx, from, to, o)
	return report, sqlite.Wrap("recover", err)
}

func recoverLocked(ctx context.Context, from, to string, o Options) (*maintenance.RecoverReport, error) {
	source, err := openDamaged(ctx, from)
	if err != nil {
		return nil, err
	}
	report, err := recoverInto(ctx, source, from, to, o)
	return report, errors.Join(err, source.Close())
}

// openDamaged opens a file with an exclusive lock.
func openDamaged(ctx context.Context, path string) (*sqlite.Damaged, error) {
	return sqlite.OpenDamaged(ctx, path, sqlite.ConnOptions{CacheKiB: sqlite.ReaderCacheKiB}, func(c *sqlite.Conn) error {
		_, err := store.RefuseForeign(c)
		return err
	})
}

// recoverInto copies the damaged file to a new one.
func recoverInto(ctx context.Context, source *sqlite.Damaged, from, to string, o Options) (*maintenance.RecoverReport, error) {
	to, err := sqlite.AbsPath(to)
	if err != nil {
		return nil, err
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

// removeRecovered removes an unfinished new file.
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
	rules, err := o.rules()
	if err != nil {
		return nil, err
	}
	co := sqlite.ConnOptions{Normal: o.Durability == DurabilityNormal, BusyTimeout: o.BusyTimeout, VFS: o.Disk.VFS(), CacheKiB: sqlite.ReaderCacheKiB}
	if err := sqlite.Create(ctx, o.Disk, to, co); err != nil {
		return nil, err
	}
	c, err := sqlite.OpenWriter(ctx, to, co, &sqlite.Options{Disk: o.Disk, Check: store.RefuseForeign, Migrate: store.Migrate(builderOf(rules))})
	if err != nil {
		return nil, err
	}
	fresh := &store.Conn{Conn: c}
	r := &maintenance.Recovery{
		Source: &store.Conn{Conn: source.Conn}, Now: o.Clock().UTC(), Report: &maintenance.RecoverReport{File: to, Doubtful: []int64{}, Torn: []string{}, Notes: []string{}},
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

// reindexRecovered opens the new file, rebuilds all indexes, logs the recovery and runs
// doctor.
func reindexRecovered(ctx context.Context, from, to string, o Options, report *maintenance.RecoverReport) error {
	o.Embedder, o.Retention = nil, maintenance.Retention{}
	n, err := openNode(ctx, to, o)
	if err != nil {
		return err
	}
	m := progress.Of(ctx)
	err = n.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := n.maintenance.Rebuild(tx, m)
		return errors.Join(err, tx.Audit(admin.AuditEntry{Action: store.ActionRepaired, Reason: "recovered from " + filepath.Base(from)}))
	})
	if err == nil {
		n.index.Drop()
		err = n.maintenance.RefillFeatures(ctx, m)
	}
	if err == nil {
		var d *admin.DoctorResponse
		if d, err = n.Doctor(ctx, &admin.DoctorRequest{Deep: true}); err == nil {
			report.Doctor = *d
		}
	}
	return errors.Join(err, n.Close())
}

// syncNew syncs a closed file and its folder entry to the disk.
func syncNew(name string) error {
	if err := errors.Join(sqlite.SyncPath(name), sqlite.SyncPath(filepath.Dir(name))); err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the new file could not be synced (%s)", sqlite.Reason(err))
	}
	return nil
}

// RecoverInPlace replaces the damaged file X in these steps, so that a crash at any
// point loses neither file:
//
//  1. write the new file as X.recovering-STAMP, and rename it to X.recovered-STAMP once
//     it is complete and checked;
//  2. link X and its log to X.damaged-STAMP and X.damaged-STAMP-wal;
//  3. remove the log's first name: SQLite must not apply the log to the new file;
//  4. rename X.recovered-STAMP to X.
//
// X exists at all times. After a crash between 2 and 4, X and X.damaged-STAMP are one
// file, or equal copies where the disk has no links, and the next repair continues with
// 3. Payloads stay in X.payloads.
const stampFormat = "20060102T150405Z"

// RecoverInPlace recovers the damaged file at path as Recover does and replaces it by
// the new one. The damaged file and its log are kept beside it, under the name in the
// report.
func RecoverInPlace(ctx context.Context, path string, o Options) (*maintenance.RecoverReport, error) {
	if err := o.Complete(); err != nil {
		return nil, sqlite.Wrap("recover", err)
	}
	report, err := recoverInPlace(ctx, path, o)
	return report, sqlite.Wrap("recover", err)
}

func recoverInPlace(ctx context.Context, path string, o Options) (*maintenance.RecoverReport, error) {
	path, err := sqlite.AbsPath(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "there is no file (%s)", sqlite.Reason(err))
	}
	source, err := openDamaged(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }() // opened for reading only
	swap := &swap{path: path, stamp: o.Clock().UTC().Format(stampFormat), letGo: source.Close}
	stamp, err := interrupted(ctx, path)
	if err != nil {
		return nil, err
	}
	if stamp != "" {
		swap.stamp = stamp // continue with the file that the interrupted run recovered
		report := &maintenance.RecoverReport{Notes: []string{"an earlier repair was interrupted; what it had recovered was put in place"}, Doubtful: []int64{}, Torn: []string{}}
		if err := swap.finish(); err != nil {
			return nil, err
		}
		if err := source.Close(); err != nil {
			return nil, err
		}
		return report, examineRecovered(ctx, o, path, swap, report)
	}
	recovering := path + ".recovering-" + swap.stamp
	report, err := recoverInto(ctx, source, path, recovering, o)
	if err != nil {
		return nil, err
	}
	if err := swap.begin(ctx, recovering); err != nil {
		return nil, err
	}
	if err := swap.finish(); err != nil {
		return nil, err
	}
	report.File, report.Damaged = path, swap.damaged()
	return report, nil
}

// examineRecovered runs doctor on a file that an interrupted run recovered.
func examineRecovered(ctx context.Context, o Options, path string, s *swap, report *maintenance.RecoverReport) error {
	o.Embedder, o.Retention = nil, maintenance.Retention{}
	n, err := openNode(ctx, path, o)
	if err != nil {
		return err
	}
	d, err := n.Doctor(ctx, &admin.DoctorRequest{Deep: true})
	if err == nil {
		report.Doctor, report.Whole = *d, d.Healthy
		report.File, report.Damaged = path, s.damaged()
	}
	return errors.Join(err, n.Close())
}

// swap exchanges the damaged and the recovered file.
type swap struct {
	path, stamp string
	letGo       func() error // releases the lock of the damaged file
}

func (s *swap) damaged() string { return s.path + ".damaged-" + s.stamp }

func (s *swap) recovered() string { return s.path + ".recovered-" + s.stamp }

// begin gives both files their second names.
func (s *swap) begin(ctx context.Context, fresh string) error {
	// The payloads stay in place, so the links to them are not needed.
	if err := os.RemoveAll(fresh + store.PayloadsSuffix); err != nil {
		return swapError(err)
	}
	if err := os.Rename(fresh, s.recovered()); err != nil {
		return swapError(err)
	}
	for _, suffix := range []string{"-wal", "-shm", ""} { // the main file last: its name shows that all have been linked
		err := sqlite.LinkOrCopy(ctx, s.path+suffix, s.damaged()+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return swapError(err)
		}
	}
	return swapError(sqlite.SyncPath(filepath.Dir(s.path)))
}

// finish removes the damaged file's names and gives its name to the new file.
func (s *swap) finish() error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(s.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return swapError(err)
		}
	}
	if err := sqlite.SyncPath(filepath.Dir(s.path)); err != nil {
		return swapError(err)
	}
	if runtime.GOOS == "windows" { // Windows cannot rename over an open file
		if err := s.letGo(); err != nil {
			return err
		}
	}
	if err := os.Rename(s.recovered(), s.path); err != nil {
		return swapError(err)
	}
	return swapError(sqlite.SyncPath(filepath.Dir(s.path)))
}

func swapError(err error) error {
	if err == nil {
		return nil
	}
	return robotmem.Errorf(robotmem.Unavailable, "db", "the recovered file could not be put in place (%s); the files beside it, named damaged and recovered, hold all", sqlite.Reason(err))
}

// interrupted returns the stamp of an exchange that a crash interrupted: the damaged
// file has its second name, or its copy, and the recovered file exists.
func interrupted(ctx context.Context, path string) (string, error) {
	names, err := filepath.Glob(escapeGlob(path) + ".recovered-*")
	if err != nil {
		return "", nil //nolint:nilerr // an invalid pattern matches no files
	}
	for _, name := range names {
		stamp := strings.TrimPrefix(name, path+".recovered-")
		same, err := sqlite.SameBytes(ctx, path, path+".damaged-"+stamp)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", swapError(err)
		}
		if same {
			return stamp, nil
		}
	}
	return "", nil
}

// escapeGlob escapes the special characters of a pattern.
func escapeGlob(path string) string {
	if runtime.GOOS == "windows" {
		return path // patterns have no escape character there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
