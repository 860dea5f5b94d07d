package clients

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Change is a change of a settings file that is not made yet.
type Change struct {
	// Action is created, changed, unchanged, restored, removed or deleted.
	Action string `json:"action"`
	// Backup is the copy that Apply made, or for restored the one that it restores.
	Backup string `json:"backup,omitempty"`
	Diff   string `json:"diff,omitempty"` // unified

	file  *settingsFile
	after []byte
}

// Snippet is a settings file with the entry alone.
func (c *Client) Snippet(e *Entry) ([]byte, error) { return c.format.set(nil, e) }

// Add is the change that adds the entry to the file at path. Keys, variables and headers of the
// user in a present entry stay.
func (c *Client) Add(path string, e *Entry) (*Change, error) {
	s, keys, err := c.read(path)
	if err != nil {
		return nil, unparsed(path, err)
	}
	if keys != nil {
		present, _ := parseEntry(keys)
		if e.keepForeign(present); reflect.DeepEqual(present, e) {
			return &Change{Action: "unchanged"}, nil
		}
	}
	if s.exists {
		return c.edit("changed", s, e)
	}
	return c.edit("created", s, e)
}

// Undo is the change that restores the newest backup, if the file is that backup plus our entry.
// Otherwise it removes our entry.
func (c *Client) Undo(path string) (*Change, error) {
	s, keys, err := c.read(path)
	if err != nil {
		return nil, unparsed(path, err)
	}
	if keys == nil {
		return &Change{Action: "unchanged"}, nil
	}
	present, others := parseEntry(keys)
	backup, before, err := s.newestBackup()
	if err != nil {
		return nil, err
	}
	if again, err := c.format.set(before, present); err == nil && string(again) == string(s.data) {
		if backup == "" {
			return c.change("deleted", s, nil)
		}
		change, err := c.change("restored", s, before)
		change.Backup = backup
		return change, err
	}
	if len(others) > 0 {
		return nil, &robotmem.Error{Kind: robotmem.Conflict, Field: "client", Err: fmt.Errorf("%s changed since, and its robotmem has what setup does not write (%s); remove it by hand", s.path, strings.Join(others, ", "))}
	}
	return c.edit("removed", s, nil)
}

// Present is the entry in the file at path, nil if there is none.
func (c *Client) Present(path string) (*Entry, error) {
	_, keys, err := c.read(path)
	if keys == nil || err != nil {
		return nil, err
	}
	e, _ := parseEntry(keys)
	return e, nil
}

// read reads the file and our entry in it, nil if there is none.
func (c *Client) read(path string) (*settingsFile, map[string]any, error) {
	s, err := readSettings(path)
	if err != nil {
		return nil, nil, err
	}
	keys, _, err := c.format.parts(s.data)
	return s, keys, err
}

func (c *Client) edit(action string, s *settingsFile, e *Entry) (*Change, error) {
	after, err := c.format.set(s.data, e)
	if err != nil {
		return nil, unparsed(s.path, err)
	}
	return c.change(action, s, after)
}

func (c *Client) change(action string, s *settingsFile, after []byte) (*Change, error) {
	before, result := s.path, s.path
	if !s.exists {
		before = os.DevNull
	}
	if action == "deleted" {
		result = os.DevNull
	}
	change := &Change{Action: action, Diff: string(diff.Diff(before, s.data, result, after)), file: s, after: after}
	return change, checkedEdit(c.format, s.path, s.data, after)
}

// Apply makes the change. It makes a backup of a file that it changes.
func (c *Change) Apply() error {
	s := c.file
	switch c.Action {
	case "unchanged":
		return nil
	case "deleted":
		if err := os.Remove(s.real); err != nil {
			return forbidden(err)
		}
		return nil
	case "restored":
		if err := s.replace(c.after); err != nil {
			return err
		}
		return os.Remove(c.Backup)
	case "created":
		return s.replace(c.after)
	}
	c.Backup = s.beside(".bak")
	if err := writeNew(c.Backup, newFileMode, s.data); err != nil {
		return err
	}
	if err := s.replace(c.after); err != nil {
		return errors.Join(err, os.Remove(c.Backup))
	}
	return nil
}
