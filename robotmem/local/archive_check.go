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
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// What comes from an archive is checked as what comes from a caller is: it was
// made by a program, but not for certain by this one. Records are brought to the
// one form that an export gives, so that content hashes can be compared.

const (
	maxArchivedText = 16 << 10 // bytes of a memory's text, as of learn
	maxArchivedName = 1 << 10  // bytes of other texts: origins, reasons, file names
)

// arrival is a memory on its way in, checked.
type arrival struct {
	*archive.Memory
	rec  *record
	hash string // of what two nodes compare
}

// arrive checks a memory and works out its indexes. It changes m to its one form.
func (e *Engine) arrive(m *archive.Memory) (*arrival, error) {
	if err := checkArchived(m); err != nil {
		return nil, err
	}
	context, raw, err := archivedToObject("context", m.Context, robotmem.MaxContext)
	if err != nil {
		return nil, err
	}
	m.Context = archivedObject(raw)
	if _, raw, err = archivedToObject("metadata", m.Metadata, maxMetadata); err != nil {
		return nil, err
	}
	m.Metadata = archivedObject(raw)
	m.Summary = cmp.Or(m.Summary, summarize(m.Content))
	rec, err := e.records.recordOf(&robotmem.Memory{
		Type: m.Type, Content: m.Content, Summary: m.Summary, Context: context, Collection: m.Collection,
		SessionID: m.Session, Pinned: m.Pinned, UserTags: m.UserTags,
	})
	if err != nil {
		return nil, err
	}
	rec.inferred.Tags = m.Tags
	hash, err := compared(m).Hash()
	return &arrival{m, rec, hash}, err
}

// compared is what two nodes compare to see whether they know the same: a
// memory without the references that may come later, without the state of its
// payload, and without who stored it, which a node names itself where the source
// does not.
func compared(m *archive.Memory) *archive.Memory {
	c := *m
	c.SupersededBy = ""
	c.Versions = slices.Clone(m.Versions)
	for i := range c.Versions {
		c.Versions[i].SupersededBy = ""
	}
	if m.Payload != nil {
		c.Payload = &archive.Payload{SHA256: m.Payload.SHA256}
	}
	c.Evictions = nil
	for _, g := range m.Evictions {
		if !slices.Contains(lostReasons, g.Reason) {
			c.Evictions = append(c.Evictions, g)
		}
	}
	c.Extra = nil
	for name, value := range m.Extra {
		if provenance[name] > 0 {
			continue
		}
		if c.Extra == nil {
			c.Extra = map[string]any{}
		}
		c.Extra[name] = value
	}
	return &c
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
	if err := checkNames(m.Collection); err != nil {
		return err
	}
	for name, text := range map[string]string{"content": m.Content, "summary": m.Summary} {
		if len(text) > maxArchivedText || !utf8.ValidString(text) {
			return robotmem.Errorf(robotmem.TooLarge, name, "is %d bytes; the limit is %d bytes of UTF-8", len(text), maxArchivedText)
		}
	}
	for name, text := range map[string]string{"category": m.Category, "source": m.Source, "media_type": m.MediaType, "perception_type": m.PerceptionType} {
		if err := checkName(name, text); err != nil {
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
			if err := checkNames("", tag); err != nil {
				return err
			}
		}
		if *list = distinct(slices.Clone(*list)); len(*list) == 0 {
			*list = nil
		}
	}
	for _, list := range [][]string{m.ScopeFiles, m.ScopeEntities} {
		for _, name := range list {
			if err := checkName("scope", name); err != nil {
				return err
			}
		}
	}
	for i := range m.Versions {
		v := &m.Versions[i]
		if len(v.Content) > maxArchivedText || len(v.Summary) > maxArchivedText || !inRange(v.Confidence, 0, 1) {
			return robotmem.Errorf(robotmem.Invalid, "versions", "a past state is out of range")
		}
		_, raw, err := archivedToObject("versions", v.Context, robotmem.MaxContext)
		if err != nil {
			return err
		}
		v.Context = archivedObject(raw)
	}
	return nil
}

// checkNames puts the rules of a request to a collection and to tags.
func checkNames(collection string, tags ...string) error {
	names := struct {
		Collection string   `json:"collection" validate:"omitempty,collection"`
		Tags       []string `json:"tags" validate:"dive,tag"`
	}{collection, tags}
	if collection == "" && len(tags) == 0 {
		return robotmem.Errorf(robotmem.Invalid, "collection", "is required")
	}
	return robotmem.Validate("", &names)
}

func checkName(field, text string) error {
	if len(text) > maxArchivedName || !utf8.ValidString(text) {
		return robotmem.Errorf(robotmem.TooLarge, field, "is %d bytes; the limit is %d bytes of UTF-8", len(text), maxArchivedName)
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
		*t = formatTime(at)
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
	if err := checkNames(s.Collection); err != nil {
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
		if err := checkName("streams", s.Streams[i].Source); err != nil {
			return err
		}
		times = append(times, &s.Streams[i].UpdatedAt)
	}
	for _, part := range []*json.RawMessage{&s.Context, &s.Summary} {
		_, raw, err := archivedToObject("context", *part, maxSessionContext)
		if err != nil {
			return err
		}
		*part = archivedObject(raw)
	}
	return storedTimes(times...)
}
