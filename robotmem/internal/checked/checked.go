// Package checked checks the records of archives and of other memories: another program may have made them.
package checked

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Object checks an object and brings it to the form of an export.
func Object(field string, archived *json.RawMessage, limit int) (o robotmem.Object, err error) {
	if len(*archived) > 0 {
		if err := o.UnmarshalJSON(*archived); err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, field, "%v", err)
		}
	}
	o, raw, err := o.Normalize(field, limit)
	*archived = store.ArchivedObject(raw)

	return o, err
}

// Memory checks a memory and brings it to the form of an export.
func Memory(m *archive.Memory) error {
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
		if err := version(&m.Versions[i]); err != nil {
			return err
		}
	}

	for i := range m.Evictions {
		times = append(times, &m.Evictions[i].EvictedAt)
	}

	return storedTimes(times...)
}

// Version checks a past state of a memory and brings it to the form of an export.
func Version(v *archive.Version) error {
	if err := robotmem.Validate("", v); err != nil {
		return err
	}
	return version(v)
}

func version(v *archive.Version) error {
	if _, err := Object("versions", &v.Context, robotmem.MaxContext); err != nil {
		return err
	}
	return storedTimes(&v.ValidFrom, &v.ValidTo)
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

// maxSessionContext bounds the context and the summary of a session, in bytes.
const maxSessionContext = 64 << 10

// Session checks a session and brings it to the form of an export.
func Session(s *archive.Session) error {
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
		if _, err := Object("context", part, maxSessionContext); err != nil {
			return err
		}
	}

	return storedTimes(times...)
}
