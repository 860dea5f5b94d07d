// Package keys encrypts a memory at rest. The user has one key, an identity of age (https://age-encryption.org).
// It opens the file of keys beside the memory, which holds a random master key; that of the database, of the
// payloads and of their names are derived from it. A new identity therefore changes only the file of keys.
package keys

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"filippo.io/age"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// Identity is the key of a user.
type Identity struct {
	age.Identity

	own age.Recipient // encrypts what Identity decrypts
}

// New returns a random identity and its text, a line that begins with AGE-SECRET-KEY-.
func New() (text, public string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return id.String(), id.Recipient().String(), nil
}

// Parse reads an identity as age-keygen writes it: one line, beside empty lines and comments. It fails with Invalid.
func Parse(text string) (*Identity, error) {
	wrong := func(why string) error {
		return robotmem.Errorf(robotmem.Invalid, "key",
			"%s; it is one line that begins with AGE-SECRET-KEY-, as robotmem key new and age-keygen write it", why)
	}

	found, err := age.ParseIdentities(strings.NewReader(text))
	switch {
	case strings.TrimSpace(text) == "":
		return nil, wrong("is empty")
	case err != nil:
		// The error of age quotes the line, which may be the secret.
		return nil, wrong("is not a key")
	case len(found) != 1:
		return nil, wrong(fmt.Sprintf("holds %d keys", len(found)))
	}

	switch id := found[0].(type) {
	case *age.X25519Identity:
		return &Identity{id, id.Recipient()}, nil
	case *age.HybridIdentity:
		return &Identity{id, id.Recipient()}, nil
	}

	return nil, wrong("is of an unknown kind")
}

// Public is the text of the recipient, with which others encrypt for the identity.
func (i *Identity) Public() string { return fmt.Sprint(i.own) }

// With carries the identity that opens the files of a call.
func With(ctx context.Context, id *Identity) context.Context {
	if id == nil {
		return ctx
	}
	return context.WithValue(ctx, carried{}, id)
}

// Without carries no identity.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, carried{}, (*Identity)(nil))
}

type carried struct{}

// Of returns the identity that a context carries, nil if there is none.
func Of(ctx context.Context) *Identity {
	id, _ := ctx.Value(carried{}).(*Identity)
	return id
}

// content is what the file of keys holds, in age.
type content struct {
	Version int    `json:"version"`
	Master  []byte `json:"master"`
	// Recipients are the public keys of those who can open the memory: first the user, then the escrow.
	Recipients []string `json:"recipients"`
}

const (
	version    = 1
	masterSize = 32
	keySize    = 32
	// fileLimit bounds a file of keys in bytes.
	fileLimit = 1 << 20
)

// Keys encrypt one memory. A nil *Keys leaves it in clear. Its methods may be called by several goroutines.
type Keys struct {
	content

	pages, names, bodies []byte
}

// Make returns random keys, for an identity and for the public keys of an escrow. It fails with Invalid for a wrong recipient.
func Make(id *Identity, escrow []string) (*Keys, error) {
	master := make([]byte, masterSize)
	_, _ = rand.Read(master) // it never fails
	k := &Keys{content: content{Version: version, Master: master, Recipients: append([]string{id.Public()}, escrow...)}}
	if _, err := k.recipients(); err != nil {
		return nil, err
	}

	return k, k.derive()
}

// derive computes the keys for each use.
func (k *Keys) derive() error {
	for _, part := range []struct {
		to  *[]byte
		use string
	}{{&k.pages, "database"}, {&k.names, "payload names"}, {&k.bodies, "payloads"}} {
		var err error
		if *part.to, err = hkdf.Key(sha256.New, k.Master, nil, "robotmem "+part.use, keySize); err != nil {
			return err
		}
	}

	return nil
}

// Pages is the key of the database, of 32 bytes; nil for a database in clear.
func (k *Keys) Pages() []byte {
	if k == nil {
		return nil
	}
	return k.pages
}

// Find returns the keys of the memory at a place, and nil if it has no file of keys. It fails with Invalid if the
// identity of ctx is missing or another one, and Corrupt if the file of keys is damaged.
func Find(ctx context.Context, m files.Memory) (*Keys, error) {
	data, err := read(m.Keys())
	switch {
	// Opening the database says why its folder is none.
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, robotmem.Errorf(robotmem.Unavailable, "key", "the file of keys cannot be read (%s)", robotmem.Reason(err))
	}

	id := Of(ctx)
	if id == nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "key",
			"is required, because the memory is encrypted; give it with --key-file FILE or --key-command COMMAND "+
				"(ROBOTMEM_KEY_FILE, ROBOTMEM_KEY_COMMAND, ROBOTMEM_KEY), or as the systemd credential robotmem.key")
	}

	return open(data, id)
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, fileLimit))
}

