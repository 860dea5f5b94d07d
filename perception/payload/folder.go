package payload

import (
	"bytes"
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
// the suffix .z, in compressed blocks. With a cipher the name and the bytes are encrypted, and the file
// has the further suffix .age. Several goroutines and processes may use one folder.
type Folder struct {
	Dir  string // created when first needed
	Disk Disk   // makes all changes; OS if nil
	// Cipher encrypts what is written; nil for none. Files that are not encrypted are still read.
	Cipher Cipher
}

// Cipher encrypts the names and the bytes of the files in a [Folder].
type Cipher interface {
	// Name encrypts a sum; equal sums get equal names. Sum is its inverse.
	Name(sum [32]byte) [32]byte
	Sum(name [32]byte) [32]byte
	// Seal encrypts what is written, and is complete after Close, which leaves w open.
	Seal(w io.Writer) (io.WriteCloser, error)
	// Open decrypts a file of this length and returns the length of what was written. Its ReadAt may be called
	// by several goroutines, and fails for bytes that were changed.
	Open(r io.ReaderAt, length int64) (io.ReaderAt, int64, error)
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
	sealed     = ".age" // after suffix
)

// locations returns all paths that a payload may have, first the one under which it would be written.
func (f Folder) locations(sum [32]byte, c Codec) []string {
	plain := f.named(sum, c, "")
	if f.Cipher == nil {
		return plain
	}
	return append(f.named(f.Cipher.Name(sum), c, sealed), plain...)
}

// named returns both paths of a file name, first that of the codec.
func (f Folder) named(name [32]byte, c Codec, end string) []string {
	text := hex.EncodeToString(name[:])
	path := filepath.Join(f.Dir, text[:2], text)
	if c == Raw {
		return []string{path + end, path + suffix + end}
	}
	return []string{path + suffix + end, path + end}
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
		r, err := f.openFile(path, sum, nil)
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

// place renames a finished file. The payload has no other file, or one that is to be replaced.
func (f Folder) place(temp string, sum [32]byte, c Codec) error {
	all := f.locations(sum, c)
	err := f.disk().MkdirAll(filepath.Dir(all[0]), folderMode)
	if err == nil {
		// Before the other files are removed: after a crash between the two there is always a file.
		err = f.disk().Rename(temp, all[0])
	}
	if err == nil {
		for _, other := range all[1:] {
			// Usually it does not exist.
			_ = f.disk().Remove(other)
		}
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
	var changed []string // folders

	for _, path := range f.locations(sum, Raw) {
		err := f.disk().Remove(path)
		if err == nil {
			changed = append(changed, filepath.Dir(path))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return onDisk(err)
		}
	}

	for _, folder := range slices.Compact(changed) {
		if err := f.disk().SyncFolder(folder); err != nil {
			return onDisk(err)
		}
	}

	return nil
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
			sum, ok := f.sumOf(folder.Name(), entry)
			if !ok {
				stray = append(stray, folder.Name()+"/"+entry.Name())
			} else {
				sums = append(sums, sum)
			}
		}
	}

	slices.SortFunc(sums, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })

	// A payload may be there under several names.
	return slices.Compact(sums), stray, nil
}

func readDir(path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, onDisk(err)
}

