// Package tokens keeps the tokens of a memory's file, and the secret with which a node proves that it serves the file.
package tokens

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/whole"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

func invalid(format string, args ...any) error {
	return robotmem.Errorf(robotmem.Invalid, "token", format, args...)
}

// File is the list of the tokens of one memory: FILE.tokens beside the real file, so
// that all names of a file have the same tokens. It holds the hashes of the secrets: reading
// it gives no access to the node, writing it does. A running node follows it.
type File struct {
	Memory local.Files
	ID     string      // of the memory's file, "" if it has none yet
	Path   string      // of the list
	always []web.Token // beside those of the file
	failed func(error) // told once of each reason why the file cannot be read

	mu   sync.Mutex // guards what follows
	seen os.FileInfo
	bad  string // why the file could not be read the last time, "" if it could
	now  []web.Token
	used map[[sha256.Size]byte]time.Time // when this process last accepted each token
}

var _ web.TokenManager = (*File)(nil)

// minToken is the least length of a token that a person chooses, in bytes.
const minToken = 16

// tokenName keeps names readable in a log.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Of returns the tokens of the memory at db. A file that the list of an earlier version, at old, protected is refused
// until it has its own, so that an update opens no node. old is "" if there can be none.
func Of(db, old string) (*File, error) {
	place, err := local.FilesOf(db)
	if err != nil {
		return nil, err
	}

	f := &File{Memory: place, Path: place.Tokens(), used: map[[sha256.Size]byte]time.Time{}}
	_, err = os.Lstat(f.Path)
	if _, oldErr := os.Lstat(old); old != "" && oldErr == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, invalid("%s protected all files in earlier versions, and %s has no tokens of its own; "+
			"cp %[1]s %[3]s, and when each file has its own, rm %[1]s",
			shell.Quote(old), shell.Quote(place.DB()), shell.Quote(f.Path))
	}

	return f, nil
}

// Serve reads the tokens that a node accepts: those of the file, and a setting, which is for everything. failed is
// told once of each reason why the file cannot be read later.
func (f *File) Serve(setting string, failed func(error)) (err error) {
	f.failed = failed
	if setting != "" {
		if len(setting) < minToken {
			return invalid("ROBOTMEM_TOKEN must have at least %d characters to be accepted by web, not %d; "+
				"`robotmem token create NAME` makes one", minToken, len(setting))
		}
		// The setting has no name of its own: who can set it is the user of this process, as for a command.
		f.always = []web.Token{web.NewToken(cmp.Or(local.OSUser(), "ROBOTMEM_TOKEN"), setting, false)}
	}

	// Look before reading: a change in between is then noticed at the next call, and not lost.
	f.seen, _ = os.Stat(f.Path)
	f.now, err = f.read()

	return err
}

// Tokens returns the present tokens. While the file cannot be read, it returns the last ones.
func (f *File) Tokens() []web.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, _ := os.Stat(f.Path) // nil with an error
	if f.bad == "" && sameFile(info, f.seen) {
		return f.now
	}

	f.seen = info
	now, err := f.read()
	// A file that disappears would otherwise open a node on a loopback address to every program.
	if err == nil && info == nil && len(f.now) > len(f.always) {
		err = invalid("%s is gone; put it back, or revoke its tokens with robotmem token revoke", f.Path)
	}

	if err == nil {
		f.now, f.bad = now, ""
		return now
	}

	// The cause, such as too many open files, may end without a change of the file. The file
	// is therefore read at each call until it can be.
	if err.Error() != f.bad {
		f.bad = err.Error()
		f.failed(err)
	}

	return f.now
}

