package local

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// insert stores a record with all its indexes and returns its id and uid.
func (tx *writeTx) insert(r *record) (id int64, uid string, err error) {
	u, err := uuid.NewV7()
	if err != nil {
		return 0, "", err
	}
	now := formatTime(tx.now)
	observed := now
	if r.observed != nil {
		observed = formatTime(*r.observed)
	}
	var perceptionType, sum, metadata, mediaType any
	if p := r.perception; p != nil {
		perceptionType = p.perceptionType
		if p.stored != nil {
			sum, mediaType = p.stored.Sum[:], p.mediaType
		}
		if p.metadata != "{}" {
			metadata = p.metadata
		}
	}
	revision := tx.nextRevision()
	err = tx.Exec(`INSERT INTO memories(uid, session_id, collection, type, content, human_summary, context,
		perception_type, perception_data, perception_metadata, media_type,
		category, confidence, decay_rate, pinned, source, scope_files, scope_entities, content_hash,
		valid_from, observed_at, created_at, updated_at, revision, robot, tool, who)
		VALUES (?,?,?,?,?,?,?, ?,?,?,?, ?,?,?,?,?,?,?,?, ?,?,?,?,?, ?,?,?)`,
		u.String(), sqlite.OrNull(r.session), r.collection, r.kind, r.content, r.summary, r.contextRaw,
		perceptionType, sum, metadata, mediaType,
		r.inferred.Category, r.inferred.Confidence, r.decayRate(), r.pinned, sqlite.OrNull(r.source),
		listOrNull(r.inferred.ScopeFiles), listOrNull(r.inferred.ScopeEntities), r.hash(),
		now, observed, now, now, revision,
		sqlite.OrNull(r.robot), sqlite.OrNull(throughTool(tx.caller)), sqlite.OrNull(tx.caller.Who))
	if err != nil {
		return 0, "", err
	}
	id = tx.LastInsertRowID()
	if err := tx.index(id, r, revision); err != nil {
		return 0, "", err
	}
	return id, u.String(), nil
}

// index writes everything that is looked up by something else than the id.
func (tx *writeTx) index(id int64, r *record, revision int64) error {
	if err := tx.indexText(id, r); err != nil {
		return err
	}
	tx.indexTags(id, r)
	if err := tx.indexContext(id, r); err != nil {
		return err
	}
	if r.kind != "fact" {
		return nil
	}
	s := r.signature
	return tx.Exec(`INSERT INTO signatures(group_key, seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b)
		VALUES (?,?,?,?,?,?,?,?)`, r.groupKey(), revision, id, s.terms, s.numbers, s.skeleton, int64(s.sketch[0]), int64(s.sketch[1]))
}

func (tx *writeTx) indexText(id int64, r *record) error {
	return tx.Exec("INSERT INTO memories_fts(rowid, content, human_summary, scope_files, scope_entities) VALUES (?,?,?,?,?)",
		id, r.ftsContent, r.ftsSummary, r.ftsFiles, r.ftsEntities)
}

func (tx *writeTx) indexTags(id int64, r *record) {
	for _, tag := range r.userTags {
		tx.pending.tags = append(tx.pending.tags, tagRow{tag, "user", id})
	}
	for _, tag := range r.inferred.Tags {
		tx.pending.tags = append(tx.pending.tags, tagRow{tag, "auto", id})
	}
}

func (tx *writeTx) indexContext(id int64, r *record) error {
	for _, a := range r.attrs {
		path, err := tx.pathID(a.Path)
		if err != nil {
			return err
		}
		tx.pending.attributes = append(tx.pending.attributes, attributeRow{path, id, a.Value})
	}
	for _, p := range r.places {
		path, err := tx.pathID(p.Path)
		if err != nil {
			return err
		}
		var z any
		if len(p.XYZ) == 3 {
			z = p.XYZ[2]
		}
		err = tx.Exec("INSERT OR REPLACE INTO points(memory_id, path_id, x, y, z, frame_id, map_id) VALUES (?,?,?,?,?,?,?)",
			id, path, p.XYZ[0], p.XYZ[1], z, p.Frame, p.MapID)
		if err != nil {
			return err
		}
	}
	return nil
}

// pathID returns the number of a context path, giving it one if it is new.
func (tx *writeTx) pathID(path string) (int64, error) {
	if id := tx.store.paths[path]; id != 0 {
		return id, nil
	}
	id, err := tx.knownPath(path)
	if err != nil {
		return 0, err
	}
	if id == 0 {
		if err := tx.Exec("INSERT INTO paths(path) VALUES (?)", path); err != nil {
			return 0, err
		}
		id = tx.LastInsertRowID()
	}
	if len(tx.store.paths) >= maxCachedPaths {
		clear(tx.store.paths)
	}
	tx.store.paths[path] = id
	return id, nil
}

