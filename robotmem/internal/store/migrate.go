package store

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// ChecksumVersion is the schema version that added checksums.
const ChecksumVersion = 6

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

// RefuseForeign only reads. It fails unless the file is empty or has at most this schema version.
func RefuseForeign(c *sqlite.Conn) (version int, err error) {
	var tables, memories, app, v int64
	_, err = c.One(`SELECT count(*), count(*) FILTER (WHERE type = 'table' AND name = 'memories'),
		(SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version) FROM sqlite_schema`, nil, func(s sqlite.Row) {
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
// that until its commit a program of the older version can use the file. Another process may do
// the same at the same time. records prepares memories for what is derived anew.
func Migrate(records func() *record.Builder) func(*sqlite.Conn) error {
	// The result is named, because the deferred commit sets it.
	return func(c *sqlite.Conn) (err error) {
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
			err = runMigrations(&Conn{c}, version, records)
		}

		return err
	}
}

// runMigrations runs the scripts after a version, then their fills: these read and write
// whole rows, with the columns of the present version.
func runMigrations(c *Conn, version int, records func() *record.Builder) error {
	scripts := migrations()
	if version == 0 {
		if err := errors.Join(c.Exec(script("schema.sql")), newIdentity(c)); err != nil {
			return fmt.Errorf("making the tables: %w", err)
		}
		return c.setVersion(len(scripts))
	}

	for i, script := range scripts[version:] {
		if err := c.Exec(script); err != nil {
			return fmt.Errorf("migration to version %d: %w", version+i+1, err)
		}
	}

	for to := version + 1; to <= len(scripts); to++ {
		if fill := migrationFills[to]; fill != nil {
			if err := fill(c, records); err != nil {
				return fmt.Errorf("filling in version %d: %w", to, err)
			}
		}
	}

	// Version 6 adds the columns of the checksums but cannot compute them, because later
	// versions add columns that are included.
	unsealed, err := c.Number("SELECT count(*) FROM counters WHERE name = 'unsealed'")
	if err == nil && unsealed > 0 {
		err = errors.Join(c.UpdateChecksums(), c.Exec("DELETE FROM counters WHERE name = 'unsealed'"))
	}
	if err != nil {
		return err
	}

	return c.setVersion(len(scripts))
}

func (c *Conn) setVersion(version int) error {
	return c.Exec(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, version))
}

// migrationFills are the parts of migrations that SQL cannot express.
var migrationFills = map[int]func(*Conn, func() *record.Builder) error{
	7: func(c *Conn, _ func() *record.Builder) error { return rebuildSignatures(c) },
	8: func(c *Conn, _ func() *record.Builder) error {
		return errors.Join(c.AddToChecksums("auto_tags"), c.renewVectors())
	},
	9:  fillOutcomes,
	10: func(c *Conn, _ func() *record.Builder) error { return c.AddToChecksums("uses") },
	11: func(c *Conn, records func() *record.Builder) error {
		return errors.Join(takeBackOutcomes(c, records), rebuildSignatures(c))
	},
	12: func(c *Conn, _ func() *record.Builder) error { return newIdentity(c) },
}

// AddToChecksums updates the checksums of memories that an earlier version wrote. Its checksum had neither a column
// nor the columns after it. Only memories that have a value in the column and match that old checksum are updated,
// so that damaged ones stay recognisable.
func (c *Conn) AddToChecksums(column string) error {
	before := memoryColumns[:columnNamed(memoryColumns, column)]

	return c.Query("SELECT id FROM memories WHERE "+column+" IS NOT NULL ORDER BY id", nil, func(s sqlite.Row) error {
		id := s.ColumnInt64(0)
		tags, err := c.Texts(userTags, id)
		if err != nil {
			return err
		}
		intact := false
		_, err = c.One("SELECT "+names(before, "m.")+", m.checksum FROM memories m "+
			"WHERE m.id = ?", []any{id}, func(s sqlite.Row) {
			sum := read(s, before, &record.Row{})
			intact = bytes.Equal(sum.sum(tags), s.ColumnRawBlob(len(before)))
		})
		if err == nil && intact {
			err = c.updateChecksum(id)
		}

		return err
	})
}

// fillOutcomes derives the outcome of every memory from its context and text.
func fillOutcomes(c *Conn, records func() *record.Builder) error {
	return deriveOutcomes(c, records, "")
}

// takeBackOutcomes removes the outcomes that memories inherited from their episode, and derives those
// of the memories that then have none. An outcome that the caller stated stays, also "unknown".
func takeBackOutcomes(c *Conn, records func() *record.Builder) error {
	err := c.Query("SELECT id FROM memories WHERE outcome_source = ?", []any{inherited}, func(s sqlite.Row) error {
		id := s.ColumnInt64(0)
		return c.withChecksum(id, func() error {
			return c.Exec("UPDATE memories SET outcome = NULL, outcome_source = NULL WHERE id = ?", id)
		})
	})
	if err != nil {
		return err
	}

	return deriveOutcomes(c, records, " WHERE outcome IS NULL AND outcome_source IS NULL")
}

func deriveOutcomes(c *Conn, records func() *record.Builder, where string) error {
	b := records()

	return c.Query("SELECT id, content, context FROM memories"+where, nil, func(s sqlite.Row) error {
		id := s.ColumnInt64(0)
		outcome, source := b.OutcomeOf(s.ColumnText(1), robotmem.ParseObject(s.ColumnText(2)))
		if outcome == "" {
			return nil
		}

		return c.withChecksum(id, func() error {
			return c.Exec("UPDATE memories SET outcome = ?, outcome_source = ? WHERE id = ?", outcome, source, id)
		})
	})
}

// UpdateChecksums stores the checksum of every memory, past state and session.
func (c *Conn) UpdateChecksums() error {
	err := c.Query("SELECT id FROM memories ORDER BY id", nil,
		func(s sqlite.Row) error { return c.updateChecksum(s.ColumnInt64(0)) })
	if err != nil {
		return err
	}
	err = c.Query(selectVersion+", v.rowid FROM versions v ORDER BY v.rowid", nil, func(s sqlite.Row) error {
		sum, at := read(s, versionColumns, &versionRow{}), len(versionColumns)
		sum.add("memory_id", s.ColumnInt64(at+1))
		return c.Exec("UPDATE versions SET checksum = ? WHERE rowid = ?", sum.sum(nil), s.ColumnInt64(at+2))
	})
	if err != nil {
		return err
	}

	return c.UpdateSessionChecksums()
}

// UpdateSessionChecksums stores the checksum of every session.
func (c *Conn) UpdateSessionChecksums() error {
	return c.Query("SELECT external_id FROM sessions ORDER BY id", nil,
		func(s sqlite.Row) error { return c.updateSessionChecksum(s.ColumnText(0)) })
}

// rebuildSignatures computes the signatures of all facts. The updates change no column by
// which the query finds its rows.
func rebuildSignatures(c *Conn) error {
	return c.Query(`SELECT s.group_key, s.seq, m.content FROM signatures s JOIN memories m ON m.id = s.memory_id
		ORDER BY s.group_key, s.seq`, nil, func(s sqlite.Row) error {
		sig := record.SignatureOf(record.StatementOf(s.ColumnText(2)))
		return c.Exec("UPDATE signatures SET sequence = ?, terms = ?, numbers = ?, skeleton = ?, sketch_a = ?, "+
			"sketch_b = ? WHERE group_key = ? AND seq = ?",
			sig.Sequence, sig.Terms, sig.Numbers, sig.Skeleton, int64(sig.Sketch[0]), int64(sig.Sketch[1]), s.ColumnInt64(0), s.ColumnInt64(1))
	})
}
