package maintenance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Recovery copies the rows of a damaged file into a new one, table by table.
//
// A table with row ids is read forwards until a row cannot be read; then each id up to the largest
// that the file has given is tried, so that a damaged page loses only the rows on it.
// A table that is stored by its key is read forwards, then backwards from its end.
type Recovery struct {
	*store.Tx
	File     *sqlite.Conn // the connection of Tx
	Source   *sqlite.Tables
	From, To payload.Folder
	Report   *admin.RecoverReport
}

// derived are the tables that are rebuilt from others.
var derived = []string{"signatures", "features", "tag_meta", "snapshots", "snapshot_heads", "memories_fts"}

// Run copies all tables and repairs what refers to lost rows.
func (r *Recovery) Run(ctx context.Context) (err error) {
	r.Source.File.SetInterrupt(ctx)
	defer r.Source.File.SetInterrupt(context.Background())
	if err := r.File.Exec("BEGIN"); err != nil {
		return err
	}

	defer func() {
		if err != nil && !r.File.GetAutocommit() {
			_ = r.File.Exec("ROLLBACK") // the caller removes the new file
		}
	}()

	tables, err := r.tables()
	if err != nil {
		return err
	}

	m := progress.Of(ctx)
	for _, t := range tables {
		m.Stage("copying "+t.name, "rows", 0)
		if err := r.copyTable(ctx, t, m); err != nil {
			return err
		}
		if err := r.File.Exec("COMMIT; BEGIN"); err != nil {
			return err
		}
	}

	// settleCounters comes before the steps that change memories, because each change takes a new revision.
	// settlePayloads drops rows of damaged payloads, which settleNameless then records as lost.
	for _, step := range []func(context.Context) error{
		r.dropPurged, r.settleCounters, r.setDoubtfulAside, r.reactivate,
		r.settlePayloads, r.settleNameless, r.countMissing, r.settleIdentity,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}

	if err := r.SetChanges(r.Revision); err != nil {
		return err
	}

	return r.File.Exec("COMMIT")
}

// settleIdentity gives the new file the id of the damaged one, which it will replace, if the id can be read.
func (r *Recovery) settleIdentity(context.Context) error {
	id, err := r.Source.FileID()
	if err != nil || id == "" {
		return nil //nolint:nilerr // it is damaged, or of an earlier version
	}
	return r.SetFileID(id)
}

// recoveredTable is a table that is copied, with the columns that both files have.
type recoveredTable struct {
	name    string
	columns []string
	key     []string // its primary key; nil for a table with row ids
}

// tables lists the tables to copy: those of the new file that are not derived
// from others, and the vectors of every model.
func (r *Recovery) tables() (out []recoveredTable, err error) {
	models, err := r.Source.Models()
	if err != nil && !sqlite.IsDamage(err) {
		return nil, err
	}

	// The table of a model that cannot be read is not created. Its vectors are computed again.
	for i := range models {
		if err := r.Exec(store.CreateVectors.Of(&models[i])); err != nil {
			return nil, err
		}
	}

	all, err := r.File.Texts("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' " +
		"AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err != nil {
		return nil, err
	}

	for _, name := range all {
		if slices.Contains(derived, name) {
			continue
		}
		t := recoveredTable{name: name}
		if t.columns, err = r.sharedColumns(name); err != nil {
			return nil, err
		}
		t.key, err = r.File.Texts("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 AND (SELECT wr "+
			"FROM pragma_table_list WHERE schema = 'main' AND name = ?1) ORDER BY pk", name)
		if err != nil {
			return nil, err
		}
		// A table that the version of the damaged file lacks has no shared columns.
		if len(t.columns) > 0 {
			out = append(out, t)
		}
	}

	return out, nil
}

const columnsOf = "SELECT name FROM pragma_table_info(?)"

// sharedColumns lists the columns of a table that both files have.
func (r *Recovery) sharedColumns(table string) ([]string, error) {
	theirs, err := r.Source.File.Texts(columnsOf, table)
	if err != nil {
		return nil, err
	}
	ours, err := r.File.Texts(columnsOf, table)
	return slices.DeleteFunc(ours, func(c string) bool { return !slices.Contains(theirs, c) }), err
}

func quoted(names ...string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = `"` + strings.ReplaceAll(n, `"`, `""`) + `"`
	}
	return strings.Join(out, ", ")
}

