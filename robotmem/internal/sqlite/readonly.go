package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A file is served read-only when Options.ReadOnly asks for it, or when the file
// or its folder cannot be written: a robot whose disk has become read-only must
// still recall. Then a write fails with the reason.

// readOnlyWay is how the connections of such a file read the log.
type readOnlyWay int

const (
	// sharedIndex: through its index beside the file, which all processes share.
	sharedIndex readOnlyWay = iota
	// ownIndex: through an index in a temporary folder. No process writes the log, and
	// no index can be made beside it.
	ownIndex
	// noLog: there is none, and none can be made.
	noLog
)

// AskedReadOnly is the reason of a file that Options.ReadOnly serves.
const AskedReadOnly = "as was asked"

// ReadOnly is why nothing is written, "" if the file is writable.
func (db *DB) ReadOnly() string { return db.readOnly }

// Writable fails when the file is served read-only or is not in place.
func (db *DB) Writable() error {
	if db.readOnly == "" {
		return db.InPlace()
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "the memory is served read-only (%s); nothing was stored; recall goes on", db.readOnly)
}

// cannotWrite says why a file that is there cannot be opened for writing, "" if
// it can or is not there.
func cannotWrite(path string) string {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return ""
	}
	err := usable(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return "its file cannot be written: " + Reason(err)
	}
	return ""
}

// folderRefuses says why a file that can be written cannot be served for writing: no
// log can be made in its folder.
func folderRefuses(path string, err error) string {
	if info, serr := os.Stat(path); serr != nil || info.Size() == 0 || errors.Is(err, sqlite3.READONLY_ROLLBACK) {
		return ""
	}
	if isAny(err, sqlite3.READONLY, sqlite3.CANTOPEN, sqlite3.PERM) {
		return "its folder cannot be written"
	}
	return ""
}

// openReadOnly opens the first reading connection, and chooses how all read the log.
func (db *DB) openReadOnly(ctx context.Context) error {
	info, err := os.Stat(db.path)
	switch {
	case err != nil:
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be read (%s), and read-only none is made; check --db", Reason(err))
	case !info.Mode().IsRegular():
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be used (not a regular file); pass another --db")
	case info.Size() == 0:
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file is empty, and read-only nothing is put into it; check --db")
	}
	leave, err := enter(ctx, db.path, db.o.BusyTimeout)
	if err != nil {
		return err
	}
	defer leave()
	c, err := db.openShared(ctx)
	if errors.Is(err, errNotShared) || folderRefuses(db.path, err) != "" {
		if c, err = db.openElsewhere(ctx); err != nil && folderRefuses(db.path, err) != "" {
			return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be read; check that this user may")
		}
	}
	if err != nil {
		return err
	}
	db.firstReader(c)
	return db.Read(ctx, func(c *Conn) error {
		version, err := db.o.Check(c)
		if err == nil && version < db.o.Version {
			err = robotmem.Errorf(robotmem.Conflict, "db", "the file has schema version %d and must be brought to %d, which takes writing; open it once where it can be written", version, db.o.Version)
		}
		return err
	})
}

var errNotShared = errors.New("the log's index would be another user's")

// openShared opens the file as every process does. If no process has it open, SQLite
// creates the log and its index, which must be the file owner's: the owner could not
// write to those of another user.
func (db *DB) openShared(ctx context.Context) (*Conn, error) {
	if _, err := os.Lstat(db.path + "-shm"); errors.Is(err, fs.ErrNotExist) {
		if !mayGive(db.path) {
			return nil, errNotShared
		}
		db.madeIndex = true
	}
	db.way = sharedIndex
	c, err := Open(ctx, db.path, db.connOptions(db.readerCacheKiB()))
	if err == nil && db.madeIndex {
		MakePrivate(db.path)
	}
	return c, err
}

// openElsewhere opens the file without writing anything beside it. It fails while a
// process has the log in use, which its index shows.
func (db *DB) openElsewhere(ctx context.Context) (*Conn, error) {
	db.state = stateOf(db.path)
	if db.state.index {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "another program has the file open, and this user may not share its log; ask as the file's owner, or ask the node that has it")
	}
	db.way = noLog
	if info, err := os.Stat(db.path + "-wal"); err == nil && info.Size() > 0 {
		db.way = ownIndex
		dir, err := os.MkdirTemp("", "robotmem-")
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the log beside the file takes an index, for which there is no folder of temporary files (%s); set TMPDIR", Reason(err))
		}
		db.scratch = dir
	}
	return Open(ctx, db.path, db.connOptions(db.readerCacheKiB()))
}

// fileState changes when a file is written: size and time of the file and of its log,
// and whether the log has an index.
type fileState struct {
	size, logSize int64
	at, logAt     time.Time
	index         bool
}

