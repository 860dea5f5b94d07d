package site

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// claimPayloads notes in the folder of large payloads which database they are of. The number of a tenant says
// nothing: every database has a tenant 1, and a repair or a dropped tenant would remove the payloads of the other
// one. A clone of a database is another database. It fails with Conflict if the folder is of another database.
func (s *Site) claimPayloads(ctx context.Context) error {
	if s.options.Payloads == "" {
		return nil
	}

	id, err := s.server.DatabaseID(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.options.Payloads, 0o700); err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "payloads", "the folder of large payloads cannot be made (%v)",
			err)
	}

	path := filepath.Join(s.options.Payloads, store.OwnerFile)
	// Another node may write the file after it was read here as absent. The second round then reads it.
	for range 2 {
		noted, err := os.ReadFile(path)
		switch owner := strings.TrimSpace(string(noted)); {
		case err == nil && owner == id:
			return nil
		case err == nil:
			return robotmem.Errorf(robotmem.Conflict, "payloads",
				"the folder %s has the payloads of another database; name another folder with --payloads (or, if that database was moved here, delete %s)",
				s.options.Payloads, path)
		case !errors.Is(err, fs.ErrNotExist):
			return robotmem.Errorf(robotmem.Unavailable, "payloads",
				"the owner of the folder of large payloads cannot be read (%v)", err)
		}
		if err := writeNew(path, id+"\n"); err != nil && !errors.Is(err, fs.ErrExist) {
			return robotmem.Errorf(robotmem.Unavailable, "payloads",
				"the owner of the folder of large payloads cannot be noted (%v)", err)
		}
	}

	return nil
}

// writeNew writes a file that must not exist, whole or not at all: another node may read it at once.
func writeNew(path, text string) error {
	aside := files.Aside(path)
	// After a rename the name is gone.
	defer func() { _ = os.Remove(aside) }()
	if err := os.WriteFile(aside, []byte(text), 0o600); err != nil {
		return err
	}

	// Link fails if the name exists, so of two nodes only one becomes the owner.
	if err := os.Link(aside, path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}

	// A file system without hard links.
	return os.Rename(aside, path)
}
