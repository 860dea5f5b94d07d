package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// Insert stores a record with its index entries and returns its id and uid.
func (tx *Tx) Insert(r *record.Record) (id int64, uid string, err error) {
	u, err := uuid.NewV7()
	if err != nil {
		return 0, "", err
	}

	// The row is a copy, because the function of a transaction may run twice.
	row := r.Row
	row.UID = u.String()
	row.CreatedAt, row.ValidFrom, row.UpdatedAt = tx.Now, tx.Now, &tx.Now
	if row.ObservedAt.IsZero() {
		row.ObservedAt = tx.Now
	}

	row.DecayRate, row.Hash = rateOf(&row), r.ContentHash()
	row.By.Tool, row.By.Who = throughTool(tx.caller), tx.caller.Who
	row.Revision = tx.NextRevision()
	args, sum := values(memoryColumns, &row)
	if id, err = tx.SQL.Insert(InsertMemory, append(args, sum.sum(r.UserTags))...); err != nil {
		return 0, "", err
	}

	return id, row.UID, tx.Index(id, r, row.Revision)
}

// rateOf returns how fast a memory decays. A document does not.
func rateOf(row *record.Row) float64 {
	if row.Type == robotmem.TypeDocument {
		return 0
	}
	return consolidate.Rate(row.Category, row.Pinned)
}

// put stores a changed row under its id.
func (tx *Tx) put(row *record.Row) error {
	row.Revision = tx.NextRevision()
	args, sum := values(memoryColumns, row)
	return tx.Exec(UpdateMemory, append(args, sum.sum(row.UserTags), row.MemoryID)...)
}

// Index writes the index entries of a memory.
func (tx *Tx) Index(id int64, r *record.Record, revision int64) error {
	if err := tx.addTags(id, r.UserTags); err != nil {
		return err
	}
	if r.Type != "fact" {
		return nil
	}
	s := r.Signature

	return tx.Exec(InsertSignature, r.GroupKey(), revision, id,
		s.Sequence, s.Terms, s.Numbers, s.Skeleton, int64(s.Sketch[0]), int64(s.Sketch[1]))
}

// Retag stores the tags that the rules infer, under a new revision so that the indexes read them.
func (tx *Tx) Retag(id int64, tags []string, revision int64) error {
	return tx.withChecksum(id, func() error {
		return tx.Exec(SetAutoTags, listOrNull(tags), revision, id)
	})
}

// addTags writes tags of the caller. The row's checksum includes them.
func (tx *Tx) addTags(id int64, tags []string) error {
	for _, tag := range tags {
		err := tx.Exec(PutUserTag, id, tag)
		if err != nil {
			return err
		}
	}

	return nil
}

// Changes returns the change counter, which grows with every change of a memory, and with every session that starts
// or ends. It is the larger one of the stored counter and the highest revision of a memory. So a learn need not store
// the counter, and writes one page less.
func (c *Conn) Changes() (n int64, err error) {
	found, err := c.One(ChangeCounter, nil, func(s Row) { n = s.ColumnInt64(0) })
	// Without the counter, in-memory indexes would count as current.
	if err == nil && !found {
		err = robotmem.Errorf(robotmem.Corrupt, "", "the change counter is missing; "+
			"stop every robotmem that uses the file, then run robotmem doctor --repair")
	}

	return n, err
}

func (c *Conn) SetChanges(n int64) error {
	return c.Exec(SetChangeCounter, n)
}

// Followed is how far EachChanged came.
type Followed struct {
	Upto   int64 // the revision of the last row, if rows are in order
	Rows   int
	Unread []int64 // memories on damaged pages
}

// Changes are the queries for what changed after a revision. The columns of each start with the id and the revision.
type Changes struct {
	All  Query // every row after a revision, in any order
	Page Query // the next rows after a revision, in order
	One  Query // the row of a memory
}

