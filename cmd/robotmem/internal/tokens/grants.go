package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/whole"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// Grants keeps the clients and grants of a memory's authorization server: FILE.grants beside the tokens. It holds hashes
// of secrets, as the list of tokens does. Running nodes follow it.
type Grants struct {
	memory local.Files
	id     string // of the memory's file, "" to take any
	log    func(error)

	mu   sync.Mutex // guards what follows
	seen os.FileInfo
	bad  string // why the file could not be read the last time, "" if it could
	now  *oauth.State
}

var _ oauth.Store = (*Grants)(nil)

// GrantsOf reads the grants of a memory. failed is told once of each reason why they cannot be read later.
func GrantsOf(memory local.Files, id string, failed func(error)) (*Grants, error) {
	g := &Grants{memory: memory, id: id, log: failed}

	// Look before reading, as File.Serve does.
	g.seen, _ = os.Stat(memory.Grants())

	var err error
	g.now, err = g.read()

	return g, err
}

// State implements oauth.Store. While the file cannot be read there are no grants: ended ones could be among
// the last known.
func (g *Grants) State() *oauth.State {
	g.mu.Lock()
	defer g.mu.Unlock()

	info, _ := os.Stat(g.memory.Grants()) // nil with an error
	if g.bad == "" && sameFile(info, g.seen) {
		return g.now
	}

	g.seen = info
	state, err := g.read()
	if err != nil {
		if err.Error() != g.bad {
			g.bad = err.Error()
			g.log(err)
		}
		return &oauth.State{}
	}
	g.now, g.bad = state, ""

	return g.now
}

// storedState is the form of the file.
type storedState struct {
	FileID string `json:"file_id,omitempty"`
	oauth.State
}

func (g *Grants) read() (*oauth.State, error) {
	path := g.memory.Grants()
	data, err := os.ReadFile(path)
	if _, link := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && link != nil {
		return &oauth.State{}, nil
	}
	if err != nil {
		return nil, grantsInvalid("%s cannot be read: %s", path, robotmem.Reason(err))
	}

	var s storedState
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, grantsInvalid("%s is not a list of grants: %v; remove it, and the programs ask to log in again", path, err)
	}
	// A copy of the memory would take the logins of the programs that use the other one.
	if g.id != "" && s.FileID != "" && s.FileID != g.id {
		return nil, grantsInvalid("%s has the grants of another file, from which this memory was copied or which it has replaced; "+
			"remove it, and the programs ask to log in again", path)
	}

	return &s.State, nil
}

func grantsInvalid(format string, args ...any) error {
	return robotmem.Errorf(robotmem.Invalid, "grants", format, args...)
}

// Change implements oauth.Store.
func (g *Grants) Change(f func(*oauth.State) error) error {
	lock, err := lockedfile.OpenFile(g.memory.GrantsLock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return grantsInvalid("%s cannot be written: %v", g.memory.Grants(), err)
	}
	defer func() { _ = lock.Close() }()

	state, err := g.read()
	if err != nil {
		return err
	}
	if err := f(state); err != nil {
		return err
	}

	data, err := json.MarshalIndent(storedState{g.id, *state}, "", " ")
	if err != nil {
		return fmt.Errorf("writing the grants: %w", err)
	}

	err = whole.Write(g.memory.Grants(), "grants", func(w *os.File) error {
		_, err := w.Write(data)
		return err
	})
	if whole.DiskFull(err) && overwrite(g.memory.Grants(), data) {
		err = nil
	}
	if err != nil {
		return err
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen, _ = os.Stat(g.memory.Grants())
	g.now, g.bad = state, ""

	return nil
}
