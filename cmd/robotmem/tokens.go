package main

import (
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
	"github.com/robotmem/robotmem-go/web"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token and print its secret, which is shown once and not kept."`
	List   tokenListCmd   `cmd:"" help:"List the tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"Take a token away; a running node refuses it at once."`
}

type tokenCreateCmd struct {
	Name string `arg:"" name:"name" help:"What it is for; 1 to 64 letters, digits, dots, dashes and underscores. With --read-only it is for operations that change nothing."`
}

// tokenName keeps names readable in a log.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Run prints the secret and nothing else.
func (c *tokenCreateCmd) Run(a *app, g *globals) error {
	if !tokenName.MatchString(c.Name) {
		return invalid("name", "must be 1 to 64 letters, digits, dots, dashes and underscores, not %q", c.Name)
	}
	path, err := a.ownTokens()
	if err != nil {
		return err
	}
	secret := web.NewSecret()
	err = changeTokens(path, func(l *tokenList) error {
		if slices.ContainsFunc(l.Tokens, func(t tokenEntry) bool { return t.Name == c.Name }) {
			return &robotmem.Error{Kind: robotmem.Conflict, Field: "name", Err: fmt.Errorf("there is a token %q; take another name, or revoke it first", c.Name)}
		}
		hash := web.NewToken(c.Name, secret, g.ReadOnly).SHA256
		l.Tokens = append(l.Tokens, tokenEntry{Name: c.Name, ReadOnly: g.ReadOnly, SHA256: hex.EncodeToString(hash[:]), Created: time.Now().UTC().Truncate(time.Second)})
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "robotmem: keep this secret, it is not shown again; send it as Authorization: Bearer, or set ROBOTMEM_TOKEN\n")
	fmt.Fprintln(a.Stdout, secret)
	return nil
}

type tokenListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run lists the tokens without their secrets.
func (c *tokenListCmd) Run(a *app) error {
	path, err := a.ownTokens()
	if err != nil {
		return err
	}
	list, err := readTokens(path)
	if err != nil {
		return err
	}
	list.Tokens = append([]tokenEntry{}, list.Tokens...)
	return a.show(c.JSON, list, func(w *lines) {
		table(w, "TOKEN\tMAY\tCREATED", list.Tokens, func(t tokenEntry) []any {
			may := "read and write"
			if t.ReadOnly {
				may = "read"
			}
			return []any{t.Name, may, t.Created}
		})
	})
}

type tokenRevokeCmd struct {
	Name string `arg:"" name:"name" help:"Which, as list shows it."`
}

// Run removes the token.
func (c *tokenRevokeCmd) Run(a *app) error {
	path, err := a.ownTokens()
	if err != nil {
		return err
	}
	return changeTokens(path, func(l *tokenList) error {
		before := len(l.Tokens)
		if l.Tokens = slices.DeleteFunc(l.Tokens, func(t tokenEntry) bool { return t.Name == c.Name }); len(l.Tokens) == before {
			return notFound("name", "there is no token %q; `robotmem token list` shows them", c.Name)
		}
		return nil
	})
}

// ownTokens is the file of this machine.
func (a *app) ownTokens() (string, error) {
	if a.Config.URL != "" {
		return "", invalid("url", "tokens are kept on the machine of the node; leave out --url and ROBOTMEM_URL, or run this there")
	}
	return a.Config.tokensPath()
}

// tokenEntry is a token in tokens.yaml, which holds the hash of the secret: reading the file
// gives no access to the node, writing it does. A running node follows the file.
type tokenEntry struct {
	Name     string    `yaml:"name" json:"name"`
	ReadOnly bool      `yaml:"read_only" json:"read_only"`
	SHA256   string    `yaml:"sha256" json:"-"`
	Created  time.Time `yaml:"created" json:"created"`
}

type tokenList struct {
	Tokens []tokenEntry `yaml:"tokens" json:"tokens"`
}

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
		return list, invalid("token", "%s is not a list of tokens: %s; correct it, or remove it and create the tokens again", path, yaml.FormatError(err, false, false))
	}
	for _, t := range list.Tokens {
		if _, err := t.token(); err != nil {
			return list, invalid("token", "%s: the token %q %v; correct it, or remove the file and create the tokens again", path, t.Name, err)
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

// changeTokens changes the file. A lock orders concurrent commands: without it the second would
// write back what the first removed.
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

// Tokens are the present ones, or while the file cannot be read the last ones.
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
