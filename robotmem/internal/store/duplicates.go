package store

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
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

// Reset clears the cache. A rolled back transaction may have added signatures that do not exist.
func (g *groupCache) Reset() { g.groups = nil }

// signatures returns the signatures of a group, oldest first.
func (g *groupCache) signatures(c *Conn, key int64) ([]record.Signature, error) {
	cached := g.groups[key]
	last := int64(-1)
	if len(cached) > 0 {
		last = cached[len(cached)-1].Seq
	}

	err := c.Query(SignaturesAfter, []any{key, last}, func(s Row) error {
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

// FindDuplicate fills res with the active fact that r duplicates, or else with those
// that r contradicts and resembles. All are of the same collection and context.
func (tx *Tx) FindDuplicate(r *record.Record, res *robotmem.LearnResponse) error {
	found := func(id int64, uid, method string, similarity float64) {
		res.Status, res.MemoryID, res.ExistingID, res.UID, res.Method, res.Similarity = "duplicate", id, id, uid, method, similarity
	}
	group, err := tx.Store.Groups.signatures(tx.Conn, r.GroupKey())
	if err != nil {
		return err
	}

	similar := func(id int64, similarity float64) {
		if similarity >= consolidate.SimilarJaccard {
			res.Similar = append(res.Similar,
				robotmem.SimilarMemory{MemoryID: id, Similarity: similarity, Method: "jaccard"})
		}
	}

	compare, alike := candidates(group, r.Signature)
	for _, s := range compare {
		other, err := tx.activeFact(r.GroupKey(), s)
		if err != nil {
			return err
		}
		if other == nil {
			continue
		}
		if other.Content == r.Content {
			found(other.MemoryID, other.UID, "exact", 1)
			return nil
		}
		theirs := record.StatementOf(other.Content)
		verdict, similarity := consolidate.Compare(theirs, r.Statement)
		if verdict == consolidate.Duplicate {
			found(other.MemoryID, other.UID, "sequence", similarity)
			return nil
		}
		if verdict == consolidate.Contradicts && len(res.Conflicts) < maxConflicts && !twoEvents(other, &r.Memory) {
			res.Conflicts = append(res.Conflicts,
				robotmem.ConflictWith{MemoryID: other.MemoryID, Reason: conflictReason(theirs, r, other.Content)})
		}
		similar(other.MemoryID, similarity)
	}

	for _, s := range alike {
		other, err := tx.activeFact(r.GroupKey(), s)
		if err != nil {
			return err
		}
		if other != nil {
			similar(other.MemoryID, consolidate.Jaccard(text.Stems(other.Content), r.Statement.Terms))
		}
	}

	slices.SortStableFunc(res.Similar,
		func(a, b robotmem.SimilarMemory) int { return cmp.Compare(b.Similarity, a.Similarity) })
	res.Similar = res.Similar[:min(len(res.Similar), maxSimilar)]

	return nil
}

// twoEvents reports whether two facts tell what happened at two times, which is no contradiction: "jammed at
// 9:15", "jammed at 11:20".
func twoEvents(a, b *robotmem.Memory) bool {
	return record.ClaimOf(a, nil).Event && record.ClaimOf(b, nil).Event
}

// Conflicts returns the active facts that contradict a stored one.
func (c *Conn) Conflicts(r *record.Record) ([]robotmem.ConflictWith, error) {
	mine := r.Signature
	ids, err := c.IDs(EqualButForNumbers, r.GroupKey(), mine.Skeleton, mine.Numbers, maxOpposing)
	if err != nil {
		return nil, err
	}

	others, _, err := c.FindAll(ids, time.Time{})

	var conflicts []robotmem.ConflictWith

	for _, m := range others {
		theirs := record.StatementOf(m.Content)
		if verdict, _ := consolidate.Compare(theirs, r.Statement); verdict == consolidate.Contradicts &&
			len(conflicts) < maxConflicts && !twoEvents(&m, &r.Memory) {
			conflicts = append(conflicts,
				robotmem.ConflictWith{MemoryID: m.MemoryID, Reason: conflictReason(theirs, r, m.Content)})
		}
	}

	return conflicts, err
}

// candidates returns the signatures of a group whose texts must be compared, the newest
// first: possible duplicates, then possible contradictions. alike are other ones that are
// the most similar by sketch.
func candidates(group []record.Signature, mine record.Signature) (compare, alike []*record.Signature) {
	var repeat, oppose []*record.Signature

	distance := func(s *record.Signature) int { return s.Sketch.Distance(mine.Sketch) }
	for i := len(group) - 1; i >= 0; i-- {
		s := &group[i]
		switch {
		case s.Sequence == mine.Sequence && s.Numbers == mine.Numbers:
			if len(repeat) < maxDuplicateChecks {
				repeat = append(repeat, s)
			}
		case s.Skeleton == mine.Skeleton && s.Numbers != mine.Numbers && len(oppose) < maxOpposing:
			oppose = append(oppose, s)
		case len(alike) == maxSimilar && distance(s) >= distance(alike[maxSimilar-1]):
		case consolidate.MayMatch(s.Sketch, mine.Sketch, int(s.Terms), int(mine.Terms)):
			at, _ := slices.BinarySearchFunc(alike, distance(s)+1,
				func(s *record.Signature, d int) int { return cmp.Compare(distance(s), d) })
			alike = slices.Insert(alike, at, s)
			alike = alike[:min(len(alike), maxSimilar)]
		}
	}

	return append(repeat, oppose...), alike
}

// activeFact returns the active fact of a cached signature, nil if another process has
// changed the signature since or the memory is damaged.
func (c *Conn) activeFact(group int64, sig *record.Signature) (m *robotmem.Memory, err error) {
	owner, err := c.Number(CountSignature, group, sig.Seq, sig.MemoryID)
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
	about := robotmem.Clip(content, 120)
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

func joinUnit(q text.Quantity) string { return strings.TrimSuffix(q.Value+" "+q.Unit, " ") }

// Sighted counts another sighting of a memory, which is evidence for it. It adds the
// tags of the request, and pins the memory if requested. A category does not pin a
// memory again that was unpinned by hand. The sighting belongs to the episode of r, if it has one.
func (tx *Tx) Sighted(id int64, r *record.Record) error {
	if r.SessionID != "" {
		at := r.ObservedAt
		if at.IsZero() {
			at = tx.Now
		}
		err := tx.Exec(InsertSightingElsewhere,
			r.SessionID, FormatTime(at), id)
		if err != nil {
			return err
		}
	}

	return tx.withChecksum(id, func() error {
		if err := tx.addTags(id, r.UserTags); err != nil {
			return err
		}
		if r.Pinned {
			err := tx.Exec(PinMemory, id, r.PinAsked, r.Category)
			if err != nil {
				return err
			}
		}

		return tx.Exec(AddSightings, FormatTime(tx.Now), tx.NextRevision(), id)
	})
}

// Sightings returns the memories of other episodes, and of none, that an episode has seen again.
func (c *Conn) Sightings(session string) ([]int64, error) {
	return c.IDs(SightingsOf, session)
}
