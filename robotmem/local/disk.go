package local

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Disk is what an Engine changes files through, its database's and those of
// payloads. A memory belongs on a [SystemDisk]; another one shows what becomes of
// it when the power fails or the disk is full.
type Disk interface {
	payload.Disk
	// Link gives a file a second name, as os.Link does. The error wraps
	// fs.ErrExist when that is taken.
	Link(from, to string) error
	// VFS is the name under which SQLite's driver knows the disk; "" is the
	// driver's own.
	VFS() string
	// FreeBytes is what is free on the disk of a file that exists.
	FreeBytes(path string) (int64, error)
}

// SystemDisk is the computer's own disk.
type SystemDisk struct{ payload.OS }

var _ Disk = SystemDisk{}

// Link implements [Disk].
func (SystemDisk) Link(from, to string) error { return os.Link(from, to) }

// VFS implements [Disk].
func (SystemDisk) VFS() string { return "" }

// FreeBytes implements [Disk]: what is free for a program without privileges.
func (SystemDisk) FreeBytes(path string) (int64, error) { return freeBytes(path) }

// createFile makes the folder (0700) and an empty memory (0600) where there is
// none: SQLite gives a new file, its log and its index the mode of the first.
// The names are on the disk when it returns.
func createFile(ctx context.Context, d Disk, path string, o connOptions) error {
	hint := "check that the folder is writable, or pass another --db"
	if err := makeFolder(d, filepath.Dir(path)); noSpace(err) {
		return err
	} else if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the folder cannot be made (%s); %s", reason(err), hint)
	}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeFile(ctx, d, path, o)
	}
	if err == nil {
		err = usable(path)
	}
	if code := sqlite3.ErrorCode(0); err != nil && !noSpace(err) && !errors.As(err, &code) {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be opened for writing (%s); %s", reason(err), hint)
	}
	return err
}

// makeFile makes a database without tables aside and then gives it its name. In
// its place a loss of power could leave half of its first page: what undoes that
// is a journal, whose name the driver does not sync.
func makeFile(ctx context.Context, d Disk, path string, o connOptions) error {
	aside := path + ".new-" + rand.Text()
	if err := makeEmpty(d, aside); err != nil {
		return err
	}
	c, err := openConn(ctx, aside, o)
	if err == nil {
		err = c.close()
	}
	if err == nil {
		err = d.Link(aside, path)
	}
	if err := errors.Join(err, d.Remove(aside)); err != nil && !errors.Is(err, fs.ErrExist) {
		if code := sqlite3.ErrorCode(0); errors.As(err, &code) {
			return err
		}
		// A file system without second names.
		if err := makeEmpty(d, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return d.SyncFolder(filepath.Dir(path)) // or that of the process that was first
}

func makeEmpty(d Disk, path string) error {
	f, err := d.Create(path, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// usable fails unless a file can be written to.
func usable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	return errors.Join(err, f.Close())
}

// makeFolder makes a folder and those above it, and puts the names of the new
// ones on the disk.
func makeFolder(d Disk, path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	above := filepath.Dir(path)
	if above != path {
		if err := makeFolder(d, above); err != nil {
			return err
		}
	}
	if err := d.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return d.SyncFolder(above)
}
