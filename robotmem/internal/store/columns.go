package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// A column describes one column of a table. Every statement that inserts, selects,
// archives, exports or imports whole rows uses the lists below. A new stored field needs
// a line here, a migration, and a field in the request and the response.
type column[Row, Archived any] struct {
	name string
	// field points to the value in a row.
	field func(*Row) any
	// archived points to the value in the record of an archive; nil for a column that each
	// node computes.
	archived func(*Archived) any
	kind     columnKind
}

type columnKind uint8

const (
	nullable columnKind = 1 << iota // its zero value is NULL
	unsummed                        // not part of the row's checksum
)

type (
	memoryColumn  = column[record.Row, archive.Memory]
	versionColumn = column[versionRow, archive.Version]
	sessionColumn = column[SessionRow, archive.Session]
)

// versionRow is a row of versions.
type versionRow struct {
	robotmem.Version
	Summary string
}

// SessionRow is a row of sessions.
type SessionRow struct {
	robotmem.Session // OutcomeScore and MemoryCount are computed from other tables
	Count            int64
	Summary          string // JSON, stored when the session ends
	UpdatedAt        time.Time
}

// memoryColumns are the columns of memories, without id and checksum.
var memoryColumns = []memoryColumn{
	{"uid", func(r *record.Row) any { return &r.UID }, func(m *archive.Memory) any { return &m.UID }, 0},
	{
		"session_id", func(r *record.Row) any { return &r.SessionID },
		func(m *archive.Memory) any { return &m.Session }, nullable,
	},
	{
		"collection", func(r *record.Row) any { return &r.Collection },
		func(m *archive.Memory) any { return &m.Collection }, 0,
	},
	{"type", func(r *record.Row) any { return &r.Type }, func(m *archive.Memory) any { return &m.Type }, 0},
	{"content", func(r *record.Row) any { return &r.Content }, func(m *archive.Memory) any { return &m.Content }, 0},
	{
		"human_summary", func(r *record.Row) any { return &r.Summary },
		func(m *archive.Memory) any { return &m.Summary }, 0,
	},
	{"context", func(r *record.Row) any { return &r.RawContext }, func(m *archive.Memory) any { return &m.Context }, 0},
	{
		"perception_type", func(r *record.Row) any { return &r.PerceptionType },
		func(m *archive.Memory) any { return &m.PerceptionType }, nullable,
	},
	{
		"perception_data", func(r *record.Row) any { return (*hexSum)(&r.SHA256) },
		func(m *archive.Memory) any { return &m.Payload }, nullable,
	},
	{
		"perception_metadata", func(r *record.Row) any { return &r.RawMetadata },
		func(m *archive.Memory) any { return &m.Metadata }, nullable,
	},
	{
		"media_type", func(r *record.Row) any { return &r.MediaType },
		func(m *archive.Memory) any { return &m.MediaType }, nullable,
	},
	{"category", func(r *record.Row) any { return &r.Category }, func(m *archive.Memory) any { return &m.Category }, 0},
	{
		"confidence", func(r *record.Row) any { return &r.Confidence },
		func(m *archive.Memory) any { return &m.Confidence }, 0,
	},
	{
		"decay_rate", func(r *record.Row) any { return &r.DecayRate },
		func(m *archive.Memory) any { return &m.DecayRate }, 0,
	},
	{"status", func(r *record.Row) any { return &r.Status }, func(m *archive.Memory) any { return &m.Status }, 0},
	// The archive names the other memory by its uid.
	{"superseded_by", func(r *record.Row) any { return &r.SupersededBy }, nil, nullable | unsummed},
	{"pinned", func(r *record.Row) any { return &r.Pinned }, func(m *archive.Memory) any { return &m.Pinned }, 0},
	{
		"source", func(r *record.Row) any { return &r.Source }, func(m *archive.Memory) any { return &m.Source },
		nullable,
	},
	{
		"scope_files", func(r *record.Row) any { return &r.ScopeFiles },
		func(m *archive.Memory) any { return &m.ScopeFiles }, nullable,
	},
	{
		"scope_entities", func(r *record.Row) any { return &r.ScopeEntity },
		func(m *archive.Memory) any { return &m.ScopeEntities }, nullable,
	},
	{
		"robot", func(r *record.Row) any { return &r.By.Robot }, func(m *archive.Memory) any { return &m.Extra.Robot },
		nullable,
	},
	{
		"tool", func(r *record.Row) any { return &r.By.Tool }, func(m *archive.Memory) any { return &m.Extra.Tool },
		nullable,
	},
	{
		"who", func(r *record.Row) any { return &r.By.Who }, func(m *archive.Memory) any { return &m.Extra.Who },
		nullable,
	},
	{
		"sightings", func(r *record.Row) any { return &r.Sightings },
		func(m *archive.Memory) any { return &m.Sightings }, 0,
	},
	{
		"access_count", func(r *record.Row) any { return &r.AccessCount },
		func(m *archive.Memory) any { return &m.AccessCount }, unsummed,
	},
	{
		"return_count", func(r *record.Row) any { return &r.ReturnCount },
		func(m *archive.Memory) any { return &m.ReturnCount }, unsummed,
	},
	{
		"last_accessed", func(r *record.Row) any { return &r.LastAccessed },
		func(m *archive.Memory) any { return &m.LastAccessed }, nullable,
	},
	{"version", func(r *record.Row) any { return &r.Version }, func(m *archive.Memory) any { return &m.Version }, 0},
	{
		"valid_from", func(r *record.Row) any { return &r.ValidFrom },
		func(m *archive.Memory) any { return &m.ValidFrom }, 0,
	},
	{
		"observed_at", func(r *record.Row) any { return &r.ObservedAt },
		func(m *archive.Memory) any { return &m.ObservedAt }, 0,
	},
	{
		"created_at", func(r *record.Row) any { return &r.CreatedAt },
		func(m *archive.Memory) any { return &m.CreatedAt }, 0,
	},
	{
		"updated_at", func(r *record.Row) any { return &r.UpdatedAt },
		func(m *archive.Memory) any { return &m.UpdatedAt }, 0,
	},
	{"content_hash", func(r *record.Row) any { return &r.Hash }, nil, 0},
	{"revision", func(r *record.Row) any { return &r.Revision }, nil, unsummed},
	{
		"auto_tags", func(r *record.Row) any { return &r.AutoTags }, func(m *archive.Memory) any { return &m.Tags },
		nullable,
	},
	{
		"outcome", func(r *record.Row) any { return &r.Outcome },
		func(m *archive.Memory) any { return &m.Extra.Outcome }, nullable,
	},
	{
		"outcome_source", func(r *record.Row) any { return &r.OutcomeSource },
		func(m *archive.Memory) any { return &m.Extra.OutcomeSource }, nullable,
	},
	{
		"uses", func(r *record.Row) any { return &r.Used.Uses }, func(m *archive.Memory) any { return &m.Extra.Uses },
		nullable,
	},
	{
		"successes", func(r *record.Row) any { return &r.Used.Successes },
		func(m *archive.Memory) any { return &m.Extra.Successes }, nullable,
	},
}

