package store

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Arrival is a memory on its way in, checked.
type Arrival struct {
	*archive.Memory
	Rec  *record.Record
	Hash string // of what two nodes compare
}

// Compared is what two nodes compare to see whether they know the same: a
// memory without the references that may come later, without the state of its
// payload, and without who stored it, which a node names itself where the source
// does not.
func Compared(m *archive.Memory) *archive.Memory {
	c := *m
	c.SupersededBy = ""
	c.Versions = slices.Clone(m.Versions)
	for i := range c.Versions {
		c.Versions[i].SupersededBy = ""
	}
	if m.Payload != nil {
		c.Payload = &archive.Payload{SHA256: m.Payload.SHA256}
	}
	c.Evictions = nil
	for _, g := range m.Evictions {
		if !slices.Contains(lostReasons, g.Reason) {
			c.Evictions = append(c.Evictions, g)
		}
	}
	c.Extra = nil
	for name, value := range m.Extra {
		if provenance[name] > 0 {
			continue
		}
		if c.Extra == nil {
			c.Extra = map[string]any{}
		}
		c.Extra[name] = value
	}
	return &c
}

// unit is a vector of length 1; nil, which is made anew, when it has none.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return out
}

// verdict is what an import does with a record.
type verdict int

const (
	VerdictCreate  verdict = iota
	VerdictReplace         // newer in the archive
	VerdictSame            // nothing differs but counters
	verdictKeep            // newer here
	verdictPurged          // taken away here for good
)

func (c *ImportCount) Count(v verdict) {
	switch v {
	case VerdictCreate:
		c.Created++
	case VerdictReplace:
		c.Updated++
	case VerdictSame:
		c.Same++
	case verdictKeep:
		c.Kept++
	case verdictPurged:
		c.Purged++
	}
}

// Judge says what becomes of a memory, and returns the one that is known.
func (c *Conn) Judge(a *Arrival) (verdict, *Archived, error) {
	known, err := c.archivedByUID(a.UID)
	if err != nil {
		return VerdictCreate, nil, err
	}
	if known == nil {
		gone, err := c.purgedUID(a.UID)
		if gone {
			return verdictPurged, nil, err
		}
		return VerdictCreate, nil, err
	}
	hash, err := Compared(&known.Memory).Hash()
	switch {
	case err != nil:
		return verdictKeep, known, err
	case hash == a.Hash:
		return VerdictSame, known, nil
	case a.UpdatedAt > known.UpdatedAt:
		return VerdictReplace, known, nil
	}
	// What a use changes beside the clock of changes is no difference.
	probe := Compared(&known.Memory)
	probe.Sightings, probe.AccessCount, probe.ReturnCount, probe.LastAccessed = a.Sightings, a.AccessCount, a.ReturnCount, a.LastAccessed
	probe.Versions, probe.UserTags, probe.Tags = Compared(a.Memory).Versions, a.UserTags, a.Tags
	if hash, err = probe.Hash(); err == nil && hash == a.Hash {
		return VerdictSame, known, nil
	}
	return verdictKeep, known, err
}

// TakeVector stores the vector that a source has of a memory, or says why not.
func (tx *Tx) TakeVector(m Model, why string, id int64, a *Arrival) (left string, err error) {
	v := unit(a.Vector)
	switch {
	case m.ID == 0:
		return why, nil
	case v == nil:
		return "they have no direction", nil
	case len(v) != m.Dims:
		return fmt.Sprintf("they have %d numbers, those of this memory %d", len(v), m.Dims), nil
	case a.Status != "active":
		return "their memories are past, and need none", nil
	}
	return "", tx.StoreVectors(m.ID, []Waiting{{ID: id, version: a.Version}}, [][]float32{v}, 0)
}

func (tx *Tx) InsertArrival(a *Arrival) (int64, error) {
	if err := tx.Exec("INSERT INTO memories(uid, collection, type, content, human_summary, category, content_hash, valid_from, observed_at, created_at, updated_at, revision) VALUES (?,'','fact','','','',x'','','','','',0)", a.UID); err != nil {
		return 0, err
	}
	id := tx.LastInsertRowID()
	return id, tx.WriteArrival(id, a)
}