func (r *Recovery) copyTable(ctx context.Context, t recoveredTable, m *progress.Meter) error {
	// The new file already has the counters, at zero.
	conflict := "IGNORE"
	if t.name == "counters" {
		conflict = "REPLACE"
	}

	insert := fmt.Sprintf("INSERT OR %s INTO %s(%s) VALUES (?%s)", conflict, quoted(t.name), quoted(t.columns...),
		strings.Repeat(",?", len(t.columns)-1))
	pending := 0
	put := func(s store.Row) error {
		// Columns does not set the value of an empty blob, so each value starts as one.
		values := slices.Repeat([]any{[]byte{}}, s.ColumnCount())
		if err := s.Columns(values...); err != nil {
			return err
		}
		err := r.File.Exec(insert, values[:len(t.columns)]...)
		if sqlite.IsConstraint(err) {
			// A damaged page can yield a row of another table, or one with an impossible value.
			r.Report.Unreadable++
			return nil
		}
		m.Add(1)
		if pending++; err == nil && pending%store.RowsPerRecovered == 0 {
			err = r.File.Exec("COMMIT; BEGIN")
		}

		return err
	}
	if t.key != nil {
		return r.copyByKey(t, put)
	}

	return r.copyByID(ctx, t, put)
}

// copyByKey copies a table that is stored by its key: forwards, and from the end
// backwards if that stops early.
func (r *Recovery) copyByKey(t recoveredTable, put func(store.Row) error) error {
	sql := "SELECT " + quoted(t.columns...) + " FROM " + quoted(t.name) + " ORDER BY "

	for _, order := range []string{" ASC", " DESC"} {
		var failed error
		err := r.Source.File.Query(sql+strings.ReplaceAll(quoted(t.key...), ",", order+",")+order, nil, func(s store.Row) error {
			failed = put(s)
			return failed
		})
		if failed != nil || err != nil && !sqlite.IsDamage(err) {
			return errors.Join(failed, err)
		}
		if err == nil {
			return nil
		}
		if order == " ASC" {
			r.Report.Torn = append(r.Report.Torn, t.name)
		}
	}

	return nil
}

// maxTried bounds the ids that are tried, because a damaged page may hold any number.
const maxTried = 10_000_000

// copyByID copies a table with row ids: in order up to the first row that cannot be read,
// then each id up to the largest, so that a damaged page costs the rows on it alone.
func (r *Recovery) copyByID(ctx context.Context, t recoveredTable, put func(store.Row) error) error {
	name := quoted(t.name)
	last := int64(0) // the last id that was read
	read := "SELECT " + quoted(t.columns...) + ", rowid FROM " + name

	var failed error
	visit := func(s store.Row) error {
		last, failed = s.ColumnInt64(len(t.columns)), put(s)
		return failed
	}
	err := r.Source.File.Query(read+" NOT INDEXED ORDER BY rowid", nil, visit)
	if failed != nil || !sqlite.IsDamage(err) {
		return err
	}

	// Lost memories are counted by their ids. Of other tables it is not known how many rows are lost.
	if t.name != "memories" {
		r.Report.Torn = append(r.Report.Torn, t.name)
	}

	// Both queries may fail on a damaged page. The larger answer counts.
	largest := last + 1

	for _, sql := range []string{"SELECT max(rowid) FROM " + name, "SELECT max(seq) FROM sqlite_sequence"} {
		n, err := r.Source.File.Number(sql)
		if err != nil && !sqlite.IsDamage(err) {
			return err
		}
		largest = max(largest, n)
	}

	for id, end := last+1, min(largest, last+maxTried); id <= end; id++ {
		err := r.Source.File.Query(read+" WHERE rowid = ?", []any{id}, visit)
		if failed != nil || err != nil && !sqlite.IsDamage(err) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}

	return nil
}

// dropPurged removes purged memories that a damaged page may have brought back.
func (r *Recovery) dropPurged(context.Context) error {
	for _, rows := range []string{
		"memories WHERE id IN (SELECT memory_id FROM purged)",
		"versions WHERE memory_id IN (SELECT memory_id FROM purged)",
		// Rows that name a lost memory would prevent storing it again.
		"origins WHERE memory_id NOT IN (SELECT id FROM memories)",
		"sightings WHERE memory_id NOT IN (SELECT id FROM memories)",
		"requests WHERE answer <> '' AND memory_id NOT IN (SELECT id FROM memories)", // the others are of purged ones
		"memory_tags WHERE memory_id NOT IN (SELECT id FROM memories)",
	} {
		if err := r.File.Exec("DELETE FROM " + rows); err != nil {
			return err
		}
	}

	return nil
}

