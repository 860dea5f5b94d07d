package local

import (
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// A file that this user may only read, with a log beside it, takes two things
// that the driver's own VFS does not offer: a log that cannot be opened for
// writing is opened for reading, and the log's index may lie in another folder.
// readOnlyVFS adds them. Files that are written use the driver's VFS as it is.

// readOnlyVFS is the name under which the driver knows it.
const readOnlyVFS = "robotmem-readonly"

// logIndexParameter names the file of the log's index in a URI.
const logIndexParameter = "log_index"

func init() { vfs.Register(readOnlyVFS, readOnlyDisk{vfs.Find("")}) }

// fileURI is the name of a file for SQLite.
func fileURI(path string, o connOptions) string {
	query := url.Values{}
	switch {
	case o.vfs != "":
		query.Set("vfs", o.vfs)
	case o.readOnly:
		query.Set("vfs", readOnlyVFS)
	}
	if o.noLog {
		query.Set("immutable", "1")
	}
	if o.logIndex != "" {
		query.Set(logIndexParameter, o.logIndex)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: uriPath(path), RawQuery: query.Encode()}).String()
}

// uriPath is a path as the driver takes it in a URI: with slashes, and on
// Windows with one before the drive.
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

// indexedElsewhere is a database whose log has its index in another place.
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

// openPlain opens a file for writing and sets up nothing.
func openPlain(path string) (*sqlite3.Conn, error) {
	return sqlite3.OpenFlags(fileURI(path, connOptions{}), sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE|sqlite3.OPEN_URI)
}
