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

func init() { vfs.Register(summedVFS, summed{"os"}) }

// fileURI is the name of a file for SQLite.
func fileURI(path string, o connOptions) string {
	name := summedVFS
	if o.vfs != "" {
		name += "-" + o.vfs
		vfs.Register(name, summed{o.vfs})
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

// summed is a disk, by its name, whose databases have checksums at the end of
// their pages if their first page has room for them: a page that is read and does
// not match its own, or is not there, is an error of whoever reads it, never an
// answer. It maps no file: a mapped page would not be compared.
type summed struct{ disk string }

func (s summed) find() (vfs.VFS, error) {
	if disk := vfs.Find(s.disk); disk != nil {
		return disk, nil
	}
	return nil, sqlite3.CANTOPEN
}

func (s summed) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	disk, err := s.find()
	if err != nil {
		return nil, flags, err
	}
	f, flags, err := vfsutil.WrapOpen(disk, name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &summedFile{File: f}, flags, nil // a temporary file
}

func (s summed) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	disk, err := s.find()
	if err != nil {
		return nil, flags, err
	}
	f, got, err := vfsutil.WrapOpenFilename(disk, name, flags)
	if err != nil && flags&vfs.OPEN_WAL != 0 && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		// A log that cannot be written may still be read.
		f, got, err = vfsutil.WrapOpenFilename(disk, name, flags&^(vfs.OPEN_READWRITE|vfs.OPEN_CREATE)|vfs.OPEN_READONLY)
	}
	if err != nil {
		return nil, got, err
	}
	out := &summedFile{File: f}
	switch {
	case flags&vfs.OPEN_MAIN_DB != 0:
		out.sums = &pageSums{}
		if index := name.URIParameter(logIndexParameter); index != "" {
			out.index = vfs.NewSharedMemory(index, got)
		}
		// The driver would compare SQLite's sums once more, as those of the file
		// that it opened, which one that is written anew leaves behind.
		got &^= vfs.OPEN_MAIN_DB
	case flags&vfs.OPEN_WAL != 0:
		if of, ok := name.DatabaseFile().(*summedFile); ok {
			out.log = of.sums
		}
	}
	return out, got, nil
}

func (s summed) Delete(name string, syncDir bool) error {
	disk, err := s.find()
	if err != nil {
		return err
	}
	return disk.Delete(name, syncDir)
}

func (s summed) Access(name string, flags vfs.AccessFlag) (bool, error) {
	disk, err := s.find()
	if err != nil {
		return false, err
	}
	return disk.Access(name, flags)
}

func (s summed) FullPathname(name string) (string, error) {
	disk, err := s.find()
	if err != nil {
		return "", err
	}
	return disk.FullPathname(name)
}

// pageSums is what a connection has seen of its database's sums.
type pageSums struct {
	page     int // size of a page; 0 if they have none, or before the first was seen
	reserved int
}

// look learns from the first page. It is looked for in the log, too: where its
// newest form is there, the file's may be of before there were sums, or damaged.
func (s *pageSums) look(p []byte) {
	const magic, reservedAt = "SQLite format 3\x00", 20
	if !bytes.HasPrefix(p, []byte(magic)) || len(p) <= reservedAt {
		return
	}
	if s.page, s.reserved = 0, int(p[reservedAt]); pagesum.Known(s.reserved) {
		s.page = headerPageSize(p)
	}
}

// number is which page is read or written, 0 if it is none that has a sum.
func (s *pageSums) number(p []byte, off int64) uint32 {
	if s.page == 0 || len(p) != s.page || off%int64(s.page) != 0 {
		return 0
	}
	return uint32(off/int64(s.page)) + 1
}

// summedFile is a file as one connection has it open.
type summedFile struct {
	vfs.File
	index vfs.SharedMemory // instead of the file's own; nil as a rule
	sums  *pageSums        // of a database; else nil
	log   *pageSums        // of the database whose log it is; else nil
}

func (f *summedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	switch {
	case f.sums != nil:
		if number := f.sums.number(p, off); number > 0 {
			if n < len(p) && err != nil && !errors.Is(err, io.EOF) {
				return n, err
			}
			if n < len(p) || !pagesum.Fits(p, number, f.sums.reserved) {
				return 0, sqlite3.IOERR_DATA
			}
		}
		if off == 0 {
			f.sums.look(p[:n])
		}
	case f.log != nil && n == len(p) && validPageSize(n):
		// Whoever writes log into file has read page 1. No other begins as it
		// does: one of a tree begins with its kind, any other with a page's number.
		f.log.look(p)
	}
	return n, err
}

func (f *summedFile) WriteAt(p []byte, off int64) (int, error) {
	if f.sums != nil {
		if off == 0 {
			f.sums.look(p)
		}
		if number := f.sums.number(p, off); number > 0 {
			pagesum.Put(p, number, f.sums.reserved)
		}
	}
	return f.File.WriteAt(p, off)
}

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
