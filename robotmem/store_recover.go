package robotmem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem/salvage"
)

// recovery writes the rows of a damaged file to a new one.
type recovery struct {
	*writeTx // of the new file, not in a transaction between two commits
	e        *Engine
	file     *salvage.File
	tables   []salvage.Table
	into     []target
	report   *RecoverReport

	written   int              // rows since the last commit
	verified  int64            // memories whose text matches its checksum
	doubtful  map[int64]bool   // memories whose text does not
	sequences map[string]int64 // largest id that each table has given
}

// target is where the rows of a table go.
type target struct {
	name    string
	columns []string // of the damaged file; "" where the new one has none
	whole   *salvage.Table
	RecoveredTable
}

// rowsPerCommit bounds what a commit takes in memory and in the log.
const rowsPerCommit = 4096

func newRecovery(ctx context.Context, e *Engine, f *salvage.File, id *identity) (*recovery, error) {
	c, err := openWriter(ctx, e.options.Disk, e.path, e.connOptions(writerCacheKiB))
	if err != nil {
		return nil, err
	}
	r := &recovery{
		writeTx: &writeTx{conn: c, now: e.now()}, e: e, file: f, tables: id.tables, doubtful: map[int64]bool{}, sequences: map[string]int64{},
		report: &RecoverReport{File: e.path, MissingIDs: []int64{}, Doubtful: []int64{}, Tables: []RecoveredTable{}, Notes: []string{}},
	}
	if err := r.prepare(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return r, nil
}

func (r *recovery) close() error { return r.conn.close() }

// prepare makes the tables of vectors and finds where each table's columns go.
func (r *recovery) prepare() error {
	for i := range r.tables {
		if t := &r.tables[i]; isVectors(t.Name) {
			if err := r.Exec(createVectors(t.Name)); err != nil {
				return err
			}
		}
	}
	now, err := r.layout()
	if err != nil {
		return err
	}
	names, err := r.counterNames()
	if err != nil {
		return err
	}
	r.into = make([]target, len(r.tables))
	for i := range r.tables {
		t := &r.tables[i]
		to := &r.into[i]
		*to = target{name: t.Name, columns: make([]string, len(t.Columns)), whole: t, RecoveredTable: RecoveredTable{Name: t.Name}}
		at := slices.IndexFunc(now.tables, func(n salvage.Table) bool { return n.Name == t.Name })
		for j, c := range t.Columns {
			if at >= 0 && slices.ContainsFunc(now.tables[at].Columns, func(n salvage.Column) bool { return n.Name == c.Name }) {
				to.columns[j] = c.Name
			}
		}
		if t.Keep && t.Name != sequences && at < 0 {
			t.Keep = false // dropped since
		}
		t.Fits = fitsOf(t.Name, names)
	}
	return nil
}

func (c *conn) counterNames() (names []string, err error) {
	err = c.query("SELECT name FROM counters", nil, func(s *sqlite3.Stmt) error {
		names = append(names, s.ColumnText(0))
		return nil
	})
	return names, err
}

var uuidShape = regexp.MustCompile(patterns["uuid"])

// fitsOf says what rows of a table look like beyond their types, for those that
// others, or pages of an index, could be taken for.
func fitsOf(table string, counters []string) func([]any) bool {
	isUUID := func(v any) bool { s, _ := v.(string); return uuidShape.MatchString(s) }
	oneOf := func(v any, of ...string) bool { s, _ := v.(string); return slices.Contains(of, s) }
	switch table {
	case "memories":
		return func(v []any) bool { return isUUID(v[1]) && oneOf(v[4], "fact", "perception") }
	case "counters":
		return func(v []any) bool { return oneOf(v[0], counters...) }
	case "session_recalls":
		return func(v []any) bool { return isUUID(v[0]) && (v[2] == int64(0) || v[2] == int64(1)) }
	case "memory_tags":
		return func(v []any) bool { return oneOf(v[2], "auto", "user") }
	case "session_origins":
		return func(v []any) bool { return isUUID(v[2]) }
	case "recall_hours":
		return func(v []any) bool { s, _ := v[0].(string); return !parseTime(s).IsZero() }
	}
	return nil
}

// run reads the damaged file and writes all that it holds.
func (r *recovery) run(ctx context.Context, from string) error {
	r.SetInterrupt(ctx)
	defer r.SetInterrupt(context.Background())
	m := meterOf(ctx)
	m.stage("reading the damaged file", "pages", int64(r.file.Info().Pages))
	plan := salvage.Plan{Tables: r.tables}
	if m != nil {
		plan.Progress = func(done, total int64) {
			m.set(Progress{Done: done, Total: total, Unit: "pages", Stage: "reading the damaged file"})
		}
	}
	found, err := r.file.Rows(ctx, plan, r.take)
	if err != nil {
		return r.undo(err)
	}
	if err := r.settle(ctx, from, found); err != nil {
		return r.undo(err)
	}
	return r.commit()
}

func (r *recovery) undo(err error) error {
	if !r.GetAutocommit() {
		err = errors.Join(err, r.Exec("ROLLBACK"))
	}
	return err
}

func (r *recovery) commit() error {
	r.written = 0
	if r.GetAutocommit() {
		return nil
	}
	return r.Exec("COMMIT")
}

func (r *recovery) begin() error {
	if r.written++; r.written > rowsPerCommit {
		if err := r.commit(); err != nil {
			return err
		}
	}
	if r.GetAutocommit() {
		return r.Exec("BEGIN IMMEDIATE")
	}
	return nil
}

// take writes one row, if the new file can have it.
func (r *recovery) take(row salvage.Row) error {
	to := &r.into[row.Table]
	v := fields{to.whole.Columns, row.Values}
	switch to.name {
	case sequences:
		name, n := v.text("name"), v.integer("seq")
		r.sequences[name] = max(r.sequences[name], n)
		return nil
	case "memory_tags":
		if v.text("source") != "user" {
			return nil // made anew
		}
	}
	to.Found++
	if err := r.begin(); err != nil {
		return err
	}
	odd := row.Doubtful
	// What the row's checksum is compared with is what stood in the file.
	sum := contentHash(v.text("type"), v.text("collection"), v.text("context"), v.text("content"))
	odd = mended(to.whole.Columns, row.Values) || odd
	stored, _ := v.at("content_hash").([]byte)
	sound := bytes.Equal(sum, stored)
	form := onlyForm
	if row.Stray { // only then there may be another form of it
		var err error
		if form, err = r.choose(to, &row, v, sound); err != nil || form == worseForm {
			return err
		}
	}
	kept, err := r.insert(to, &row, form, form == onlyForm || to.name == "memories")
	if err == nil && !kept && to.name == "payloads" { // another has got its number
		kept, err = r.insert(to, &row, form, false)
	}
	if err != nil || !kept {
		return err
	}
	if form == betterForm {
		to.Kept--
		if to.name == "memories" && !r.doubtful[row.Key] {
			r.verified--
		}
	}
	to.Kept++
	switch {
	case to.name == "payloads": // all are compared with their sums in the end
	case to.name != "memories":
		if odd {
			to.Doubtful++
		}
	case sound: // whatever its page is like
		r.verified++
		delete(r.doubtful, row.Key)
	default:
		r.doubtful[row.Key] = true
	}
	return nil
}

// objects are the columns that hold JSON, with what stands for one that is none.
var objects = map[string]any{"context": "{}", "perception_metadata": nil, "scope_files": nil, "scope_entities": nil}

// mended makes values fit to be answered with, in place: text that is UTF-8, and
// JSON that is whole. It reports whether one was not.
func mended(columns []salvage.Column, values []any) (odd bool) {
	for i, value := range values {
		s, ok := value.(string)
		if !ok {
			continue
		}
		if !utf8.ValidString(s) {
			values[i], odd = strings.ToValidUTF8(s, "\uFFFD"), true
		}
		if instead, is := objects[columns[i].Name]; is && !json.Valid([]byte(s)) {
			values[i], odd = instead, true
		}
	}
	return odd
}

// form is what a row is to one that was found before.
type form int

const (
	onlyForm   form = iota // there is none, or nothing tells them apart: the first stays
	betterForm             // it takes its place
	worseForm              // it is not written
)

// choose decides between two forms of a memory or of a payload. One that matches
// its checksum goes before one that does not, then the later one. What was not
// active later is not brought back by an earlier form.
func (r *recovery) choose(to *target, row *salvage.Row, v fields, sound bool) (form, error) {
	switch to.name {
	case "memories":
		var revision int64
		var uid, status string
		there, err := r.one("SELECT revision, uid, status FROM memories WHERE id = ?", []any{row.Key}, func(s *sqlite3.Stmt) {
			revision, uid, status = s.ColumnInt64(0), s.ColumnText(1), s.ColumnText(2)
		})
		if err != nil || !there {
			return onlyForm, err
		}
		wasSound := !r.doubtful[row.Key]
		later := v.integer("revision") > revision
		switch {
		case uid != v.text("uid"), !later && status != v.text("status"), wasSound && !sound, wasSound == sound && !later:
			return worseForm, nil
		}
		return betterForm, nil
	case "payloads":
		p := storedPayload{size: v.integer("bytes"), codec: payload.Codec(v.text("codec"))}
		p.inline, _ = v.at("data").([]byte)
		sum, _ := v.at("sha256").([]byte)
		if copy(p.sum[:], sum); p.inline == nil {
			return onlyForm, nil
		}
		if _, sound := p.bytes(); !sound {
			return onlyForm, nil
		}
		f := onlyForm
		_, err := r.one("SELECT data IS ? FROM payloads WHERE sha256 = ?", []any{p.inline, sum}, func(s *sqlite3.Stmt) {
			if f = betterForm; s.ColumnBool(0) {
				f = worseForm // the same
			}
		})
		return f, err
	}
	return onlyForm, nil
}

// insert writes a row under the names of its columns. Where the same is there
// already and not worse, or the schema forbids it, nothing is written. A table
// without an id of its own keeps the order of its rows, if they are numbered.
func (r *recovery) insert(to *target, row *salvage.Row, f form, numbered bool) (bool, error) {
	var names []string
	var args []any
	key := false
	for i, value := range row.Values {
		key = key || to.whole.Columns[i].Key
		if to.columns[i] != "" {
			names, args = append(names, `"`+to.columns[i]+`"`), append(args, value)
		}
	}
	if numbered && !to.whole.WithoutRowid && !key {
		names, args = append(names, "rowid"), append(args, row.Key)
	}
	conflict, otherwise := "OR IGNORE", ""
	if f == betterForm {
		conflict = "OR REPLACE"
	}
	if to.name == "counters" { // a new file has them all, at 0
		conflict, otherwise = "", " ON CONFLICT(name) DO UPDATE SET value = max(value, excluded.value)"
	}
	before := r.TotalChanges()
	err := r.exec(fmt.Sprintf(`INSERT %s INTO "%s"(%s) VALUES (%s)%s`, conflict, to.name, strings.Join(names, ", "), strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", "), otherwise), args...)
	if errors.Is(err, sqlite3.CONSTRAINT) || errors.Is(err, sqlite3.MISMATCH) {
		return false, nil
	}
	return err == nil && r.TotalChanges() > before, err
}