// EachChanged visits the memories that changed after a revision. If most is above 0, it visits
// so many of them at most, in the order of their last change and each once. If most is 0, it visits
// all of them in any order, some perhaps twice. It skips rows that cannot be read, so that a damaged
// page affects only the rows on it.
func (c *Conn) EachChanged(of Changes, after, most int64, visit func(Row) error) (f Followed, err error) {
	rows, ids := of.All, ChangedIDs
	page := []any{after}
	if most > 0 {
		rows, ids = of.Page, ChangedIDsPage
		page = append(page, most)
	}

	note := func(s Row) error {
		f.Rows++
		f.Upto = s.ColumnInt64(1)
		return visit(s)
	}
	f.Upto = after

	err = c.Query(rows, page, note)
	if !errors.Is(err, ErrDamagedPage) {
		return f, err
	}

	// A page is damaged. If the rows were visited in order, the search continues after the last one; otherwise it
	// starts again.
	if most > 0 {
		page = []any{f.Upto, most - int64(f.Rows)}
	} else {
		f = Followed{Upto: after}
	}

	// The ids come from the index alone, and each row is read by itself, so that only rows on the damaged page fail.
	err = c.Query(ids, page, func(s Row) error {
		id := s.ColumnInt64(0)
		err := c.Query(of.One, []any{id}, visit)
		if errors.Is(err, ErrDamagedPage) {
			f.Unread = append(f.Unread, id)
			err = nil
		}
		f.Rows++
		f.Upto = s.ColumnInt64(1)

		return err
	})

	return f, err
}

// Unindex removes the signature of a memory, which Index wrote, and its vectors. It leaves the tags.
func (tx *Tx) Unindex(id int64) error {
	row, err := tx.row(id)
	if err != nil || row == nil {
		return err
	}
	group, err := row.GroupKey()
	if err != nil {
		return err
	}

	return errors.Join(tx.unindexVectors(id), tx.Exec(DeleteSignature, group, id))
}

// loaded is a row of memories with the stored checksum and the values for the computed one.
type loaded struct {
	record.Row
	stored []byte
	sum    checksum
}

// load reads a memory with its tags; nil if there is none.
func (c *Conn) load(id int64) (l *loaded, err error) {
	_, err = c.One(MemoryByID, []any{id}, func(s Row) { l = scanMemory(s) })
	return l, err
}

func scanMemory(s Row) *loaded {
	l := &loaded{}
	l.sum = read(s, memoryColumns, &l.Row)
	l.stored, l.MemoryID = s.ColumnBlob(len(memoryColumns), nil), s.ColumnInt64(len(memoryColumns)+1)
	if tags := s.ColumnText(len(memoryColumns) + 2); tags != "" {
		l.UserTags = strings.Split(tags, "\x1f")
	}
	l.Tags = l.AllTags()
	if score := len(memoryColumns) + 3; s.ColumnType(score) != Null {
		l.EpisodeOutcome = record.OutcomeOfScore(s.ColumnFloat(score))
	}

	return l
}

// row loads a memory; nil if there is none. A row that does not match its checksum is
// returned together with an error of the kind Corrupt.
func (c *Conn) row(id int64) (*record.Row, error) {
	l, err := c.load(id)
	if err != nil || l == nil {
		return nil, err
	}
	return &l.Row, l.verify()
}

func (l *loaded) verify() error {
	if !bytes.Equal(l.sum.sum(l.UserTags), l.stored) {
		return errDamagedRow
	}
	return nil
}

// updateChecksum stores the checksum of a row after single columns or tags were changed.
func (c *Conn) updateChecksum(id int64) error {
	l, err := c.load(id)
	if err != nil || l == nil {
		return err
	}
	return c.Exec(SetChecksum, l.sum.sum(l.UserTags), id)
}

// withChecksum calls f, which changes single columns or tags of a row, and updates the
// row's checksum. It does not update the checksum of a damaged row.
func (c *Conn) withChecksum(id int64, f func() error) error {
	_, err := c.row(id)
	damaged := errors.Is(err, errDamagedRow)
	if err != nil && !damaged {
		return err
	}
	if err := f(); err != nil || damaged {
		return err
	}

	return c.updateChecksum(id)
}

// AcceptStored sets the checksum of a damaged memory to that of its stored values.
func (tx *Tx) AcceptStored(id int64) error { return tx.updateChecksum(id) }

// AsStored returns a memory without verifying its checksum; nil if there is none.
func (c *Conn) AsStored(id int64, now time.Time) (*robotmem.Memory, error) {
	l, err := c.load(id)
	if err != nil || l == nil {
		return nil, err
	}
	return shown(&l.Row, now), nil
}

// Damage lists the rows that do not match their checksum.
type Damage struct {
	Memories []int64
	Versions []int64 // rowids of past states
	Sessions []string
}

