package local

import (
	"cmp"
	"slices"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Duplicates and contradictions are looked up by signature, never through the
// text index: facts of one collection and context form a group, and within a
// group a sketch of 128 bits rules nearly everything out.

// signature is what one fact is looked up by.
type signature struct {
	seq, memoryID int64
	terms         int64 // how many
	numbers       int64 // hash of all quantities and of the negation
	skeleton      int64 // hash of the parameters it names, else of its words
	sketch        consolidate.Sketch
}

func signatureOf(st consolidate.Statement) signature {
	var numbers, names []string
	for _, q := range consolidate.ByName(st.Quantities) {
		numbers = append(numbers, q.Name+" "+q.Value+" "+q.Unit)
		if q.Name != "" {
			names = append(names, q.Name+" "+q.Unit)
		}
	}
	if st.Negated {
		numbers = append(numbers, "-")
	}
	skeleton := distinct(names)
	if len(skeleton) == 0 {
		skeleton = st.Words
	}
	return signature{
		terms: int64(len(st.Terms)), numbers: hash64(numbers...), skeleton: hash64(skeleton...),
		sketch: consolidate.NewSketch(st.Terms),
	}
}

const (
	smallGroup      = 64  // groups up to this size are read when needed
	maxCachedGroups = 256 // groups kept in memory at most
	maxTwinChecks   = 64  // texts compared in full for one new fact
	maxDissent      = 8   // of these, how many for a contradiction
	maxConflicts    = 5   // contradictions named in one answer
)

// groupCache keeps the signatures of large groups. Only the writer uses it.
type groupCache struct{ groups map[int64][]signature }

// reset forgets everything; a transaction that was undone may have left
// signatures here that do not exist.
func (g *groupCache) reset() { g.groups = nil }

// signatures returns the group's, oldest first.
func (g *groupCache) signatures(c *conn, key int64) ([]signature, error) {
	cached := g.groups[key]
	last := int64(-1)
	if len(cached) > 0 {
		last = cached[len(cached)-1].seq
	}
	err := c.Query(`SELECT seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b
		FROM signatures WHERE group_key = ? AND seq > ? ORDER BY seq`, []any{key, last}, func(s *sqlite3.Stmt) error {
		cached = append(cached, signature{
			seq: s.ColumnInt64(0), memoryID: s.ColumnInt64(1), terms: s.ColumnInt64(2), numbers: s.ColumnInt64(3), skeleton: s.ColumnInt64(4),
			sketch: consolidate.Sketch{uint64(s.ColumnInt64(5)), uint64(s.ColumnInt64(6))},
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(cached) > smallGroup {
		if g.groups == nil || len(g.groups) >= maxCachedGroups {
			g.groups = map[int64][]signature{}
		}
		g.groups[key] = cached
	}
	return cached, nil
}

// twin is an active fact that says the same.
type twin struct {
	id         int64
	uid        string
	method     string
	similarity float64
}

// findTwin looks for an active fact that r repeats, and for those it
// contradicts. self is left out.
func (tx *writeTx) findTwin(r *record, self int64) (*twin, []robotmem.ConflictWith, error) {
	var same *twin
	err := tx.Query(`SELECT id, uid FROM memories WHERE content_hash = ? AND status = 'active' AND type = 'fact'
		AND collection = ? AND content = ? ORDER BY id`, []any{r.hash(), r.collection, r.content}, func(s *sqlite3.Stmt) error {
		if id := s.ColumnInt64(0); same == nil && id != self {
			same = &twin{id: id, uid: s.ColumnText(1), method: "exact", similarity: 1}
		}
		return nil
	})
	if err != nil || same != nil {
		return same, nil, err
	}
	group, err := tx.store.groups.signatures(tx.conn, r.groupKey())
	if err != nil {
		return nil, nil, err
	}
	conflicts := []robotmem.ConflictWith(nil)
	for _, s := range candidates(group, r.signature, self) {
		other, ok, err := tx.activeFact(r.groupKey(), s)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		theirs := statementOf(other.Content)
		switch verdict, similarity := consolidate.Compare(theirs, r.statement); verdict {
		case consolidate.Duplicate:
			return &twin{id: other.MemoryID, uid: other.UID, method: "jaccard", similarity: similarity}, nil, nil
		case consolidate.Contradicts:
			if len(conflicts) < maxConflicts {
				conflicts = append(conflicts, robotmem.ConflictWith{MemoryID: other.MemoryID, Reason: dissentReason(theirs, r, other.Content)})
			}
		}
	}
	return nil, conflicts, nil
}

// dissent names the active facts that contradict a stored one.
func (c *conn) dissent(r *record) ([]robotmem.ConflictWith, error) {
	mine := r.signature
	var conflicts []robotmem.ConflictWith
	err := c.Query(`SELECT m.id, m.content FROM signatures s JOIN memories m ON m.id = s.memory_id
		WHERE s.group_key = ? AND s.skeleton = ? AND s.numbers <> ? AND m.status = 'active' AND m.type = 'fact'
		ORDER BY s.seq DESC LIMIT ?`, []any{r.groupKey(), mine.skeleton, mine.numbers, maxDissent}, func(s *sqlite3.Stmt) error {
		content := s.ColumnText(1)
		theirs := statementOf(content)
		if verdict, _ := consolidate.Compare(theirs, r.statement); verdict == consolidate.Contradicts && len(conflicts) < maxConflicts {
			conflicts = append(conflicts, robotmem.ConflictWith{MemoryID: s.ColumnInt64(0), Reason: dissentReason(theirs, r, content)})
		}
		return nil
	})
	return conflicts, err
}

// candidates are the signatures of a group whose texts are worth comparing:
// those that may repeat mine, the likeliest first, then the newest of those
// that may oppose it.
func candidates(group []signature, mine signature, self int64) []*signature {
	var repeat, oppose []*signature
	for i := len(group) - 1; i >= 0; i-- {
		s := &group[i]
		switch {
		case s.memoryID == self:
		case s.numbers == mine.numbers:
			if consolidate.MayMatch(s.sketch, mine.sketch, int(s.terms), int(mine.terms)) {
				repeat = append(repeat, s)
			}
		case s.skeleton == mine.skeleton && len(oppose) < maxDissent:
			oppose = append(oppose, s)
		}
	}
	slices.SortStableFunc(repeat, func(a, b *signature) int {
		return cmp.Compare(a.sketch.Distance(mine.sketch), b.sketch.Distance(mine.sketch))
	})
	return append(repeat[:min(len(repeat), maxTwinChecks)], oppose...)
}

// activeFact returns the id, uid and text of an active fact, if the signature
// is still its own: another process may have given it another context.
func (c *conn) activeFact(group int64, sig *signature) (m robotmem.Memory, ok bool, err error) {
	ok, err = c.One(`SELECT id, uid, content FROM memories WHERE id = ?1 AND status = 'active' AND type = 'fact'
		AND EXISTS (SELECT 1 FROM signatures WHERE group_key = ?2 AND seq = ?3 AND memory_id = ?1)`, []any{sig.memoryID, group, sig.seq}, func(s *sqlite3.Stmt) {
		m = robotmem.Memory{MemoryID: s.ColumnInt64(0), UID: s.ColumnText(1), Content: s.ColumnText(2)}
	})
	return m, ok, err
}

// dissentReason says how a text contradicts a record, with the numbers as they
// are written.
func dissentReason(theirs consolidate.Statement, mine *record, content string) string {
	about := text.Clip(content, 120)
	if theirs.Negated != mine.statement.Negated {
		return "says the opposite: " + about
	}
	for _, q := range text.Quantities(content) {
		for _, p := range text.Quantities(mine.content) {
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

// sighted counts another sighting of a memory, which is evidence for it. What
// the caller asked for beside the text is not lost: its tags are added, and a
// memory that is to be pinned is. One that its category pinned and somebody let
// go is not pinned by that category again.
func (tx *writeTx) sighted(id int64, r *record) error {
	for _, tag := range r.userTags {
		if err := tx.Exec("INSERT OR REPLACE INTO memory_tags(memory_id, tag, source) VALUES (?,?,'user')", id, tag); err != nil {
			return err
		}
	}
	if r.pinned {
		err := tx.Exec("UPDATE memories SET pinned = 1, decay_rate = 0 WHERE id = ? AND (? OR category <> ?)", id, r.pinAsked, r.inferred.Category)
		if err != nil {
			return err
		}
	}
	return tx.Exec(`UPDATE memories SET sightings = sightings + 1, access_count = access_count + 1,
		last_accessed = ?, revision = ? WHERE id = ?`, formatTime(tx.now), tx.nextRevision(), id)
}
