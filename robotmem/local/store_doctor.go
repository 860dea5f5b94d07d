package local

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// tally counts what the roster knows.
func (r *roster) tally(res *robotmem.StatsResponse, now time.Time) {
	collections := map[uint32]bool{}
	dayAgo := now.Add(-24 * time.Hour).UnixNano()
	r.each(func(row *rosterRow, text func(uint32) string) {
		collections[row.collection] = true
		if row.created >= dayAgo {
			res.LastDay++
		}
		switch row.status {
		case statusSuperseded:
			res.ByStatus["superseded"]++
			return
		case statusInvalidated:
			res.ByStatus["invalidated"]++
			return
		}
		res.ByStatus["active"]++
		res.Total++
		if row.kind == 1 {
			res.ByType["fact"]++
		} else {
			res.ByType["perception"]++
		}
		res.ByCategory[text(row.category)]++
	})
	res.Collections = int64(len(collections))
}

// stats counts what only the file knows.
func (c *conn) stats(res *robotmem.StatsResponse) error {
	for _, q := range []struct {
		to  *int64
		sql string
	}{
		{&res.Sessions, "SELECT count(*) FROM sessions"},
		{&res.PayloadBytes, "SELECT coalesce(sum(bytes), 0) FROM payloads"},
		{&res.StoredBytes, "SELECT coalesce(sum(" + payloadBytes + "), 0) FROM payloads"},
		{&res.Evicted, "SELECT count(*) FROM evictions"},
		{&res.EvictedBytes, "SELECT coalesce(sum(bytes), 0) FROM evictions"},
		{&res.DBBytes, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"},
	} {
		n, err := c.Number(q.sql)
		if err != nil {
			return err
		}
		*q.to = n
	}
	version, err := c.Number("PRAGMA user_version")
	if err != nil {
		return err
	}
	res.SchemaVersion = int(version)
	if res.Streams, err = c.streams(""); err != nil {
		return err
	}
	return c.Query("SELECT name, value FROM counters WHERE name IN ('recalls', 'zero_hits')", nil, func(s *sqlite3.Stmt) error {
		if s.ColumnText(0) == "recalls" {
			res.Recalls += s.ColumnInt64(1)
		} else {
			res.ZeroHits += s.ColumnInt64(1)
		}
		return nil
	})
}

// integrity returns what SQLite finds wrong with the file, "" if nothing. A deep
// check compares SQLite's own indexes with their tables, too.
func (c *conn) integrity(deep bool) (string, error) {
	// FTS5 refreshes what a connection remembers of its structure when a query
	// begins, not when it is checked, and then takes another connection's
	// merge for damage.
	if _, err := c.Number("SELECT rowid FROM memories_fts LIMIT 1"); err != nil {
		return "", err
	}
	check := "PRAGMA quick_check(10)"
	if deep {
		check = "PRAGMA integrity_check(10)"
	}
	var lines []string
	err := c.Query(check, nil, func(s *sqlite3.Stmt) error {
		if line := s.ColumnText(0); line != "ok" {
			lines = append(lines, line)
		}
		return nil
	})
	return text.Clip(strings.Join(lines, "; "), 500), err
}

// pageDamage is what integrity finds wrong with pages, "" if nothing. What a
// full-text index holds is made anew by Repair.
func (c *conn) pageDamage() (string, error) {
	var lines []string
	err := c.Query("PRAGMA quick_check(100)", nil, func(s *sqlite3.Stmt) error {
		if line := s.ColumnText(0); line != "ok" && !strings.Contains(line, "FTS5") {
			lines = append(lines, line)
		}
		return nil
	})
	return text.Clip(strings.Join(lines, "; "), 500), err
}

const repairRemedy = "run: robotmem doctor --repair"

// indexCheck compares one index with the tables: both queries return counts
// that must be zero.
type indexCheck struct {
	name           string
	missing, extra string
}

// indexChecks are cheap enough to run beside a working robot: each is one walk
// over ids.
var indexChecks = []indexCheck{
	{"full-text index",
		"SELECT count(*) FROM memories WHERE status = 'active' AND id NOT IN (SELECT id FROM memories_fts_docsize)",
		"SELECT count(*) FROM memories_fts_docsize WHERE id NOT IN (SELECT id FROM memories WHERE status = 'active')"},
	{"attributes",
		"SELECT count(*) FROM memories WHERE context <> '{}' AND id NOT IN (SELECT memory_id FROM attributes)",
		"SELECT count(*) FROM attributes WHERE memory_id NOT IN (SELECT id FROM memories)"},
	{"points",
		"SELECT 0",
		"SELECT count(*) FROM points WHERE memory_id NOT IN (SELECT id FROM memories)"},
	{"duplicate signatures",
		"SELECT count(*) FROM memories WHERE type = 'fact' AND id NOT IN (SELECT memory_id FROM signatures)",
		"SELECT count(*) FROM signatures WHERE memory_id NOT IN (SELECT id FROM memories)"},
	{"tags",
		"SELECT 0",
		"SELECT count(*) FROM memory_tags WHERE memory_id NOT IN (SELECT id FROM memories)"},
}

func (ic indexCheck) run(c *conn, d *robotmem.DoctorResponse) error {
	missing, err := c.Number(ic.missing)
	if err != nil {
		return err
	}
	extra, err := c.Number(ic.extra)
	if err != nil {
		return err
	}
	if missing+extra == 0 {
		addCheck(d, ic.name, checkOK, "in step with the tables", "")
		return nil
	}
	addCheck(d, ic.name, checkFail, fmt.Sprintf("%d memories are missing from it, %d entries belong to none", missing, extra), repairRemedy)
	return nil
}

// rebuild makes every index anew from the tables.
func (mt *maintainer) rebuild(tx *writeTx, m *robotmem.Meter) ([]string, error) {
	if m != nil {
		all, err := tx.Number("SELECT count(*) FROM memories")
		if err != nil {
			return nil, err
		}
		m.Stage("rebuilding the indexes", "memories", all)
	}
	if err := tx.emptyIndexes(); err != nil {
		return nil, err
	}
	if err := tx.Exec("DELETE FROM memory_tags WHERE source = 'auto' OR memory_id NOT IN (SELECT id FROM memories)"); err != nil {
		return nil, err
	}
	const chunk = 1000
	for after := int64(0); ; {
		memories, err := tx.page(" FROM memories m WHERE m.id > ? ORDER BY m.id LIMIT ?", []any{after, chunk}, tx.now)
		if err != nil {
			return nil, err
		}
		for i := range memories {
			if err := mt.reindex(tx, &memories[i]); err != nil {
				return nil, err
			}
			after = memories[i].MemoryID
		}
		m.Add(int64(len(memories)))
		if err := tx.flush(); err != nil {
			return nil, err
		}
		if len(memories) < chunk {
			break
		}
	}
	mt.store.groups.reset()
	if err := tx.dropDamagedVectors(); err != nil {
		return nil, err
	}
	if err := tx.dropSnapshots(); err != nil {
		return nil, err
	}
	repaired := []string{"full-text index", "attributes", "points", "duplicate signatures", "tags", "likeness", "indexes in memory"}
	removed, err := mt.sweepFolder(tx)
	if removed > 0 {
		repaired = append(repaired, fmt.Sprintf("%d files of the payload folder that belonged to no memory", removed))
	}
	if errors.Is(err, robotmem.Unavailable) {
		// The indexes are mended all the same; the check that follows names what stays.
		mt.log.Warn("the folder of payloads is left as it is", "err", err)
		err = nil
	}
	return repaired, err
}

// emptyIndexes clears what rebuild fills. The full-text index is made anew: one
// that is damaged cannot be emptied.
func (tx *writeTx) emptyIndexes() error {
	clear(tx.store.paths)
	create, err := createFTS()
	if err != nil {
		return err
	}
	for _, sql := range []string{"DROP TABLE IF EXISTS memories_fts", create, "DELETE FROM attributes", "DELETE FROM points", "DELETE FROM signatures"} {
		if err := tx.Exec(sql); err != nil {
			return err
		}
	}
	return tx.dropFeatures()
}

func (mt *maintainer) reindex(tx *writeTx, m *robotmem.Memory) error {
	rec, err := mt.records.recordOf(m)
	if err != nil {
		return err
	}
	revision := tx.nextRevision()
	if err := tx.Exec("UPDATE memories SET revision = ? WHERE id = ?", revision, m.MemoryID); err != nil {
		return err
	}
	if err := tx.index(m.MemoryID, rec, revision); err != nil {
		return err
	}
	if m.Status != "active" {
		return tx.unindexText(m.MemoryID)
	}
	return nil
}

// sampleSize is how many memories have their index entries worked out anew and
// compared one by one.
const sampleSize = 500

// examineSample compares what the indexes hold of some memories, spread over
// the file, with what they should hold.
func (mt *maintainer) examineSample(c *conn, d *robotmem.DoctorResponse) error {
	last, err := c.Number("SELECT coalesce(max(id), 0) FROM memories")
	if err != nil {
		return err
	}
	memories, err := c.page(" FROM memories m WHERE m.status = 'active' AND m.id % ? = 0 ORDER BY m.id LIMIT ?", []any{max(1, last/sampleSize), sampleSize}, mt.store.now())
	if err != nil {
		return err
	}
	wrong := 0
	for i := range memories {
		same, err := mt.sameIndexes(c, &memories[i])
		if err != nil {
			return err
		}
		if !same {
			wrong++
		}
	}
	if wrong > 0 {
		addCheck(d, "index contents", checkFail, fmt.Sprintf("of %d memories looked at, %d are indexed wrongly", len(memories), wrong), repairRemedy)
		return nil
	}
	addCheck(d, "index contents", checkOK, fmt.Sprintf("%d memories looked at, all as they should be", len(memories)), "")
	return nil
}

// sameIndexes compares one memory with its words, attributes, points, signature
// and features. Tags may come from other rules than those of today.
func (mt *maintainer) sameIndexes(c *conn, m *robotmem.Memory) (bool, error) {
	rec, err := mt.records.recordOf(m)
	if err != nil {
		return false, err
	}
	words, err := c.Number("SELECT count(*) FROM memories_fts WHERE rowid = ? AND content = ? AND human_summary = ?", m.MemoryID, rec.ftsContent, rec.ftsSummary)
	if err != nil || words != 1 {
		return false, err
	}
	for _, a := range rec.attrs {
		n, err := c.Number("SELECT count(*) FROM attributes WHERE path_id = (SELECT id FROM paths WHERE path = ?) AND value = ? AND memory_id = ?", a.Path, a.Value, m.MemoryID)
		if err != nil || n != 1 {
			return false, err
		}
	}
	if m.Type == "fact" {
		sig := rec.signature
		n, err := c.Number("SELECT count(*) FROM signatures WHERE group_key = ? AND memory_id = ? AND numbers = ? AND skeleton = ? AND sketch_a = ? AND sketch_b = ?",
			rec.groupKey(), m.MemoryID, sig.numbers, sig.skeleton, int64(sig.sketch[0]), int64(sig.sketch[1]))
		if err != nil || n != 1 {
			return false, err
		}
	}
	points, err := c.Number("SELECT count(*) FROM points WHERE memory_id = ?", m.MemoryID)
	if err != nil || points != int64(len(rec.places)) || m.SHA256 == "" {
		return err == nil && points == int64(len(rec.places)), err
	}
	// What waits for its features is counted, not wrong.
	if current, err := c.featuresAreCurrent(); err != nil || !current {
		return err == nil, err
	}
	f, err := c.features(m.MemoryID)
	if err != nil || f == nil {
		return err == nil, err
	}
	if gone, err := c.evicted(m.MemoryID); err != nil || gone && f.kind == "" {
		return err == nil, err // its bytes are back, by another perception
	}
	item, err := mt.store.item(c, m)
	if lost := (*robotmem.Error)(nil); errors.As(err, &lost) {
		return true, nil // its own check names it
	}
	if err != nil {
		return false, err
	}
	should := featuresOf(item)
	return f.kind == should.kind && slices.Equal(f.vector, should.vector), nil
}
