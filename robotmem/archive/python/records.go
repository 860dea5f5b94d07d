package python

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// row holds the values of a row by column name: nil, string, int64, float64 or []byte.
type row map[string]any

// Limits of one statement.
const (
	maxBytes    = importers.MaxSQLiteValue // of its rows
	maxDuration = 10 * time.Minute         // a file of 10 GB is read once in a tenth of it
	rowBytes    = 1 << 10                  // of a row without its texts and blobs
)

// query runs a statement. It fails with TooLarge over a limit.
func (p *Python) query(sql string, args []any, row func(store.Row) error) error {
	ctx, cancel := context.WithTimeout(p.ctx, maxDuration)
	defer cancel()
	defer p.c.SetInterrupt(p.c.SetInterrupt(ctx))

	// The file may come from anyone: a few bytes of schema can claim rows of any number and size.
	bytes := 0

	err := p.c.File.Query(sql, args, func(s store.Row) error {
		bytes += rowBytes

		for i := range s.ColumnCount() {
			if t := s.ColumnType(i); t == store.Text || t == store.Blob {
				bytes += len(s.ColumnRawBlob(i))
			}
		}
		if bytes > maxBytes {
			return robotmem.Errorf(robotmem.TooLarge, "", "") // see below
		}

		return row(s)
	})
	switch {
	case err == nil || p.ctx.Err() != nil:
		return p.ctx.Err()
	case ctx.Err() != nil:
		return robotmem.Errorf(robotmem.TooLarge, "file", "takes more than %s to read (%.80s)", maxDuration, sql)
	case robotmem.KindOf(robotmem.Wrap("", err)) == robotmem.TooLarge:
		return robotmem.Errorf(robotmem.TooLarge, "file",
			"has a row, or rows that are read at once, of more than %d bytes (%.80s)", maxBytes, sql)
	}

	return err
}

// rows reads all rows of a statement.
func (p *Python) rows(sql string, args ...any) (out []row, err error) {
	err = p.query(sql, args, func(s store.Row) error {
		values, r := make([]any, s.ColumnCount()), row{}
		if err := s.Columns(values...); err != nil {
			return err
		}

		for i, v := range values {
			r[s.ColumnName(i)] = v
		}
		out = append(out, r)

		return nil
	})

	return out, err
}

// count counts the rows of a table. It fails with Corrupt if the file cannot hold them.
func (p *Python) count(table string) (n int64, err error) {
	most := importers.MaxSQLiteRows(p.size)
	sql := "SELECT count(*) FROM (SELECT 1 FROM " + quoted(table) + " NOT INDEXED LIMIT ?)"

	err = p.query(sql, []any{most + 1}, func(s store.Row) error {
		n = s.ColumnInt64(0)
		return nil
	})
	if err == nil && n > most {
		err = robotmem.Errorf(robotmem.Corrupt, "file", "claims more rows than a file of %d bytes can hold "+
			"(table %.80s)", p.size, table)
	}

	return n, err
}

// page reads the rows of a table after the id of the last page.
func (p *Python) page(sql string) ([]row, error) {
	rows, err := p.rows(sql+" ORDER BY id LIMIT ?", p.after, pageRows)
	for _, r := range rows {
		// With other ids the next page would begin at the same row, without an end.
		if r.number("id") <= p.after {
			return nil, robotmem.Errorf(robotmem.Corrupt, "file", "has ids that are no rising whole numbers (%.80s)",
				sql)
		}
		p.after = r.number("id")
	}

	return rows, err
}

// rowsOf reads rows of a table, none if the file does not have it.
func (p *Python) rowsOf(table, sql string, args ...any) ([]row, error) {
	if !p.tables[table] {
		return nil, nil
	}
	return p.rows(sql, args...)
}

// text returns the value of a column as text, "" for NULL.
func (r row) text(name string) string {
	switch v := r[name].(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	default:
		return fmt.Sprint(v)
	}
}

func (r row) number(name string) int64 {
	n, _ := r[name].(int64)
	return n
}

// float returns the value of a column as a number, other if it is none.
func (r row) float(name string, other float64) float64 {
	switch v := r[name].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}

	return other
}

const pageRows = 200 // rows read at once

func (p *Python) manifest(e *archive.Entry) (bool, error) {
	p.stage++
	memories, err := p.count("memories")
	sessions := int64(0)
	if err == nil && p.tables["sessions"] {
		sessions, err = p.count("sessions")
	}

	e.Manifest = &archive.Manifest{
		Generator: "Python robotmem",
		Counts:    archive.Counts{Memories: memories, Sessions: sessions},
	}

	return true, err
}

