package robotmem

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// verdict is what an import does with a record.
type verdict int

const (
	verdictCreate  verdict = iota
	verdictReplace         // newer in the archive
	verdictSame            // nothing differs but counters
	verdictKeep            // newer here
	verdictPurged          // taken away here for good
)

func (c *ImportCount) count(v verdict) {
	switch v {
	case verdictCreate:
		c.Created++
	case verdictReplace:
		c.Updated++
	case verdictSame:
		c.Same++
	case verdictKeep:
		c.Kept++
	case verdictPurged:
		c.Purged++
	}
}

// judge says what becomes of a memory, and returns the one that is known.
func (c *conn) judge(a *arrival) (verdict, *archived, error) {
	known, err := c.archivedByUID(a.UID)
	if err != nil {
		return verdictCreate, nil, err
	}
	if known == nil {
		gone, err := c.purgedUID(a.UID)
		if gone {
			return verdictPurged, nil, err
		}
		return verdictCreate, nil, err
	}
	hash, err := compared(&known.Memory).Hash()
	switch {
	case err != nil:
		return verdictKeep, known, err
	case hash == a.hash:
		return verdictSame, known, nil
	case a.UpdatedAt > known.UpdatedAt:
		return verdictReplace, known, nil
	}
	// What a use changes beside the clock of changes is no difference.
	probe := compared(&known.Memory)
	probe.Sightings, probe.AccessCount, probe.ReturnCount, probe.LastAccessed = a.Sightings, a.AccessCount, a.ReturnCount, a.LastAccessed
	probe.Versions, probe.UserTags, probe.Tags = compared(a.Memory).Versions, a.UserTags, a.Tags
	if hash, err = probe.Hash(); err == nil && hash == a.hash {
		return verdictSame, known, nil
	}
	return verdictKeep, known, err
}

// foreseePart counts what storePart would do.
func foreseePart(c *conn, p *importPart, counts *ImportReport) error {
	for _, a := range p.arrivals {
		v, _, err := c.judge(a)
		if err != nil {
			return err
		}
		counts.Memories.count(v)
	}
	return nil
}

// storePart stores the memories of a part with their payloads and indexes.
func (e *Engine) storePart(tx *writeTx, p *importPart, o *ImportOptions, counts *ImportReport) error {
	for _, w := range p.payloads {
		if err := e.insertPayload(tx, &perceptionRecord{stored: w}); err != nil {
			return err
		}
	}
	columns, err := tx.extraColumns()
	if err != nil {
		return err
	}
	m, err := e.vectorsFor(tx, p, o)
	if err != nil {
		return err
	}
	e.groups.reset() // signatures that it holds may change
	for _, a := range p.arrivals {
		v, known, err := tx.judge(a)
		if err != nil {
			return err
		}
		counts.Memories.count(v)
		var id int64
		switch v {
		case verdictCreate:
			id, err = tx.insertArrival(a)
		case verdictReplace:
			id, err = known.id, e.replaceArrival(tx, a, known)
		case verdictSame:
			err = tx.mergeUses(a, known)
		}
		if err != nil {
			return err
		}
		if id == 0 {
			continue
		}
		if err := tx.setExtra(id, a.Extra, columns, counts.Unplaced); err != nil {
			return err
		}
		if v := unit(a.Vector); m.id != 0 && len(v) == m.dims && a.Status == "active" {
			if err := tx.storeVectors(m.id, []waiting{{id: id, version: a.Version}}, [][]float32{v}, 0); err != nil {
				return err
			}
			counts.Vectors++
		}
	}
	return nil
}

// vectorsFor returns the node's model when the vectors of a part are of it; its
// id is 0 if they are not.
func (e *Engine) vectorsFor(tx *writeTx, p *importPart, o *ImportOptions) (model, error) {
	i := slices.IndexFunc(p.arrivals, func(a *arrival) bool { return a.Vector != nil })
	if o.Model == "" || i < 0 {
		return model{}, nil
	}
	m, err := tx.presentModel()
	if err != nil || m.id != 0 {
		if m.name != o.Model {
			m.id = 0
		}
		return m, err
	}
	if e.meaning.embedder == nil || e.meaning.embedder.State().Model != o.Model {
		return model{}, nil
	}
	return tx.createModel(o.Model, len(p.arrivals[i].Vector), modelPresent)
}

// broughtNewer is why a state became a past one.
const broughtNewer = "an import brought a newer state"

