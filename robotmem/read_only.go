package robotmem

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"
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
	return fail(Unavailable, "", "the memory is served read-only (%s); nothing was stored; recall goes on", e.readOnly)
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
		return fail(Unavailable, "db", "the file cannot be read (%s), and read-only none is made; check --db", reason(err))
	case !info.Mode().IsRegular():
		return fail(Unavailable, "db", "the file cannot be used (not a regular file); pass another --db")
	case info.Size() == 0:
		return fail(Unavailable, "db", "the file is empty, and read-only nothing is put into it; check --db")
	}
	if err := refuseDamagedHeader(e.path); err != nil {
		return err
	}
	leave, err := enter(ctx, e.path, e.options.BusyTimeout)
	if err != nil {
		return err
	}
	defer leave()
	e.examineLog(e.path)
	e.way = sharedIndex
	c, err := openConn(ctx, e.path, e.connOptions(readerCacheKiB))
	if folderRefuses(e.path, err) != "" {
		if c, err = e.openElsewhere(ctx); err != nil && folderRefuses(e.path, err) != "" {
			return fail(Unavailable, "db", "the file cannot be read; check that this user may")
		}
	}
	if err != nil {
		return err
	}
	<-e.readers
	e.readers <- c
	return e.read(ctx, refuseOlder)
}

// openElsewhere opens the file without writing anything beside it. No live
// process has the log in use: its index would be there to share.
func (e *Engine) openElsewhere(ctx context.Context) (*conn, error) {
	e.way = noLog
	if info, err := os.Stat(e.path + "-wal"); err == nil && info.Size() > 0 {
		e.way = ownIndex
		dir, err := os.MkdirTemp("", "robotmem-")
		if err != nil {
			return nil, fail(Unavailable, "db", "the log beside the file takes an index, for which there is no folder of temporary files (%s); set TMPDIR", reason(err))
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
		err = fail(Conflict, "db", "the file has schema version %d and must be brought to %d, which takes writing; open it once where it can be written", version, len(scripts))
	}
	return err
}

func (e *Engine) dropScratch() error {
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
func (e *Engine) examineWriting(d *DoctorResponse) {
	switch e.readOnly {
	case "":
	case askedReadOnly:
		d.add("writing", checkOK, "served read-only, as was asked", "")
	default:
		d.add("writing", checkWarn, "served read-only: "+e.readOnly, "make the file and its folder writable for this user (a disk that was remounted read-only has failed: copy it first), then start the node again")
	}
}
