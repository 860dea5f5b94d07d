package sqlite

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
)

// ErrClosed says that the file was closed by this process.
var ErrClosed = robotmem.Errorf(robotmem.Unavailable, "", "the memory is closed")

// Wrap gives err its operation. An error that is not a *robotmem.Error gets its kind
// from Explain, so that no SQL, path or stack reaches a caller.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	named := *Explain(err)
	named.Op = cmp.Or(named.Op, op)
	return &named
}

// Explain gives an error of the file its kind and a text for callers: what failed and
// what to do next, without SQL or paths. A *robotmem.Error is returned as it is.
func Explain(err error) *robotmem.Error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return robotmem.Errorf(robotmem.Unavailable, "", "the deadline passed before it was done; allow more time")
	}
	if errors.Is(err, context.Canceled) {
		return robotmem.Errorf(robotmem.Unavailable, "", "cancelled by the caller before it was done")
	}

	var code sqlite3.ErrorCode
	if !errors.As(err, &code) {
		return &robotmem.Error{Kind: robotmem.Internal, Err: &hidden{"an internal error; see the node's log", err}}
	}

	damaged := func(text string) bool { return strings.Contains(err.Error(), text) }
	if IsCorrupt(err) || errors.Is(err, sqlite3.ERROR) && slices.ContainsFunc(schemaTexts, damaged) {
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
		kind, text = robotmem.Corrupt, "the file is not a SQLite database; it was left as it is; pass another --db, or, if it was a memory and is damaged, run robotmem doctor --repair"
	case sqlite3.CORRUPT:
		kind, text = robotmem.Corrupt, "the file is damaged and was left as it is; stop every robotmem that uses it, then run robotmem doctor --repair, which recovers what can be read into a new file and keeps this one; or bring it back from a backup"
	case sqlite3.INTERRUPT:
		kind, text = robotmem.Unavailable, "interrupted before it was done; try again"
	case sqlite3.TOOBIG:
		kind, text = robotmem.TooLarge, "the value is larger than the file can hold"
	case sqlite3.NOMEM:
		kind, text = robotmem.Unavailable, "out of memory; nothing was stored"
	}

	return &robotmem.Error{Kind: kind, Err: &hidden{text, err}}
}

// IsCorrupt reports whether SQLite found the file damaged. All JSON in the file
// was written by this program, so JSON that SQLite cannot parse is damage too.
func IsCorrupt(err error) bool {
	return errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.IOERR_CORRUPTFS) || errors.Is(err, sqlite3.IOERR_SHORT_READ) ||
		errors.Is(err, sqlite3.ERROR) && strings.Contains(err.Error(), "malformed JSON")
}

// schemaTexts are of errors that SQLite and FTS5 give no code of their own. This program
// wrote the schema and writes all SQL: what does not fit is damage.
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

// hidden is an error with a text for callers and a cause for the log.
type hidden struct {
	text  string
	cause error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.cause }

// Cause is what Explain hides from callers, for the doctor: it may name paths.
func Cause(err error) string {
	if h := (*hidden)(nil); errors.As(err, &h) {
		return h.cause.Error()
	}
	return err.Error()
}

// Reason is the innermost cause of a file error, without its path.
func Reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err.Error()
	}

	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}

	return err.Error()
}

// The driver reports the system's reason only if SQLite does nothing else before it
// gives up; otherwise a failed write and too little free space count as a full disk.

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
	if !isAny(err, sqlite3.IOERR_WRITE, sqlite3.IOERR_TRUNCATE, sqlite3.IOERR_SHMSIZE, sqlite3.IOERR_SHMMAP, sqlite3.IOERR_SHMOPEN) {
		return false
	}

	free, ferr := db.o.Disk.FreeBytes(filepath.Dir(db.path))
	return ferr == nil && free < max(needed, frameBytes)
}

// DiskFull is the error of something that did not fit.
func (db *DB) DiskFull(field string, cause error) error {
	free := ""
	if n, err := db.o.Disk.FreeBytes(filepath.Dir(db.path)); err == nil {
		free = " (" + BytesText(n) + " are free)"
	}
	text := "the disk is full" + free + "; nothing was stored; free some space and try again"
	return &robotmem.Error{Kind: robotmem.Unavailable, Field: field, Err: &hidden{text, cause}}
}

// BytesText is a number of bytes as people read it.
func BytesText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// notOpened explains why a file does not open on a full disk. A migration writes all
// pages to the log.
func (db *DB) notOpened(err error) error {
	needed := int64(openBytes)
	if info, serr := os.Stat(db.path); serr == nil {
		needed += info.Size()
	}
	return db.fullDisk(err, needed)
}
