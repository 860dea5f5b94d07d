package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// pythonSchema is that of the Python robotmem, but for its table of vectors,
// which needs an extension of its own: that program makes it when it is missing.
// What its tables have no column for stands in robotmem_*, which it does not look
// at, for the way back.
const pythonSchema = `
CREATE TABLE memories(
	id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, collection TEXT NOT NULL DEFAULT 'default',
	type TEXT NOT NULL DEFAULT 'fact', content TEXT NOT NULL, human_summary TEXT, context TEXT,
	perception_type TEXT, perception_data BLOB, perception_metadata TEXT, category TEXT,
	confidence REAL DEFAULT 0.9, decay_rate REAL DEFAULT 0.01, status TEXT DEFAULT 'active', superseded_by INTEGER,
	content_hash TEXT, embedding BLOB, scope_files TEXT, scope_entities TEXT,
	access_count INTEGER DEFAULT 0, return_count INTEGER DEFAULT 0, last_accessed TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE sessions(
	id INTEGER PRIMARY KEY AUTOINCREMENT, external_id TEXT UNIQUE, collection TEXT, context TEXT,
	session_count INTEGER DEFAULT 1, status TEXT DEFAULT 'active', client_type TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE session_outcomes(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, score REAL, created_at TEXT);
CREATE TABLE memory_tags(memory_id INTEGER, tag TEXT, source TEXT, PRIMARY KEY (memory_id, tag));
CREATE TABLE tag_meta(tag TEXT PRIMARY KEY, parent TEXT, display_name TEXT);
CREATE INDEX idx_mem_collection ON memories(collection);
CREATE INDEX idx_mem_status ON memories(status);
CREATE INDEX idx_mem_session ON memories(session_id);
CREATE INDEX idx_mem_type ON memories(type);
CREATE INDEX idx_mem_hash ON memories(content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX idx_mem_no_embed ON memories(collection) WHERE embedding IS NULL AND status='active';
CREATE INDEX idx_memory_tags_tag ON memory_tags(tag);
CREATE VIRTUAL TABLE memories_fts USING fts5(content, human_summary, scope_files, scope_entities);
CREATE TABLE robotmem_memories(memory_id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
CREATE TABLE robotmem_sessions(session_id TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE robotmem_links(id INTEGER PRIMARY KEY, record TEXT NOT NULL);
`

// PythonWriter is the [archive.Sink] that makes a memory.db of the Python
// robotmem.
type PythonWriter struct {
	c      *conn
	Beside map[string]int64 // what its tables have no column for, by its name
}

var _ archive.Sink = (*PythonWriter)(nil)

// maxPythonBytes is what a BLOB of that program holds.
const maxPythonBytes = 512 << 20

// NewPythonWriter writes to a new file.
func NewPythonWriter(ctx context.Context, path string) (*PythonWriter, error) {
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
	if err != nil {
		return nil, wrap("export", err)
	}
	p := &PythonWriter{c: &conn{Conn: db, stmts: map[string]*sqlite3.Stmt{}, paths: map[string]int64{}}, Beside: map[string]int64{}}
	err = p.c.setUp(ctx, connOptions{readOnly: true}) // no log: the file is whole in itself
	if err == nil {
		err = p.c.Exec("BEGIN; " + pythonSchema)
	}
	if err != nil {
		return nil, wrap("export", errors.Join(err, p.c.close()))
	}
	return p, nil
}

// Begin implements archive.Sink.
func (p *PythonWriter) Begin(*archive.Manifest) error { return nil }

// Discard closes a file that is not carried through.
func (p *PythonWriter) Discard() error {
	if p.c == nil {
		return nil
	}
	err := p.c.close()
	p.c = nil
	return err
}

// Close implements archive.Sink.
func (p *PythonWriter) Close() error {
	err := p.c.Exec("COMMIT")
	return wrap("export", errors.Join(err, p.Discard()))
}

