package store

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Insert stores a record with all its indexes and returns its id and uid.
func (tx *Tx) Insert(r *record.Record) (id int64, uid string, err error) {
	u, err := uuid.NewV7()
	if err != nil {
		return 0, "", err
	}
	now := FormatTime(tx.Now)
	observed := now
	if r.Observed != nil {
		observed = FormatTime(*r.Observed)
	}
	var perceptionType, sum, metadata, mediaType any
	if p := r.Perception; p != nil {
		perceptionType = p.PerceptionType
		if p.Stored != nil {
			sum, mediaType = p.Stored.Sum[:], p.MediaType
		}
		if p.Metadata != "{}" {
			metadata = p.Metadata
		}
	}
	revision := tx.NextRevision()
	err = tx.Exec(`INSERT INTO memories(uid, session_id, collection, type, content, human_summary, context,
		perception_type, perception_data, perception_metadata, media_type,
		category, confidence, decay_rate, pinned, source, scope_files, scope_entities, content_hash,
		valid_from, observed_at, created_at, updated_at, revision, robot, tool, who)
		VALUES (?,?,?,?,?,?,?, ?,?,?,?, ?,?,?,?,?,?,?,?, ?,?,?,?,?, ?,?,?)`,
		u.String(), sqlite.OrNull(r.Session), r.Collection, r.Kind, r.Content, r.Summary, r.ContextRaw,
		perceptionType, sum, metadata, mediaType,
		r.Inferred.Category, r.Inferred.Confidence, r.DecayRate(), r.Pinned, sqlite.OrNull(r.Source),
		listOrNull(r.Inferred.ScopeFiles), listOrNull(r.Inferred.ScopeEntities), r.Hash(),
		now, observed, now, now, revision,
		sqlite.OrNull(r.Robot), sqlite.OrNull(throughTool(tx.caller)), sqlite.OrNull(tx.caller.Who))
	if err != nil {
		return 0, "", err
	}
	id = tx.LastInsertRowID()
	if err := tx.Index(id, r, revision); err != nil {
		return 0, "", err
	}
	return id, u.String(), nil
}

// Index writes everything that is looked up by something else than the id.
func (tx *Tx) Index(id int64, r *record.Record, revision int64) error {
	if err := tx.IndexText(id, r); err != nil {
		return err
	}
	tx.indexTags(id, r)
	if err := tx.indexContext(id, r); err != nil {
		return err
	}
	if r.Kind != "fact" {
		return nil
	}
	s := r.Signature
	return tx.Exec(`INSERT INTO signatures(group_key, seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b)
		VALUES (?,?,?,?,?,?,?,?)`, r.GroupKey(), revision, id, s.Terms, s.Numbers, s.Skeleton, int64(s.Sketch[0]), int64(s.Sketch[1]))
}

func (tx *Tx) IndexText(id int64, r *record.Record) error {
	return tx.Exec("INSERT INTO memories_fts(rowid, content, human_summary, scope_files, scope_entities) VALUES (?,?,?,?,?)",
		id, r.FtsContent, r.FtsSummary, r.FtsFiles, r.FtsEntities)
}

func (tx *Tx) indexTags(id int64, r *record.Record) {
	for _, tag := range r.UserTags {
		tx.pending.tags = append(tx.pending.tags, tagRow{tag, "user", id})
	}
	for _, tag := range r.Inferred.Tags {
		tx.pending.tags = append(tx.pending.tags, tagRow{tag, "auto", id})
	}
}

func (tx *Tx) indexContext(id int64, r *record.Record) error {
	for _, a := range r.Attrs {
		path, err := tx.pathID(a.Path)
		if err != nil {
			return err
		}
		tx.pending.attributes = append(tx.pending.attributes, attributeRow{path, id, a.Value})
	}
	for _, p := range r.Places {
		path, err := tx.pathID(p.Path)
		if err != nil {
			return err
		}
		err = tx.Exec("INSERT OR REPLACE INTO points(memory_id, path_id, x, y, z, frame_id, map_id) VALUES (?,?,?,?,?,?,?)",
			id, path, p.XYZ[0], p.XYZ[1], p.Z(), p.Frame, p.MapID)
		if err != nil {
			return err
		}
	}
	return nil
}

