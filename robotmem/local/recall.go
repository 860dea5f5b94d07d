package local

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// A recall reads downwards: parse, filter, signals, fuse, stages, load. The
// filter comes first and is exact; every signal ranks within it; nothing after
// the signals drops a memory that the filter admits, other than the cut to n
// and the floor of relevance that the caller asked for.

// ranked is one entry of a list: the better the earlier.
type ranked struct {
	id    int64
	value float64 // the list's own measure
}

// rankedList is what one signal found, best first.
type rankedList struct {
	name  string
	items []ranked
}

// hit is a memory on its way to the answer.
type hit struct {
	id       int64
	score    float64
	distance *float64
	cosine   *float64 // to the question's vector, where it was worked out
	found    []robotmem.ListEntry
	memory   *robotmem.Memory // once loaded
}

const (
	// rrfK flattens the head of each list (Cormack, Clarke, Büttcher 2009).
	rrfK = 60
	// maxQueryTerms bounds the work of one question.
	maxQueryTerms = 256
)

// Recall implements Service.
func (e *Engine) Recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	res, err := e.recall(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.AsYouType {
		return res, nil // one question is many of these
	}
	collection := askedOf(req)
	if !e.index.roster.knows(collection) {
		collection = ""
	}
	one := oneRecall(collection, len(res.Memories), e.now())
	if !robotmem.ReadOnly(ctx) { // what was found for somebody is kept longer, and stands in the episode
		one.give(res.Memories, req.ForSession)
	}
	e.tallies.count(one)
	return res, nil
}

// Search implements Service.
func (e *Engine) Search(ctx context.Context, req *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	r := *req
	if err := robotmem.Validate("search", &r); err != nil {
		return nil, err
	}
	res, err := e.Recall(ctx, &robotmem.RecallRequest{Query: r.Q, Collection: r.Collection, N: r.TopK, ParseTime: r.ParseTime, Explain: r.Explain})
	if renamed := (*robotmem.Error)(nil); errors.As(err, &renamed) {
		renamed.Op = "search"
	}
	return res, err
}

// recall answers without counting the question.
func (e *Engine) recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	start := time.Now()
	q := &question{RecallRequest: *req, realWeight: e.options.RealWeight}
	if err := q.parse(e.now().In(e.options.Location)); err != nil {
		return nil, sqlite.Wrap("recall", err)
	}
	res := &robotmem.RecallResponse{Memories: []robotmem.Memory{}, Times: q.times}
	if q.DeadlineMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(q.DeadlineMS)*time.Millisecond)
		defer cancel()
	}
	if q.lookout = e.lookOut(ctx, q); q.lookout != nil {
		defer q.lookout.cancel()
		q.lookout.wait(ctx)
	}
	if len(q.content) > 0 { // no connection is held while the index is loaded
		q.wordsErr = e.index.awaitWords(ctx)
	}
	err := e.store.read(ctx, func(c *conn) error { return e.ask(ctx, c, q, res) })
	if err != nil {
		return nil, sqlite.Wrap("recall", err)
	}
	res.Total, res.Degraded = len(res.Memories), orEmpty(q.degraded)
	res.QueryMS = millis(time.Since(start))
	return res, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ask runs the pipeline inside one snapshot.
func (e *Engine) ask(ctx context.Context, c *conn, q *question, res *robotmem.RecallResponse) error {
	trace := tracer{on: q.Explain, last: time.Now()}
	if err := e.checkSessions(c, q); err != nil {
		return err
	}
	set, err := e.filter(c, q)
	if err != nil {
		return err
	}
	trace.add("filter", set.count())

	lists, err := e.signals(ctx, c, q, set, &trace)
	if err != nil {
		return err
	}
	// From here on the answer is on its way: a deadline no longer stops it.
	c.SetInterrupt(context.WithoutCancel(ctx))
	res.Mode = q.mode(lists)
	hits := e.fuse(q, lists)
	trace.add("fuse", len(hits))
	if hits, err = e.loadForRanking(c, q, set, hits); err != nil {
		return err
	}
	trace.add("relevant", len(hits))
	for _, s := range rankStages {
		hits = s.run(q, hits)
		trace.add(s.name, len(hits))
	}
	if err := e.load(c, q, set, hits); err != nil {
		return err
	}
	for i := range hits {
		if hits[i].memory != nil {
			res.Memories = append(res.Memories, hits[i].answer(q))
		}
	}
	trace.add("load", len(res.Memories))
	q.nameOtherMaps(res.Memories)
	res.Stages = trace.stages
	if len(res.Memories) > 0 {
		return nil
	}
	return e.explainNothing(c, q)
}

// checkSessions refuses sessions that do not exist.
func (e *Engine) checkSessions(c *conn, q *question) error {
	for field, id := range map[string]string{"session_id": q.SessionID, "for_session": q.ForSession} {
		if id == "" {
			continue
		}
		s, err := c.session(id)
		if err != nil {
			if missing := (*robotmem.Error)(nil); errors.As(err, &missing) {
				missing.Field = field
			}
			return err
		}
		if field == "for_session" {
			q.mapID = mapOf(s.Context)
		}
	}
	return nil
}

