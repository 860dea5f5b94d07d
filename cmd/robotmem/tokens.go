package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// tokens.yaml in the home holds those who may use the node over HTTP, each with
// the hash of its secret: whoever reads the file cannot use the node, whoever
// writes it can. A running node follows it.

type tokenEntry struct {
	Name     string    `yaml:"name" json:"name"`
	ReadOnly bool      `yaml:"read_only" json:"read_only"`
	SHA256   string    `yaml:"sha256" json:"-"`
	Created  time.Time `yaml:"created" json:"created"`
}

type tokenList struct {
	Tokens []tokenEntry `yaml:"tokens"`
}

// tokensPath is where the home keeps them.
func (c *config) tokensPath() (string, error) {
	if c.homeErr != nil {
		return "", invalid("token", "%v", c.homeErr)
	}
	return filepath.Join(c.Home, "tokens.yaml"), nil
}

// readTokens reads the file; none is an empty list.
func readTokens(path string) (list tokenList, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return list, invalid("token", "%s cannot be read: %v", path, p.Err)
	}
	if err := yaml.UnmarshalWithOptions(data, &list, yaml.Strict()); err != nil {
		return list, invalid("token", "%s is not a list of tokens: %s; mend it, or remove it and make them anew", path, yaml.FormatError(err, false, false))
	}
	for _, t := range list.Tokens {
		if _, err := t.token(); err != nil {
			return list, invalid("token", "%s: the token %q %v; mend it, or remove the file and make them anew", path, t.Name, err)
		}
	}
	return list, nil
}

func (t tokenEntry) token() (web.Token, error) {
	out := web.Token{Name: t.Name, ReadOnly: t.ReadOnly}
	hash, err := hex.DecodeString(t.SHA256)
	if err != nil || len(hash) != len(out.SHA256) {
		return out, errors.New("has no SHA-256 of 64 hexadecimal digits")
	}
	copy(out.SHA256[:], hash)
	return out, nil
}

// changeTokens writes the file as change leaves it. Two commands at once take
// turns: else the second would bring back what the first took away.
func changeTokens(path string, change func(*tokenList) error) error {
	refuse := func(err error) error { return invalid("token", "%s cannot be written: %v", path, err) }
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return refuse(err)
	}
	lock, err := lockedfile.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return refuse(err)
	}
	defer func() { _ = lock.Close() }()
	list, err := readTokens(path)
	if err != nil {
		return err
	}
	if err := change(&list); err != nil {
		return err
	}
	data, err := yaml.Marshal(list)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path) // a link stays one
	if err != nil {
		real = path
	}
	return wholeFile(real, refuse, func(f *os.File) error {
		if err := f.Chmod(0o600); err != nil {
			return err
		}
		_, err := f.Write(data)
		return err
	})
}

// tokenFile follows tokens.yaml.
type tokenFile struct {
	path   string
	always []web.Token // beside those of the file
	failed func(error) // told once of each reason why the file cannot be read

	mu   sync.Mutex // guards what follows
	seen os.FileInfo
	bad  string // why the file could not be read the last time, "" if it could
	now  []web.Token
}

// openTokens reads the tokens that web accepts: those of the file, and the
// setting token, which is for everything.
func openTokens(c *config, failed func(error)) (*tokenFile, error) {
	path, err := c.tokensPath()
	if err != nil {
		return nil, err
	}
	f := &tokenFile{path: path, failed: failed}
	if c.Token != "" {
		if len(c.Token) < minToken {
			return nil, invalid("token", "ROBOTMEM_TOKEN must have at least %d characters to be accepted by web, not %d; `robotmem token create NAME` makes one", minToken, len(c.Token))
		}
		f.always = []web.Token{web.NewToken("ROBOTMEM_TOKEN", c.Token, false)}
	}
	f.seen, _ = os.Stat(path)
	f.now, err = f.read()
	return f, err
}

// minToken is the least length of a token that a person chooses, in bytes.
const minToken = 16

func (f *tokenFile) read() ([]web.Token, error) {
	list, err := readTokens(f.path)
	if err != nil {
		return nil, err
	}
	tokens := f.always[:len(f.always):len(f.always)]
	for _, e := range list.Tokens {
		t, err := e.token()
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// Tokens are the present ones. While the file cannot be read those it last held
// stay.
func (f *tokenFile) Tokens() []web.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		info = nil
	}
	if f.bad == "" && sameFile(info, f.seen) {
		return f.now
	}
	f.seen = info
	now, err := f.read()
	if err == nil {
		f.now, f.bad = now, ""
		return now
	}
	// What ails it need not be seen from outside, nor what mends it: too many
	// open files, a permission. So it is read again each time.
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

func noToken(name string) error {
	return &robotmem.Error{Kind: robotmem.NotFound, Field: "name", Err: fmt.Errorf("there is no token %q; `robotmem token list` shows them", name)}
}
