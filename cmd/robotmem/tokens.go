package main

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

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token and print its secret, which is shown once and not kept. It is for all nodes that serve the file of --db."`
	List   tokenListCmd   `cmd:"" help:"List the tokens of the file."`
	Adopt  tokenAdoptCmd  `cmd:"" help:"Keep the tokens that were copied here together with the file. Those who hold them can then read this copy too."`
	Revoke tokenRevokeCmd `cmd:"" help:"Take a token away; a running node refuses it at once. Without the last token a node on a loopback address is open again."`
}

type tokenCreateCmd struct {
	Name string `arg:"" name:"name" help:"What it is for; 1 to 64 letters, digits, dots, dashes and underscores. With --read-only it is for operations that change nothing."`
}

// Run prints the secret and nothing else on the standard output.
func (c *tokenCreateCmd) Run(ctx context.Context, a *app, g *globals) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	secret, err := f.Create(ctx, web.Token{Name: c.Name, ReadOnly: g.ReadOnly})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "robotmem: nodes that serve %s require a token from now on, also running ones\n", f.files.DB())
	fmt.Fprintf(a.Stderr, "robotmem: keep this secret, it is not shown again; send it as Authorization: Bearer, or set ROBOTMEM_TOKEN\n")
	fmt.Fprintln(a.Stdout, secret)

	return nil
}

type tokenListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run lists the tokens without their secrets.
func (c *tokenListCmd) Run(ctx context.Context, a *app) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	list, err := f.List(ctx)

	return a.showResult(c.JSON, &struct {
		Tokens []web.Token `json:"tokens"`
	}{append([]web.Token{}, list...)}, err)
}

type tokenAdoptCmd struct{}

// Run makes the tokens of another file those of this one.
func (c *tokenAdoptCmd) Run(ctx context.Context, a *app) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	n, err := f.adopt()
	if err == nil {
		fmt.Fprintf(a.Stderr, "robotmem: nodes that serve %s accept the %d tokens of %s from now on\n", f.files.DB(), n, f.path)
	}

	return err
}

type tokenRevokeCmd struct {
	Name string `arg:"" name:"name" help:"Which, as list shows it."`
}

// Run removes the token.
func (c *tokenRevokeCmd) Run(ctx context.Context, a *app) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	if err = f.Revoke(ctx, c.Name); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "robotmem: nodes that serve %s refuse it from now on\n", f.files.DB())
	if left, err := f.List(ctx); err == nil && len(left) == 0 {
		fmt.Fprintf(a.Stderr, "robotmem: it was the last token; nodes on a loopback address are open to every program of this machine now, others refuse all; robotmem token create NAME closes them\n")
	}

	return nil
}

// ownTokens are the tokens of a file of this machine.
func (a *app) ownTokens(ctx context.Context) (*tokenFile, error) {
	if a.Config.URL != "" {
		return nil, invalid("url", "tokens are kept on the machine of the node; leave out --url and ROBOTMEM_URL, or run this there")
	}
	f, err := a.Config.tokens()
	if err == nil && !a.Config.onServer() {
		f.id = local.FileID(ctx, f.files)
	}

	return f, err
}

// tokenFile is the list of the tokens of one memory: FILE.tokens beside the real file, so
// that all names of a file have the same tokens. It holds the hashes of the secrets: reading
// it gives no access to the node, writing it does. A running node follows it.
type tokenFile struct {
	files  local.Files // of the memory
	id     string      // of the memory's file, "" if it has none yet
	path   string      // of the list
	always []web.Token // beside those of the file
	failed func(error) // told once of each reason why the file cannot be read

	mu   sync.Mutex // guards what follows
	seen os.FileInfo
	bad  string // why the file could not be read the last time, "" if it could
	now  []web.Token
	used map[[sha256.Size]byte]time.Time // when this process last accepted each token
}

var _ web.TokenManager = (*tokenFile)(nil)

// minToken is the least length of a token that a person chooses, in bytes.
const minToken = 16

