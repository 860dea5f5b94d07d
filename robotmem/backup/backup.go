// Package backup makes, lists, verifies and restores backups of a memory that is in use.
package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// A backup is a folder, named after the time it was started:
//
//	memory-20261121T204100.000Z/
//	  memory.db            the file, as one transaction saw it, without a log
//	  memory.db.keys       the file of keys of an encrypted memory
//	  memory.db.payloads/  the payloads that it names, hard links where possible
//	  backup.json          what it holds, with the file's checksum
//
// It is written under a name that begins with tmp-, synced, verified from end to end
// and then renamed: a folder with the final name is complete. It is a memory like any
// other, so the folder can be copied anywhere and opened there.

// Backup describes a backup; it is the content of backup.json.
type Backup struct {
	Path    string `json:"path,omitempty"` // path of its folder; not in backup.json
	Name    string `json:"name"`           // name of its folder
	Problem string `json:"problem,omitempty"`
	// Number orders the backups of a folder, also after the clock was set back.
	Number    int64     `json:"number"`
	File      string    `json:"file"`              // name of the memory's file in the folder
	FileID    string    `json:"file_id,omitempty"` // id of the file; absent from backups made before schema version 12
	CreatedAt time.Time `json:"created_at"`
	Seconds   float64   `json:"seconds"` // duration of the backup, with its verification
	Version   string    `json:"version,omitempty"`
	Bytes     int64     `json:"bytes"`  // size of the file
	SHA256    string    `json:"sha256"` // SHA-256 of the file, in hex
	Held      Figures   `json:"held"`
}

// Figures are counts of the rows in a memory's file.
type Figures struct {
	SchemaVersion int64  `json:"schema_version"`
	Changes       int64  `json:"changes"` // the change counter
	Memories      int64  `json:"memories"`
	Active        int64  `json:"active"`
	Sessions      int64  `json:"sessions"`
	Payloads      int64  `json:"payloads"`
	PayloadBytes  int64  `json:"payload_bytes"`
	Oldest        string `json:"oldest,omitempty"` // uid of the memory with the lowest id
	Newest        string `json:"newest,omitempty"` // uid of the memory with the highest id
}

// Options configure [Make]. The zero value works.
type Options struct {
	Dir     string // folder of the backups; "backups" beside the file if empty
	Keep    int    // number of newest backups to keep, at most MaxKeep; 7 if zero
	Version string // version of the program, for backup.json

	every time.Duration // no backup is made while the newest is younger, unless it is 0
}

// Report is the result of [Make].
type Report struct {
	Backup
	// Linked counts the payloads that are hard links and need no further space.
	Linked  int64    `json:"linked"`
	Copied  int64    `json:"copied"`
	Removed []string `json:"removed"` // names of the removed older backups
}

const (
	backupManifest = "backup.json"
	backupTime     = "20060102T150405.000Z"
	backupTemp     = "tmp-"
	// backupOwner is the file in a temporary folder that says whose backup it becomes.
	backupOwner = "of"
	backupLock  = ".lock"
)

// Make makes a backup of the memory, which remains usable. The backup contains all writes
// acknowledged before the call, and those later writes that its transaction sees. After it is
// verified, all but the newest Keep backups are removed. Make fails with Invalid for a folder
// that cannot hold backups, Unavailable when the disk is full or not writable or when another
// backup into the folder is running, and Corrupt when the memory is damaged. After a failure
// nothing of the backup is left, and earlier backups are kept.
//
// Close of the node does not wait for it: end ctx before.
func Make(ctx context.Context, n *local.Node, o Options) (*Report, error) {
	return makeLogged(ctx, engine.Of(n), o)
}

// makeLogged makes a backup, and logs why there is none.
func makeLogged(ctx context.Context, e *engine.Engine, o Options) (*Report, error) {
	report, err := makeBackup(ctx, e, o)
	if err != nil {
		e.Log.Error("backup", "err", err)
	}
	return report, robotmem.Wrap("backup", err)
}

