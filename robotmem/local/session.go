package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	maxSessionContext = 64 << 10
	briefLength       = 5 // memories of each sort in a briefing
	fadedBelow        = 0.3 // a confidence
	// maxProactive bounds a question that the node asks itself, in characters.
	maxProactive = 400
	// proactiveDiversity keeps an unasked answer from saying one thing five times.
	proactiveDiversity = 0.5
	endStages          = 4 // of the end of an episode, as its progress names them
)

// StartSession implements Service.
func (e *Engine) StartSession(ctx context.Context, req *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	r := *req
	if err := robotmem.Validate("start_session", &r); err != nil {
		return nil, err
	}
	object, raw, err := r.Context.Normalize("context", maxSessionContext)
	if err != nil {
		return nil, sqlite.Wrap("start_session", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, sqlite.Wrap("start_session", err)
	}
	res := &robotmem.StartSessionResponse{Collection: r.Collection}
	err = e.store.writeInTime(ctx, func(tx *writeTx) (err error) {
		res.Status, res.SessionID = "started", id.String()
		known, err := tx.sessionOf(r.Collection, r.Origin)
		if err != nil || known == "" {
			return errors.Join(err, tx.insertSession(res.SessionID, r.Collection, raw, e.options.ClientType), tx.insertSessionOrigin(r.Collection, r.Origin, res.SessionID))
		}
		res.Status, res.SessionID = "continued", known
		_, err = tx.openSession(known)
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("start_session", err)
	}
	// The episode is open; a briefing that cannot be made does not undo it.
	if err := e.brief(ctx, res, object); err != nil {
		e.log.Warn("no briefing", "session", res.SessionID, "err", err)
		res.Briefing.Text = "The briefing could not be made; robotmem doctor may say why."
	}
	fillBriefing(&res.Briefing)
	return res, nil
}

func fillBriefing(b *robotmem.Briefing) {
	b.Rules, b.Failures, b.Relevant = orEmpty(b.Rules), orEmpty(b.Failures), orEmpty(b.Relevant)
}

// brief gathers what to know before an episode: rules, failures, what fits its
// context, and how the last one went.
func (e *Engine) brief(ctx context.Context, res *robotmem.StartSessionResponse, object robotmem.Object) error {
	b := &res.Briefing
	err := e.store.read(ctx, func(c *conn) (err error) {
		if err := e.index.roster.sync(c); err != nil {
			return err
		}
		res.ActiveMemoriesCount = e.index.roster.active(res.Collection)
		if b.Rules, err = c.rules(res.Collection, briefLength, e.now()); err != nil {
			return err
		}
		failures, _, err := e.failures(c, res.Collection, time.Time{}, briefLength)
		if err != nil {
			return err
		}
		b.Failures = briefs(failures, nil, 0)
		summary, err := c.lastSummary(res.Collection)
		if err != nil || summary == "" {
			return err
		}
		b.LastSession = &robotmem.SessionSummary{}
		return json.Unmarshal([]byte(summary), b.LastSession)
	})
	if err != nil {
		return err
	}
	if words := contextWords(object); words != "" {
		found, err := e.recall(ctx, &robotmem.RecallRequest{Query: words, Collection: res.Collection, N: 2 * briefLength, Diversity: proactiveDiversity})
		if err != nil {
			return err
		}
		b.Relevant = briefs(found.Memories, ids(b.Rules, b.Failures), briefLength)
	}
	b.Text = briefingText(b, res)
	return nil
}

func briefingText(b *robotmem.Briefing, res *robotmem.StartSessionResponse) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d active memories in %s.", res.ActiveMemoriesCount, res.Collection)
	if l := b.LastSession; l != nil {
		s.WriteString(" Last session: " + l.Text)
	}
	for _, part := range []struct {
		title string
		list  []robotmem.BriefMemory
	}{{"Rules", b.Rules}, {"Recent failures", b.Failures}, {"Fits this task", b.Relevant}} {
		for i, m := range part.list {
			if i == 0 {
				s.WriteString("\n" + part.title + ":")
			}
			fmt.Fprintf(&s, "\n- [%d] %s", m.MemoryID, text.Clip(m.Summary, 160))
		}
	}
	return s.String()
}

// contextWords are the texts and keys in a context, to search by.
func contextWords(v any) string {
	var words []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			words = append(words, v)
		case robotmem.Object:
			walk(map[string]any(v))
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if b, ok := v[k].(bool); ok && b {
					words = append(words, k)
				}
				walk(v[k])
			}
		case []any:
			for i := range v {
				walk(v[i])
			}
		}
	}
	walk(v)
	return text.Clip(strings.Join(words, " "), maxProactive)
}

func ids(lists ...[]robotmem.BriefMemory) map[int64]bool {
	out := map[int64]bool{}
	for _, l := range lists {
		for _, m := range l {
			out[m.MemoryID] = true
		}
	}
	return out
}

// briefs are memories in one line each, without those in skip, n at most (0 for all).
func briefs(ms []robotmem.Memory, skip map[int64]bool, n int) []robotmem.BriefMemory {
	out := []robotmem.BriefMemory{}
	for _, m := range ms {
		if !skip[m.MemoryID] && (n == 0 || len(out) < n) {
			out = append(out, robotmem.BriefMemory{MemoryID: m.MemoryID, Summary: summarize(m.Content), Category: m.Category, Confidence: m.Confidence})
		}
	}
	return out
}

