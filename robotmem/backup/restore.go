package backup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// RestoreReport is the result of [Restore].
type RestoreReport struct {
	Backup Backup `json:"backup"`
	Path   string `json:"path"`
	// Before and After are the counts before and after the restore. Before is absent
	// when there was no readable file.
	Before *Figures `json:"before,omitempty"`
	After  Figures  `json:"after"`
	// Aside is the new path of the replaced file, with its payloads.
	Aside string `json:"aside,omitempty"`
	// Note says that the backup is of another memory than the one that it has replaced.
	Note   string                `json:"note,omitempty"`
	Doctor *admin.DoctorResponse `json:"doctor"`
}

// checkpointTimeout limits how long a restore waits for a program that is closing the file.
const checkpointTimeout = 500 * time.Millisecond

// Restore replaces the memory at path by a backup, opens it with o and runs Doctor. A
// backup is a folder that [Make] has made, or a memory file that no program has open,
// such as Aside of an earlier restore. It is verified first. The replaced file is kept
// under another name. The replacement is one rename, so that an interruption at any
// point leaves a complete memory at path, the old one or the new one.
//
// It fails with Unavailable, and changes nothing, while a program has path
// open; Corrupt when the backup is damaged; NotFound when there is none.
func Restore(ctx context.Context, backup, path string, o local.Options) (_ *RestoreReport, err error) {
	defer func() { err = robotmem.Wrap("backup", err) }()
	if err := o.Check(); err != nil {
		return nil, err
	}

	place, err := files.Resolve(path)
	if err != nil {
		return nil, err
	}

	if ctx, err = local.WithKey(ctx, o.Key); err != nil {
		return nil, err
	}

	r := &restore{at: place, release: func() {}}
	if err := r.from(ctx, backup); err != nil {
		return nil, err
	}

	// The backup was verified without the lock, which may take minutes. From here on no program may use the memory.
	err = r.claim(ctx)
	if err == nil {
		err = restoreDisk(r.swap(ctx))
	}

	// Doctor opens the memory as any program does, so the lock must be gone.
	r.release()
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx, o); err != nil {
		return nil, err
	}

	return &r.report, nil
}

// restore holds the state of a running restore.
type restore struct {
	at      files.Memory // the memory that is replaced
	source  files.Memory // the file of the backup
	was, is *keys.Keys   // of the replaced and of the restored file; nil for one in clear
	exists  bool         // there is a file to replace
	id      string       // id of the replaced file, which the restored file keeps; "" for a new file
	release func()       // releases the lock on it; may be called twice
	old     [][32]byte
	report  RestoreReport
}

// from finds and verifies the backup.
func (r *restore) from(ctx context.Context, backup string) error {
	info, err := os.Stat(backup)
	if err != nil || info.IsDir() {
		b, err := findBackup(backup)
		if err != nil {
			return err
		}
		r.report.Backup, r.source = *b, files.At(filepath.Join(b.Path, b.File))
		if r.is, err = keys.Find(ctx, r.source); err != nil {
			return err
		}

		return b.verify(ctx)
	}

	if r.source, err = files.Resolve(backup); err != nil {
		return robotmem.Errorf(robotmem.Invalid, "", "is not a path")
	}
	if at, err := os.Stat(r.at.DB()); err == nil && os.SameFile(at, info) {
		return robotmem.Errorf(robotmem.Invalid, "", "is the memory itself")
	}

	r.report.Backup = Backup{
		Path:      r.source.Folder(),
		Name:      r.source.Base(),
		File:      r.source.Base(),
		CreatedAt: info.ModTime(),
	}

	if r.is, err = keys.Find(ctx, r.source); err != nil {
		return err
	}

	// The checkpoint of its log also shows whether it is in use.
	r.report.Backup.Held, err = checkpointLog(ctx, r.source.DB(), r.is)
	if sqlite.IsBusy(err) {
		return robotmem.Errorf(robotmem.Unavailable, "", "another program has this file open; "+
			"stop it, or make a backup of the file")
	}
	if err != nil {
		return err
	}

	return verifyCopy(ctx, r.source, r.report.Backup.Held)
}

