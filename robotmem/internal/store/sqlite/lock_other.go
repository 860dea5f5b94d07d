//go:build !linux && !darwin && !windows

package sqlite

import (
	"errors"
	"os"
)

// lockPart fails where SQLite locks whole files: a lock of ours would be taken for one of its own.
func lockPart(*os.File, lockRange, bool) error { return errors.ErrUnsupported }

// unlockPart has nothing to give back: lockPart locks nothing here.
func unlockPart(*os.File, lockRange) {}
