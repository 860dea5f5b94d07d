package robotmem

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// defaultVFS is the system's disk without memory mapping: a mapped page would
// not be compared with its checksum, and the driver takes it for granted that a
// file that was opened with mapping keeps it.
const defaultVFS = "robotmem"

var registerVFS = sync.OnceFunc(func() { vfs.Register(defaultVFS, unmapped{vfs.Find("os")}) })

// fileURI is the name of a file for SQLite.
func fileURI(path string, o connOptions) string {
	registerVFS()
	query := url.Values{"vfs": {cmp.Or(o.vfs, defaultVFS)}}
	if o.noLog {
		query.Set("immutable", "1")
	}
	if o.logIndex != "" {
		query.Set(logIndexParameter, o.logIndex)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: uriPath(path), RawQuery: query.Encode()}).String()
}

// logIndexParameter names another file than that beside the database for the
// index of its log.
const logIndexParameter = "log_index"

type unmapped struct{ vfs.VFS }

func (u unmapped) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpen(u.VFS, name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &unmappedFile{File: f}, flags, nil
}

func (u unmapped) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	index := ""
	if name != nil {
		index = name.URIParameter(logIndexParameter)
	}
	f, got, err := vfsutil.WrapOpenFilename(u.VFS, name, flags)
	if err != nil && flags&vfs.OPEN_WAL != 0 && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		// A log that cannot be written may still be read.
		f, got, err = vfsutil.WrapOpenFilename(u.VFS, name, flags&^(vfs.OPEN_READWRITE|vfs.OPEN_CREATE)|vfs.OPEN_READONLY)
	}
	if err != nil {
		return nil, got, err
	}
	flags = got
	out := &unmappedFile{File: f}
	if index != "" {
		out.index = vfs.NewSharedMemory(index, flags)
	}
	return out, flags, nil
}

// unmappedFile hands on all that SQLite asks of a file but its mapping.
type unmappedFile struct {
	vfs.File
	index vfs.SharedMemory // instead of the file's own; nil as a rule
}

var (
	_ vfs.FileLockState          = &unmappedFile{}
	_ vfs.FileHasMoved           = &unmappedFile{}
	_ vfs.FileSizeHint           = &unmappedFile{}
	_ vfs.FilePersistWAL         = &unmappedFile{}
	_ vfs.FilePowersafeOverwrite = &unmappedFile{}
	_ vfs.FileSharedMemory       = &unmappedFile{}
	_ vfs.FileUnwrap             = &unmappedFile{}
)

func (f *unmappedFile) LockState() vfs.LockLevel     { return vfsutil.WrapLockState(f.File) }
func (f *unmappedFile) HasMoved() (bool, error)      { return vfsutil.WrapHasMoved(f.File) }
func (f *unmappedFile) SizeHint(size int64) error    { return vfsutil.WrapSizeHint(f.File, size) }
func (f *unmappedFile) PersistWAL() bool             { return vfsutil.WrapPersistWAL(f.File) }
func (f *unmappedFile) SetPersistWAL(keep bool)      { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f *unmappedFile) PowersafeOverwrite() bool     { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f *unmappedFile) SetPowersafeOverwrite(b bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, b) }
func (f *unmappedFile) Unwrap() vfs.File             { return f.File }

func (f *unmappedFile) SharedMemory() vfs.SharedMemory {
	if f.index != nil {
		return f.index
	}
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

func (f *unmappedFile) Close() error {
	if f.index != nil {
		return errors.Join(f.index.Close(), f.File.Close())
	}
	return f.File.Close()
}

// DeviceCharacteristics leaves out writing several pages at once, which a log
// has no use for.
func (f *unmappedFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
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