func (tx *writeTx) insertArrival(a *arrival) (int64, error) {
	if err := tx.exec("INSERT INTO memories(uid, collection, type, content, human_summary, category, content_hash, valid_from, observed_at, created_at, updated_at, revision) VALUES (?,'','fact','','','',x'','','','','',0)", a.UID); err != nil {
		return 0, err
	}
	id := tx.LastInsertRowID()
	return id, tx.writeArrival(id, a)
}

// replaceArrival gives a known memory the state of the archive. The state here
// becomes a past one, unless the archive has it among its own.
func (e *Engine) replaceArrival(tx *writeTx, a *arrival, known *archived) error {
	stored, err := tx.memory(known.id, tx.now)
	if err != nil {
		return err
	}
	old, err := e.recordOf(stored)
	if err != nil {
		return err
	}
	if err := tx.unindex(known.id, old); err != nil {
		return err
	}
	if err := tx.exec("DELETE FROM memory_tags WHERE memory_id = ?", known.id); err != nil {
		return err
	}
	here := append(slices.Clone(known.Versions), archive.Version{
		Version: known.Version, ValidFrom: known.ValidFrom, ValidTo: a.UpdatedAt, Content: known.Content, Summary: known.Summary,
		Context: known.Context, Category: known.Category, Confidence: known.Confidence, Status: known.Status,
		SupersededBy: known.SupersededBy, Change: actionUpdated, Reason: broughtNewer,
	})
	merged := *a.Memory
	for _, v := range here {
		if !slices.ContainsFunc(merged.Versions, func(w archive.Version) bool { return sameState(&v, &w) }) {
			merged.Versions = append(merged.Versions, v)
		}
	}
	slices.SortStableFunc(merged.Versions, func(v, w archive.Version) int { return strings.Compare(v.ValidTo, w.ValidTo) })
	merged.Version = max(merged.Version, known.Version)
	if err := tx.exec("DELETE FROM versions WHERE memory_id = ?", known.id); err != nil {
		return err
	}
	if err := tx.exec("DELETE FROM evictions WHERE memory_id = ?", known.id); err != nil {
		return err
	}
	ch := changeOf(actionUpdated, stored)
	ch.reason, ch.before, ch.after = broughtNewer, known.Content, a.Content
	if err := tx.audit(ch); err != nil {
		return err
	}
	return tx.writeArrival(known.id, &arrival{&merged, a.rec, a.hash})
}

// sameState reports whether two past states are one, whenever they ended.
func sameState(v, w *archive.Version) bool {
	return v.Version == w.Version && v.ValidFrom == w.ValidFrom && v.Content == w.Content && v.Status == w.Status && string(v.Context) == string(w.Context)
}

// writeArrival fills the row of a memory, and what other tables hold of it.
func (tx *writeTx) writeArrival(id int64, a *arrival) error {
	successor, err := tx.idOf(a.SupersededBy)
	if err != nil {
		return err
	}
	var sum []byte
	if a.Payload != nil {
		if sum, err = hex.DecodeString(a.Payload.SHA256); err != nil {
			return err
		}
	}
	a.rec.collection, a.rec.session = a.Collection, a.Session
	revision := tx.nextRevision()
	err = tx.exec(`UPDATE memories SET session_id = ?, collection = ?, type = ?, content = ?, human_summary = ?, context = ?,
		perception_type = ?, perception_data = ?, perception_metadata = ?, media_type = ?, category = ?, confidence = ?, decay_rate = ?,
		status = ?, superseded_by = ?, pinned = ?, source = ?, scope_files = ?, scope_entities = ?, content_hash = ?,
		sightings = ?, access_count = ?, return_count = ?, last_accessed = ?, version = ?,
		valid_from = ?, observed_at = ?, created_at = ?, updated_at = ?, revision = ? WHERE id = ?`,
		orNull(a.Session), a.Collection, a.Type, a.Content, a.Summary, a.rec.contextRaw,
		orNull(a.PerceptionType), sum, orNull(string(a.Metadata)), orNull(a.MediaType), a.Category, a.Confidence, a.DecayRate,
		a.Status, idOrNull(successor), a.Pinned, orNull(a.Source), listOrNull(a.ScopeFiles), listOrNull(a.ScopeEntities), a.rec.hash(),
		a.Sightings, a.AccessCount, a.ReturnCount, orNull(a.LastAccessed), a.Version,
		a.ValidFrom, a.ObservedAt, a.CreatedAt, a.UpdatedAt, revision, id)
	if err != nil {
		return err
	}
	if err := tx.index(id, a.rec, revision); err != nil {
		return err
	}
	if a.Status != "active" {
		if err := tx.unindexText(id); err != nil {
			return err
		}
	}
	return tx.writeArrivalRows(id, a)
}

