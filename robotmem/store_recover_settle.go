package robotmem

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem/salvage"
)

// What is written to the history of a memory and the account of a payload.
const (
	changeRecovered = "recovered"
	reasonDoubtful  = "its text does not match its checksum after the file was damaged; look at it before it is restored"
	reasonUnmerged  = "what superseded it was lost when the file was damaged"
	reasonLost      = "lost when the file was damaged"
)

// settle brings into line what the rows that were found say of each other.
func (r *recovery) settle(ctx context.Context, from string, found *salvage.Report) error {
	if err := r.begin(); err != nil {
		return err
	}
	for _, step := range []func() error{r.dropPurged, r.settleCounters, r.setAside, r.unmerge, r.dropLoose, r.settleVectors} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := r.settlePayloads(ctx, from); err != nil {
		return err
	}
	if err := r.countMissing(); err != nil {
		return err
	}
	for i := range r.into {
		to := &r.into[i]
		if !r.tables[i].Keep || to.name == sequences {
			continue
		}
		if err := r.missing(to, &found.Tables[i]); err != nil {
			return err
		}
		if to.name == "memories" { // their texts and ids tell more
			to.Doubtful, to.Missing = r.report.DoubtfulCount, r.report.Missing
			to.Unreadable = min(to.Unreadable, to.Missing)
		}
		r.report.Tables = append(r.report.Tables, to.RecoveredTable)
	}
	if err := r.setChanges(r.revision); err != nil {
		return err
	}
	r.account(found)
	return nil
}

