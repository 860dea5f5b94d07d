package amounts

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/backup"
)

// Schedule reads when backups are made, where, and how many are kept; nil if all are empty.
func Schedule(to, every, keep string) (*backup.Schedule, error) {
	if to == "" && every == "" && keep == "" {
		return nil, nil
	}

	s := &backup.Schedule{}
	// A missing folder is no error here: its disk may be mounted later.
	info, err := os.Stat(to)
	if to == "" || err == nil && !info.IsDir() {
		return nil, robotmem.Errorf(robotmem.Invalid, "backup.to", "must be the folder of the backups, such as one on another disk, not %q", to)
	}
	if s.Dir, err = filepath.Abs(to); err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "backup.to", "%v", err)
	}
	if s.Every, err = time.ParseDuration(every); err != nil || s.Every < backup.MinEvery || s.Every > backup.MaxEvery {
		return nil, robotmem.Errorf(robotmem.Invalid, "backup.every", "must be a time of 1m to 8784h such as 6h, not %q", every)
	}
	if keep == "" {
		return s, nil
	}
	if s.Keep, err = strconv.Atoi(keep); err != nil || s.Keep < 1 || s.Keep > backup.MaxKeep {
		return nil, robotmem.Errorf(robotmem.Invalid, "backup.keep", "must be 1 to %d backups, not %q", backup.MaxKeep, keep)
	}

	return s, nil
}
