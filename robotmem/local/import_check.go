package local

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// arrive checks a memory and works out its indexes. It changes m to its one form.
func (n *Node) arrive(m *archive.Memory) (*store.Arrival, error) {
	if err := checkArchived(m); err != nil {
		return nil, err
	}
	context, raw, err := archivedToObject("context", m.Context, robotmem.MaxContext)
	if err != nil {
		return nil, err
	}
	m.Context = store.ArchivedObject(raw)
	if _, raw, err = archivedToObject("metadata", m.Metadata, record.MaxMetadata); err != nil {
		return nil, err
	}
	m.Metadata = store.ArchivedObject(raw)
	m.Summary = cmp.Or(m.Summary, record.Summarize(m.Content))
	rec, err := n.records.RecordOf(&robotmem.Memory{
		Type: m.Type, Content: m.Content, Summary: m.Summary, Context: context, Collection: m.Collection,
		SessionID: m.Session, Pinned: m.Pinned, UserTags: m.UserTags,
	})
	if err != nil {
		return nil, err
	}
	rec.AutoTags = m.Tags
	hash, err := store.Compared(m).Hash()
	return &store.Arrival{Memory: m, Rec: rec, Hash: hash}, err
}

func archivedToObject(field string, raw json.RawMessage, limit int) (robotmem.Object, string, error) {
	var o robotmem.Object
	if len(raw) > 0 {
		if err := o.UnmarshalJSON(raw); err != nil {
			return nil, "", robotmem.Errorf(robotmem.Invalid, field, "%v", err)
		}
	}
	return o.Normalize(field, limit)
}

func checkArchived(m *archive.Memory) error {
	switch {
	case !isUID(m.UID):
		return robotmem.Errorf(robotmem.Invalid, "uid", "must be a UUID in lower case, not %q", text.Clip(m.UID, 40))
	case m.Session != "" && !isUID(m.Session):
		return robotmem.Errorf(robotmem.Invalid, "session_id", "must be a UUID in lower case, not %q", text.Clip(m.Session, 40))
	case m.Type != "fact" && m.Type != "perception":
		return robotmem.Errorf(robotmem.Invalid, "type", "must be fact or perception, not %q", text.Clip(m.Type, 40))
	case m.Status != "active" && m.Status != "superseded" && m.Status != "invalidated":
		return robotmem.Errorf(robotmem.Invalid, "status", "must be active, superseded or invalidated, not %q", text.Clip(m.Status, 40))
	case strings.TrimSpace(m.Content) == "":
		return robotmem.Errorf(robotmem.Invalid, "content", "is empty")
	case !inRange(m.Confidence, 0, 1):
		return robotmem.Errorf(robotmem.Invalid, "confidence", "must be between 0 and 1, not %v", m.Confidence)
	case !inRange(m.DecayRate, 0, 1):
		return robotmem.Errorf(robotmem.Invalid, "decay_rate", "must be between 0 and 1, not %v", m.DecayRate)
	case m.Version < 1 || m.Sightings < 0 || m.AccessCount < 0 || m.ReturnCount < 0:
		return robotmem.Errorf(robotmem.Invalid, "version", "counts must be at least 0, versions at least 1")
	}
	if err := store.CheckNames(m.Collection); err != nil {
		return err
	}
	for name, text := range map[string]string{"content": m.Content, "summary": m.Summary} {
		if len(text) > store.MaxArchivedText || !utf8.ValidString(text) {
			return robotmem.Errorf(robotmem.TooLarge, name, "is %d bytes; the limit is %d bytes of UTF-8", len(text), store.MaxArchivedText)
		}
	}
	for name, text := range map[string]string{"category": m.Category, "source": m.Source, "media_type": m.MediaType, "perception_type": m.PerceptionType} {
		if err := store.CheckName(name, text); err != nil {
			return err
		}
	}
	if err := checkArchivedLists(m); err != nil {
		return err
	}
	if p := m.Payload; p != nil {
		if sum, err := hex.DecodeString(p.SHA256); err != nil || len(sum) != 32 || p.Bytes < 0 {
			return robotmem.Errorf(robotmem.Invalid, "payload", "must name a SHA-256 in hex")
		}
	}
	return checkArchivedTimes(m)
}