// open decrypts the content of a file of keys.
func open(data []byte, id *Identity) (*Keys, error) {
	damaged := robotmem.Errorf(robotmem.Corrupt, "key",
		"the file of keys (.keys beside the memory) is damaged; bring it back from a backup of the same memory")

	plain, err := age.Decrypt(bytes.NewReader(data), id)
	if other := (*age.NoIdentityMatchError)(nil); errors.As(err, &other) {
		return nil, robotmem.Errorf(robotmem.Invalid, "key", "is not the key of this memory; "+
			"give the one that robotmem init --encrypt, encrypt or rekey was given, or one of the escrow")
	}
	if err != nil {
		return nil, damaged
	}

	text, err := io.ReadAll(plain)
	if err != nil {
		return nil, damaged
	}

	k := &Keys{}
	if json.Unmarshal(text, &k.content) != nil || len(k.Master) != masterSize || len(k.Recipients) == 0 {
		return nil, damaged
	}
	if k.Version != version {
		return nil, robotmem.Errorf(robotmem.Conflict, "key",
			"the file of keys has version %d and this program knows version %d; use a newer robotmem", k.Version, version)
	}

	return k, k.derive()
}

// recipients are those who can open the memory.
func (k *Keys) recipients() (all []age.Recipient, err error) {
	for _, text := range k.Recipients {
		found, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(found) != 1 {
			return nil, robotmem.Errorf(robotmem.Invalid, "escrow", "%q is not a public key; it begins with age1, "+
				"as robotmem key new and age-keygen write it", robotmem.Clip(text, 80))
		}
		all = append(all, found...)
	}

	return all, nil
}

// Rekeyed returns the same keys for another identity, and for another escrow unless that is nil.
func (k *Keys) Rekeyed(id *Identity, escrow []string) (*Keys, error) {
	if escrow == nil {
		escrow = k.Recipients[1:]
	}

	next := *k
	next.Recipients = append([]string{id.Public()}, escrow...)
	_, err := next.recipients()

	return &next, err
}

// Save writes the file of keys of a memory, in place of another. It is on the disk when Save returns.
func (k *Keys) Save(d disk.Disk, m files.Memory) error {
	aside := files.Aside(m.Keys())
	err := k.saveAs(d, aside)
	if err == nil {
		disk.GiveToOwner(m.DB(), aside)
		err = d.Rename(aside, m.Keys())
	}
	if err != nil {
		_ = d.Remove(aside) // err says more
		return unwritable(err)
	}

	return unwritable(d.SyncFolder(m.Folder()))
}

// Begin makes the keys of a memory that does not exist yet, for the identity of ctx, and writes their file. If another
// process has done so meanwhile, the keys are those.
func Begin(ctx context.Context, d disk.Disk, m files.Memory, escrow []string) (*Keys, error) {
	k, err := Make(Of(ctx), escrow)
	if err != nil {
		return nil, err
	}

	aside := files.Aside(m.Keys())
	if err := k.saveAs(d, aside); err != nil {
		return nil, unwritable(err)
	}
	// A link and no rename: it fails if the file exists.
	err = d.Link(aside, m.Keys())
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// A file system without hard links.
		err = k.saveAs(d, m.Keys())
	}
	if removed := d.Remove(aside); removed != nil {
		return nil, unwritable(removed)
	}
	if errors.Is(err, fs.ErrExist) {
		return Find(ctx, m)
	}
	if err != nil {
		return nil, unwritable(err)
	}

	return k, unwritable(d.SyncFolder(m.Folder()))
}

func unwritable(err error) error {
	if err == nil {
		return nil
	}
	return robotmem.Errorf(robotmem.Unavailable, "key", "the file of keys cannot be written (%s); nothing was changed",
		robotmem.Reason(err))
}

// saveAs writes a file of keys under another name, and syncs it.
func (k *Keys) saveAs(d disk.Disk, path string) error {
	to, err := k.recipients()
	if err != nil {
		return err
	}

	text, err := json.Marshal(k.content)
	if err != nil {
		return err
	}

	var b bytes.Buffer
	w, err := age.Encrypt(&b, to...)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}

	f, err := d.Create(path, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err == nil {
		err = f.Sync()
	}

	return errors.Join(err, f.Close())
}

// Same reports whether two memories have the same keys, whoever can open them.
func (k *Keys) Same(as *Keys) bool { return bytes.Equal(k.Master, as.Master) }

// Seal encrypts a stream, such as an archive, for all who can open the memory: any program for age decrypts it.
// The stream is complete after Close, which leaves w open.
func (k *Keys) Seal(w io.Writer) (io.WriteCloser, error) {
	to, err := k.recipients()
	if err != nil {
		return nil, err
	}
	return age.Encrypt(w, to...)
}

// Encrypted reports whether the first bytes are those of a stream that [Keys.Seal] has encrypted.
func Encrypted(head []byte) bool { return bytes.HasPrefix(head, []byte("age-encryption.org/")) }

// Open decrypts a stream with the identity of ctx. It fails with Invalid if that is missing or another one.
func Open(ctx context.Context, r io.Reader) (io.Reader, error) {
	id := Of(ctx)
	if id == nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "key", "is required, because the archive is encrypted; "+
			"give the key of the memory that it was made of, with --archive-key-file FILE")
	}

	plain, err := age.Decrypt(r, id)
	if other := (*age.NoIdentityMatchError)(nil); errors.As(err, &other) {
		return nil, robotmem.Errorf(robotmem.Invalid, "key", "is not the key of this archive")
	}
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Corrupt, "", "the archive is encrypted and damaged (%s)", robotmem.Reason(err))
	}

	return plain, nil
}
