package local

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// foreseePart counts what storePart would do.
func foreseePart(c *store.Conn, p *importPart, counts *store.ImportReport) error {
	for _, a := range p.arrivals {
		v, _, err := c.Judge(a)
		if err != nil {
			return err
		}
		counts.Memories.Count(v)
		if a.Payload == nil || v != store.VerdictCreate && v != store.VerdictReplace || len(a.Evictions) > 0 {
			continue
		}
		if sum := a.Payload.SHA256; p.payloads[sum] == nil && !p.known[sum] {
			p.missing[sum] = true
		}
	}
	return nil
}

// storePart stores the memories of a part with their payloads and indexes.
func (e *Node) storePart(tx *store.Tx, p *importPart, o *ImportOptions, counts *store.ImportReport) error {
	m, why, err := e.vectorsFor(tx, p, o)
	if err != nil {
		return err
	}
	stored := map[int64]*store.Arrival{}
	e.Store.Groups.Reset() // signatures that it holds may change
	for _, a := range p.arrivals {
		v, known, err := tx.Judge(a)
		if err != nil {
			return err
		}
		counts.Memories.Count(v)
		var id int64
		switch v {
		case store.VerdictCreate:
			id, err = tx.WriteArrival(0, a, counts.Unplaced)
		case store.VerdictReplace:
			id, err = known.ID, e.replaceArrival(tx, a, known, counts.Unplaced)
		case store.VerdictSame:
			err = tx.MergeUses(a, known)
		}
		if err != nil {
			return err
		}
		left := ""
		if id == 0 {
			left = "their memories were not stored: known, purged or newer here"
		} else {
			stored[id] = a
			if left, err = tx.TakeVector(m, why, id, a); err != nil {
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

// vectorsFor returns the node's model when the vectors of a part are of it; its
// id is 0 if they are not, and why says what this memory's are of.
func (e *Node) vectorsFor(tx *store.Tx, p *importPart, o *ImportOptions) (m store.Model, why string, err error) {
	i := slices.IndexFunc(p.arrivals, func(a *store.Arrival) bool { return a.Vector != nil })
	if o.Model == "" || i < 0 {
		return store.Model{}, "", nil
	}
	m, err = tx.PresentModel()
	if err != nil || m.ID != 0 {
		if m.Name != o.Model {
			m.ID, why = 0, "this memory's are of "+m.Name
		}
		return m, why, err
	}
	if e.embeddings.embedder == nil {
		return store.Model{}, "this memory has none, and no embedder is set", nil
	}
	if name := e.embeddings.embedder.State().Model; name != o.Model {
		return store.Model{}, "this memory has none, and its embedder is of " + cmp.Or(name, "a model that it has not named yet"), nil
	}
	m, err = tx.CreateModel(o.Model, len(p.arrivals[i].Vector), store.ModelPresent)
	return m, "", err
}

// broughtNewer is why a state became a past one.
const broughtNewer = "an import brought a newer state"

// replaceArrival gives a known memory the state of the archive. The state here
// becomes a past one, unless the archive has it among its own, or it is damaged.
func (n *Node) replaceArrival(tx *store.Tx, a *store.Arrival, known *store.Archived, unplaced map[string]int64) error {
	here, after := slices.Clone(known.Versions), store.TextHash(a.Content)
	var ch robotmem.AuditEntry
	if known.Damaged {
		if err := tx.UnindexDamaged(known.ID); err != nil {
			return err
		}
		ch = robotmem.AuditEntry{Action: store.ActionUpdated, MemoryID: known.ID, Collection: a.Collection}
		ch.Reason, ch.After = "an import replaced a damaged state", after
	} else {
		stored, err := tx.Memory(known.ID, tx.Now)
		if err != nil {
			return err
		}
		old, err := n.records.RecordOf(stored)
		if err != nil {
			return err
		}
		if err := tx.Unindex(known.ID, old); err != nil {
			return err
		}
		here = append(here, archive.Version{
			Version: known.Version, ValidFrom: known.ValidFrom, ValidTo: a.UpdatedAt, Content: known.Content, Summary: known.Summary,
			Context: known.Context, Category: known.Category, Confidence: known.Confidence, Status: known.Status,
			SupersededBy: known.SupersededBy, Change: store.ActionUpdated, Reason: broughtNewer,
		})
		ch = store.AuditOf(store.ActionUpdated, stored)
		ch.Reason, ch.Before, ch.After = broughtNewer, store.TextHash(known.Content), after
	}
	merged := *a.Memory
	for _, v := range here {
		if !slices.ContainsFunc(merged.Versions, func(w archive.Version) bool { return store.SameState(&v, &w) }) {
			merged.Versions = append(merged.Versions, v)
		}
	}
	slices.SortStableFunc(merged.Versions, func(v, w archive.Version) int { return strings.Compare(v.ValidTo, w.ValidTo) })
	if !known.Damaged {
		merged.Version = max(merged.Version, known.Version)
	}
	err := errors.Join(
		tx.Exec("DELETE FROM memory_tags WHERE memory_id = ?", known.ID),
		tx.Exec("DELETE FROM versions WHERE memory_id = ?", known.ID),
		tx.Unevict(known.ID), tx.Audit(ch))
	if err != nil {
		return err
	}
	_, err = tx.WriteArrival(known.ID, &store.Arrival{Memory: &merged, Rec: a.Rec, Hash: a.Hash}, unplaced)
	return err
}
