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
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// How a recovered file takes the place of a damaged one, so that a crash at any
// point leaves both to be found:
//
//  1. the new file is written as X.recovering-STAMP, and called
//     X.recovered-STAMP once it is whole and examined;
//  2. X and its log get second names, X.damaged-STAMP and X.damaged-STAMP-wal;
//  3. the log's first name goes: it must not be read into the new file;
//  4. X.recovered-STAMP takes the name X.
//
// X is there at all times. After a crash between 2 and 4, X and X.damaged-STAMP
// are one file, or where the disk has no links hold the same, and the next repair
// begins at 3. Payloads stay in X.payloads.
const stampFormat = "20060102T150405Z"

// RecoverInPlace recovers the damaged file at o.Path as Recover does and puts the
// new one in its place. The damaged file and its log are kept beside it, under
// the name that the report gives.
func RecoverInPlace(ctx context.Context, o Options) (*maintenance.RecoverReport, error) {
	if err := o.Complete(); err != nil {
		return nil, sqlite.Wrap("recover", err)
	}
	report, err := recoverInPlace(ctx, o)
	return report, sqlite.Wrap("recover", err)
}

func recoverInPlace(ctx context.Context, o Options) (*maintenance.RecoverReport, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is not a path")
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "there is no file (%s)", sqlite.Reason(err))
	}
	source, err := openDamaged(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }() // it was only read
	swap := &swap{path: path, stamp: o.Clock().UTC().Format(stampFormat), letGo: source.Close}
	stamp, err := interrupted(ctx, path)
	if err != nil {
		return nil, err
	}
	if stamp != "" {
		swap.stamp = stamp // the recovered file of that time is put in place
		report := &maintenance.RecoverReport{Notes: []string{"an earlier repair was interrupted; what it had recovered was put in place"}, MissingIDs: []int64{}, Doubtful: []int64{}, Tables: []maintenance.RecoveredTable{}}
		if err := swap.finish(); err != nil {
			return nil, err
		}
		if err := source.Close(); err != nil {
			return nil, err
		}
		return report, examineRecovered(ctx, o, path, swap, report)
	}
	o.Path = path + ".recovering-" + swap.stamp
	report, err := recoverInto(ctx, source, path, o)
	if err != nil {
		return nil, err
	}
	if err := swap.begin(ctx, o.Path); err != nil {
		return nil, err
	}
	if err := swap.finish(); err != nil {
		return nil, err
	}
	report.File, report.Damaged = path, swap.damaged()
	return report, nil
}

// examineRecovered is the check-up of a file that an earlier run recovered.
func examineRecovered(ctx context.Context, o Options, path string, s *swap, report *maintenance.RecoverReport) error {
	o.Path, o.Embedder, o.Retention = path, nil, maintenance.Retention{}
	e, err := openNode(ctx, o)
	if err != nil {
		return err
	}
	d, err := e.Doctor(ctx, &robotmem.DoctorRequest{Deep: true})
	if err == nil {
		report.Doctor, report.Whole = *d, d.Healthy
		report.File, report.Damaged = path, s.damaged()
	}
	return errors.Join(err, e.Close())
}

// swap is the exchange of two files.
type swap struct {
	path, stamp string
	letGo       func() error // of the lock of the damaged file
}

func (s *swap) damaged() string { return s.path + ".damaged-" + s.stamp }

func (s *swap) recovered() string { return s.path + ".recovered-" + s.stamp }

// begin gives the new file its second name, and the damaged ones theirs.
func (s *swap) begin(ctx context.Context, fresh string) error {
	// The links to payloads are not needed where the payloads are.
	if err := os.RemoveAll(fresh + store.PayloadsSuffix); err != nil {
		return swapError(err)
	}
	if err := os.Rename(fresh, s.recovered()); err != nil {
		return swapError(err)
	}
	for _, suffix := range []string{"-wal", "-shm", ""} { // the last tells that all are there
		err := sqlite.LinkOrCopy(ctx, s.path+suffix, s.damaged()+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return swapError(err)
		}
	}
	return swapError(sqlite.SyncPath(filepath.Dir(s.path)))
}

// finish takes the damaged file's names away and gives the new one its own.
func (s *swap) finish() error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(s.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return swapError(err)
		}
	}
	if err := sqlite.SyncPath(filepath.Dir(s.path)); err != nil {
		return swapError(err)
	}
	if runtime.GOOS == "windows" { // which renames nothing over a file that is open
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

// interrupted returns the stamp of an exchange that a crash has cut off: the file
// has its second name, or its copy, and the recovered one waits.
func interrupted(ctx context.Context, path string) (string, error) {
	names, err := filepath.Glob(escapeGlob(path) + ".recovered-*")
	if err != nil {
		return "", nil //nolint:nilerr // no pattern, so no such files
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

// escapeGlob takes their meaning from the characters of a pattern.
func escapeGlob(path string) string {
	if runtime.GOOS == "windows" {
		return path // its patterns know no escape
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
