package imports

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// folder holds what a process has received. Its name is the id of the memory's file and a random text, and its
// process holds the lock beside it.
type folder struct {
	path   string
	unlock func()
}

// openFolder makes a folder of this process.
func openFolder(base, fileID string) (*folder, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}

	for range 10 {
		path := filepath.Join(base, fileID+"-"+rand.Text())
		lock := files.ImportsLock(path)
		unlock, err := sqlite.LockFile(lock)
		if errors.Is(err, errors.ErrUnsupported) {
			// Nobody can take the lock then, so that what is left stays until a person removes it.
			unlock, err = func() {}, nil
		}
		if errors.Is(err, sqlite.ErrLocked) {
			continue // a process that starts looks whether the lock is free
		}
		if err != nil {
			return nil, err
		}

		// Such a process may have removed the file between its making and its locking.
		if _, err := os.Lstat(lock); err != nil {
			unlock()
			continue
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			unlock()
			return nil, errors.Join(err, os.Remove(lock))
		}

		return &folder{path, unlock}, nil
	}

	return nil, fmt.Errorf("no folder in %s could be locked", base)
}

func (f *folder) close() error {
	err := os.RemoveAll(f.path)
	if err == nil {
		err = os.Remove(files.ImportsLock(f.path))
	}
	f.unlock()
	// Other processes may have folders there.
	_ = os.Remove(filepath.Dir(f.path))

	return err
}

// removeLeftovers removes the folders of processes that are gone, and returns their number. A folder is ours if its
// name has the id of the file and there is a lock beside it that this process gets: another memory, another
// process, or a person's files have not both.
func removeLeftovers(base, fileID string) (removed int, err error) {
	entries, err := os.ReadDir(base)
	if err != nil || fileID == "" {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return 0, err
	}

	for _, e := range entries {
		lock := filepath.Join(base, e.Name())
		name, ok := strings.CutPrefix(e.Name(), fileID+"-")
		name, isLock := strings.CutSuffix(name, files.ImportsLock(""))
		if !ok || !isLock || len(name) != len(rand.Text()) || !e.Type().IsRegular() {
			continue
		}

		unlock, err := sqlite.LockFile(lock)
		if err != nil {
			continue // its process lives
		}

		path := strings.TrimSuffix(lock, files.ImportsLock(""))
		info, statErr := os.Lstat(path)
		if statErr == nil && info.IsDir() {
			if err := os.RemoveAll(path); err != nil {
				unlock()
				return removed, err
			}
			removed++
		}
		// The lock goes last, so that an interrupted removal is continued.
		err = os.Remove(lock)
		unlock()
		if err != nil {
			return removed, err
		}
	}

	_ = os.Remove(base) // if nothing is left in it

	return removed, nil
}
