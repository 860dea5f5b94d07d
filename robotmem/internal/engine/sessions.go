package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/tries"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

const (
	maxSessionContext = 64 << 10
	relatedLength     = 5   // memories of earlier episodes that EndSession names
	fadedBelow        = 0.3 // confidence below which a memory counts as faded
	// maxProactive limits, in characters, a query that the engine itself makes of a context.
	maxProactive = 400
	// proactiveDiversity avoids five results that say the same.
	proactiveDiversity = 0.5
	endStages          = 4 // stages of EndSession in its progress
)

func (n *Engine) StartSession(
	ctx context.Context, req *robotmem.StartSessionRequest,
) (*robotmem.StartSessionResponse, error) {
	return serve("start_session", req, func(r *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
		given := r.Context
		if r.Goal != "" {
			given = tries.ContextOf(&robotmem.AttemptRequest{Goal: r.Goal, Context: r.Context})
		}
		object, _, err := given.Normalize("context", maxSessionContext)
		if err != nil {
			return nil, err
		}

		id := uuid.Must(uuid.NewV7())
		res := &robotmem.StartSessionResponse{}
		err = n.Store.WriteInTime(ctx, func(tx *store.Tx) (err error) {
			res.Status, res.SessionID, res.Collection = "started", cmp.Or(r.SessionID, id.String()), r.Collection

			known, err := tx.Known(r)
			if err == nil && known == "" && r.Goal != "" {
				known, err = n.openAttempt(tx.Conn, r.Collection, r.Goal, record.RobotOf(object))
			}
			if err != nil {
				return err
			}
			if known == "" {
				began := tx.Now
				if r.StartedAt != nil {
					began = *r.StartedAt
				}
				s := robotmem.Session{
					SessionID: res.SessionID, Collection: r.Collection, Context: object,
					ClientType: n.options.ClientType, CreatedAt: began,
				}

				return errors.Join(tx.InsertSession(s), tx.InsertSessionOrigin(r.Collection, r.Origin, res.SessionID))
			}

			s, err := tx.OpenSession(known)
			if err != nil {
				return err
			}
			if req.Collection != "" && req.Collection != s.Collection {
				return robotmem.Errorf(robotmem.Conflict, "collection",
					"is %q, but the session %q is open in %q; leave collection out, or choose another session_id",
					req.Collection, known, s.Collection)
			}

			res.Status, res.SessionID, res.Collection = "continued", known, s.Collection

			return nil
		})
		if err != nil {
			return nil, err
		}

		// The session is started; a failure of the briefing must not fail the call.
		if err := n.brief(ctx, res, object); err != nil {
			n.Log.Warn("no briefing", "session", res.SessionID, "err", err)
			res.Briefing.Text = "The briefing could not be made; robotmem doctor may say why."
		}

		res.Briefing.MemoryIDs = record.OrEmpty(res.Briefing.MemoryIDs)

		return res, nil
	})
}

// contextWords returns the texts in a context and the keys of true flags as a query.
func contextWords(context robotmem.Object) string {
	var words []string

	for _, l := range recall.Leaves("", map[string]any(context)) {
		_, err := strconv.ParseFloat(l.Value, 64)
		isNumber := err == nil

		switch {
		case l.Value == "true":
			words = append(words, l.Path[strings.LastIndexByte(l.Path, '.')+1:])
		case l.Value != "false" && !l.Point && !isNumber:
			words = append(words, l.Value)
		}
	}

	return robotmem.Clip(strings.Join(words, " "), maxProactive)
}

func (n *Engine) EndSession(
	ctx context.Context, req *robotmem.EndSessionRequest,
) (*robotmem.EndSessionResponse, error) {
	return serve("end_session", req, func(r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
		m := progress.Of(ctx)
		m.Step("counting recalls", 0, endStages)

		// The counts are stored with the end of the episode in one transaction, because they include the recalls of the
		// episode.
		recalls := n.counters.take()
		res := &robotmem.EndSessionResponse{
			Status: "ended", SessionID: r.SessionID, RelatedMemories: []robotmem.BriefMemory{},
		}

		var session *store.SessionRow
		err := n.Store.WriteInTime(ctx, func(tx *store.Tx) (err error) {
			session, err = n.endSession(tx, m, r, recalls, res)
			return err
		})
		n.counters.done(recalls, err)
		if err != nil {
			return nil, err
		}

		m.Step("looking for related memories", 3, endStages)
		if err := n.relatedMemories(ctx, session, res); err != nil {
			n.Log.Warn("no related memories", "session", r.SessionID, "err", err)
		}

		return res, nil
	})
}

