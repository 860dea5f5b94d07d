package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/used"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/backup"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// keyCredential is the name of the credential with the key, which systemd hands to a unit (LoadCredential=).
const keyCredential = "robotmem.key"

// withKey carries the key of the settings to all that opens a file. A command that opens none does not ask for it.
func (a *app) withKey(ctx context.Context, command string) (context.Context, error) {
	first, _, _ := strings.Cut(command, " ")
	if _, special := used.OwnFlags[first]; special && first != "token" || slices.Contains([]string{"setup", "key", "config"}, first) || a.Config.target() != used.OnFile {
		return ctx, nil
	}

	text, from, err := a.key(ctx)
	if err != nil || from == "" {
		return ctx, err
	}
	if text == "" {
		return nil, invalid("key", "%s is empty", from)
	}
	keyed, err := local.WithKey(ctx, text)
	if err != nil {
		return nil, invalid("key", "%s %s", from, detail(err))
	}

	return keyed, nil
}

// detail is what an error says without its kind and field.
func detail(err error) string {
	if told := (*robotmem.Error)(nil); errors.As(err, &told) {
		return told.Detail()
	}
	return err.Error()
}

// key returns the text of the key and what it was read from, "" if none is given. Of several the one counts that was
// given nearer to the command; a credential of systemd is the last.
func (a *app) key(ctx context.Context) (text, from string, err error) {
	c := &a.Config

	best := ""
	for _, name := range []string{"key_file", "key_command", "key"} {
		if c.given[name] > c.given[best] {
			best = name
		}
	}

	switch best {
	case "key_file":
		text, err := a.readKey(c.KeyFile, c.given["key_file"].Spelling("key_file")+": ")
		return text, c.KeyFile, err
	case "key_command":
		text, err := runKeyCommand(ctx, c.KeyCommand, a.Stderr)
		return text, "the answer of " + c.KeyCommand, err
	case "key":
		return c.Key, c.given["key"].Spelling("key"), nil
	}

	folder, _ := a.env("CREDENTIALS_DIRECTORY")
	if folder == "" {
		return "", "", nil
	}
	path := filepath.Join(folder, keyCredential)
	if text, err = a.readKey(path, ""); errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}

	return text, path, err
}

// readKey reads a key from a file, or from stdin if that is named -.
func (a *app) readKey(path, from string) (string, error) {
	data, err := stdin.ReadFile(path, a.Stdin)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &robotmem.Error{Kind: robotmem.Invalid, Field: "key", Err: fmt.Errorf("%sthe file %s does not exist; is its disk mounted? (%w); robotmem key new --out FILE makes a key for a new memory", from, path, err)}
	}
	if err != nil {
		return "", invalid("key", "%sthe file %s cannot be read: %s", from, path, robotmem.Reason(err))
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(a.Stderr, "robotmem: note: other users can read the key; chmod 600 %s\n", path)
	}

	return string(data), nil
}

// runKeyCommand returns what a command of the shell prints, such as one that asks a TPM or a key server.
func runKeyCommand(ctx context.Context, command string, stderr io.Writer) (string, error) {
	shell := []string{"sh", "-c", command}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c", command}
	}

	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if err != nil {
		return "", invalid("key", "the command of key_command failed (%s): %s", robotmem.Reason(err), command)
	}

	return string(out), nil
}

// initCmd begins a memory.
type initCmd struct {
	Encrypt bool     `name:"encrypt" help:"Encrypt it with the key of --key-file, --key-command or ROBOTMEM_KEY."`
	Escrow  []string `name:"escrow" sep:"none" placeholder:"PUBLIC" help:"With --encrypt: public key (age1…) that opens the memory too, such as that of the workshop; repeatable."`
	JSON    bool     `name:"json" help:"Print the answer as JSON."`
}

func (c *initCmd) Help() string {
	return "A memory is also begun by the first command that stores something."
}

// initAnswer is what init has made.
type initAnswer struct {
	Path      string `json:"path"`
	Encrypted bool   `json:"encrypted"`
	Keys      string `json:"keys,omitempty"`
}