// versionColumns are the columns of versions, without memory_id and checksum. Values of
// columns that memories also has are copied from there.
var versionColumns = []versionColumn{
	{"content", func(v *versionRow) any { return &v.Content }, func(v *archive.Version) any { return &v.Content }, 0},
	{
		"human_summary", func(v *versionRow) any { return &v.Summary },
		func(v *archive.Version) any { return &v.Summary }, 0,
	},
	{
		"context", func(v *versionRow) any { return (*object)(&v.Context) },
		func(v *archive.Version) any { return &v.Context }, 0,
	},
	{
		"category", func(v *versionRow) any { return &v.Category }, func(v *archive.Version) any { return &v.Category },
		0,
	},
	{
		"confidence", func(v *versionRow) any { return &v.Confidence },
		func(v *archive.Version) any { return &v.Confidence }, 0,
	},
	{"status", func(v *versionRow) any { return &v.Status }, func(v *archive.Version) any { return &v.Status }, 0},
	{"superseded_by", func(v *versionRow) any { return &v.SupersededBy }, nil, nullable | unsummed},
	{
		"version", func(v *versionRow) any { return &v.Version.Version },
		func(v *archive.Version) any { return &v.Version }, 0,
	},
	{"valid_from", func(v *versionRow) any { return &v.From }, func(v *archive.Version) any { return &v.ValidFrom }, 0},
	{"valid_to", func(v *versionRow) any { return &v.To }, func(v *archive.Version) any { return &v.ValidTo }, 0},
	{"change", func(v *versionRow) any { return &v.Change }, func(v *archive.Version) any { return &v.Change }, 0},
	{
		"reason", func(v *versionRow) any { return &v.Reason }, func(v *archive.Version) any { return &v.Reason },
		nullable,
	},
}

