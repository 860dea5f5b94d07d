package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A journal is a file of one conversation: a line of JSON for each thing that happened. Lines are only added, each with one
// write, so that hooks that run at the same time do not disturb each other and a line that a killed one left
// unfinished spoils itself alone.

// entry is a line of a journal.
type entry struct {
	Time time.Time `json:"t"`
	Kind string    `json:"e"`

	// Of begin: whose conversation it is, and its episode.
	Client  string `json:"client,omitempty"`
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Episode string `json:"episode,omitempty"`

	Text  string   `json:"text,omitempty"`  // of prompt, said and stop
	Shown []int64  `json:"shown,omitempty"` // of prompt and begin: the memories that were injected
	Tool  *ToolUse `json:"use,omitempty"`
	Turn  int      `json:"turn,omitempty"` // of stored: the turn, from 1
	Late  string   `json:"late,omitempty"` // of prompt: what is to be injected with the next use of a tool
}

// Kinds of entries.
const (
	begun     = "begin"
	prompted  = "prompt"
	used      = "tool"
	delivered = "delivered" // what was late has been injected
	said      = "said"
	stopped   = "stop"
	asked     = "asked"  // for the outcome of the turn
	stored    = "stored" // the turn is in the memory
	ended     = "end"
)

// conversation is what a journal tells.
type conversation struct {
	entry           // of its begin
	path  string    // of the journal
	last  time.Time // of the last entry
	turns []*turn   // the last one may still go on
	shown []int64   // at the beginning
	late  string    // to be injected with the next use of a tool
	ended bool      // the client has said so
}

// turn is a prompt and what the agent did for it.
type turn struct {
	number int // from 1
	at     time.Time
	until  time.Time
	prompt string
	shown  []int64
	uses   []*ToolUse
	answer string
	over   bool // the agent has stopped
	asked  bool
	stored bool
}

// journals is the folder of the journals of one memory.
type journals string

// name is the file of a conversation.
func (j journals) name(client, session, agent string) string {
	sum := sha256.Sum256([]byte(client + "\x00" + session + "\x00" + agent))
	return filepath.Join(string(j), client+"-"+hex.EncodeToString(sum[:8])+".jsonl")
}

// add writes entries at the end of a journal.
func (j journals) add(path string, entries ...*entry) error {
	var lines bytes.Buffer

	for _, e := range entries {
		if e.Time.IsZero() {
			e.Time = now().UTC()
		}
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}

	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(string(j), 0o700); err != nil {
			return err
		}
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(lines.Bytes())

	return errors.Join(err, f.Close())
}

// read reads the journal of a conversation; nil if there is none.
func (j journals) read(path string) (*conversation, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	c := &conversation{path: path}

	for line := range bytes.Lines(data) {
		var e entry
		// A line that a killed process left is no JSON.
		if json.Unmarshal(line, &e) == nil {
			c.take(&e)
		}
	}

	return c, nil
}

// take adds an entry to a conversation.
func (c *conversation) take(e *entry) {
	c.last = e.Time

	switch e.Kind {
	case begun:
		// The first line of a conversation that did not reach the memory yet has no episode.
		if c.Episode == "" {
			c.entry = *e
		}
		c.shown = append(c.shown, e.Shown...)
		c.ended = false
	case prompted:
		// A turn that a new prompt has interrupted has no end of its own.
		c.turns = append(c.turns, &turn{number: len(c.turns) + 1, at: e.Time, until: e.Time, prompt: e.Text, shown: e.Shown})
		c.late = e.Late
	case used:
		t := c.current(e.Time)
		t.uses, t.until = append(t.uses, e.Tool), e.Time
	case delivered:
		c.late = ""
	case said, stopped:
		t := c.current(e.Time)
		t.until = e.Time
		if e.Text != "" {
			t.answer = e.Text
		}
		t.over = t.over || e.Kind == stopped
	case asked:
		c.current(e.Time).asked = true
	case stored:
		for _, t := range c.turns {
			t.stored = t.stored || t.number == e.Turn
		}
	case ended:
		c.ended = true
	}
}

// current is the turn that goes on. A conversation whose first prompt was not told has one without a prompt.
func (c *conversation) current(at time.Time) *turn {
	if len(c.turns) == 0 {
		c.turns = append(c.turns, &turn{number: 1, at: at})
	}
	return c.turns[len(c.turns)-1]
}

// work are the uses of tools of a turn that changed something or failed.
func (t *turn) work() (uses []*ToolUse) {
	for _, u := range t.uses {
		if !u.ReadOnly || u.Failed {
			uses = append(uses, u)
		}
	}
	return uses
}

// files are the files that a turn has written, each once.
func (t *turn) files() (files []string) {
	for _, u := range t.uses {
		for _, file := range u.Files {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}

	return files
}

// stale returns the conversations whose last entry is older than a time.
func (j journals) stale(before time.Time) (all []*conversation, err error) {
	files, err := os.ReadDir(string(j))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	for _, file := range files {
		info, err := file.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(file.Name(), ".jsonl") || info.ModTime().After(before) {
			continue
		}
		c, err := j.read(filepath.Join(string(j), file.Name()))
		if err != nil {
			return all, err
		}
		if c != nil {
			c.last = info.ModTime()
			all = append(all, c)
		}
	}

	return all, nil
}

// remove removes the journal of a conversation that is stored whole.
func (c *conversation) remove() error {
	if err := os.Remove(c.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the journal of a conversation that is stored: %w", err)
	}
	return nil
}
