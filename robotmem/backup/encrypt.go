package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// The encryption of a memory X that exists takes these steps, and its decryption the same in the other direction:
//
//  1. write the new file under another name, and verify it;
//  2. write the file of keys;
//  3. rename the new file to X;
//  4. convert the payloads, one by one;
//  5. after a decryption, remove the file of keys.
//
// X is whole at any time. A file in clear beside a file of keys was interrupted between 2 and 3, or 3 and 5: no
// node opens it, and both commands continue from there.

// CryptReport is the result of [Encrypt], [Decrypt] and [Rekey].
type CryptReport struct {
	Path string `json:"path"`
	// Keys is the path of the file of keys, "" after a decryption.
	Keys string `json:"keys,omitempty"`
	// Recipients are the public keys of those who can open the memory, first that of its key.
	Recipients []string `json:"recipients,omitempty"`
	Memories   int64    `json:"memories,omitempty"`
	Payloads   int64    `json:"payloads"` // files that were converted
	Seconds    float64  `json:"seconds"`
	// Others are backups in the default folder which this did not change: in clear after an encryption, with the
	// former key after a change of keys.
	Others []string `json:"others"`
}

// Encrypt encrypts the memory at path, which no program may have open, with the key of o or of ctx and for the public
// keys of an escrow. The file in clear is replaced when the new one is verified, and not kept. What the disk still
// holds of deleted files is not overwritten. A run that was interrupted is continued by another.
//
// It fails with Invalid without a key, Unavailable, and changes nothing, while a program has path open or the disk is
// full, and Corrupt when the memory is damaged.
func Encrypt(ctx context.Context, path string, escrow []string, o local.Options) (_ *CryptReport, err error) {
	defer func() { err = robotmem.Wrap("encrypt", err) }()
	c, err := openCrypt(ctx, path, o)
	if err != nil {
		return nil, err
	}

	defer c.release()

	switch {
	case keys.Of(c.ctx) == nil:
		return nil, robotmem.Errorf(robotmem.Invalid, "key", "is required to encrypt; robotmem key new makes one")
	case c.found != nil && !c.plain && len(escrow) > 0:
		return nil, robotmem.Errorf(robotmem.Conflict, "escrow", "the memory is encrypted already; change who can open it with robotmem rekey")
	case c.found == nil && !c.plain:
		return nil, errLostKeys(c.place)
	}

	to := c.found
	if to == nil {
		if to, err = keys.Make(keys.Of(c.ctx), escrow); err != nil {
			return nil, err
		}
	}

	if c.plain {
		if err := c.exchange(nil, to); err != nil {
			return nil, err
		}
	}
	if err := c.convert(to, to); err != nil {
		return nil, err
	}

	c.report.Keys, c.report.Recipients = c.place.Keys(), to.Recipients
	c.report.Others = c.backups(func(hasKeys bool) bool { return !hasKeys })

	return c.finish()
}

// Decrypt brings an encrypted memory back to clear, as [Encrypt] does the reverse.
func Decrypt(ctx context.Context, path string, o local.Options) (_ *CryptReport, err error) {
	defer func() { err = robotmem.Wrap("decrypt", err) }()
	c, err := openCrypt(ctx, path, o)
	if err != nil {
		return nil, err
	}

	defer c.release()

	switch {
	case c.found == nil && c.plain:
		return nil, robotmem.Errorf(robotmem.Conflict, "db", "the memory is not encrypted")
	case c.found == nil:
		return nil, errLostKeys(c.place)
	case !c.plain:
		if err := c.exchange(c.found, nil); err != nil {
			return nil, err
		}
	}

	if err := c.convert(c.found, nil); err != nil {
		return nil, err
	}
	if err := errors.Join(os.Remove(c.place.Keys()), disk.SyncPath(c.place.Folder())); err != nil {
		return nil, restoreDisk(err)
	}

	// The check that follows opens the memory without a key.
	c.ctx, c.o.Key = keys.Without(c.ctx), ""
	c.report.Others = c.backups(func(hasKeys bool) bool { return hasKeys })

	return c.finish()
}

// Rekey gives an encrypted memory to another key: from then on next opens it, and the key of o or ctx no longer does. A
// nil escrow keeps the present one. Only the file of keys changes, also while nodes have the memory open, which go on.
// Backups that were made before open with the former key.
func Rekey(ctx context.Context, path, next string, escrow []string, o local.Options) (_ *CryptReport, err error) {
	defer func() { err = robotmem.Wrap("rekey", err) }()
	started := time.Now()
	if ctx, err = local.WithKey(ctx, o.Key); err != nil {
		return nil, err
	}

	place, err := files.Resolve(path)
	if err != nil {
		return nil, err
	}
	found, err := sqlite.KeysOf(ctx, place)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, robotmem.Errorf(robotmem.Conflict, "db", "the memory is not encrypted; robotmem encrypt does that")
	}

	id, err := keys.Parse(next)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "new_key", "%s", robotmem.Reason(err))
	}
	to, err := found.Rekeyed(id, escrow)
	if err != nil {
		return nil, err
	}

	// The memory must open before the former key is lost. Its first page is enough, and nothing is made beside it.
	c, err := sqlite.OpenTables(ctx, place.DB(), sqlite.ConnOptions{
		Keys: to, ReadOnly: true, Immutable: true, CacheKiB: backupCacheKiB,
	})
	if err != nil {
		return nil, err
	}
	_, err = c.File.Number("PRAGMA user_version")
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, err
	}
	if err := to.Save(disk.System{}, place); err != nil {
		return nil, err
	}

	// Only a new key leaves backups behind.
	job, others := &crypt{place: place}, []string{}
	if to.Recipients[0] != found.Recipients[0] {
		others = job.backups(func(hasKeys bool) bool { return hasKeys })
	}

	return &CryptReport{
		Path: place.Name(), Keys: place.Keys(), Recipients: to.Recipients,
		Seconds: time.Since(started).Seconds(), Others: others,
	}, nil
}