// SameState reports whether two past states are one, whenever they ended.
func SameState(v, w *archive.Version) bool {
	return v.Version == w.Version && v.ValidFrom == w.ValidFrom && v.Content == w.Content && v.Status == w.Status && string(v.Context) == string(w.Context)
}

// WriteArrival fills the row of a memory, and what other tables hold of it.
func (tx *Tx) WriteArrival(id int64, a *Arrival) error {
	successor, err := tx.IdOf(a.SupersededBy)
	if err != nil {
		return err
	}
	var sum []byte
	if a.Payload != nil {
		if sum, err = hex.DecodeString(a.Payload.SHA256); err != nil {
			return err
		}
	}
	a.Rec.Collection, a.Rec.Session = a.Collection, a.Session
	revision := tx.NextRevision()
	err = tx.Exec(`UPDATE memories SET session_id = ?, collection = ?, type = ?, content = ?, human_summary = ?, context = ?,
		perception_type = ?, perception_data = ?, perception_metadata = ?, media_type = ?, category = ?, confidence = ?, decay_rate = ?,
		status = ?, superseded_by = ?, pinned = ?, source = ?, scope_files = ?, scope_entities = ?, content_hash = ?,
		sightings = ?, access_count = ?, return_count = ?, last_accessed = ?, version = ?,
		valid_from = ?, observed_at = ?, created_at = ?, updated_at = ?, revision = ? WHERE id = ?`,
		sqlite.OrNull(a.Session), a.Collection, a.Type, a.Content, a.Summary, a.Rec.ContextRaw,
		sqlite.OrNull(a.PerceptionType), sum, sqlite.OrNull(string(a.Metadata)), sqlite.OrNull(a.MediaType), a.Category, a.Confidence, a.DecayRate,
		a.Status, idOrNull(successor), a.Pinned, sqlite.OrNull(a.Source), listOrNull(a.ScopeFiles), listOrNull(a.ScopeEntities), a.Rec.Hash(),
		a.Sightings, a.AccessCount, a.ReturnCount, sqlite.OrNull(a.LastAccessed), a.Version,
		a.ValidFrom, a.ObservedAt, a.CreatedAt, a.UpdatedAt, revision, id)
	if err != nil {
		return err
	}
	if err := tx.Index(id, a.Rec, revision); err != nil {
		return err
	}
	if a.Status != "active" {
		if err := tx.UnindexText(id); err != nil {
			return err
		}
	}
	return tx.writeArrivalRows(id, a)
}

