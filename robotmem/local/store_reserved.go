package local

import (
	"errors"
	"io/fs"
	"net/url"
	"os"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
)

// refuseEmptied fails when a file without a byte has once held something: what
// belongs to it lies beside it. A memory that is new has neither a log nor
// payloads, and SQLite would delete the log.
func refuseEmptied(path string) error {
	empty := func() bool { info, err := os.Stat(path); return err == nil && info.Size() == 0 }
	if !empty() {
		return nil
	}
	beside := ""
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		beside = "its log lies"
	}
	if entries, err := os.ReadDir(path + payloadsSuffix); err == nil && len(entries) > 0 {
		beside = "payloads lie"
	}
	if beside == "" || !empty() { // another process has just begun it
		return nil
	}
	return robotmem.Errorf(robotmem.Corrupt, "db", "the file is empty, and yet %s beside it: something has emptied it; bring it back from a backup, or move what lies beside it away to begin anew", beside)
}

// dropReserved rewrites a file whose pages end in reserved bytes: those of older
// versions held checksums there, which no other SQLite program keeps up. VACUUM
// INTO writes a file without them, and the backup API copies it over the old one
// in one transaction, because VACUUM alone never lowers the number. It is left
// for the next opening while another process has the file open, and while the disk
// has no room for it.
func dropReserved(c *conn, path string) error {
	reserved, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES)
	if err != nil || reserved == 0 {
		return err
	}
	err = rewriteUnreserved(c, path+".rewritten")
	if errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.FULL) || noSpace(err) {
		err = nil
	}
	// The lock goes with the next reading.
	return errors.Join(err, c.Exec("PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_schema; PRAGMA journal_mode=WAL"))
}

func rewriteUnreserved(c *conn, aside string) error {
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// To leave the log takes the lock of the whole file, which this mode keeps.
	if err := c.Exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE"); err != nil {
		return err
	}
	to := url.URL{Scheme: "file", OmitHost: true, Path: uriPath(aside), RawQuery: "reserve=0"}
	err := c.exec("VACUUM INTO ?", to.String())
	if err == nil {
		err = c.Restore("main", fileURI(aside, connOptions{}))
	}
	return errors.Join(err, os.Remove(aside))
}
