package robotmem

import (
	"net/url"
	"path/filepath"
	"sync"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// defaultVFS is the system's disk without memory mapping: a mapped page would
// not be compared with its checksum, and the driver takes it for granted that a
// file that was opened with mapping keeps it.
const defaultVFS = "robotmem"

var registerVFS = sync.OnceFunc(func() { vfs.Register(defaultVFS, unmapped{vfs.Find("os")}) })

// fileURI is the name of a file for SQLite, opened through a VFS.
func fileURI(path, vfsName string, immutable bool) string {
	if vfsName == "" {
		registerVFS()
		vfsName = defaultVFS
	}
	query := url.Values{"vfs": {vfsName}}
	if immutable {
		query.Set("immutable", "1")
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: uriPath(path), RawQuery: query.Encode()}).String()
}

type unmapped struct{ vfs.VFS }

func (u unmapped) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return withoutMap(vfsutil.WrapOpen(u.VFS, name, flags))
}

func (u unmapped) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return withoutMap(vfsutil.WrapOpenFilename(u.VFS, name, flags))
}

func withoutMap(f vfs.File, flags vfs.OpenFlag, err error) (vfs.File, vfs.OpenFlag, error) {
	if err != nil {
		return nil, flags, err
	}
	return unmappedFile{f}, flags, nil
}

// unmappedFile hands on all that SQLite asks of a file but its mapping.
type unmappedFile struct{ vfs.File }

var (
	_ vfs.FileLockState          = unmappedFile{}
	_ vfs.FileHasMoved           = unmappedFile{}
	_ vfs.FileSizeHint           = unmappedFile{}
	_ vfs.FilePersistWAL         = unmappedFile{}
	_ vfs.FilePowersafeOverwrite = unmappedFile{}
	_ vfs.FileSharedMemory       = unmappedFile{}
	_ vfs.FileUnwrap             = unmappedFile{}
)

func (f unmappedFile) LockState() vfs.LockLevel     { return vfsutil.WrapLockState(f.File) }
func (f unmappedFile) HasMoved() (bool, error)      { return vfsutil.WrapHasMoved(f.File) }
func (f unmappedFile) SizeHint(size int64) error    { return vfsutil.WrapSizeHint(f.File, size) }
func (f unmappedFile) PersistWAL() bool             { return vfsutil.WrapPersistWAL(f.File) }
func (f unmappedFile) SetPersistWAL(keep bool)      { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f unmappedFile) PowersafeOverwrite() bool     { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f unmappedFile) SetPowersafeOverwrite(b bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, b) }
func (f unmappedFile) Unwrap() vfs.File             { return f.File }

func (f unmappedFile) SharedMemory() vfs.SharedMemory {
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

// DeviceCharacteristics leaves out writing several pages at once, which a log
// has no use for.
func (f unmappedFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
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
