package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// change stores the present state of a memory as a past state that ends now, applies edit and
// stores the result as the present state.
func (tx *Tx) change(row *record.Row, what, why string, edit func(*record.Row)) error {
	v := versionRow{Summary: row.Summary, Version: stateOf(row, row.ValidFrom)}
	v.To, v.Change, v.Reason = &tx.Now, what, why
	args, sum := values(versionColumns, &v)
	if err := tx.insertVersion(row.MemoryID, args, sum); err != nil {
		return err
	}
	row.ValidFrom, row.UpdatedAt = tx.Now, &tx.Now
	edit(row)

	return tx.put(row)
}

// stateOf returns the present state of a memory, which began at from.
func stateOf(row *record.Row, from time.Time) robotmem.Version {
	return robotmem.Version{
		Version: row.Version, Content: row.Content, Context: robotmem.ParseObject(row.RawContext),
		Category: row.Category, Confidence: row.Confidence,
		Status: row.Status, SupersededBy: row.SupersededBy, From: from,
	}
}

func (tx *Tx) insertVersion(id int64, args []any, sum checksum) error {
	sum.add("memory_id", id)
	return tx.Exec(InsertVersion, append(args, id, sum.sum(nil))...)
}

// SetStatus changes a memory's status and stores the old state as a past one. by is the successor of a superseded
// memory. It fails with NotFound if there is no memory, with Corrupt if it is damaged.
func (tx *Tx) SetStatus(id int64, to string, by int64, what, why string) error {
	row, err := tx.row(id)
	if err == nil && row == nil {
		err = tx.noMemory(id)
	}
	if err != nil {
		return err
	}

	return tx.change(row, what, why, func(r *record.Row) { r.Status, r.SupersededBy = to, by })
}

// Supersede merges a memory into another one with the same statement.
func (tx *Tx) Supersede(id, by int64) error {
	return tx.supersede(id, by, fmt.Sprintf("memory %d says the same", by), "")
}

// MaySupersede fails if a fact cannot replace the memory that it names.
func (tx *Tx) MaySupersede(r *record.Record) error {
	if r.Supersedes == 0 {
		return nil
	}

	m, err := tx.Memory(r.Supersedes, tx.Now)
	if errors.Is(err, robotmem.NotFound) {
		return robotmem.Errorf(robotmem.NotFound, "supersedes", "there is no memory %d; ids come from learn, recall and list",
			r.Supersedes)
	}

	switch {
	case err != nil:
		return err
	case m.Collection != r.Collection:
		return robotmem.Errorf(robotmem.Invalid, "supersedes", "memory %d is in the collection %s and this fact in %s; "+
			"a fact replaces one of its own collection", r.Supersedes, m.Collection, r.Collection)
	case m.Type != "fact":
		return robotmem.Errorf(robotmem.Invalid, "supersedes", "memory %d is a %s; a fact replaces facts", r.Supersedes, m.Type)
	case m.Status != "active":
		return robotmem.Errorf(robotmem.Conflict, "supersedes", "memory %d is %s already", r.Supersedes, m.Status)
	}

	return nil
}

// Replace supersedes the memory that a stored fact names, 0 for none. A fact that is there already replaces itself by nothing.
func (tx *Tx) Replace(id int64, res *robotmem.LearnResponse) error {
	if id == 0 || id == res.MemoryID {
		return nil
	}
	res.Superseded = id
	// What is replaced is neither in conflict nor beside it.
	res.Conflicts = slices.DeleteFunc(res.Conflicts, func(c robotmem.ConflictWith) bool { return c.MemoryID == id })
	res.Similar = slices.DeleteFunc(res.Similar, func(m robotmem.SimilarMemory) bool { return m.MemoryID == id })
	why := fmt.Sprintf("memory %d replaces it", res.MemoryID)

	return tx.supersede(id, res.MemoryID, why, why)
}

// supersede supersedes a memory, with the reason for the audit log and that for the history.
func (tx *Tx) supersede(id, by int64, reason, told string) error {
	row, err := tx.row(id)
	if err != nil || row == nil {
		return err
	}
	ch := AuditOf(actionSuperseded, &row.Memory)
	ch.Reason = reason
	if err := tx.Audit(ch); err != nil {
		return err
	}

	return tx.change(row, "superseded", told, func(r *record.Row) { r.Status, r.SupersededBy = "superseded", by })
}

