package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// applicationID identifies robotmem files: "rbtm".
const applicationID = 0x7262746d

//go:embed migrations/*.sql schema.sql
var scriptFiles embed.FS

// script returns an embedded script. schema.sql creates a new file with the same tables as all migrations together.
func script(name string) string {
	data, _ := scriptFiles.ReadFile(name) // it is embedded
	return strings.ReplaceAll(string(data), "{{tokenize}}", text.Tokenize)
}

// migrations returns the scripts in order; script i migrates to version i+1.
var migrations = sync.OnceValue(func() (scripts []string) {
	names, _ := fs.Glob(scriptFiles, "migrations/*.sql") // the pattern is valid
	for _, name := range names {
		scripts = append(scripts, script(name))
	}
	return scripts
})

// RefuseForeign returns the schema version of a file, 0 for an empty one. It fails if the file is of another program or
// of a newer version of this one, or if its header is damaged. It only reads.
func RefuseForeign(c *Conn) (version int, err error) {
	var tables, memories, app, v int64
	_, err = c.One(`SELECT count(*), count(*) FILTER (WHERE type = 'table' AND name = 'memories'),
		(SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version) FROM sqlite_schema`, nil, func(s store.Row) {
		tables, memories, app, v = s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3)
	})
	if err != nil {
		return 0, err
	}
	if tables == 0 && (app == 0 || app == applicationID) {
		return 0, nil
	}

	if app != applicationID {
		if memories > 0 {
			return 0, robotmem.Errorf(robotmem.Corrupt, "db",
				"this is a memory file of another program (the Python robotmem, perhaps), not of this one; "+
					"it was left as it is; pass another --db, and take its memories in with robotmem import FILE")
		}

		return 0, robotmem.Errorf(robotmem.Corrupt, "db", "this is a database of another program; "+
			"it was left as it is; pass another --db")
	}

	if v < 0 {
		return 0, robotmem.Errorf(robotmem.Corrupt, "db", "the file's header is damaged: its schema version is %d; "+
			"run robotmem doctor --repair, or bring it back from a backup", v)
	}
	if int(v) > SchemaVersion() {
		return 0, robotmem.Errorf(robotmem.Conflict, "db", "the file has schema version %d, "+
			"this program knows up to %d; it was left as it is; install a newer robotmem", v, SchemaVersion())
	}

	return int(v), nil
}

// SchemaVersion returns the schema version of this program.
func SchemaVersion() int { return len(migrations()) }

// Migrate returns the function that migrates a file to the current version in one transaction, so
// that until its commit a program of the older version can use the file. Two processes may migrate a file at
// once. records returns the builder of what a newer version derives from the stored memories.
func Migrate(records func() *record.Builder) func(*Conn) error {
	// The result is named, because the deferred commit sets it.
	return func(c *Conn) (err error) {
		// A current file is recognised without the write lock.
		version, err := RefuseForeign(c)
		if err != nil || version == SchemaVersion() {
			return err
		}

		tx, err := c.BeginImmediate()
		if err != nil {
			return err
		}
		defer tx.End(&err)

		// Another process may have migrated the file before this one got the lock.
		version, err = RefuseForeign(c)
		if err == nil && version < SchemaVersion() {
			err = runMigrations(c, version, records)
		}

		return err
	}
}

// runMigrations runs the scripts after a version, then [store.Fill], which reads and writes whole
// rows with the columns of the present version. A new file gets schema.sql instead.
func runMigrations(c *Conn, version int, records func() *record.Builder) error {
	scripts := migrations()
	if version == 0 {
		if err := errors.Join(c.Exec(script("schema.sql")), store.NewIdentity(c.Tables().Conn)); err != nil {
			return fmt.Errorf("making the tables: %w", err)
		}
		return c.setVersion(len(scripts))
	}

	for i, script := range scripts[version:] {
		if err := c.Exec(script); err != nil {
			return fmt.Errorf("migration to version %d: %w", version+i+1, err)
		}
	}

	if err := store.Fill(c.Tables().Conn, version, len(scripts), records); err != nil {
		return err
	}

	return c.setVersion(len(scripts))
}

func (c *Conn) setVersion(version int) error {
	return c.Exec(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, version))
}
