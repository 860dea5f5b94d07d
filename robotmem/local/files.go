package local

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// Files names what belongs to a memory in a file.
type Files struct{ memory files.Memory }

// FilesOf returns the files of the memory at path, which need not exist. It follows symbolic links.
func FilesOf(path string) (Files, error) {
	m, err := files.Resolve(path)
	return Files{m}, robotmem.Wrap("open", err)
}

// DB is the database.
func (f Files) DB() string { return f.memory.DB() }

// Name is the path that the memory was opened by, before links are followed.
func (f Files) Name() string { return f.memory.Name() }

// Backups is the folder for backups beside the database.
func (f Files) Backups() string { return f.memory.Backups() }

// Keys is the file of keys that an encrypted memory has.
func (f Files) Keys() string { return f.memory.Keys() }

// Tokens are the hashes of the tokens that a node of the memory accepts.
func (f Files) Tokens() string { return f.memory.Tokens() }

// TokensLock is locked while the tokens change.
func (f Files) TokensLock() string { return f.memory.TokensLock() }

// Grants is what people have allowed to programs that logged in to a node of the memory.
func (f Files) Grants() string { return f.memory.Grants() }

// GrantsLock is locked while the grants change.
func (f Files) GrantsLock() string { return f.memory.GrantsLock() }

// Secret is the key by which a node of the memory proves itself.
func (f Files) Secret() string { return f.memory.Secret() }

// FileID is the id of a file that need not be open, "" if it has none yet.
func FileID(ctx context.Context, f Files) string { return sqlite.OwnID(ctx, f.DB()) }
