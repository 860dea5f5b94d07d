package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A common client cuts a result at 25,000 tokens, some 80 KB of JSON. What is
// cut off by the client is gone without a word, so it is shortened here, and
// says how to get the rest.
const (
	maxAnswer  = 80_000 // bytes of JSON
	maxContent = 1_500  // characters of one memory's content
	maxObject  = 25_000 // bytes of the context, or of the metadata, of a memory that stands alone
)

// shorten returns r with long contents shortened. When that is not enough, the
// memories that take more than their share lose detail step by step; no memory
// is dropped. r itself stays as it is.
func shorten(r *robotmem.RecallResponse) *robotmem.RecallResponse {
	short := *r
	short.Memories = make([]robotmem.Memory, len(r.Memories))
	for i, m := range r.Memories {
		m.Content = shortText(m.Content, maxContent, m.MemoryID)
		short.Memories[i] = m
	}
	for _, reduce := range []func(*robotmem.Memory){withoutContext, brief, barest} {
		if size(short) <= maxAnswer {
			break
		}
		share := maxAnswer / len(short.Memories)
		for i := range short.Memories {
			if m := &short.Memories[i]; size(m) > share {
				reduce(m)
			}
		}
	}
	return &short
}

// withoutContext takes out what the caller may have made large.
func withoutContext(m *robotmem.Memory) {
	if m.Context != nil {
		m.Context = robotmem.Object{"shortened": "read it with " + getCall(m.MemoryID)}
	}
	m.Params, m.Spatial, m.Robot, m.Task, m.Env = nil, nil, nil, nil, nil
	m.Metadata = nil
}

func brief(m *robotmem.Memory) {
	m.Content = shortText(m.Content, 300, m.MemoryID)
	m.Summary, m.ScopeFiles, m.ScopeEntity = "", nil, nil
}

func barest(m *robotmem.Memory) {
	m.Content = shortText(m.Content, 80, m.MemoryID)
	m.Tags, m.Found = m.Tags[:min(len(m.Tags), 4)], nil
}

// shortenMemory returns m with the large parts of its context left out, when it
// is too long as it stands; m itself stays as it is.
func shortenMemory(m *robotmem.Memory) *robotmem.Memory {
	if size(m) <= maxAnswer {
		return m
	}
	short := *m
	// The sections stand in the context, too.
	short.Params, short.Spatial, short.Robot, short.Task, short.Env = nil, nil, nil, nil, nil
	short.Context = shortObject(m.Context, maxObject, m.MemoryID)
	short.Metadata = shortObject(m.Metadata, maxObject, m.MemoryID)
	if size(short) > maxAnswer {
		short.ScopeFiles, short.ScopeEntity = nil, nil // they stand in the text
	}
	return &short
}

// shortObject returns o without what takes more than its share of limit, in
// bytes of JSON, and whole when it is small enough.
func shortObject(o robotmem.Object, limit int, id int64) robotmem.Object {
	if len(o) == 0 || size(o) <= limit {
		return o
	}
	whole := "read it whole as the resource " + memoryURI(id)
	share := limit / len(o)
	short := robotmem.Object{}
	for key, value := range o {
		n := size(value)
		section, ok := value.(map[string]any)
		switch {
		case n <= max(share, 2*len(whole)): // a note would save nothing
		case ok:
			value = shortObject(section, share, id)
		default:
			value = fmt.Sprintf("shortened: %d bytes; %s", n, whole)
		}
		short[key] = value
	}
	if size(short) > limit { // many keys
		return robotmem.Object{"shortened": fmt.Sprintf("%d keys, %d bytes; %s", len(o), size(o), whole)}
	}
	return short
}

// shortText cuts s to limit characters, at a character's border, with a note
// on how to read the rest.
func shortText(s string, limit int, id int64) string {
	shown := 0
	for i := range s {
		if shown == limit {
			return fmt.Sprintf("%s… [%d of %d characters; read it whole with %s]", s[:i], limit, utf8.RuneCountInString(s), getCall(id))
		}
		shown++
	}
	return s
}

// clip cuts s to limit characters, at a character's border.
func clip(s string, limit int) string {
	shown := 0
	for i := range s {
		if shown == limit {
			return s[:i] + "…"
		}
		shown++
	}
	return s
}

// oneLine is s without its line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func getCall(id int64) string { return fmt.Sprintf(`get {"memory_id":%d}`, id) }

// size is the length of v as JSON.
func size(v any) int {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return 0
	}
	return len(data)
}