func (tx *Tx) writeArrivalRows(id int64, a *Arrival) error {
	for i := range a.Versions {
		v := &a.Versions[i]
		successor, err := tx.IdOf(v.SupersededBy)
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
		return tx.InsertFeatures(id, &record.Features{}) // there are no bytes to compare
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

// IdOf is the number here of a memory, 0 if it is not known.
func (c *Conn) IdOf(uid string) (int64, error) {
	if uid == "" {
		return 0, nil
	}
	return c.Number("SELECT id FROM memories WHERE uid = ?", uid)
}

// purgedUID reports whether a memory was taken away here for good.
func (c *Conn) purgedUID(uid string) (bool, error) {
	n, err := c.Number("SELECT count(*) FROM purged WHERE uid = ?", uid)
	return n > 0, err
}

// MergeUses takes over what the archive has counted beyond what is counted here.
func (tx *Tx) MergeUses(a *Arrival, known *Archived) error {
	for _, tag := range a.UserTags {
		if !slices.Contains(known.UserTags, tag) {
			if err := tx.Exec("INSERT OR REPLACE INTO memory_tags(memory_id, tag, source) VALUES (?,?,'user')", known.ID, tag); err != nil {
				return err
			}
		}
	}
	if a.Sightings <= known.Sightings && a.AccessCount <= known.AccessCount && a.ReturnCount <= known.ReturnCount && a.LastAccessed <= known.LastAccessed {
		return nil
	}
	return tx.Exec(`UPDATE memories SET sightings = max(sightings, ?), access_count = max(access_count, ?), return_count = max(return_count, ?),
		last_accessed = nullif(max(coalesce(last_accessed, ''), ?), ''), revision = ? WHERE id = ?`,
		a.Sightings, a.AccessCount, a.ReturnCount, a.LastAccessed, tx.NextRevision(), known.ID)
}

// ExtraColumns are the columns of memories that a record has no field for.
func (c *Conn) ExtraColumns() (map[string]bool, error) {
	fields, out := (&Archived{}).fields(), map[string]bool{}
	err := c.Query("SELECT name FROM pragma_table_info('memories')", nil, func(s *sqlite.Stmt) error {
		if name := s.ColumnText(0); fields[name] == nil && !slices.Contains(derivedColumns, name) {
			out[name] = true
		}
		return nil
	})
	return out, err
}

// provenance are the columns that say who stored a memory, and how long each may
// be.
var provenance = map[string]int{"robot": record.MaxRobot, "tool": record.MaxWho + 1 + record.MaxClient, "who": record.MaxWho}

// SetProvenance names who imported a memory when its source does not say who
// stored it. One that is known keeps whom it names.
func (tx *Tx) SetProvenance(id int64, a *Arrival) error {
	for name, limit := range provenance {
		if text, ok := a.Extra[name].(string); ok && record.CleanName(text, limit) != "" {
			return nil
		}
	}
	return tx.Exec("UPDATE memories SET robot = ?, tool = ?, who = ? WHERE id = ? AND robot IS NULL AND tool IS NULL AND who IS NULL",
		sqlite.OrNull(record.RobotOf(robotmem.ParseObject(string(a.Context)))), sqlite.OrNull(throughTool(tx.caller)), sqlite.OrNull(tx.caller.Who), id)
}

// SetExtra stores what has no field of its own where there is a column for it.
// The texts of provenance are cleaned as those of an ordinary write are: they are
// shown beside others.
func (tx *Tx) SetExtra(id int64, extra map[string]any, columns map[string]bool, unplaced map[string]int64) error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		value, ok := extraValue(extra[name])
		if limit := provenance[name]; limit > 0 && ok {
			var text string
			if text, ok = value.(string); ok {
				value = sqlite.OrNull(record.CleanName(text, limit))
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

// ReasonLostBefore is why a memory that was imported has no bytes, where no budget
// took them away.
const ReasonLostBefore = "lost before the import"

// lostReasons are those of evictions that no budget made: an import that has the
// bytes brings them back.
var lostReasons = []string{ReasonLost, ReasonLostBefore}

// LostEviction matches those.
const LostEviction = "reason IN ('" + ReasonLost + "', '" + ReasonLostBefore + "')"

// WantsPayload reports whether an import takes the payload of a memory, which the
// node does not have.
func (c *Conn) WantsPayload(a *Arrival) (bool, error) {
	v, known, err := c.Judge(a)
	if err != nil || v == VerdictCreate || v == VerdictReplace {
		return err == nil, err
	}
	if v != verdictPurged {
		taken, err := c.Number("SELECT count(*) FROM evictions WHERE memory_id = ? AND NOT "+LostEviction, known.ID)
		if err != nil || taken == 0 {
			return err == nil, err
		}
	}
	// Another memory may have lost the same bytes.
	sum, err := hex.DecodeString(a.Payload.SHA256)
	if err != nil {
		return false, err
	}
	n, err := c.Number("SELECT count(*) FROM memories m JOIN evictions e ON e.memory_id = m.id WHERE m.perception_data = ? AND e."+LostEviction, sum)
	return n > 0, err
}

// Lose says of a memory that its bytes are lost.
func (tx *Tx) Lose(id int64, a *Arrival) error {
	if err := tx.Exec("INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at) VALUES (?,?,?,0,?,?)",
		id, a.Collection, a.PerceptionType, ReasonLostBefore, FormatTime(tx.Now)); err != nil {
		return err
	}
	return tx.InsertFeatures(id, &record.Features{}) // there are no bytes to compare
}

// FoundAgain takes back what was said of a payload that is there again.
func (tx *Tx) FoundAgain(sum []byte) error {
	var ids []int64
	err := tx.Query("SELECT DISTINCT m.id FROM memories m JOIN evictions e ON e.memory_id = m.id WHERE m.perception_data = ? AND e."+LostEviction, []any{sum}, func(s *sqlite.Stmt) error {
		ids = append(ids, s.ColumnInt64(0))
		return nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := tx.Exec("DELETE FROM evictions WHERE memory_id = ? AND "+LostEviction, id); err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM features WHERE memory_id = ?", id); err != nil { // worked out anew
			return err
		}
	}
	return tx.BeginFeatureEpoch()
}

// Unevict forgets that the payload of a memory was taken away here: its state is
// to be another.
func (tx *Tx) Unevict(id int64) error {
	gone, err := tx.Evicted(id)
	if err != nil || !gone {
		return err
	}
	if err := tx.Exec("DELETE FROM evictions WHERE memory_id = ?", id); err != nil {
		return err
	}
	if err := tx.Exec("DELETE FROM features WHERE memory_id = ?", id); err != nil { // of no bytes
		return err
	}
	return tx.BeginFeatureEpoch()
}

// ImportReport says what became of the records of an import.
type ImportReport struct {
	Memories ImportCount      `json:"memories"`
	Sessions ImportCount      `json:"sessions"`
	Payloads PayloadCount     `json:"payloads"`
	Links    LinkCount        `json:"links"`
	Vectors  int64            `json:"vectors,omitempty"`  // taken over from the source
	Unplaced map[string]int64 `json:"unplaced,omitempty"` // fields that this node has no column for

	// VectorsLeft are the vectors of Model that were not taken over, by why.
	VectorsLeft map[string]int64 `json:"vectors_left,omitempty"`
}

// ImportCount is what became of the records of one sort.
type ImportCount struct {
	Created int64 `json:"created"`
	Updated int64 `json:"updated"`          // known, and newer in the archive: replaced; the state here became a past one
	Same    int64 `json:"same"`             // known with the same content
	Kept    int64 `json:"kept"`             // known, and newer or otherwise different here: left as it is
	Purged  int64 `json:"purged,omitempty"` // purged here: not taken back
	Refused int64 `json:"refused"`
}

// PayloadCount is what became of the payloads.
type PayloadCount struct {
	Stored  int64 `json:"stored"`
	Bytes   int64 `json:"bytes"` // of those
	Known   int64 `json:"known"`
	Missing int64 `json:"missing"` // named by a memory, and neither here nor in the source
}

// LinkCount is what became of the references.
type LinkCount struct {
	Set      int64 `json:"set"`
	Dangling int64 `json:"dangling"` // refer to what this node does not hold
}

func (r *ImportReport) Add(n *ImportReport) {
	r.Memories.add(&n.Memories)
	r.Sessions.add(&n.Sessions)
	r.Links.Set += n.Links.Set
	r.Links.Dangling += n.Links.Dangling
	r.Vectors += n.Vectors
	addCounts(&r.Unplaced, n.Unplaced)
	addCounts(&r.VectorsLeft, n.VectorsLeft)
}

func addCounts(to *map[string]int64, from map[string]int64) {
	for name, count := range from {
		if *to == nil {
			*to = map[string]int64{}
		}
		(*to)[name] += count
	}
}

func (c *ImportCount) add(n *ImportCount) {
	c.Created += n.Created
	c.Updated += n.Updated
	c.Same += n.Same
	c.Kept += n.Kept
	c.Purged += n.Purged
	c.Refused += n.Refused
}

// What comes from an archive is checked as what comes from a caller is: it was
// made by a program, but not for certain by this one. Records are brought to the
// one form that an export gives, so that content hashes can be compared.

const (
	MaxArchivedText = 16 << 10 // bytes of a memory's text, as of learn
	MaxArchivedName = 1 << 10  // bytes of other texts: origins, reasons, file names
)

// CheckNames puts the rules of a request to a collection and to tags.
func CheckNames(collection string, tags ...string) error {
	names := struct {
		Collection string   `json:"collection" validate:"omitempty,collection"`
		Tags       []string `json:"tags" validate:"dive,tag"`
	}{collection, tags}
	if collection == "" && len(tags) == 0 {
		return robotmem.Errorf(robotmem.Invalid, "collection", "is required")
	}
	return robotmem.Validate("", &names)
}

func CheckName(field, text string) error {
	if len(text) > MaxArchivedName || !utf8.ValidString(text) {
		return robotmem.Errorf(robotmem.TooLarge, field, "is %d bytes; the limit is %d bytes of UTF-8", len(text), MaxArchivedName)
	}
	return nil
}