// admitted is what the filter lets through.
type admitted struct {
	set  *bitset.BitSet   // present states, by memory id
	all  bool             // set is every active memory
	past map[int64]*state // with as_of: states that have changed since
}

func (a *admitted) count() int { return int(a.set.Count()) + len(a.past) }

// filter evaluates every condition before anything is ranked.
func (e *Engine) filter(c *conn, q *question) (*admitted, error) {
	if err := e.index.roster.sync(c); err != nil {
		return nil, err
	}
	b := basic{
		audience: audience{collection: q.Collection, session: q.SessionID, category: q.Category, kind: q.Type, perception: q.PerceptionType, minConfidence: *q.MinConfidence},
		after:    q.After, before: q.Before, now: q.now, asOf: q.AsOf,
	}
	a := &admitted{}
	var err error
	if a.set, a.all, err = e.index.admit(c, b); err != nil {
		return nil, err
	}
	if len(q.Tags) == 0 && q.filter == nil && q.AsOf == nil {
		return a, nil
	}
	a.all = false
	if a.set, err = tagged(c, q.Tags, a.set); err != nil {
		return nil, err
	}
	if a.set, err = e.index.narrow(c, q.filter, a.set, q.now); err != nil {
		return nil, err
	}
	if q.AsOf != nil {
		a.past, err = e.pastStates(c, q, b)
	}
	return a, err
}

