package python

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// text is the value of a column as text, "" if it has none.
func (r row) text(name string) string {
	switch v := r[name].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

func (r row) number(name string) int64 {
	n, _ := r[name].(int64)
	return n
}

// float is the value of a column as a number, or another if it is none.
func (r row) float(name string, other float64) float64 {
	switch v := r[name].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return other
}

// at reads a time; other is for none. Python writes them with and without a zone.
func (p *Python) at(text, other string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return other
	}
	if t, err := time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "T", 1)); err == nil {
		return store.FormatTime(t)
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, p.zone); err == nil {
			p.report.Naive++
			return store.FormatTime(t)
		}
	}
	p.report.Notes["times that cannot be read"]++
	return other
}

// object is a text that should hold a JSON object. Any other is kept under key.
func (p *Python) object(text, key string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var o robotmem.Object
	if o.UnmarshalJSON([]byte(text)) == nil {
		return json.RawMessage(text)
	}
	p.report.Notes[key+" that is no JSON object, kept as text under "+key]++
	data, err := robotmem.EncodeJSON(map[string]string{key: text})
	if err != nil {
		return nil
	}
	return data
}

// sessionUID is the session's own id, or one made of it.
func sessionUID(id string) string {
	if u, err := uuid.Parse(id); err == nil && len(id) == 36 {
		return u.String()
	}
	if id == "" {
		return ""
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("robotmem session "+id)).String()
}

// uid is a UUIDv7 made of what the Python system never changes of a memory.
func (p *Python) uid(r row) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "robotmem memory %d %q %q %q", r.number("id"), r.text("collection"), r.text("session_id"), r.text("created_at")))
	u := uuid.UUID(sum[:16])
	naive := p.report.Naive
	ms := store.ParseTime(p.at(r.text("created_at"), store.FormatTime(p.mtime))).UnixMilli()
	p.report.Naive = naive
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6], u[8] = 0x70|u[6]&0x0f, 0x80|u[8]&0x3f
	return u.String()
}
