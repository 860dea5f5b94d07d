package local

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
)

// A full disk refuses what would grow the file, and says how much would be
// needed. The driver passes the system's reason on only while SQLite does nothing
// else before it gives up; where it is gone, a failed write and too little space
// are one.

// fullDisk reports whether an error is that of a disk, or a quota, without space
// for so many bytes.
func (e *Engine) fullDisk(err error, needed int64) bool {
	if errors.Is(err, sqlite3.FULL) || noSpace(err) {
		return true
	}
	for _, code := range []sqlite3.ExtendedErrorCode{sqlite3.IOERR_WRITE, sqlite3.IOERR_TRUNCATE, sqlite3.IOERR_SHMSIZE, sqlite3.IOERR_SHMMAP, sqlite3.IOERR_SHMOPEN} {
		if errors.Is(err, code) {
			free, ferr := e.options.Disk.FreeBytes(filepath.Dir(e.path))
			return ferr == nil && free < max(needed, frameBytes)
		}
	}
	return false
}

// diskFull is the error of what did not fit. needed says how much that is, as
// far as it is known.
func (e *Engine) diskFull(field, what, needed string, cause error) error {
	free := ""
	if n, err := e.options.Disk.FreeBytes(filepath.Dir(e.path)); err == nil {
		free = ", " + bytesText(n) + " are free"
	}
	text := "the disk is full: " + what + " needs " + needed + free + "; nothing was stored; free some space and try again"
	return &robotmem.Error{Kind: robotmem.Unavailable, Field: field, Err: &hidden{text, cause}}
}

func about(bytes int64) string {
	if bytes == 0 {
		return "more space"
	}
	return "about " + bytesText(bytes)
}

// needed says how large a payload is: as was declared, or at least as much as
// came of it.
func (in *incoming) needed(came int64) string {
	if in.size >= 0 {
		return about(in.size)
	}
	return "more than " + bytesText(came)
}

// notWritten explains why a commit failed, if the disk is full.
func (e *Engine) notWritten(err error) error {
	needed := e.writer.pagesWritten() * frameBytes
	if !e.fullDisk(err, needed) {
		return err
	}
	return e.diskFull("", "the write", about(needed), err)
}

// openFull explains why a memory does not open on a full disk: the index of the
// log takes indexBytes as long as a process has the file open, a new file its
// tables too.
func (e *Engine) openFull(err error) error {
	needed := int64(indexBytes)
	if info, err := os.Stat(e.path); err != nil || info.Size() <= pageSize {
		needed += newBytes
	}
	if !e.fullDisk(err, needed) {
		return err
	}
	return e.diskFull("db", "opening the memory for writing (--read-only reads it without)", about(needed), err)
}

const (
	pageSize = 4096
	// frameBytes is a page in the log, with its header.
	frameBytes = pageSize + 24
	// indexBytes is the index of the log at its smallest, newBytes the log of the
	// tables of a new file.
	indexBytes = 32 << 10
	newBytes   = 256 << 10
)

// pagesWritten is how many pages the connection has given to the log, or tried
// to, since it was last asked.
func (c *conn) pagesWritten() int64 {
	n, _, err := c.Status(sqlite3.DBSTATUS_CACHE_WRITE, true)
	if err != nil {
		return 0
	}
	return n
}

// arriving is a payload on its way in, and how much of it has come.
type arriving struct {
	io.Reader
	bytes int64
}

func (c *arriving) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	return n, err
}