func errLostKeys(place files.Memory) error {
	return robotmem.Errorf(robotmem.Corrupt, "db", "the file is no database in clear, and has no file of keys; if it is "+
		"encrypted, bring %s back from a backup of this memory", filepath.Base(place.Keys()))
}

// crypt is a running conversion. Its lock keeps other programs out until release.
type crypt struct {
	ctx     context.Context // of one call, with its key
	place   files.Memory
	o       local.Options
	found   *keys.Keys // nil without a file of keys
	plain   bool       // the database is in clear
	id      string     // of the file
	started time.Time
	release func() // may be called twice
	report  CryptReport
}

// openCrypt locks a memory and looks at its state.
func openCrypt(ctx context.Context, path string, o local.Options) (_ *crypt, err error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if ctx, err = local.WithKey(ctx, o.Key); err != nil {
		return nil, err
	}

	place, err := files.Resolve(path)
	if err != nil {
		return nil, err
	}

	c := &crypt{ctx: ctx, place: place, o: o, started: time.Now(), report: CryptReport{Path: place.Name(), Others: []string{}}}
	f, err := os.OpenFile(place.DB(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, robotmem.Errorf(robotmem.NotFound, "db", "there is no memory at this path; "+
			"robotmem init --encrypt begins an encrypted one")
	}
	if err != nil {
		return nil, restoreDisk(err)
	}

	c.release = func() { _ = f.Close() }
	if err := c.look(f); err != nil {
		c.release()
		return nil, err
	}

	return c, nil
}

// look finds the keys, and keeps other programs out. The log is in the file then.
func (c *crypt) look(f *os.File) (err error) {
	if c.found, err = keys.Find(c.ctx, c.place); err != nil {
		return err
	}
	if c.plain, err = sqlite.IsPlain(c.place.DB()); err != nil {
		return restoreDisk(err)
	}

	now := c.found
	if c.plain {
		now = nil
	}

	var failed error
	err = sqlite.KeepOut(f, c.place.DB(), func() error {
		held, err := checkpointLog(c.ctx, c.place.DB(), now)
		if sqlite.IsBusy(err) {
			return sqlite.ErrLocked
		}
		failed, c.report.Memories = err, held.Memories
		return nil
	})
	if err := errors.Join(inUse(err, ""), failed); err != nil {
		return err
	}

	sqlite.LetIn(f)
	c.id = fileIDOf(c.ctx, c.place.DB(), now)

	return c.ctx.Err()
}

// exchange replaces the file by a verified copy with other keys.
func (c *crypt) exchange(from, to *keys.Keys) error {
	staged := c.place.Staged().DB()
	defer func() { _ = os.Remove(staged) }() // fails if it was renamed

	if err := c.copyFile(from, to, staged); err != nil {
		return restoreDisk(err)
	}
	disk.GiveToOwner(c.place.DB(), staged)

	if to != nil {
		if err := to.Save(disk.System{}, c.place); err != nil {
			return err
		}
	}

	// Windows cannot rename over an open file.
	if runtime.GOOS == "windows" {
		c.release()
	}

	return restoreDisk(errors.Join(os.Rename(staged, c.place.DB()), disk.SyncPath(c.place.Folder())))
}

// copyFile copies the file for other keys, and verifies the copy.
func (c *crypt) copyFile(from, to *keys.Keys, path string) (err error) {
	source, err := openCopy(c.ctx, c.place.DB(), from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	source.SetInterrupt(c.ctx)

	held, err := figures(source)
	if err != nil {
		return err
	}
	if err := copyDatabase(source, c.ctx, path, to, progress.Of(c.ctx)); err != nil {
		return err
	}

	written, err := openCopy(c.ctx, path, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, written.Close()) }()
	written.SetInterrupt(c.ctx)

	return verifyFile(c.ctx, written, held)
}

// convert encrypts or decrypts the payloads.
func (c *crypt) convert(from, to *keys.Keys) error {
	m := progress.Of(c.ctx)
	m.Stage("converting payloads", "files", 0)

	err := folderOf(c.place, from).Convert(c.ctx, folderOf(c.place, to), func() {
		m.Add(1)
		c.report.Payloads++
	})
	if errors.Is(err, payload.ErrDamaged) {
		return robotmem.Errorf(robotmem.Corrupt, "", "payloads are damaged and stay as they are (%s); "+
			"the memory and all others are converted; robotmem doctor --deep names their memories", robotmem.Reason(err))
	}

	return restoreDisk(err)
}

// finish opens the memory, which notes the file's new place.
func (c *crypt) finish() (*CryptReport, error) {
	c.release()
	n, err := local.Open(c.ctx, c.place.Name(), c.o)
	if err != nil {
		return nil, err
	}

	err = keepID(c.ctx, engine.Of(n), c.id)
	c.report.Seconds = time.Since(c.started).Seconds()

	return &c.report, errors.Join(err, n.Close())
}

// backups returns the paths of the backups in the default folder that have a file of keys, or have none.
func (c *crypt) backups(want func(hasKeys bool) bool) []string {
	found := []string{}
	// A folder that cannot be read has no backups that could be named.
	all, _ := List(c.place.Backups())
	for _, b := range all {
		if b.File != c.place.Base() || b.Problem != "" {
			continue
		}
		_, err := os.Stat(files.At(filepath.Join(b.Path, b.File)).Keys())
		if want(err == nil) {
			found = append(found, b.Path)
		}
	}

	return found
}
