package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
)

// A file is served read-only when Options.ReadOnly asks for it, or when the file
// or its folder cannot be written: a robot whose disk has become read-only must
// still recall. Then a write fails with the reason. The file is opened as every
// process does, or as immutable where that would need a log that this user cannot create.

// AskedReadOnly is the reason of a file that Options.ReadOnly serves.
const AskedReadOnly = "as was asked"

// ReadOnly returns the reason why nothing is written, "" if the file is writable.
func (db *DB) ReadOnly() string { return db.readOnly }

// Writable fails when the file is served read-only or is not in place.
func (db *DB) Writable() error {
	if db.readOnly == "" {
		return db.InPlace()
	}
	return robotmem.Errorf(robotmem.Unavailable, "",
		"the memory is served read-only (%s); nothing was stored; recall goes on", db.readOnly)
}

// cannotWrite returns the reason why an existing file cannot be opened for writing, "" without one.
func cannotWrite(path string) string {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return ""
	}
	err := usable(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return "its file cannot be written: " + robotmem.Reason(err)
	}

	return ""
}

// folderRefuses returns the reason why a writable file cannot be served for writing: its folder takes no log.
func folderRefuses(path string, err error) string {
	if info, serr := os.Stat(path); serr != nil || info.Size() == 0 || errors.Is(err, sqlite3.READONLY_ROLLBACK) {
		return ""
	}
	if isAny(err, sqlite3.READONLY, sqlite3.CANTOPEN, sqlite3.PERM) {
		return "its folder cannot be written"
	}

	return ""
}

// openReadOnly opens the first reading connection, and chooses how all are opened.
func (db *DB) openReadOnly(ctx context.Context) error {
	info, err := os.Stat(db.path)
	switch {
	case err != nil:
		return robotmem.Errorf(robotmem.Unavailable, "db",
			"the file cannot be read (%s), and read-only none is made; check --db", robotmem.Reason(err))
	case !info.Mode().IsRegular() || info.Size() == 0:
		return robotmem.Errorf(robotmem.Unavailable, "db",
			"the file is empty or not a regular file, and a read-only node writes nothing to it; check --db")
	}

	leave, err := enter(ctx, db.path, db.o.BusyTimeout)
	if err != nil {
		return err
	}

	defer leave()
	c, err := db.openShared(ctx)
	if errors.Is(err, errNotShared) || folderRefuses(db.path, err) != "" {
		// An immutable file is read without its log, which would lose the last writes.
		if logSize(db.path) > 0 {
			return robotmem.Errorf(robotmem.Unavailable, "db",
				"this user can neither share the log (-wal) beside the file nor merge it into the file; open the file as its owner, ask the node that has it open, or copy the file and its log to a folder that can be written and open the copy")
		}
		db.immutable = info
		if c, err = Open(ctx, db.path, db.connOptions(db.readerCacheKiB())); folderRefuses(db.path, err) != "" {
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
			err = robotmem.Errorf(robotmem.Conflict, "db",
				"the file has schema version %d and must be brought to %d, which takes writing; open it once where it can be written",
				version, db.o.Version)
		}

		return err
	})
}

var errNotShared = errors.New("the log's index would be another user's")

// openShared opens the file as every process does. If no process has it open, SQLite
// creates the log and its index, which must be the file owner's: the owner could not
// write to those of another user.
func (db *DB) openShared(ctx context.Context) (*Conn, error) {
	_, err := os.Lstat(db.files.LogIndex())
	makesIndex := errors.Is(err, fs.ErrNotExist)
	if makesIndex && !disk.MayGive(db.path) {
		return nil, errNotShared
	}
	c, err := Open(ctx, db.path, db.connOptions(db.readerCacheKiB()))
	if err == nil && makesIndex {
		MakePrivate(db.path)
	}

	return c, err
}

// logSize is the size of a file's log, 0 if there is none.
func logSize(path string) int64 {
	info, err := os.Stat(files.At(path).Log())
	if err != nil {
		return 0
	}
	return info.Size()
}

// unchanged fails if a file that was opened as immutable has been written since:
// connections would mix old and new pages.
func (db *DB) unchanged() error {
	if db.immutable == nil {
		return nil
	}
	info, err := os.Stat(db.path)
	if err == nil && info.Size() == db.immutable.Size() && info.ModTime().Equal(db.immutable.ModTime()) &&
		logSize(db.path) == 0 {
		return nil
	}

	return robotmem.Errorf(robotmem.Unavailable, "db",
		"another program writes the file, whose log this user cannot share; open it again when that has ended, as the file's owner, or ask the node that writes")
}

// fileURI is the name of a file for SQLite.
func fileURI(path string, o ConnOptions) string {
	query := url.Values{}
	system := o.VFS
	if key := o.Keys.Pages(); key != nil {
		var number string
		system, number = encryptedVFS(o.VFS, key)
		query.Set("key", number)
	}
	if system != "" {
		query.Set("vfs", system)
	}
	if o.Immutable {
		query.Set("immutable", "1")
	}

	return (&url.URL{
		Scheme: "file", OmitHost: true, Path: uriPath(path), RawQuery: query.Encode(), ForceQuery: true,
	}).String()
}

// URI is the name of a file for SQLite, as statements and the backup API take it. k are its keys, nil if it is in clear.
func URI(path string, k *keys.Keys) string { return fileURI(path, ConnOptions{Keys: k}) }

// uriPath is a path as the driver takes it in a URI: with slashes, and on Windows
// with one before the drive.
func uriPath(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && path[0] != '/' {
		path = "/" + path
	}
	return path
}
