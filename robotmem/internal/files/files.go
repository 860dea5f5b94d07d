// Package files names everything that belongs to a memory in a file: the database, what SQLite keeps beside
// it, the payloads, the tokens, the grants, the secret, the site, the state of its backups, and the copies that a restore
// or a repair leaves. No other package appends anything to the path of a memory.
//
// [Resolve] follows symbolic links once, so that all names of a file have the same files beside it.
package files

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Memory is the place of a memory. It does not change when files come or go.
type Memory struct {
	db string // the database, without symbolic links if it exists
	// name is a path that [Resolve] resolves to this place: that of a link if only the link has payloads beside it,
	// else db.
	name string
}

// Resolve returns the place of the memory at path. It fails with Invalid if the path is empty.
//
// A symbolic link is followed to the file, and what belongs to the memory is beside that. Earlier versions
// kept the payloads, the site and the state of the backups beside the link. They stay there if the link has
// a folder of payloads and the file has none.
func Resolve(path string) (Memory, error) {
	if path == "" {
		return Memory{}, robotmem.Errorf(robotmem.Invalid, "db", "is required: the path of the memory's file")
	}

	path, err := filepath.Abs(path)
	if err != nil {
		return Memory{}, robotmem.Errorf(robotmem.Invalid, "db", "is not a path")
	}

	target, err := filepath.EvalSymlinks(path)
	// The file does not exist yet.
	if err != nil {
		return At(path), nil
	}

	m := At(target)
	if _, err := os.Stat(m.Payloads()); err == nil {
		return m, nil
	}
	if _, err := os.Stat(At(path).Payloads()); err == nil {
		m.name = path
	}

	return m, nil
}

// At is the place of a memory whose path is known to be no link, such as a copy that this program makes.
func At(path string) Memory { return Memory{db: path, name: path} }

// DB is the path of the database.
func (m Memory) DB() string { return m.db }

// Name is the path by which the memory should be opened again.
func (m Memory) Name() string { return m.name }

// Base is the name of the database, without its folder.
func (m Memory) Base() string { return filepath.Base(m.db) }

// Folder is the folder of the database.
func (m Memory) Folder() string { return filepath.Dir(m.db) }

// Log is the path of SQLite's write-ahead log.
func (m Memory) Log() string { return m.db + "-wal" }

// LogIndex is the path of the index of the log, which processes share.
func (m Memory) LogIndex() string { return m.db + "-shm" }

// Journal is the path of SQLite's rollback journal, which only a file without a log has.
func (m Memory) Journal() string { return m.db + "-journal" }

// Logs are the paths of the files that SQLite keeps beside the database, in a fixed order: the log, the
// journal, the index of the log.
func (m Memory) Logs() [3]string { return [3]string{m.Log(), m.Journal(), m.LogIndex()} }

// Payloads is the path of the folder of large payloads.
func (m Memory) Payloads() string { return m.name + ".payloads" }

// PayloadsOwner is the path of the note that says which file the folder of payloads is of. The folder may be a link, as
// to another disk, and another memory may have a link to it: the note is beside the folder itself.
func (m Memory) PayloadsOwner() string {
	folder := m.Payloads()
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}

	return folder + ".owner"
}

// Site is the path of the file that names the site which the memory has joined.
func (m Memory) Site() string { return m.name + ".fleet" }

// SiteLock is the path of the lock that one process takes to send to the site.
func (m Memory) SiteLock() string { return m.Site() + ".lock" }

// BackupState is the path of the file with the results of the schedule of backups.
func (m Memory) BackupState() string { return m.name + ".backups.json" }

// Backups is the path of the folder of backups, unless another is named.
func (m Memory) Backups() string { return filepath.Join(m.Folder(), "backups") }

// Tokens is the path of the list of tokens. A link never has tokens of its own.
func (m Memory) Tokens() string { return m.db + ".tokens" }

// TokensLock is the path of the lock that orders the changes of the list of tokens.
func (m Memory) TokensLock() string { return m.Tokens() + ".lock" }

// Grants is the path of the list of what people have allowed to programs that logged in with OAuth.
func (m Memory) Grants() string { return m.db + ".grants" }

// GrantsLock is the path of the lock that orders the changes of the list of grants.
func (m Memory) GrantsLock() string { return m.Grants() + ".lock" }

// Secret is the path of the secret with which a node proves that it serves the memory.
func (m Memory) Secret() string { return m.db + ".secret" }

// Keys is the path of the file with the keys of an encrypted memory. It is beside the database and encrypted itself.
func (m Memory) Keys() string { return m.db + ".keys" }

// Address is the path of the file with the address of a node that the Python package has started.
func (m Memory) Address() string { return m.db + ".node" }

// Imports is the path of the folder of recordings that a node has received and not yet imported.
func (m Memory) Imports() string { return m.db + ".imports" }

// ImportsLock is the path of the lock that a process holds while it uses a folder of received recordings.
func ImportsLock(folder string) string { return folder + ".lock" }

// ImportState is the path of the file that says how far an interrupted import of lines came. The key stands for the
// imported file and the settings of the import.
func (m Memory) ImportState(key string) string { return m.db + ".import-" + key }

// All are the paths of the memory's own files and folders, whether they exist or not, the database first.
// Locks, states of imports, and copies that a restore or a repair left are not among them.
func (m Memory) All() []string {
	return []string{
		m.DB(), m.Log(), m.LogIndex(), m.Journal(),
		m.Keys(), m.Tokens(), m.Grants(), m.Secret(), m.Site(), m.BackupState(), m.Address(), m.PayloadsOwner(),
		m.Payloads(),
	}
}

// stampFormat is the time in the name of a copy, in UTC.
const stampFormat = "20060102T150405.000Z"

// BeforeRestore is the place to which a restore moves the memory that it replaces. It is beside the folder of
// payloads, which both memories use.
func (m Memory) BeforeRestore(at time.Time) Memory {
	return At(m.name + ".before-restore-" + stamp(at))
}

// Damaged is the place to which a repair moves the damaged memory that it replaces.
func (m Memory) Damaged(at time.Time) Memory { return At(m.db + ".damaged-" + stamp(at)) }

// Recovering is the place of the file that a repair is writing.
func (m Memory) Recovering(at time.Time) Memory { return At(m.db + ".recovering-" + stamp(at)) }

const recovered = ".recovered-"

// Recovered is the place of the file that a repair has written and checked.
func (m Memory) Recovered(at time.Time) Memory { return At(m.db + recovered + stamp(at)) }

// Interrupted is the place of the file that an interrupted repair has left; ok is false if there is none.
func (m Memory) Interrupted() (left Memory, ok bool) {
	// A folder that cannot be read holds no file that could be used.
	entries, _ := os.ReadDir(m.Folder())
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), m.Base()+recovered) {
			return At(filepath.Join(m.Folder(), e.Name())), true
		}
	}

	return Memory{}, false
}

func stamp(at time.Time) string { return at.UTC().Format(stampFormat) }

// Staged is the place of the file that a restore is about to put in place.
func (m Memory) Staged() Memory { return At(m.db + ".tmp-" + rand.Text()[:8]) }

// Aside is an unused name beside a file, to write it whole before it gets its own name.
func Aside(path string) string { return path + ".new-" + rand.Text() }

// Part is the name of a file while one process is writing it. The next process overwrites what a stopped one
// has left.
func Part(path string) string { return path + ".part" }
