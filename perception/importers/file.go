package importers

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular means that a name stands for something that could block its reader or never end, such
// as a pipe or a device.
var ErrNotRegular = errors.New("is not a regular file")

// Open opens a file that another program wrote, for reading. It refuses what is not a regular file
// and never waits: a name may stand for a pipe by the time it is opened, so the file is opened without
// blocking and looked at afterwards. Everything that opens a foreign file uses Open or [OpenFile].
func Open(name string) (*os.File, fs.FileInfo, error) { return open(name, os.Stat, os.OpenFile) }

// OpenFile is [Open] of a file of the folder. The root refuses a link that leads out of it.
func OpenFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return open(name, root.Stat, root.OpenFile)
}

func open(
	name string, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error),
) (*os.File, fs.FileInfo, error) {
	// A device may do something when it is opened, so most of them are refused before.
	info, err := stat(name)
	if err = regular(name, info, err); err != nil {
		return nil, nil, err
	}
	f, err := openFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err = regular(f.Name(), info, err); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}

	return f, info, nil
}

// regular fails if a file could not be looked at, or is no regular one.
func regular(name string, info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return err
}

// ReadFile reads a file of the folder of at most limit bytes.
func ReadFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, _, err := OpenFile(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}

	return data, err
}

// CheckSQLite refuses a database of another program if it, or a file beside it that SQLite opens by
// its name, is not a regular file.
func CheckSQLite(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		f, _, err := Open(path + suffix)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}

	return nil
}