// Text describes the damage, "" if there is none.
func (d *Damage) Text() string {
	var parts []string
	if n := len(d.Memories); n > 0 {
		parts = append(parts, fmt.Sprintf("%d memories do not match their checksum, memory %d the first", n,
			d.Memories[0]))
	}
	if n := len(d.Versions); n > 0 {
		parts = append(parts, fmt.Sprintf("%d past states of memories do not match their checksum", n))
	}
	if n := len(d.Sessions); n > 0 {
		parts = append(parts, fmt.Sprintf("%d episodes do not match their checksum, %s the first", n, d.Sessions[0]))
	}

	return strings.Join(parts, "; ")
}

// Damaged verifies every memory, past state and session.
func (c *Conn) Damaged() (d Damage, err error) {
	ids, err := c.IDs(AllMemoryIDs)
	if err != nil {
		return d, err
	}

	for _, id := range ids {
		switch _, err := c.row(id); {
		case err == errDamagedRow:
			d.Memories = append(d.Memories, id)
		case err != nil:
			return d, err
		}
	}

	err = c.Query(AllVersions, nil, func(s Row) error {
		if _, _, damage := scanVersion(s); damage != nil {
			d.Versions = append(d.Versions, s.ColumnInt64(len(versionColumns)+2))
		}
		return nil
	})
	if err != nil {
		return d, err
	}

	return d, c.Query(AllSessions, nil, func(s Row) error {
		if row, damage := scanSession(s); damage != nil {
			d.Sessions = append(d.Sessions, row.SessionID)
		}
		return nil
	})
}

// Earlier versions stored the outcome of an episode as the outcome of its memories, with "session" as the source. It
// is not the outcome of the memory, so it is ignored wherever a row is read. Sites and archives may still hold it.
const inherited = "session"

// shown returns a row as a response shows it, as of now.
func shown(r *record.Row, now time.Time) *robotmem.Memory {
	m := &r.Memory
	m.Context, m.Metadata = robotmem.ParseObject(r.RawContext), robotmem.ParseObject(r.RawMetadata)
	if r.By != (robotmem.Provenance{}) {
		m.Provenance = &r.By
	}
	if m.SHA256 != "" {
		m.DataURI = dataURI(m.MemoryID)
	}

	m.Confidence = math.Round(Faded(m, m.Confidence, now)*1e6) / 1e6
	if m.OutcomeSource == inherited {
		m.Outcome, m.OutcomeSource = "", ""
	}
	m.Outcome = cmp.Or(m.Outcome, robotmem.OutcomeUnknown)

	m.Tier = r.Used.Tier()
	if m.Record = r.Used.String(); m.Record != "" {
		m.Reliability = new(math.Round(r.Used.Reliability()*1e3) / 1e3)
	}

	liftSections(m)

	return m
}

// Faded returns a confidence after decay, as of now. With as_of, now is in the past, and a later use does not count.
func Faded(m *robotmem.Memory, stored float64, now time.Time) float64 {
	useful := m.CreatedAt
	if m.LastAccessed != nil && !m.LastAccessed.After(now) {
		useful = *m.LastAccessed
	}
	return consolidate.Now(stored, m.DecayRate, now.Sub(useful))
}

// liftSections copies the known sections of the context to the top level.
func liftSections(m *robotmem.Memory) {
	m.Params = m.Context["params"]
	m.Spatial = m.Context["spatial"]
	m.Robot = m.Context["robot"]
	m.Task = m.Context["task"]
	m.Env = m.Context["env"]
}

// Memory returns one memory as of now. It fails with NotFound if there is none, with
// Corrupt if it is damaged.
func (c *Conn) Memory(id int64, now time.Time) (*robotmem.Memory, error) {
	m, err := c.Find(id, now)
	if err == nil && m == nil {
		err = c.noMemory(id)
	}
	return m, err
}

// Find returns one memory as Memory does; nil if there is none. A damaged memory is returned together with the error.
func (c *Conn) Find(id int64, now time.Time) (*robotmem.Memory, error) {
	row, err := c.row(id)
	if err != nil {
		err = robotmem.Explain(err)
	}
	if row == nil {
		return nil, err
	}

	return shown(row, now), err
}

