package payload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Link gives another folder the file of a payload: a second name of the same
// bytes, or a copy where the disk has no links. The error wraps [ErrMissing] or
// [ErrDisk].
func (f Folder) Link(ctx context.Context, sum [32]byte, to Folder) error {
	plain, coded := f.paths(sum)
	toPlain, toCoded := to.paths(sum)
	found := false
	for _, p := range [][2]string{{plain, toPlain}, {coded, toCoded}} {
		if _, err := os.Stat(p[0]); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := linkOrCopy(ctx, p[0], p[1]); err != nil {
			return fmt.Errorf("%w: %w", ErrDisk, err)
		}
		found = true
	}
	if !found {
		return fmt.Errorf("%w: %x", ErrMissing, sum)
	}
	return nil
}

func linkOrCopy(ctx context.Context, from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), folderMode); err != nil {
		return err
	}
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for err == nil {
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(out, in, sampleSize)
		}
	}
	if err == io.EOF {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

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