// sumOf parses a file name. A name in upper case is a foreign file, and so is an encrypted one without the cipher.
func (f Folder) sumOf(folder string, entry fs.DirEntry) (sum [32]byte, ok bool) {
	name, encrypted := strings.CutSuffix(entry.Name(), sealed)
	if encrypted && f.Cipher == nil {
		return sum, false
	}

	name = strings.TrimSuffix(name, suffix)
	n, err := hex.Decode(sum[:], []byte(name)[:min(len(name), 2*len(sum))])
	ok = err == nil && n == len(sum) && hex.EncodeToString(sum[:]) == name &&
		name[:2] == folder && entry.Type().IsRegular()
	if ok && encrypted {
		sum = f.Cipher.Sum(sum)
	}

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
// has no such links or is another one. A file in clear is encrypted for a folder with a cipher. It reports whether it
// made a link. A file of the same name
// stays. Share does not compare bytes, which [Folder.Verify] does. The name survives a loss of
// power only after [Folder.Settle]. The error wraps [ErrMissing] or [ErrDisk], or is the context's.
func (f Folder) Share(ctx context.Context, sum [32]byte, c Codec, to Folder) (linked bool, err error) {
	for _, path := range f.locations(sum, c) {
		target := filepath.Join(to.Dir, filepath.Base(filepath.Dir(path)), filepath.Base(path))
		if to.Cipher != nil && !strings.HasSuffix(path, sealed) {
			_, err = f.convertFile(ctx, path, sum, to)
		} else {
			linked, err = to.share(ctx, path, target)
		}
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

// Convert encrypts all payloads in the folder with the cipher of to, or decrypts them if that has none. to is the same
// folder. It calls count after each file, and continues what was interrupted. The error wraps [ErrDamaged] or [ErrDisk], or
// is the context's. A damaged payload stays as it is.
func (f Folder) Convert(ctx context.Context, to Folder, count func()) error {
	sums, _, err := f.List()
	if err != nil {
		return err
	}

	var damaged error

	for _, sum := range sums {
		for _, path := range f.locations(sum, Raw) {
			if strings.HasSuffix(path, sealed) == (to.Cipher != nil) {
				continue
			}
			found, err := f.convertFile(ctx, path, sum, to)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if errors.Is(err, ErrDamaged) {
				damaged = errors.Join(damaged, err)
				continue
			}
			if err == nil {
				err = onDisk(f.disk().Remove(path))
			}
			if err != nil {
				return err
			}
			if err := to.syncNames(filepath.Dir(found)); err != nil {
				return err
			}
		}
		count()
	}

	return errors.Join(damaged, f.Settle())
}

// InClear counts the files of payloads that are not encrypted.
func (f Folder) InClear() (n int, err error) {
	sums, _, err := Folder{Dir: f.Dir}.List()
	return len(sums), err
}

// convertFile writes the file of a payload into another folder, with the cipher of that, and returns its path. The payload
// is verified there. It fails with fs.ErrNotExist if there is no file.
func (f Folder) convertFile(ctx context.Context, path string, sum [32]byte, to Folder) (target string, err error) {
	r, err := f.openFile(path, sum, nil)
	if errors.Is(err, ErrMissing) {
		return "", fs.ErrNotExist
	}
	if err != nil {
		return "", err
	}

	defer r.Close()
	codec := Raw
	if r.coded != nil {
		codec = r.coded.layout.codec
	}
	target = to.locations(sum, codec)[0]

	temp := filepath.Join(to.Dir, tempPrefix+rand.Text())
	err = to.disk().MkdirAll(filepath.Dir(target), folderMode)
	if err == nil {
		err = to.writeSealed(ctx, temp, io.NewSectionReader(r.bytes, 0, r.length))
	}
	if err == nil {
		err = to.disk().Rename(temp, target)
	}
	if err != nil {
		_ = to.disk().Remove(temp) // err says more
		return "", onDisk(err)
	}

	written, err := to.openFile(target, sum, &r.size)
	if err != nil {
		return "", err
	}

	return target, errors.Join(written.verify(ctx, nil), written.Close())
}

// writeSealed writes a file with the cipher of the folder, and syncs it.
func (f Folder) writeSealed(ctx context.Context, path string, r io.Reader) error {
	out, err := f.disk().Create(path, fileMode)
	if err != nil {
		return err
	}

	whole, err := f.sealing(out)
	if err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{whole}, ReaderWith(ctx, r), make([]byte, sampleSize))
	}
	if err == nil {
		err = errors.Join(whole.Close(), out.Sync())
	}

	return errors.Join(err, out.Close())
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
