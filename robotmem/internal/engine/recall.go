package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Engine) Recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	if err := n.isAsked(req.Scope); err != nil {
		return nil, robotmem.Wrap("recall", err)
	}

	res, err := n.recall(ctx, req)
	if err != nil {
		return nil, robotmem.Wrap("recall", err)
	}

	if err := n.addSurprises(ctx, req, res); err != nil {
		return nil, robotmem.Wrap("recall", err)
	}

	recall.Present(req, res, n.Now())
	if req.AsYouType {
		// Typing one query causes many recalls, which are not counted.
		return res, nil
	}

	collection := recall.Collection(req)

	// A caller may invent any number of names, and each would add rows of hourly counts.
	if !n.index.Columns.Knows(collection) {
		collection = ""
	}

	one := store.OneRecall(collection, len(res.Memories), n.Now())
	// read-only callers do not change what retention keeps or a session lists.
	if !robotmem.CallerOf(ctx).ReadOnly {
		one.Give(res.Memories, req.ForSession)
	}

	n.counters.count(one)

	return res, nil
}

// addSurprises adds the memories that are tied to the answers, if the request asks for some.
func (n *Engine) addSurprises(ctx context.Context, req *robotmem.RecallRequest, res *robotmem.RecallResponse) error {
	if req.Surprise == 0 || len(res.Memories) == 0 {
		return nil
	}

	words := n.index.Postings.Held()
	if words == nil {
		res.Degraded = append(res.Degraded, "surprising: the words are not loaded; ask again")
		return nil
	}

	collection := recall.Collection(req)
	vocabulary := &recall.Vocabulary{
		Rows:    words.Stats(collection).Rows,
		Holders: func(stem string) int { return words.DocumentFrequency(collection, stem) },
	}

	ties := recall.TiesOf(req, res.Memories, vocabulary)
	if ties == nil {
		return nil
	}
	found, err := n.recall(ctx, ties)
	if err == nil {
		res.Surprising = recall.Surprises(req.Query, res.Memories, found.Memories, vocabulary, req.Surprise, n.Now())
	}

	return err
}

// isAsked fails if a request asks for the answer of a site, and this memory is a file that has joined none. The memory
// of a site answers such a request itself.
func (n *Engine) isAsked(scope string) error {
	if (scope == robotmem.ScopeFleet || scope == robotmem.ScopeBoth) && n.Store.InFile() {
		return robotmem.Errorf(robotmem.Invalid, "scope",
			"is %q, but this memory has joined no site; leave scope out, or run robotmem fleet join URL and start the node again",
			scope)
	}
	return nil
}

func (n *Engine) Search(ctx context.Context, req *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return serve("search", req, func(r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
		res, err := n.Recall(ctx,
			&robotmem.RecallRequest{
				Query: r.Q, Collection: r.Collection, N: r.TopK, ParseTime: r.ParseTime, Explain: r.Explain,
			})
		if renamed := (*robotmem.Error)(nil); errors.As(err, &renamed) {
			renamed.Op = "search"
		}

		return res, err
	})
}

