package local

import (
	"errors"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// lockBackups makes the caller the only one who changes a folder of backups.
func lockBackups(dir string) (unlock func(), err error) {
	unlock, err = sqlite.LockFile(filepath.Join(dir, backupLock))
	switch {
	case err == nil:
		return unlock, nil
	case errors.Is(err, sqlite.ErrLocked):
		return nil, robotmem.Errorf(robotmem.Unavailable, "dir", "another backup into this folder is being made; try again when it has ended")
	}
	return nil, backupDisk(err)
}
