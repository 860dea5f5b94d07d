package local

import (
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// settlePayloads stores the payloads of a part that a memory names now, and says
// of the memories just stored whose bytes are not to be had that they are lost. A
// memory may have been purged, and a payload evicted, while the bytes came in.
func (e *Node) settlePayloads(tx *store.Tx, p *importPart, stored map[int64]*store.Arrival) error {
	p.missing, p.unnamed = map[string]bool{}, nil // a job may run twice
	named := map[string]bool{}
	for _, a := range stored {
		if a.Payload != nil {
			named[a.Payload.SHA256] = true
		}
	}
	for sum, w := range p.payloads {
		n, err := tx.Number("SELECT count(*) FROM memories WHERE perception_data = ? AND id NOT IN (SELECT memory_id FROM evictions WHERE NOT "+store.LostEviction+")", w.Sum[:])
		if err != nil {
			return err
		}
		if n == 0 && !named[sum] {
			p.unnamed = append(p.unnamed, w)
			continue
		}
		if err := tx.InsertPayload(&record.PerceptionRecord{Stored: w}); err != nil {
			return err
		}
		if err := tx.FoundAgain(w.Sum[:]); err != nil {
			return err
		}
	}
	for id, a := range stored {
		if a.Payload == nil {
			continue
		}
		there, err := tx.Payload(a.Payload.SHA256)
		if err != nil {
			return err
		}
		if there != nil {
			if err := tx.FoundAgain(there.Sum[:]); err != nil {
				return err
			}
			continue
		}
		gone, err := tx.Evicted(id)
		if err != nil {
			return err
		}
		if gone { // its source says why
			continue
		}
		p.missing[a.Payload.SHA256] = true
		if err := tx.Lose(id, a); err != nil {
			return err
		}
	}
	return nil
}
