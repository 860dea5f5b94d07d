package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/robotmem/robotmem-go/perception/payload"
)

// SumFile returns the length and the SHA-256 of a file.
func SumFile(ctx context.Context, path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, payload.ReaderWith(ctx, f))
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// LinkOrCopy gives a file a second name, or a copy where the disk has no links.
func LinkOrCopy(ctx context.Context, path, to string) error {
	err := os.Link(path, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	return CopyWhole(ctx, path, to)
}

// CopyWhole makes a copy that has its name when it is whole and synced, so that
// after a crash the name alone tells.
func CopyWhole(ctx context.Context, path, to string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "copy", Path: to, Err: fs.ErrExist}
	}
	part := to + ".part"
	out, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(payload.ReaderWith(ctx, in))
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// SameBytes reports whether two names are of one file, or of a file and its copy.
func SameBytes(ctx context.Context, a, b string) (bool, error) {
	first, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	second, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	if os.SameFile(first, second) {
		return true, nil
	}
	if first.Size() != second.Size() {
		return false, nil
	}
	_, sumA, errA := SumFile(ctx, a)
	_, sumB, errB := SumFile(ctx, b)
	return sumA == sumB, errors.Join(errA, errB)
}