// tokenName keeps names readable in a log.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// tokens returns the tokens of the file of the settings. A file that the list of an earlier version
// protected is refused until it has its own, so that an update opens no node.
func (c *config) tokens() (*tokenFile, error) {
	db, err := c.dbPath()
	if err != nil {
		return nil, err
	}
	if c.onServer() {
		db = filepath.Join(c.Home, "fleet")
	}

	place, err := local.FilesOf(db)
	if err != nil {
		return nil, err
	}

	f := &tokenFile{files: place, path: place.Tokens(), used: map[[sha256.Size]byte]time.Time{}}
	old := filepath.Join(c.Home, "tokens.yaml")
	_, err = os.Lstat(f.path)
	if _, oldErr := os.Lstat(old); c.homeErr == nil && oldErr == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, invalid("token", "%s protected all files in earlier versions, and %s has no tokens of its own; cp %[1]s %[3]s, and when each file has its own, rm %[1]s", shellQuote(old), shellQuote(place.DB()), shellQuote(f.path))
	}

	return f, nil
}

// openTokens reads the tokens that web accepts: those of the file, and the
// setting token, which is for everything.
func openTokens(c *config, failed func(error)) (*tokenFile, error) {
	f, err := c.tokens()
	if err != nil {
		return nil, err
	}
	f.failed = failed
	if c.Token != "" {
		if len(c.Token) < minToken {
			return nil, invalid("token", "ROBOTMEM_TOKEN must have at least %d characters to be accepted by web, not %d; `robotmem token create NAME` makes one", minToken, len(c.Token))
		}
		f.always = []web.Token{web.NewToken("ROBOTMEM_TOKEN", c.Token, false)}
	}
	// Look before reading: a change in between is then noticed at the next call, and not lost.
	f.seen, _ = os.Stat(f.path)
	f.now, err = f.read()

	return f, err
}

