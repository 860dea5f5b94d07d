package sqlite

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

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// Disk makes all changes of files: the database, its log, and payloads. Test programs
// simulate power failures and full disks with others than [SystemDisk].
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

// SystemDisk is the computer's own disk.
type SystemDisk struct{ payload.OS }

var _ Disk = SystemDisk{}

func (SystemDisk) Link(from, to string) error { return os.Link(from, to) }

func (SystemDisk) VFS() string { return "" }

// FreeBytes implements [Disk]: the space that is free for a program without privileges.
func (SystemDisk) FreeBytes(path string) (int64, error) { return freeBytes(path) }

// Create creates the folder (0700) and an empty database (0600) if absent: SQLite gives the log
// and its index the mode of the database. The names are synced when it returns.
func Create(ctx context.Context, d Disk, path string, o ConnOptions) error {
	hint := "check that the folder is writable, or pass another --db"
	if err := makeFolder(d, filepath.Dir(path)); NoSpace(err) {
		return err
	} else if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the folder cannot be made (%s); %s", Reason(err), hint)
	}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeFile(ctx, d, path, o)
	}
	if err == nil {
		err = usable(path)
	}
	if code := sqlite3.ErrorCode(0); err != nil && !NoSpace(err) && !errors.As(err, &code) {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be opened for writing (%s); %s", Reason(err), hint)
	}

	return err
}

// makeFile creates a database without tables under another name and then links it to
// its own. Otherwise a loss of power could leave half of its first page: the driver
// does not sync the name of the journal that undoes that.
func makeFile(ctx context.Context, d Disk, path string, o ConnOptions) error {
	aside := files.Aside(path)
	if err := makeEmpty(d, aside); err != nil {
		return err
	}

	c, err := Open(ctx, aside, o)
	if err == nil {
		err = c.Close()
	}
	if err == nil {
		err = d.Link(aside, path)
	}

	if err := errors.Join(err, d.Remove(aside)); err != nil && !errors.Is(err, fs.ErrExist) {
		if code := sqlite3.ErrorCode(0); errors.As(err, &code) {
			return err
		}
		// A file system without hard links.
		if err := makeEmpty(d, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}

	// Also if another process was faster.
	return d.SyncFolder(filepath.Dir(path))
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

// makeFolder creates a folder and its parents, and syncs the names of the new ones.
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

// refuseEmptied fails for a file that has lost its bytes, or its name: its log, which
// SQLite would delete or apply to the new file, or payloads lie beside it. It fails for
// any file of no bytes unless o.Create begins a memory in it.
func refuseEmptied(place files.Memory, o *Options) error {
	// Looked for before the file, which another process may be creating.
	found := ""
	if info, err := os.Stat(place.Log()); err == nil && info.Size() > 0 {
		found = "its log lies"
	}
	if entries, err := os.ReadDir(place.Payloads()); err == nil && len(entries) > 0 {
		found = "payloads lie"
	}

	info, err := os.Stat(place.DB())
	if err == nil && info.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	state := "empty"
	if err != nil {
		state = "missing"
	}

	switch {
	case found != "":
		return robotmem.Errorf(robotmem.Corrupt, "db", "the file is %s, and yet %s beside it: another program emptied or moved it; put the file back or restore a backup; to begin with an empty memory, move the log and the payloads away", state, found)
	case err == nil && !o.Create:
		return robotmem.Errorf(robotmem.Corrupt, "db", "the file is empty (0 bytes), as no memory is; bring it back from a backup, or, if it was made empty (touch, mktemp), begin a memory in it with --create")
	}

	return nil
}

// MakePrivate gives the log and its index, which SQLite creates, mode 0600 and the
// owner of the file. File systems without modes ignore it.
func MakePrivate(path string) {
	place := files.At(path)
	for _, name := range []string{place.Log(), place.LogIndex()} {
		_ = os.Chmod(name, 0o600)
		giveToOwner(path, name)
	}
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