// FindEach reads memories with one statement. Damaged ones are in damaged alone, with an error of
// the kind Corrupt; ids without a memory are in neither.
func (c *Conn) FindEach(ids []int64, now time.Time) (
	found map[int64]*robotmem.Memory, damaged map[int64]error, err error,
) {
	found = make(map[int64]*robotmem.Memory, len(ids))
	damaged = map[int64]error{}

	list, err := json.Marshal(ids)
	if err != nil || len(ids) == 0 {
		return found, damaged, err
	}

	err = c.Query(MemoriesByID, []any{string(list)}, func(s Row) error {
		l := scanMemory(s)
		if err := l.verify(); err != nil {
			damaged[l.MemoryID] = robotmem.Explain(err)
		} else {
			found[l.MemoryID] = shown(&l.Row, now)
		}

		return nil
	})
	if !errors.Is(err, ErrDamagedPage) {
		return found, damaged, err
	}

	// The statement fails as a whole if one page is damaged. Reading one memory at a time loses only those on it.
	for _, id := range ids {
		switch m, err := c.Find(id, now); {
		case errors.Is(err, robotmem.Corrupt):
			damaged[id] = err
		case err != nil:
			return nil, nil, err
		case m != nil:
			found[id] = m
		}
	}

	return found, damaged, nil
}

// FindAll reads memories in the order of ids. It skips missing and damaged memories and
// names the damaged ones in degraded.
func (c *Conn) FindAll(ids []int64, now time.Time) (memories []robotmem.Memory, degraded []string, err error) {
	memories = make([]robotmem.Memory, 0, len(ids))

	found, damaged, err := c.FindEach(ids, now)
	for _, id := range ids {
		if m := found[id]; m != nil {
			memories = append(memories, *m)
		} else if err := damaged[id]; err != nil {
			degraded = append(degraded, fmt.Sprintf("memory %d: %s", id, robotmem.Detail(err)))
		}
	}

	return memories, degraded, err
}

// One reads at most one row and reports whether there was one.
func (c *Conn) One(q Query, args []any, row func(Row)) (found bool, err error) {
	err = c.Query(q, args, func(r Row) error {
		found = true
		row(r)
		return io.EOF
	})
	return found, err
}

// Number returns the first column of the first row, 0 without a row.
func (c *Conn) Number(q Query, args ...any) (n int64, err error) {
	_, err = c.One(q, args, func(r Row) { n = r.ColumnInt64(0) })
	return n, err
}

// IDs runs a query and returns its first column.
func (c *Conn) IDs(q Query, args ...any) (ids []int64, err error) {
	err = c.Query(q, args, func(s Row) error {
		ids = append(ids, s.ColumnInt64(0))
		return nil
	})
	return ids, err
}

// Texts returns the first column of all rows.
func (c *Conn) Texts(q Query, args ...any) (out []string, err error) {
	err = c.Query(q, args, func(s Row) error {
		out = append(out, s.ColumnText(0))
		return nil
	})
	return out, err
}

func (c *Conn) noMemory(id int64) error {
	missing := robotmem.Errorf(robotmem.NotFound, "memory_id",
		"there is no memory %d; ids come from learn, recall and list", id)
	_, err := c.One(PurgedEntry, []any{id}, func(s Row) {
		missing = robotmem.Errorf(robotmem.NotFound, "memory_id", "memory %d was purged at %s%s; nothing of it is kept",
			id, ParseTime(s.ColumnText(0)).Format(time.RFC3339), s.ColumnText(1))
	})
	if err != nil {
		return err
	}

	return missing
}

// listOf returns a list as JSON.
func listOf(list []string) string {
	data, _ := robotmem.EncodeJSON(list) // texts are always JSON
	return string(data)
}

// listOrNull returns a list as JSON, as lists of texts are stored; NULL for an empty one.
func listOrNull(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return listOf(list)
}

func StoredList(s string) []string {
	var list []string
	if s == "" || json.Unmarshal([]byte(s), &list) != nil {
		return nil
	}
	return list
}

func dataURI(id int64) string { return "robotmem://perception/" + strconv.FormatInt(id, 10) + "/data" }

// Describe adds the fields of its memory to a point. found is false if there is no row
// or if it is damaged.
func (c *Conn) Describe(p *admin.PlacePoint) (found bool, err error) {
	row, err := c.row(p.MemoryID)
	if errors.Is(err, errDamagedRow) || err == nil && row == nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.Type, p.Category, p.Summary = row.Type, row.Category, row.Summary

	return true, nil
}
