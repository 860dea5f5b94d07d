package payload

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// Disk is what a [Folder] changes files through: all that it writes and names,
// nothing that it reads. Another one than [OS] may watch what is done, or let it
// fail.
type Disk interface {
	// MkdirAll, Rename and Remove are those of package os.
	MkdirAll(path string, mode fs.FileMode) error
	Rename(from, to string) error
	Remove(path string) error
	// Create makes a file for writing. The error wraps fs.ErrExist when there
	// is one.
	Create(path string, mode fs.FileMode) (File, error)
	// SyncFolder puts the names in a folder on the disk: what was made, renamed
	// and removed there.
	SyncFolder(path string) error
}

// File is a file that is being written. Sync puts its bytes on the disk, not its
// name.
type File interface {
	io.WriteCloser
	Sync() error
}

// OS is the computer's own disk.
type OS struct{}

var _ Disk = OS{}

// MkdirAll implements [Disk].
func (OS) MkdirAll(path string, mode fs.FileMode) error { return os.MkdirAll(path, mode) }

// Rename implements [Disk].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements [Disk].
func (OS) Remove(path string) error { return os.Remove(path) }

// Create implements [Disk].
func (OS) Create(path string, mode fs.FileMode) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err // not f, which is no nil File
	}
	return f, nil
}

// SyncFolder implements [Disk]. It is nothing on Windows, which cannot sync a
// folder and journals its names itself.
func (OS) SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