// signals asks each source for its ranked list. One that fails is named in
// degraded and the others answer.
func (e *Engine) signals(ctx context.Context, c *conn, q *question, set *admitted, trace *tracer) (lists []rankedList, err error) {
	try := func(name string, run func() ([]ranked, error)) error {
		items, err := run()
		refused := (*robotmem.Error)(nil)
		switch {
		case errors.As(err, new(silent)):
			q.degraded = append(q.degraded, name+": "+err.Error())
			return nil
		case errors.As(err, &refused):
			return err
		case err != nil:
			e.log.Warn("signal failed", "signal", name, "err", err)
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			q.degraded = append(q.degraded, name+": "+sqlite.Explain(err).Detail())
			return nil
		}
		lists = append(lists, rankedList{name, items})
		trace.add(name, len(items))
		return nil
	}
	within := set
	if q.SpatialSort != nil {
		if err := try(listPlace, func() ([]ranked, error) { return e.placeSignal(c, q, set) }); err != nil {
			return nil, err
		}
		if q.strict() && len(lists) > 0 {
			lists[0].items = lists[0].items[:min(q.N, len(lists[0].items))]
			within = set.only(lists[0].items)
		}
	}
	if q.Like != nil {
		if err := try(listLikeness, func() ([]ranked, error) { return e.likenessSignal(c, q, set) }); err != nil {
			return nil, err
		}
	}
	words := func() ([]ranked, error) { return e.lexicalSignal(c, q, within) }
	vectors := func() ([]ranked, error) { return e.vectorSignal(c, q, set) }
	if len(q.content) > 0 && q.lookout != nil {
		if words, vectors, err = e.sideBySide(c, q, within, words, vectors); err != nil {
			return nil, err
		}
	}
	if len(q.content) > 0 {
		if err := try(listWords, words); err != nil {
			return nil, err
		}
	}
	if q.lookout != nil {
		if err := try(listVector, vectors); err != nil {
			return nil, err
		}
		e.wordsAlone(c, q, within, lists)
	}
	if q.timeOrder() {
		if err := try(listTime, func() ([]ranked, error) { return e.timeSignal(q, set), nil }); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// wordsAlone makes the list of words what it is on a node without an embedder,
// when the vectors have not answered: it left out what shares only stop words
// with the question, and ended where other lists take over.
func (e *Engine) wordsAlone(c *conn, q *question, a *admitted, lists []rankedList) {
	if slices.ContainsFunc(lists, func(l rankedList) bool { return l.name == listVector }) {
		return
	}
	q.lookout = nil
	for i := range lists {
		if lists[i].name != listWords || len(q.stop) == 0 && q.MinRelevance == 0 {
			continue
		}
		if items, err := e.lexicalSignal(c, q, a); err == nil { // else the shorter list stands
			lists[i].items = items
		}
	}
}

// The names of the ranked lists.
const (
	listWords    = "bm25"
	listVector   = "vector"
	listPlace    = "place"
	listLikeness = "likeness"
	listTime     = "time"
)

// signal is what gives one ranked list.
type signal func() ([]ranked, error)

// sideBySide lets words and vectors search at once where the words' index is in
// memory: only one of them may use the connection.
func (e *Engine) sideBySide(c *conn, q *question, a *admitted, words, vectors signal) (signal, signal, error) {
	index, err := e.index.words.at(c)
	if err != nil || index == nil {
		return words, vectors, err
	}
	found := make(chan []ranked, 1)
	go func() { found <- searchWords(index, q.Collection, a, q.words(), q.listDepth()) }()
	items, err := vectors()
	return func() ([]ranked, error) { return <-found, nil }, func() ([]ranked, error) { return items, err }, nil
}

// only is the part of the admitted set that is in a list.
func (a *admitted) only(items []ranked) *admitted {
	out := &admitted{set: bitset.New(a.set.Len()), past: map[int64]*state{}}
	for _, r := range items {
		if s, ok := a.past[r.id]; ok {
			out.past[r.id] = s
		} else {
			out.set.Set(uint(r.id))
		}
	}
	return out
}

// timeSignal orders by time of observation: an episode is replayed from its
// beginning, anything else comes newest first.
func (e *Engine) timeSignal(q *question, a *admitted) []ranked {
	moments := e.index.roster.moments(a.set)
	for id, s := range a.past {
		moments = append(moments, moment{id, s.memory.ObservedAt.UnixNano()})
	}
	slices.SortFunc(moments, func(x, y moment) int {
		if q.SessionID == "" {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(x.ns, y.ns), cmp.Compare(x.id, y.id))
	})
	items := make([]ranked, min(len(moments), q.depth()))
	for i := range items {
		items[i] = ranked{moments[i].id, float64(moments[i].ns) / 1e9}
	}
	return items
}

// fuse merges ranked lists by reciprocal rank: score = Σ w/(k + rank + 1) with
// the weight of each list, times the weight of the source for what was sensed
// in the real world; best first, ties by id.
func (e *Engine) fuse(q *question, lists []rankedList) []hit {
	at := map[int64]int{}
	var hits []hit
	// When all that was found was found by lists without a weight, their order
	// is the best there is.
	weighs := slices.ContainsFunc(lists, func(l rankedList) bool { return len(l.items) > 0 && e.weight(q, l) > 0 })
	for _, l := range lists {
		weight := e.weight(q, l)
		switch {
		case !weighs:
			weight = 1
		case weight == 0 && !(q.strict() && l.name == listPlace): // a strict place decides without a weight
			continue
		}
		for rank, r := range l.items {
			i, ok := at[r.id]
			if !ok {
				i = len(hits)
				at[r.id] = i
				hits = append(hits, hit{id: r.id})
			}
			hits[i].score += weight / float64(rrfK+rank+1)
			switch l.name {
			case listPlace:
				hits[i].distance = &r.value
			case listVector:
				hits[i].cosine = &r.value
			}
			if q.Explain {
				hits[i].found = append(hits[i].found, robotmem.ListEntry{List: l.name, Rank: rank, Value: r.value})
			}
		}
	}
	for i := range hits {
		if row, ok := e.index.roster.row(hits[i].id); ok && row.real && !q.stopOnly[hits[i].id] {
			hits[i].score *= e.options.RealWeight
		}
	}
	if !q.timeOrder() {
		byScore(hits)
	}
	return hits
}

// weight is what a list counts in the fusion.
func (e *Engine) weight(q *question, l rankedList) float64 {
	if w, ok := e.options.Weights[l.name]; ok {
		return w
	}
	if l.name == listVector && len(l.items) > 0 {
		return vectorWeight(lifted(l.items[0].value, q.usual))
	}
	return 1
}

// vectorWeight is the weight of the vectors where none is configured, by how near
// the nearest of them is. Ordinarily it is small: vectors bring up what the words
// have missed, and leave the order of what the words have found, as ranks next to
// each other differ so little in reciprocal rank fusion that an even vote of a
// small sentence model undoes it. One that says nearly the same as the question
// counts like a word. Chosen on the evaluation sets, see docs/recall.md.
func vectorWeight(nearest float64) float64 {
	return leastVectorWeight + (1-leastVectorWeight)*logistic{-15, 20}.at(nearest)
}

const leastVectorWeight = 0.1

func byScore(hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
}

// answer is the memory as the caller sees it.
func (h *hit) answer(q *question) robotmem.Memory {
	m := *h.memory
	score, relevance := h.score, q.relevance(h)
	m.Score, m.Relevance, m.Distance, m.Found = &score, &relevance, h.distance, h.found
	// What is asked for by id stays out of a list of answers.
	m.Status, m.Version, m.Sightings, m.AccessCount, m.ReturnCount, m.DecayRate = "", 0, 0, 0, 0, 0
	m.LastAccessed, m.UpdatedAt, m.ScopeFiles, m.ScopeEntity, m.SupersededBy, m.UserTags = nil, nil, nil, nil, 0, nil
	return m
}

// tracer notes what each stage kept and how long it took.
type tracer struct {
	on     bool
	last   time.Time
	stages []robotmem.Stage
}

func (t *tracer) add(stage string, kept int) {
	if !t.on {
		return
	}
	now := time.Now()
	t.stages = append(t.stages, robotmem.Stage{Stage: stage, Kept: kept, MS: millis(now.Sub(t.last))})
	t.last = now
}