// settleCounters sets the counters so that ids and revisions continue after the largest that was given.
func (r *Recovery) settleCounters(context.Context) error {
	given := map[string]int64{}
	err := r.Source.File.Query("SELECT name, seq FROM sqlite_sequence", nil, func(s store.Row) error {
		given[s.ColumnText(0)] = s.ColumnInt64(1)
		return nil
	})
	if err != nil && !sqlite.IsDamage(err) {
		return err
	}

	for name, seq := range given {
		err := errors.Join(
			r.File.Exec("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", seq, name),
			r.File.Exec("INSERT INTO sqlite_sequence(name, seq) SELECT name, ? FROM sqlite_schema WHERE type = 'table' "+
				"AND name = ? AND name NOT IN (SELECT name FROM sqlite_sequence)", seq, name))
		if err != nil {
			return err
		}
	}

	r.Revision, err = r.File.Number(`SELECT max((SELECT coalesce(max(value), 0) FROM counters WHERE name IN ('changes', 'full_text')), (SELECT coalesce(max(revision), 0) FROM memories),
		(SELECT coalesce(max(revision), 0) FROM purged), (SELECT coalesce(max(upto), 0) FROM models))`)

	return err
}

// setDoubtfulAside invalidates the memories that do not match their checksum, so that
// no recall returns them.
func (r *Recovery) setDoubtfulAside(context.Context) error {
	theirs, err := r.Source.File.Texts(columnsOf, "memories")
	if err != nil {
		return err
	}
	// Earlier versions have no checksums, so the rows are accepted as they are.
	if !slices.Contains(theirs, "checksum") {
		return r.UpdateChecksums()
	}
	if err := r.AddUsesToChecksums(); err != nil {
		return err
	}

	doubtful, err := r.Damaged()
	if err != nil {
		return err
	}

	for _, id := range doubtful.Memories {
		if r.Report.DoubtfulCount++; len(r.Report.Doubtful) < maxNamedIDs {
			r.Report.Doubtful = append(r.Report.Doubtful, id)
		}
		// The memory gets the checksum of its present text, so that it counts as checked once a user restores it.
		if err := errors.Join(r.AcceptStored(id), r.SetStatus(id, "invalidated", 0, store.ChangeRecovered,
			store.ReasonDoubtful)); err != nil {
			return err
		}
	}

	for _, row := range doubtful.Versions {
		if err := r.File.Exec("DELETE FROM versions WHERE rowid = ?", row); err != nil {
			return err
		}
	}

	if n := len(doubtful.Versions); n > 0 {
		r.Report.Notes = append(r.Report.Notes, fmt.Sprintf("%d past states of memories did not match their checksum "+
			"and were left out", n))
	}
	if n := len(doubtful.Sessions); n > 0 {
		r.Report.Notes = append(r.Report.Notes, fmt.Sprintf("%d episodes did not match their checksum and were kept "+
			"as they are, %s the first", n, doubtful.Sessions[0]))
	}

	return r.UpdateSessionChecksums()
}

// reactivate makes the memories active again that a lost memory had superseded.
func (r *Recovery) reactivate(context.Context) error {
	ids, err := r.File.IDs("SELECT id FROM memories WHERE status = 'superseded' AND superseded_by NOT IN (SELECT id " +
		"FROM memories)")
	if err != nil {
		return err
	}

	for _, id := range ids {
		if err := r.SetStatus(id, "active", 0, store.ChangeRecovered, store.ReasonUnmerged); err != nil {
			return err
		}
	}
	r.Report.Reactivated = int64(len(ids))

	return nil
}

// settlePayloads drops the damaged payloads of the file and links those of the folder
// to the new folder.
func (r *Recovery) settlePayloads(ctx context.Context) error {
	var damaged [][sha256.Size]byte
	err := r.File.Query("SELECT sha256, bytes, codec, data FROM payloads "+
		"WHERE data IS NOT NULL", nil, func(s store.Row) error {
		p := store.StoredPayload{Size: s.ColumnInt64(1), Codec: payload.Codec(s.ColumnText(2)),
			Inline: s.ColumnRawBlob(3)}
		copy(p.Sum[:], s.ColumnRawBlob(0))
		if _, ok := p.Bytes(); !ok {
			damaged = append(damaged, p.Sum)
		}

		return nil
	})
	if err != nil {
		return err
	}

	for _, sum := range damaged {
		if err := r.File.Exec("DELETE FROM payloads WHERE sha256 = ?", sum[:]); err != nil {
			return err
		}
	}

	outside, err := r.sums("SELECT sha256 FROM payloads WHERE data IS NULL")
	if err != nil {
		return err
	}

	for _, sum := range outside {
		if err := r.linkPayload(ctx, sum); err != nil {
			return err
		}
	}

	return nil
}