func (n *Engine) endSession(
	tx *store.Tx, m *progress.Meter, r *robotmem.EndSessionRequest, recalls *batch, res *robotmem.EndSessionResponse,
) (*store.SessionRow, error) {
	s, err := tx.OpenSession(r.SessionID)
	if err != nil {
		return nil, err
	}

	// Credit reads which memories the episode has received.
	if err := recalls.store(tx); err != nil {
		return nil, err
	}
	if err := tx.Credit(r.SessionID, creditOf(r)); err != nil {
		return nil, err
	}

	m.Step("merging what was said twice", 1, endStages)
	if err := mergeRepeated(tx, s, res); err != nil {
		return nil, err
	}

	m.Step("summing up", 2, endStages)
	began, ended, err := tx.SpanOfSession(&s.Session, r.EndedAt)
	if err != nil {
		return nil, err
	}

	// The length of an episode that is stored later is that of its own times, not the time since then.
	s.CreatedAt = began
	if res.Summary, err = tx.SummarizeSession(&s.Session, ended, r.OutcomeScore,
		res.Consolidated.SupersededCount); err != nil {
		return nil, err
	}

	res.Summary.EndedAt = &ended
	summary, err := robotmem.EncodeJSON(res.Summary)
	if err != nil {
		return nil, err
	}

	entry := admin.AuditEntry{Action: store.ActionEnded, SessionID: r.SessionID, Collection: s.Collection}

	return s, errors.Join(tx.Audit(entry), tx.FinishSession(r.SessionID, string(summary), r.OutcomeScore, began, ended))
}

// creditOfWord is the credit that a word of memory_scores means.
var creditOfWord = map[string]float64{"helped": 1, "partly": 0.5, "misled": 0}

func creditOf(r *robotmem.EndSessionRequest) *store.Credit {
	c := &store.Credit{
		Score: r.OutcomeScore, Used: record.Distinct(slices.Clone(r.UsedMemoryIDs)), Scores: map[int64]float64{},
	}
	for key, word := range r.MemoryScores {
		id, _ := strconv.ParseInt(key, 10, 64) // validated
		if score, ok := creditOfWord[fmt.Sprint(word)]; ok {
			c.Scores[id] = score
		} else {
			c.Unused = append(c.Unused, id)
		}
	}

	return c
}

// mergeRepeated supersedes those facts of a session that another fact of it covers.
func mergeRepeated(tx *store.Tx, s *store.SessionRow, res *robotmem.EndSessionResponse) error {
	candidates, err := tx.Candidates(s.SessionID, s.Collection)
	if err != nil {
		return err
	}

	groups, similar, considered := consolidate.Plan(candidates)

	var out robotmem.Consolidated

	for _, g := range groups {
		for _, id := range g.Supersede {
			if err := tx.Supersede(id, g.Keep); err != nil {
				return err
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

	res.Consolidated, res.SimilarGroups = out, similar

	return nil
}

// relatedMemories counts the faded memories and recalls what earlier sessions stored
// about the same subject.
func (n *Engine) relatedMemories(ctx context.Context, s *store.SessionRow, res *robotmem.EndSessionResponse) error {
	var words string
	err := n.Store.Read(ctx, func(c *store.Conn) (err error) {
		if err := n.index.Columns.Sync(c); err != nil {
			return err
		}
		res.DecayedCount = n.index.Columns.Faded(s.Collection, fadedBelow, n.Now())
		words, err = c.SessionWords(s.SessionID)
		return err
	})
	if err != nil {
		return err
	}

	words = strings.TrimSpace(robotmem.Clip(contextWords(s.Context)+" "+words, maxProactive))
	if words == "" {
		return nil
	}

	// The words come from memories: a date among them is not a time to search in.
	found, err := n.recall(ctx, &robotmem.RecallRequest{
		Query: words, Collection: s.Collection, N: relatedLength, Diversity: proactiveDiversity, ParseTime: new(false),
		ContextFilter: robotmem.Object{"session_id": map[string]any{"$ne": s.SessionID}},
	})
	if err != nil {
		return err
	}

	res.RelatedMemories = store.Briefs(found.Memories)

	return nil
}

// maxRecalled limits the memories that a response lists as recalled.
const maxRecalled = 1000

func (n *Engine) Session(ctx context.Context, req *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	// The counts are taken before the snapshot begins, see pending.
	pending := n.counters.pending()

	return read(ctx, n, "session", req, func(c *store.Conn, r *robotmem.SessionRequest, res *robotmem.SessionResponse) error {
		counts, err := pending(c)
		if err != nil {
			return err
		}
		return n.readSession(c, r.SessionID, counts.CreditOf(r.SessionID), res)
	})
}

func (n *Engine) readSession(c *store.Conn, id string, pending []int64, res *robotmem.SessionResponse) error {
	s, err := c.Session(id)
	if err != nil {
		return err
	}

	res.Session = s.Session
	if err := readAttempt(c, s, res); err != nil {
		return err
	}

	// Counts of recalls that are not stored yet belong to the list too.
	if res.Recalled, err = c.RecalledFor(id, pending, maxRecalled, n.Now()); err != nil {
		return err
	}
	if res.Streams, err = c.Streams(id); err != nil {
		return err
	}

	if s.Summary != "" {
		res.Summary = &robotmem.SessionSummary{}
		return json.Unmarshal([]byte(s.Summary), res.Summary)
	}

	// The summary is computed for an open session, and for an ended one that was stored without a summary.
	until := n.Now()
	if s.EndedAt != nil {
		until = *s.EndedAt
	}

	sum, err := c.SummarizeSession(&s.Session, until, s.OutcomeScore, 0)
	if err != nil {
		return err
	}

	sum.EndedAt, sum.Recalled = s.EndedAt, max(sum.Recalled, len(res.Recalled))
	if s.Status == "ended" || sum.Facts+sum.Perceptions+sum.Recalled+len(sum.Streams) > 0 {
		res.Summary = &sum
	}

	return nil
}
