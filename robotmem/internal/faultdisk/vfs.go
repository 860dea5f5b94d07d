package faultdisk

import (
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// system is the operating system's VFS seen through a disk.
type system struct {
	vfs.VFS
	disk *Disk
}

var _ vfs.VFSFilename = (*system)(nil)

func (s *system) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return vfsutil.WrapOpen(s.VFS, name, flags) // a temporary file
}

func (s *system) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := vfsutil.WrapOpenFilename(s.VFS, name, flags)
	rel, ok := s.disk.below(name.String())
	if err != nil || !ok {
		return f, out, err
	}
	return &file{File: f, node: node{s.disk, s.disk.created(rel)}}, out, nil
}

func (s *system) Delete(path string, syncDir bool) error {
	if err := s.VFS.Delete(path, false); err != nil {
		return err
	}
	s.disk.removed(path)
	if syncDir && s.disk.SyncFolder(filepath.Dir(path)) != nil {
		return sqlite3.IOERR_DIR_FSYNC
	}

	return nil
}

// file is a file of SQLite.
type file struct {
	vfs.File
	node
}

var (
	_ vfs.FileSizeHint     = (*file)(nil)
	_ vfs.FileSharedMemory = (*file)(nil)
)

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.grow(off + int64(len(p))); err != nil {
		return 0, vfs.SystemError(err, sqlite3.IOERR_WRITE)
	}
	n, err := f.File.WriteAt(p, off)
	f.wrote(off, p[:n])
	return n, err
}

func (f *file) Truncate(size int64) error {
	f.disk.wait(truncate)
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.shrink(size)
	f.disk.record(op{kind: truncate, inode: f.inode, off: size})

	return nil
}

// Sync syncs the file and not its folder: the driver means to sync the folder of
// a new log, but syncs the file a second time.
func (f *file) Sync(vfs.SyncFlag) error {
	if err := f.sync(); err != nil {
		return vfs.SystemError(err, sqlite3.IOERR_FSYNC)
	}
	return nil
}

// SizeHint grows the file before it is written.
func (f *file) SizeHint(size int64) error {
	before, err := f.Size()
	if err != nil || size <= before {
		return err
	}
	if err := f.grow(size); err != nil {
		return vfs.SystemError(err, sqlite3.IOERR_TRUNCATE)
	}
	if err := vfsutil.WrapSizeHint(f.File, size); err != nil {
		return err
	}
	if after, err := f.Size(); err != nil || after == before {
		return err
	}
	f.disk.record(op{kind: truncate, inode: f.inode, off: size})

	return nil
}

// DeviceCharacteristics leaves out atomic batches, which a file system may offer
// and this disk does not.
func (f *file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
}

func (f *file) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
