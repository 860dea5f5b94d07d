package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The settings file of another program is read, edited in memory, compared, copied to a backup
// and replaced as a whole.

// maxSettings bounds what is read, in bytes.
const maxSettings = 64 << 20

// settingsFile is the settings file of a client, as it was read.
type settingsFile struct {
	path   string // as the client names it
	real   string // behind symbolic links
	data   []byte
	exists bool
	mode   fs.FileMode
}

// newFileMode keeps what may hold a token from others.
const newFileMode = 0o600

func readSettings(path string) (*settingsFile, error) {
	f := &settingsFile{path: path, real: path, mode: newFileMode}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		f.real = target
	} else if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, invalid("client", "%s is a link to a file that is not there; make the file, or remove the link", path)
	}
	info, err := os.Stat(f.real)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, f.failed("read", err)
	}
	if !info.Mode().IsRegular() {
		return nil, invalid("client", "%s is not a file", path)
	}
	if info.Size() > maxSettings {
		return nil, invalid("client", "%s has %d bytes; settings have at most %d", path, info.Size(), maxSettings)
	}
	f.exists, f.mode = true, info.Mode().Perm()
	if f.data, err = os.ReadFile(f.real); err != nil {
		return nil, f.failed("read", err)
	}
	return f, nil
}

// unparsed is the error for a file that cannot be edited.
func unparsed(path string, err error) error {
	return invalid("client", "%s: %v; it is left as it is: correct it, or add by hand what --print shows", path, err)
}

// checkedEdit refuses an edit that changes anything but our entry.
func checkedEdit(f configFormat, path string, before, after []byte) error {
	_, want, err := f.parts(before)
	if err != nil {
		return unparsed(path, err)
	}
	_, got, err := f.parts(after)
	if err != nil || !reflect.DeepEqual(got, want) {
		return &robotmem.Error{Kind: robotmem.Internal, Err: fmt.Errorf("%s is written in a way that cannot be edited safely; add by hand what --print shows", path)}
	}
	return nil
}

// backupTime is the time in the name of a backup, which is FILE.robotmem-TIME.bak.
const backupTime = "20060102T150405.000000000Z"

// backup copies the file beside itself.
func (s *settingsFile) backup(now time.Time) (string, error) {
	name := s.real + ".robotmem-" + now.UTC().Format(backupTime) + ".bak"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return "", s.failed("written", err)
	}
	_, err = f.Write(s.data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(s.failed("written", err), os.Remove(name))
	}
	return name, nil
}

// newestBackup is the last copy that was made, "" without one.
func (s *settingsFile) newestBackup() (string, []byte, error) {
	folder, base := filepath.Split(s.real)
	entries, err := os.ReadDir(filepath.Clean(folder + "."))
	if err != nil {
		return "", nil, s.failed("read", err)
	}
	var names []string
	for _, e := range entries {
		suffix, ours := strings.CutPrefix(e.Name(), base)
		if ok, _ := filepath.Match(".robotmem-*.bak", suffix); ok && ours {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "", nil, nil
	}
	name := filepath.Join(folder, slices.Max(names))
	data, err := os.ReadFile(name)
	if err != nil {
		return "", nil, s.failed("read", err)
	}
	return name, data, nil
}

// replace writes the file, unless it changed since it was read: clients write their settings
// while they run.
func (s *settingsFile) replace(data []byte) error {
	if err := os.MkdirAll(filepath.Dir(s.real), 0o700); err != nil {
		return s.failed("written", err)
	}
	f, err := os.CreateTemp(filepath.Dir(s.real), filepath.Base(s.real)+".*.part")
	if err != nil {
		return s.failed("written", err)
	}
	if err = f.Chmod(s.mode); errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	_, werr := f.Write(data)
	if err = errors.Join(err, werr, f.Sync(), f.Close()); err != nil {
		return errors.Join(s.failed("written", err), os.Remove(f.Name()))
	}
	now, err := os.ReadFile(s.real)
	if s.exists != (err == nil) || !bytes.Equal(now, s.data) {
		err = &robotmem.Error{Kind: robotmem.Conflict, Field: "client", Err: fmt.Errorf("%s was changed by another program just now; run it again", s.path)}
	} else if err = os.Rename(f.Name(), s.real); err != nil {
		err = s.failed("written", err)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// failed is an error of the file system; what is "read" or "written".
func (s *settingsFile) failed(what string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return &robotmem.Error{Kind: robotmem.Forbidden, Field: "client", Err: fmt.Errorf("%s cannot be %s: %w", s.path, what, err)}
}