// recall answers a query without counting it. If no memory of the time in a query shares a word with it,
// the answer comes without the time; if none at all does, the memories of the time answer.
func (n *Engine) recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	q, err := recall.Parse(req, n.LocalNow())
	if err != nil {
		return nil, err
	}

	res, err := n.answerQuery(ctx, q)

	// An unfinished query is not searched again: each key pressed would cost up to three searches.
	if err != nil || len(res.Memories) > 0 || !q.Narrowed || req.AsYouType {
		return res, err
	}

	instead := func(req robotmem.RecallRequest, note string) (*robotmem.RecallResponse, error) {
		req.ParseTime = new(false)
		q, err := recall.Parse(&req, n.LocalNow())
		if err != nil {
			return nil, err
		}
		other, err := n.answerQuery(ctx, q)
		if err == nil {
			other.Notes = append([]string{note}, other.Notes...)
		}

		return other, err
	}
	when := res.Times[0].Text
	timed := *req
	timed.Query, timed.After, timed.Before = "", q.After, q.Before
	if q.Query != "" {
		other, err := instead(*req,
			fmt.Sprintf("time: no memory of %q has a word of the question; the answer is from all times", when))
		if err != nil || len(other.Memories) > 0 {
			return other, err
		}
		other, err = instead(timed,
			fmt.Sprintf("time: no memory has the words %q; these are the memories of %q", q.Query, when))
		if err != nil || len(other.Memories) > 0 {
			if err == nil {
				other.Times = res.Times
			}
			return other, err
		}
	} else if req.ParseTime == nil {
		// A text may hold the date: "in May 2023".
		other, err := instead(*req, fmt.Sprintf("time: no memory was observed %q; it was searched as words", when))
		if err != nil || len(other.Memories) > 0 {
			return other, err
		}
	}

	return res, nil
}

// withWords runs f after the posting lists are loaded, if they are needed. If they are missing, f gets the reason. If f
// finds that a repair has dropped the lists meanwhile, withWords starts again.
func (n *Engine) withWords(ctx context.Context, needed bool, f func(missing error) error) (err error) {
	for err = index.ErrPostingsDropped; errors.Is(err, index.ErrPostingsDropped); {
		var missing error
		if needed {
			missing = n.index.AwaitPostings(ctx)
		}
		err = f(missing)
	}

	return err
}

// answerQuery answers one query. It holds no connection while it waits for the query embedding,
// the posting lists or the reranker.
func (n *Engine) answerQuery(ctx context.Context, q *recall.Query) (*robotmem.RecallResponse, error) {
	start := time.Now()
	if q.DeadlineMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(q.DeadlineMS)*time.Millisecond)
		defer cancel()
	}

	s := &source{Engine: n}
	if s.embedding = n.embeddings.Ask(ctx, q); s.embedding != nil {
		defer s.embedding.Cancel()
		q.Embedded = true
	}

	s.rerank = n.reranking.Begin(q)
	search := func(ctx context.Context) (res *robotmem.RecallResponse, err error) {
		err = n.withWords(ctx, len(q.Content) > 0 || q.Entity != "", func(missing error) error {
			s.wordsErr = missing
			return n.Store.Read(ctx, func(c *store.Conn) (err error) {
				res, err = s.answer(ctx, c, q)
				return err
			})
		})

		return res, err
	}
	searching := time.Now()
	res, err := search(ctx)
	if err != nil {
		return nil, err
	}

	// A single candidate has no other order.
	if s.rerank != nil && len(s.rerank.Candidates) > 1 {
		res = n.rerankAnswer(ctx, q, s.rerank, res, time.Since(searching), search)
	}

	res.QueryMS = millis(time.Since(start))

	return res, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// answer runs a query in the snapshot of c.
func (s *source) answer(ctx context.Context, c *store.Conn, q *recall.Query) (_ *robotmem.RecallResponse, err error) {
	s.c = c
	if q.MapID, err = s.checkSessions(q); err != nil {
		return nil, err
	}

	if len(q.Content) > 0 || q.Entity != "" {
		s.words, err = s.index.Postings.At(c)

		// The posting lists were loaded before the snapshot began and are gone now, so withWords loads them again.
		if err == nil && s.words == nil && s.wordsErr == nil {
			err = index.ErrPostingsDropped
		}
		if err != nil {
			return nil, err
		}
	}

	res, err := recall.Run(ctx, s, q,
		recall.Config{
			Weights: s.options.Weights, Fusion: s.options.Fusion, RealWeight: s.options.RealWeight, Rerank: s.rerank,
		})
	if err == nil {
		res.Interpreted = append(res.Interpreted, s.interpreted...)
		res.Notes = append(res.Notes, s.remarks...)
		if s.subject != nil {
			res.Notes = append(res.Notes, s.subject.Notes()...)
		}
	}

	return res, err
}

