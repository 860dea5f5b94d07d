package sqlite

import (
	"errors"
	"io/fs"
	"net/url"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// dropReserved rewrites a file whose pages end in reserved bytes: those of older
// versions held checksums there, which no other SQLite program keeps up. VACUUM
// INTO writes a file without them, and the backup API copies it over the old one
// in one transaction, because VACUUM alone never lowers the number. It is left
// for the next opening while another process has the file open, and while the disk
// has no room for it.
func dropReserved(c *Conn, path string) error {
	reserved, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES)
	if err != nil || reserved == 0 {
		return err
	}
	err = rewriteUnreserved(c, path+".rewritten")
	if errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.FULL) || NoSpace(err) {
		err = nil
	}
	// The lock goes with the next reading.
	return errors.Join(err, c.Exec("PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_schema; PRAGMA journal_mode=WAL"))
}

func rewriteUnreserved(c *Conn, aside string) error {
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// To leave the log takes the lock of the whole file, which this mode keeps.
	if err := c.Exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE"); err != nil {
		return err
	}
	to := url.URL{Scheme: "file", OmitHost: true, Path: uriPath(aside), RawQuery: "reserve=0"}
	err := c.Exec("VACUUM INTO ?", to.String())
	if err == nil {
		err = c.Restore("main", fileURI(aside, ConnOptions{}))
	}
	return errors.Join(err, os.Remove(aside))
}
