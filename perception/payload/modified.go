package payload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Modified is when the payload was written. The error wraps [ErrMissing] or
// [ErrDisk].
func (f Folder) Modified(sum [32]byte) (time.Time, error) {
	plain, coded := f.paths(sum)
	for _, path := range []string{plain, coded} {
		info, err := os.Lstat(path)
		if err == nil {
			return info.ModTime(), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return time.Time{}, fmt.Errorf("%w: %w", ErrDisk, err)
		}
	}
	return time.Time{}, fmt.Errorf("%w: %x", ErrMissing, sum)
}
