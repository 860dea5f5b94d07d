package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// Create creates the folder (0700) and an empty database (0600) if absent: SQLite gives the log
// and its index the mode of the database. The names are synced when it returns.
func Create(ctx context.Context, d disk.Disk, path string, o ConnOptions) error {
	hint := "check that the folder is writable, or pass another --db"
	if err := disk.MakeFolder(d, filepath.Dir(path)); disk.NoSpace(err) {
		return err
	} else if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the folder cannot be made (%s); %s", robotmem.Reason(err),
			hint)
	}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeFile(ctx, d, path, o)
	}
	if err == nil {
		err = usable(path)
	}
	if code := sqlite3.ErrorCode(0); err != nil && !disk.NoSpace(err) && !errors.As(err, &code) {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be opened for writing (%s); %s",
			robotmem.Reason(err), hint)
	}

	return err
}

// makeFile creates a database without tables under another name and then links it to
// its own. Otherwise a loss of power could leave half of its first page: the driver
// does not sync the name of the journal that undoes that.
func makeFile(ctx context.Context, d disk.Disk, path string, o ConnOptions) error {
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

	// The name is synced also if another process has created the file.
	return d.SyncFolder(filepath.Dir(path))
}

func makeEmpty(d disk.Disk, path string) error {
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

// refuseEmptied fails for a file that has lost its bytes, or its name: its log, which
// SQLite would delete or apply to the new file, or payloads lie beside it. It fails for
// any file of no bytes unless o.Create begins a memory in it.
func refuseEmptied(place files.Memory, o *Options) error {
	// The log and the payloads are looked for before the file, which another process may be creating.
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
		return robotmem.Errorf(robotmem.Corrupt, "db",
			"the file is %s, and yet %s beside it: another program emptied or moved it; put the file back or restore a backup; to begin with an empty memory, move the log and the payloads away",
			state, found)
	case err == nil && !o.Create:
		return robotmem.Errorf(robotmem.Corrupt, "db",
			"the file is empty (0 bytes), as no memory is; bring it back from a backup, or, if it was made empty (touch, mktemp), begin a memory in it with --create")
	}

	return nil
}

// MakePrivate gives the log and its index, which SQLite creates, mode 0600 and the
// owner of the file. File systems without modes ignore it.
func MakePrivate(path string) {
	place := files.At(path)
	for _, name := range []string{place.Log(), place.LogIndex()} {
		_ = os.Chmod(name, 0o600)
		disk.GiveToOwner(path, name)
	}
}
