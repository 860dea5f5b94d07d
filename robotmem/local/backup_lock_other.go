//go:build !linux && !darwin && !windows

package local

import (
	"errors"
	"os"
)

// lockPart fails where SQLite locks whole files: a lock of ours would be taken
// for one of its own.
func lockPart(*os.File, lockRange, bool) error { return errors.ErrUnsupported }
