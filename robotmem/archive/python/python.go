package python

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Options say how a memory.db of the Python robotmem is read. The zero
// value works.
type Options struct {
	// Location is the zone of times that name none; UTC if nil.
	Location *time.Location
}

// Report says what of a file was read otherwise than it stands there, or
// has no place here.
type Report struct {
	Vectors int64            `json:"vectors"`     // that the file has
	Naive   int64            `json:"naive_times"` // times without a zone
	Notes   map[string]int64 `json:"notes,omitempty"`
}

// Python is the [archive.Source] of a memory.db of the Python robotmem. Its
// memories get uids that are made of what never changes of them, so that the same
// file twice is known, and a later state of it brings what has changed.
type Python struct {
	c      *store.Conn
	folder string // to remove; "" if there is none
	shape  *shape
	zone   *time.Location
	mtime  time.Time
	report Report

	stage    int
	after    int64
	payloads []pythonBytes
}

type pythonBytes struct {
	id  int64
	sum string
	len int64
}

var _ archive.Source = (*Python)(nil)

// Open opens a memory.db to be imported. Not a byte of it changes. It fails
// with Invalid when it is none.
func Open(ctx context.Context, path string, o Options) (*Python, error) {
	p := &Python{zone: o.Location, report: Report{Notes: map[string]int64{}}}
	if p.zone == nil {
		p.zone = time.UTC
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, sqlite.Wrap("import", robotmem.Errorf(robotmem.Invalid, "file", "cannot be read (%s)", store.RootReason(err)))
	}
	p.mtime = info.ModTime()
	if p.c, p.folder, err = openPython(ctx, path); err != nil {
		return nil, sqlite.Wrap("import", errors.Join(err, p.Close()))
	}
	is, err := isPython(p.c)
	if err == nil && !is {
		err = robotmem.Errorf(robotmem.Invalid, "file", "is not a memory.db of the Python robotmem")
	}
	if err == nil {
		p.shape, err = pythonShape(p.c)
	}
	if err != nil {
		return nil, sqlite.Wrap("import", errors.Join(err, p.Close()))
	}
	for name, n := range p.shape.strange {
		p.report.Notes["no place for table "+name] = n
	}
	for name := range p.shape.columns {
		if !pythonColumns[name] {
			p.report.Notes["no place for column "+name]++
		}
	}
	return p, nil
}

// Report is what was noticed so far.
func (p *Python) Report() Report { return p.report }

// Close closes the file.
func (p *Python) Close() error {
	var err error
	if p.c != nil {
		err = p.c.Close()
	}
	if p.folder != "" {
		err = errors.Join(err, os.RemoveAll(p.folder))
	}
	return err
}

// pythonColumns are the columns of memories that are read or worked out anew.
var pythonColumns = map[string]bool{
	"id": true, "session_id": true, "collection": true, "type": true, "content": true, "human_summary": true, "context": true,
	"perception_type": true, "perception_data": true, "perception_metadata": true, "category": true, "confidence": true,
	"decay_rate": true, "status": true, "superseded_by": true, "content_hash": true, "embedding": true, "access_count": true,
	"return_count": true, "last_accessed": true, "created_at": true, "updated_at": true, "scope_files": true, "scope_entities": true,
}

// Next implements archive.Source.
func (p *Python) Next() (*archive.Entry, error) {
	if len(p.payloads) > 0 {
		next := p.payloads[0]
		p.payloads = p.payloads[1:]
		data, err := pythonPayload(p.c, p.shape, next.id)
		return &archive.Entry{Payload: &archive.Data{SHA256: next.sum, Bytes: next.len, Reader: bytes.NewReader(data)}}, err
	}
	for ; ; p.stage, p.after = p.stage+1, 0 {
		stages := []func() (*archive.Entry, error){p.manifest, p.sessions, p.lostSessions, p.memories, p.successors}
		if p.stage == len(stages) {
			return nil, io.EOF
		}
		entry, err := stages[p.stage]()
		if err != nil || entry != nil {
			return entry, err
		}
	}
}

func (p *Python) manifest() (*archive.Entry, error) {
	memories, sessions, err := pythonCounts(p.c, p.shape)
	p.stage++
	return &archive.Entry{Manifest: &archive.Manifest{Generator: "Python robotmem", Counts: archive.Counts{Memories: memories, Sessions: sessions}}}, err
}

func (p *Python) memories() (*archive.Entry, error) {
	rows, err := pythonMemories(p.c, p.shape, p.after)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	entry := &archive.Entry{}
	for _, r := range rows {
		p.after = r.number("id")
		m, err := p.memory(r)
		if err != nil {
			return nil, err
		}
		entry.Memories = append(entry.Memories, *m)
	}
	return entry, nil
}

// memory is a row as a record.
func (p *Python) memory(r row) (*archive.Memory, error) {
	m := &archive.Memory{Version: 1, Sightings: 1}
	now := store.FormatTime(p.mtime)
	m.Where = fmt.Sprintf("memory %d", r.number("id"))
	m.UID, m.Collection, m.Session = p.uid(r), cmp.Or(r.text("collection"), robotmem.DefaultCollection), sessionUID(r.text("session_id"))
	m.Type, m.Content = cmp.Or(r.text("type"), "fact"), r.text("content")
	m.Summary = cmp.Or(r.text("human_summary"), record.Summarize(m.Content))
	m.Context, m.Metadata = p.object(r.text("context"), "context"), p.object(r.text("perception_metadata"), "metadata")
	m.PerceptionType, m.Category = r.text("perception_type"), cmp.Or(r.text("category"), "code")
	m.Confidence, m.DecayRate = r.float("confidence", 0.9), r.float("decay_rate", record.DefaultDecay)
	m.Status = cmp.Or(r.text("status"), "active")
	m.ScopeFiles, m.ScopeEntities = p.list(r.text("scope_files")), p.list(r.text("scope_entities"))
	m.AccessCount, m.ReturnCount = r.number("access_count"), r.number("return_count")
	m.CreatedAt = p.at(r.text("created_at"), now)
	m.UpdatedAt = p.at(r.text("updated_at"), m.CreatedAt)
	m.LastAccessed = p.at(r.text("last_accessed"), "")
	m.ObservedAt = m.CreatedAt
	if m.ValidFrom = m.CreatedAt; m.Status != "active" {
		m.ValidFrom = m.UpdatedAt
	}
	if raw, ok := r["embedding"].([]byte); ok && len(raw) > 0 && len(raw)%4 == 0 {
		p.report.Vectors++
		m.Vector = store.DecodeVector(raw)
	}
	if err := p.addPayload(m, r); err != nil {
		return nil, err
	}
	return m, p.addTags(m, r)
}

// list reads a list as JSON, or a text as a list of one.
func (p *Python) list(text string) []string {
	if list := store.StoredList(text); list != nil || text == "" || text == "[]" {
		return list
	}
	return []string{text}
}

func (p *Python) addPayload(m *archive.Memory, r row) error {
	data, err := pythonPayload(p.c, p.shape, r.number("id"))
	if err != nil || len(data) == 0 {
		return err
	}
	sum := sha256.Sum256(data)
	m.Payload = &archive.Payload{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
	p.payloads = append(p.payloads, pythonBytes{r.number("id"), m.Payload.SHA256, m.Payload.Bytes})
	if m.MediaType == "" {
		m.MediaType, err = perception.Sniff(data, "")
	}
	return err
}

func (p *Python) addTags(m *archive.Memory, r row) error {
	tags, err := pythonTags(p.c, p.shape, r.number("id"))
	m.Tags, m.UserTags = nil, nil
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