func makeBackup(ctx context.Context, e *engine.Engine, o Options) (*Report, error) {
	if o.Keep = cmp.Or(o.Keep, defaultKeep); o.Keep < 1 || o.Keep > MaxKeep {
		return nil, robotmem.Errorf(robotmem.Invalid, "keep", "must be 1 to %d, not %d", MaxKeep, o.Keep)
	}

	dir, err := backupDir(e, o.Dir)
	if err != nil {
		return nil, err
	}

	unlock, err := lockBackups(dir)
	if err != nil {
		return nil, err
	}

	defer unlock()

	// Sweeping needs the lock: another backup of this memory may be writing its temporary folder.
	past, err := List(dir)
	if err == nil {
		err = sweepBackups(ctx, e, dir)
	}
	if err != nil {
		return nil, err
	}

	b := &job{e: e, dir: dir, past: past, held: map[[sha256.Size]byte]bool{}, started: time.Now()}
	b.report.File = filepath.Base(e.Store.Path())
	b.report.Version = o.Version
	b.report.Removed = []string{}

	if b.report.FileID, err = e.Store.FileID(ctx); err != nil {
		return nil, err
	}

	b.ours = b.ofThisMemory()

	// The age is checked under the lock, because another node on this file may just have made the backup.
	if o.every > 0 {
		for _, newest := range b.ours[max(0, len(b.ours)-1):] {
			// Abs: the newest backup is in the future if the clock was set back.
			if e.Now().Sub(newest.CreatedAt).Abs() < o.every {
				return &Report{Backup: newest}, nil
			}
		}
	}

	b.number()
	if err := b.make(ctx); err != nil {
		err = advise(robotmem.Wrap("backup", err), "", "; no backup was made, earlier ones are kept; "+
			"run robotmem doctor --deep, which names the remedy")
		return nil, errors.Join(err, os.RemoveAll(b.temp()))
	}

	// The backup itself has succeeded, so an error of removing older ones does not fail it.
	b.report.Removed, err = b.rotate(ctx, o.Keep)
	if err != nil {
		e.Log.Warn("older backups stay", "err", err)
	}

	return &b.report, nil
}

// job holds the state of a running backup.
type job struct {
	e       *engine.Engine
	dir     string
	past    []Backup // oldest first
	ours    []Backup // those of this memory, which may be removed
	started time.Time
	held    map[[sha256.Size]byte]bool // payloads that the backup has
	report  Report
}

func (b *job) temp() string { return filepath.Join(b.dir, backupTemp+b.report.Name) }

func (b *job) file() string { return filepath.Join(b.temp(), b.report.File) }

// number gives the backup an unused name and number.
func (b *job) number() {
	b.report.Number = 1
	for _, p := range b.past {
		b.report.Number = max(b.report.Number, p.Number+1)
	}

	stem := strings.TrimSuffix(b.report.File, filepath.Ext(b.report.File))
	for at := b.e.Now(); ; at = at.Add(time.Millisecond) {
		b.report.CreatedAt = at.Truncate(time.Millisecond)
		b.report.Name = stem + "-" + at.Format(backupTime)
		if !slices.ContainsFunc(b.past, func(p Backup) bool { return p.Name == b.report.Name }) {
			return
		}
	}
}

// copyRounds limits how often the file is copied because payloads were evicted meanwhile.
// Each round only brings the payloads that were added during the round before.
const copyRounds = 20