// fields are the values of a row by the names of their columns.
type fields struct {
	columns []salvage.Column
	values  []any
}

func (f fields) at(name string) any {
	for i := range f.values {
		if f.columns[i].Name == name {
			return f.values[i]
		}
	}
	return nil
}

func (f fields) text(name string) string   { s, _ := f.at(name).(string); return s }
func (f fields) integer(name string) int64 { n, _ := f.at(name).(int64); return n }

// contentHash is what a memory of this text and context is stored with.
func contentHash(kind, collection, storedContext, content string) []byte {
	if !json.Valid([]byte(storedContext)) {
		return nil
	}
	context := decodeObject(storedContext)
	rec := record{kind: kind, collection: collection, content: content, canonical: storedContext}
	if !isCanonical(map[string]any(context)) {
		data, err := EncodeJSON(canonical(map[string]any(context)))
		if err != nil {
			return nil
		}
		rec.canonical = string(data)
	}
	return rec.hash()
}

// changedTexts counts the memories whose text or context is not what they were
// stored with, and names some.
func (c *conn) changedTexts() (n int64, some []int64, err error) {
	err = c.query("SELECT id, type, collection, context, content, content_hash FROM memories", nil, func(s *sqlite3.Stmt) error {
		if !bytes.Equal(s.ColumnRawBlob(5), contentHash(s.ColumnText(1), s.ColumnText(2), s.ColumnText(3), s.ColumnText(4))) {
			if n++; len(some) < maxNamedIDs {
				some = append(some, s.ColumnInt64(0))
			}
		}
		return nil
	})
	return n, some, err
}

// missing says how much of a table's trees could not be followed: the keys of its
// holes that are not there. Of a table without numbers, or at its end, that is
// not known.
func (r *recovery) missing(to *target, found *salvage.TableReport) error {
	to.Unreadable = found.Unreadable
	if to.whole.WithoutRowid {
		to.Torn = len(found.Holes) > 0
		return nil
	}
	for _, hole := range found.Holes {
		from, end := max(hole.Above, 0), hole.UpTo
		if seq, ok := r.sequences[to.name]; ok {
			end = min(end, max(seq, from))
		}
		if end == salvage.LastKey {
			to.Torn = true
			continue
		}
		there, err := r.number(fmt.Sprintf(`SELECT count(*) FROM "%s" WHERE rowid > ? AND rowid <= ?`, to.name), from, end)
		if err != nil {
			return err
		}
		to.Missing += end - from - there
	}
	// A cell that cannot be read lies in a hole, and is counted there.
	if !to.Torn {
		to.Unreadable = min(to.Unreadable, to.Missing)
	}
	return nil
}