// checkSessions fails for sessions that do not exist and returns the map of the session
// in for_session.
func (s *source) checkSessions(q *recall.Query) (mapID string, err error) {
	for field, id := range map[string]string{"session_id": q.SessionID, "for_session": q.ForSession} {
		if id == "" {
			continue
		}
		session, err := s.c.Session(id)
		if err != nil {
			if missing := (*robotmem.Error)(nil); errors.As(err, &missing) {
				missing.Field = field
			}
			return "", err
		}
		if field == "for_session" {
			mapID = record.MapOf(session.Context)
		}
	}

	return mapID, nil
}

func (s *source) Filter(_ context.Context, q *recall.Query) (in recall.Set, notes []string, err error) {
	// The sets below must be those of this snapshot.
	if err := s.index.Columns.Sync(s.c); err != nil {
		return in, nil, err
	}
	if unread := s.index.Columns.Unread(); unread != "" {
		notes = append(notes, unread)
	}

	b := basicOf(q)
	set, err := s.index.Admit(s.c, b)
	if err != nil {
		return in, nil, err
	}

	in.Present, err = s.index.Narrow(s.c, q.Filter, s.index.Columns.Tagged(q.Tags, set), q.Now)
	if err != nil {
		return in, nil, err
	}

	if q.Entity != "" {
		s.subject, err = s.finder(s.c, s.words, s.wordsErr, q.Collection, in.Present).Find("entity", q.Entity)
		if err != nil {
			return in, nil, err
		}
		in.Present = s.subject.Set
	}

	if q.AsOf != nil {
		var damaged []string
		in.Past, damaged, err = s.pastStates(q, b)
		notes = append(notes, damaged...)
	}
	if s.subject != nil {
		maps.DeleteFunc(in.Past, func(_ int64, m *robotmem.Memory) bool { return !s.subject.NamedBy(m) })
	}

	s.interpreted = s.index.Columns.UnitsTaken(q.Filter)
	if err != nil {
		return in, notes, err
	}

	bounds, err := s.index.Columns.TextBounds(s.c, q.Filter)
	s.remarks = bounds

	return in, notes, err
}

func basicOf(q *recall.Query) index.Selection {
	return index.Selection{
		Scope: index.Scope{
			Collection: q.Collection, Session: q.SessionID, Category: q.Category, Kind: q.Type,
			Perception: q.PerceptionType, MinConfidence: *q.MinConfidence,
		},
		After: q.After, Before: q.Before, Now: q.Now, AsOf: q.AsOf,
	}
}

// pastStates returns the memories changed since as_of whose state at that time passes
// every filter. notes names damaged ones.
func (s *source) pastStates(
	q *recall.Query, b index.Selection,
) (out map[int64]*robotmem.Memory, notes []string, err error) {
	states, notes, err := s.c.PastStates(*q.AsOf)
	if err != nil {
		return nil, nil, err
	}

	var unitErr error
	unit := s.index.Columns.UnitsAt(s.c, &unitErr)
	out = map[int64]*robotmem.Memory{}

	for id, past := range states {
		// The indexes hold the present states only, so tags and outcome are derived from the past text.
		rec, err := s.records.RecordFor(past.Type, past.Content, past.Context)
		if err != nil {
			return nil, nil, err
		}
		rec.UserTags = past.UserTags
		past.Tags, past.Outcome, past.OutcomeSource = rec.AllTags(), rec.Inferred().Outcome, rec.OutcomeSource
		if b.Admits(past) && hasAll(past.Tags, q.Tags) &&
			(q.Filter == nil || q.Filter.Match(&filter.View{Memory: past, Unit: unit})) {
			out[id] = past
		}
	}

	return out, notes, unitErr
}

// hasAll reports whether a list has every one of some tags.
func hasAll(have, tags []string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(have, tag) })
}