// sessionColumns are the columns of sessions, without id and checksum.
var sessionColumns = []sessionColumn{
	{
		"external_id", func(s *SessionRow) any { return &s.SessionID },
		func(s *archive.Session) any { return &s.SessionID }, 0,
	},
	{
		"collection", func(s *SessionRow) any { return &s.Collection },
		func(s *archive.Session) any { return &s.Collection }, 0,
	},
	{
		"context", func(s *SessionRow) any { return (*object)(&s.Context) },
		func(s *archive.Session) any { return &s.Context }, 0,
	},
	{
		"session_count", func(s *SessionRow) any { return &s.Count }, func(s *archive.Session) any { return &s.Count },
		unsummed,
	},
	{"status", func(s *SessionRow) any { return &s.Status }, func(s *archive.Session) any { return &s.Status }, 0},
	{
		"client_type", func(s *SessionRow) any { return &s.ClientType },
		func(s *archive.Session) any { return &s.ClientType }, nullable,
	},
	{
		"summary", func(s *SessionRow) any { return &s.Summary }, func(s *archive.Session) any { return &s.Summary },
		nullable,
	},
	{
		"created_at", func(s *SessionRow) any { return &s.CreatedAt },
		func(s *archive.Session) any { return &s.CreatedAt }, 0,
	},
	{
		"updated_at", func(s *SessionRow) any { return &s.UpdatedAt },
		func(s *archive.Session) any { return &s.UpdatedAt }, 0,
	},
	{
		"ended_at", func(s *SessionRow) any { return &s.EndedAt }, func(s *archive.Session) any { return &s.EndedAt },
		nullable,
	},
}

// hexSum is a SHA-256, stored as bytes and shown in hex.
type hexSum string

// object is a JSON object, stored as text.
type object robotmem.Object

// bind converts a field to the value that a statement stores.
func bind(field any, kind columnKind) any {
	null := kind&nullable != 0

	switch f := field.(type) {
	case *string:
		if null && *f == "" {
			return nil
		}
		return *f
	case *int:
		return int64(*f)
	case *int64:
		if null && *f == 0 {
			return nil
		}
		return *f
	case *float64:
		if null && *f == 0 {
			return nil
		}
		return *f
	case *bool:
		if *f {
			return int64(1)
		}
		return int64(0)
	case *[]byte:
		return *f
	case *time.Time:
		return FormatTime(*f)
	case **time.Time:
		if *f == nil {
			return nil
		}
		return FormatTime(**f)
	case *[]string:
		return listOrNull(*f)
	case *object:
		if len(*f) == 0 {
			return "{}"
		}
		data, _ := robotmem.EncodeJSON(*f) // it was parsed from JSON
		return string(data)
	case *json.RawMessage:
		if len(*f) > 0 {
			return string(*f)
		}
		if null {
			return nil
		}

		return "{}"
	case *hexSum:
		return sumBytes(string(*f))
	case **archive.Payload:
		if *f == nil {
			return nil
		}
		return sumBytes((*f).SHA256)
	}

	panic(fmt.Sprintf("no column holds a %T", field))
}

// sumBytes decodes a SHA-256 in hex; nil if it is none.
func sumBytes(text string) any {
	if sum, err := hex.DecodeString(text); err == nil && len(sum) == sha256.Size {
		return sum
	}
	return nil
}

// scan reads a column into a field. A value of another type becomes the zero value, so
// that one damaged row does not fail a whole response.
func scan(s Row, i int, field any) {
	switch f := field.(type) {
	case *string:
		*f = s.ColumnText(i)
	case *int:
		*f = s.ColumnInt(i)
	case *int64:
		*f = s.ColumnInt64(i)
	case *float64:
		*f = s.ColumnFloat(i)
	case *bool:
		*f = s.ColumnBool(i)
	case *[]byte:
		*f = s.ColumnBlob(i, nil)
	case *time.Time:
		*f = ParseTime(s.ColumnText(i))
	case **time.Time:
		if text := s.ColumnText(i); text != "" {
			*f = new(ParseTime(text))
		}
	case *[]string:
		*f = StoredList(s.ColumnText(i))
	case *object:
		*f = object(robotmem.ParseObject(s.ColumnText(i)))
	case *json.RawMessage:
		*f = ArchivedObject(s.ColumnText(i))
	case *hexSum:
		*f = hexSum(hex.EncodeToString(s.ColumnRawBlob(i)))
	case **archive.Payload:
		if sum := s.ColumnRawBlob(i); len(sum) > 0 {
			*f = &archive.Payload{SHA256: hex.EncodeToString(sum)}
		}
	default:
		panic(fmt.Sprintf("no column is read into a %T", field))
	}
}

// Each memory, past state and session has a checksum, which is verified when the row is loaded: the
// first 16 bytes of a SHA-256 over the column values as SQLite stores them, each after its column's
// name. NULL columns are left out, so that a column which a later version adds does not change the
// checksum. The checksum of a memory ends with its user tags, that of a session with its outcomes.

// checksum collects the values of a row.
type checksum struct{ data []byte }

const checksumSize = 16

var checksumBuffers = sync.Pool{New: func() any { return new(make([]byte, 0, 1<<10)) }}

