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
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The settings file of another program is read, edited in memory, compared, copied to a backup
// and replaced as a whole.

// configFormat is the syntax of a file whose servers are the members of one section. Its functions
// are pure. Their data is never blank.
type configFormat struct {
	section string
	empty   string // a file without settings
	decode  func(data []byte) (map[string]any, error)
	// edit puts our entry in or replaces it. nil removes it, which must be there.
	edit func(section string, data []byte, e Entry) ([]byte, error)
}

func jsonConfig(section string) configFormat {
	return configFormat{section, "{}\n", decodeJSON, editJSON}
}

func tomlConfig(section string) configFormat {
	return configFormat{section, "", decodeTOML, editTOML}
}

func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// parts are our entry, nil if there is none, and everything else.
func (f configFormat) parts(data []byte) (entry Entry, others map[string]any, err error) {
	if blank(data) {
		return nil, map[string]any{}, nil
	}
	if others, err = f.decode(data); err != nil {
		return nil, nil, err
	}
	// An edit refuses anything else.
	if servers, ok := others[f.section].(map[string]any); ok {
		if entry, ok = servers[setupName].(map[string]any); !ok && servers[setupName] != nil {
			return nil, nil, fmt.Errorf("%s must be an object", setupName)
		}
		if delete(servers, setupName); len(servers) == 0 {
			// A section without entries equals no section.
			delete(others, f.section)
		}
	}

	return entry, others, nil
}

// set puts our entry in, or with nil takes it out. It refuses an edit that would change anything
// else.
func (f configFormat) set(data []byte, e Entry) ([]byte, error) {
	present, want, err := f.parts(data)
	if err != nil || e == nil && present == nil {
		return data, err
	}
	if blank(data) {
		data = []byte(f.empty)
	}
	after, err := f.edit(f.section, data, e)
	if err != nil {
		return nil, err
	}
	if got, others, err := f.parts(after); err != nil || !reflect.DeepEqual(others, want) || !got.equal(e) {
		return nil, fmt.Errorf("%s is written in a form that cannot be edited safely", f.section)
	}

	return after, nil
}

const (
	newFileMode = 0o600 // settings and backups may hold a token
	// backupTime is the time in the name of a backup, which is FILE.robotmem-TIME.bak.
	backupTime = "20060102T150405.000000000Z"
)

// Change is a change of a settings file that is not made yet.
type Change struct {
	// Action is created, changed, removed or unchanged.
	Action string `json:"action"`
	// Backup is the copy that Apply made.
	Backup string `json:"backup,omitempty"`
	Diff   string `json:"diff,omitempty"` // unified

	real          string // the file behind symbolic links
	before, after []byte // before is nil if there is no file
	mode          fs.FileMode
}

// Snippet is a settings file with the entry alone.
func (c *Client) Snippet(e Entry) ([]byte, error) { return c.format.set(nil, e) }

// Set is the change that adds the entry to the file at path, or with nil removes it. Keys,
// variables and headers of the user in a present entry stay.
func (c *Client) Set(path string, e Entry) (*Change, error) {
	change, err := readSettings(path)
	if err != nil {
		return nil, err
	}

	present, _, err := c.format.parts(change.before)
	if err != nil {
		return nil, unparsed(path, err)
	}

	from := path

	switch {
	case e == nil:
		change.Action = "removed"
	case change.before == nil:
		change.Action, from = "created", os.DevNull
	}

	if e != nil {
		e = e.merged(present)
	}

	if e.equal(present) {
		change.Action = "unchanged"
		return change, nil
	}

	if e != nil {
		change.after, err = c.format.set(change.before, e)
	} else {
		change.after, err = change.undone(
			func(data []byte) ([]byte, error) { return c.format.set(data, present) },
			func(data []byte) bool { own, _, err := c.format.parts(data); return err == nil && own == nil },
			func() ([]byte, error) { return c.format.set(change.before, nil) },
		)
	}
	if err != nil {
		return nil, unparsed(path, err)
	}

	change.Diff = string(diff.Diff(from, change.before, path, change.after))

	return change, nil
}

// undone is the file without what setup has added: what it was before, byte by byte, if a backup tells it or the file
// was made by setup, which nil means; else the present file without our part. add puts our part into a file, clean
// reports that a file has none, and without takes it out of the present one.
func (c *Change) undone(
	add func([]byte) ([]byte, error), clean func([]byte) bool, without func() ([]byte, error),
) ([]byte, error) {
	backups, _ := filepath.Glob(c.real + ".robotmem-*.bak")
	for _, backup := range slices.Backward(backups) {
		data, err := os.ReadFile(backup)
		if err != nil || !clean(data) {
			continue
		}
		if made, err := add(data); err == nil && bytes.Equal(made, c.before) {
			return data, nil
		}
	}

	// A file that was there before has a backup.
	if made, err := add(nil); err == nil && bytes.Equal(made, c.before) {
		return nil, nil
	}

	return without()
}

// unparsed is the error for a file that cannot be edited.
func unparsed(path string, err error) error {
	return invalid("client", "%s: %v; it is left as it is: correct it, or add by hand what --print shows", path, err)
}

// readSettings reads a file that need not be there.
func readSettings(path string) (*Change, error) {
	c := &Change{Action: "changed", real: path, mode: newFileMode}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, invalid("client", "%s is a link to a file that is not there; make the file, or remove the link",
				path)
		}
		return c, nil
	}

	info, serr := os.Stat(path)
	switch err := cmp.Or(err, serr); {
	case err != nil:
		return nil, forbidden(err)
	case !info.Mode().IsRegular():
		return nil, invalid("client", "%s is not a file", path)
	}

	c.real, c.mode = target, info.Mode().Perm()
	if c.before, err = os.ReadFile(c.real); err != nil {
		return nil, forbidden(err)
	}

	return c, nil
}

// Apply makes the change. It makes a backup of a file that it changes, and refuses a file that
// changed since it was read: clients write their settings while they run.
func (c *Change) Apply() error {
	if c.Action == "unchanged" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.real), 0o700); err != nil {
		return forbidden(err)
	}

	if c.after == nil {
		return c.delete()
	}

	stem := c.real + ".robotmem-" + time.Now().UTC().Format(backupTime)
	temp := stem + ".part"
	if err := writeNew(temp, c.mode, c.after); err != nil {
		return err
	}

	now, err := os.ReadFile(c.real)
	if (c.before != nil) != (err == nil) || !bytes.Equal(now, c.before) {
		err = &robotmem.Error{
			Kind: robotmem.Conflict, Field: "client",
			Err: fmt.Errorf("%s was changed by another program just now; run it again", c.real),
		}
		return errors.Join(err, os.Remove(temp))
	}

	err = nil
	if c.before != nil {
		c.Backup = stem + ".bak"
		err = writeNew(c.Backup, newFileMode, c.before)
	}

	if err == nil {
		err = os.Rename(temp, c.real)
	}
	if err != nil {
		return errors.Join(forbidden(err), os.Remove(temp))
	}

	return nil
}

// delete removes a file that setup has made and that nobody has changed.
func (c *Change) delete() error {
	if now, err := os.ReadFile(c.real); err != nil || !bytes.Equal(now, c.before) {
		return &robotmem.Error{
			Kind: robotmem.Conflict, Field: "client",
			Err: fmt.Errorf("%s was changed by another program just now; run it again", c.real),
		}
	}
	if err := os.Remove(c.real); err != nil {
		return forbidden(err)
	}

	return nil
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