// EndSession implements Service.
func (e *Engine) EndSession(ctx context.Context, req *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	r := *req
	if err := robotmem.Validate("end_session", &r); err != nil {
		return nil, err
	}
	m := robotmem.MeterOf(ctx)
	m.Step("counting recalls", 0, endStages)
	e.tallies.flush(ctx, e)
	res := &robotmem.EndSessionResponse{Status: "ended", SessionID: r.SessionID, RelatedMemories: []robotmem.BriefMemory{}}
	var session *robotmem.Session
	err := e.store.writeInTime(ctx, func(tx *writeTx) (err error) {
		session, err = e.endSession(tx, m, &r, res)
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("end_session", err)
	}
	m.Step("looking for related memories", 3, endStages)
	if err := e.lookAround(ctx, session, res); err != nil {
		e.log.Warn("no related memories", "session", r.SessionID, "err", err)
	}
	return res, nil
}

func (e *Engine) endSession(tx *writeTx, m *robotmem.Meter, r *robotmem.EndSessionRequest, res *robotmem.EndSessionResponse) (*robotmem.Session, error) {
	s, err := tx.openSession(r.SessionID)
	if err != nil {
		return nil, err
	}
	for _, id := range distinct(slices.Clone(r.UsedMemoryIDs)) {
		if err := tx.used(r.SessionID, id); err != nil {
			return nil, err
		}
	}
	m.Step("merging what was said twice", 1, endStages)
	if res.Consolidated, err = tx.consolidate(s); err != nil {
		return nil, err
	}
	m.Step("summing up", 2, endStages)
	if res.Summary, err = tx.summarizeSession(s, tx.now, r.OutcomeScore, res.Consolidated.SupersededCount); err != nil {
		return nil, err
	}
	res.Summary.EndedAt = new(tx.now)
	summary, err := robotmem.EncodeJSON(res.Summary)
	if err != nil {
		return nil, err
	}
	ended := change{action: actionEnded, session: r.SessionID, collection: s.Collection}
	return s, errors.Join(tx.audit(ended), tx.finishSession(r.SessionID, string(summary), r.OutcomeScore))
}

// consolidate merges what the episode said more than once.
func (tx *writeTx) consolidate(s *robotmem.Session) (robotmem.Consolidated, error) {
	candidates, err := tx.candidates(s.SessionID, s.Collection)
	if err != nil {
		return robotmem.Consolidated{}, err
	}
	groups, considered := consolidate.Plan(candidates)
	var out robotmem.Consolidated
	for _, g := range groups {
		for _, id := range g.Supersede {
			if err := tx.supersede(id, g.Keep); err != nil {
				return robotmem.Consolidated{}, err
			}
		}
		out.MergedGroups++
		out.SupersededCount += len(g.Supersede)
		out.AvgSimilarity += g.Similarity
	}
	if out.MergedGroups > 0 {
		out.AvgSimilarity /= float64(out.MergedGroups)
		out.CompressionRatio = float64(out.SupersededCount) / float64(considered)
	}
	return out, nil
}

// describe fills what consolidation compares.
func describe(c *consolidate.Candidate, content string, object robotmem.Object) {
	c.Statement = statementOf(content)
	c.Outcome = outcomeOf(object)
	if spatial, ok := object["spatial"]; ok {
		c.Place = string(filter.Digest(filter.BlobObject, spatial))
	}
	var numbers []string
	attrs, _ := filter.Flatten(object)
	for _, a := range attrs {
		switch v := a.Value.(type) {
		case int64, float64:
			numbers = append(numbers, fmt.Sprintf("%s=%v", a.Path, v))
		case []byte:
			if strings.HasPrefix(string(v), filter.BlobList) {
				numbers = append(numbers, fmt.Sprintf("%s=%x", a.Path, v))
			}
		}
	}
	slices.Sort(numbers)
	c.Numbers = strings.Join(numbers, "\n")
}

// lookAround counts what has faded and recalls, unasked, what earlier episodes
// knew about the same thing.
func (e *Engine) lookAround(ctx context.Context, s *robotmem.Session, res *robotmem.EndSessionResponse) error {
	var words string
	err := e.store.read(ctx, func(c *conn) (err error) {
		if err := e.index.roster.sync(c); err != nil {
			return err
		}
		res.DecayedCount = e.index.roster.faded(s.Collection, fadedBelow, e.now())
		words, err = c.sessionWords(s.SessionID)
		return err
	})
	if err != nil {
		return err
	}
	words = strings.TrimSpace(text.Clip(contextWords(s.Context)+" "+words, maxProactive))
	if words == "" {
		return nil
	}
	found, err := e.recall(ctx, &robotmem.RecallRequest{
		Query: words, Collection: s.Collection, N: briefLength, Diversity: proactiveDiversity,
		ContextFilter: robotmem.Object{"session_id": map[string]any{"$ne": s.SessionID}},
	})
	if err != nil {
		return err
	}
	res.RelatedMemories = briefs(found.Memories, nil, briefLength)
	return nil
}

// faded counts the active memories of a collection that are less sure than
// that now.
func (r *roster) faded(collection string, below float64, now time.Time) int64 {
	alive := basic{audience: audience{collection: collection}, now: now}
	all := r.admit(alive)
	alive.minConfidence = below
	sure := r.admit(alive)
	return int64(all.Count() - sure.Count())
}
