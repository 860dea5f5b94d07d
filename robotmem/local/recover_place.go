package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/robotmem/robotmem-go/robotmem"
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
func RecoverInPlace(ctx context.Context, o Options) (*RecoverReport, error) {
	if err := o.complete(); err != nil {
		return nil, wrap("recover", err)
	}
	report, err := recoverInPlace(ctx, o)
	return report, wrap("recover", err)
}

func recoverInPlace(ctx context.Context, o Options) (*RecoverReport, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is not a path")
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "there is no file (%s)", reason(err))
	}
	source, err := openDamaged(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.close() }() // it was only read
	swap := &swap{path: path, stamp: o.Clock().UTC().Format(stampFormat), letGo: source.close}
	stamp, err := interrupted(ctx, path)
	if err != nil {
		return nil, err
	}
	if stamp != "" {
		swap.stamp = stamp // the recovered file of that time is put in place
		report := &RecoverReport{Notes: []string{"an earlier repair was interrupted; what it had recovered was put in place"}, MissingIDs: []int64{}, Doubtful: []int64{}, Tables: []RecoveredTable{}}
		if err := swap.finish(); err != nil {
			return nil, err
		}
		if err := source.close(); err != nil {
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
func examineRecovered(ctx context.Context, o Options, path string, s *swap, report *RecoverReport) error {
	o.Path, o.Embedder, o.Retention = path, nil, Retention{}
	e, err := open(ctx, o)
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
	if err := os.RemoveAll(fresh + payloadsSuffix); err != nil {
		return swapError(err)
	}
	if err := os.Rename(fresh, s.recovered()); err != nil {
		return swapError(err)
	}
	for _, suffix := range []string{"-wal", "-shm", ""} { // the last tells that all are there
		err := linkOrCopy(ctx, s.path+suffix, s.damaged()+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return swapError(err)
		}
	}
	return swapError(syncPath(filepath.Dir(s.path)))
}

// finish takes the damaged file's names away and gives the new one its own.
func (s *swap) finish() error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(s.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return swapError(err)
		}
	}
	if err := syncPath(filepath.Dir(s.path)); err != nil {
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
	return swapError(syncPath(filepath.Dir(s.path)))
}

func swapError(err error) error {
	if err == nil {
		return nil
	}
	return robotmem.Errorf(robotmem.Unavailable, "db", "the recovered file could not be put in place (%s); the files beside it, named damaged and recovered, hold all", reason(err))
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
		same, err := sameBytes(ctx, path, path+".damaged-"+stamp)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", swapError(err)
		}
		if same {
			return stamp, nil
		}
	}
	return "", nil
}

// sameBytes reports whether two names are of one file, or of a file and its copy.
func sameBytes(ctx context.Context, a, b string) (bool, error) {
	first, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	second, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	if os.SameFile(first, second) {
		return true, nil
	}
	if first.Size() != second.Size() {
		return false, nil
	}
	_, sumA, errA := sumFile(ctx, a)
	_, sumB, errB := sumFile(ctx, b)
	return sumA == sumB, errors.Join(errA, errB)
}

// escapeGlob takes their meaning from the characters of a pattern.
func escapeGlob(path string) string {
	if runtime.GOOS == "windows" {
		return path // its patterns know no escape
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// lockAlone makes sure that nobody has a file open, and that nobody opens it
// until release. The file itself is not read, let alone written. One that cannot
// be opened for writing is not locked: nobody here can write it.
func lockAlone(path string) (release func() error, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = errors.New("not a regular file")
		}
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the damaged file cannot be read (%s)", reason(err))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return func() error { return nil }, nil //nolint:nilerr // reading it says what is wrong
	}
	err = keepOut(f, path, nil)
	if errors.Is(err, errors.ErrUnsupported) {
		return lockBySQLite(path, f)
	}
	if err != nil {
		return nil, errors.Join(openElsewhere(err), f.Close())
	}
	return f.Close, nil
}

func openElsewhere(err error) error {
	return robotmem.Errorf(robotmem.Unavailable, "db", "another process has the file open (%w); stop every robotmem that uses it, then try again", err)
}

// lockBySQLite takes SQLite's exclusive lock, where parts of files cannot be
// locked: in WAL mode each open connection holds a shared one until it is closed.
func lockBySQLite(path string, own *os.File) (release func() error, err error) {
	if err := own.Close(); err != nil {
		return nil, err
	}
	db, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	file, err := db.FileControl("main", sqlite3.FCNTL_FILE_POINTER)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f, ok := file.(vfs.File)
	if !ok {
		return nil, errors.Join(errors.New("the file of a connection is of no known kind"), db.Close())
	}
	if err = f.Lock(vfs.LOCK_SHARED); err == nil {
		err = f.Lock(vfs.LOCK_EXCLUSIVE)
	}
	release = func() error { return errors.Join(f.Unlock(vfs.LOCK_NONE), db.Close()) }
	if err != nil {
		return nil, errors.Join(openElsewhere(err), release())
	}
	return release, nil
}
