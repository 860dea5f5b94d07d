package store

import (
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// Credit holds the outcome of an episode and how memories contributed to it.
type Credit struct {
	Score  *float64          // of the episode, 0 to 1; nil if unknown
	Used   []int64           // memories that helped, each with the score of the episode
	Scores map[int64]float64 // memories with scores of their own, 0 (misled) to 1 (helped)
	Unused []int64           // memories that were returned and not used
}

// surfacedShare is the part of a use that each memory is credited with that an episode has received, if the
// episode does not say which of them it used.
const surfacedShare = 0.1

// Credit adds an episode to the records of memories. It fails with NotFound if one does not exist.
func (tx *Tx) Credit(session string, c *Credit) error {
	// The score of a memory replaces the score of its episode.
	for _, id := range c.Used {
		if _, scored := c.Scores[id]; scored {
			continue
		}
		if err := tx.creditMemory(session, "used_memory_ids", id, c.Score, true); err != nil {
			return err
		}
	}

	for id, score := range c.Scores {
		if err := tx.creditMemory(session, "memory_scores", id, &score, score > 0); err != nil {
			return err
		}
	}

	// Only if the caller says nothing about memories, all that were returned get a part of the credit.
	if c.Score == nil || len(c.Used)+len(c.Scores)+len(c.Unused) > 0 {
		return nil
	}

	surfaced, err := tx.IDs(UnusedRecalls, session)
	for _, id := range surfaced {
		err = errors.Join(err, tx.addUse(id, surfacedShare, *c.Score))
	}

	return err
}

// creditMemory records that an episode used a memory. If the memory helped, its decay restarts from now. field is
// the argument of the request that names the memory.
func (tx *Tx) creditMemory(session, field string, id int64, score *float64, helped bool) error {
	count, err := tx.Number(CountMemory, id)
	if err != nil {
		return err
	}
	if count == 0 {
		return robotmem.Errorf(robotmem.NotFound, field, "there is no memory %d; nothing was stored, "+
			"the session is still open", id)
	}

	var value any
	if score != nil {
		value = *score
	}

	err = tx.Exec(PutCredit, session, id, helped, value)
	if err == nil && helped {
		err = tx.withChecksum(id, func() error {
			return tx.Exec(AddAccess, FormatTime(tx.Now), tx.NextRevision(), id)
		})
	}

	if err == nil && score != nil {
		err = tx.addUse(id, 1, *score)
	}

	return err
}

// addUse adds a part of a use to the record of a memory. The audit log says when that changes its tier for the better
// or the worse.
func (tx *Tx) addUse(id int64, share, score float64) error {
	row, err := tx.row(id)
	if err != nil && !errors.Is(err, errDamagedRow) {
		return err
	}

	// A passage of a document has no record: it says what the document says, however an episode ends.
	if row != nil && row.Type == robotmem.TypeDocument {
		return nil
	}

	err = tx.withChecksum(id, func() error {
		return tx.Exec(AddUse, share, score, tx.NextRevision(), id)
	})
	if err != nil || row == nil {
		return err
	}

	was, is := row.Used, row.Used
	is.Uses += share
	is.Successes += share * score

	action := ActionPromoted

	switch order := consolidate.CompareTiers(was.Tier(), is.Tier()); {
	case order == 0:
		return nil
	case order > 0:
		action = ActionDemoted
	}

	low, high := consolidate.Wilson(is.Successes, is.Uses)
	entry := AuditOf(action, &row.Memory)
	entry.Reason = fmt.Sprintf("%s to %s: %s, share of successes %.2f to %.2f at 95 %%",
		was.Tier(), is.Tier(), is.String(), low, high)

	return tx.Audit(entry)
}

// EpisodeOutcomes returns the last outcome of each episode that has one, by session_id.
func (c *Conn) EpisodeOutcomes() (map[string]string, error) {
	out := map[string]string{}
	err := c.Query(AllOutcomes, nil, func(s Row) error {
		out[s.ColumnText(0)] = record.OutcomeOfScore(s.ColumnFloat(1))
		return nil
	})
	return out, err
}
