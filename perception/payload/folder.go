package payload

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Folder is a folder of payloads. The file of a payload is named by the hexadecimal SHA-256, in a
// subfolder of the first two digits, with mode 0600 in 0700. It holds the bytes unchanged or, with
// the suffix .z, in compressed blocks. Several goroutines and processes may use one folder.
type Folder struct {
	Dir  string // created when first needed
	Disk Disk   // makes all changes; OS if nil
}

func (f Folder) disk() Disk {
	if f.Disk == nil {
		return OS{}
	}
	return f.Disk
}

const (
	folderMode = 0o700
	fileMode   = 0o600
	// tempPrefix never begins the name of a payload.
	tempPrefix = "tmp-"
	suffix     = ".z"
)

// locations returns both paths of a payload, first that of the codec.
func (f Folder) locations(sum [32]byte, c Codec) [2]string {
	name := hex.EncodeToString(sum[:])
	plain := filepath.Join(f.Dir, name[:2], name)
	if c == Raw {
		return [2]string{plain, plain + suffix}
	}
	return [2]string{plain + suffix, plain}
}

// onDisk marks an error of the file system.
func onDisk(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrDisk, err)
}

func missing(sum [32]byte) error { return fmt.Errorf("%w: %x", ErrMissing, sum) }

// Describe returns the size and the codec of a payload of which only the sum is known, after
// reading and comparing all of it. The error wraps [ErrMissing], [ErrDamaged] or [ErrDisk],
// or is the context's.
func (f Folder) Describe(ctx context.Context, sum [32]byte) (*Written, error) {
	none := missing(sum)
	for _, path := range f.locations(sum, Raw) {
		r, err := openFile(path, sum, nil)
		if err == nil {
			err = r.verify(ctx, nil)
			_ = r.Close()
		}

		switch {
		case err == nil:
			w := &Written{Sum: sum, Size: r.size, Stored: r.length, Codec: Raw}
			if r.coded != nil {
				w.Codec = r.coded.layout.codec
			}
			return w, nil
		// The file of the other name may be whole.
		case errors.Is(err, ErrDamaged):
			none = err
		case !errors.Is(err, ErrMissing):
			return nil, err
		}
	}

	return nil, none
}

// place renames a finished file. There is no undamaged file of the payload, so that a file
// of the other codec is damaged and removed.
func (f Folder) place(temp string, sum [32]byte, c Codec) error {
	both := f.locations(sum, c)
	err := f.disk().MkdirAll(filepath.Dir(both[0]), folderMode)
	if err == nil {
		// Before the other file is removed: after a crash between the two there is always a file.
		err = f.disk().Rename(temp, both[0])
	}
	if err == nil {
		// Usually it does not exist.
		_ = f.disk().Remove(both[1])
	}

	return onDisk(err)
}

// syncNames syncs the names of the files in a subfolder, of the subfolder and of the folder.
func (f Folder) syncNames(folder string) error {
	for _, dir := range []string{folder, filepath.Clean(f.Dir), filepath.Dir(filepath.Clean(f.Dir))} {
		if err := f.disk().SyncFolder(dir); err != nil {
			return onDisk(err)
		}
	}
	return nil
}

// Remove removes a payload. A missing payload is not an error, so that an interrupted removal
// can be repeated.
func (f Folder) Remove(sum [32]byte) error {
	removed := ""

	for _, path := range f.locations(sum, Raw) {
		err := f.disk().Remove(path)
		if err == nil {
			removed = path
		} else if !errors.Is(err, fs.ErrNotExist) {
			return onDisk(err)
		}
	}
	if removed == "" {
		return nil
	}

	return onDisk(f.disk().SyncFolder(filepath.Dir(removed)))
}

// List returns the sums of all payloads in ascending order. In stray it returns everything else in
// the folder, as slash-separated paths below it: files that a crash or a running [Folder.Write]
// left unfinished, and foreign files. It reads no contents. A folder that does not exist is empty.
func (f Folder) List() (sums [][32]byte, stray []string, err error) {
	folders, err := readDir(f.Dir)
	if err != nil {
		return nil, nil, err
	}

	for _, folder := range folders {
		if !folder.IsDir() || len(folder.Name()) != 2 {
			stray = append(stray, folder.Name())
			continue
		}
		entries, err := readDir(filepath.Join(f.Dir, folder.Name()))
		if err != nil {
			return nil, nil, err
		}

		for _, entry := range entries {
			sum, ok := payloadSum(folder.Name(), entry)
			if !ok {
				stray = append(stray, folder.Name()+"/"+entry.Name())
			} else if len(sums) == 0 || sums[len(sums)-1] != sum { // it may be there under both names
				sums = append(sums, sum)
			}
		}
	}

	return sums, stray, nil
}

func readDir(path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, onDisk(err)
}

// payloadSum parses a file name. A name in upper case is a foreign file.
func payloadSum(folder string, entry fs.DirEntry) (sum [32]byte, ok bool) {
	name := strings.TrimSuffix(entry.Name(), suffix)
	n, err := hex.Decode(sum[:], []byte(name)[:min(len(name), 2*len(sum))])
	ok = err == nil && n == len(sum) && hex.EncodeToString(sum[:]) == name &&
		name[:2] == folder && entry.Type().IsRegular()
	return sum, ok
}