// Session implements archive.Sink.
func (p *PythonWriter) Session(s *archive.Session) error {
	if len(s.Streams) > 0 {
		p.Beside["accounts of streams"]++
	}
	if s.Summary != nil {
		p.Beside["summaries of sessions"]++
	}
	err := p.c.exec("INSERT INTO sessions(external_id, collection, context, session_count, status, client_type, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?)",
		s.SessionID, s.Collection, objectText(s.Context), s.Count, s.Status, orNull(s.ClientType), s.CreatedAt, s.UpdatedAt)
	for i := 0; err == nil && i < len(s.Outcomes); i++ {
		err = p.c.exec("INSERT INTO session_outcomes(session_id, score, created_at) VALUES (?,?,?)", s.SessionID, s.Outcomes[i].Score, s.Outcomes[i].CreatedAt)
	}
	if err != nil {
		return err
	}
	return p.record("INSERT INTO robotmem_sessions(record, session_id) VALUES (?,?)", s, s.SessionID)
}

func (p *PythonWriter) record(sql string, v any, args ...any) error {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return err
	}
	return p.c.exec(sql, append([]any{string(data)}, args...)...)
}

// Memory implements archive.Sink.
func (p *PythonWriter) Memory(m *archive.Memory, b *archive.Bytes) error {
	data, err := p.bytes(m, b)
	if err != nil {
		return err
	}
	var metadata any
	if m.Metadata != nil {
		metadata = string(m.Metadata)
	}
	sum := sha256.Sum256([]byte(m.Content))
	err = p.c.exec(`INSERT INTO memories(session_id, collection, type, content, human_summary, context, perception_type, perception_data,
		perception_metadata, category, confidence, decay_rate, status, content_hash, scope_files, scope_entities,
		access_count, return_count, last_accessed, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		orNull(m.Session), m.Collection, m.Type, m.Content, m.Summary, objectText(m.Context), orNull(m.PerceptionType), data,
		metadata, m.Category, m.Confidence, m.DecayRate, m.Status, hex.EncodeToString(sum[:8]), listOrNull(m.ScopeFiles), listOrNull(m.ScopeEntities),
		m.AccessCount, m.ReturnCount, orNull(m.LastAccessed), m.CreatedAt, m.UpdatedAt)
	if err != nil {
		return err
	}
	id := p.c.LastInsertRowID()
	for source, tags := range map[string][]string{"auto": m.Tags, "user": m.UserTags} {
		for _, tag := range tags {
			if err := p.c.exec("INSERT OR IGNORE INTO memory_tags(memory_id, tag, source) VALUES (?,?,?)", id, tag, source); err != nil {
				return err
			}
		}
	}
	if m.Status == "active" {
		if err := p.c.exec("INSERT INTO memories_fts(rowid, content, human_summary) VALUES (?,?,?)", id, m.Content, m.Summary); err != nil {
			return err
		}
	}
	p.count(m)
	return p.record("INSERT INTO robotmem_memories(record, memory_id, uid) VALUES (?,?,?)", m, id, m.UID)
}

func (p *PythonWriter) bytes(m *archive.Memory, b *archive.Bytes) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	if m.Payload.Bytes > maxPythonBytes {
		p.Beside["payloads over 512 MiB, left out"]++
		return nil, nil
	}
	r, err := b.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// count notes what the memory has beside Python's columns.
func (p *PythonWriter) count(m *archive.Memory) {
	for what, has := range map[string]bool{
		"past states": len(m.Versions) > 0, "pins": m.Pinned, "repeated sightings": m.Sightings > 1, "sources": m.Source != "",
		"media types": m.MediaType != "", "times of observation other than of learning": m.ObservedAt != m.CreatedAt, "accounts of evictions": len(m.Evictions) > 0,
	} {
		if has {
			p.Beside[what]++
		}
	}
	for name := range m.Extra {
		p.Beside[name]++
	}
}

// Link implements archive.Sink.
func (p *PythonWriter) Link(l *archive.Link) error {
	if l.SupersededBy != "" && l.ValidTo == "" {
		return p.c.exec(`UPDATE memories SET superseded_by = (SELECT memory_id FROM robotmem_memories WHERE uid = ?)
			WHERE id = (SELECT memory_id FROM robotmem_memories WHERE uid = ?)`, l.SupersededBy, l.Memory)
	}
	p.Beside["recalls, origins and past successors"]++
	return p.record("INSERT INTO robotmem_links(record) VALUES (?)", l)
}
