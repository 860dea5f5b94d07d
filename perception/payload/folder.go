package payload

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Folder is a folder of payloads. Each lies under the hex of its SHA-256 in a
// subfolder of the first two letters, mode 0600 in 0700: byte for byte as it
// came, or with the ending .z as a file of blocks. Several goroutines and
// processes may use one folder.
type Folder struct {
	Dir  string // created when first needed
	Disk Disk   // what it is changed through; OS if nil
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
	// tempPrefix never begins a payload's name, so leftovers are known.
	tempPrefix  = "tmp-"
	codedSuffix = ".z"
)

func (f Folder) paths(sum [32]byte) (plain, coded string) {
	name := hex.EncodeToString(sum[:])
	plain = filepath.Join(f.Dir, name[:2], name)
	return plain, plain + codedSuffix
}

func (f Folder) path(sum [32]byte, c Codec) string {
	plain, coded := f.paths(sum)
	if c == Raw {
		return plain
	}
	return coded
}

// find looks for a whole payload under either name; nil when there is none.
func (f Folder) find(ctx context.Context, sum [32]byte, size int64) (*Written, error) {
	plain, coded := f.paths(sum)
	for _, path := range []string{plain, coded} {
		r, err := openFile(path, sum, size, path == coded)
		if err == nil {
			err = r.verify(ctx, nil)
			_ = r.Close()
		}
		if errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return r.stored(path)
	}
	return nil, nil
}

func (r *Reader) stored(path string) (*Written, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	w := &Written{Codec: Raw, Stored: info.Size()}
	if r.coded != nil {
		w.Codec = r.coded.layout.codec()
	}
	return w, nil
}

// place gives a finished file its name. Nothing whole lies under either of the
// payload's names, so one of the other codec is damaged and goes.
func (f Folder) place(temp string, sum [32]byte, c Codec) error {
	path := f.path(sum, c)
	if err := f.disk().MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	if err := f.disk().Rename(temp, path); err != nil {
		return err
	}
	plain, coded := f.paths(sum)
	for _, other := range []string{plain, coded} {
		if other != path {
			_ = f.disk().Remove(other) // as a rule it is not there
		}
	}
	return nil
}

// settle puts the names that lead to a payload on the disk: that of the file, of
// its subfolder and of the folder.
func (f Folder) settle(folder string) error {
	for _, dir := range []string{folder, filepath.Clean(f.Dir), filepath.Dir(filepath.Clean(f.Dir))} {
		if err := f.disk().SyncFolder(dir); err != nil {
			return fmt.Errorf("%w: %w", ErrDisk, err)
		}
	}
	return nil
}

// Remove removes the payload for good. One that is not there is no error, so
// that an interrupted removal can be repeated.
func (f Folder) Remove(sum [32]byte) error {
	plain, coded := f.paths(sum)
	removed := false
	for _, path := range []string{plain, coded} {
		err := f.disk().Remove(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrDisk, err)
		}
		removed = removed || err == nil
	}
	if !removed {
		return nil
	}
	if err := f.disk().SyncFolder(filepath.Dir(plain)); err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return nil
}

// List returns the sums of all payloads in ascending order, and in stray what
// else lies in the folder, as slash-separated paths below it: leftovers of a
// crash, and files that a Write is writing at this moment. Contents are not read.
// A folder that does not exist is empty.
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
			} else if len(sums) == 0 || sums[len(sums)-1] != sum { // both names lie side by side
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
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return entries, nil
}

// payloadSum reads a name as Write gives it; upper case is another file.
func payloadSum(folder string, entry fs.DirEntry) (sum [32]byte, ok bool) {
	name := strings.TrimSuffix(entry.Name(), codedSuffix)
	n, err := hex.Decode(sum[:], []byte(name)[:min(len(name), 2*len(sum))])
	ok = err == nil && n == len(sum) && hex.EncodeToString(sum[:]) == name &&
		name[:2] == folder && entry.Type().IsRegular()
	return sum, ok
}

// SweepStrays removes the tmp-* files that nobody has written to since before,
// and returns their names as List gives them. Other strays are not ours to
// remove. A moment before the start of the oldest upload that may still be going
// on, such as an hour ago, is safe.
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
		if err == nil && (!info.Mode().IsRegular() || !info.ModTime().Before(before)) {
			continue
		}
		if err == nil {
			err = f.disk().Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // whoever wrote it has just finished
		}
		if err != nil {
			return removed, fmt.Errorf("%w: %w", ErrDisk, err)
		}
		removed = append(removed, name)
	}
	slices.SortFunc(removed, cmp.Compare)
	return removed, nil
}