func (c *initCmd) Run(ctx context.Context, a *app) error {
	path, err := a.fileOf("init")
	if err != nil {
		return err
	}

	_, from, err := a.key(ctx)
	switch {
	case err != nil:
		return err
	case c.Encrypt && from == "":
		return invalid("key", "is required to encrypt; robotmem key new --out FILE makes one, --key-file FILE names it")
	case !c.Encrypt && from != "":
		return invalid("encrypt", "is not given, and a key is; pass --encrypt, or leave the key out")
	case len(c.Escrow) > 0 && !c.Encrypt:
		return invalid("escrow", "is for --encrypt")
	}

	place, err := local.FilesOf(path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(place.DB()); err == nil && info.Size() > 0 {
		return &robotmem.Error{Kind: robotmem.Conflict, Field: "db", Err: fmt.Errorf("there is a file at %s; robotmem encrypt encrypts a memory that exists", place.DB())}
	}

	a.Config.Embedder = "none"
	o, err := a.options()
	if err != nil {
		return err
	}
	o.Escrow = c.Escrow
	m, err := local.Open(ctx, path, o)
	if err != nil {
		return err
	}

	res := &initAnswer{Path: place.Name(), Encrypted: c.Encrypt}
	if c.Encrypt {
		res.Keys = place.Keys()
	}

	return a.showResult(c.JSON, res, m.Close())
}

// fileOf is the memory's file, for a command that does not work on other kinds.
func (a *app) fileOf(command string) (string, error) {
	switch a.Config.target() {
	case used.OnNode:
		return "", invalid("url", "robotmem %s works on a file; leave out --url and ROBOTMEM_URL, or run it on the machine of the node", command)
	case used.OnSite:
		return "", invalid("db", "robotmem %s works on a file; a site on PostgreSQL is encrypted by its disks", command)
	}

	return a.Config.dbPath()
}

type encryptCmd struct {
	Escrow []string `name:"escrow" sep:"none" placeholder:"PUBLIC" help:"Public key (age1…) that opens the memory too, such as that of the workshop; repeatable."`
	JSON   bool     `name:"json" help:"Print the answer as JSON."`
}

func (c *encryptCmd) Help() string {
	return `No program may have the memory open. The file in clear is replaced when the encrypted one is
verified, and not kept: make a backup before if you want one. Without the key nobody can read the
memory again, so keep a copy of the key elsewhere, or name an escrow.`
}

func (c *encryptCmd) Run(ctx context.Context, a *app) error {
	path, o, err := a.toConvert("encrypt")
	if err != nil {
		return err
	}
	ctx = a.watched(ctx)
	res, err := backup.Encrypt(ctx, path, c.Escrow, o)

	err = a.showCrypt(c.JSON, res, err, "backups in clear, which this does not change")
	if err == nil && !c.JSON {
		fmt.Fprintln(a.Stderr, "robotmem: note: what was copied elsewhere before is in clear, backups on other disks too")
	}

	return err
}

type decryptCmd struct {
	JSON bool `name:"json" help:"Print the answer as JSON."`
}

func (c *decryptCmd) Run(ctx context.Context, a *app) error {
	path, o, err := a.toConvert("decrypt")
	if err != nil {
		return err
	}
	ctx = a.watched(ctx)
	res, err := backup.Decrypt(ctx, path, o)

	return a.showCrypt(c.JSON, res, err, "encrypted backups, which this does not change")
}

type rekeyCmd struct {
	NewKeyFile string   `name:"new-key-file" required:"" placeholder:"FILE" help:"The key that opens the memory from now on; - reads it from stdin."`
	Escrow     []string `name:"escrow" sep:"none" placeholder:"PUBLIC" help:"Public key (age1…) that opens the memory too, in place of the present ones; repeatable. none for no other."`
	JSON       bool     `name:"json" help:"Print the answer as JSON."`
}

func (c *rekeyCmd) Help() string {
	return `Only the file of keys is written, also while nodes have the memory open. Who has had both the
former key and a copy of the file of keys can still read the memory: then robotmem decrypt and
encrypt give it new keys throughout.`
}

func (c *rekeyCmd) Run(ctx context.Context, a *app) error {
	path, o, err := a.toConvert("rekey")
	if err != nil {
		return err
	}
	next, err := a.readKey(c.NewKeyFile, "--new-key-file: ")
	if err != nil {
		return err
	}

	escrow := c.Escrow
	if len(escrow) == 1 && escrow[0] == "none" {
		escrow = []string{}
	}
	res, err := backup.Rekey(ctx, path, next, escrow, o)

	return a.showCrypt(c.JSON, res, err, "backups that open with the former key")
}

// toConvert is the file that a command encrypts or decrypts, and how it is opened.
func (a *app) toConvert(command string) (path string, o local.Options, err error) {
	if path, err = a.fileOf(command); err != nil {
		return "", o, err
	}
	a.Config.Embedder = "none"
	o, err = a.options()

	return path, o, err
}

// showCrypt prints what a conversion has done, and says on stderr which backups it did not reach.
func (a *app) showCrypt(asJSON bool, res *backup.CryptReport, err error, others string) error {
	if err != nil {
		return err
	}
	if n := len(res.Others); n > 0 && !asJSON {
		fmt.Fprintf(a.Stderr, "robotmem: note: %d %s: %s\n", n, others, strings.Join(res.Others, ", "))
	}

	return a.showResult(asJSON, res, nil)
}

type keyCmd struct {
	New    keyNewCmd    `cmd:"" help:"Make a key for an encrypted memory."`
	Public keyPublicCmd `cmd:"" help:"Print the public key of the given key, for --escrow and for programs of age."`
}

type keyNewCmd struct {
	Out string `name:"out" placeholder:"FILE" type:"path" help:"Write it to this new file, which only you may read, instead of stdout."`
}

func (c *keyNewCmd) Help() string {
	return `The key is an identity of age (age-encryption.org). A key on the disk of the robot protects from
nothing: keep it on a removable medium, in a credential of systemd that the TPM has sealed, or on
another machine (--key-command).`
}

func (c *keyNewCmd) Run(a *app) error {
	text, public, err := local.NewKey()
	if err != nil {
		return err
	}

	body := "# public key: " + public + "\n" + text + "\n"
	if c.Out == "" {
		_, err := io.WriteString(a.Stdout, body)
		return err
	}

	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &robotmem.Error{Kind: robotmem.Conflict, Field: "out", Err: fmt.Errorf("there is a file %s, which may be the only key of a memory; name another", c.Out)}
	}
	if err != nil {
		return invalid("out", "%s cannot be written: %s; is its disk mounted?", c.Out, robotmem.Reason(err))
	}
	_, err = io.WriteString(f, body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}

	_, err = fmt.Fprintf(a.Stdout, "%s\npublic key  %s\n", c.Out, public)

	return err
}

type keyPublicCmd struct{}

func (c *keyPublicCmd) Run(ctx context.Context, a *app) error {
	text, from, err := a.key(ctx)
	if err != nil {
		return err
	}
	if from == "" {
		return invalid("key", "is required; give it with --key-file FILE, --key-command COMMAND or ROBOTMEM_KEY")
	}
	public, err := local.PublicKey(text)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, public)

	return err
}
