package store

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// Everything that belongs to a database file but is stored elsewhere carries the id of the file: backups, the state
// of their schedule, the tokens, the site that it has joined. The name of the file does not identify it, because
// robots that were set up from one image have files of the same name.

// FileID returns the id of the file, "" if the database is not a file.
func (c *Conn) FileID() (id string, err error) {
	_, err = c.One(FileID, nil, func(r Row) { id = r.ColumnText(0) })
	return id, err
}

// FileID is [Conn.FileID] in a snapshot of its own.
func (s *Store) FileID(ctx context.Context) (id string, err error) {
	err = s.Read(ctx, func(c *Conn) (err error) { id, err = c.FileID(); return err })
	return id, err
}

// NewIdentity gives a file an id. Its place is set when it is opened.
func NewIdentity(c *Conn) error { return c.SetFileID(newFileID()) }

func newFileID() string { return strings.ToLower(rand.Text()) }

// KeepFileID gives an open file the id of the file that it has replaced.
func (c *Conn) KeepFileID(id string) error { return c.Exec(SetFileID, id) }

// SetFileID gives a file an id and clears its place, so that it does not count as a copy wherever it is opened next.
func (c *Conn) SetFileID(id string) error {
	return c.Exec(ReplaceIdentity, id)
}

// Recognise stores the place of the file. If another place is stored, the file is a copy, and it gets an id of its
// own. Recognise reports whether the file is a copy. It cannot recognise a copy of a whole disk on a machine with
// the same id.
func (s *Store) Recognise(ctx context.Context) (isCopy bool, err error) {
	place := disk.Place(s.Path())
	if !s.InFile() || place == "" || s.ReadOnly() != "" {
		return false, nil
	}

	// Most openings find the place unchanged, so it is read in a snapshot first.
	was := ""
	look := func(c SQL) error {
		_, err := (&Conn{c}).One(FilePlace, nil, func(r Row) { was = r.ColumnText(0) })
		return err
	}
	err = s.Database.Read(ctx, look)
	if err != nil || was == place {
		return false, err
	}

	err = s.Database.Write(ctx, func(c SQL) error {
		// Another process may have stored the place between the snapshot and this transaction.
		if err := look(c); err != nil || was == place {
			return err
		}

		isCopy = was != ""
		if isCopy {
			return c.Exec(SetIdentity, newFileID(), place)
		}

		return c.Exec(SetFilePlace, place)
	})

	return isCopy, err
}

// ForeignFolder reports whether the folder of payloads beside the file is noted to belong to another database file.
// Then payloads that no row of this file names may belong to the other file. A folder that was copied belongs to the
// copy.
func (s *Store) ForeignFolder(c *Conn) (bool, error) {
	place := disk.Place(s.Files().Payloads())
	noted, err := os.ReadFile(s.Files().PayloadsOwner())
	// Earlier versions did not store a note. A folder without one belongs to the file beside it.
	if !s.InFile() || place == "" || err != nil {
		return false, nil
	}
	id, err := c.FileID()
	owner, at, _ := strings.Cut(strings.TrimSpace(string(noted)), " ")

	return id != "" && owner != "" && owner != id && at == place, err
}

// ClaimFolder notes that the folder of payloads, if there is one, belongs to this file. It replaces the note of
// another file only with takeOver.
func (s *Store) ClaimFolder(ctx context.Context, takeOver bool) error {
	place := disk.Place(s.Files().Payloads())
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

	path := s.Files().PayloadsOwner()
	note := id + " " + place + "\n"
	if noted, err := os.ReadFile(path); err == nil && string(noted) == note {
		return nil
	}

	// The note is renamed into place, so that another process never reads a part of it.
	part := files.Part(path)
	if err := os.WriteFile(part, []byte(note), 0o600); err != nil {
		return err
	}

	return os.Rename(part, path)
}

// OwnerFile is the name of the file that says to which database the payloads of tenants belong. It is in the folder
// above them.
const OwnerFile = "database"

// OwnedSince returns when the folder of payloads was noted to belong to this database, the zero time for a file.
// Older payloads may belong to another database that used the folder before.
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
