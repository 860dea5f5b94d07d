package faultdisk

import (
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// system is the operating system's VFS seen through a disk. The engine puts page
// checksums on top of what it opens, so that they are written here as any other
// bytes.
type system struct {
	vfs.VFS
	disk *Disk
}

var _ vfs.VFSFilename = (*system)(nil)

func (s *system) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return vfsutil.WrapOpen(s.VFS, name, flags) // a temporary file
}

func (s *system) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	rel, ok := s.disk.below(name.String())
	if !ok {
		return vfsutil.WrapOpenFilename(s.VFS, name, flags)
	}
	f, out, err := vfsutil.WrapOpenFilename(s.VFS, name, flags)
	if err != nil {
		return nil, out, err
	}
	return &file{File: f, node: node{s.disk, s.disk.made(rel)}}, out, nil
}

func (s *system) Delete(path string, syncDir bool) error {
	if syncDir {
		if err := s.disk.beforeSync(); err != nil {
			return sqlite3.IOERR_DIR_FSYNC
		}
	}
	if err := s.VFS.Delete(path, false); err != nil {
		return err
	}
	s.disk.removed(path)
	if syncDir {
		s.disk.folderSynced(filepath.Dir(path))
	}
	return nil
}

// file is a file of SQLite's.
type file struct {
	vfs.File
	node
}

var (
	_ vfs.FileUnwrap             = (*file)(nil)
	_ vfs.FileLockState          = (*file)(nil)
	_ vfs.FileHasMoved           = (*file)(nil)
	_ vfs.FileSizeHint           = (*file)(nil)
	_ vfs.FilePersistWAL         = (*file)(nil)
	_ vfs.FilePowersafeOverwrite = (*file)(nil)
	_ vfs.FileSharedMemory       = (*file)(nil)
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

func (f *file) Sync(vfs.SyncFlag) error {
	if err := f.disk.beforeSync(); err != nil {
		return vfs.SystemError(err, sqlite3.IOERR_FSYNC)
	}
	// Nothing but the file: the driver means to sync the folder of a new log
	// with it, and syncs the file once more.
	f.disk.record(op{kind: syncFile, inode: f.inode})
	return nil
}

// SizeHint grows the file before it is written.
func (f *file) SizeHint(size int64) error {
	before, err := f.Size()
	if err != nil {
		return err
	}
	if size <= before {
		return nil
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

// DeviceCharacteristics leaves out what a file system may promise of itself and
// this disk does not keep.
func (f *file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
}

func (f *file) Unwrap() vfs.File                { return f.File }
func (f *file) LockState() vfs.LockLevel        { return vfsutil.WrapLockState(f.File) }
func (f *file) HasMoved() (bool, error)         { return vfsutil.WrapHasMoved(f.File) }
func (f *file) PersistWAL() bool                { return vfsutil.WrapPersistWAL(f.File) }
func (f *file) SetPersistWAL(keep bool)         { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f *file) PowersafeOverwrite() bool        { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f *file) SetPowersafeOverwrite(psow bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, psow) }

func (f *file) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
