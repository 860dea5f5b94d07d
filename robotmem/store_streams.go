package robotmem

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/recorder"
)

// countStream adds to the account of a stream.
func (tx *writeTx) countStream(session, collection string, n recorder.SourceCount) error {
	return tx.exec(`INSERT INTO streams(session_id, collection, source, received, stored, dropped, missed, bytes, updated_at)
		VALUES (?,?,?,?,?,?,?,?,?)
		ON CONFLICT(session_id, collection, source) DO UPDATE SET received = received + excluded.received,
			stored = stored + excluded.stored, dropped = dropped + excluded.dropped, missed = missed + excluded.missed,
			bytes = bytes + excluded.bytes, updated_at = excluded.updated_at`,
		session, collection, n.Source, int64(n.Received), int64(n.Stored), int64(n.Dropped), int64(n.Missed), int64(n.Bytes), formatTime(tx.now))
}

// streams are the accounts of a session's sources, or of every source over all
// sessions.
func (c *conn) streams(session string) (out []StreamCount, err error) {
	err = c.query(`SELECT source, sum(received), sum(stored), sum(dropped), sum(missed), sum(bytes) FROM streams
		WHERE ?1 = '' OR session_id = ?1 GROUP BY source ORDER BY source`, []any{session}, func(s *sqlite3.Stmt) error {
		out = append(out, StreamCount{s.ColumnText(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5)})
		return nil
	})
	return out, err
}