// make writes the backup under a temporary name, verifies it, and renames it.
func (b *job) make(ctx context.Context) (err error) {
	if err := os.Mkdir(b.temp(), 0o700); err != nil {
		return backupDisk(err)
	}

	// Without the note an interrupted backup would stay. The error is ignored: on a full disk the copy fails too, and
	// its error says how much space is needed.
	_ = os.WriteFile(filepath.Join(b.temp(), backupOwner), []byte(b.report.FileID+"\n"), 0o600)

	source, err := openCopy(ctx, b.e.Store.Path(), b.e.Store.Keys)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, source.Close()) }()
	source.SetInterrupt(ctx)

	// A payload may be evicted after the file was copied. The file is then copied again, without it.
	whole := false
	for round := 0; !whole && err == nil && round < copyRounds; round++ {
		if err = b.copyFile(ctx, source); err == nil {
			whole, err = b.complete(ctx, source)
		}
	}

	if err != nil {
		return err
	}
	if !whole {
		return robotmem.Errorf(robotmem.Unavailable, "", "payloads are evicted faster than they can be copied; "+
			"try again, or increase the budgets of retention")
	}

	// The file and not the keys of this node: another process may have given them to another identity.
	if b.e.Store.Keys != nil {
		if err := disk.CopyWhole(ctx, b.e.Store.Files().Keys(), files.At(b.file()).Keys()); err != nil {
			return backupDisk(err)
		}
	}

	if b.report.Bytes, b.report.SHA256, err = disk.SumFile(ctx, b.file()); err != nil {
		return backupDisk(err)
	}

	return b.finish()
}

// copyFile copies the file of the memory as one transaction sees it.
func (b *job) copyFile(ctx context.Context, source *sqlite.Tables) (err error) {
	if err := os.Remove(b.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return backupDisk(err)
	}

	// The counts and the copy must be of the same snapshot, because verifyFile compares them. The end of the
	// transaction lets the log be checkpointed again.
	if err := source.File.Exec("BEGIN"); err != nil {
		return err
	}

	defer func() { err = errors.Join(err, source.File.Exec("ROLLBACK")) }()

	if b.report.Held, err = figures(source); err != nil {
		return err
	}

	return backupDisk(copyDatabase(source, ctx, b.file(), b.e.Store.Keys, progress.Of(ctx)))
}

// complete adds the payloads of the copied file to the backup and verifies both. It reports false
// if the file must be copied again.
func (b *job) complete(ctx context.Context, source *sqlite.Tables) (whole bool, err error) {
	c, err := openCopy(ctx, b.file(), b.e.Store.Keys)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.SetInterrupt(ctx)
	if whole, err = b.addPayloads(ctx, source, c); err != nil || !whole {
		return false, err
	}

	return true, verifyFile(ctx, c, b.report.Held)
}

// checkSpace fails if the disk has no space for a copy.
func checkSpace(dir string, needed int64) error {
	free, err := disk.System{}.FreeBytes(dir)

	// If the free space is unknown, the copy is tried.
	if err != nil || free >= needed {
		return nil
	}

	return robotmem.Errorf(robotmem.Unavailable, "dir", "the disk is full: %s are needed and %s are free; "+
		"earlier backups are kept; free some space, or name a folder on another disk",
		units.BytesText(needed), units.BytesText(free))
}

// finish syncs the backup and renames it.
func (b *job) finish() error {
	b.report.Seconds = time.Since(b.started).Seconds()
	manifest, _ := json.MarshalIndent(b.report.Backup, "", "  ") // of texts and finite numbers
	path := filepath.Join(b.temp(), backupManifest)
	final := filepath.Join(b.dir, b.report.Name)

	// The rename comes after the syncs, so that a folder with the final name is complete even after a power failure. The
	// last sync makes the new name durable.
	for _, step := range []func() error{
		func() error { return os.WriteFile(path, append(manifest, '\n'), 0o600) },
		func() error { return disk.SyncPath(path) },
		func() error { return os.RemoveAll(filepath.Join(b.temp(), backupOwner)) },
		func() error { return disk.SyncPath(b.temp()) },
		func() error { return os.Rename(b.temp(), final) },
		func() error { return disk.SyncPath(b.dir) },
	} {
		if err := step(); err != nil {
			return backupDisk(err)
		}
	}

	b.report.Path = final

	return nil
}