// knownPath returns the number of a context path, 0 if no memory has it.
func (c *conn) knownPath(path string) (int64, error) {
	return c.Number("SELECT id FROM paths WHERE path = ?", path)
}

// changes is the change counter: it grows with every change of a memory, and
// with every episode that begins or ends.
func (c *conn) changes() (int64, error) {
	return c.Number("SELECT value FROM counters WHERE name = 'changes'")
}

func (c *conn) setChanges(n int64) error {
	return c.Exec("UPDATE counters SET value = ? WHERE name = 'changes'", n)
}

// maxCachedPaths bounds the memory that callers with ever new keys can take.
const maxCachedPaths = 4096

// unindexText takes a memory out of full-text search.
func (tx *writeTx) unindexText(id int64) error {
	return tx.Exec("DELETE FROM memories_fts WHERE rowid = ?", id)
}

// unindex removes all that index wrote for the record.
func (tx *writeTx) unindex(id int64, old *record) error {
	if err := tx.unindexText(id); err != nil {
		return err
	}
	if err := tx.unindexVectors(id); err != nil {
		return err
	}
	for _, a := range old.attrs {
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
	return tx.Exec("DELETE FROM signatures WHERE group_key = ? AND memory_id = ?", old.groupKey(), id)
}

const memoryColumns = `m.id, m.uid, m.type, m.content, m.human_summary, m.category, m.confidence, m.context,
	m.session_id, m.collection, m.created_at, m.observed_at, m.perception_type, m.media_type, m.perception_metadata,
	m.perception_data, m.status, m.superseded_by, m.version, m.pinned, m.source, m.sightings, m.access_count,
	m.return_count, m.decay_rate, m.last_accessed, m.updated_at, m.scope_files, m.scope_entities,
	m.robot, m.tool, m.who`

// scanMemory reads a row of memoryColumns as of now.
func scanMemory(s *sqlite3.Stmt, now time.Time) robotmem.Memory {
	m := robotmem.Memory{
		MemoryID: s.ColumnInt64(0), UID: s.ColumnText(1), Type: s.ColumnText(2), Content: s.ColumnText(3),
		Summary: s.ColumnText(4), Category: s.ColumnText(5), Confidence: s.ColumnFloat(6),
		Context: robotmem.ParseObject(s.ColumnText(7)), SessionID: s.ColumnText(8), Collection: s.ColumnText(9),
		CreatedAt: parseTime(s.ColumnText(10)), ObservedAt: parseTime(s.ColumnText(11)),
		PerceptionType: s.ColumnText(12), MediaType: s.ColumnText(13), Metadata: robotmem.ParseObject(s.ColumnText(14)),
		Status: s.ColumnText(16), SupersededBy: s.ColumnInt64(17), Version: s.ColumnInt(18), Pinned: s.ColumnBool(19),
		Source: s.ColumnText(20), Sightings: s.ColumnInt(21), AccessCount: s.ColumnInt(22), ReturnCount: s.ColumnInt(23),
		DecayRate: s.ColumnFloat(24), LastAccessed: parseTimePtr(s.ColumnText(25)), UpdatedAt: parseTimePtr(s.ColumnText(26)),
		ScopeFiles: storedList(s.ColumnText(27)), ScopeEntity: storedList(s.ColumnText(28)),
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
	liftSections(&m)
	return m
}

// liftSections repeats the known sections of the context at the top.
func liftSections(m *robotmem.Memory) {
	m.Params, m.Spatial, m.Robot, m.Task, m.Env = m.Context["params"], m.Context["spatial"], m.Context["robot"], m.Context["task"], m.Context["env"]
}

// memory returns one memory; NotFound if there is none.
func (c *conn) memory(id int64, now time.Time) (*robotmem.Memory, error) {
	var m robotmem.Memory
	found, err := c.One("SELECT "+memoryColumns+" FROM memories m WHERE m.id = ?", []any{id}, func(s *sqlite3.Stmt) { m = scanMemory(s, now) })
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, c.noMemory(id)
	}
	return &m, c.addTags(&m)
}

func (c *conn) noMemory(id int64) error {
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

func (c *conn) addTags(m *robotmem.Memory) error {
	return c.Query("SELECT tag, source FROM memory_tags WHERE memory_id = ? ORDER BY tag", []any{m.MemoryID}, func(s *sqlite3.Stmt) error {
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

func storedList(s string) []string {
	var list []string
	if s == "" || json.NewDecoder(strings.NewReader(s)).Decode(&list) != nil {
		return nil
	}
	return list
}
