package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// An answer is dropped once it is older than answersAge, or once answersKept calls have come after it. A robot
// that was switched off over a weekend may repeat its last call; the answers of a busy one take some 20 MB.
const (
	answersKept = 100_000
	answersAge  = 7 * 24 * time.Hour
)

// Answered fills res with the answer that a call got before. It reports false if the call is new, and
// refuses another call of the same name.
func (c *Conn) Answered(call record.Call, res any) (bool, error) {
	if call.ID == "" {
		return false, nil
	}

	var digest, answer []byte
	known, err := c.One(RequestOf, []any{call.ID}, func(s Row) {
		digest, answer = bytes.Clone(s.ColumnRawBlob(0)), []byte(s.ColumnText(1))
	})
	if err != nil || !known {
		return false, err
	}
	if len(answer) == 0 {
		return false, robotmem.Errorf(robotmem.Conflict, "request_id",
			"the memory of the call %q was purged, and is not stored again", robotmem.Clip(call.ID, 40))
	}
	if !bytes.Equal(digest, call.Digest) {
		return false, robotmem.Errorf(robotmem.Conflict, "request_id",
			"%q was the name of another call; a repeated call must be the same in all fields, and a new one needs a new name",
			robotmem.Clip(call.ID, 40))
	}

	return true, json.Unmarshal(answer, res)
}

// KeepAnswer keeps the answer of a call that has stored, or found, a memory. It also drops up to two answers
// that have become too old. So old answers go faster than new ones come.
func (tx *Tx) KeepAnswer(call record.Call, memoryID int64, res any) error {
	if call.ID == "" {
		return nil
	}

	answer, err := json.Marshal(res)
	if err != nil {
		return err
	}

	id, err := tx.Number(NextRequestID)
	if err != nil {
		return err
	}

	err = tx.Exec(InsertRequest,
		id, call.ID, call.Digest, memoryID, string(answer), FormatTime(tx.Now))
	if err != nil {
		return err
	}

	return tx.Exec(DeleteOldRequests,
		id-answersKept, FormatTime(tx.Now.Add(-answersAge)))
}

// forgetAnswers empties the answers about a memory, because a call that is repeated later must not bring the memory
// back. It deletes the answers of other calls that name the memory, because the reason of a conflict holds a part of
// its text.
func (tx *Tx) forgetAnswers(id int64) error {
	return errors.Join(
		tx.Exec(ForgetAnswer, []byte{0}, id),
		tx.Exec(DeleteAnswersNaming, `"memory_id":`+strconv.FormatInt(id, 10)+","))
}
