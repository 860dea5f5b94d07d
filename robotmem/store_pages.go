package robotmem

import (
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

// Every page of a file that this program made ends in a checksum (package
// pagesum): a page that does not match it is an error of whoever reads it, never
// an answer. Other SQLite programs read such a file, and spoil the sums of the
// pages they write.

// bearChecksums makes room for them in a file that has no page yet.
func (c *conn) bearChecksums() error {
	pages, err := c.number("PRAGMA page_count")
	if err != nil || pages > 0 {
		return err
	}
	_, err = c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, pagesum.Reserved)
	return err
}

// hasChecksums is true when the pages carry them.
func (c *conn) hasChecksums() (bool, error) {
	n, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES)
	return n == pagesum.Reserved, err
}

// addChecksums writes the file anew with them. Whoever else has the file open
// would go on without, and so must not: a Busy error says that somebody has.
// The log keeps it whole if it is cut short.
func (c *conn) addChecksums() error {
	// To leave the log takes the lock of the whole file, which this mode keeps.
	// A log that was begun in it ends in it.
	err := c.Exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE")
	if err == nil {
		err = c.Exec("PRAGMA journal_mode=WAL")
		if err == nil {
			_, err = c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, pagesum.Reserved)
			err = errors.Join(err, c.Exec("VACUUM"))
		}
		err = errors.Join(err, c.Exec("PRAGMA journal_mode=DELETE"))
	}
	// The lock goes with the next reading.
	return errors.Join(err, c.Exec("PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_schema; PRAGMA journal_mode=WAL"))
}

// examineChecksums says whether a flipped bit would be noticed.
func (c *conn) examineChecksums(d *DoctorResponse) error {
	has, err := c.hasChecksums()
	if err != nil {
		return err
	}
	if has {
		d.add("checksums", checkOK, "every page carries one", "")
		return nil
	}
	d.add("checksums", checkWarn, "pages carry no checksums, or those of SQLite: the file is of an older version, and damage in it may go unnoticed",
		"while no other program has the file open, run: robotmem doctor --repair")
	return nil
}