// SetPinned pins or unpins a memory, without a past state. An unpinned memory decays
// from now on, not from its last use.
func (tx *Tx) SetPinned(id int64, pinned bool) error {
	row, err := tx.row(id)
	if err != nil || row == nil {
		return err
	}
	row.Pinned = pinned
	row.DecayRate = rateOf(row)
	row.UpdatedAt = &tx.Now
	if !pinned {
		row.LastAccessed = &tx.Now
	}

	return tx.put(row)
}

// SupersededBefore returns the memory that superseded a forgotten memory before it was
// forgotten; 0 if it was active then or is not forgotten.
func (c *Conn) SupersededBefore(m *robotmem.Memory) (by int64, err error) {
	if m.Status != "invalidated" {
		return 0, nil
	}
	return c.Number(SuccessorWhenForgotten, m.MemoryID)
}

// Rewrite stores a new text and context of a memory and returns its new version.
func (tx *Tx) Rewrite(id int64, r *record.Record) (version int, err error) {
	// Unindex reads the old text, so it must run before the change.
	if err := tx.Unindex(id); err != nil {
		return 0, err
	}

	row, err := tx.row(id)
	if err != nil || row == nil {
		return 0, err
	}

	err = tx.change(row, "updated", "", func(row *record.Row) {
		row.Content, row.Summary, row.RawContext = r.Content, r.Summary, r.RawContext
		row.Category, row.Confidence = r.Category, r.Confidence
		row.ScopeFiles, row.ScopeEntity = r.ScopeFiles, r.ScopeEntity
		row.AutoTags = r.AutoTags
		row.Outcome, row.OutcomeSource = r.Outcome, r.OutcomeSource
		row.Pinned = r.Pinned
		row.DecayRate = rateOf(row)
		row.Hash = r.ContentHash()
		row.Version++
		row.LastAccessed = &tx.Now
	})
	if err != nil {
		return 0, err
	}

	return row.Version, tx.Index(id, r, row.Revision)
}

// scanVersion reads a row of selectVersion. It fails with Corrupt if the row does
// not match its checksum.
func scanVersion(s Row) (memory int64, v *versionRow, err error) {
	v = &versionRow{}
	sum := read(s, versionColumns, v)
	at := len(versionColumns)
	memory = s.ColumnInt64(at + 1)
	sum.add("memory_id", memory)
	if !bytes.Equal(sum.sum(nil), s.ColumnRawBlob(at)) {
		err = errDamagedRow
	}

	return memory, v, err
}

// Versions returns the states of a memory, oldest first, including the present one. It
// fails as Memory does, and with Corrupt if a past state is damaged.
func (c *Conn) Versions(id int64) (uid string, out []robotmem.Version, err error) {
	row, err := c.row(id)
	if err == nil && row == nil {
		err = c.noMemory(id)
	}
	if err != nil {
		return "", nil, err
	}

	err = c.Query(VersionsOf, []any{id}, func(s Row) error {
		_, v, damage := scanVersion(s)
		out = append(out, v.Version)
		return damage
	})
	if err != nil {
		return "", nil, err
	}

	// The present state begins where the last past state ends.
	from := row.CreatedAt
	if n := len(out); n > 0 {
		from = *out[n-1].To
	}

	return row.UID, append(out, stateOf(row, from)), nil
}

// PastStates returns the states at a time of the memories that were active then and have
// changed since, and names the damaged ones.
func (c *Conn) PastStates(asOf time.Time) (out map[int64]*robotmem.Memory, damaged []string, err error) {
	out = map[int64]*robotmem.Memory{}
	err = c.Query(PastStates, []any{FormatTime(asOf)}, func(s Row) error {
		id, v, damage := scanVersion(s)

		// Fields that have no past states, such as tags, are those of the present row.
		m, err := c.Find(id, asOf)
		switch err = cmp.Or(damage, err); {
		case err != nil:
			damaged = append(damaged, fmt.Sprintf("memory %d: %s", id, robotmem.Detail(err)))
		case m != nil:
			// A past state without a memory means that the file is damaged. Doctor reports it.
			m.Content, m.Summary, m.Context = v.Content, v.Summary, v.Context
			m.Category, m.Version = v.Category, v.Version.Version
			m.Confidence = Faded(m, v.Confidence, asOf)
			liftSections(m)
			out[id] = m
		}

		return nil
	})

	return out, damaged, err
}
