package local

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// Types of internal packages in the API of Node.
type (
	// Files names everything that belongs to a memory in a file.
	Files = files.Memory
	// Disk is the interface that a node changes files through.
	Disk = disk.Disk
	// SystemDisk is the disk of the computer.
	SystemDisk = disk.System
	// Retention is the set of budgets that a node enforces.
	Retention = maintenance.Retention
	// Memory is a budget of memory in bytes.
	Memory = sqlite.Memory
	// RecoverReport lists what RecoverInPlace read from a damaged file and what it lost.
	RecoverReport = maintenance.RecoverReport
	// ImportReport counts the records of an import by their result.
	ImportReport = store.ImportReport
	// ImportCount counts the records of one kind by their result.
	ImportCount = store.ImportCount
)

// FilesOf returns the files of the memory at path, which need not exist. It follows symbolic links.
func FilesOf(path string) (Files, error) {
	m, err := files.Resolve(path)
	return m, robotmem.Wrap("open", err)
}

// FileID is the id of a file that need not be open, "" if it has none yet.
func FileID(ctx context.Context, m Files) string { return sqlite.OwnID(ctx, m.DB()) }

// AddressSpace returns the limit of the address space in bytes, 0 without one, and how much
// a node needs.
func AddressSpace() (limit, need int64) { return sqlite.AddressSpace() }

// OSUser is the name of the user that runs this program.
func OSUser() string { return store.OSUser() }
