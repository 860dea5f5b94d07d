package local

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
)

// countStream adds to the account of a stream.
func (tx *writeTx) countStream(session, collection string, n recorder.SourceCount) error {
	return tx.Exec(`INSERT INTO streams(session_id, collection, source, received, stored, dropped, missed, bytes, updated_at)
		VALUES (?,?,?,?,?,?,?,?,?)
		ON CONFLICT(session_id, collection, source) DO UPDATE SET received = received + excluded.received,
			stored = stored + excluded.stored, dropped = dropped + excluded.dropped, missed = missed + excluded.missed,
			bytes = bytes + excluded.bytes, updated_at = excluded.updated_at`,
		session, collection, n.Source, int64(n.Received), int64(n.Stored), int64(n.Dropped), int64(n.Missed), int64(n.Bytes), formatTime(tx.now))
}

// streams are the accounts of a session's sources, or of every source over all
// sessions.
func (c *conn) streams(session string) (out []robotmem.StreamCount, err error) {
	err = c.Query(`SELECT source, sum(received), sum(stored), sum(dropped), sum(missed), sum(bytes) FROM streams
		WHERE ?1 = '' OR session_id = ?1 GROUP BY source ORDER BY source`, []any{session}, func(s *sqlite3.Stmt) error {
		out = append(out, robotmem.StreamCount{Source: s.ColumnText(0), Received: s.ColumnInt64(1), Stored: s.ColumnInt64(2), Dropped: s.ColumnInt64(3), Missed: s.ColumnInt64(4), Bytes: s.ColumnInt64(5)})
		return nil
	})
	return out, err
}
