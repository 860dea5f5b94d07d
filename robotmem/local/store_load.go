package local

import (
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// state is a memory as it was at the time of as_of.
type state struct{ memory robotmem.Memory }

// load reads the memories of hits that are not loaded yet.
func (e *Engine) load(c *conn, q *question, a *admitted, hits []hit) error {
	for i := range hits {
		h := &hits[i]
		if h.memory != nil {
			continue
		}
		if s, ok := a.past[h.id]; ok {
			h.memory = &s.memory
			continue
		}
		_, err := c.One("SELECT "+memoryColumns+" FROM memories m WHERE m.id = ?", []any{h.id}, func(s *sqlite3.Stmt) {
			m := scanMemory(s, q.now)
			h.memory = &m
		})
		if err != nil {
			return err
		}
		if h.memory != nil {
			if err := c.addTags(h.memory); err != nil {
				return err
			}
			if err := q.compare(c, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadForRanking loads what ranking looks at: with a floor of relevance it goes
// down the hits until enough have passed, with diversity it loads the best.
func (e *Engine) loadForRanking(c *conn, q *question, a *admitted, hits []hit) ([]hit, error) {
	enough := q.N
	if q.Diversity > 0 {
		enough = max(enough, diversePool)
	}
	if q.MinRelevance == 0 {
		if q.Diversity == 0 {
			return hits, nil
		}
		return hits, e.load(c, q, a, hits[:min(enough, len(hits))])
	}
	kept := hits[:0]
	for rest := hits; len(rest) > 0 && len(kept) < enough; {
		part := rest[:min(enough, len(rest))]
		rest = rest[len(part):]
		if err := e.load(c, q, a, part); err != nil {
			return nil, err
		}
		for _, h := range part {
			if h.memory != nil && q.relevance(&h) >= q.MinRelevance {
				kept = append(kept, h)
			}
		}
	}
	return kept, nil
}

// pastStates returns, of the memories that have changed since as_of, those
// whose state at that time passes every filter.
func (e *Engine) pastStates(c *conn, q *question, b basic) (map[int64]*state, error) {
	at := formatTime(*q.AsOf)
	out := map[int64]*state{}
	err := c.Query(`SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.version, m.id
		FROM versions v JOIN memories m ON m.id = v.memory_id
		WHERE v.valid_to > ?1 AND v.valid_from <= ?1 AND v.status = 'active'`, []any{at}, func(s *sqlite3.Stmt) error {
		m := robotmem.Memory{MemoryID: s.ColumnInt64(6), Content: s.ColumnText(0), Summary: s.ColumnText(1), Context: robotmem.ParseObject(s.ColumnText(2)),
			Category: s.ColumnText(3), Confidence: s.ColumnFloat(4), Version: s.ColumnInt(5)}
		out[m.MemoryID] = &state{m}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id, s := range out {
		present, err := c.memory(id, q.now)
		if err != nil {
			return nil, err
		}
		past := *present
		past.Content, past.Summary, past.Context = s.memory.Content, s.memory.Summary, s.memory.Context
		past.Category, past.Version = s.memory.Category, s.memory.Version
		past.Confidence = fadedConfidence(&past, s.memory.Confidence, q.now)
		liftSections(&past)
		then, err := e.records.recordFor(past.Type, past.Content, past.Context)
		if err != nil {
			return nil, err
		}
		then.userTags = past.UserTags
		past.Tags = then.tags()
		s.memory = past
		if !b.admits(&past) || !q.admits(&past) {
			delete(out, id)
		}
	}
	return out, nil
}

func fadedConfidence(m *robotmem.Memory, stored float64, now time.Time) float64 {
	useful := m.CreatedAt
	if m.LastAccessed != nil && !m.LastAccessed.After(now) {
		useful = *m.LastAccessed
	}
	return consolidate.Now(stored, m.DecayRate, now.Sub(useful))
}

// admits is roster.matcher for one past state.
func (b *basic) admits(m *robotmem.Memory) bool {
	equal := func(want, got string) bool { return want == "" || want == got }
	return (b.collection == "*" || b.collection == m.Collection) && equal(b.session, m.SessionID) && equal(b.category, m.Category) &&
		equal(b.kind, m.Type) && equal(b.perception, m.PerceptionType) && m.Confidence >= b.minConfidence &&
		(b.after == nil || !m.ObservedAt.Before(*b.after)) && (b.before == nil || m.ObservedAt.Before(*b.before))
}

// admits puts tags and context_filter to one past state.
func (q *question) admits(m *robotmem.Memory) bool {
	has := map[string]bool{}
	for _, t := range m.Tags {
		has[t] = true
	}
	for _, t := range q.Tags {
		if !has[t] {
			return false
		}
	}
	if q.filter == nil {
		return true
	}
	return q.filter.Match(&filter.View{
		Context: m.Context, Category: m.Category, PerceptionType: m.PerceptionType, Session: m.SessionID,
		Confidence: m.Confidence, Observed: m.ObservedAt,
	})
}
