package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	smallGroup         = 64  // groups up to this size are not cached
	maxCachedGroups    = 256 // limit of cached groups
	maxDuplicateChecks = 64  // limit of facts with the same sequence that are read for one new fact
	maxOpposing        = 8   // limit of texts compared for a contradiction
	maxConflicts       = 5   // limit of contradictions in one response
	maxSimilar         = 5   // limit of similar facts in one response
)

// groupCache caches the signatures of large groups. Only the writer uses it.
type groupCache struct{ groups map[int64][]record.Signature }

// Reset clears the cache. A rolled back transaction may have added signatures that do
// not exist.
func (g *groupCache) Reset() { g.groups = nil }

// signatures returns the signatures of a group, oldest first.
func (g *groupCache) signatures(c *Conn, key int64) ([]record.Signature, error) {
	cached := g.groups[key]
	last := int64(-1)
	if len(cached) > 0 {
		last = cached[len(cached)-1].Seq
	}
	err := c.Query(`SELECT seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b, sequence
		FROM signatures WHERE group_key = ? AND seq > ? ORDER BY seq`, []any{key, last}, func(s *sqlite.Stmt) error {
		cached = append(cached, record.Signature{
			Seq: s.ColumnInt64(0), MemoryID: s.ColumnInt64(1), Terms: s.ColumnInt64(2), Numbers: s.ColumnInt64(3), Skeleton: s.ColumnInt64(4),
			Sketch: consolidate.Sketch{uint64(s.ColumnInt64(5)), uint64(s.ColumnInt64(6))}, Sequence: s.ColumnInt64(7),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(cached) > smallGroup {
		if g.groups == nil || len(g.groups) >= maxCachedGroups {
			g.groups = map[int64][]record.Signature{}
		}
		g.groups[key] = cached
	}
	return cached, nil
}

// Duplicate is an active fact that says the same.
type Duplicate struct {
	ID         int64
	UID        string
	Method     string
	Similarity float64
}

// Neighbours are active facts of the same collection and context.
type Neighbours struct {
	Conflicts []robotmem.ConflictWith
	Similar   []robotmem.SimilarMemory // best first
}

// FindDuplicate returns the active fact that r duplicates, or else the facts that r
// contradicts and resembles. It ignores the memory self.
func (tx *Tx) FindDuplicate(r *record.Record, self int64) (same *Duplicate, near Neighbours, err error) {
	err = tx.Query(`SELECT id, uid FROM memories WHERE content_hash = ? AND status = 'active' AND type = 'fact'
		AND collection = ? AND content = ? ORDER BY id`, []any{r.ContentHash(), r.Collection, r.Content}, func(s *sqlite.Stmt) error {
		if id := s.ColumnInt64(0); same == nil && id != self {
			same = &Duplicate{ID: id, UID: s.ColumnText(1), Method: "exact", Similarity: 1}
		}
		return nil
	})
	if err != nil || same != nil {
		return same, near, err
	}
	group, err := tx.Store.Groups.signatures(tx.Conn, r.GroupKey())
	if err != nil {
		return nil, near, err
	}
	for _, s := range candidates(group, r.Signature, self) {
		other, err := tx.activeFact(r.GroupKey(), s)
		if err != nil {
			return nil, near, err
		}
		if other == nil {
			continue
		}
		theirs := record.StatementOf(other.Content)
		verdict, similarity := consolidate.Compare(theirs, r.Statement)
		if verdict == consolidate.Duplicate {
			return &Duplicate{ID: other.MemoryID, UID: other.UID, Method: "sequence", Similarity: similarity}, Neighbours{}, nil
		}
		if verdict == consolidate.Contradicts && len(near.Conflicts) < maxConflicts {
			near.Conflicts = append(near.Conflicts, robotmem.ConflictWith{MemoryID: other.MemoryID, Reason: conflictReason(theirs, r, other.Content)})
		}
		if similarity >= consolidate.SimilarJaccard {
			near.Similar = append(near.Similar, robotmem.SimilarMemory{MemoryID: other.MemoryID, Similarity: similarity, Method: "jaccard"})
		}
	}
	slices.SortStableFunc(near.Similar, func(a, b robotmem.SimilarMemory) int { return cmp.Compare(b.Similarity, a.Similarity) })
	near.Similar = near.Similar[:min(len(near.Similar), maxSimilar)]
	return nil, near, nil
}

// Conflicts returns the active facts that contradict a stored one.
func (c *Conn) Conflicts(r *record.Record) ([]robotmem.ConflictWith, error) {
	mine := r.Signature
	ids, err := c.IDs(`SELECT m.id FROM signatures s JOIN memories m ON m.id = s.memory_id
		WHERE s.group_key = ? AND s.skeleton = ? AND s.numbers <> ? AND m.status = 'active' AND m.type = 'fact'
		ORDER BY s.seq DESC LIMIT ?`, r.GroupKey(), mine.Skeleton, mine.Numbers, maxOpposing)
	if err != nil {
		return nil, err
	}
	others, _, err := c.FindAll(ids, time.Time{})
	var conflicts []robotmem.ConflictWith
	for _, m := range others {
		theirs := record.StatementOf(m.Content)
		if verdict, _ := consolidate.Compare(theirs, r.Statement); verdict == consolidate.Contradicts && len(conflicts) < maxConflicts {
			conflicts = append(conflicts, robotmem.ConflictWith{MemoryID: m.MemoryID, Reason: conflictReason(theirs, r, m.Content)})
		}
	}
	return conflicts, err
}

// candidates returns the signatures of a group whose texts must be compared, the newest
// first: possible duplicates, then possible contradictions, then the most similar by
// sketch.
func candidates(group []record.Signature, mine record.Signature, self int64) []*record.Signature {
	var repeat, oppose, near []*record.Signature
	distance := func(s *record.Signature) int { return s.Sketch.Distance(mine.Sketch) }
	for i := len(group) - 1; i >= 0; i-- {
		s := &group[i]
		switch {
		case s.MemoryID == self:
		case s.Sequence == mine.Sequence && s.Numbers == mine.Numbers:
			if len(repeat) < maxDuplicateChecks {
				repeat = append(repeat, s)
			}
		case s.Skeleton == mine.Skeleton && s.Numbers != mine.Numbers && len(oppose) < maxOpposing:
			oppose = append(oppose, s)
		case len(near) == maxSimilar && distance(s) >= distance(near[maxSimilar-1]):
		case consolidate.MayMatch(s.Sketch, mine.Sketch, int(s.Terms), int(mine.Terms)):
			at, _ := slices.BinarySearchFunc(near, distance(s)+1, func(s *record.Signature, d int) int { return cmp.Compare(distance(s), d) })
			near = slices.Insert(near, at, s)
			near = near[:min(len(near), maxSimilar)]
		}
	}
	return slices.Concat(repeat, oppose, near)
}

// activeFact returns the active fact of a cached signature, nil if another process has
// changed the signature since or the memory is damaged.
func (c *Conn) activeFact(group int64, sig *record.Signature) (m *robotmem.Memory, err error) {
	owner, err := c.Number("SELECT count(*) FROM signatures WHERE group_key = ? AND seq = ? AND memory_id = ?", group, sig.Seq, sig.MemoryID)
	if err != nil || owner == 0 {
		return nil, err
	}
	row, err := c.row(sig.MemoryID)
	switch {
	case err == errDamagedRow:
		return nil, nil
	case err != nil || row == nil || row.Status != "active" || row.Type != "fact":
		return nil, err
	}
	return &row.Memory, nil
}

// conflictReason describes how a text contradicts a record, with the numbers as written.
func conflictReason(theirs consolidate.Statement, mine *record.Record, content string) string {
	about := text.Clip(content, 120)
	if theirs.Negated != mine.Statement.Negated {
		return "says the opposite: " + about
	}
	for _, q := range text.Quantities(content) {
		for _, p := range text.Quantities(mine.Content) {
			if q.Name != "" && q.Name == p.Name && q.Base() != p.Base() {
				return "has " + q.Name + " = " + joinUnit(q) + ", not " + joinUnit(p) + ": " + about
			}
		}
	}
	return "says otherwise: " + about
}

func joinUnit(q text.Quantity) string {
	if q.Unit == "" {
		return q.Value
	}
	return q.Value + " " + q.Unit
}

// Sighted counts another sighting of a memory, which is evidence for it. It adds the
// tags of the request, and pins the memory if requested. A category does not pin a
// memory again that was unpinned by hand.
func (tx *Tx) Sighted(id int64, r *record.Record) error {
	return tx.withChecksum(id, func() error {
		for _, tag := range r.UserTags {
			if err := tx.Exec("INSERT OR REPLACE INTO memory_tags(memory_id, tag, source) VALUES (?,?,'user')", id, tag); err != nil {
				return err
			}
		}
		if r.Pinned {
			err := tx.Exec("UPDATE memories SET pinned = 1, decay_rate = 0 WHERE id = ? AND (? OR category <> ?)", id, r.PinAsked, r.Category)
			if err != nil {
				return err
			}
		}
		return tx.Exec(`UPDATE memories SET sightings = sightings + 1, access_count = access_count + 1,
			last_accessed = ?, revision = ? WHERE id = ?`, FormatTime(tx.Now), tx.NextRevision(), id)
	})
}
