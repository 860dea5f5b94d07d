package local

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
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
		if a.Payload == nil || v != verdictCreate && v != verdictReplace || len(a.Evictions) > 0 {
			continue
		}
		if sum := a.Payload.SHA256; p.payloads[sum] == nil && !p.known[sum] {
			p.missing[sum] = true
		}
	}
	return nil
}

// storePart stores the memories of a part with their payloads and indexes.
func (e *Engine) storePart(tx *writeTx, p *importPart, o *ImportOptions, counts *ImportReport) error {
	columns, err := tx.extraColumns()
	if err != nil {
		return err
	}
	m, why, err := e.vectorsFor(tx, p, o)
	if err != nil {
		return err
	}
	stored := map[int64]*arrival{}
	e.store.groups.reset() // signatures that it holds may change
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
		left := ""
		if id == 0 {
			left = "their memories were not stored: known, purged or newer here"
		} else {
			stored[id] = a
			if err := tx.setExtra(id, a.Extra, columns, counts.Unplaced); err != nil {
				return err
			}
			if err := tx.setProvenance(id, a); err != nil {
				return err
			}
			if left, err = tx.takeVector(m, why, id, a); err != nil {
				return err
			}
		}
		switch {
		case a.Vector == nil || o.Model == "":
		case left == "":
			counts.Vectors++
		default:
			counts.VectorsLeft[left]++
		}
	}
	return e.settlePayloads(tx, p, stored)
}

// takeVector stores the vector that a source has of a memory, or says why not.
func (tx *writeTx) takeVector(m model, why string, id int64, a *arrival) (left string, err error) {
	v := unit(a.Vector)
	switch {
	case m.id == 0:
		return why, nil
	case v == nil:
		return "they have no direction", nil
	case len(v) != m.dims:
		return fmt.Sprintf("they have %d numbers, those of this memory %d", len(v), m.dims), nil
	case a.Status != "active":
		return "their memories are past, and need none", nil
	}
	return "", tx.storeVectors(m.id, []waiting{{id: id, version: a.Version}}, [][]float32{v}, 0)
}

// vectorsFor returns the node's model when the vectors of a part are of it; its
// id is 0 if they are not, and why says what this memory's are of.
func (e *Engine) vectorsFor(tx *writeTx, p *importPart, o *ImportOptions) (m model, why string, err error) {
	i := slices.IndexFunc(p.arrivals, func(a *arrival) bool { return a.Vector != nil })
	if o.Model == "" || i < 0 {
		return model{}, "", nil
	}
	m, err = tx.presentModel()
	if err != nil || m.id != 0 {
		if m.name != o.Model {
			m.id, why = 0, "this memory's are of "+m.name
		}
		return m, why, err
	}
	if e.embeddings.embedder == nil {
		return model{}, "this memory has none, and no embedder is set", nil
	}
	if name := e.embeddings.embedder.State().Model; name != o.Model {
		return model{}, "this memory has none, and its embedder is of " + cmp.Or(name, "a model that it has not named yet"), nil
	}
	m, err = tx.createModel(o.Model, len(p.arrivals[i].Vector), modelPresent)
	return m, "", err
}

// broughtNewer is why a state became a past one.
const broughtNewer = "an import brought a newer state"