// sums returns the first column of a query's rows, which are SHA-256 sums.
func (r *Recovery) sums(sql string) (sums [][sha256.Size]byte, err error) {
	err = r.File.Query(sql, nil, func(s store.Row) error {
		var sum [sha256.Size]byte
		copy(sum[:], s.ColumnRawBlob(0))
		sums = append(sums, sum)
		return nil
	})

	return sums, err
}

// settleNameless finds the payloads that a memory names and that have no row. The
// folder may have their bytes; otherwise they are recorded as lost.
func (r *Recovery) settleNameless(ctx context.Context) error {
	sums, err := r.sums(`SELECT DISTINCT perception_data FROM memories WHERE perception_data IS NOT NULL
		AND perception_data NOT IN (SELECT sha256 FROM payloads) AND id NOT IN (SELECT memory_id FROM evictions)`)
	if err != nil {
		return err
	}

	for _, sum := range sums {
		w, err := r.From.Describe(ctx, sum)
		switch {
		case err == nil:
			if err := r.linkPayload(ctx, sum); err != nil {
				return err
			}
			err = r.File.Exec("INSERT INTO payloads(sha256, bytes, codec, created_at, stored) VALUES (?,?,?,?,?)", sum[:],
				w.Size, string(w.Codec), store.FormatTime(r.Now), w.Stored)
		case errors.Is(err, payload.ErrMissing), errors.Is(err, payload.ErrDamaged):
			r.Report.LostPayloads++
			err = r.File.Exec(`INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at)
				SELECT id, collection, coalesce(perception_type, ''), 0, ?, ? FROM memories WHERE perception_data = ?`, store.ReasonLost, store.FormatTime(r.Now), sum[:])
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// linkPayload links a payload of the damaged file's folder to the new folder.
func (r *Recovery) linkPayload(ctx context.Context, sum [sha256.Size]byte) error {
	_, err := r.From.Share(ctx, sum, payload.Raw, r.To)
	if err != nil && !errors.Is(err, payload.ErrMissing) {
		return robotmem.Errorf(robotmem.Unavailable, "", "a payload could not be linked or copied (%s): %s…; "+
			"check the disk's space", strings.ToLower(robotmem.Reason(err)), hex.EncodeToString(sum[:4]))
	}
	// Doctor reports a missing payload.
	return nil
}

// countMissing counts and names the lost memories: the ids up to the largest given one that
// belong neither to a memory nor to a purged one.
func (r *Recovery) countMissing(context.Context) error {
	const known = "(SELECT id FROM memories UNION SELECT memory_id FROM purged)"
	given, err := r.File.Number("SELECT max((SELECT coalesce(max(seq), 0) FROM sqlite_sequence " +
		"WHERE name = 'memories'), (SELECT coalesce(max(id), 0) FROM " + known + "))")
	there, terr := r.File.Number("SELECT count(*) FROM " + known)
	memories, merr := r.File.Number("SELECT count(*) FROM memories")
	missing, ierr := r.File.IDs("WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids "+
		"WHERE id < ?1) SELECT id FROM ids WHERE id <= ?1 "+
		"AND id NOT IN "+known+" LIMIT ?2", min(given, there+maxNamedIDs), maxNamedIDs)
	r.Report.Memories, r.Report.Missing, r.Report.MissingIDs = memories, given-there, missing

	return errors.Join(err, terr, merr, ierr)
}

// maxNamedIDs bounds the ids that a report names; all are counted.
const maxNamedIDs = 100

// Conclude sets Whole of a report. Lost memories are known by their ids, which are given without gaps.
func Conclude(r *admin.RecoverReport) {
	r.Whole = r.Doctor.Healthy && r.Missing == 0 && r.DoubtfulCount == 0 &&
		r.LostPayloads == 0 && r.Unreadable == 0 && len(r.Torn) == 0
	if r.DoubtfulCount > 0 {
		r.Notes = append(r.Notes, "memories whose text does not match its checksum are kept as invalidated; "+
			"see them with history, and bring one back with restore")
	}
}
