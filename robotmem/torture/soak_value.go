package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// maker makes values from schemas: such as a caller would send or, at the
// edges, the least and the most that is allowed and one step beyond.
type maker struct {
	*asker
	edges bool
}

var soakWords = []string{"gripper", "wet", "glass", "holds", "slips", "torque", "aisle", "battery", "湿", "玻璃", "drift", "force=12.5 N", "at 3 m/s"}

// oddTexts are what programs stumble over.
var oddTexts = []string{
	"", " ", "\x00", "\u202eabc", "e\u0301", "👩🏽‍🚀", "ﷺ", "\ufeff", "'; DROP TABLE memories; --", "%00%ff", "../../etc/passwd", "NaN", "null", "\\", "\"", "a\nb\r\n",
	"NEAR(a b)", "* OR \"", "content:x", strings.Repeat("a", 300), strings.Repeat("汉", 5000), strings.Repeat("x ", 40_000), "yesterday 昨天 before the crash at 25:61", "-", "^", "𝟙𝟚", "\U0010ffff",
}

func (m *maker) words() string {
	var words []string
	for range 1 + m.rand.IntN(6) {
		words = append(words, one(m.rand, soakWords...))
	}
	return strings.Join(words, " ") + fmt.Sprint(" ", m.rand.IntN(400))
}

// edge reports whether the value at hand is to be an odd one.
func (m *maker) edge() bool { return m.edges && m.rand.IntN(3) == 0 }

func (m *maker) value(name string, s *schema, depth int) any {
	s = m.api.resolve(s)
	if v, ok := m.known(name); ok {
		return v
	}
	switch {
	case len(s.Enum) > 0:
		if m.edge() {
			return one(m.rand, oddTexts...)
		}
		return one(m.rand, s.Enum...)
	case s.Type == "object":
		return m.object(name, s, depth)
	case s.Type == "array":
		return m.list(name, s, depth)
	case s.Type == "string":
		return m.text(s)
	case s.Type == "boolean":
		return m.rand.IntN(2) == 0
	case s.Type == "integer", s.Type == "number":
		return m.number(s)
	}
	return m.words()
}

// known are ids out of earlier answers, mostly.
func (m *maker) known(name string) (any, bool) {
	if m.edge() {
		return nil, false
	}
	m.node.mu.Lock()
	defer m.node.mu.Unlock()
	switch n := m.node; {
	case name == "memory_id" && len(n.ids) > 0:
		return one(m.rand, n.ids...), true
	case name == "memory_id":
		return 1, true
	case (name == "session_id" || name == "for_session") && len(n.sessions) > 0:
		return one(m.rand, n.sessions...), true
	case name == "cursor" && len(n.cursors) > 0:
		return one(m.rand, n.cursors...), true
	case name == "wait_ms":
		return m.rand.IntN(200), true
	case name == "field" || name == "path":
		return one(m.rand, "spatial.position", "params.force", "nowhere"), true
	case name == "collection":
		return one(m.rand, "default", "arm7"), true
	}
	return nil, false
}

func (m *maker) object(name string, s *schema, depth int) any {
	out := map[string]any{}
	if len(s.Properties) == 0 {
		if name == "context_filter" {
			return m.filter(0)
		}
		return m.context()
	}
	if depth > 4 {
		return out
	}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, field) || m.rand.IntN(4) == 0 {
			out[field] = m.value(field, s.Properties[field], depth+1)
		}
	}
	return out
}

func (m *maker) context() any {
	if m.edge() {
		deep := any(one(m.rand, oddTexts...))
		for range one(m.rand, 3, 40, 2000) {
			deep = map[string]any{one(m.rand, "a", "", "a.b", "$or", "params"): deep}
		}
		return deep
	}
	return map[string]any{
		"params":  map[string]any{"force": m.rand.IntN(30)},
		"task":    map[string]any{"success": m.rand.IntN(2) == 0, "name": one(m.rand, soakWords...)},
		"spatial": map[string]any{"position": []any{m.rand.IntN(9), m.rand.IntN(9)}, "frame_id": "map"},
	}
}

func (m *maker) filter(depth int) any {
	leaf := one(m.rand, any(3), any(true), any("12 N"), any(nil), any([]any{1, "a"}), any(1e308))
	op := one(m.rand, "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$exists", "$not", "$regex", "")
	path := one(m.rand, "params.force", "task.success", "category", "confidence", "observed_at", "spatial", "", "a.b.c.d", "$and")
	switch k := m.rand.IntN(6); {
	case k == 0 && depth < 12:
		return map[string]any{one(m.rand, "$and", "$or"): []any{m.filter(depth + 1), m.filter(depth + 1)}}
	case k == 1 && depth < 12:
		return map[string]any{"$not": m.filter(depth + 1)}
	case k == 2:
		return map[string]any{path: leaf}
	}
	return map[string]any{path: map[string]any{op: leaf}}
}

func (m *maker) list(name string, s *schema, depth int) any {
	n := 1 + m.rand.IntN(3)
	if s.MinItems != nil {
		n = int(*s.MinItems)
	}
	if s.MaxItems != nil {
		n = min(n, int(*s.MaxItems))
		if m.edge() {
			n = one(m.rand, 0, int(*s.MaxItems), int(*s.MaxItems)+1)
		}
	}
	if s.Items != nil && len(m.api.resolve(s.Items).Properties) > 0 {
		n = min(n, 20) // of requests within one, so few that their facts can be asked for again
	}
	single := strings.TrimSuffix(strings.TrimPrefix(name, "used_"), "s")
	out := []any{}
	for range n {
		out = append(out, m.value(single, s.Items, depth+1))
	}
	return out
}

func (m *maker) text(s *schema) any {
	if m.edge() {
		if s.MaxLength != nil && m.rand.IntN(2) == 0 {
			return strings.Repeat(one(m.rand, "a", "é", "汉"), int(*s.MaxLength)+m.rand.IntN(2))
		}
		return one(m.rand, oddTexts...)
	}
	switch {
	case s.Format == "date-time":
		return time.Unix(1_700_000_000+m.rand.Int64N(200_000_000), 0).UTC().Format(time.RFC3339)
	case s.ContentEncoding == "base64":
		data := make([]byte, m.rand.IntN(3000))
		for i := range data {
			data[i] = byte(m.rand.IntN(1 + m.rand.IntN(256)))
		}
		return base64.StdEncoding.EncodeToString(data)
	case strings.Contains(s.Pattern, "-[0-9a-f]{12}"):
		return "0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e"
	case s.Pattern != "":
		return one(m.rand, "default", "arm7")
	}
	return m.words()
}

func (m *maker) number(s *schema) any {
	low, high := 0.0, 1000.0
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	if m.edge() {
		return json.Number(one(m.rand, fmt.Sprint(low), fmt.Sprint(low-1), fmt.Sprintf("%.0f", high), fmt.Sprintf("%.0f", high+1), "-0", "1e308", "1e400", "9223372036854775808", "-9223372036854775808", "0.5", "1e-320"))
	}
	v := low + m.rand.Float64()*(min(high, low+1000)-low)
	if s.Type == "integer" {
		return int64(math.Round(v))
	}
	return v
}