// claim locks the file until release. It fails while another program has the file open.
func (r *restore) claim(ctx context.Context) error {
	if err := os.MkdirAll(r.at.Folder(), 0o700); err != nil {
		return restoreDisk(err)
	}

	f, err := os.OpenFile(r.at.DB(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return restoreDisk(err)
	}

	if r.was, err = keys.Find(ctx, r.at); errors.Is(err, robotmem.Invalid) {
		err = robotmem.Errorf(robotmem.Invalid, "key", "opens the backup, and does not open the memory that it would "+
			"replace; restore to another file with --to; nothing was changed")
	}
	if err == nil && r.was != nil && r.is != nil && !r.was.Same(r.is) {
		err = robotmem.Errorf(robotmem.Conflict, "db", "the memory and the backup are encrypted with different keys, "+
			"which cannot be exchanged at one moment; restore to another file with --to; nothing was changed")
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}

	r.exists = true
	r.release = func() { _ = f.Close() }

	// The restored file keeps the id of this place, so that its backups and its folder of payloads stay its own.
	was := fileIDOf(ctx, r.at.DB(), r.was)
	if was != "" && r.report.Backup.FileID != "" && was != r.report.Backup.FileID {
		r.report.Note = "the backup is of another memory than the one that was here; if that was not meant, " +
			"undo it before the next backup, which counts the earlier backups of this place as its own"
	}

	r.id = cmp.Or(was, r.report.Backup.FileID)
	err = sqlite.KeepOut(f, r.at.DB(), func() error {
		held, err := checkpointLog(ctx, r.at.DB(), r.was)
		switch {
		case sqlite.IsBusy(err):
			return sqlite.ErrLocked
		case err == nil:
			r.report.Before = &held
		}

		// A damaged or foreign file is kept with its log.
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}

	return inUse(err, "; or restore to another file with --to")
}

// fileIDOf reads the id of a file, "" if it has none or is damaged.
func fileIDOf(ctx context.Context, path string, k *keys.Keys) string {
	c, err := openCopy(ctx, path, k)
	if err != nil {
		return ""
	}
	defer func() { _ = c.Close() }() // opened for reading only
	id, err := c.FileID()
	if err != nil {
		// It is of an earlier version, or damaged.
		return ""
	}

	return id
}

// inUse explains why the lock failed. On file systems without locks, open files are not detected.
func inUse(err error, other string) error {
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}

	return robotmem.Errorf(robotmem.Unavailable, "db", "a program has the memory open (%w); nothing was changed; "+
		"end it (robotmem web, mcp and what else uses this file) and try again%s", err, other)
}

// swap prepares all files beside path and then renames the new file to path.
func (r *restore) swap(ctx context.Context) error {
	staged := r.at.Staged().DB()
	defer func() { _ = os.Remove(staged) }() // fails if it was renamed

	// The backup has no log, so the file alone is all of it.
	if err := disk.CopyWhole(ctx, r.source.DB(), staged); err != nil {
		return err
	}

	r.report.After = r.report.Backup.Held

	// Both steps only add files. An interruption up to the rename leaves the old memory as it was.
	if err := r.setAside(ctx); err != nil {
		return err
	}
	if err := r.restorePayloads(ctx, staged); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Windows cannot rename over an open file.
	if runtime.GOOS == "windows" {
		r.release()
	}

	// The logs of a damaged file were kept with it. SQLite would apply them to the new file.
	for _, log := range r.at.Logs() {
		if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	// A file of keys beside a file in clear is what an interrupted encryption leaves, which can be continued. So the
	// file of keys comes first, and goes last.
	if r.is != nil {
		if err := r.is.Save(disk.System{}, r.at); err != nil {
			return err
		}
	}
	if err := r.place(staged); err != nil {
		return err
	}
	if r.is == nil && r.was != nil {
		if err := os.Remove(r.at.Keys()); err != nil {
			return err
		}
	}

	return disk.SyncPath(r.at.Folder())
}

// place renames the staged file to path. If path did not exist, it does not replace a
// file that another program has created meanwhile.
func (r *restore) place(staged string) error {
	if !r.exists {
		if err := os.Link(staged, r.at.DB()); err == nil {
			return nil
		} else if errors.Is(err, fs.ErrExist) {
			return inUse(sqlite.ErrLocked, "")
		}
	}

	return os.Rename(staged, r.at.DB())
}

// setAside gives the file and its payloads a second name, the file last, so that its second name
// shows that all have one. A log may lie there without its file, which was moved.
func (r *restore) setAside(ctx context.Context) (err error) {
	if _, err := os.Lstat(r.at.Log()); !r.exists && err != nil {
		return nil //nolint:nilerr // nothing is there
	}

	aside := r.at.BeforeRestore(time.Now())
	from, to := folderOf(r.at, r.was), folderOf(aside, r.was)
	if r.old, _, err = from.List(); err != nil {
		return err
	}

	// Payloads are linked and not moved, because the old memory must stay complete until the rename.
	for _, sum := range r.old {
		if _, err := from.Share(ctx, sum, payload.Raw, to); err != nil && !errors.Is(err, payload.ErrMissing) {
			return err
		}
	}

	if err := to.Settle(); err != nil {
		return err
	}

	for _, f := range [][2]string{
		{r.at.Keys(), aside.Keys()},
		{r.at.Log(), aside.Log()},
		{r.at.Journal(), aside.Journal()},
		{r.at.DB(), aside.DB()},
	} {
		err := disk.LinkOrCopy(ctx, f[0], f[1])
		if err != nil && (f[0] == r.at.DB() && r.exists || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}

	r.report.Aside = aside.DB()

	return disk.SyncPath(aside.Folder())
}

// restorePayloads adds the backup's payloads to the folder. Names are checksums, so equal
// names have equal bytes.
func (r *restore) restorePayloads(ctx context.Context, staged string) (err error) {
	c, err := openCopy(ctx, staged, r.is)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, c.Close()) }()
	from, to := folderOf(r.source, r.is), folderOf(r.at, r.is)
	m := progress.Of(ctx)
	m.Stage("bringing payloads back", "bytes", r.report.After.PayloadBytes)
	err = eachPayload(c, false, func(p payloadRow) error {
		m.Add(p.Size)
		if to.Verify(ctx, p.Sum, p.Codec, p.Size, nil) == nil {
			return nil
		}

		// The payload is missing, or it is damaged and must not stay under this name.
		if err := to.Remove(p.Sum); err != nil {
			return err
		}
		_, err := fetch(ctx, p, from, to)
		if !p.wanted && isLost(err) {
			return nil
		}

		return err
	})
	if err != nil {
		return err
	}

	return to.Settle()
}

// open runs Doctor on the restored memory and removes the payloads that only the
// replaced memory refers to, which are kept with it.
func (r *restore) open(ctx context.Context, o local.Options) error {
	r.report.Path = r.at.Name()

	// A backup in clear stays in clear, whatever it replaces.
	if r.is == nil {
		ctx, o.Key = keys.Without(ctx), ""
		if r.was != nil {
			r.report.Note = "the memory is in clear now, as the backup was; robotmem encrypt encrypts it again"
		}
	}

	n, err := local.Open(ctx, r.at.Name(), o)
	if err != nil {
		return err
	}

	e := engine.Of(n)

	err = keepID(ctx, e, r.id)
	if err == nil {
		err = e.Store.RemoveFiles(ctx, r.old)
	}
	if err == nil {
		r.report.Doctor, err = e.Doctor(ctx, &admin.DoctorRequest{})
	}

	if err == nil && e.Store.ReadOnly() == "" {
		// The restore has succeeded, so an error of the audit entry is ignored.
		reason := "the whole memory, from the backup " + r.report.Backup.Name
		row := admin.AuditEntry{Action: store.ActionRestored, Reason: reason}
		if err := e.Store.Write(ctx, func(tx *store.Tx) error { return tx.Audit(row) }); err != nil {
			e.Log.Warn("the restore is not in the audit log", "err", err)
		}
	}

	return errors.Join(err, e.Close())
}

// keepID gives a file that took the place of another the id of that, unless it is "".
func keepID(ctx context.Context, e *engine.Engine, id string) error {
	if id == "" || e.Store.ReadOnly() != "" {
		return nil
	}
	if err := e.Store.Write(ctx, func(tx *store.Tx) error { return tx.KeepFileID(id) }); err != nil {
		return err
	}

	// Without this claim on the folder of payloads, a later repair removes less.
	return e.Store.ClaimFolder(ctx, true)
}

// restoreDisk explains an I/O error at the restored memory to callers.
func restoreDisk(err error) error {
	return diskError(err, "db", "cannot be written (%w); the memory there is as it was; "+
		"check the disk's space and who may write there, or restore to another file with --to")
}
