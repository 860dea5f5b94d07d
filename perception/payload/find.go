package payload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Describe returns what is known of a payload whose sum alone is known, after it
// has read and compared all of it. The error wraps [ErrMissing], [ErrDamaged] or
// [ErrDisk], or is the context's.
func (f Folder) Describe(ctx context.Context, sum [32]byte) (*Written, error) {
	plain, coded := f.paths(sum)
	err := fmt.Errorf("%w: %x", ErrMissing, sum)
	for _, path := range []string{plain, coded} {
		size, serr := claimedSize(path, path == coded)
		if errors.Is(serr, fs.ErrNotExist) {
			continue
		}
		if serr != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, serr)
			continue
		}
		var w *Written
		if w, err = f.find(ctx, sum, size); err != nil {
			return nil, err
		}
		if w != nil {
			w.Sum, w.Size = sum, size
			return w, nil
		}
		err = fmt.Errorf("%w: %x", ErrDamaged, sum)
	}
	return nil, err
}

// claimedSize is how long a file says that its payload is.
func claimedSize(path string, coded bool) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !coded {
		return sizeOf(info), err
	}
	size := make([]byte, 8)
	if _, err := file.ReadAt(size, max(0, info.Size()-trailerSize+32)); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(size)), nil
}

func sizeOf(info fs.FileInfo) int64 {
	if info == nil {
		return 0
	}
	return info.Size()
}