func stateOf(path string) (s fileState) {
	if info, err := os.Stat(path); err == nil {
		s.size, s.at = info.Size(), info.ModTime()
	}
	if info, err := os.Stat(path + "-wal"); err == nil {
		s.logSize, s.logAt = info.Size(), info.ModTime()
	}
	_, err := os.Stat(path + "-shm")
	s.index = err == nil
	return s
}

// unchanged fails if a file that is read without the shared index was written:
// connections would mix old and new pages.
func (db *DB) unchanged() error {
	if db.way != sharedIndex && stateOf(db.path) != db.state {
		return robotmem.Errorf(robotmem.Unavailable, "db", "another program writes the file, whose log this user cannot share; open it again when that has ended, as the file's owner, or ask the node that writes")
	}
	return nil
}

// removeTemporary removes what only reading has made: temporary files, and unless
// another program has the file open, the empty log and its index.
func (db *DB) removeTemporary() error {
	if db.madeIndex {
		if f, err := os.OpenFile(db.path, os.O_RDWR, 0); err == nil {
			if KeepOut(f, db.path, nil) == nil {
				if info, err := os.Stat(db.path + "-wal"); err == nil && info.Size() == 0 {
					_ = os.Remove(db.path + "-wal") // an empty log is harmless
				}
				if _, err := os.Stat(db.path + "-wal"); errors.Is(err, fs.ErrNotExist) {
					_ = os.Remove(db.path + "-shm")
				}
			}
			_ = f.Close() // nothing was written
		}
	}
	if db.scratch == "" {
		return nil
	}
	return os.RemoveAll(db.scratch)
}

// readOnlyVFS names a VFS that adds to the driver's what a file takes that this user
// may only read, with a log beside it: it opens a log for reading that cannot be
// opened for writing, and the index of the log may be in another folder, which a
// parameter of the URI names.
const (
	readOnlyVFS       = "robotmem-readonly"
	logIndexParameter = "log_index"
)

var registerReadOnly = sync.OnceFunc(func() { vfs.Register(readOnlyVFS, readOnlyDisk{vfs.Find("")}) })

// fileURI is the name of a file for SQLite.
func fileURI(path string, o ConnOptions) string {
	query := url.Values{}
	switch {
	case o.VFS != "":
		query.Set("vfs", o.VFS)
	case o.ReadOnly:
		registerReadOnly()
		query.Set("vfs", readOnlyVFS)
	}
	if o.Immutable {
		query.Set("immutable", "1")
	}
	if o.logIndex != "" {
		query.Set(logIndexParameter, o.logIndex)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: uriPath(path), RawQuery: query.Encode(), ForceQuery: true}).String()
}

// URI is the name of a file for SQLite, as statements and the backup API take it.
func URI(path string) string { return fileURI(path, ConnOptions{}) }

// uriPath is a path as the driver takes it in a URI: with slashes, and on Windows
// with one before the drive.
func uriPath(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && path[0] != '/' {
		path = "/" + path
	}
	return path
}

type readOnlyDisk struct{ vfs.VFS }

// OpenFilename implements vfs.VFSFilename.
func (d readOnlyDisk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, got, err := vfsutil.WrapOpenFilename(d.VFS, name, flags)
	if err != nil && flags&vfs.OPEN_WAL != 0 && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		f, got, err = vfsutil.WrapOpenFilename(d.VFS, name, flags&^(vfs.OPEN_READWRITE|vfs.OPEN_CREATE)|vfs.OPEN_READONLY)
	}
	if err != nil || flags&vfs.OPEN_MAIN_DB == 0 {
		return f, got, err
	}
	index := name.URIParameter(logIndexParameter)
	if index == "" {
		return f, got, nil
	}
	return &indexedElsewhere{f, vfs.NewSharedMemory(index, got)}, got, nil
}

// indexedElsewhere is a database whose log has its index in another folder.
type indexedElsewhere struct {
	vfs.File
	index vfs.SharedMemory
}

var (
	_ vfs.VFSFilename      = readOnlyDisk{}
	_ vfs.FileSharedMemory = &indexedElsewhere{}
	_ vfs.FileLockState    = &indexedElsewhere{}
	_ vfs.FileUnwrap       = &indexedElsewhere{}
)

// SharedMemory implements vfs.FileSharedMemory.
func (f *indexedElsewhere) SharedMemory() vfs.SharedMemory { return f.index }

// LockState implements vfs.FileLockState.
func (f *indexedElsewhere) LockState() vfs.LockLevel { return vfsutil.WrapLockState(f.File) }

// Unwrap implements vfs.FileUnwrap.
func (f *indexedElsewhere) Unwrap() vfs.File { return f.File }

// Close implements vfs.File.
func (f *indexedElsewhere) Close() error { return errors.Join(f.index.Close(), f.File.Close()) }