func checkArchivedLists(m *archive.Memory) error {
	for _, list := range []*[]string{&m.Tags, &m.UserTags} {
		for _, tag := range *list {
			if err := store.CheckNames("", tag); err != nil {
				return err
			}
		}
		if *list = record.Distinct(slices.Clone(*list)); len(*list) == 0 {
			*list = nil
		}
	}
	for _, list := range [][]string{m.ScopeFiles, m.ScopeEntities} {
		for _, name := range list {
			if err := store.CheckName("scope", name); err != nil {
				return err
			}
		}
	}
	for i := range m.Versions {
		v := &m.Versions[i]
		if len(v.Content) > store.MaxArchivedText || len(v.Summary) > store.MaxArchivedText || !inRange(v.Confidence, 0, 1) {
			return robotmem.Errorf(robotmem.Invalid, "versions", "a past state is out of range")
		}
		_, raw, err := archivedToObject("versions", v.Context, robotmem.MaxContext)
		if err != nil {
			return err
		}
		v.Context = store.ArchivedObject(raw)
	}
	return nil
}

func inRange(f, lo, hi float64) bool { return f >= lo && f <= hi && !math.IsNaN(f) }

// isUID reports whether s is a UUID as the node writes them.
func isUID(s string) bool {
	u, err := uuid.Parse(s)
	return err == nil && u.String() == s
}

func checkArchivedTimes(m *archive.Memory) error {
	times := []*string{&m.ValidFrom, &m.ObservedAt, &m.CreatedAt, &m.UpdatedAt}
	if m.LastAccessed != "" {
		times = append(times, &m.LastAccessed)
	}
	for i := range m.Versions {
		times = append(times, &m.Versions[i].ValidFrom, &m.Versions[i].ValidTo)
	}
	for i := range m.Evictions {
		times = append(times, &m.Evictions[i].EvictedAt)
	}
	return storedTimes(times...)
}

// storedTimes brings times to the form that they are stored in.
func storedTimes(times ...*string) error {
	for _, t := range times {
		at, err := time.Parse(time.RFC3339Nano, *t)
		if err != nil {
			return robotmem.Errorf(robotmem.Invalid, "times", "%q is not a time as RFC 3339 writes it", text.Clip(*t, 40))
		}
		if err := robotmem.Validate("", &struct {
			At time.Time `json:"times" validate:"instant"`
		}{at}); err != nil {
			return err
		}
		*t = store.FormatTime(at)
	}
	return nil
}

// arriveSession checks an episode and brings it to its one form.
func arriveSession(s *archive.Session) error {
	switch {
	case !isUID(s.SessionID):
		return robotmem.Errorf(robotmem.Invalid, "session_id", "must be a UUID in lower case, not %q", text.Clip(s.SessionID, 40))
	case s.Status != "active" && s.Status != "ended":
		return robotmem.Errorf(robotmem.Invalid, "status", "must be active or ended, not %q", text.Clip(s.Status, 40))
	}
	if err := store.CheckNames(s.Collection); err != nil {
		return err
	}
	times := []*string{&s.CreatedAt, &s.UpdatedAt}
	if s.EndedAt != "" {
		times = append(times, &s.EndedAt)
	}
	for i := range s.Outcomes {
		if !inRange(s.Outcomes[i].Score, 0, 1) {
			return robotmem.Errorf(robotmem.Invalid, "outcomes", "a score must be between 0 and 1")
		}
		times = append(times, &s.Outcomes[i].CreatedAt)
	}
	for i := range s.Streams {
		if err := store.CheckName("streams", s.Streams[i].Source); err != nil {
			return err
		}
		times = append(times, &s.Streams[i].UpdatedAt)
	}
	for _, part := range []*json.RawMessage{&s.Context, &s.Summary} {
		_, raw, err := archivedToObject("context", *part, maxSessionContext)
		if err != nil {
			return err
		}
		*part = store.ArchivedObject(raw)
	}
	return storedTimes(times...)
}
