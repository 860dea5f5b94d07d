package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
)

// recovery copies the rows of a damaged file into a new one, table by table.
//
// A table is read forwards until a row cannot be read, then backwards from its
// end. Of a table whose rows have numbers, the numbers between are tried by
// halves, so that a damaged page costs the rows on it and not those behind it.
type recovery struct {
	*writeTx
	source   *conn
	now      time.Time
	from, to payload.Folder
	report   *RecoverReport
}

const (
	changeRecovered  = "recovered"
	reasonDoubtful   = "the file was damaged: the text does not match its checksum"
	reasonUnmerged   = "the file was damaged: the memory that superseded it is lost"
	reasonLost       = "the file was damaged: the bytes are lost"
	rowsPerRecovered = 1000 // rows of one commit
)

// derived are the tables that are rebuilt from others.
var derived = []string{"paths", "attributes", "points", "signatures", "features", "tag_meta", "snapshots", "snapshot_heads", "memories_fts"}

func (r *recovery) run(ctx context.Context) (err error) {
	r.source.SetInterrupt(ctx)
	defer r.source.SetInterrupt(context.Background())
	if err := r.Exec("BEGIN"); err != nil {
		return err
	}
	defer func() {
		if err != nil && !r.GetAutocommit() {
			_ = r.Exec("ROLLBACK") // the new file goes
		}
	}()
	tables, err := r.tables()
	if err != nil {
		return err
	}
	m := robotmem.MeterOf(ctx)
	for _, t := range tables {
		m.Stage("copying "+t.name, "rows", 0)
		if err := r.copyTable(ctx, t, m); err != nil {
			return err
		}
		if err := r.Exec("COMMIT; BEGIN"); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{r.dropPurged, r.settleCounters, r.setDoubtfulAside, r.reactivate, r.settlePayloads, r.countMissing} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := r.setChanges(r.revision); err != nil {
		return err
	}
	return r.Exec("COMMIT")
}

// recoveredTable is a table that is copied, with the columns that both files have.
type recoveredTable struct {
	name    string
	columns []string
	key     []string // its primary key; nil for a table whose rows have numbers
}

// tables lists what is copied: the tables of the new file that are not derived
// from others, and the vectors of every model.
func (r *recovery) tables() (out []recoveredTable, err error) {
	models, err := r.source.models()
	if err != nil && !isCorrupt(err) {
		return nil, err
	}
	for i := range models { // one that cannot be read is made again
		if err := r.Exec(createVectors(models[i].table())); err != nil {
			return nil, err
		}
	}
	type found struct {
		name    string
		noRowID bool
	}
	var all []found
	err = r.Query("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", nil, func(s *sqlite3.Stmt) error {
		if name := s.ColumnText(0); !slices.Contains(derived, name) {
			all = append(all, found{name, s.ColumnBool(1)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		t := recoveredTable{name: f.name}
		theirs, err := r.source.columnNames(f.name, false)
		if err != nil {
			return nil, err
		}
		ours, err := r.columnNames(f.name, false)
		if err != nil {
			return nil, err
		}
		for _, c := range ours {
			if slices.Contains(theirs, c) {
				t.columns = append(t.columns, c)
			}
		}
		if len(t.columns) == 0 {
			continue // a table that the damaged file's version does not have
		}
		if f.noRowID {
			if t.key, err = r.columnNames(f.name, true); err != nil {
				return nil, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// columnNames lists the columns of a table, or those of its primary key in order.
func (c *conn) columnNames(table string, key bool) (names []string, err error) {
	sql := "SELECT name FROM pragma_table_info(?)"
	if key {
		sql += " WHERE pk > 0 ORDER BY pk"
	}
	err = c.Query(sql, []any{table}, func(s *sqlite3.Stmt) error {
		names = append(names, s.ColumnText(0))
		return nil
	})
	return names, err
}

func isCorrupt(err error) bool {
	for _, code := range []sqlite3.ErrorCode{sqlite3.CORRUPT, sqlite3.IOERR, sqlite3.NOTADB, sqlite3.ERROR} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = `"` + strings.ReplaceAll(n, `"`, `""`) + `"`
	}
	return strings.Join(out, ", ")
}

func (r *recovery) copyTable(ctx context.Context, t recoveredTable, m *robotmem.Meter) error {
	report := RecoveredTable{Name: t.name}
	insert := fmt.Sprintf("INSERT OR IGNORE INTO %s(%s) VALUES (?%s)", quoted([]string{t.name}), quoted(t.columns), strings.Repeat(",?", len(t.columns)-1))
	if t.name == "counters" {
		insert = strings.Replace(insert, "IGNORE", "REPLACE", 1) // the new file has them at zero
	}
	pending := 0
	put := func(s *sqlite3.Stmt) error {
		values := make([]any, len(t.columns))
		for i := range values {
			values[i] = columnBytes(s, i)
		}
		before := r.TotalChanges()
		err := r.Exec(insert, values...)
		if errors.Is(err, sqlite3.CONSTRAINT) {
			report.Unreadable++ // a row of another table, or with a value that none can have
			return nil
		}
		report.Kept += r.TotalChanges() - before
		m.Add(1)
		if pending++; err == nil && pending%rowsPerRecovered == 0 {
			err = r.Exec("COMMIT; BEGIN")
		}
		return err
	}
	var err error
	if t.key != nil {
		err = r.copyByKey(t, put, &report)
	} else {
		err = r.copyByNumber(ctx, t, put, &report)
	}
	r.report.Tables = append(r.report.Tables, report)
	return err
}

// copyByKey copies a table that is stored by its key: forwards, and from the end
// backwards if that stops early.
func (r *recovery) copyByKey(t recoveredTable, put func(*sqlite3.Stmt) error, report *RecoveredTable) error {
	sql := "SELECT " + quoted(t.columns) + " FROM " + quoted([]string{t.name}) + " ORDER BY "
	for _, order := range []string{" ASC", " DESC"} {
		var failed error
		err := r.source.Query(sql+strings.ReplaceAll(quoted(t.key), ",", order+",")+order, nil, func(s *sqlite3.Stmt) error {
			failed = put(s)
			return failed
		})
		if failed != nil || err != nil && !isCorrupt(err) {
			return errors.Join(failed, err)
		}
		if err == nil {
			return nil
		}
		report.Torn = true
	}
	return nil
}

// copyByNumber copies a table whose rows have numbers: it finds the numbers that
// can be read, then fetches row by row, so that a row whose further pages are
// damaged costs itself alone.
func (r *recovery) copyByNumber(ctx context.Context, t recoveredTable, put func(*sqlite3.Stmt) error, report *RecoveredTable) error {
	name := quoted([]string{t.name})
	ids, torn, err := r.numbers(ctx, name)
	if err != nil {
		return err
	}
	report.Torn = torn && t.name != "memories" // of which the ids tell what is missing
	fetch := "SELECT " + quoted(t.columns) + " FROM " + name + " WHERE rowid = ?"
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		var failed error
		found, err := r.source.One(fetch, []any{id}, func(s *sqlite3.Stmt) { failed = put(s) })
		switch {
		case failed != nil:
			return failed
		case err != nil && !isCorrupt(err):
			return err
		case err != nil || !found:
			report.Unreadable++
		}
	}
	return nil
}

// numbers lists the row numbers of a table that can be read, in order. torn is
// true when some part of the table cannot be.
func (r *recovery) numbers(ctx context.Context, name string) (ids []int64, torn bool, err error) {
	scan := func(low, high int64, order string) (found []int64, err error) {
		err = r.source.Query("SELECT rowid FROM "+name+" NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid "+order, []any{low, high}, func(s *sqlite3.Stmt) error {
			if id := s.ColumnInt64(0); id >= low && id <= high {
				found = append(found, id)
			}
			return nil
		})
		return found, err
	}
	const all = int64(1) << 62
	ids, err = scan(-all, all, "ASC")
	if err == nil || !isCorrupt(err) {
		return ids, false, err
	}
	low := -all
	if len(ids) > 0 {
		low = ids[len(ids)-1] + 1
	}
	back, err := scan(low, all, "DESC")
	if err != nil && !isCorrupt(err) {
		return nil, true, err
	}
	ids = append(ids, back...)
	if err != nil && len(back) > 0 && len(ids) > len(back) {
		// Between the two ends, by halves.
		var probe func(low, high int64) error
		probe = func(low, high int64) error {
			if low > high {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			found, err := scan(low, high, "ASC")
			ids = append(ids, found...)
			if err == nil || low == high {
				return nil
			}
			if !isCorrupt(err) {
				return err
			}
			if len(found) > 0 {
				low = found[len(found)-1] + 1
			}
			middle := low + (high-low)/2
			return errors.Join(probe(low, middle), probe(middle+1, high))
		}
		if err := probe(low, back[len(back)-1]-1); err != nil {
			return nil, true, err
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), true, nil
}

// columnBytes is a stored value as it is.
func columnBytes(s *sqlite3.Stmt, i int) any {
	switch s.ColumnType(i) {
	case sqlite3.INTEGER:
		return s.ColumnInt64(i)
	case sqlite3.FLOAT:
		return s.ColumnFloat(i)
	case sqlite3.TEXT:
		return s.ColumnText(i)
	case sqlite3.BLOB:
		return append([]byte{}, s.ColumnRawBlob(i)...)
	}
	return nil
}

// dropPurged removes what a damaged page may have brought back.
func (r *recovery) dropPurged(context.Context) error {
	for _, table := range []string{"memories WHERE id", "versions WHERE memory_id"} {
		if err := r.Exec("DELETE FROM " + table + " IN (SELECT memory_id FROM purged)"); err != nil {
			return err
		}
	}
	// What names a memory that is lost would stand in the way of storing it again.
	for _, table := range []string{"origins", "memory_tags"} {
		if err := r.Exec("DELETE FROM " + table + " WHERE memory_id NOT IN (SELECT id FROM memories)"); err != nil {
			return err
		}
	}
	return nil
}

// settleCounters lets ids and revisions go on from the largest that was given.
func (r *recovery) settleCounters(context.Context) error {
	type sequence struct {
		name string
		seq  int64
	}
	var given []sequence
	err := r.source.Query("SELECT name, seq FROM sqlite_sequence", nil, func(s *sqlite3.Stmt) error {
		given = append(given, sequence{s.ColumnText(0), s.ColumnInt64(1)})
		return nil
	})
	if err != nil && !isCorrupt(err) {
		return err
	}
	for _, g := range given {
		if err := r.Exec("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", g.seq, g.name); err != nil {
			return err
		}
		err := r.Exec("INSERT INTO sqlite_sequence(name, seq) SELECT name, ? FROM sqlite_schema WHERE type = 'table' AND name = ? AND name NOT IN (SELECT name FROM sqlite_sequence)", g.seq, g.name)
		if err != nil {
			return err
		}
	}
	r.revision, err = r.Number("SELECT max(coalesce((SELECT value FROM counters WHERE name = 'changes'), 0), (SELECT coalesce(max(revision), 0) FROM memories))")
	return err
}

// setDoubtfulAside keeps the memories whose text cannot be trusted out of every
// recall.
func (r *recovery) setDoubtfulAside(context.Context) error {
	sums := map[int64][]byte{}
	err := r.eachChangedText(func(id int64, sum []byte) { sums[id] = sum })
	if err != nil {
		return err
	}
	for id, sum := range sums {
		if r.report.DoubtfulCount++; len(r.report.Doubtful) < maxNamedIDs {
			r.report.Doubtful = append(r.report.Doubtful, id)
		}
		if err := r.setStatus(id, "invalidated", changeRecovered, reasonDoubtful); err != nil {
			return err
		}
		// It is what it is now; once restored it counts as checked.
		if err := r.Exec("UPDATE memories SET content_hash = ? WHERE id = ?", sum, id); err != nil {
			return err
		}
	}
	slices.Sort(r.report.Doubtful)
	return nil
}

// reactivate makes active again what a lost memory had superseded.
func (r *recovery) reactivate(context.Context) error {
	var ids []int64
	err := r.Query("SELECT id FROM memories WHERE status = 'superseded' AND superseded_by NOT IN (SELECT id FROM memories)", nil, func(s *sqlite3.Stmt) error {
		ids = append(ids, s.ColumnInt64(0))
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := r.setStatus(id, "active", changeRecovered, reasonUnmerged); err != nil {
			return err
		}
	}
	r.report.Reactivated = int64(len(ids))
	return nil
}

// settlePayloads checks the payloads of the file, links those of the folder to
// the new one's, and accounts for those that are lost.
func (r *recovery) settlePayloads(ctx context.Context) error {
	var damaged, outside [][sha256.Size]byte
	err := r.Query("SELECT sha256, bytes, codec, data FROM payloads", nil, func(s *sqlite3.Stmt) error {
		p := storedPayload{size: s.ColumnInt64(1), codec: payload.Codec(s.ColumnText(2))}
		copy(p.sum[:], s.ColumnRawBlob(0))
		if s.ColumnType(3) == sqlite3.NULL {
			outside = append(outside, p.sum)
			return nil
		}
		p.inline = s.ColumnRawBlob(3)
		if _, ok := p.bytes(); !ok {
			damaged = append(damaged, p.sum)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, sum := range damaged {
		if err := r.Exec("DELETE FROM payloads WHERE sha256 = ?", sum[:]); err != nil {
			return err
		}
	}
	for _, sum := range outside {
		if err := r.linkPayload(ctx, sum); err != nil {
			return err
		}
	}
	return r.settleNameless(ctx)
}

// settleNameless finds the payloads that a memory names and that have no row: the
// folder may have the bytes all the same.
func (r *recovery) settleNameless(ctx context.Context) error {
	var sums [][sha256.Size]byte
	err := r.Query(`SELECT DISTINCT perception_data FROM memories WHERE perception_data IS NOT NULL
		AND perception_data NOT IN (SELECT sha256 FROM payloads) AND id NOT IN (SELECT memory_id FROM evictions)`, nil, func(s *sqlite3.Stmt) error {
		var sum [sha256.Size]byte
		copy(sum[:], s.ColumnRawBlob(0))
		sums = append(sums, sum)
		return nil
	})
	if err != nil {
		return err
	}
	for _, sum := range sums {
		w, err := r.from.Describe(ctx, sum)
		switch {
		case err == nil:
			if err := r.linkPayload(ctx, sum); err != nil {
				return err
			}
			err = r.Exec("INSERT INTO payloads(sha256, bytes, codec, created_at, stored) VALUES (?,?,?,?,?)", sum[:], w.Size, string(w.Codec), formatTime(r.now), w.Stored)
		case errors.Is(err, payload.ErrMissing), errors.Is(err, payload.ErrDamaged):
			r.report.LostPayloads++
			err = r.Exec(`INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at)
				SELECT id, collection, coalesce(perception_type, ''), 0, ?, ? FROM memories WHERE perception_data = ?`, reasonLost, formatTime(r.now), sum[:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linkPayload gives the new folder a payload of the damaged file's.
func (r *recovery) linkPayload(ctx context.Context, sum [sha256.Size]byte) error {
	_, err := r.from.Share(ctx, sum, payload.Raw, r.to)
	if err != nil && !errors.Is(err, payload.ErrMissing) {
		return robotmem.Errorf(robotmem.Unavailable, "", "a payload could not be linked or copied (%s): %s…; check the disk's space", strings.ToLower(rootReason(err)), hex.EncodeToString(sum[:4]))
	}
	return nil // a missing one is named by the check-up
}

// countMissing counts the ids up to the largest that was given which are neither
// there nor purged.
func (r *recovery) countMissing(context.Context) error {
	gap := func(before, after int64) {
		r.report.Missing += max(0, after-before-1)
		for id := before + 1; id < after && len(r.report.MissingIDs) < maxNamedIDs; id++ {
			r.report.MissingIDs = append(r.report.MissingIDs, id)
		}
	}
	last := int64(0)
	err := r.Query("SELECT id FROM memories UNION SELECT memory_id FROM purged ORDER BY 1", nil, func(s *sqlite3.Stmt) error {
		gap(last, s.ColumnInt64(0))
		last = s.ColumnInt64(0)
		return nil
	})
	if err != nil {
		return err
	}
	given, err := r.Number("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'memories'")
	if err != nil {
		return err
	}
	gap(last, max(last, given)+1)
	r.report.Memories, err = r.Number("SELECT count(*) FROM memories")
	return err
}

// contentHash is what a memory of this text and context is stored with.
func contentHash(kind, collection, storedContext, content string) []byte {
	if !json.Valid([]byte(storedContext)) {
		return nil
	}
	canonical, err := robotmem.ParseObject(storedContext).Canonical(storedContext)
	if err != nil {
		return nil
	}
	rec := record{kind: kind, collection: collection, content: content, canonical: canonical}
	return rec.hash()
}

// eachChangedText visits the memories whose text or context does not match the
// hash they were stored with, and gives the hash of what is there.
func (c *conn) eachChangedText(visit func(id int64, sum []byte)) error {
	return c.Query("SELECT id, type, collection, context, content, content_hash FROM memories", nil, func(s *sqlite3.Stmt) error {
		sum := contentHash(s.ColumnText(1), s.ColumnText(2), s.ColumnText(3), s.ColumnText(4))
		if !bytes.Equal(s.ColumnRawBlob(5), sum) {
			visit(s.ColumnInt64(0), sum)
		}
		return nil
	})
}

// changedTexts counts those memories and names some.
func (c *conn) changedTexts() (n int64, some []int64, err error) {
	err = c.eachChangedText(func(id int64, _ []byte) {
		if n++; len(some) < maxNamedIDs {
			some = append(some, id)
		}
	})
	return n, some, err
}
