package store

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Everything that belongs to a file but is kept elsewhere carries its id: backups, the state of their
// schedule, the tokens, the site that it has joined. A name proves nothing, since robots that were set up alike
// name their files alike.

// FileID returns the id of the file, "" on another database.
func (c *Conn) FileID() (id string, err error) {
	if c.File() == nil {
		return "", nil
	}
	_, err = c.One("SELECT file_id FROM identity", nil, func(r sqlite.Row) { id = r.ColumnText(0) })
	return id, err
}

// FileID is [Conn.FileID] in a snapshot of its own.
func (s *Store) FileID(ctx context.Context) (id string, err error) {
	err = s.Read(ctx, func(c *Conn) (err error) { id, err = c.FileID(); return err })
	return id, err
}

// newIdentity gives a file an id. Its place is set when it is opened.
func newIdentity(c *Conn) error { return c.SetFileID(newFileID()) }

func newFileID() string { return strings.ToLower(rand.Text()) }

// KeepFileID gives an open file the id of the one that it has replaced.
func (c *Conn) KeepFileID(id string) error { return c.Exec("UPDATE identity SET file_id = ?", id) }

// SetFileID gives a file an id, and no place: it is no copy wherever it is opened next.
func (c *Conn) SetFileID(id string) error {
	return c.Exec("INSERT OR REPLACE INTO identity VALUES (1, ?, '')", id)
}

// Recognise notes where the file is, and gives a copy an id of its own. It reports whether the file is a copy. A
// file that is copied as a whole disk, to a machine with the same id, is not noticed.
func (s *Store) Recognise(ctx context.Context) (isCopy bool, err error) {
	place := sqlite.Place(s.Path())
	if !s.InFile() || place == "" || s.ReadOnly() != "" {
		return false, nil
	}

	was := ""
	look := func(c SQL) error {
		_, err := c.One("SELECT place FROM identity", nil, func(r sqlite.Row) { was = r.ColumnText(0) })
		return err
	}
	err = s.Database.Read(ctx, look)
	if err != nil || was == place {
		return false, err
	}

	err = s.Database.Write(ctx, func(c SQL) error {
		// Another process may have been first.
		if err := look(c); err != nil || was == place {
			return err
		}
		if isCopy = was != ""; isCopy {
			return c.Exec("UPDATE identity SET file_id = ?, place = ?", newFileID(), place)
		}

		return c.Exec("UPDATE identity SET place = ?", place)
	})

	return isCopy, err
}

// OwnID reads the id of a file that this process has not opened, without a lock or a file beside it. It is "" if
// the file is missing, has none yet, or is a copy that gets its own when it is opened.
func OwnID(ctx context.Context, path string) (id string) {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	c, err := OpenStoreConn(ctx, path, sqlite.ConnOptions{ReadOnly: true, Immutable: true, BusyTimeout: time.Second, CacheKiB: sqlite.ReaderCacheKiB})
	if err != nil {
		return ""
	}
	// Nothing was written.
	defer func() { _ = c.Close() }()
	place := ""
	_, err = c.One("SELECT file_id, place FROM identity", nil, func(r sqlite.Row) { id, place = r.ColumnText(0), r.ColumnText(1) })
	if now := sqlite.Place(path); err != nil || place != "" && now != "" && place != now {
		return ""
	}

	return id
}

// ForeignFolder reports whether the folder of payloads beside the file was noted to be of another file. Then this
// file was put beside it, and what no row names may be of the other one. A folder that was copied is of the copy.
func (s *Store) ForeignFolder(c *Conn) (bool, error) {
	place := sqlite.Place(s.Files().Payloads())
	noted, err := os.ReadFile(s.Files().PayloadsOwner())
	// No folder, or none that an earlier version noted.
	if !s.InFile() || place == "" || err != nil {
		return false, nil
	}
	id, err := c.FileID()
	owner, at, _ := strings.Cut(strings.TrimSpace(string(noted)), " ")

	return id != "" && owner != "" && owner != id && at == place, err
}

// ClaimFolder notes that the folder of payloads, if there is one, is of this file. Unless taken over, it leaves
// the note of another file.
func (s *Store) ClaimFolder(ctx context.Context, takeOver bool) error {
	place := sqlite.Place(s.Files().Payloads())
	if !s.InFile() || place == "" || s.ReadOnly() != "" {
		return nil
	}

	id, foreign := "", false
	err := s.Read(ctx, func(c *Conn) (err error) {
		if foreign, err = s.ForeignFolder(c); err == nil {
			id, err = c.FileID()
		}
		return err
	})
	if err != nil || id == "" || foreign && !takeOver {
		return err
	}

	path, note := s.Files().PayloadsOwner(), id+" "+place+"\n"
	if noted, err := os.ReadFile(path); err == nil && string(noted) == note {
		return nil
	}

	part := files.Part(path)
	if err := os.WriteFile(part, []byte(note), 0o600); err != nil {
		return err
	}

	return os.Rename(part, path)
}

// OwnerFile is the name of the file in the folder above the payloads of tenants that says which database they
// are of.
const OwnerFile = "database"

// OwnedSince is when the folder of payloads was noted to be of this database, the zero time for a file. What is
// older may be of another database that shared the folder before.
func (s *Store) OwnedSince() time.Time {
	if s.InFile() {
		return time.Time{}
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(s.Path()), OwnerFile))
	if err != nil {
		return time.Time{}
	}

	return info.ModTime()
}
