package local

import (
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// What callers pass to a node and get from it, by the part that works with it.
type (
	// Disk is what a node changes files through.
	Disk = sqlite.Disk
	// SystemDisk is the computer's own.
	SystemDisk = sqlite.SystemDisk
	// Retention are the budgets that a node keeps.
	Retention = maintenance.Retention
	// RecoverReport says what was read of a damaged file, and what was not.
	RecoverReport = maintenance.RecoverReport
	// ImportReport says what became of the records of an import.
	ImportReport = store.ImportReport
	// ImportCount is what became of the records of one kind.
	ImportCount = store.ImportCount
)

// OSUser is the name of the user that runs this program.
func OSUser() string { return store.OSUser() }