// memories reads the next page of memories. Payloads and tags are read one by one, and vectors not
// at all: the file does not say which model made them.
func (p *Python) memories(e *archive.Entry) (bool, error) {
	var names []string

	for _, name := range slices.Sorted(maps.Keys(p.columns)) {
		if name != "perception_data" && name != "embedding" {
			names = append(names, quoted(name))
		}
	}

	rows, err := p.page("SELECT " + strings.Join(names, ", ") + " FROM memories WHERE id > ?")
	for _, r := range rows {
		m, err := p.memory(r)
		if err != nil {
			return false, err
		}
		e.Memories = append(e.Memories, *m)
	}

	return len(rows) > 0, err
}

func (p *Python) memory(r row) (*archive.Memory, error) {
	m := &archive.Memory{Version: 1, Sightings: 1}
	m.Where = fmt.Sprintf("memory %d", r.number("id"))
	m.UID = p.uid(r)
	m.Collection = cmp.Or(r.text("collection"), robotmem.DefaultCollection)
	m.Session = sessionUID(r.text("session_id"))
	m.Type = cmp.Or(r.text("type"), "fact")
	m.Content = r.text("content")
	m.Summary = cmp.Or(r.text("human_summary"), record.Summarize(m.Content))
	m.Context = p.object(r.text("context"), "context")
	m.Metadata = p.object(r.text("perception_metadata"), "metadata")
	m.PerceptionType = r.text("perception_type")
	m.ScopeFiles = list(r.text("scope_files"))
	m.ScopeEntities = list(r.text("scope_entities"))
	m.AccessCount = r.number("access_count")
	m.ReturnCount = r.number("return_count")

	// A file of another version may lack these columns.
	m.Category = cmp.Or(r.text("category"), "code")
	m.Confidence = r.float("confidence", 0.9)
	m.DecayRate = r.float("decay_rate", consolidate.DefaultRate)
	m.Status = cmp.Or(r.text("status"), "active")

	// The Python system does not store when a memory was observed, nor when its state began.
	m.CreatedAt = p.at(r.text("created_at"), store.FormatTime(p.mtime))
	m.UpdatedAt = p.at(r.text("updated_at"), m.CreatedAt)
	m.LastAccessed = p.at(r.text("last_accessed"), "")
	m.ObservedAt = m.CreatedAt
	if m.ValidFrom = m.CreatedAt; m.Status != "active" {
		m.ValidFrom = m.UpdatedAt
	}

	if err := p.addPayload(m, r.number("id")); err != nil {
		return nil, err
	}

	return m, p.addTags(m, r.number("id"))
}

