package store

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// ChecksumVersion is the schema version that added checksums.
const ChecksumVersion = 6

// applicationID identifies robotmem files: "rbtm".
const applicationID = 0x7262746d

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the scripts in order; script i migrates to version i+1.
var migrations = sync.OnceValues(func() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var scripts []string
	for _, name := range names {
		data, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, strings.ReplaceAll(string(data), "{{tokenize}}", text.Tokenize))
	}
	return scripts, nil
})

// RefuseForeign fails unless the file is empty or a robotmem file of at most this
// program's schema version. It only reads.
func RefuseForeign(c *sqlite.Conn) (version int, err error) {
	tables, err := c.Number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	app, err := c.Number("PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	v, err := c.Number("PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	if tables == 0 && (app == 0 || app == applicationID) {
		return 0, nil
	}
	if app != applicationID {
		python, err := c.Number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'memories'")
		if err != nil {
			return 0, err
		}
		if python > 0 {
			return 0, robotmem.Errorf(robotmem.Corrupt, "db", "this is a memory file of another program (the Python robotmem, perhaps), not of this one; it was left as it is; pass another --db, and take its memories in with robotmem import FILE")
		}
		return 0, robotmem.Errorf(robotmem.Corrupt, "db", "this is a database of another program; it was left as it is; pass another --db")
	}
	scripts, err := migrations()
	if err != nil {
		return 0, err
	}
	if v < 0 {
		return 0, robotmem.Errorf(robotmem.Corrupt, "db", "the file's header is damaged: its schema version is %d; run robotmem doctor --repair, or bring it back from a backup", v)
	}
	if int(v) > len(scripts) {
		return 0, robotmem.Errorf(robotmem.Conflict, "db", "the file has schema version %d, this program knows up to %d; it was left as it is; install a newer robotmem", v, len(scripts))
	}
	return int(v), nil
}

// SchemaVersion returns the schema version of this program.
func SchemaVersion() int {
	scripts, err := migrations()
	if err != nil {
		panic(err) // they are embedded
	}
	return len(scripts)
}

// Migrate migrates the file to the current version, one transaction per step. Another
// process may do the same at the same time.
func Migrate(c *sqlite.Conn) error {
	scripts, err := migrations()
	if err != nil {
		return err
	}
	for {
		version, err := RefuseForeign(c)
		if err != nil {
			return err
		}
		if version == len(scripts) {
			break
		}
		if err := migrateStep(c, scripts); err != nil {
			return err
		}
	}
	if lacksChecksums, err := (&Conn{c}).lacksChecksums(); err != nil || !lacksChecksums {
		return err
	}
	return addChecksums(&Conn{c})
}

func migrateStep(c *sqlite.Conn, scripts []string) (err error) {
	tx, err := c.BeginImmediate()
	if err != nil {
		return err
	}
	defer tx.End(&err)
	version, err := RefuseForeign(c)
	if err != nil || version == len(scripts) {
		return err
	}
	if err := c.Exec(scripts[version]); err != nil {
		return fmt.Errorf("migration to version %d: %w", version+1, err)
	}
	if fill := migrationFills[version+1]; fill != nil {
		if err := fill(&Conn{c}); err != nil {
			return fmt.Errorf("migration to version %d: %w", version+1, err)
		}
	}
	return c.Exec(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, version+1))
}

// migrationFills are the parts of migrations that SQL cannot express.
var migrationFills = map[int]func(*Conn) error{
	3:               indexQuantities,
	ChecksumVersion: addVectorChecksums,
	7:               rebuildSignatures,
	8:               (*Conn).QuantizeVectors,
}

// addChecksums stores the checksums of all rows after the last migration. Version 6 adds
// the columns but cannot compute them, because later versions may add columns that are
// included.
func addChecksums(c *Conn) (err error) {
	tx, err := c.BeginImmediate()
	if err != nil {
		return err
	}
	defer tx.End(&err)
	if lacksChecksums, err := c.lacksChecksums(); err != nil || !lacksChecksums {
		return err
	}
	if err := c.UpdateChecksums(); err != nil {
		return err
	}
	return c.Exec("DELETE FROM counters WHERE name = 'unsealed'")
}

func (c *Conn) lacksChecksums() (bool, error) {
	n, err := c.Number("SELECT count(*) FROM counters WHERE name = 'unsealed'")
	return n > 0, err
}

// UpdateChecksums stores the checksum of every memory, past state and session.
func (c *Conn) UpdateChecksums() error {
	ids, err := c.IDs("SELECT id FROM memories ORDER BY id")
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.updateChecksum(id); err != nil {
			return err
		}
	}
	if ids, err = c.IDs("SELECT rowid FROM versions ORDER BY rowid"); err != nil {
		return err
	}
	for _, id := range ids {
		var sum checksum
		_, err := c.One(selectVersion+" FROM versions v WHERE v.rowid = ?", []any{id}, func(s *sqlite.Stmt) {
			sum = read(s, versionColumns, &versionRow{})
			sum.add("memory_id", s.ColumnInt64(len(versionColumns)+1))
		})
		if err := errors.Join(err, c.Exec("UPDATE versions SET checksum = ? WHERE rowid = ?", sum.sum(nil), id)); err != nil {
			return err
		}
	}
	return c.UpdateSessionChecksums()
}

