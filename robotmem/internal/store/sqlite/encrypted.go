package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/ncruces/go-sqlite3/vfs/adiantum"
	cipher "lukechampine.com/adiantum"
	"lukechampine.com/adiantum/hbsh"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
)

// The pages of an encrypted memory, its log and its temporary files pass through a VFS of the driver, which encrypts
// them in blocks of 4 KiB with Adiantum, which is fast on processors with and without instructions for AES. The driver
// takes the key from the URI of a file, where any part of the program could read it, so that the URI gets only the
// number of a key that this package has.

// opened are the keys that were used, by the text of their numbers.
var opened struct {
	sync.Mutex
	numbers map[[keySize]byte]string
	all     map[string][keySize]byte
	systems map[string]bool // names of the VFSs that have an encrypting one
}

const keySize = 32 // bytes

// encryptedVFS returns the name of the VFS that encrypts on top of another, and the number of a key for it.
func encryptedVFS(base string, key []byte) (name, number string) {
	opened.Lock()
	defer opened.Unlock()

	if opened.all == nil {
		opened.numbers, opened.all = map[[keySize]byte]string{}, map[string][keySize]byte{}
		opened.systems = map[string]bool{}
	}

	name = "encrypted-" + base
	if !opened.systems[name] {
		vfs.Register(name, adiantum.Wrap(vfs.Find(base), creator{}))
		opened.systems[name] = true
	}

	number, known := opened.numbers[[keySize]byte(key)]
	if !known {
		number = strconv.Itoa(len(opened.numbers) + 1)
		opened.numbers[[keySize]byte(key)], opened.all[number] = number, [keySize]byte(key)
	}

	return name, number
}

// creator gives the driver a cipher for what stands in a URI.
type creator struct{}

// KDF returns the key of a temporary file, which nobody reads after this process. No other file gets its key here.
func (creator) KDF(string) []byte {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	return key
}

// HBSH returns a cipher for the key with a number, or for that of a temporary file. It is nil for an unknown number. Each
// connection gets its own, because a cipher is for one goroutine.
func (creator) HBSH(key []byte) *hbsh.HBSH {
	if len(key) == keySize {
		return cipher.New(key)
	}

	opened.Lock()
	defer opened.Unlock()

	named, known := opened.all[string(key)]
	if !known {
		return nil
	}

	return cipher.New(named[:])
}

var plainHead = []byte("SQLite format 3\x00")

// IsPlain reports whether the file at path begins as a database in clear does.
func IsPlain(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()

	head := make([]byte, len(plainHead))
	if _, err := io.ReadFull(f, head); err != nil {
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		return false, err
	}

	return bytes.Equal(head, plainHead), nil
}

// keysToOpen returns the keys of the memory at a place, as [KeysOf] does. A memory that does not exist yet gets new
// keys if ctx carries an identity, and their file.
func keysToOpen(ctx context.Context, place files.Memory, o *Options) (*keys.Keys, error) {
	found, err := KeysOf(ctx, place)
	if _, serr := os.Stat(place.DB()); found != nil && errors.Is(serr, fs.ErrNotExist) {
		o.Log.Warn("a file of keys was there without its memory; a new memory begins with these keys", "keys", place.Keys())
	}
	if err != nil || found != nil || keys.Of(ctx) == nil || o.ReadOnly {
		return found, err
	}

	if err := refuseEmptied(place, o); err != nil {
		return nil, err
	}
	if err := disk.MakeFolder(o.Disk, place.Folder()); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the folder cannot be made (%s)", robotmem.Reason(err))
	}

	return keys.Begin(ctx, o.Disk, place, o.Escrow)
}

// KeysOf returns the keys of the memory at a place, nil if it is in clear or does not exist. It fails as [keys.Find]
// does, with Invalid if an identity is given for a file in clear, and with Conflict if a program was interrupted while
// it encrypted or decrypted the file.
func KeysOf(ctx context.Context, place files.Memory) (*keys.Keys, error) {
	found, err := keys.Find(ctx, place)
	if err != nil {
		return nil, err
	}

	// Opening the file explains why it cannot be read.
	info, err := os.Stat(place.DB())
	if err != nil || info.Size() == 0 {
		return found, nil //nolint:nilerr // see above
	}

	switch plain, err := IsPlain(place.DB()); {
	case err != nil:
		return found, nil //nolint:nilerr // see above
	case plain && found != nil:
		return nil, robotmem.Errorf(robotmem.Conflict, "db", "the file is in clear and has a file of keys: "+
			"robotmem encrypt or decrypt was interrupted; run it again, which continues")
	case plain && keys.Of(ctx) != nil:
		return nil, robotmem.Errorf(robotmem.Invalid, "key", "is given for a memory that is not encrypted; "+
			"encrypt it with robotmem encrypt, or leave the key out")
	case !plain && found == nil && keys.Of(ctx) != nil:
		return nil, robotmem.Errorf(robotmem.Corrupt, "db", "the file is no database in clear, and its file of keys is "+
			"missing; if it is encrypted, bring %s back from a backup of this memory", filepath.Base(place.Keys()))
	}

	return found, nil
}
