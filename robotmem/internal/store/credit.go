package store

import (
	"errors"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// Credit says how an episode went and what memories were worth to it.
type Credit struct {
	Score  *float64          // of the episode, 0 to 1; nil if unknown
	Used   []int64           // helped in an episode of this score
	Scores map[int64]float64 // by memory, 0 (misled) to 1 (helped)
	Unused []int64           // were returned and not used
}

const (
	// surfacedShare is the part of a use that a memory is credited with that was returned
	// to an episode that does not say what it used.
	surfacedShare = 0.1
	// maxSessionOutcomes limits the memories of an episode that get its outcome, the newest.
	maxSessionOutcomes = 1000
)

// Credit adds an episode to the records of memories. It fails with NotFound if one does not exist.
func (tx *Tx) Credit(session string, c *Credit) error {
	for _, id := range c.Used {
		if _, scored := c.Scores[id]; scored {
			continue
		}
		if err := tx.used(session, "used_memory_ids", id, c.Score, true); err != nil {
			return err
		}
	}
	for id, score := range c.Scores {
		if err := tx.used(session, "memory_scores", id, &score, score > 0); err != nil {
			return err
		}
	}
	if c.Score == nil || len(c.Used)+len(c.Scores)+len(c.Unused) > 0 {
		return nil
	}
	surfaced, err := tx.IDs("SELECT memory_id FROM session_recalls WHERE session_id = ? AND used = 0 ORDER BY memory_id", session)
	for _, id := range surfaced {
		err = errors.Join(err, tx.addUse(id, surfacedShare, *c.Score))
	}
	return err
}

// used records that an episode used a memory. If it helped, its decay restarts from now.
func (tx *Tx) used(session, field string, id int64, score *float64, helped bool) error {
	ok, err := tx.Number("SELECT count(*) FROM memories WHERE id = ?", id)
	if err != nil {
		return err
	}
	if ok == 0 {
		return robotmem.Errorf(robotmem.NotFound, field, "there is no memory %d; nothing was stored, the session is still open", id)
	}
	var value any
	if score != nil {
		value = *score
	}
	err = tx.Exec("INSERT INTO session_recalls(session_id, memory_id, used, helped) VALUES (?,?,?,?) ON CONFLICT(session_id, memory_id) DO UPDATE SET used = excluded.used, helped = excluded.helped", session, id, helped, value)
	if err == nil && helped {
		err = tx.withChecksum(id, func() error {
			return tx.Exec("UPDATE memories SET access_count = access_count + 1, last_accessed = ?, revision = ? WHERE id = ?", FormatTime(tx.Now), tx.NextRevision(), id)
		})
	}
	if err == nil && score != nil {
		err = tx.addUse(id, 1, *score)
	}
	return err
}

// addUse adds a part of a use to the record of a memory.
func (tx *Tx) addUse(id int64, share, score float64) error {
	return tx.withChecksum(id, func() error {
		return tx.Exec("UPDATE memories SET uses = coalesce(uses, 0) + ?1, successes = coalesce(successes, 0) + ?1 * ?2, revision = ?3 WHERE id = ?4", share, score, tx.NextRevision(), id)
	})
}

// SetSessionOutcomes gives the outcome of an episode to its memories whose own is unknown and
// that describe a situation.
func (tx *Tx) SetSessionOutcomes(session string, score float64) error {
	ids, err := tx.IDs("SELECT id FROM memories WHERE session_id = ? AND outcome IS NULL AND context <> '{}' ORDER BY id DESC LIMIT ?", session, maxSessionOutcomes)
	for _, id := range ids {
		err = errors.Join(err, tx.withChecksum(id, func() error {
			return tx.Exec("UPDATE memories SET outcome = ?, outcome_source = ?, revision = ? WHERE id = ?", record.OutcomeOfScore(score), record.FromSession, tx.NextRevision(), id)
		}))
	}
	return err
}