// Logins are the tokens with which a person may allow a program something: those of the file. The setting is known to
// other programs of its environment, and a hash of a text that a person chose must not be stored.
func (f *File) Logins() (logins []oauth.Login) {
	for _, t := range f.Tokens() {
		if !slices.Contains(f.always, t) {
			logins = append(logins, oauth.Login{Name: t.Name, Hash: t.SHA256, ReadOnly: t.ReadOnly})
		}
	}

	return logins
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// BelongTo refuses the tokens of another file than the one with the id, which the node has opened.
func (f *File) BelongTo(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ID = id
	now, err := f.read()
	if err == nil {
		f.now = now
	}

	return err
}

func (f *File) read() ([]web.Token, error) {
	list, err := readTokens(f.Path, f.ID)
	return slices.Concat(f.always, list), err
}

func (f *File) List(context.Context) ([]web.Token, error) {
	return f.list(f.ID)
}

// list returns the tokens, if they are of the file with the id.
func (f *File) list(id string) ([]web.Token, error) {
	list, err := readTokens(f.Path, id)
	f.mu.Lock()
	defer f.mu.Unlock()

	for i, t := range list {
		if at := f.used[t.SHA256]; at.After(t.LastUsed) {
			list[i].LastUsed = at
		}
	}

	return list, err
}

func (f *File) Create(_ context.Context, spec web.Token) (secret string, err error) {
	name := spec.Name
	if spec.Role != "" || spec.Robot != "" || spec.Collections != "" {
		return "", robotmem.Errorf(robotmem.Invalid, "role", "tokens of a file have no role, robot or collections; robotmem fleet token create makes such tokens, of a tenant")
	}
	if !tokenName.MatchString(name) {
		return "", robotmem.Errorf(robotmem.Invalid, "name", "must be 1 to 64 letters, digits, dots, dashes and underscores, not %.100q", name)
	}
	secret = web.NewSecret()

	return secret, f.change(func(list []web.Token) ([]web.Token, error) {
		if slices.ContainsFunc(list, func(t web.Token) bool { return t.Name == name }) {
			return nil, &robotmem.Error{Kind: robotmem.Conflict, Field: "name", Err: fmt.Errorf("there is a token %q; take another name, or revoke it first", name)}
		}
		t := web.NewToken(name, secret, spec.ReadOnly)
		t.Created = time.Now().UTC().Truncate(time.Second)
		return append(list, t), nil
	})
}

func (f *File) Revoke(_ context.Context, name string) error {
	return f.change(func(list []web.Token) ([]web.Token, error) {
		left := slices.DeleteFunc(slices.Clone(list), func(t web.Token) bool { return t.Name == name })
		if len(left) == len(list) {
			return nil, robotmem.Errorf(robotmem.NotFound, "name", "there is no token %.100q; `robotmem token list` shows them", name)
		}
		return left, nil
	})
}

// Used implements web.TokenManager. The times of use are written by WriteUses, when the node ends.
func (f *File) Used(t web.Token) {
	if slices.Contains(f.always, t) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used[t.SHA256] = time.Now().UTC().Truncate(time.Second)
}

// WriteUses writes the times of use, if there are any. After an error they are lost.
func (f *File) WriteUses() {
	f.mu.Lock()
	used := len(f.used) > 0
	f.mu.Unlock()
	if used {
		_ = f.change(func(list []web.Token) ([]web.Token, error) { return list, nil }) // List has the times
	}
}

// change changes the file. A lock orders concurrent changes: without it the second would
// write back what the first removed.
func (f *File) change(change func([]web.Token) ([]web.Token, error)) error {
	return f.changeOf(f.ID, change)
}

// Adopt makes the tokens those of this file, whatever file they were of, and returns how many there are.
func (f *File) Adopt() (n int, err error) {
	err = f.changeOf("", func(list []web.Token) ([]web.Token, error) {
		n = len(list)
		return list, nil
	})
	return n, err
}

// changeOf changes the tokens if they are of the file with the id.
func (f *File) changeOf(id string, change func([]web.Token) ([]web.Token, error)) error {
	refuse := func(err error) error { return invalid("%s cannot be written: %v", f.Path, err) }
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return refuse(err)
	}

	lock, err := lockedfile.OpenFile(f.Memory.TokensLock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return refuse(err)
	}

	defer func() { _ = lock.Close() }()
	list, err := f.list(id)
	if err != nil {
		return err
	}
	if list, err = change(list); err != nil {
		return err
	}

	all := entries{FileID: f.ID, Tokens: []entry{}}
	for _, t := range list {
		all.Tokens = append(all.Tokens, entry{t.Name, t.ReadOnly, hex.EncodeToString(t.SHA256[:]), t.Created, t.LastUsed})
	}

	data, err := yaml.Marshal(all)
	if err != nil {
		return err
	}

	real, _ := filepath.EvalSymlinks(f.Path) // a link stays one
	real = cmp.Or(real, f.Path)
	err = whole.Write(real, "token", func(w *os.File) error {
		_, err := w.Write(data)
		return err
	})
	if whole.DiskFull(err) && overwrite(real, data) {
		return nil
	}

	return err
}

// overwrite replaces what a file holds in the space that it has: a token can be revoked on a full disk. If the
// machine stops meanwhile, the list cannot be read, and the node accepts no token until it is corrected.
func overwrite(path string, data []byte) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() < int64(len(data)) {
		return false
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}

	return errors.Join(err, f.Sync(), f.Close()) == nil
}

// entries is the form of the file.
type entries struct {
	// FileID is the id of the memory's file, absent if it had none yet or an earlier version wrote the list.
	FileID string  `yaml:"file_id,omitempty"`
	Tokens []entry `yaml:"tokens"`
}

type entry struct {
	Name     string    `yaml:"name"`
	ReadOnly bool      `yaml:"read_only"`
	SHA256   string    `yaml:"sha256"`
	Created  time.Time `yaml:"created"`
	LastUsed time.Time `yaml:"last_used,omitempty"`
}

// readTokens reads a file; none is an empty list. A link to nothing is an error: what it
// protects must not be open because a disk is missing. So is the list of another file than the one with the id:
// robots that were set up from one image would accept each other's tokens.
func readTokens(path, id string) ([]web.Token, error) {
	data, err := os.ReadFile(path)
	if _, link := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && link != nil {
		return nil, nil
	}
	if err != nil {
		return nil, invalid("%s cannot be read: %s", path, robotmem.Reason(err))
	}

	var all entries
	if err := yaml.UnmarshalWithOptions(data, &all, yaml.Strict()); err != nil {
		return nil, invalid("%s is not a list of tokens: %s; correct it, or remove it and create the tokens again", path, yaml.FormatError(err, false, false))
	}
	if id != "" && all.FileID != "" && all.FileID != id {
		return nil, invalid("%s has the tokens of another file, from which this memory was copied or which it has replaced; to accept them here too, run robotmem token adopt; if not, remove %[1]s and create tokens", path)
	}

	var list []web.Token

	for _, e := range all.Tokens {
		t := web.Token{Name: e.Name, ReadOnly: e.ReadOnly, Created: e.Created, LastUsed: e.LastUsed}
		hash, err := hex.DecodeString(e.SHA256)
		if err != nil || len(hash) != len(t.SHA256) {
			return nil, invalid("%s: the token %q has no SHA-256 of 64 hexadecimal digits; correct it, or remove the file and create the tokens again", path, e.Name)
		}
		copy(t.SHA256[:], hash)
		list = append(list, t)
	}

	return list, nil
}
