package clients

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Change is a change of a settings file that is not made yet.
type Change struct {
	// Action is created, changed, unchanged, restored, removed or deleted.
	Action string
	// Backup is the copy that Apply made, or for restored the one that it restores.
	Backup string
	Diff   string // unified

	file  *settingsFile
	after []byte
}

// Snippet is a settings file with the entry alone.
func (c *Client) Snippet(e Entry) []byte { return c.format.file(c.format.section, e) }

// Add is the change that adds the entry to the file at path. Keys, variables and headers of the
// user in a present entry stay.
func (c *Client) Add(path string, e Entry) (*Change, error) {
	s, present, err := c.read(path)
	if err != nil {
		return nil, err
	}
	if present != nil {
		fields, _ := writtenBySetup(present)
		if e = keepForeign(e, fields); reflect.DeepEqual(fields, e) {
			return &Change{Action: "unchanged"}, nil
		}
	}
	after, err := c.format.set(s.data, e)
	if err != nil {
		return nil, unparsed(path, err)
	}
	action := "created"
	if s.exists {
		action = "changed"
	}
	return c.change(action, s, after)
}

// Undo is the change that restores the newest backup, if the file is that backup plus our entry.
// Otherwise it removes our entry.
func (c *Client) Undo(path string) (*Change, error) {
	s, present, err := c.read(path)
	if err != nil {
		return nil, err
	}
	if present == nil {
		return &Change{Action: "unchanged"}, nil
	}
	fields, others := writtenBySetup(present)
	backup, before, err := s.newestBackup()
	if err != nil {
		return nil, err
	}
	if again, err := c.format.set(before, fields); err == nil && string(again) == string(s.data) {
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
	after, err := c.format.remove(s.data)
	if err != nil {
		return nil, unparsed(s.path, err)
	}
	return c.change("removed", s, after)
}

// Present is the command that the file starts for robotmem, with its arguments, or the address
// that it asks. Without an entry both are empty.
func (c *Client) Present(path string) (command []string, address string, err error) {
	s, err := readSettings(path)
	if err != nil {
		return nil, "", err
	}
	entry, _, err := c.format.parts(s.data)
	if entry == nil || err != nil {
		return nil, "", err
	}
	if program, ok := entry["command"].(string); ok {
		command = []string{program}
		args, _ := entry["args"].([]any)
		for _, a := range args {
			command = append(command, fmt.Sprint(a))
		}
		return command, "", nil
	}
	if address, ok := entry[c.entry.url].(string); ok {
		return nil, address, nil
	}
	return nil, "", errors.New("its robotmem has neither a command nor an address")
}

func (c *Client) read(path string) (*settingsFile, map[string]any, error) {
	s, err := readSettings(path)
	if err != nil {
		return nil, nil, err
	}
	entry, _, err := c.format.parts(s.data)
	if err != nil {
		err = unparsed(path, err)
	}
	return s, entry, err
}

func (c *Client) change(action string, s *settingsFile, after []byte) (*Change, error) {
	was, will := s.path, s.path
	if !s.exists {
		was = os.DevNull
	}
	if action == "deleted" {
		will = os.DevNull
	}
	change := &Change{Action: action, Diff: string(diff.Diff(was, s.data, will, after)), file: s, after: after}
	return change, checkedEdit(c.format, s.path, s.data, after)
}

// Apply makes the change. It makes a backup of a file that it changes.
func (c *Change) Apply() error {
	switch s := c.file; {
	case s == nil:
		return nil
	case c.Action == "deleted":
		if err := os.Remove(s.real); err != nil {
			return s.failed("written", err)
		}
		return nil
	case c.Action == "restored":
		if err := s.replace(c.after); err != nil {
			return err
		}
		return os.Remove(c.Backup)
	case s.exists:
		var err error
		if c.Backup, err = s.backup(time.Now()); err != nil {
			return err
		}
	}
	err := c.file.replace(c.after)
	if err != nil && c.Backup != "" {
		err = errors.Join(err, os.Remove(c.Backup))
	}
	return err
}