// SweepStrays removes the tmp-* files that were not written to since before, and returns
// their names as List gives them. It leaves foreign files alone. A time before the start of
// the oldest upload that may be running, such as an hour ago, is safe.
func (f Folder) SweepStrays(before time.Time) (removed []string, err error) {
	_, stray, err := f.List()
	if err != nil {
		return nil, err
	}

	for _, name := range stray {
		if !strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], tempPrefix) {
			continue
		}
		path := filepath.Join(f.Dir, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		// A file that was written to lately may belong to a running upload of another process.
		if err == nil && (!info.Mode().IsRegular() || !info.ModTime().Before(before)) {
			continue
		}
		if err == nil {
			err = f.disk().Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			// Its writer has just finished.
			continue
		}
		if err != nil {
			return removed, onDisk(err)
		}
		removed = append(removed, name)
	}

	slices.Sort(removed)

	return removed, nil
}

// Modified returns the time when the payload was written, or an [ErrMissing] or [ErrDisk].
func (f Folder) Modified(sum [32]byte) (time.Time, error) {
	for _, path := range f.locations(sum, Raw) {
		info, err := os.Lstat(path)
		if err == nil {
			return info.ModTime(), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return time.Time{}, onDisk(err)
		}
	}

	return time.Time{}, missing(sum)
}

// Share adds the payload to another folder: as a hard link, or as a synced copy if the file system
// has no such links or is another one. It reports whether it made a link. A file of the same name
// stays. Share does not compare bytes, which [Folder.Verify] does. The name survives a loss of
// power only after [Folder.Settle]. The error wraps [ErrMissing] or [ErrDisk], or is the context's.
func (f Folder) Share(ctx context.Context, sum [32]byte, c Codec, to Folder) (linked bool, err error) {
	for _, path := range f.locations(sum, c) {
		target := filepath.Join(to.Dir, filepath.Base(filepath.Dir(path)), filepath.Base(path))
		linked, err = to.share(ctx, path, target)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}

	switch {
	case ctx.Err() != nil && err != nil:
		return false, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return false, missing(sum)
	}

	return linked, onDisk(err)
}

// share fails with fs.ErrNotExist if the file does not exist.
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
	// It is another file system, has no links, or has too many of them.
	return false, f.copyFile(ctx, path, target)
}

// copyFile writes the copy under a temporary name, syncs it and renames it.
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

	// The plain writer hides ReadFrom of os.File, with which CopyBuffer would not use the larger buffer.
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, ReaderWith(ctx, in), make([]byte, sampleSize))
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = f.disk().Rename(temp, target)
	}

	if err != nil {
		// Err is the first error.
		_ = f.disk().Remove(temp)
	}

	return err
}

// ReaderWith returns a reader that fails with the context's error when ctx has ended.
func ReaderWith(ctx context.Context, r io.Reader) io.Reader { return cancellable{ctx, r} }

type cancellable struct {
	ctx context.Context // of one copy
	r   io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Settle syncs the names of all payloads, of their subfolders and of the folder. A folder
// that does not exist is not an error.
func (f Folder) Settle() error {
	folders, err := readDir(f.Dir)
	if err != nil || folders == nil {
		return err
	}

	for _, folder := range folders {
		if folder.IsDir() {
			if err := f.disk().SyncFolder(filepath.Join(f.Dir, folder.Name())); err != nil {
				return onDisk(err)
			}
		}
	}

	return f.syncNames(filepath.Clean(f.Dir))
}

// Disk makes the changes of a [Folder]; it does not read. Tests use others than [OS] to
// observe changes or to let them fail.
type Disk interface {
	// MkdirAll, Rename and Remove are those of package os.
	MkdirAll(path string, mode fs.FileMode) error
	Rename(from, to string) error
	Remove(path string) error
	// Create creates a file for writing. The error wraps fs.ErrExist if it exists.
	Create(path string, mode fs.FileMode) (File, error)
	// SyncFolder makes the names in a folder survive a loss of power: those of
	// created, renamed and removed files.
	SyncFolder(path string) error
}

// File is a file that is being written. Sync makes its bytes survive a loss of power, but
// not its name.
type File interface {
	io.WriteCloser
	Sync() error
}

// OS is the file system of the operating system.
type OS struct{}

var _ Disk = OS{}

func (OS) MkdirAll(path string, mode fs.FileMode) error { return os.MkdirAll(path, mode) }

func (OS) Rename(from, to string) error { return os.Rename(from, to) }

func (OS) Remove(path string) error { return os.Remove(path) }

func (OS) Create(path string, mode fs.FileMode) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		// A nil *os.File is not a nil File.
		return nil, err
	}
	return f, nil
}

// SyncFolder implements [Disk]. It does nothing on Windows, which cannot sync a folder and
// journals names itself.
func (OS) SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}

	return errors.Join(dir.Sync(), dir.Close())
}