// UpdateSessionChecksums stores the checksum of every session.
func (c *Conn) UpdateSessionChecksums() error {
	ids, err := c.Texts("SELECT external_id FROM sessions ORDER BY id")
	for _, id := range ids {
		if err := c.updateSessionChecksum(id); err != nil {
			return err
		}
	}
	return err
}

// rebuildSignatures computes the signatures of all facts, in batches.
func rebuildSignatures(c *Conn) error {
	const batch = 500
	type row struct {
		group, seq int64
		content    string
	}
	last := row{group: math.MinInt64}
	for {
		var rows []row
		err := c.Query(`SELECT s.group_key, s.seq, m.content FROM signatures s JOIN memories m ON m.id = s.memory_id
			WHERE (s.group_key, s.seq) > (?, ?) ORDER BY s.group_key, s.seq LIMIT ?`, []any{last.group, last.seq, batch}, func(s *sqlite.Stmt) error {
			rows = append(rows, row{s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnText(2)})
			return nil
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			sig := record.SignatureOf(record.StatementOf(r.content))
			err := c.Exec("UPDATE signatures SET sequence = ?, terms = ?, numbers = ?, skeleton = ?, sketch_a = ?, sketch_b = ? WHERE group_key = ? AND seq = ?",
				sig.Sequence, sig.Terms, sig.Numbers, sig.Skeleton, int64(sig.Sketch[0]), int64(sig.Sketch[1]), r.group, r.seq)
			if err != nil {
				return err
			}
		}
		last = rows[len(rows)-1]
	}
}

// indexQuantities adds quantities to the attributes, from texts and from pairs of value
// and unit.
func indexQuantities(c *Conn) error {
	type row struct {
		path   string
		number float64
		id     int64
	}
	var rows []row
	add := func(path string, id int64, q units.Quantity, ok bool) {
		if ok {
			rows = append(rows, row{filter.QuantityPath(path, q.Unit), q.Value, id})
		}
	}
	err := c.Query(`SELECT p.path, a.value, a.memory_id FROM attributes a JOIN paths p ON p.id = a.path_id
		WHERE typeof(a.value) = 'text' AND a.value GLOB '*[0-9]*'`, nil, func(s *sqlite.Stmt) error {
		q, ok := units.Parse(s.ColumnText(1))
		add(s.ColumnText(0), s.ColumnInt64(2), q, ok)
		return nil
	})
	if err != nil {
		return err
	}
	var contexts []int64
	err = c.Query(`SELECT DISTINCT a.memory_id FROM attributes a JOIN paths p ON p.id = a.path_id
		WHERE p.path LIKE '%.unit' AND typeof(a.value) = 'text'`, nil, func(s *sqlite.Stmt) error {
		contexts = append(contexts, s.ColumnInt64(0))
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range contexts {
		_, err := c.One("SELECT context FROM memories WHERE id = ?", []any{id}, func(s *sqlite.Stmt) {
			attrs, _ := filter.Flatten(robotmem.ParseObject(s.ColumnText(0)))
			for _, a := range attrs {
				if number, ok := a.Value.(float64); ok && strings.Contains(a.Path, filter.QuantityMark) {
					rows = append(rows, row{a.Path, number, id})
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for _, r := range rows {
		if err := c.Exec("INSERT OR IGNORE INTO paths(path) VALUES (?)", r.path); err != nil {
			return err
		}
		err := c.Exec("INSERT OR IGNORE INTO attributes(path_id, value, memory_id) SELECT id, ?, ? FROM paths WHERE path = ?", r.number, r.id, r.path)
		if err != nil {
			return err
		}
	}
	return nil
}

// CreateFTS returns the statement that creates the full-text index.
func CreateFTS() (string, error) {
	scripts, err := migrations()
	if err != nil {
		return "", err
	}
	const begin = "CREATE VIRTUAL TABLE memories_fts"
	at := strings.LastIndex(scripts[0], begin)
	if at < 0 {
		return "", fmt.Errorf("no %s in the migrations", begin)
	}
	return scripts[0][at:], nil
}

// HoldsTagMeta reports whether the stored tag tree equals tags.
func (c *Conn) HoldsTagMeta(tags [][3]string) (bool, error) {
	stored := map[string][2]string{}
	err := c.Query("SELECT tag, coalesce(parent, ''), display_name FROM tag_meta", nil, func(s *sqlite.Stmt) error {
		stored[s.ColumnText(0)] = [2]string{s.ColumnText(1), s.ColumnText(2)}
		return nil
	})
	if err != nil {
		return false, err
	}
	same := len(stored) == len(tags)
	for _, t := range tags {
		same = same && stored[t[0]] == [2]string{t[1], t[2]}
	}
	return same, nil
}

// WriteTagMeta stores the tag tree if it differs from the stored one.
func WriteTagMeta(c *Conn, tags [][3]string) error {
	if same, err := c.HoldsTagMeta(tags); err != nil || same {
		return err
	}
	if err := c.Exec("DELETE FROM tag_meta"); err != nil {
		return err
	}
	for _, t := range tags {
		var parent any
		if t[1] != "" {
			parent = t[1]
		}
		if err := c.Exec("INSERT INTO tag_meta(tag, parent, display_name) VALUES (?, ?, ?)", t[0], parent, t[2]); err != nil {
			return err
		}
	}
	return nil
}
