package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// fault is an error of SQLite's driver, with what callers are told of it.
type fault struct{ error }

// explained returns an error of the driver as one that robotmem.Explain understands.
func explained(err error) error {
	var code sqlite3.ErrorCode
	if known := (*fault)(nil); err == nil || errors.As(err, &known) || !errors.As(err, &code) {
		return err
	}
	return &fault{err}
}

func (f *fault) Unwrap() error { return f.error }

// Is reports whether the error is of the kind target. For ErrDamagedPage it reports whether a page is damaged.
func (f *fault) Is(target error) bool {
	if target == store.ErrDamagedPage {
		return isCorrupt(f.error)
	}
	kind, ok := target.(robotmem.Kind)
	return ok && f.Explain().Kind == kind
}

// Explain gives an error of the file its kind and a text for callers: what failed and
// what to do next, without SQL or paths.
func (f *fault) Explain() *robotmem.Error {
	err := f.error

	var code sqlite3.ErrorCode
	errors.As(err, &code)

	damaged := func(text string) bool { return strings.Contains(err.Error(), text) }
	if isCorrupt(err) || errors.Is(err, sqlite3.ERROR) && slices.ContainsFunc(schemaTexts, damaged) {
		code = sqlite3.CORRUPT
	}

	text, kind := "an internal error; see the node's log", robotmem.Internal
	if disk.NoSpace(err) {
		code = sqlite3.FULL
	}

	switch code {
	case sqlite3.BUSY, sqlite3.LOCKED, sqlite3.PROTOCOL:
		kind, text = robotmem.Unavailable, "another program holds the file's lock; nothing was stored; try again, or stop the other program"
	case sqlite3.FULL:
		kind, text = robotmem.Unavailable, "the disk is full; nothing was stored; free some space and try again"
	case sqlite3.IOERR:
		kind, text = robotmem.Unavailable, "the disk did not read or write, perhaps because it is full; nothing was stored; check its space and health, then try again"
		if errors.Is(err, syscall.EROFS) {
			text = "the disk can only be read, as one is after a fault; nothing was stored; recall goes on; check its health and mount it for writing"
		}
		// EBADF: it was opened for reading alone.
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBADF) {
			text = "the system does not allow this program to read or write the file or its log; nothing was stored; check who owns and may write the file, its -wal and -shm and their folder"
		}
	case sqlite3.READONLY, sqlite3.CANTOPEN, sqlite3.PERM, sqlite3.AUTH:
		kind, text = robotmem.Unavailable, "the file cannot be opened for writing; check that its folder exists and is writable, or pass another --db"
		if errors.Is(err, sqlite3.READONLY_ROLLBACK) {
			text = "a killed program left a change of the file half done, and undoing it takes writing; open the file once without --read-only"
		}
	case sqlite3.NOTADB:
		kind, text = robotmem.Corrupt, "the file is not a SQLite database; it was left as it is; pass another --db, or, if it was a memory and is damaged, run robotmem doctor --repair; if it was encrypted, bring its file of keys (.keys) back from a backup"
	case sqlite3.CORRUPT:
		kind, text = robotmem.Corrupt, "the file is damaged and was left as it is; stop every robotmem that uses it, then run robotmem doctor --repair, which recovers what can be read into a new file and keeps this one; or bring it back from a backup"
	case sqlite3.INTERRUPT:
		kind, text = robotmem.Unavailable, "interrupted before it was done; try again"
	case sqlite3.TOOBIG:
		kind, text = robotmem.TooLarge, "the value is larger than the file can hold"
	case sqlite3.NOMEM:
		kind, text = robotmem.Unavailable, "out of memory; nothing was stored"
	}

	return &robotmem.Error{Kind: kind, Err: robotmem.Hide(text, err)}
}

// isCorrupt reports whether SQLite found the file damaged. All JSON in the file
// was written by this program, so JSON that SQLite cannot parse is damage too.
func isCorrupt(err error) bool {
	return errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.IOERR_CORRUPTFS) || errors.Is(err,
		sqlite3.IOERR_SHORT_READ) ||
		errors.Is(err, sqlite3.ERROR) && strings.Contains(err.Error(), "malformed JSON")
}

// schemaTexts are parts of the texts of errors for which SQLite and FTS5 have no code. This
// program wrote the schema and writes all SQL, so an error that one does not fit the other means
// damage.
var schemaTexts = []string{
	"no such ", "has no column named", "duplicate column name", "already exists", // SQL that does not fit the schema
	"unsupported file format", "invalid fts5 file format", "vtable constructor failed",
	"parse error in", "directive", "tokenizer", "unrecognized", "reserved fts5", // the declaration of a virtual table
}

// IsBusy reports whether another connection has a lock.
func IsBusy(err error) bool { return errors.Is(err, sqlite3.BUSY) }

// IsConstraint reports whether a row breaks a rule of its table.
func IsConstraint(err error) bool { return errors.Is(err, sqlite3.CONSTRAINT) }

// IsDamage reports whether a part of the file cannot be read.
func IsDamage(err error) bool {
	return isAny(err, sqlite3.CORRUPT, sqlite3.IOERR, sqlite3.NOTADB, sqlite3.ERROR)
}

func isAny[Code error](err error, codes ...Code) bool {
	return slices.ContainsFunc(codes, func(code Code) bool { return errors.Is(err, code) })
}

// The driver reports the reason of the system only if SQLite does nothing else before it gives up.
// Otherwise a failed write on a disk with too little free space counts as a full disk.

const (
	// frameBytes is a page in the log, with its header.
	frameBytes = PageSize + 24
	// openBytes is what opening a file may take beside its pages: the tables of a new one
	// and the index of the log.
	openBytes = 256 << 10
)

// fullDisk returns the error of a disk, or a quota, without space for so many bytes. It
// returns other errors unchanged.
func (db *DB) fullDisk(err error, needed int64) error {
	if db.isFullDisk(err, needed) {
		return db.DiskFull("", err)
	}
	return err
}

func (db *DB) isFullDisk(err error, needed int64) bool {
	if errors.Is(err, sqlite3.FULL) || disk.NoSpace(err) {
		return true
	}
	if !isAny(err, sqlite3.IOERR_WRITE, sqlite3.IOERR_TRUNCATE, sqlite3.IOERR_SHMSIZE, sqlite3.IOERR_SHMMAP,
		sqlite3.IOERR_SHMOPEN) {
		return false
	}

	free, ferr := db.o.Disk.FreeBytes(filepath.Dir(db.path))

	return ferr == nil && free < max(needed, frameBytes)
}

// DiskFull is the error of something that did not fit.
func (db *DB) DiskFull(field string, cause error) error {
	free := ""
	if n, err := db.o.Disk.FreeBytes(filepath.Dir(db.path)); err == nil {
		free = " (" + units.BytesText(n) + " are free)"
	}
	text := "the disk is full" + free + "; nothing was stored; free some space and try again"
	return &robotmem.Error{Kind: robotmem.Unavailable, Field: field, Err: robotmem.Hide(text, cause)}
}

// notOpened returns the error of a file that did not open: that of a full disk if there was
// too little space. A migration writes all pages to the log, so it needs that much space again.
func (db *DB) notOpened(err error) error {
	needed := int64(openBytes)
	if info, serr := os.Stat(db.path); serr == nil {
		needed += info.Size()
	}
	return db.fullDisk(err, needed)
}
