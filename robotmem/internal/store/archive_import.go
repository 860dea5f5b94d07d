package store

import (
	"errors"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// ImportRecord is a checked memory of an import.
type ImportRecord struct {
	*archive.Memory
	Rec *record.Record
	// Proven says that the bytes of the payload came with the record and have its SHA-256.
	Proven bool
}

// Decision is what an import does with a record.
type Decision int

const (
	ImportCreate  Decision = iota
	ImportReplace          // the archive's state is newer
	ImportSame             // the same state, but counters and tags may differ
	ImportKeep             // the stored state is newer
	ImportPurged           // purged on this node
	ImportRefused          // not the sender's to change
)

// Add counts a record by what was decided.
func (v Decision) Add(c *archive.ImportCount) {
	switch v {
	case ImportCreate:
		c.Created++
	case ImportReplace:
		c.Updated++
	case ImportSame:
		c.Same++
	case ImportKeep:
		c.Kept++
	case ImportPurged:
		c.Purged++
	case ImportRefused:
		c.Refused++
	}
}

// Decide decides what an import does with a memory, and returns the stored memory if there is one.
func (c *Conn) Decide(a *ImportRecord) (Decision, *Archived, error) {
	known, err := c.ArchivedNamed(a.UID)
	if err != nil {
		return ImportCreate, nil, err
	}

	// A purged memory must not come back from an archive that was written before the purge.
	if known == nil {
		purged, err := c.Purged(a.UID)
		if purged {
			return ImportPurged, nil, err
		}
		return ImportCreate, nil, err
	}

	if known.Damaged {
		return ImportReplace, known, nil
	}

	return decideBy(a.UpdatedAt, known.UpdatedAt), known, nil
}

// decideBy compares the times of the last change. Uses and links do not count as changes of the state.
func decideBy(archived, stored string) Decision {
	switch {
	case archived == stored:
		return ImportSame
	case archived > stored:
		return ImportReplace
	}

	return ImportKeep
}

// SameState reports whether two past states are equal except for their end.
func SameState(v, w *archive.Version) bool {
	return v.Version == w.Version && v.ValidFrom == w.ValidFrom && v.Content == w.Content && v.Status == w.Status &&
		string(v.Context) == string(w.Context)
}

// WriteImported stores a memory with its rows in other tables, under the given id or,
// for 0, a new one.
func (tx *Tx) WriteImported(id int64, a *ImportRecord) (int64, error) {
	successor, err := tx.IDOf(a.SupersededBy)
	if err != nil {
		return 0, err
	}

	a.Rec.Collection, a.Rec.SessionID = a.Collection, a.Session
	// The row is a copy, because the function of a transaction may run twice.
	row := *a.Memory
	revision := tx.NextRevision()
	tx.completeExtra(&row, a.Rec)
	args, sum := archivedValues(memoryColumns, &row, func(name string) any {
		switch name {
		case "content_hash":
			return a.Rec.ContentHash()
		case "revision":
			return revision
		}

		// The remaining column is superseded_by, which the archive holds as a uid.
		return bind(&successor, nullable)
	})
	args = append(args, sum.sum(a.UserTags))
	if id == 0 {
		id, err = tx.SQL.Insert(InsertMemory, args...)
	} else {
		err = tx.Exec(UpdateMemory, append(args, id)...)
	}

	if err != nil {
		return 0, err
	}
	if err := tx.Index(id, a.Rec, revision); err != nil {
		return 0, err
	}

	return id, tx.writeImportedRows(id, a)
}

func (tx *Tx) writeImportedRows(id int64, a *ImportRecord) error {
	for i := range a.Versions {
		v := &a.Versions[i]
		successor, err := tx.IDOf(v.SupersededBy)
		if err != nil {
			return err
		}

		// Only superseded_by is not archived.
		args, sum := archivedValues(versionColumns, v, func(string) any { return bind(&successor, nullable) })
		if err := tx.insertVersion(id, args, sum); err != nil {
			return err
		}
	}

	for _, g := range a.Evictions {
		if err := tx.insertEviction(id, a.Collection, g); err != nil {
			return err
		}
	}

	return nil
}

// completeExtra cleans the texts of provenance as in an ordinary write. If the source has
// no provenance, it is the caller of the import. An unknown outcome is derived again.
func (tx *Tx) completeExtra(m *archive.Memory, r *record.Record) {
	x := &m.Extra
	x.Robot = record.CleanName(x.Robot, record.MaxRobot)
	x.Who = record.CleanName(x.Who, record.MaxWho)
	x.Tool = record.CleanName(x.Tool, record.MaxWho+1+record.MaxClient)
	if x.Robot+x.Tool+x.Who == "" {
		x.Robot = record.RobotOf(robotmem.ParseObject(string(m.Context)))
		x.Tool, x.Who = throughTool(tx.caller), tx.caller.Who
	}

	known := x.Outcome == robotmem.OutcomeSuccess || x.Outcome == robotmem.OutcomeFailure ||
		x.Outcome == robotmem.OutcomePartial
	if !known || x.OutcomeSource == inherited {
		x.Outcome, x.OutcomeSource = r.Outcome, r.OutcomeSource
	}
}

// Purged reports whether a memory with this uid was purged.
func (c *Conn) Purged(uid string) (bool, error) {
	n, err := c.Number(CountPurged, uid)
	return n > 0, err
}

// IDOf returns the id of the memory with a uid, 0 if there is none.
func (c *Conn) IDOf(uid string) (int64, error) {
	if uid == "" {
		return 0, nil
	}
	return c.Number(MemoryByUID, uid)
}

// MergeUses raises the access counters to the archive's and adds its user tags.
func (tx *Tx) MergeUses(a *ImportRecord, known *Archived) error {
	more := a.Sightings > known.Sightings || a.AccessCount > known.AccessCount ||
		a.ReturnCount > known.ReturnCount || a.LastAccessed > known.LastAccessed
	tags := slices.DeleteFunc(slices.Clone(a.UserTags), func(tag string) bool {
		return slices.Contains(known.UserTags, tag)
	})
	// Without a difference nothing is written, so that a repeated import changes no revision.
	if !more && len(tags) == 0 {
		return nil
	}

	return tx.withChecksum(known.ID, func() error {
		return errors.Join(tx.addTags(known.ID, tags), tx.Exec(MergeUses,
			a.Sightings, a.AccessCount, a.ReturnCount, a.LastAccessed, tx.NextRevision(), known.ID))
	})
}

// ReasonLostBefore is the eviction reason of an imported memory whose payload was
// missing in the source.
const ReasonLostBefore = "lost before the import"

// WantsPayload reports whether an import needs the payload of a memory that the node
// does not have: not if the memory was purged, or its payload evicted by retention.
func (c *Conn) WantsPayload(a *ImportRecord) (bool, error) {
	v, known, err := c.Decide(a)
	switch {
	case err != nil || v == ImportPurged:
		return false, err
	case v == ImportCreate || v == ImportReplace:
		return true, nil
	}
	taken, err := c.Number(CountTakenEvictions, known.ID)

	return taken == 0, err
}

// Lose records that the payload of a memory is lost.
func (tx *Tx) Lose(id int64, a *ImportRecord) error {
	return tx.insertEviction(id, a.Collection, archive.Eviction{
		PerceptionType: a.PerceptionType,
		Reason:         ReasonLostBefore,
		EvictedAt:      FormatTime(tx.Now),
	})
}

// AttachPayload gives a memory that has no payload one. Its features are computed again.
func (tx *Tx) AttachPayload(id int64, sum []byte) error {
	return errors.Join(
		tx.withChecksum(id, func() error { return tx.Exec(AttachPayload, sum, tx.NextRevision(), id) }),
		tx.Exec(DeleteFeaturesOfMemory, id),
		tx.BeginFeatureEpoch())
}

// Reach reports whether a payload is named by a memory in a set of collections, empty for all.
func (c *Conn) Reach(collections, hexSum string) (found bool, err error) {
	err = c.Query(CollectionsNaming, []any{sumBytes(hexSum)}, func(s Row) error {
		found = found || collections == "" || robotmem.InCollections(collections, s.ColumnText(0))
		return nil
	})

	return found, err
}

// FoundAgain removes the evictions that record a payload as lost, after the payload was
// stored again.
func (tx *Tx) FoundAgain(sum []byte) error {
	ids, err := tx.IDs(LostNaming, sum)
	if err != nil {
		return err
	}
	return tx.unevict(DeleteLostEvictions, ids...)
}

// Unevict removes the evictions of a memory, before an import replaces its state.
func (tx *Tx) Unevict(id int64) error {
	gone, err := tx.Evicted(id)
	if err != nil || !gone {
		return err
	}
	return tx.unevict(DeleteEvictions, id)
}

// unevict removes evictions of memories by a query. Features that were computed without
// the payload are computed again.
func (tx *Tx) unevict(remove Query, ids ...int64) error {
	for _, id := range ids {
		err := errors.Join(
			tx.Exec(remove, id),
			tx.Exec(DeleteFeaturesOfMemory, id),
			tx.BeginFeatureEpoch())
		if err != nil {
			return err
		}
	}

	return nil
}

// Records of an archive are checked like requests, because another program may have made them.
// They are normalized to the form of an export, so that their hashes can be compared.

// CheckNames validates a collection and tags by the rules of requests.
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

// DecideSession decides what an import does with a session, and returns the stored
// session if there is one.
func (c *Conn) DecideSession(s *archive.Session) (v Decision, known *archive.Session, err error) {
	err = c.EachArchivedSession("", s.SessionID, func(found *archive.Session) error { known = found; return nil })
	if err != nil || known == nil {
		return ImportCreate, nil, err
	}
	return decideBy(s.UpdatedAt, known.UpdatedAt), known, nil
}

// StoreSession does what DecideSession decided.
func (tx *Tx) StoreSession(s *archive.Session, v Decision, known *archive.Session) (err error) {
	if v == ImportSame || v == ImportKeep {
		return nil
	}

	tx.NextRevision()
	// The memories of a known session are in its collection, so the archive does not change it.
	row := *s
	if known != nil {
		row.Collection, row.CreatedAt = known.Collection, known.CreatedAt
	}

	// Every column of a session is archived. The checksum is NULL until the outcomes, which it includes, are stored.
	args, _ := archivedValues(sessionColumns, &row, nil)
	if known == nil {
		_, err = tx.SQL.Insert(InsertSession, append(args, nil)...)
	} else {
		err = tx.Exec(UpdateSession, append(args, row.SessionID)...)
	}

	if err != nil {
		return err
	}

	for _, o := range s.Outcomes {
		err := tx.Exec(InsertOutcomeOnce, s.SessionID, o.Score, o.CreatedAt)
		if err != nil {
			return err
		}
	}

	for _, n := range s.Streams {
		err := tx.Exec(ReplaceStream,
			s.SessionID, n.Collection, n.Source, n.Received, n.Stored, n.Dropped, n.Missed, n.Bytes, n.UpdatedAt)
		if err != nil {
			return err
		}
	}

	return tx.updateSessionChecksum(s.SessionID)
}

// StoreLink stores a link whose ends both exist. It does not change an existing link.
func (tx *Tx) StoreLink(l *archive.Link, counts *archive.LinkCount) error {
	memory, err := tx.IDOf(l.Memory)
	if err != nil {
		return err
	}

	successor, err := tx.IDOf(l.SupersededBy)
	if err != nil {
		return err
	}

	session := int64(0)
	if l.SessionID != "" {
		if session, err = tx.Number(CountSessionsNamed, l.SessionID); err != nil {
			return err
		}
	}

	dangling := l.Memory != "" && memory == 0 ||
		l.SupersededBy != "" && successor == 0 ||
		l.SessionID != "" && session == 0
	if dangling {
		counts.Dangling++
		return nil
	}

	counts.Set++

	// The ends that a link has tell its kind, as in archivedLinks.
	switch {
	case memory != 0 && successor != 0 && l.ValidTo != "":
		return tx.Exec(LinkPastState, successor, memory, l.Version, l.ValidTo)
	case memory != 0 && successor != 0:
		return tx.setSuccessor(memory, successor)
	case memory != 0 && session != 0 && l.Seen != "":
		return tx.Exec(InsertSighting, l.SessionID, memory, l.Seen)
	case memory != 0 && session != 0:
		return tx.Exec(MergeRecall, l.SessionID, memory, l.Used)
	case memory != 0 && l.Origin != "":
		return tx.Exec(InsertOriginOnce, l.Collection,
			l.Origin, memory)
	case session != 0 && l.Origin != "":
		return tx.Exec(InsertSessionOriginOnce,
			l.Collection, l.Origin, l.SessionID)
	}

	return nil
}

// setSuccessor sets the memory that supersedes another, if that is not set yet.
func (tx *Tx) setSuccessor(id, by int64) error {
	changed, err := tx.Changed(LinkSuccessor, by, tx.Revision+1, id)
	if changed > 0 {
		tx.NextRevision()
	}
	return err
}