func (tx *writeTx) insertArrival(a *arrival) (int64, error) {
	if err := tx.Exec("INSERT INTO memories(uid, collection, type, content, human_summary, category, content_hash, valid_from, observed_at, created_at, updated_at, revision) VALUES (?,'','fact','','','',x'','','','','',0)", a.UID); err != nil {
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
	old, err := e.records.recordOf(stored)
	if err != nil {
		return err
	}
	if err := tx.unindex(known.id, old); err != nil {
		return err
	}
	if err := tx.Exec("DELETE FROM memory_tags WHERE memory_id = ?", known.id); err != nil {
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
	if err := tx.Exec("DELETE FROM versions WHERE memory_id = ?", known.id); err != nil {
		return err
	}
	if err := tx.unevict(known.id); err != nil {
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
	err = tx.Exec(`UPDATE memories SET session_id = ?, collection = ?, type = ?, content = ?, human_summary = ?, context = ?,
		perception_type = ?, perception_data = ?, perception_metadata = ?, media_type = ?, category = ?, confidence = ?, decay_rate = ?,
		status = ?, superseded_by = ?, pinned = ?, source = ?, scope_files = ?, scope_entities = ?, content_hash = ?,
		sightings = ?, access_count = ?, return_count = ?, last_accessed = ?, version = ?,
		valid_from = ?, observed_at = ?, created_at = ?, updated_at = ?, revision = ? WHERE id = ?`,
		sqlite.OrNull(a.Session), a.Collection, a.Type, a.Content, a.Summary, a.rec.contextRaw,
		sqlite.OrNull(a.PerceptionType), sum, sqlite.OrNull(string(a.Metadata)), sqlite.OrNull(a.MediaType), a.Category, a.Confidence, a.DecayRate,
		a.Status, idOrNull(successor), a.Pinned, sqlite.OrNull(a.Source), listOrNull(a.ScopeFiles), listOrNull(a.ScopeEntities), a.rec.hash(),
		a.Sightings, a.AccessCount, a.ReturnCount, sqlite.OrNull(a.LastAccessed), a.Version,
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
		err = tx.Exec(`INSERT INTO versions(memory_id, valid_to, valid_from, version, content, human_summary, context,
			category, confidence, status, superseded_by, change, reason) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			id, v.ValidTo, v.ValidFrom, v.Version, v.Content, v.Summary, objectText(v.Context),
			v.Category, v.Confidence, v.Status, idOrNull(successor), v.Change, sqlite.OrNull(v.Reason))
		if err != nil {
			return err
		}
	}
	for _, g := range a.Evictions {
		err := tx.Exec("INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at) VALUES (?,?,?,?,?,?)",
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
	return c.Number("SELECT id FROM memories WHERE uid = ?", uid)
}

// purgedUID reports whether a memory was taken away here for good.
func (c *conn) purgedUID(uid string) (bool, error) {
	n, err := c.Number("SELECT count(*) FROM purged WHERE uid = ?", uid)
	return n > 0, err
}

// mergeUses takes over what the archive has counted beyond what is counted here.
func (tx *writeTx) mergeUses(a *arrival, known *archived) error {
	for _, tag := range a.UserTags {
		if !slices.Contains(known.UserTags, tag) {
			if err := tx.Exec("INSERT OR REPLACE INTO memory_tags(memory_id, tag, source) VALUES (?,?,'user')", known.id, tag); err != nil {
				return err
			}
		}
	}
	if a.Sightings <= known.Sightings && a.AccessCount <= known.AccessCount && a.ReturnCount <= known.ReturnCount && a.LastAccessed <= known.LastAccessed {
		return nil
	}
	return tx.Exec(`UPDATE memories SET sightings = max(sightings, ?), access_count = max(access_count, ?), return_count = max(return_count, ?),
		last_accessed = nullif(max(coalesce(last_accessed, ''), ?), ''), revision = ? WHERE id = ?`,
		a.Sightings, a.AccessCount, a.ReturnCount, a.LastAccessed, tx.nextRevision(), known.id)
}

// extraColumns are the columns of memories that a record has no field for.
func (c *conn) extraColumns() (map[string]bool, error) {
	fields, out := (&archived{}).fields(), map[string]bool{}
	err := c.Query("SELECT name FROM pragma_table_info('memories')", nil, func(s *sqlite3.Stmt) error {
		if name := s.ColumnText(0); fields[name] == nil && !slices.Contains(derivedColumns, name) {
			out[name] = true
		}
		return nil
	})
	return out, err
}

// provenance are the columns that say who stored a memory, and how long each may
// be.
var provenance = map[string]int{"robot": maxRobot, "tool": maxWho + 1 + maxClient, "who": maxWho}

// setProvenance names who imported a memory when its source does not say who
// stored it. One that is known keeps whom it names.
func (tx *writeTx) setProvenance(id int64, a *arrival) error {
	for name, limit := range provenance {
		if text, ok := a.Extra[name].(string); ok && cleanName(text, limit) != "" {
			return nil
		}
	}
	return tx.Exec("UPDATE memories SET robot = ?, tool = ?, who = ? WHERE id = ? AND robot IS NULL AND tool IS NULL AND who IS NULL",
		sqlite.OrNull(robotOf(robotmem.ParseObject(string(a.Context)))), sqlite.OrNull(throughTool(tx.caller)), sqlite.OrNull(tx.caller.Who), id)
}

// setExtra stores what has no field of its own where there is a column for it.
// The texts of provenance are cleaned as those of an ordinary write are: they are
// shown beside others.
func (tx *writeTx) setExtra(id int64, extra map[string]any, columns map[string]bool, unplaced map[string]int64) error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		value, ok := extraValue(extra[name])
		if limit := provenance[name]; limit > 0 && ok {
			var text string
			if text, ok = value.(string); ok {
				value = sqlite.OrNull(cleanName(text, limit))
			}
		}
		if !columns[name] || !ok {
			unplaced[name]++
			continue
		}
		// The name is one that the file itself has just given.
		if err := tx.Exec(fmt.Sprintf(`UPDATE memories SET "%s" = ? WHERE id = ?`, strings.ReplaceAll(name, `"`, `""`)), value, id); err != nil {
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
