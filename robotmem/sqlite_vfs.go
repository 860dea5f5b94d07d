package robotmem

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

// summedVFS is what a disk is called once its files' pages have checksums.
const summedVFS = "robotmem"

func init() { vfs.Register(summedVFS, summed{vfs.Find("os")}) }

// fileURI is the name of a file for SQLite.
func fileURI(path string, o connOptions) string {
	name := summedVFS
	if o.vfs != "" {
		name += "-" + o.vfs
		vfs.Register(name, summed{vfs.Find(o.vfs)})
	}
	query := url.Values{"vfs": {name}}
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

// summed is a disk whose databases have checksums at the end of their pages, if
// their first page has room for them: a page that is read and does not match its
// own, or is not there, is an error of whoever reads it, never an answer. It maps
// no file: a mapped page would not be compared.
type summed struct{ vfs.VFS }

func (u summed) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpen(u.VFS, name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &summedFile{File: f, database: flags&vfs.OPEN_MAIN_DB != 0}, flags, nil
}

func (u summed) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
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
	out := &summedFile{File: f, database: flags&vfs.OPEN_MAIN_DB != 0}
	if index != "" {
		out.index = vfs.NewSharedMemory(index, flags)
	}
	return out, flags, nil
}

// summedFile is a file as one connection has it open.
type summedFile struct {
	vfs.File
	index    vfs.SharedMemory // instead of the file's own; nil as a rule
	database bool             // and not its log
	page     int              // size of a page; 0 if they have no sums, or before the first was seen
}

func (f *summedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if f.isPage(p, off) {
		if n < len(p) && err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		if n < len(p) || !pagesum.Fits(p, f.number(off)) {
			return 0, sqlite3.IOERR_DATA
		}
	}
	f.look(p[:n], off)
	return n, err
}

func (f *summedFile) WriteAt(p []byte, off int64) (int, error) {
	f.look(p, off)
	if f.isPage(p, off) {
		pagesum.Put(p, f.number(off))
	}
	return f.File.WriteAt(p, off)
}

// look learns from the first page whether pages have sums.
func (f *summedFile) look(p []byte, off int64) {
	const magic, reservedAt = "SQLite format 3\x00", 20
	if !f.database || off != 0 || !bytes.HasPrefix(p, []byte(magic)) || len(p) <= reservedAt {
		return
	}
	if f.page = 0; p[reservedAt] == pagesum.Reserved {
		f.page = headerPageSize(p)
	}
}

func (f *summedFile) isPage(p []byte, off int64) bool {
	return f.page > 0 && len(p) == f.page && off%int64(f.page) == 0
}

func (f *summedFile) number(off int64) uint32 { return uint32(off/int64(f.page)) + 1 }

var (
	_ vfs.FileLockState          = &summedFile{}
	_ vfs.FileHasMoved           = &summedFile{}
	_ vfs.FileSizeHint           = &summedFile{}
	_ vfs.FilePersistWAL         = &summedFile{}
	_ vfs.FilePowersafeOverwrite = &summedFile{}
	_ vfs.FileSharedMemory       = &summedFile{}
	_ vfs.FileUnwrap             = &summedFile{}
)

func (f *summedFile) LockState() vfs.LockLevel     { return vfsutil.WrapLockState(f.File) }
func (f *summedFile) HasMoved() (bool, error)      { return vfsutil.WrapHasMoved(f.File) }
func (f *summedFile) SizeHint(size int64) error    { return vfsutil.WrapSizeHint(f.File, size) }
func (f *summedFile) PersistWAL() bool             { return vfsutil.WrapPersistWAL(f.File) }
func (f *summedFile) SetPersistWAL(keep bool)      { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f *summedFile) PowersafeOverwrite() bool     { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f *summedFile) SetPowersafeOverwrite(b bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, b) }
func (f *summedFile) Unwrap() vfs.File             { return f.File }

func (f *summedFile) SharedMemory() vfs.SharedMemory {
	if f.index != nil {
		return f.index
	}
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

func (f *summedFile) Close() error {
	if f.index != nil {
		return errors.Join(f.index.Close(), f.File.Close())
	}
	return f.File.Close()
}

// DeviceCharacteristics leaves out writing several pages at once, which a log
// has no use for, and reading parts of a page, which have no sum.
func (f *summedFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ (vfs.IOCAP_BATCH_ATOMIC | vfs.IOCAP_SUBPAGE_READ)
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
