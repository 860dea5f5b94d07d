// Package disk changes files: the database, its log and payloads all go through a [Disk], so that a test can
// simulate a power failure or a full disk. What it makes is synced before it counts as made.
package disk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// Disk makes all changes of files: the database, its log, and payloads. Test programs
// simulate power failures and full disks with others than [System].
type Disk interface {
	payload.Disk
	// Link gives a file a second name, as os.Link does. The error wraps
	// fs.ErrExist when that is taken.
	Link(from, to string) error
	// VFS is the name under which SQLite's driver knows the disk; "" for the driver's own.
	VFS() string
	// FreeBytes is the free space on the disk of a file that exists.
	FreeBytes(path string) (int64, error)
}

// System is the computer's own disk.
type System struct{ payload.OS }

var _ Disk = System{}

func (System) Link(from, to string) error { return os.Link(from, to) }

func (System) VFS() string { return "" }

// FreeBytes implements [Disk]: the space that is free for a program without privileges.
func (System) FreeBytes(path string) (int64, error) { return freeBytes(path) }

// Choice is embedded, under a name that is not exported, in the options of a node: the disk that a test
// program chose with [Choose].
type Choice struct{ disk Disk }

// Chooser is a pointer to options with a [Choice].
type Chooser interface{ choice() *Choice }

func (c *Choice) choice() *Choice { return c }

// Choose sets the disk in the options of a node.
func Choose(o Chooser, d Disk) { o.choice().disk = d }

// Chosen returns the disk in the options of a node, nil if it is the computer's.
func Chosen(o Chooser) Disk { return o.choice().disk }

// MakeFolder creates a folder and its parents, and syncs the names of the new ones.
func MakeFolder(d Disk, path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	above := filepath.Dir(path)
	if above != path {
		if err := MakeFolder(d, above); err != nil {
			return err
		}
	}
	if err := d.MkdirAll(path, 0o700); err != nil {
		return err
	}

	return d.SyncFolder(above)
}

// SyncPath syncs a file or a folder. Windows cannot sync folders and journals names itself.
func SyncPath(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() && runtime.GOOS == "windows" {
		return err
	}
	mode := os.O_RDONLY
	if !info.IsDir() {
		mode = os.O_RDWR // Windows requires it
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return err
	}

	return errors.Join(f.Sync(), f.Close())
}

// SumFile returns the length and the SHA-256 of a file.
func SumFile(ctx context.Context, path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, payload.ReaderWith(ctx, f))

	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// LinkOrCopy makes a hard link to a file, or a copy where the disk has no links.
func LinkOrCopy(ctx context.Context, path, to string) error {
	err := os.Link(path, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	return CopyWhole(ctx, path, to)
}

// CopyWhole makes a copy that gets its name once it is complete and synced.
func CopyWhole(ctx context.Context, path, to string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}

	defer in.Close()
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "copy", Path: to, Err: fs.ErrExist}
	}

	part := files.Part(to)
	out, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}

	_, err = out.ReadFrom(payload.ReaderWith(ctx, in))
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}

	return nil
}