// backupDir creates the folder of backups. It fails for a folder that cannot hold backups.
func backupDir(e *engine.Engine, dir string) (string, error) {
	if dir == "" {
		dir = e.Store.Files().Backups()
	}

	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", robotmem.Errorf(robotmem.Invalid, "dir", "is not a path")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", backupDisk(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", backupDisk(err)
	}

	// Links are resolved on both sides, so that another path to the folder of payloads is recognized too.
	if payloads, err := filepath.EvalSymlinks(e.Store.Payloads().Dir); err == nil {
		if rel, err := filepath.Rel(payloads, dir); err == nil && filepath.IsLocal(rel) {
			return "", robotmem.Errorf(robotmem.Invalid, "dir", "is inside the folder of payloads, "+
				"which must hold payloads only; name another")
		}
	}

	if _, err := os.Lstat(filepath.Join(dir, backupManifest)); err == nil {
		return "", robotmem.Errorf(robotmem.Invalid, "dir", "is a backup itself; name its parent folder")
	}

	return dir, nil
}

// sweepBackups removes the temporary folders of interrupted backups of this memory, and nothing else. The caller holds
// the folder's lock.
func sweepBackups(ctx context.Context, e *engine.Engine, dir string) error {
	id, err := e.Store.FileID(ctx)
	if err != nil {
		return err
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return backupDisk(err)
	}

	for _, entry := range entries {
		name, ok := strings.CutPrefix(entry.Name(), backupTemp)
		path := filepath.Join(dir, entry.Name())

		// Several memories may share the folder, so only a temporary folder that names this memory is removed.
		if !ok || !entry.IsDir() || !isBackupName(name) || id == "" || tempOwner(path) != id {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return backupDisk(err)
		}
	}

	return nil
}

// tempOwner returns the id of the file whose backup a temporary folder was, "" if it does not say so.
func tempOwner(path string) string {
	if note, err := os.ReadFile(filepath.Join(path, backupOwner)); err == nil {
		return strings.TrimSpace(string(note))
	}
	// A backup that was about to be removed has its manifest.
	return readBackup(path).FileID
}

// backupDisk explains an I/O error of the backup folder to callers. It returns other
// errors unchanged.
func backupDisk(err error) error {
	return diskError(err, "dir", "the folder of backups cannot be written (%w); earlier backups are kept; "+
		"check its disk's space and who may write there, or name another")
}

// diskError explains an I/O error to callers; format takes the reason.
func diskError(err error, field, format string) error {
	var (
		path *fs.PathError
		link *os.LinkError
	)
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	default:
		return err
	}

	return robotmem.Errorf(robotmem.Unavailable, field, format, err)
}

// lockBackups locks a folder of backups.
func lockBackups(dir string) (unlock func(), err error) {
	unlock, err = sqlite.LockFile(filepath.Join(dir, backupLock))
	if errors.Is(err, sqlite.ErrLocked) {
		return nil, robotmem.Errorf(robotmem.Unavailable, "dir", "%w", errRunning)
	}
	return unlock, backupDisk(err)
}

var errRunning = errors.New("another backup into this folder is running; try again when it has ended")

const (
	defaultKeep = 7
	// MaxKeep is the largest number of backups to keep.
	MaxKeep = 10_000
)

// rotate removes the earlier backups of this memory that are not kept. It renames each
// before the removal, so that no incomplete backup is ever listed.
func (b *job) rotate(ctx context.Context, keep int) (removed []string, err error) {
	removed = []string{}

	// ours does not contain the new backup, which counts towards keep.
	for _, p := range b.ours[:max(0, len(b.ours)+1-keep)] {
		// The next backup removes the rest.
		if ctx.Err() != nil {
			return removed, nil
		}

		temp := filepath.Join(b.dir, backupTemp+p.Name)
		if err := errors.Join(os.Rename(p.Path, temp), disk.SyncPath(b.dir)); err != nil {
			return removed, backupDisk(err)
		}
		if err := os.RemoveAll(temp); err != nil {
			return removed, backupDisk(err)
		}
		removed = append(removed, p.Name)
	}

	return removed, nil
}

// ofThisMemory returns the earlier backups of this file, oldest first. A backup without an id may be of any file and is
// left out.
func (b *job) ofThisMemory() (ours []Backup) {
	for _, p := range b.past {
		if p.Problem == "" && p.FileID != "" && p.FileID == b.report.FileID {
			ours = append(ours, p)
		}
	}
	return ours
}
