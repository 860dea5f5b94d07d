package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
)

// A memory is served read-only when Options.ReadOnly asks for it, or when its
// file or folder cannot be written: a robot whose disk has become read-only
// must still recall. Nothing writes then, no counter and no worker either, and
// whatever would write answers with the reason.

// readOnlyWay is how the connections of such a memory come to the log.
type readOnlyWay int

const (
	// sharedIndex: by the log's index beside the file, as every process does.
	sharedIndex readOnlyWay = iota
	// ownIndex: there is a log that nobody is writing and no place for an index
	// beside it, so that this process keeps one among its temporary files.
	ownIndex
	// noLog: there is no log, and no place for one.
	noLog
)

// writable fails when the memory is served read-only.
func (e *Engine) writable() error {
	if e.readOnly == "" {
		return nil
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "the memory is served read-only (%s); nothing was stored; recall goes on", e.readOnly)
}

const askedReadOnly = "as was asked"

// cannotWrite says why a file that is there cannot be opened for writing, "" if
// it can or is not there.
func cannotWrite(path string) string {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		_ = f.Close() // nothing was written
		return ""
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return "its file cannot be written: " + reason(err)
	}
	return ""
}

// folderRefuses says why a file that can be written cannot be served for
// writing: its folder takes no log.
func folderRefuses(path string, err error) string {
	if info, serr := os.Stat(path); serr != nil || info.Size() == 0 || errors.Is(err, sqlite3.READONLY_ROLLBACK) {
		return ""
	}
	for _, code := range []sqlite3.ErrorCode{sqlite3.READONLY, sqlite3.CANTOPEN, sqlite3.PERM} {
		if errors.Is(err, code) {
			return "its folder cannot be written"
		}
	}
	return ""
}

// openReadOnly opens the first reading connection, and finds the way for all.
func (e *Engine) openReadOnly(ctx context.Context) error {
	info, err := os.Stat(e.path)
	switch {
	case err != nil:
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be read (%s), and read-only none is made; check --db", reason(err))
	case !info.Mode().IsRegular():
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be used (not a regular file); pass another --db")
	case info.Size() == 0:
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file is empty, and read-only nothing is put into it; check --db")
	}
	leave, err := enter(ctx, e.path, e.options.BusyTimeout)
	if err != nil {
		return err
	}
	defer leave()
	c, err := e.openShared(ctx)
	if errors.Is(err, errNotShared) || folderRefuses(e.path, err) != "" {
		if c, err = e.openElsewhere(ctx); err != nil && folderRefuses(e.path, err) != "" {
			return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be read; check that this user may")
		}
	}
	if err != nil {
		return err
	}
	<-e.readers
	e.readers <- c
	return e.read(ctx, refuseOlder)
}

var errNotShared = errors.New("the log's index would be another user's")

// openShared opens the file as every process does. Where nobody has it open that
// makes a log and its index, which only the file's owner may leave behind: the
// owner could not write to another's.
func (e *Engine) openShared(ctx context.Context) (*conn, error) {
	if _, err := os.Lstat(e.path + "-shm"); errors.Is(err, fs.ErrNotExist) {
		if !mayGive(e.path) {
			return nil, errNotShared
		}
		e.madeIndex = true
	}
	e.way = sharedIndex
	c, err := openConn(ctx, e.path, e.connOptions(readerCacheKiB))
	if err == nil && e.madeIndex {
		makePrivate(e.path)
	}
	return c, err
}

// removeIndex takes away the empty log and the index that a reader has made,
// unless somebody has the file open.
func (e *Engine) removeIndex() {
	f, err := os.OpenFile(e.path, os.O_RDWR, 0)
	if err != nil {
		return // nobody here may lock it
	}
	_ = f.Close() // nothing was written
	release, err := lockAlone(e.path)
	if err != nil {
		return // they are in use
	}
	if info, err := os.Stat(e.path + "-wal"); err == nil && info.Size() == 0 {
		_ = os.Remove(e.path + "-wal") // what stays harms nothing
	}
	if _, err := os.Stat(e.path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(e.path + "-shm")
	}
	if err := release(); err != nil {
		e.log.Warn("the lock of a file that was read", "err", err)
	}
}

// lying is what shows that a file was written to: its size and time, its log's,
// and whether a log's index is there.
type lying struct {
	size, logSize int64
	at, logAt     time.Time
	index         bool
}

func (e *Engine) lies() (l lying) {
	if info, err := os.Stat(e.path); err == nil {
		l.size, l.at = info.Size(), info.ModTime()
	}
	if info, err := os.Stat(e.path + "-wal"); err == nil {
		l.logSize, l.logAt = info.Size(), info.ModTime()
	}
	_, err := os.Stat(e.path + "-shm")
	l.index = err == nil
	return l
}

// unmoved fails when a file that is read without the index that all processes
// share was written to: pages of then and of now would be read as one.
func (e *Engine) unmoved() error {
	if e.way != sharedIndex && e.lies() != e.lay {
		return robotmem.Errorf(robotmem.Unavailable, "db", "another program writes the file, whose log this user cannot share; open it again when that has ended, as the file's owner, or ask the node that writes")
	}
	return nil
}

// openElsewhere opens the file without writing anything beside it. No live
// process may have the log in use: its index would be there to share.
func (e *Engine) openElsewhere(ctx context.Context) (*conn, error) {
	e.lay = e.lies()
	if e.lay.index {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "another program has the file open, and this user may not share its log; ask as the file's owner, or ask the node that has it")
	}
	e.way = noLog
	if info, err := os.Stat(e.path + "-wal"); err == nil && info.Size() > 0 {
		e.way = ownIndex
		dir, err := os.MkdirTemp("", "robotmem-")
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the log beside the file takes an index, for which there is no folder of temporary files (%s); set TMPDIR", reason(err))
		}
		e.scratch = dir
	}
	return openConn(ctx, e.path, e.connOptions(readerCacheKiB))
}

// refuseOlder fails unless the file is ours and of the present version: to bring
// it there takes writing.
func refuseOlder(c *conn) error {
	version, err := refuseForeign(c)
	if err != nil {
		return err
	}
	scripts, err := migrations()
	if err == nil && version < len(scripts) {
		err = robotmem.Errorf(robotmem.Conflict, "db", "the file has schema version %d and must be brought to %d, which takes writing; open it once where it can be written", version, len(scripts))
	}
	return err
}

// leaveNothing takes away what only reading has made.
func (e *Engine) leaveNothing() error {
	if e.madeIndex {
		e.removeIndex()
	}
	if e.scratch == "" {
		return nil
	}
	return os.RemoveAll(e.scratch)
}

// ownIndexPath names the file of the log's index where it is not beside the file.
func (e *Engine) ownIndexPath() string {
	if e.way != ownIndex {
		return ""
	}
	return filepath.Join(e.scratch, "log")
}

// examineWriting says that the memory is served read-only, and why.
func (e *Engine) examineWriting(d *robotmem.DoctorResponse) {
	switch e.readOnly {
	case "":
	case askedReadOnly:
		addCheck(d, "writing", checkOK, "served read-only, as was asked", "")
	default:
		addCheck(d, "writing", checkWarn, "served read-only: "+e.readOnly, "make the file and its folder writable for this user (a disk that was remounted read-only has failed: copy it first), then start the node again")
	}
}
