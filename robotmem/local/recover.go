package local

import (
	"cmp"
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
func Recover(ctx context.Context, from, to string, o Options) (_ *maintenance.RecoverReport, err error) {
	defer func() { err = sqlite.Wrap("recover", err) }()
	source, err := openDamaged(ctx, from, &o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }() // opened for reading only
	return recoverInto(ctx, source, from, to, o)
}

// openDamaged completes the options and opens a file with an exclusive lock.
func openDamaged(ctx context.Context, path string, o *Options) (*sqlite.Damaged, error) {
	if err := o.Complete(); err != nil {
		return nil, err
	}
	return sqlite.OpenDamaged(ctx, path, sqlite.ConnOptions{CacheKiB: sqlite.ReaderCacheKiB}, func(c *sqlite.Conn) error {
		version, err := store.RefuseForeign(c)
		if err == nil && version == 0 {
			err = robotmem.Errorf(robotmem.Corrupt, "db", "the file holds no memory; bring it back from a backup")
		}
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
	report, err := writeRecovered(ctx, source, from, to, o)
	if err != nil {
		for _, suffix := range []string{"", "-wal", "-shm", store.PayloadsSuffix} {
			err = errors.Join(err, os.RemoveAll(to+suffix))
		}
		return nil, err
	}
	return report, nil
}

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
		Tx:     &store.Tx{Conn: &store.Conn{Conn: c}, Now: o.Clock().UTC()},
		Source: &store.Conn{Conn: source.Conn}, Report: &maintenance.RecoverReport{File: to, Doubtful: []int64{}, Torn: []string{}, Notes: []string{}},
		From: store.PayloadFolder(from, o.Disk), To: store.PayloadFolder(to, o.Disk),
	}
	if err := errors.Join(r.Run(ctx), c.Close()); err != nil {
		return nil, err
	}
	err = examineRecovered(ctx, to, o, r.Report, func(n *Node) error {
		_, err := n.maintenance.Repair(ctx, "recovered from "+filepath.Base(from))
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := r.To.Settle(); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the new payloads could not be synced (%s)", sqlite.Reason(err))
	}
	if err := errors.Join(sqlite.SyncPath(to), sqlite.SyncPath(filepath.Dir(to))); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the new file could not be synced (%s)", sqlite.Reason(err))
	}
	return r.Report, nil
}

// examineRecovered opens a recovered file, finishes it with f and runs doctor.
func examineRecovered(ctx context.Context, path string, o Options, report *maintenance.RecoverReport, f func(*Node) error) error {
	o.Embedder, o.Retention = nil, maintenance.Retention{}
	n, err := openNode(ctx, path, o)
	if err != nil {
		return err
	}
	if err = f(n); err == nil {
		var d *admin.DoctorResponse
		if d, err = n.Doctor(ctx, &admin.DoctorRequest{Deep: true}); err == nil {
			report.Doctor = *d
			report.Conclude()
		}
	}
	return errors.Join(err, n.Close())
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
func RecoverInPlace(ctx context.Context, path string, o Options) (_ *maintenance.RecoverReport, err error) {
	defer func() { err = sqlite.Wrap("recover", err) }()
	if path, err = sqlite.AbsPath(path); err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "there is no file (%s)", sqlite.Reason(err))
	}
	source, err := openDamaged(ctx, path, &o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }() // opened for reading only
	stamp, err := interrupted(ctx, path)
	if err != nil {
		return nil, err
	}
	swap := &swap{path: path, stamp: cmp.Or(stamp, o.Clock().UTC().Format(stampFormat)), letGo: source.Close}
	var report *maintenance.RecoverReport
	if stamp == "" {
		recovering := path + ".recovering-" + swap.stamp
		if report, err = recoverInto(ctx, source, path, recovering, o); err != nil {
			return nil, err
		}
		if err := swap.begin(ctx, recovering); err != nil {
			return nil, err
		}
	}
	if err := swap.finish(); err != nil {
		return nil, err
	}
	if stamp != "" {
		report = &maintenance.RecoverReport{Notes: []string{"an earlier repair was interrupted; what it had recovered was put in place"}, Doubtful: []int64{}, Torn: []string{}}
		err := source.Close()
		if err == nil {
			err = examineRecovered(ctx, path, o, report, func(*Node) error { return nil })
		}
		if err != nil {
			return nil, err
		}
	}
	report.File, report.Damaged = path, swap.damaged()
	return report, nil
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
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		stamp, found := strings.CutPrefix(e.Name(), filepath.Base(path)+".recovered-")
		if !found {
			continue
		}
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