func newChecksum() checksum { return checksum{(*checksumBuffers.Get().(*[]byte))[:0]} }

// add adds a value as bind returns it; nil is NULL.
func (c *checksum) add(name string, value any) {
	switch v := value.(type) {
	case nil:
	case int64:
		c.addNumber(name, 'i', uint64(v))
	case float64:
		c.addNumber(name, 'f', math.Float64bits(v))
	case string:
		c.data = appendBytes(c.data, name, 't', v)
	case []byte:
		c.data = appendBytes(c.data, name, 'b', v)
	default:
		panic(fmt.Sprintf("no column holds a %T", value))
	}
}

// addColumn adds a column of the current row as it is stored.
func (c *checksum) addColumn(s Row, i int, name string) {
	switch s.ColumnType(i) {
	case Null:
	case Integer:
		c.addNumber(name, 'i', uint64(s.ColumnInt64(i)))
	case Float:
		c.addNumber(name, 'f', math.Float64bits(s.ColumnFloat(i)))
	case Text:
		c.data = appendBytes(c.data, name, 't', s.ColumnRawText(i))
	default:
		c.data = appendBytes(c.data, name, 'b', s.ColumnRawBlob(i))
	}
}

func (c *checksum) addNumber(name string, kind byte, bits uint64) {
	c.data = binary.LittleEndian.AppendUint64(append(append(c.data, name...), 0, kind), bits)
}

func appendBytes[T string | []byte](data []byte, name string, kind byte, value T) []byte {
	data = append(append(data, name...), 0, kind)
	return append(binary.AppendUvarint(data, uint64(len(value))), value...)
}

// sum returns the checksum and ends its use.
func (c *checksum) sum(tags []string) []byte {
	for _, tag := range tags {
		c.add("tag", tag)
	}
	sum := sha256.Sum256(c.data)
	// A buffer above 64 KiB is not kept, because rows of that size are rare.
	if data := c.data; cap(data) <= 1<<16 {
		checksumBuffers.Put(&data)
	}
	c.data = nil

	return sum[:checksumSize]
}

// read scans the columns of a row, from the statement's first column on, and collects
// their checksum.
func read[R, A any](s Row, columns []column[R, A], row *R) (c checksum) {
	c = newChecksum()

	for i := range columns {
		col := &columns[i]
		kind := s.ColumnType(i)
		// The field already has the zero value, which stands for NULL.
		if kind == Null {
			continue
		}
		if kind != Text {
			scan(s, i, col.field(row))
			if col.kind&unsummed == 0 {
				c.addColumn(s, i, col.name)
			}
			continue
		}

		// The text is read once, for the checksum and for the field, because most columns are texts.
		raw := s.ColumnRawText(i)
		if col.kind&unsummed == 0 {
			c.data = appendBytes(c.data, col.name, 't', raw)
		}
		if f, ok := col.field(row).(*string); ok {
			*f = string(raw)
		} else {
			scan(s, i, col.field(row))
		}
	}

	return c
}

// readArchived scans columns into the record of an archive.
func readArchived[R, A any](s Row, columns []column[R, A], to *A) (c checksum) {
	for i := range columns {
		col := &columns[i]
		if col.archived != nil {
			scan(s, i, col.archived(to))
		}
		if col.kind&unsummed == 0 {
			c.addColumn(s, i, col.name)
		}
	}

	return c
}

// values returns the values of a row in the order of the columns, with their checksum.
func values[R, A any](columns []column[R, A], row *R) ([]any, checksum) {
	return valuesBy(columns, func(col *column[R, A]) any { return bind(col.field(row), col.kind) })
}

// archivedValues is values for the record of an archive. other returns the value of a
// column that is not archived.
func archivedValues[R, A any](columns []column[R, A], record *A, other func(name string) any) ([]any, checksum) {
	return valuesBy(columns, func(col *column[R, A]) any {
		if col.archived == nil {
			return other(col.name)
		}
		return bind(col.archived(record), col.kind)
	})
}

func valuesBy[R, A any](columns []column[R, A], value func(*column[R, A]) any) (args []any, c checksum) {
	args, c = make([]any, len(columns), len(columns)+2), newChecksum()
	for i := range columns {
		args[i] = value(&columns[i])
		if columns[i].kind&unsummed == 0 {
			c.add(columns[i].name, args[i])
		}
	}

	return args, c
}

// columnNamed returns the index of a column, -1 if there is none.
func columnNamed[R, A any](columns []column[R, A], name string) int {
	return slices.IndexFunc(columns, func(c column[R, A]) bool { return c.name == name })
}

var errDamagedRow = robotmem.Errorf(robotmem.Corrupt, "", "what is stored does not match its checksum; "+
	"run robotmem doctor --deep, and bring it back from a backup")
