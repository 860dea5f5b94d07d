// Package python reads a memory.db of the Python robotmem as an [archive.Source].
//
// Such a file is SQLite too, with tables of the same names and other columns. Its columns are
// read by their names, so that a file of an older or newer version is read as far as it goes.
package python

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// Report counts what was read differently from how it is stored, and what has no place here.
type Report struct {
	Notes map[string]int64 `json:"notes,omitempty"`
}

// Python is the [archive.Source] of a memory.db of the Python robotmem. The uid
// of a memory is derived from fields that never change, so that importing the same
// file twice adds nothing, and a later state of it brings what has changed.
type Python struct {
	c       *sqlite.Tables
	ctx     context.Context // of the call of Open; Next has none
	size    int64           // bytes of the file and its log
	tables  map[string]bool // of the file
	columns map[string]bool // of its table memories
	zone    *time.Location
	mtime   time.Time
	report  Report

	stage    int
	after    int64 // the id that the last page of this stage ends with
	payloads []pendingPayload
}

// pendingPayload is a payload of the last page of memories.
type pendingPayload struct {
	id int64 // of the memory
	archive.Payload
}

var _ archive.Source = (*Python)(nil)

// knownTables are the tables of such a file, without its indexes.
var knownTables = []string{"memories", "sessions", "session_outcomes", "memory_tags", "tag_meta"}

// knownColumns are the columns of memories that are read, or derived again.
var knownColumns = strings.Fields(`id session_id collection type content human_summary context perception_type perception_data
	perception_metadata category confidence decay_rate status superseded_by content_hash embedding access_count
	return_count last_accessed created_at updated_at scope_files scope_entities`)

// Open opens a memory.db to be imported. Not a byte of it changes. It fails with Invalid when it is
// none. zone is the zone of times that name no zone; UTC if nil. The end of ctx also ends Next.
func Open(ctx context.Context, path string, zone *time.Location) (*Python, error) {
	p := &Python{
		ctx:     ctx,
		zone:    cmp.Or(zone, time.UTC),
		report:  Report{Notes: map[string]int64{}},
		tables:  map[string]bool{},
		columns: map[string]bool{},
	}

	if err := p.open(ctx, path); err != nil {
		return nil, robotmem.Wrap("import", errors.Join(err, p.Close()))
	}

	return p, nil
}

func (p *Python) open(ctx context.Context, path string) error {
	if err := importers.CheckSQLite(path); err != nil {
		return robotmem.Errorf(robotmem.Invalid, "file", "cannot be read (%s)", robotmem.Reason(err))
	}

	info, err := os.Stat(path)
	if err != nil {
		return robotmem.Errorf(robotmem.Invalid, "file", "cannot be read (%s)", robotmem.Reason(err))
	}

	p.mtime, p.size = info.ModTime(), info.Size()

	// Without a log the file is opened as immutable, which writes nothing beside it. A log can only be read with its
	// index, which SQLite may have to create.
	log, err := os.Stat(files.At(path).Log())
	hasLog := err == nil && log.Size() > 0
	if hasLog {
		p.size += log.Size()
	}

	if p.c, err = openGuarded(ctx, path, !hasLog); err != nil && hasLog {
		return robotmem.Errorf(robotmem.Invalid, "file", "cannot be read with its log (%s): "+
			"import a copy of the file and of its -wal in a folder that can be written", robotmem.Reason(err))
	} else if err != nil {
		return err
	}

	is, err := isPython(p.c.File)
	if err != nil {
		return err
	}
	if !is {
		return robotmem.Errorf(robotmem.Invalid, "file", "is not a memory.db of the Python robotmem")
	}
	if err := importers.GuardSQLite(ctx, p.c.File.Conn, knownTables...); err != nil {
		return robotmem.Errorf(robotmem.Invalid, "file", "is not read: %v", err)
	}

	return p.readSchema()
}

// openGuarded opens a file for reading. If it is immutable, it takes no lock and reads no log,
// so no other program may write to it meanwhile.
func openGuarded(ctx context.Context, path string, immutable bool) (*sqlite.Tables, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "file", "is not a path")
	}
	c, err := sqlite.OpenTables(ctx, abs, sqlite.ConnOptions{ReadOnly: true, Immutable: immutable})
	if err != nil {
		return nil, err
	}
	if err := importers.GuardSQLite(ctx, c.File.Conn); err != nil {
		return nil, errors.Join(err, c.Close())
	}

	return c, nil
}

// IsMemory reports whether a file is a memory.db of the Python robotmem. Not a byte of it changes.
func IsMemory(ctx context.Context, path string) (bool, error) {
	if err := importers.CheckSQLite(path); err != nil {
		return false, robotmem.Wrap("import", err)
	}
	c, err := openGuarded(ctx, path, true)
	if err != nil {
		return false, robotmem.Wrap("import", err)
	}
	is, err := isPython(c.File)

	return is, robotmem.Wrap("import", errors.Join(err, c.Close()))
}

func isPython(c *sqlite.Conn) (bool, error) {
	// The Python system sets no application id, and this program does.
	app, err := c.Number("PRAGMA application_id")
	if err != nil || app != 0 {
		return false, err
	}

	n, err := c.Number(`SELECT count(*) FROM pragma_table_info('memories')
		WHERE name IN ('id', 'content', 'collection', 'category', 'confidence')`)

	return n == 5, err
}

// readSchema lists the tables and columns, and notes those that have no place here.
func (p *Python) readSchema() error {
	tables, err := p.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
	if err != nil {
		return err
	}

	for _, t := range tables {
		name := t.text("name")
		p.tables[name] = true

		switch {
		case slices.Contains(knownTables, name):
			if _, err := p.count(name); err != nil {
				return err
			}
		case !strings.HasPrefix(name, "memories_fts") && !strings.HasPrefix(name, "memories_vec"):
			// The tables of the indexes are left out in silence, because an index is built again.
			p.report.Notes["no place for table "+importers.Cut(name, 255)]++
		}
	}

	columns, err := p.rows("SELECT name FROM pragma_table_info('memories')")
	for _, r := range columns {
		name := r.text("name")
		p.columns[name] = true
		if !slices.Contains(knownColumns, name) {
			p.report.Notes["no place for column "+importers.Cut(name, 255)]++
		}
	}

	return err
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Report returns the notes so far.
func (p *Python) Report() Report { return p.report }

// Close closes the file.
func (p *Python) Close() error {
	if p.c == nil {
		return nil
	}
	return p.c.Close()
}

// Next implements archive.Source. The payloads of a page of memories come behind it.
func (p *Python) Next() (*archive.Entry, error) {
	if len(p.payloads) > 0 {
		next := p.payloads[0]
		p.payloads = p.payloads[1:]
		data, err := p.payload(next.id)
		payload := &archive.Data{SHA256: next.SHA256, Bytes: next.Bytes, Reader: bytes.NewReader(data)}

		return &archive.Entry{Payload: payload}, err
	}

	// Memories refer to sessions, and successors to memories that may come later.
	stages := []func(*archive.Entry) (more bool, err error){
		p.manifest, p.sessions, p.lostSessions, p.memories, p.successors,
	}

	for ; p.stage < len(stages); p.stage, p.after = p.stage+1, 0 {
		entry := &archive.Entry{}
		if more, err := stages[p.stage](entry); err != nil || more {
			return entry, err
		}
	}

	return nil, io.EOF
}
