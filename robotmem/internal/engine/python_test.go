package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/python"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// pythonSchema holds the tables of the Python robotmem's documentation.
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
`

// pythonFile writes a memory.db as the Python robotmem does: the documented tables, its
// table of vectors (without its module) and its index.
func pythonFile(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	schema := strings.Replace(pythonSchema, "CREATE VIRTUAL TABLE memories_fts", "CREATE TABLE memories_vec_rowids(rowid INTEGER PRIMARY KEY, id); CREATE TABLE memories_vec_vector_chunks00(rowid PRIMARY KEY, vectors BLOB NOT NULL); CREATE VIRTUAL TABLE memories_fts", 1)
	err := os.WriteFile(path, nil, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.OpenTables(t.Context(), path, sqlite.ConnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.File.Exec("PRAGMA journal_mode=DELETE"); err != nil {
		t.Fatal(err)
	}
	if err := c.File.Exec(schema + more); err != nil {
		t.Fatal(err)
	}
	vec := func(x float32) []byte {
		raw := binary.LittleEndian.AppendUint32(nil, math.Float32bits(3*x))
		return binary.LittleEndian.AppendUint32(raw, math.Float32bits(4*x))
	}
	const insert = `INSERT INTO memories(session_id, collection, type, content, human_summary, context, perception_type, perception_data, perception_metadata,
		category, confidence, decay_rate, status, superseded_by, content_hash, embedding, access_count, return_count, last_accessed, created_at, updated_at)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	for _, args := range [][]any{
		{"5c2cf9a5-8e3f-4f57-9a0e-4b8f3a4b1c2d", "default", "fact", "grip_force=12.5N works best because sensor was calibrated", "grip 12.5N", `{"params": {"grip_force": {"value": 12.50}}, "task": {"success": true}}`,
			nil, nil, nil, "root_cause", 0.9, 0.01, "active", nil, "ab12", vec(1), 3, 7, "2025-06-02T10:00:00.123456+00:00", "2025-06-01T10:00:00.123456+00:00", "2025-06-01T10:00:00.123456+00:00"},
		{"5c2cf9a5-8e3f-4f57-9a0e-4b8f3a4b1c2d", "default", "fact", "grip_force=12.4N  works\nbest 抓取", nil, "", nil, nil, nil, "code", 0.85, 0.01, "superseded", 1, nil, nil, 0, 0, nil, "2025-06-01 10:00:01", "2025-06-01 11:00:00"},
		{"old-session", "kitchen", "perception", "camera sees a cup", nil, `{"spatial": {"position": [1.0, 2.50, 0]}}`,
			"visual", []byte(`{"objects": ["cup"], "n": 1.0}`), `{"format": "json"}`, "observation", 0.8, 0.02, "active", nil, nil, nil, 0, 1, nil, "2025-06-03T08:00:00", "2025-06-03T08:00:00"},
		{nil, "kitchen", "fact", "never lift the pot by its lid", nil, "[1, 2]", nil, nil, nil, "constraint", 0.95, 0.0, "invalidated", nil, nil, nil, 0, 0, nil, "2025-06-04T08:00:00+02:00", "2025-06-05T08:00:00+02:00"},
		{nil, "kitchen", "fact", "", nil, nil, nil, nil, nil, "code", 0.9, 0.01, "active", nil, nil, nil, 0, 0, nil, "2025-06-04T08:00:00Z", "2025-06-05T08:00:00Z"},
	} {
		if err := c.File.Exec(insert, args...); err != nil {
			t.Fatal(err)
		}
	}
	err = c.File.Exec(`INSERT INTO sessions(external_id, collection, context, status, client_type, created_at, updated_at)
			VALUES ('5c2cf9a5-8e3f-4f57-9a0e-4b8f3a4b1c2d', 'default', '{"task": "grasp"}', 'ended', 'mcp_direct', '2025-06-01T09:00:00', '2025-06-01T12:00:00');
		INSERT INTO session_outcomes(session_id, score, created_at) VALUES ('5c2cf9a5-8e3f-4f57-9a0e-4b8f3a4b1c2d', 0.85, '2025-06-01T12:00:00');
		INSERT INTO memory_tags VALUES (1, 'root_cause', 'auto'), (1, 'grasping', 'user'), (1, 'two words', 'user'), (3, 'observation', 'auto');
		INSERT INTO tag_meta VALUES ('root_cause', 'experience', 'Root cause');`)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func importPython(t *testing.T, e *Engine, path string, o archive.ImportOptions) (*archive.ImportReport, python.Report, []string) {
	t.Helper()
	p, err := python.Open(t.Context(), path, time.FixedZone("", 3600))
	if err != nil {
		t.Fatal(err)
	}
	var refused []string
	o.Refused = func(where string, err error) { refused = append(refused, where+": "+err.Error()) }
	res, err := e.Import(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	report := p.Report()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return res, report, refused
}

func fileSum(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

func TestPythonMemory(t *testing.T) {
	t.Parallel()
	ctx, path, e := t.Context(), pythonFile(t, "CREATE TABLE notes(x); INSERT INTO notes VALUES (1); ALTER TABLE memories ADD COLUMN mood TEXT;"), openTest(t, Options{})
	before := fileSum(t, path)
	res, report, refused := importPython(t, e, path, archive.ImportOptions{})
	if fileSum(t, path) != before {
		t.Error("the file was changed")
	}
	if left, _ := filepath.Glob(path + "?*"); len(left) > 0 {
		t.Errorf("%v was left beside it", left)
	}
	if want := (archive.ImportCount{Created: 4, Refused: 1}); res.Memories != want || res.Sessions.Created != 2 || res.Payloads.Stored != 1 {
		t.Errorf("report %+v", res)
	}
	if diff := cmp.Diff([]string{"memory 5: content: is empty"}, refused); diff != "" {
		t.Error(diff)
	}
	want := python.Report{Notes: map[string]int64{
		"no place for table notes": 1, "no place for column mood": 1, "tags that are no names here": 1,
		"context that is no JSON object, kept as text under context": 1, "sessions that only memories name, made anew": 1,
	}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	m, err := e.Get(ctx, &robotmem.MemoryRequest{MemoryID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if m.Content != "grip_force=12.5N works best because sensor was calibrated" || m.Category != "root_cause" || m.AccessCount != 3 || m.ReturnCount != 7 ||
		!m.CreatedAt.Equal(time.Date(2025, 6, 1, 10, 0, 0, 123456000, time.UTC)) || !cmp.Equal(m.UserTags, []string{"grasping"}) || !cmp.Equal(m.Tags, []string{"grasping", "root_cause"}) {
		t.Errorf("memory 1: %+v", m)
	}
	if v, _ := m.Context.At("params.grip_force.value"); fmt.Sprint(v) != "12.50" {
		t.Errorf("a number is spelt %v", v)
	}
	if m, err = e.Get(ctx, &robotmem.MemoryRequest{MemoryID: 2}); err != nil || m.Status != "superseded" || m.SupersededBy != 1 || m.Content != "grip_force=12.4N  works\nbest 抓取" {
		t.Errorf("memory 2: %+v (%v)", m, err)
	}
	if m, err = e.Get(ctx, &robotmem.MemoryRequest{MemoryID: 3}); err != nil || !m.ObservedAt.Equal(time.Date(2025, 6, 3, 7, 0, 0, 0, time.UTC)) {
		t.Errorf("memory 3: a time without a zone is not of the zone that was named: %v (%v)", m.ObservedAt, err)
	}
	data, err := e.Data(ctx, &robotmem.MemoryRequest{MemoryID: 3})
	if err != nil || string(data.DataBase64) != `{"objects": ["cup"], "n": 1.0}` {
		t.Errorf("payload %q (%v)", data.DataBase64, err)
	}
	sessions, err := e.Sessions(ctx, &robotmem.SessionsRequest{Collection: "default"})
	if err != nil || len(sessions.Sessions) != 1 || *sessions.Sessions[0].OutcomeScore != 0.85 || sessions.Sessions[0].ClientType != "mcp_direct" {
		t.Errorf("sessions %+v (%v)", sessions, err)
	}
	if _, ids := recalled(t, e, &robotmem.RecallRequest{Query: "calibrated sensor", N: 1, MinConfidence: new(float64)}); len(ids) != 1 || ids[0] != 1 {
		t.Errorf("recall finds %v", ids)
	}
	inStep(t, e)
	state := hashes(t, e)
	if res, _, _ = importPython(t, e, path, archive.ImportOptions{}); res.Memories.Same != 4 || hashes(t, e) != state {
		t.Errorf("the second import: %+v", res)
	}
	// A later state of the file updates the changed memories.
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec("PRAGMA journal_mode=WAL; UPDATE memories SET content = 'grip_force=13N works', updated_at = '2025-07-01T00:00:00Z' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	defer c.Close() // its log is still beside the file
	if res, _, _ = importPython(t, e, path, archive.ImportOptions{}); res.Memories.Updated != 1 || res.Memories.Same != 3 {
		t.Errorf("the changed file: %+v", res)
	}
	inStep(t, e)
}

func TestPythonFilesAreToldApart(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the cup weighs 0.3 kg"}); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	if err := os.WriteFile(other, []byte("no database at all, though long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{e.Store.Path(), other} {
		if is, _ := python.IsMemory(t.Context(), path); is {
			t.Errorf("%s is taken for Python's", path)
		}
		if p, err := python.Open(t.Context(), path, nil); err == nil {
			t.Errorf("%s was opened: %v", path, p.Close())
		}
	}
	_, err := openFile(context.Background(), pythonFile(t, ""), Options{})
	if err == nil || !strings.Contains(err.Error(), "robotmem import") {
		t.Errorf("as --db: %v; it does not say what to do", err)
	}
}

// A damaged file causes an error, never a panic.
func TestPythonFileDamaged(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(pythonFile(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		bad := bytes.Clone(data)
		for j := range 64 {
			bad[(len(bad)*i/40+j)%len(bad)] ^= 0xff
		}
		path := filepath.Join(t.TempDir(), "bad.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := python.Open(t.Context(), path, nil)
		if err != nil {
			continue
		}
		for {
			if _, err := p.Next(); err != nil {
				if err != io.EOF && robotmem.KindOf(robotmem.Wrap("import", err)) == robotmem.Internal {
					t.Errorf("damage %d: %v", i, err)
				}
				break
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPythonReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := python.Open(ctx, pythonFile(t, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	if _, err := p.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A file whose schema computes its rows, or whose pages form a circle, is refused or ends
// with the context. The deadline is a guard against a hang.
func TestPythonFileThatNeverEnds(t *testing.T) {
	t.Parallel()
	const endless = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 'x' AS content, 'c' AS collection, 'code' AS category, 1.0 AS confidence, '' AS session_id, '' AS created_at FROM n"
	for name, test := range map[string]struct{ more, table, want string }{
		"a view of memories":        {more: "DROP TABLE memories; CREATE VIEW memories AS " + endless, want: "memories is a view"},
		"a view in other letters":   {more: "DROP TABLE memories; CREATE VIEW Memories AS " + endless, want: "memories is a view"},
		"a view of sessions":        {more: "DROP TABLE sessions; CREATE VIEW sessions AS " + endless, want: "sessions is a view"},
		"a virtual table":           {more: "DROP TABLE memories; CREATE VIRTUAL TABLE memories USING fts5(id, content, collection, category, confidence)", want: "memories is a virtual table"},
		"computed columns":          {more: "ALTER TABLE memories ADD COLUMN x AS (hex(zeroblob(100000000)))", want: "memories is a table with computed columns"},
		"a view under another name": {more: "CREATE VIEW other AS " + endless},
		"ids that do not rise":      {more: "DROP TABLE sessions; CREATE TABLE sessions(id TEXT, external_id TEXT, status TEXT); INSERT INTO sessions VALUES ('a', 's1', 'ended')", want: "no rising whole numbers"},
		"a value of 101 MB":         {more: "UPDATE memories SET context = zeroblob(101000000) WHERE id = 1", want: "of more than 100663296 bytes"},
		"a circle of pages":         {table: "memories", want: "more rows than a file of"},
		"a circle in sessions":      {table: "sessions", want: "more rows than a file of"},
		"a circle elsewhere":        {more: "CREATE TABLE notes(x); INSERT INTO notes VALUES (1);", table: "notes"}, // is not read
	} {
		t.Run(name, func(t *testing.T) {
			path := pythonFile(t, "")
			c, err := sqlite.OpenTables(t.Context(), path, sqlite.ConnOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(c.File.Exec("PRAGMA journal_mode=DELETE"), c.File.Exec("PRAGMA legacy_alter_table=ON;"+test.more), c.Close()); err != nil {
				t.Fatal(err)
			}
			if test.table != "" {
				importerstest.EndlessTable(t, path, test.table)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			done := make(chan error, 1)
			go func() {
				p, err := python.Open(ctx, path, nil)
				for err == nil {
					_, err = p.Next()
				}
				if p != nil {
					err = errors.Join(err, p.Close())
				}
				done <- err
			}()
			select {
			case err = <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("it did not end, not with its context either")
			}
			if test.want == "" && errors.Is(err, io.EOF) {
				return
			}
			if test.want == "" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
