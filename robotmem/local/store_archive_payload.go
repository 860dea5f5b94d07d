package local

import (
	"encoding/hex"

	"github.com/ncruces/go-sqlite3"
)

// reasonLostBefore is why a memory that was imported has no bytes, where no budget
// took them away.
const reasonLostBefore = "lost before the import"

// lostReasons are those of evictions that no budget made: an import that has the
// bytes brings them back.
var lostReasons = []string{reasonLost, reasonLostBefore}

// lostEviction matches those.
const lostEviction = "reason IN ('" + reasonLost + "', '" + reasonLostBefore + "')"

// wantsPayload reports whether an import takes the payload of a memory, which the
// node does not have.
func (c *conn) wantsPayload(a *arrival) (bool, error) {
	v, known, err := c.judge(a)
	if err != nil || v == verdictCreate || v == verdictReplace {
		return err == nil, err
	}
	if v != verdictPurged {
		taken, err := c.Number("SELECT count(*) FROM evictions WHERE memory_id = ? AND NOT "+lostEviction, known.id)
		if err != nil || taken == 0 {
			return err == nil, err
		}
	}
	// Another memory may have lost the same bytes.
	sum, err := hex.DecodeString(a.Payload.SHA256)
	if err != nil {
		return false, err
	}
	n, err := c.Number("SELECT count(*) FROM memories m JOIN evictions e ON e.memory_id = m.id WHERE m.perception_data = ? AND e."+lostEviction, sum)
	return n > 0, err
}

// settlePayloads stores the payloads of a part that a memory names now, and says
// of the memories just stored whose bytes are not to be had that they are lost. A
// memory may have been purged, and a payload evicted, while the bytes came in.
func (e *Engine) settlePayloads(tx *writeTx, p *importPart, stored map[int64]*arrival) error {
	p.missing, p.unnamed = map[string]bool{}, nil // a job may run twice
	named := map[string]bool{}
	for _, a := range stored {
		if a.Payload != nil {
			named[a.Payload.SHA256] = true
		}
	}
	for sum, w := range p.payloads {
		n, err := tx.Number("SELECT count(*) FROM memories WHERE perception_data = ? AND id NOT IN (SELECT memory_id FROM evictions WHERE NOT "+lostEviction+")", w.Sum[:])
		if err != nil {
			return err
		}
		if n == 0 && !named[sum] {
			p.unnamed = append(p.unnamed, w)
			continue
		}
		if err := tx.insertPayload(&perceptionRecord{stored: w}); err != nil {
			return err
		}
		if err := tx.foundAgain(w.Sum[:]); err != nil {
			return err
		}
	}
	for id, a := range stored {
		if a.Payload == nil {
			continue
		}
		there, err := tx.payload(a.Payload.SHA256)
		if err != nil {
			return err
		}
		if there != nil {
			if err := tx.foundAgain(there.sum[:]); err != nil {
				return err
			}
			continue
		}
		gone, err := tx.evicted(id)
		if err != nil {
			return err
		}
		if gone { // its source says why
			continue
		}
		p.missing[a.Payload.SHA256] = true
		if err := tx.lose(id, a); err != nil {
			return err
		}
	}
	return nil
}

// lose says of a memory that its bytes are lost.
func (tx *writeTx) lose(id int64, a *arrival) error {
	if err := tx.Exec("INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at) VALUES (?,?,?,0,?,?)",
		id, a.Collection, a.PerceptionType, reasonLostBefore, formatTime(tx.now)); err != nil {
		return err
	}
	return tx.insertFeatures(id, &features{}) // there are no bytes to compare
}

// foundAgain takes back what was said of a payload that is there again.
func (tx *writeTx) foundAgain(sum []byte) error {
	var ids []int64
	err := tx.Query("SELECT DISTINCT m.id FROM memories m JOIN evictions e ON e.memory_id = m.id WHERE m.perception_data = ? AND e."+lostEviction, []any{sum}, func(s *sqlite3.Stmt) error {
		ids = append(ids, s.ColumnInt64(0))
		return nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := tx.Exec("DELETE FROM evictions WHERE memory_id = ? AND "+lostEviction, id); err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM features WHERE memory_id = ?", id); err != nil { // worked out anew
			return err
		}
	}
	return tx.beginFeatureEpoch()
}

// unevict forgets that the payload of a memory was taken away here: its state is
// to be another.
func (tx *writeTx) unevict(id int64) error {
	gone, err := tx.evicted(id)
	if err != nil || !gone {
		return err
	}
	if err := tx.Exec("DELETE FROM evictions WHERE memory_id = ?", id); err != nil {
		return err
	}
	if err := tx.Exec("DELETE FROM features WHERE memory_id = ?", id); err != nil { // of no bytes
		return err
	}
	return tx.beginFeatureEpoch()
}
