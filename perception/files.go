package perception

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

var (
	// ErrMissing says that the folder does not hold the payload.
	ErrMissing = errors.New("the payload is missing")
	// ErrDamaged says that the payload's bytes are not those that were stored.
	ErrDamaged = errors.New("the payload is damaged")
)

// Files is a folder of payloads. Each lies under the hex of its SHA-256 in a
// subfolder of the first two letters, mode 0600 in 0700. Several goroutines and
// processes may use one folder: a payload never changes, and comes into sight by
// a rename, whole and on the disk.
type Files struct {
	Dir string // created when first needed
}

const (
	folderMode = 0o700
	// tempPattern never makes a payload's name, so leftovers are known.
	tempPattern = "tmp-*"
)

// Path is where the payload lies, or would lie.
func (f Files) Path(sum [32]byte) string {
	name := hex.EncodeToString(sum[:])
	return filepath.Join(f.Dir, name[:2], name)
}

// Put stores data, whose SHA-256 is sum. When it returns nil the payload is on
// the disk, name and all, and survives a loss of power. An existing file of the
// right size is kept; its content is checked by [Files.Get] alone.
func (f Files) Put(sum [32]byte, data []byte) error {
	path := f.Path(sum)
	folder := filepath.Dir(path)
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		// Whoever wrote it may have died before the name was on the disk.
		return f.settle(folder)
	}
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return fmt.Errorf("making the payload folder: %w", err)
	}
	if err := writeAside(folder, path, data); err != nil {
		return fmt.Errorf("writing a payload: %w", err)
	}
	return f.settle(folder)
}

// writeAside writes a file next to path, and lets it take the name only when it
// is whole and on the disk.
func writeAside(folder, path string, data []byte) (err error) {
	temp, err := os.CreateTemp(folder, tempPattern)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// The error that counts is the first one.
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(data); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// settle puts the names that lead to a payload on the disk: that of the file, of
// its subfolder and of the folder.
func (f Files) settle(folder string) error {
	for _, dir := range []string{folder, filepath.Clean(f.Dir), filepath.Dir(f.Dir)} {
		if err := syncFolder(dir); err != nil {
			return fmt.Errorf("syncing a payload's folder: %w", err)
		}
	}
	return nil
}

// syncFolder is nothing on Windows, which cannot sync a folder and journals its
// names itself.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Get returns the payload after checking its sum. The error is [ErrMissing] or
// [ErrDamaged], or what the disk said.
func (f Files) Get(sum [32]byte) ([]byte, error) {
	data, err := os.ReadFile(f.Path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %x", ErrMissing, sum)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a payload: %w", err)
	}
	if sha256.Sum256(data) != sum {
		return nil, fmt.Errorf("%w: %x", ErrDamaged, sum)
	}
	return data, nil
}

// Remove removes the payload for good. One that is not there is no error, so
// that an interrupted removal can be repeated.
func (f Files) Remove(sum [32]byte) error {
	path := f.Path(sum)
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("removing a payload: %w", err)
	}
	return nil
}

// List returns the sums of all payloads in ascending order, and in stray what
// else lies in the folder, as slash-separated paths below it: leftovers of a
// crash, and files that a Put is writing at this moment. Contents are not read.
// A folder that does not exist is empty.
func (f Files) List() (sums [][32]byte, stray []string, err error) {
	folders, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("listing the payloads: %w", err)
	}
	for _, folder := range folders {
		if !folder.IsDir() || len(folder.Name()) != 2 {
			stray = append(stray, folder.Name())
			continue
		}
		entries, err := os.ReadDir(filepath.Join(f.Dir, folder.Name()))
		if err != nil {
			return nil, nil, fmt.Errorf("listing the payloads: %w", err)
		}
		for _, entry := range entries {
			sum, ok := payloadSum(folder.Name(), entry)
			if !ok {
				stray = append(stray, folder.Name()+"/"+entry.Name())
				continue
			}
			sums = append(sums, sum)
		}
	}
	return sums, stray, nil
}

// payloadSum reads a name as Put writes it; upper case is another file.
func payloadSum(folder string, entry fs.DirEntry) (sum [32]byte, ok bool) {
	name := entry.Name()
	n, err := hex.Decode(sum[:], []byte(name)[:min(len(name), 2*len(sum))])
	ok = err == nil && n == len(sum) && hex.EncodeToString(sum[:]) == name &&
		name[:2] == folder && entry.Type().IsRegular()
	return sum, ok
}
