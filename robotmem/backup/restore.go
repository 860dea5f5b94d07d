package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// RestoreReport is what [Restore] did.
type RestoreReport struct {
	Backup Backup `json:"backup"`
	Path   string `json:"path"`
	// Before and After are what the memory held. Before is absent when there was
	// no file, or one that cannot be read.
	Before *Figures `json:"before,omitempty"`
	After  Figures  `json:"after"`
	// Aside is where the file that was there is now, with its payloads.
	Aside  string                `json:"aside,omitempty"`
	Doctor *admin.DoctorResponse `json:"doctor"`
}

// foldTimeout is how long a restore waits for a program that is closing the file.
const foldTimeout = 500 * time.Millisecond

// Restore puts a backup in the place of path, opens it with o and runs
// Doctor. A backup is a folder that [Make] has made, or a memory's file that no
// program has open, such as Aside of an earlier restore. It is verified first. The
// file at path is kept under another name. The exchange is one rename: whatever
// interrupts it, there is a whole memory at path, the old one or the new one.
//
// It fails with Unavailable, and changes nothing, while a program has path
// open; Corrupt when the backup is damaged; NotFound when there is none.
func Restore(ctx context.Context, backup, path string, o local.Options) (*RestoreReport, error) {
	report, err := restoreBackup(ctx, backup, path, o)
	if err != nil {
		return nil, sqlite.Wrap("backup", err)
	}
	return report, nil
}

func restoreBackup(ctx context.Context, backup, path string, o local.Options) (*RestoreReport, error) {
	if err := o.Complete(); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is required: the path of the memory's file")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is not a path")
	}
	r := &restore{path: path, real: path, release: func() {}}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		r.real = real
	}
	if err := r.from(ctx, backup); err != nil {
		return nil, err
	}
	err = r.claim(ctx)
	if err == nil {
		err = restoreDisk(r.swap(ctx))
	}
	r.release()
	if err != nil {
		return nil, err
	}
	return &r.report, r.open(ctx, o)
}

// restore is a restore that is being made.
type restore struct {
	path, real string // the file as it was named, and without symbolic links
	source     string // the file of the backup
	exists     bool   // there is a file in the way
	release    func() // ends the claim on it; may be called twice
	old        [][32]byte
	report     RestoreReport
}

// from finds and verifies the backup.
func (r *restore) from(ctx context.Context, backup string) error {
	info, err := os.Stat(backup)
	if err != nil || info.IsDir() {
		b, err := findBackup(backup)
		if err != nil {
			return err
		}
		r.report.Backup, r.source = *b, filepath.Join(b.Path, b.File)
		return b.verify(ctx)
	}
	if r.source, err = filepath.Abs(backup); err != nil {
		return robotmem.Errorf(robotmem.Invalid, "", "is not a path")
	}
	if at, err := os.Stat(r.real); err == nil && os.SameFile(at, info) {
		return robotmem.Errorf(robotmem.Invalid, "", "is the memory itself")
	}
	r.report.Backup = Backup{Path: filepath.Dir(r.source), Name: filepath.Base(r.source), File: filepath.Base(r.source), CreatedAt: info.ModTime()}
	// Checkpointing its log also tells whether it is in use.
	r.report.Backup.Held, err = foldLog(ctx, r.source)
	if sqlite.IsBusy(err) {
		return robotmem.Errorf(robotmem.Unavailable, "", "another program has this file open; end it, or make a backup of it")
	}
	if err != nil {
		return err
	}
	return verifyCopy(ctx, r.source, r.report.Backup.Held, nil)
}