func (tx *writeTx) writeArrivalRows(id int64, a *arrival) error {
	for i := range a.Versions {
		v := &a.Versions[i]
		successor, err := tx.idOf(v.SupersededBy)
		if err != nil {
			return err
		}
		err = tx.exec(`INSERT INTO versions(memory_id, valid_to, valid_from, version, content, human_summary, context,
			category, confidence, status, superseded_by, change, reason) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			id, v.ValidTo, v.ValidFrom, v.Version, v.Content, v.Summary, objectText(v.Context),
			v.Category, v.Confidence, v.Status, idOrNull(successor), v.Change, orNull(v.Reason))
		if err != nil {
			return err
		}
	}
	for _, g := range a.Evictions {
		err := tx.exec("INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at) VALUES (?,?,?,?,?,?)",
			id, a.Collection, g.PerceptionType, g.Bytes, g.Reason, g.EvictedAt)
		if err != nil {
			return err
		}
	}
	if len(a.Evictions) > 0 {
		return tx.insertFeatures(id, &features{}) // there are no bytes to compare
	}
	return nil
}

func objectText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}

func idOrNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// idOf is the number here of a memory, 0 if it is not known.
func (c *conn) idOf(uid string) (int64, error) {
	if uid == "" {
		return 0, nil
	}
	return c.number("SELECT id FROM memories WHERE uid = ?", uid)
}

// evictedUID reports whether a budget took away the payload of a memory here.
func (c *conn) evictedUID(uid string) (bool, error) {
	n, err := c.number("SELECT count(*) FROM evictions e JOIN memories m ON m.id = e.memory_id WHERE m.uid = ?", uid)
	return n > 0, err
}

// purgedUID reports whether a memory was taken away here for good.
func (c *conn) purgedUID(uid string) (bool, error) {
	n, err := c.number("SELECT count(*) FROM purged WHERE uid = ?", uid)
	return n > 0, err
}

// mergeUses takes over what the archive has counted beyond what is counted here.
func (tx *writeTx) mergeUses(a *arrival, known *archived) error {
	for _, tag := range a.UserTags {
		if !slices.Contains(known.UserTags, tag) {
			if err := tx.exec("INSERT OR REPLACE INTO memory_tags(memory_id, tag, source) VALUES (?,?,'user')", known.id, tag); err != nil {
				return err
			}
		}
	}
	if a.Sightings <= known.Sightings && a.AccessCount <= known.AccessCount && a.ReturnCount <= known.ReturnCount && a.LastAccessed <= known.LastAccessed {
		return nil
	}
	return tx.exec(`UPDATE memories SET sightings = max(sightings, ?), access_count = max(access_count, ?), return_count = max(return_count, ?),
		last_accessed = nullif(max(coalesce(last_accessed, ''), ?), ''), revision = ? WHERE id = ?`,
		a.Sightings, a.AccessCount, a.ReturnCount, a.LastAccessed, tx.nextRevision(), known.id)
}

// extraColumns are the columns of memories that a record has no field for.
func (c *conn) extraColumns() (map[string]bool, error) {
	fields, out := (&archived{}).fields(), map[string]bool{}
	err := c.query("SELECT name FROM pragma_table_info('memories')", nil, func(s *sqlite3.Stmt) error {
		if name := s.ColumnText(0); fields[name] == nil && !slices.Contains(derivedColumns, name) {
			out[name] = true
		}
		return nil
	})
	return out, err
}

// setExtra stores what has no field of its own where there is a column for it.
func (tx *writeTx) setExtra(id int64, extra map[string]any, columns map[string]bool, unplaced map[string]int64) error {
	for _, name := range sortedKeys(extra) {
		value, ok := extraValue(extra[name])
		if !columns[name] || !ok {
			unplaced[name]++
			continue
		}
		// The name is one that the file itself has just given.
		if err := tx.exec(fmt.Sprintf(`UPDATE memories SET "%s" = ? WHERE id = ?`, strings.ReplaceAll(name, `"`, `""`)), value, id); err != nil {
			return err
		}
	}
	return nil
}

func extraValue(v any) (any, bool) {
	switch v := v.(type) {
	case string, float64:
		return v, true
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, true
		}
		f, err := v.Float64()
		return f, err == nil
	}
	return nil, false
}