func (p *Python) addPayload(m *archive.Memory, id int64) error {
	data, err := p.payload(id)
	if err != nil || len(data) == 0 {
		return err
	}
	sum := sha256.Sum256(data)
	m.Payload = &archive.Payload{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
	p.payloads = append(p.payloads, pendingPayload{id, *m.Payload})
	m.MediaType, err = perception.Sniff(data, "")

	return err
}

// payload returns the bytes of a memory, nil if it has none.
func (p *Python) payload(id int64) (data []byte, err error) {
	if p.columns["perception_data"] {
		sql := "SELECT perception_data FROM memories WHERE id = ?"
		err = p.query(sql, []any{id}, func(s store.Row) error { data = s.ColumnBlob(0, nil); return nil })
	}
	return data, err
}

func (p *Python) addTags(m *archive.Memory, id int64) error {
	tags, err := p.rowsOf("memory_tags", "SELECT * FROM memory_tags WHERE memory_id = ?", id)
	for _, t := range tags {
		switch tag := t.text("tag"); {
		case store.CheckNames("", tag) != nil:
			p.report.Notes["tags that are no names here"]++
		case t.text("source") == "user":
			m.UserTags = append(m.UserTags, tag)
		default:
			m.Tags = append(m.Tags, tag)
		}
	}

	return err
}

func (p *Python) sessions(e *archive.Entry) (bool, error) {
	if !p.tables["sessions"] {
		return false, nil
	}
	rows, err := p.page("SELECT * FROM sessions WHERE id > ?")
	if err == nil {
		err = p.addSessions(e, rows)
	}

	return len(rows) > 0, err
}

func (p *Python) addSessions(e *archive.Entry, rows []row) error {
	for _, r := range rows {
		s := archive.Session{}
		id := r.text("external_id")
		s.Where = "session " + id
		s.SessionID = sessionUID(id)
		s.Collection = cmp.Or(r.text("collection"), robotmem.DefaultCollection)
		s.Context = p.object(r.text("context"), "context")
		s.ClientType = r.text("client_type")
		s.Count = r.number("session_count")

		// Every state but active counts as ended.
		s.Status = "ended"
		if r.text("status") == "active" {
			s.Status = "active"
		}
		s.CreatedAt = p.at(r.text("created_at"), store.FormatTime(p.mtime))
		s.UpdatedAt = p.at(r.text("updated_at"), s.CreatedAt)
		if s.Status == "ended" {
			s.EndedAt = s.UpdatedAt
		}

		const sql = "SELECT * FROM session_outcomes WHERE session_id = ? ORDER BY id"

		outcomes, err := p.rowsOf("session_outcomes", sql, id)
		if err != nil {
			return err
		}

		for _, o := range outcomes {
			s.Outcomes = append(s.Outcomes, archive.Outcome{
				Score:     o.float("score", 0),
				CreatedAt: p.at(o.text("created_at"), s.UpdatedAt),
			})
		}

		e.Sessions = append(e.Sessions, s)
	}

	return nil
}

// lostSessions makes an ended episode of each session that memories name and no row describes.
func (p *Python) lostSessions(e *archive.Entry) (bool, error) {
	if p.after++; p.after > 1 {
		return false, nil
	}

	known := "(SELECT external_id FROM sessions)"
	if !p.tables["sessions"] {
		known = "('')"
	}

	rows, err := p.rows("SELECT session_id AS external_id, min(collection) AS collection, " +
		`min(created_at) AS created_at, max(created_at) AS updated_at, 1 AS session_count
		FROM memories WHERE session_id IS NOT NULL AND session_id <> '' AND session_id NOT IN ` + known + ` GROUP BY session_id ORDER BY session_id`)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	p.report.Notes["sessions that only memories name, made anew"] += int64(len(rows))

	return true, p.addSessions(e, rows)
}

// successors reads the references of memories to those that superseded them.
func (p *Python) successors(e *archive.Entry) (bool, error) {
	rows, err := p.page("SELECT id, superseded_by FROM memories WHERE superseded_by IS NOT NULL AND id > ?")
	e.Links = []archive.Link{}

	for _, r := range rows {
		// The uid is derived from these columns, so both rows are needed. The successor comes last.
		pair, err := p.rows("SELECT id, collection, session_id, created_at FROM memories "+
			"WHERE id IN (?1, ?2) ORDER BY id <> ?1", r.number("id"), r.number("superseded_by"))

		switch {
		case err != nil:
			return false, err
		case len(pair) == 0:
		case pair[len(pair)-1].number("id") != r.number("superseded_by"):
			p.report.Notes["superseded by a memory that is not in the file"]++
		default:
			e.Links = append(e.Links, archive.Link{Memory: p.uid(pair[0]), SupersededBy: p.uid(pair[len(pair)-1])})
		}
	}

	return len(rows) > 0, err
}

// at reads a time, which Python writes with and without a zone. It returns other if there is none.
func (p *Python) at(text, other string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return other
	}
	if t, err := time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "T", 1)); err == nil {
		return store.FormatTime(t)
	}

	// A time without a zone is one of the zone that the caller named.
	for _, layout := range []string{
		"2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04:05.999999999",
		"2006-01-02T15:04",
		"2006-01-02",
	} {
		if t, err := time.ParseInLocation(layout, text, p.zone); err == nil {
			return store.FormatTime(t)
		}
	}
	p.report.Notes["times that cannot be read"]++

	return other
}

// object reads a text that should hold a JSON object. Any other text is kept under key.
func (p *Python) object(text, key string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return nil
	}

	var o robotmem.Object
	if o.UnmarshalJSON([]byte(text)) == nil {
		return json.RawMessage(text)
	}
	p.report.Notes[key+" that is no JSON object, kept as text under "+key]++
	data, _ := robotmem.EncodeJSON(map[string]string{key: text}) // a text is always JSON

	return data
}

// list reads a list as JSON, or a text as a list of one.
func list(text string) []string {
	if list := store.StoredList(text); list != nil || text == "" || text == "[]" {
		return list
	}
	return []string{text}
}

// sessionUID returns the session's own id if that is a UUID, else one derived from it.
func sessionUID(id string) string {
	if u, err := uuid.Parse(id); err == nil && len(id) == 36 {
		return u.String()
	}
	if id == "" {
		return ""
	}

	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("robotmem session "+id)).String()
}

// uid returns a UUIDv7 derived from the fields of a memory that the Python system never changes.
func (p *Python) uid(r row) string {
	key := fmt.Appendf(nil, "robotmem memory %d %q %q %q",
		r.number("id"), r.text("collection"), r.text("session_id"), r.text("created_at"))
	sum := sha256.Sum256(key)
	u := uuid.UUID(sum[:16])

	// The layout of RFC 9562: 48 bits of Unix milliseconds, then version and variant.
	ms := store.ParseTime(p.at(r.text("created_at"), store.FormatTime(p.mtime))).UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6], u[8] = 0x70|u[6]&0x0f, 0x80|u[8]&0x3f

	return u.String()
}