// dropPurged takes away again what a stray page may have brought back.
func (r *recovery) dropPurged() error {
	known, err := r.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'purged'")
	if err != nil || known == 0 {
		return err
	}
	for _, sql := range []string{
		"DELETE FROM memories WHERE id IN (SELECT memory_id FROM purged)",
		"DELETE FROM versions WHERE memory_id IN (SELECT memory_id FROM purged)",
	} {
		if err := r.exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// settleCounters lets ids and revisions go on from the largest that was given.
func (r *recovery) settleCounters() error {
	for name, seq := range r.sequences {
		if err := r.exec("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", seq, name); err != nil {
			return err
		}
		err := r.exec("INSERT INTO sqlite_sequence(name, seq) SELECT name, ? FROM sqlite_schema WHERE type = 'table' AND name = ? AND name NOT IN (SELECT name FROM sqlite_sequence)", seq, name)
		if err != nil {
			return err
		}
	}
	var err error
	r.revision, err = r.number("SELECT max((SELECT value FROM counters WHERE name = 'changes'), (SELECT coalesce(max(revision), 0) FROM memories))")
	return err
}

// setAside keeps the memories whose text cannot be trusted out of every recall.
func (r *recovery) setAside() error {
	for _, id := range slices.Sorted(maps.Keys(r.doubtful)) {
		there, err := r.number("SELECT count(*) FROM memories WHERE id = ?", id)
		if err != nil {
			return err
		}
		if there == 0 {
			continue // a newer one took its place
		}
		if r.report.DoubtfulCount++; len(r.report.Doubtful) < maxNamedIDs {
			r.report.Doubtful = append(r.report.Doubtful, id)
		}
		var sum []byte
		_, err = r.one("SELECT type, collection, context, content FROM memories WHERE id = ?", []any{id}, func(s *sqlite3.Stmt) {
			sum = contentHash(s.ColumnText(0), s.ColumnText(1), s.ColumnText(2), s.ColumnText(3))
		})
		if err != nil {
			return err
		}
		if err := r.setStatus(id, "invalidated", changeRecovered, reasonDoubtful); err != nil {
			return err
		}
		// It is what it is now; once restored it counts as checked.
		if err := r.exec("UPDATE memories SET content_hash = ? WHERE id = ?", sum, id); err != nil {
			return err
		}
	}
	return nil
}

// unmerge makes active again what a lost memory had superseded.
func (r *recovery) unmerge() error {
	var ids []int64
	err := r.query("SELECT id FROM memories WHERE status = 'superseded' AND superseded_by NOT IN (SELECT id FROM memories)", nil, func(s *sqlite3.Stmt) error {
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

// dropLoose removes what names a memory that is lost, where it would stand in the
// way of storing it again.
func (r *recovery) dropLoose() error {
	for _, table := range []string{"origins", "memory_tags"} {
		if err := r.exec("DELETE FROM " + table + " WHERE memory_id NOT IN (SELECT id FROM memories)"); err != nil {
			return err
		}
	}
	return nil
}

// settleVectors keeps the vectors of models that are known, and of the texts that
// they were made of.
func (r *recovery) settleVectors() error {
	models, err := r.models()
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for i := range models {
		name := models[i].table()
		named[name] = true
		if err := r.Exec(createVectors(name)); err != nil {
			return err
		}
		if err := r.exec("DELETE FROM " + name + " WHERE memory_id NOT IN (SELECT id FROM memories WHERE status = 'active')"); err != nil {
			return err
		}
	}
	for i := range r.tables {
		if name := r.tables[i].Name; isVectors(name) && !named[name] {
			r.tables[i].Keep = false // not to be reported
			if err := r.Exec("DROP TABLE " + name); err != nil {
				return err
			}
		}
	}
	return nil
}

// createVectors makes the table of a model's vectors, as createModel does.
func createVectors(table string) string {
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s(memory_id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, vector BLOB);
		CREATE INDEX IF NOT EXISTS idx_%[1]s_seq ON %[1]s(seq)`, table)
}

// settlePayloads checks the payloads of the file, gives the new one the others,
// and accounts for those that are lost.
func (r *recovery) settlePayloads(ctx context.Context, from string) error {
	folder := payload.Folder{Dir: from + payloadsSuffix}
	var damaged, outside []storedPayload
	err := r.query("SELECT sha256, bytes, codec, data FROM payloads", nil, func(s *sqlite3.Stmt) error {
		p := storedPayload{size: s.ColumnInt64(1), codec: payload.Codec(s.ColumnText(2))}
		copy(p.sum[:], s.ColumnRawBlob(0))
		if s.ColumnType(3) == sqlite3.NULL {
			outside = append(outside, p)
			return nil
		}
		p.inline = s.ColumnRawBlob(3)
		if _, ok := p.bytes(); !ok {
			p.inline = nil // good for this row alone
			damaged = append(damaged, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range damaged {
		if err := r.exec("DELETE FROM payloads WHERE sha256 = ?", p.sum[:]); err != nil {
			return err
		}
	}
	for _, p := range outside {
		if err := linkPayload(ctx, folder, r.e.payloads(), p.sum); err != nil {
			return err
		}
	}
	return r.namelessPayloads(ctx, folder)
}

// namelessPayloads are those that a memory names and that have no row. The folder
// may have the bytes all the same.
func (r *recovery) namelessPayloads(ctx context.Context, folder payload.Folder) error {
	var sums [][sha256.Size]byte
	err := r.query(`SELECT DISTINCT perception_data FROM memories WHERE perception_data IS NOT NULL
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
		w, err := folder.Describe(ctx, sum)
		switch {
		case err == nil:
			if err := linkPayload(ctx, folder, r.e.payloads(), sum); err != nil {
				return err
			}
			err = r.exec("INSERT INTO payloads(sha256, bytes, codec, created_at, stored) VALUES (?,?,?,?,?)", sum[:], w.Size, string(w.Codec), formatTime(r.now), w.Stored)
		case errors.Is(err, payload.ErrMissing), errors.Is(err, payload.ErrDamaged):
			r.report.LostPayloads++
			err = r.exec(`INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at)
				SELECT id, collection, coalesce(perception_type, ''), 0, ?, ? FROM memories WHERE perception_data = ?`, reasonLost, formatTime(r.now), sum[:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countMissing counts the ids up to the largest that was given which are neither
// there nor purged.
func (r *recovery) countMissing() error {
	there := "SELECT id FROM memories"
	if n, err := r.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'purged'"); err != nil {
		return err
	} else if n > 0 {
		there += " UNION SELECT memory_id FROM purged"
	}
	last := int64(0)
	err := r.query(there+" ORDER BY 1", nil, func(s *sqlite3.Stmt) error {
		r.gap(last, s.ColumnInt64(0))
		last = s.ColumnInt64(0)
		return nil
	})
	if err != nil {
		return err
	}
	r.gap(last, max(last, r.sequences["memories"])+1)
	r.report.Memories, err = r.number("SELECT count(*) FROM memories")
	return err
}

// gap counts the ids between two that are there.
func (r *recovery) gap(before, after int64) {
	r.report.Missing += max(0, after-before-1)
	for id := before + 1; id < after && len(r.report.MissingIDs) < maxNamedIDs; id++ {
		r.report.MissingIDs = append(r.report.MissingIDs, id)
	}
}

// account tells of the file as a whole.
func (r *recovery) account(found *salvage.Report) {
	info, report := r.file.Info(), r.report
	report.Pages, report.DamagedPages = int64(info.Pages), int64(found.DamagedPages)
	report.MissingPages = int64(info.MissingPages)
	report.LogFrames, report.DamagedFrames = int64(info.LogFrames), int64(info.DamagedFrames)
	if !info.HeaderWhole {
		report.Notes = append(report.Notes, "the head of the file is damaged; its page size was found by trial")
	}
	if found.FreeUnread {
		report.Notes = append(report.Notes, "the list of free pages cannot be read; something that was deleted may be among what was found")
	}
	if found.Unclaimed > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("%s hold rows that belong to no table that is known", pagesText(int64(found.Unclaimed))))
	}
	if len(r.doubtful) > 0 {
		report.Notes = append(report.Notes, "memories whose text does not match its checksum are kept as invalidated; see them with history, and bring one back with restore")
	}
}

// linkPayload gives a folder a payload of another, under the same name.
func linkPayload(ctx context.Context, from, to payload.Folder, sum [sha256.Size]byte) error {
	_, err := from.Share(ctx, sum, payload.Raw, to)
	if err != nil && !errors.Is(err, payload.ErrMissing) {
		return fail(Unavailable, "", "a payload could not be linked or copied (%s): %s…; check the disk's space", strings.ToLower(rootReason(err)), hex.EncodeToString(sum[:4]))
	}
	return nil // a missing one is named by the check-up
}