// judgeSession says what becomes of an episode.
func (c *conn) judgeSession(s *archive.Session, counts *ImportCount) (v verdict, err error) {
	var known *archive.Session
	err = c.eachArchivedSession("", s.SessionID, func(found *archive.Session) error { known = found; return nil })
	if err != nil {
		return v, err
	}
	v = verdictCreate
	if known != nil {
		mine, err := known.Hash()
		if err != nil {
			return v, err
		}
		theirs, err := s.Hash()
		if err != nil {
			return v, err
		}
		switch {
		case mine == theirs:
			v = verdictSame
		case s.UpdatedAt > known.UpdatedAt:
			v = verdictReplace
		default:
			v = verdictKeep
		}
	}
	counts.count(v)
	return v, nil
}

func (tx *writeTx) storeSession(s *archive.Session, counts *ImportCount) error {
	v, err := tx.judgeSession(s, counts)
	if err != nil || v == verdictSame || v == verdictKeep {
		return err
	}
	tx.nextRevision()
	err = tx.exec(`INSERT INTO sessions(external_id, collection, context, session_count, status, client_type, summary, created_at, updated_at, ended_at)
		VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT(external_id) DO UPDATE SET context = excluded.context, session_count = excluded.session_count,
		status = excluded.status, client_type = excluded.client_type, summary = excluded.summary, updated_at = excluded.updated_at, ended_at = excluded.ended_at`,
		s.SessionID, s.Collection, objectText(s.Context), s.Count, s.Status, orNull(s.ClientType), orNull(string(s.Summary)), s.CreatedAt, s.UpdatedAt, orNull(s.EndedAt))
	if err != nil {
		return err
	}
	for _, o := range s.Outcomes {
		err := tx.exec(`INSERT INTO session_outcomes(session_id, score, created_at) SELECT ?1, ?2, ?3
			WHERE NOT EXISTS (SELECT 1 FROM session_outcomes WHERE session_id = ?1 AND score = ?2 AND created_at = ?3)`, s.SessionID, o.Score, o.CreatedAt)
		if err != nil {
			return err
		}
	}
	for _, n := range s.Streams {
		err := tx.exec(`INSERT OR REPLACE INTO streams(session_id, collection, source, received, stored, dropped, missed, bytes, updated_at)
			VALUES (?,?,?,?,?,?,?,?,?)`, s.SessionID, n.Collection, n.Source, n.Received, n.Stored, n.Dropped, n.Missed, n.Bytes, n.UpdatedAt)
		if err != nil {
			return err
		}
	}
	return nil
}

// storeLink sets a reference whose ends are both known. One that is set already
// is left alone.
func (tx *writeTx) storeLink(l *archive.Link, counts *LinkCount) error {
	memory, err := tx.idOf(l.Memory)
	if err != nil {
		return err
	}
	successor, err := tx.idOf(l.SupersededBy)
	if err != nil {
		return err
	}
	session := int64(0)
	if l.SessionID != "" {
		if session, err = tx.number("SELECT id FROM sessions WHERE external_id = ?", l.SessionID); err != nil {
			return err
		}
	}
	dangling := l.Memory != "" && memory == 0 || l.SupersededBy != "" && successor == 0 || l.SessionID != "" && session == 0
	if dangling {
		counts.Dangling++
		return nil
	}
	counts.Set++
	switch {
	case memory != 0 && successor != 0 && l.ValidTo != "":
		return tx.exec("UPDATE versions SET superseded_by = ? WHERE memory_id = ? AND version = ? AND valid_to = ? AND status = 'superseded' AND superseded_by IS NULL", successor, memory, l.Version, l.ValidTo)
	case memory != 0 && successor != 0:
		return tx.setSuccessor(memory, successor)
	case memory != 0 && session != 0:
		return tx.exec("INSERT INTO session_recalls(session_id, memory_id, used) VALUES (?,?,?) ON CONFLICT DO UPDATE SET used = max(used, excluded.used)", l.SessionID, memory, l.Used)
	case memory != 0 && l.Origin != "":
		return tx.exec("INSERT OR IGNORE INTO origins(collection, origin, memory_id) VALUES (?,?,?)", l.Collection, l.Origin, memory)
	case session != 0 && l.Origin != "":
		return tx.exec("INSERT OR IGNORE INTO session_origins(collection, origin, session_id) VALUES (?,?,?)", l.Collection, l.Origin, l.SessionID)
	}
	return nil
}

// setSuccessor fills in what supersedes a memory, where that was not known yet.
func (tx *writeTx) setSuccessor(id, by int64) error {
	before := tx.TotalChanges()
	err := tx.exec("UPDATE memories SET superseded_by = ?, revision = ? WHERE id = ? AND status = 'superseded' AND superseded_by IS NULL", by, tx.revision+1, id)
	if err == nil && tx.TotalChanges() != before {
		tx.nextRevision()
	}
	return err
}
