package payload

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Share gives another folder the payload too: as a hard link where both lie on
// one file system that has them, else as a copy, which is synced. It reports
// whether it was a link. What lies in the other folder under that name already
// stays. Bytes are not compared: Verify does so; names are on the disk after
// [Folder.Settle]. The error wraps [ErrMissing] or [ErrDisk], or is the
// context's.
func (f Folder) Share(ctx context.Context, sum [32]byte, c Codec, to Folder) (linked bool, err error) {
	plain, coded := f.paths(sum)
	from := []string{plain, coded}
	if c != Raw {
		from = []string{coded, plain}
	}
	for _, path := range from {
		target := filepath.Join(to.Dir, filepath.Base(filepath.Dir(path)), filepath.Base(path))
		linked, err = to.share(ctx, path, target)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	switch {
	case err == nil:
		return linked, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("%w: %x", ErrMissing, sum)
	}
	return false, fmt.Errorf("%w: %w", ErrDisk, err)
}

// share fails with fs.ErrNotExist when there is no file to share.
func (f Folder) share(ctx context.Context, path, target string) (linked bool, err error) {
	if _, err := os.Lstat(path); err != nil {
		return false, err
	}
	if err := f.disk().MkdirAll(filepath.Dir(target), folderMode); err != nil {
		return false, err
	}
	err = os.Link(path, target)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	// Another file system, one without links, or too many of them.
	return false, f.copyFile(ctx, path, target)
}

// copyFile writes the copy aside and lets it take its name when it is on the
// disk.
func (f Folder) copyFile(ctx context.Context, path, target string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	temp := filepath.Join(f.Dir, tempPrefix+rand.Text())
	out, err := f.disk().Create(temp, fileMode)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, ReaderWith(ctx, in), make([]byte, sampleSize))
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = f.disk().Rename(temp, target)
	}
	if err != nil {
		_ = f.disk().Remove(temp) // the error that counts came first
	}
	return err
}

// ReaderWith reads from r until ctx ends: then with the context's error, between
// two reads.
func ReaderWith(ctx context.Context, r io.Reader) io.Reader { return cancellable{ctx, r} }

type cancellable struct {
	ctx context.Context // of one reading
	r   io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Settle puts the names of all payloads on the disk, those of the subfolders and
// that of the folder. A folder that does not exist has none.
func (f Folder) Settle() error {
	folders, err := readDir(f.Dir)
	if err != nil || folders == nil {
		return err
	}
	for _, folder := range folders {
		if folder.IsDir() {
			if err := f.disk().SyncFolder(filepath.Join(f.Dir, folder.Name())); err != nil {
				return fmt.Errorf("%w: %w", ErrDisk, err)
			}
		}
	}
	return f.settle(filepath.Clean(f.Dir))
}