// claim fails while another program has the file open, and prevents opening it until
// release.
func (r *restore) claim(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(r.real), 0o700); err != nil {
		return restoreDisk(err)
	}
	f, err := os.OpenFile(r.real, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return restoreDisk(err)
	}
	r.exists, r.release = true, func() { _ = f.Close() }
	err = sqlite.KeepOut(f, r.real, func() error {
		held, err := foldLog(ctx, r.real)
		switch {
		case sqlite.IsBusy(err):
			return sqlite.ErrLocked
		case err == nil:
			r.report.Before = &held
		}
		return nil // a file that is damaged or not ours is set aside with its log
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return inUse(err)
}

// inUse explains a lock that could not be taken. Where files cannot be locked, open
// files cannot be noticed.
func inUse(err error) error {
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return robotmem.Errorf(robotmem.Unavailable, "db", "a program has the memory open (%w); nothing was changed; end it (robotmem web, mcp and what else uses this file) and try again, or restore to another file with --to", err)
}

// swap gets everything ready beside the file and then takes its place.
func (r *restore) swap(ctx context.Context) error {
	staged := r.real + ".tmp-" + rand.Text()[:8]
	defer func() { _ = os.Remove(staged) }() // unless it was renamed
	if err := r.stage(ctx, staged); err != nil {
		return err
	}
	if err := r.setAside(ctx); err != nil {
		return err
	}
	if err := r.bringPayloads(ctx, staged); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // it renames nothing over a file that is open
		r.release()
	}
	// The logs of a damaged file were set aside. SQLite would read them into the new
	// file.
	for _, suffix := range logSuffixes {
		if err := os.Remove(r.real + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := r.place(staged); err != nil {
		return err
	}
	return sqlite.SyncPath(filepath.Dir(r.real))
}

// place gives the staged file the name of the memory. Where there was none, one
// that a program has made meanwhile is not replaced.
func (r *restore) place(staged string) error {
	if !r.exists {
		if err := os.Link(staged, r.real); err == nil {
			return nil
		} else if errors.Is(err, fs.ErrExist) {
			return inUse(sqlite.ErrLocked)
		}
	}
	return os.Rename(staged, r.real)
}

// logSuffixes name what SQLite keeps beside a file that was not closed.
var logSuffixes = []string{"-wal", "-journal", "-shm"}

// stage copies the file of the backup beside the one that it replaces.
func (r *restore) stage(ctx context.Context, staged string) error {
	c, err := openCopy(ctx, r.source)
	if err != nil {
		return err
	}
	err = c.Exec("BEGIN")
	if err == nil {
		r.report.After, err = figures(c)
	}
	size, serr := bytes(c)
	if err = errors.Join(err, serr); err == nil {
		err = roomFor(filepath.Dir(r.real), size)
	}
	if err == nil {
		err = copyDatabase(c, ctx, staged, progress.Of(ctx))
	}
	return errors.Join(err, c.Close())
}

// setAside gives the file and its payloads a second name, the file last: if it has
// one, all of it has.
func (r *restore) setAside(ctx context.Context) (err error) {
	if !r.exists {
		return nil
	}
	aside := fmt.Sprintf("%s.before-restore-%s", r.path, time.Now().UTC().Format(backupTime))
	from, to := payload.Folder{Dir: r.path + store.PayloadsSuffix}, payload.Folder{Dir: aside + store.PayloadsSuffix}
	if r.old, _, err = from.List(); err != nil {
		return err
	}
	for _, sum := range r.old {
		if _, err := from.Share(ctx, sum, payload.Raw, to); err != nil && !errors.Is(err, payload.ErrMissing) {
			return err
		}
	}
	if err := to.Settle(); err != nil {
		return err
	}
	for _, suffix := range append(logSuffixes[:2:2], "") {
		err := sqlite.LinkOrCopy(ctx, r.real+suffix, aside+suffix)
		if err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	r.report.Aside = aside
	return sqlite.SyncPath(filepath.Dir(aside))
}

// bringPayloads adds the backup's payloads to the folder: names are checksums, so
// that a name has the same bytes everywhere.
func (r *restore) bringPayloads(ctx context.Context, staged string) (err error) {
	c, err := openCopy(ctx, staged)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	from, to := payload.Folder{Dir: r.source + store.PayloadsSuffix}, payload.Folder{Dir: r.path + store.PayloadsSuffix}
	m := progress.Of(ctx)
	m.Stage("bringing payloads back", "bytes", r.report.After.PayloadBytes)
	err = keptPayloads(c, false, func(p keptPayload) error {
		m.Add(p.Size)
		if to.Verify(ctx, p.Sum, p.Codec, p.Size, nil) == nil {
			return nil
		}
		// It is missing, or damaged; then it was set aside.
		if err := to.Remove(p.Sum); err != nil {
			return err
		}
		_, err := from.Share(ctx, p.Sum, p.Codec, to)
		if err == nil {
			err = to.Verify(ctx, p.Sum, p.Codec, p.Size, nil)
		}
		if !p.wanted && (errors.Is(err, payload.ErrMissing) || errors.Is(err, payload.ErrDamaged)) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return to.Settle()
}

// open runs Doctor on the restored memory, and removes the payloads that only the old
// memory named, which were set aside.
func (r *restore) open(ctx context.Context, o local.Options) error {
	r.report.Path = r.path
	e, err := local.Open(ctx, r.path, o)
	if err != nil {
		return err
	}
	err = e.Store.RemoveFiles(ctx, r.old)
	if err == nil {
		r.report.Doctor, err = e.Doctor(ctx, &admin.DoctorRequest{})
	}
	if err == nil && e.Store.ReadOnly() == "" {
		// The memory is restored, whatever becomes of this row.
		row := admin.AuditEntry{Action: store.ActionRestored, Reason: "the whole memory, from the backup " + r.report.Backup.Name}
		if err := e.Store.Write(ctx, func(tx *store.Tx) error { return tx.Audit(row) }); err != nil {
			e.Log.Warn("the restore is not in the audit log", "err", err)
		}
	}
	return errors.Join(err, e.Close())
}

// restoreDisk gives an error of the disk that is restored to a text for callers.
func restoreDisk(err error) error {
	return diskError(err, "db", "cannot be written (%w); the memory there is as it was; check the disk's space and who may write there, or restore to another file with --to")
}