// pathID returns the number of a context path, giving it one if it is new.
func (tx *Tx) pathID(path string) (int64, error) {
	if id := tx.Store.Paths[path]; id != 0 {
		return id, nil
	}
	id, err := tx.KnownPath(path)
	if err != nil {
		return 0, err
	}
	if id == 0 {
		if err := tx.Exec("INSERT INTO paths(path) VALUES (?)", path); err != nil {
			return 0, err
		}
		id = tx.LastInsertRowID()
	}
	if len(tx.Store.Paths) >= maxCachedPaths {
		clear(tx.Store.Paths)
	}
	tx.Store.Paths[path] = id
	return id, nil
}

// Changes is the change counter: it grows with every change of a memory, and
// with every episode that begins or ends.
func (c *Conn) Changes() (int64, error) {
	return c.Number("SELECT value FROM counters WHERE name = 'changes'")
}

func (c *Conn) SetChanges(n int64) error {
	return c.Exec("UPDATE counters SET value = ? WHERE name = 'changes'", n)
}

// maxCachedPaths bounds the memory that callers with ever new keys can take.
const maxCachedPaths = 4096

// UnindexText takes a memory out of full-text search.
func (tx *Tx) UnindexText(id int64) error {
	return tx.Exec("DELETE FROM memories_fts WHERE rowid = ?", id)
}

// Unindex removes all that index wrote for the record.
func (tx *Tx) Unindex(id int64, old *record.Record) error {
	if err := tx.UnindexText(id); err != nil {
		return err
	}
	if err := tx.unindexVectors(id); err != nil {
		return err
	}
	for _, a := range old.Attrs {
		path, err := tx.pathID(a.Path)
		if err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM attributes WHERE path_id = ? AND value = ? AND memory_id = ?", path, a.Value, id); err != nil {
			return err
		}
	}
	if err := tx.Exec("DELETE FROM points WHERE memory_id = ?", id); err != nil {
		return err
	}
	if err := tx.Exec("DELETE FROM memory_tags WHERE memory_id = ? AND source = 'auto'", id); err != nil {
		return err
	}
	return tx.Exec("DELETE FROM signatures WHERE group_key = ? AND memory_id = ?", old.GroupKey(), id)
}

const MemoryColumns = `m.id, m.uid, m.type, m.content, m.human_summary, m.category, m.confidence, m.context,
	m.session_id, m.collection, m.created_at, m.observed_at, m.perception_type, m.media_type, m.perception_metadata,
	m.perception_data, m.status, m.superseded_by, m.version, m.pinned, m.source, m.sightings, m.access_count,
	m.return_count, m.decay_rate, m.last_accessed, m.updated_at, m.scope_files, m.scope_entities,
	m.robot, m.tool, m.who`

// ScanMemory reads a row of MemoryColumns as of now.
func ScanMemory(s *sqlite.Stmt, now time.Time) robotmem.Memory {
	m := robotmem.Memory{
		MemoryID: s.ColumnInt64(0), UID: s.ColumnText(1), Type: s.ColumnText(2), Content: s.ColumnText(3),
		Summary: s.ColumnText(4), Category: s.ColumnText(5), Confidence: s.ColumnFloat(6),
		Context: robotmem.ParseObject(s.ColumnText(7)), SessionID: s.ColumnText(8), Collection: s.ColumnText(9),
		CreatedAt: ParseTime(s.ColumnText(10)), ObservedAt: ParseTime(s.ColumnText(11)),
		PerceptionType: s.ColumnText(12), MediaType: s.ColumnText(13), Metadata: robotmem.ParseObject(s.ColumnText(14)),
		Status: s.ColumnText(16), SupersededBy: s.ColumnInt64(17), Version: s.ColumnInt(18), Pinned: s.ColumnBool(19),
		Source: s.ColumnText(20), Sightings: s.ColumnInt(21), AccessCount: s.ColumnInt(22), ReturnCount: s.ColumnInt(23),
		DecayRate: s.ColumnFloat(24), LastAccessed: parseTimePtr(s.ColumnText(25)), UpdatedAt: parseTimePtr(s.ColumnText(26)),
		ScopeFiles: StoredList(s.ColumnText(27)), ScopeEntity: StoredList(s.ColumnText(28)),
		Tags: []string{},
	}
	if p := (robotmem.Provenance{Robot: s.ColumnText(29), Tool: s.ColumnText(30), Who: s.ColumnText(31)}); p != (robotmem.Provenance{}) {
		m.Provenance = &p
	}
	if sum := s.ColumnRawBlob(15); sum != nil {
		m.SHA256 = hex.EncodeToString(sum)
		m.DataURI = dataURI(m.MemoryID)
	}
	useful := m.CreatedAt
	if m.LastAccessed != nil && !m.LastAccessed.After(now) {
		useful = *m.LastAccessed
	}
	m.Confidence = math.Round(consolidate.Now(m.Confidence, m.DecayRate, now.Sub(useful))*1e6) / 1e6
	LiftSections(&m)
	return m
}

