package importers

import (
	"context"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// MaxSQLiteValue bounds a value and a row of a database of another program, in bytes. The memory of a
// connection is 256 MiB, in which the largest row may be twice.
const MaxSQLiteValue = 96 << 20

// minSQLiteRow is less than the bytes of any row in a table: its two varints, the offset of its
// cell and the head of its record.
const minSQLiteRow = 4

// MaxSQLiteRows returns how many rows a database of size bytes can hold at most. The pages of a
// damaged one may refer to each other so that reading a table never ends.
func MaxSQLiteRows(size int64) int64 { return size/minSQLiteRow + 1 }

// GuardSQLite restricts a connection to a database of another program, before anything is read of
// it: no view can be read, no trigger runs, functions of its schema only compute, and the end of
// ctx interrupts each statement. It fails if one of the tables is something else (a view, a virtual
// table) or has computed columns: these run what the file says, which may never end. A table that
// is missing is no error. Count rows with a LIMIT: SQLite does not interrupt a bare count(*).
func GuardSQLite(ctx context.Context, db *sqlite3.Conn, tables ...string) error {
	db.SetInterrupt(ctx)
	db.Limit(sqlite3.LIMIT_LENGTH, MaxSQLiteValue)

	// Views, triggers and expressions of the schema are code of a foreign program, and reading a table would run
	// it.
	for option, on := range map[sqlite3.DBConfig]bool{
		sqlite3.DBCONFIG_DEFENSIVE: true, sqlite3.DBCONFIG_TRUSTED_SCHEMA: false,
		sqlite3.DBCONFIG_ENABLE_VIEW: false, sqlite3.DBCONFIG_ENABLE_TRIGGER: false,
	} {
		if _, err := db.Config(option, on); err != nil {
			return err
		}
	}

	// Find damaged cells when a page is loaded, before a length in them is used.
	if err := db.Exec("PRAGMA cell_size_check=ON"); err != nil {
		return err
	}

	// SQLite itself refuses a schema whose SQL is of another type or name than its row says.
	s, _, err := db.Prepare(`SELECT CASE WHEN type <> 'table' THEN type WHEN sql NOT LIKE 'CREATE TABLE %' THEN 'virtual table'
		WHEN EXISTS (SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden > 1) THEN 'table with computed columns' ELSE '' END
		FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE`)
	if err != nil {
		return err
	}

	// Reports the error of its last run.
	defer func() { _ = s.Close() }()

	for _, table := range tables {
		if err := s.BindText(1, table); err != nil {
			return err
		}
		if s.Step() && s.ColumnText(0) != "" {
			return fmt.Errorf("%s is a %.40s; only a table with stored columns is read", table, s.ColumnText(0))
		}
		if err := s.Reset(); err != nil {
			return err
		}
	}

	return nil
}
