package clients

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The settings file of another program is read, edited in memory, compared, copied to a backup
// and replaced as a whole.

// configFormat is the syntax of a file whose servers are the members of one section. Its functions
// are pure. Their data is never blank and has no byte order mark.
type configFormat struct {
	section string
	empty   string // a file without settings
	// decode reads the whole file and refuses what cannot be edited.
	decode func(section string, data []byte) (map[string]any, error)
	// edit puts our entry in, or replaces the keys of setup in it. nil removes it.
	edit func(section string, data []byte, e *Entry) ([]byte, error)
}

func jsonConfig(section string) configFormat {
	return configFormat{section, "{}\n", decodeJSON, editJSON}
}

func tomlConfig(section string) configFormat {
	return configFormat{section, "", decodeTOML, editTOML}
}

// utf8BOM is the byte order mark that some editors write; it is kept.
const utf8BOM = "\xef\xbb\xbf"

func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// lineEnd is the line ending of a file.
func lineEnd(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// parts are our entry and everything else.
func (f configFormat) parts(data []byte) (entry, others map[string]any, err error) {
	data = bytes.TrimPrefix(data, []byte(utf8BOM))
	others = map[string]any{}
	if !blank(data) {
		if others, err = f.decode(f.section, data); err != nil {
			return nil, nil, err
		}
	}
	if servers, ok := others[f.section].(map[string]any); ok { // an edit refuses anything else
		entry, _ = servers[setupName].(map[string]any)
		if delete(servers, setupName); len(servers) == 0 {
			delete(others, f.section) // a section without entries equals no section
		}
	}
	return entry, others, nil
}

// set puts our entry in, or replaces its keys. nil removes it.
func (f configFormat) set(data []byte, e *Entry) ([]byte, error) {
	text, mark := bytes.CutPrefix(data, []byte(utf8BOM))
	if blank(text) {
		if e == nil {
			return data, nil
		}
		text = []byte(f.empty)
	}
	text, err := f.edit(f.section, text, e)
	if mark {
		text = append([]byte(utf8BOM), text...)
	}
	return text, err
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

// unparsed is the error for a file that cannot be edited.
func unparsed(path string, err error) error {
	if errors.As(err, new(*robotmem.Error)) { // of the file system
		return err
	}
	return invalid("client", "%s: %v; it is left as it is: correct it, or add by hand what --print shows", path, err)
}

const (
	maxSettings = 64 << 20 // bytes
	newFileMode = 0o600    // settings and backups may hold a token
	// backupTime is the time in the name of a backup, which is FILE.robotmem-TIME.bak.
	backupTime = "20060102T150405.000000000Z"
)

// settingsFile is the settings file of a client, as it was read.
type settingsFile struct {
	path   string // as the client names it
	real   string // behind symbolic links
	data   []byte
	exists bool
	mode   fs.FileMode
}

func readSettings(path string) (*settingsFile, error) {
	f := &settingsFile{path: path, real: path, mode: newFileMode}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, invalid("client", "%s is a link to a file that is not there; make the file, or remove the link", path)
		}
		return f, nil
	}
	info, serr := os.Stat(path)
	switch err := cmp.Or(err, serr); {
	case err != nil:
		return nil, forbidden(err)
	case !info.Mode().IsRegular():
		return nil, invalid("client", "%s is not a file", path)
	case info.Size() > maxSettings:
		return nil, invalid("client", "%s has %d bytes; settings have at most %d", path, info.Size(), maxSettings)
	}
	f.real, f.exists, f.mode = target, true, info.Mode().Perm()
	if f.data, err = os.ReadFile(f.real); err != nil {
		return nil, forbidden(err)
	}
	return f, nil
}

// newestBackup is the last copy that was made, "" without one.
func (s *settingsFile) newestBackup() (name string, data []byte, err error) {
	folder, base := filepath.Split(s.real)
	copies, _ := fs.Glob(os.DirFS(filepath.Clean(folder)), "*.robotmem-*.bak") // sorted; the pattern is valid
	for _, c := range copies {
		if strings.HasPrefix(c, base+".robotmem-") {
			name = filepath.Join(folder, c)
		}
	}
	if name == "" {
		return "", nil, nil
	}
	if data, err = os.ReadFile(name); err != nil {
		err = forbidden(err)
	}
	return name, data, err
}

// beside is a new name beside the file.
func (s *settingsFile) beside(extension string) string {
	return s.real + ".robotmem-" + time.Now().UTC().Format(backupTime) + extension
}

// replace writes the file, unless it changed since it was read: clients write their settings
// while they run.
func (s *settingsFile) replace(data []byte) error {
	if err := os.MkdirAll(filepath.Dir(s.real), 0o700); err != nil {
		return forbidden(err)
	}
	temp := s.beside(".part")
	if err := writeNew(temp, s.mode, data); err != nil {
		return err
	}
	now, err := os.ReadFile(s.real)
	if s.exists != (err == nil) || !bytes.Equal(now, s.data) {
		err = &robotmem.Error{Kind: robotmem.Conflict, Field: "client", Err: fmt.Errorf("%s was changed by another program just now; run it again", s.path)}
	} else if err = os.Rename(temp, s.real); err == nil {
		return nil
	} else {
		err = forbidden(err)
	}
	return errors.Join(err, os.Remove(temp))
}

// writeNew writes a file that must not exist, and syncs it.
func writeNew(name string, mode fs.FileMode, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return forbidden(err)
	}
	if err = f.Chmod(mode); errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	_, werr := f.Write(data)
	if err = errors.Join(err, werr, f.Sync(), f.Close()); err != nil {
		return errors.Join(forbidden(err), os.Remove(name))
	}
	return nil
}

func forbidden(err error) error {
	return &robotmem.Error{Kind: robotmem.Forbidden, Field: "client", Err: err}
}
