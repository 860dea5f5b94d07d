package engine

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// checkRecord checks a memory and computes its index entries. It normalizes m.
func (n *Engine) checkRecord(m *archive.Memory) (*store.ImportRecord, error) {
	if err := checkArchived(m); err != nil {
		return nil, err
	}

	context, err := normalizeArchived("context", &m.Context, robotmem.MaxContext)
	if err != nil {
		return nil, err
	}
	if _, err = normalizeArchived("metadata", &m.Metadata, record.MaxMetadata); err != nil {
		return nil, err
	}

	m.Summary = cmp.Or(m.Summary, record.Summarize(m.Content))
	rec, err := n.records.RecordOf(&robotmem.Memory{
		Type: m.Type, Content: m.Content, Summary: m.Summary, Context: context, Collection: m.Collection,
		SessionID: m.Session, Pinned: m.Pinned, UserTags: m.UserTags,
	})
	if err != nil {
		return nil, err
	}

	// The tags of the archive stay. The rules of this node might derive others.
	rec.AutoTags = m.Tags

	return &store.ImportRecord{Memory: m, Rec: rec}, nil
}

// normalizeArchived checks an object and brings it to the form of an export.
func normalizeArchived(field string, archived *json.RawMessage, limit int) (o robotmem.Object, err error) {
	if len(*archived) > 0 {
		if err := o.UnmarshalJSON(*archived); err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, field, "%v", err)
		}
	}
	o, raw, err := o.Normalize(field, limit)
	*archived = store.ArchivedObject(raw)

	return o, err
}

func checkArchived(m *archive.Memory) error {
	if err := robotmem.Validate("", m); err != nil {
		return err
	}
	if strings.TrimSpace(m.Content) == "" {
		return robotmem.Errorf(robotmem.Invalid, "content", "is empty")
	}

	m.Tags, m.UserTags = record.Distinct(m.Tags), record.Distinct(m.UserTags)
	times := []*string{&m.ValidFrom, &m.ObservedAt, &m.CreatedAt, &m.UpdatedAt}
	if m.LastAccessed != "" {
		times = append(times, &m.LastAccessed)
	}

	for i := range m.Versions {
		v := &m.Versions[i]
		if _, err := normalizeArchived("versions", &v.Context, robotmem.MaxContext); err != nil {
			return err
		}
		times = append(times, &v.ValidFrom, &v.ValidTo)
	}

	for i := range m.Evictions {
		times = append(times, &m.Evictions[i].EvictedAt)
	}

	return storedTimes(times...)
}

// storedTimes converts times to the stored format.
func storedTimes(times ...*string) error {
	for _, t := range times {
		at, err := time.Parse(time.RFC3339Nano, *t)
		if err != nil {
			return robotmem.Errorf(robotmem.Invalid, "times", "%q is not a time as RFC 3339 writes it",
				robotmem.Clip(*t, 40))
		}
		if err := robotmem.Validate("", &struct {
			At time.Time `json:"times" validate:"instant"`
		}{at}); err != nil {
			return err
		}

		// An archive may come from another program, so times are stored in the one form that sorts as text.
		*t = store.FormatTime(at)
	}

	return nil
}

// checkSession checks a session and normalizes it.
func checkSession(s *archive.Session) error {
	if err := robotmem.Validate("", s); err != nil {
		return err
	}

	times := []*string{&s.CreatedAt, &s.UpdatedAt}
	if s.EndedAt != "" {
		times = append(times, &s.EndedAt)
	}

	for i := range s.Outcomes {
		times = append(times, &s.Outcomes[i].CreatedAt)
	}

	for i := range s.Streams {
		times = append(times, &s.Streams[i].UpdatedAt)
	}

	for _, part := range []*json.RawMessage{&s.Context, &s.Summary} {
		if _, err := normalizeArchived("context", part, maxSessionContext); err != nil {
			return err
		}
	}

	return storedTimes(times...)
}