// Tokens returns the present tokens. While the file cannot be read, it returns the last ones.
func (f *tokenFile) Tokens() []web.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, _ := os.Stat(f.path) // nil with an error
	if f.bad == "" && sameFile(info, f.seen) {
		return f.now
	}

	f.seen = info
	now, err := f.read()
	// A file that disappears would otherwise open a node on a loopback address to every program.
	if err == nil && info == nil && len(f.now) > len(f.always) {
		err = invalid("token", "%s is gone; put it back, or revoke its tokens with robotmem token revoke", f.path)
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

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// belongTo refuses the tokens of another file than the one with the id, which the node has opened.
func (f *tokenFile) belongTo(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id = id
	now, err := f.read()
	if err == nil {
		f.now = now
	}

	return err
}

func (f *tokenFile) read() ([]web.Token, error) {
	list, err := readTokens(f.path, f.id)
	return slices.Concat(f.always, list), err
}

func (f *tokenFile) List(context.Context) ([]web.Token, error) {
	return f.list(f.id)
}

// list returns the tokens, if they are of the file with the id.
func (f *tokenFile) list(id string) ([]web.Token, error) {
	list, err := readTokens(f.path, id)
	f.mu.Lock()
	defer f.mu.Unlock()

	for i, t := range list {
		if at := f.used[t.SHA256]; at.After(t.LastUsed) {
			list[i].LastUsed = at
		}
	}

	return list, err
}

func (f *tokenFile) Create(_ context.Context, spec web.Token) (secret string, err error) {
	name := spec.Name
	if spec.Role != "" || spec.Robot != "" || spec.Collections != "" {
		return "", invalid("role", "tokens of a file have no role, robot or collections; robotmem fleet token create makes such tokens, of a tenant")
	}
	if !tokenName.MatchString(name) {
		return "", invalid("name", "must be 1 to 64 letters, digits, dots, dashes and underscores, not %.100q", name)
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

func (f *tokenFile) Revoke(_ context.Context, name string) error {
	return f.change(func(list []web.Token) ([]web.Token, error) {
		left := slices.DeleteFunc(slices.Clone(list), func(t web.Token) bool { return t.Name == name })
		if len(left) == len(list) {
			return nil, notFound("name", "there is no token %.100q; `robotmem token list` shows them", name)
		}
		return left, nil
	})
}

// Used implements web.TokenManager. The times of use are written by writeUses, when the node ends.
func (f *tokenFile) Used(t web.Token) {
	if slices.Contains(f.always, t) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used[t.SHA256] = time.Now().UTC().Truncate(time.Second)
}

// writeUses writes the times of use, if there are any. After an error they are lost.
func (f *tokenFile) writeUses() {
	f.mu.Lock()
	used := len(f.used) > 0
	f.mu.Unlock()
	if used {
		_ = f.change(func(list []web.Token) ([]web.Token, error) { return list, nil }) // List has the times
	}
}

// change changes the file. A lock orders concurrent changes: without it the second would
// write back what the first removed.
func (f *tokenFile) change(change func([]web.Token) ([]web.Token, error)) error {
	return f.changeOf(f.id, change)
}

// adopt makes the tokens those of this file, whatever file they were of, and returns how many there are.
func (f *tokenFile) adopt() (n int, err error) {
	err = f.changeOf("", func(list []web.Token) ([]web.Token, error) {
		n = len(list)
		return list, nil
	})
	return n, err
}

// changeOf changes the tokens if they are of the file with the id.
func (f *tokenFile) changeOf(id string, change func([]web.Token) ([]web.Token, error)) error {
	refuse := func(err error) error { return invalid("token", "%s cannot be written: %v", f.path, err) }
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return refuse(err)
	}

	lock, err := lockedfile.OpenFile(f.files.TokensLock(), os.O_RDWR|os.O_CREATE, 0o600)
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

	entries := tokenEntries{FileID: f.id, Tokens: []tokenEntry{}}
	for _, t := range list {
		entries.Tokens = append(entries.Tokens, tokenEntry{t.Name, t.ReadOnly, hex.EncodeToString(t.SHA256[:]), t.Created, t.LastUsed})
	}

	data, err := yaml.Marshal(entries)
	if err != nil {
		return err
	}

	real, _ := filepath.EvalSymlinks(f.path) // a link stays one
	real = cmp.Or(real, f.path)
	err = wholeFile(real, "token", func(w *os.File) error {
		_, err := w.Write(data)
		return err
	})
	if diskFull(err) && overwrite(real, data) {
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

// tokenEntries is the form of the file.
type tokenEntries struct {
	// FileID is the id of the memory's file, absent if it had none yet or an earlier version wrote the list.
	FileID string       `yaml:"file_id,omitempty"`
	Tokens []tokenEntry `yaml:"tokens"`
}

type tokenEntry struct {
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
		return nil, invalid("token", "%s cannot be read: %s", path, robotmem.Reason(err))
	}

	var entries tokenEntries
	if err := yaml.UnmarshalWithOptions(data, &entries, yaml.Strict()); err != nil {
		return nil, invalid("token", "%s is not a list of tokens: %s; correct it, or remove it and create the tokens again", path, yaml.FormatError(err, false, false))
	}
	if id != "" && entries.FileID != "" && entries.FileID != id {
		return nil, invalid("token", "%s has the tokens of another file, from which this memory was copied or which it has replaced; to accept them here too, run robotmem token adopt; if not, remove %[1]s and create tokens", path)
	}

	var list []web.Token

	for _, e := range entries.Tokens {
		t := web.Token{Name: e.Name, ReadOnly: e.ReadOnly, Created: e.Created, LastUsed: e.LastUsed}
		hash, err := hex.DecodeString(e.SHA256)
		if err != nil || len(hash) != len(t.SHA256) {
			return nil, invalid("token", "%s: the token %q has no SHA-256 of 64 hexadecimal digits; correct it, or remove the file and create the tokens again", path, e.Name)
		}
		copy(t.SHA256[:], hash)
		list = append(list, t)
	}

	return list, nil
}