// LiftSections repeats the known sections of the context at the top.
func LiftSections(m *robotmem.Memory) {
	m.Params, m.Spatial, m.Robot, m.Task, m.Env = m.Context["params"], m.Context["spatial"], m.Context["robot"], m.Context["task"], m.Context["env"]
}

// Memory returns one memory; NotFound if there is none.
func (c *Conn) Memory(id int64, now time.Time) (*robotmem.Memory, error) {
	var m robotmem.Memory
	found, err := c.One("SELECT "+MemoryColumns+" FROM memories m WHERE m.id = ?", []any{id}, func(s *sqlite.Stmt) { m = ScanMemory(s, now) })
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, c.noMemory(id)
	}
	return &m, c.AddTags(&m)
}

func (c *Conn) noMemory(id int64) error {
	at, who, purged, err := c.purgedAt(id)
	if err != nil {
		return err
	}
	if purged {
		return robotmem.Errorf(robotmem.NotFound, "memory_id", "memory %d was purged at %s%s; nothing of it is kept", id, at.Format(time.RFC3339), byWhom(who))
	}
	return robotmem.Errorf(robotmem.NotFound, "memory_id", "there is no memory %d; ids come from learn, recall and list", id)
}

func byWhom(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func (c *Conn) AddTags(m *robotmem.Memory) error {
	return c.Query("SELECT tag, source FROM memory_tags WHERE memory_id = ? ORDER BY tag", []any{m.MemoryID}, func(s *sqlite.Stmt) error {
		m.Tags = append(m.Tags, s.ColumnText(0))
		if s.ColumnText(1) == "user" {
			m.UserTags = append(m.UserTags, s.ColumnText(0))
		}
		return nil
	})
}

// Lists of scope are stored as JSON.
func listOrNull(list []string) any {
	if len(list) == 0 {
		return nil
	}
	data, err := robotmem.EncodeJSON(list)
	if err != nil {
		return nil
	}
	return string(data)
}

func StoredList(s string) []string {
	var list []string
	if s == "" || json.NewDecoder(strings.NewReader(s)).Decode(&list) != nil {
		return nil
	}
	return list
}

func dataURI(id int64) string { return "robotmem://perception/" + strconv.FormatInt(id, 10) + "/data" }

// KnownPath returns the number of a context path, 0 if no memory has it.
func (c *Conn) KnownPath(path string) (int64, error) {
	return c.Number("SELECT id FROM paths WHERE path = ?", path)
}

// ColumnValue is an attribute as JSON has it.
func ColumnValue(s *sqlite.Stmt, column int) any {
	switch s.ColumnType(column) {
	case sqlite.Integer:
		return json.Number(strconv.FormatInt(s.ColumnInt64(column), 10))
	case sqlite.Float:
		return json.Number(strconv.FormatFloat(s.ColumnFloat(column), 'g', -1, 64))
	case sqlite.Text:
		return s.ColumnText(column)
	}
	if string(s.ColumnRawBlob(column)) == filter.BlobNull {
		return nil
	}
	return string(s.ColumnRawBlob(column)) == filter.BlobTrue
}

// PathNames spells the numbers of context paths.
func (c *Conn) PathNames(ids []int64) (map[int64]string, error) {
	names := make(map[int64]string, len(ids))
	for _, id := range ids {
		_, err := c.One("SELECT path FROM paths WHERE id = ?", []any{id}, func(s *sqlite.Stmt) { names[id] = s.ColumnText(0) })
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Describe adds what the row of its memory says of a point; found is false
// without a row.
func (c *Conn) Describe(p *robotmem.PlacePoint) (found bool, err error) {
	return c.One("SELECT type, category, human_summary FROM memories WHERE id = ?", []any{p.MemoryID}, func(s *sqlite.Stmt) {
		p.Type, p.Category, p.Summary = s.ColumnText(0), s.ColumnText(1), s.ColumnText(2)
	})
}
