// Package recall ranks memories. It is independent of the store: a [Source] evaluates filters,
// ranks by each signal and loads memories, on SQLite, on PostgreSQL or in a test.
//
//	parse -> filter -> signals (lexical | vector | place | likeness) -> fuse -> rerank -> stages -> load
//
// [Parse] checks a request and returns an immutable [Query]. [Run] executes the steps in order.
// The filter comes first and is exact. Every signal ranks the memories that pass the filter,
// independently of the other signals. After the signals a memory is dropped only by the cut to n,
// by min_relevance, or because it is damaged. A signal that fails is named in degraded.
package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Ranked is one entry of a ranked list. Value is the measure of the list: a BM25
// score, a cosine, a distance or a time.
type Ranked struct {
	ID    int64
	Value float64
}

// Larger compares by value in descending order, ties by id.
func Larger(x, y Ranked) int { return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(x.ID, y.ID)) }

// Smaller compares by value in ascending order, ties by id.
func Smaller(x, y Ranked) int { return cmp.Or(cmp.Compare(x.Value, y.Value), cmp.Compare(x.ID, y.ID)) }

// KeepSmallest inserts an entry into a sorted list of the smallest limit entries.
// An entry that is larger than all of a full list costs one comparison.
func KeepSmallest(items []Ranked, r Ranked, limit int) []Ranked {
	if len(items) == limit && Smaller(items[limit-1], r) <= 0 {
		return items
	}
	at, _ := slices.BinarySearchFunc(items, r, Smaller)
	items = slices.Insert(items, at, r)
	return items[:min(len(items), limit)]
}

// Set is the set of memories that pass a filter.
type Set struct {
	Present *bitset.BitSet             // by memory id; nil for every memory
	Past    map[int64]*robotmem.Memory // with as_of: the states of memories that changed since then
}

// Count returns the number of memories.
func (s Set) Count() int { return int(s.Present.Count()) + len(s.Past) }

// only returns the intersection with a list.
func (s Set) only(items []Ranked) Set {
	out := Set{Present: bitset.New(s.Present.Len()), Past: map[int64]*robotmem.Memory{}}
	for _, item := range items {
		if m, ok := s.Past[item.ID]; ok {
			out.Past[item.ID] = m
		} else {
			out.Present.Set(uint(item.ID))
		}
	}

	return out
}

// Around are the memories of an episode before and after one of them, nearest first.
type Around struct{ Before, After []int64 }

// Source reads one snapshot of a store. If a signal fails, degraded names it with
// the detail of its error. Errors of the kinds Invalid and NotFound are errors of
// the request and end the recall, as do errors of filtering and loading.
type Source interface {
	// Filter returns the memories that pass the filters of a query, and remarks for degraded.
	Filter(ctx context.Context, q *Query) (Set, []string, error)
	// Lexical returns the memories of a set that contain any of the words, best first, ties by
	// id. A negative limit means no limit. It may run concurrently with Nearest.
	Lexical(ctx context.Context, q *Query, in Set, words Words, limit int) ([]Ranked, error)
	// Nearest returns the memories of a set whose vectors have the largest cosine
	// with the query embedding.
	Nearest(ctx context.Context, q *Query, in Set, limit int) ([]Ranked, error)
	// Scale returns the scale of the cosines of the query embedding with the memories of a set, of which
	// Nearest has found some: all if they are fewer than its limit.
	Scale(ctx context.Context, in Set, found []Ranked, limit int) (Scale, error)
	// Vectors returns the vectors of memories, of length 1, without those that have none.
	Vectors(ctx context.Context, ids []int64) (map[int64][]float32, error)
	// Full returns about the score that Lexical gives a memory which has each of the words once.
	Full(q *Query, words Words) float64
	// Places returns the memories of a set that are nearest to the place of the query,
	// nearest first, ties by id, and remarks for degraded.
	Places(ctx context.Context, at *robotmem.SpatialSort, in Set, limit int) (items []Ranked, notes []string, err error)
	// Likeness returns the perceptions of a set that are most similar to that of
	// the query, most similar first. For a memory without a payload these are the memories with
	// similar texts.
	Likeness(ctx context.Context, q *Query, in Set, limit int) (Alike, error)
	// Around returns at most n memories on each side of each memory that is in an episode.
	// They are all members of the set.
	Around(in Set, ids []int64, n int) map[int64]Around
	// Timeline sorts a set by time of observation: oldest first for a query of one
	// episode, otherwise newest first.
	Timeline(ctx context.Context, q *Query, in Set, limit int) ([]Ranked, error)
	// Load reads memories of a set. Damaged ones have an error in damaged, and those that were
	// removed are in neither map.
	Load(ctx context.Context, q *Query, in Set, ids []int64) (
		found map[int64]*robotmem.Memory, damaged map[int64]error, err error)
	// Holds reports whether any memory of a set has a term, in its text or its context.
	Holds(ctx context.Context, q *Query, in Set, term string) (bool, error)
	// Row returns the columns of a memory, which are in memory.
	Row(id int64) Row
	// Hints returns reasons for an empty result, such as a path that no memory has; in is what
	// passes the filters.
	Hints(ctx context.Context, q *Query, in Set) ([]string, error)
}

// Scale says what a cosine means: for the query, whose cosines with memories have a mean and a standard
// deviation, and for the model, by the cosines of pairs of stored texts.
type Scale struct {
	Of                   int // memories with a vector that pass the filters
	Mean, Spread         float64
	Pairs                int // that were compared
	PairMean, PairSpread float64
}

// leastSpread is about the standard deviation that rounding causes among the cosines of equal vectors.
const leastSpread = 1e-4

// LeastPairs is the least number of pairs whose cosines show a usual value: eight texts have 28.
const LeastPairs = 28

// lift returns by how many standard deviations a cosine is above the mean of the query.
func (s Scale) lift(cosine float64) float64 { return (cosine - s.Mean) / max(s.Spread, leastSpread) }

// surprise compares the lift of the nearest memory with that of the largest of as many normal random numbers,
// which is about sqrt(2 ln n). It is below 0 for most questions, since cosines are not independent.
func (s Scale) surprise(nearest float64) float64 {
	return s.lift(nearest) - math.Sqrt(2*math.Log(float64(max(s.Of, 2))))
}

// nearness returns by how many standard deviations a cosine is above that of two stored texts. It is 0 if too
// few are stored.
func (s Scale) nearness(cosine float64) float64 {
	if s.Pairs < LeastPairs {
		return 0
	}
	return (cosine - s.PairMean) / max(s.PairSpread, leastSpread)
}

// Alike are memories that are similar to another one, with their distances, most similar first.
type Alike struct {
	Items []Ranked
	Notes []string // for degraded
	Texts *Scale   // if texts are compared, whose distance is 1 - cosine
}

// Row has the columns of a memory that ranking reads for every hit, also before it is loaded.
type Row struct {
	Observed int64  // nanoseconds since 1970
	Real     bool   // sensed in the real world
	Outcome  string // success, failure, partial or unknown
}

// Config has the weights of fusion.
type Config struct {
	// Weights are the weights of the ranked lists, by name. The default is 1, for
	// the list of vectors vectorWeight if it is kept apart.
	Weights map[string]float64
	// Fusion is "" or FusionRRF.
	Fusion string
	// RealWeight multiplies the score of memories from the real world.
	RealWeight float64
	// Rerank has the question to a reranker and its answer; nil without a reranker.
	Rerank *Rerank
}

// The names of the ranked lists.
const (
	ListWords    = "bm25"
	ListVector   = "vector"
	ListPlace    = "place"
	ListLikeness = "likeness"
	ListTime     = "time"
	ListText     = "text" // words, vectors and neighbours together, by score
	ListRerank   = "rerank"
	// Evidence and Neighbours are weights without a list. At 0, outcomes and episodes do not
	// change the order.
	Evidence = "evidence"
	// Context is the weight of words in the context of a memory.
	Context    = "context"
	Neighbours = "neighbours"
)

// list is the result of one signal, best first.
type list struct {
	name  string
	items []Ranked
	part  bool // of the list text, so that it has no score of its own
}

// hit is a candidate for the response.
type hit struct {
	Row
	id       int64
	score    float64
	distance *float64
	cosine   *float64 // to the query embedding, nil if not computed
	found    []robotmem.ListEntry
	memory   *robotmem.Memory // nil until it is loaded
	words    float64          // BM25 score
	text     float64          // of words and vectors together, 0 without vectors
	vector   []float32        // nil until it is needed, and if there is none
	has      map[string]bool  // by stem of a query word: whether the text has it; nil until it is needed
	subject  *subject         // nil until it is needed
	// matchedWords returns the words of the query that the memory has, in its text or its context.
	matchedWords func() map[string]bool
}

// run is the state of one recall.
type run struct {
	*Query
	Config
	src      Source
	set      Set
	lists    []list
	usual    Scale             // of the cosines of the query embedding
	scores   map[int64]float64 // BM25 scores, if they were combined with cosines
	cosines  map[int64]float64
	texts    map[int64]float64 // scores of words and cosines together
	vectors  bool              // the vector signal is used and has not failed
	degraded []string
	kind     func() text.Kind // of the question
	newest   bool             // no memory shares a word with the query, so the answer is what passes the filters
	reranked bool             // the best hits are in the order of a reranker
	notes    []string         // remarks: what is unknown, what was not used
	// stopOnly has the memories that share only stop words with the query.
	// RealWeight does not apply to them.
	stopOnly map[int64]bool
	// unreadable has the memories that were removed or are damaged.
	unreadable map[int64]bool
	last       time.Time // end of the stage before, for explain
	stages     []robotmem.Stage
}

// Run executes a query on a source. Errors are *robotmem.Error or those of the source.
func Run(ctx context.Context, src Source, q *Query, config Config) (*robotmem.RecallResponse, error) {
	// Run does not modify the query, so the run appends to copies of its slices.
	r := &run{
		Query:      q,
		Config:     config,
		src:        src,
		vectors:    q.Embedded,
		notes:      slices.Clone(q.notes),
		degraded:   slices.Clone(q.broken),
		unreadable: map[int64]bool{},
		last:       time.Now(),
	}
	// The kind is that of the whole question, because its time expressions, which q.Query lacks, belong to it.
	r.kind = sync.OnceValue(func() text.Kind { return text.KindOf(q.asked) })

	set, notes, err := src.Filter(ctx, q)
	if err != nil {
		return nil, err
	}

	r.set, r.degraded = set, append(r.degraded, notes...)
	r.trace("filter", r.set.Count())
	if err := r.signals(ctx); err != nil {
		return nil, err
	}
	if err := r.noteUnknown(ctx); err != nil {
		return nil, err
	}

	// After the signals the deadline no longer applies, so that results are returned.
	ctx = context.WithoutCancel(ctx)
	hits := r.fuse()
	r.trace("fuse", len(hits))

	// Relevance needs the text of a memory, so hits are loaded until the next stages have enough relevant ones.
	if r.MinRelevance > 0 {
		enough := r.N
		if r.Diversity > 0 {
			enough = max(enough, diversePool)
		}
		if r.Rerank != nil {
			enough = max(enough, rerankPool)
		}
		hits, _, err = r.first(ctx, hits, enough, func(h *hit) bool { return r.relevance(h) >= r.MinRelevance })
		if err != nil {
			return nil, err
		}
	}

	r.trace("relevant", len(hits))
	if r.Rerank != nil {
		if hits, err = r.rerank(ctx, hits); err != nil {
			return nil, err
		}
		r.trace(ListRerank, len(hits))
	}

	for _, s := range stages {
		if hits, err = s.run(ctx, r, hits); err != nil {
			return nil, err
		}
		r.trace(s.name, len(hits))
	}

	// Warnings count attempts among more hits than the answer has.
	warnings, err := r.warnings(ctx, hits)
	if err != nil {
		return nil, err
	}
	if hits, _, err = r.first(ctx, hits, r.N, anyHit); err != nil {
		return nil, err
	}

	r.trace("load", len(hits))
	normalizeScores(hits)

	res := &robotmem.RecallResponse{
		Warnings: warnings,
		Memories: make([]robotmem.Memory, 0, len(hits)),
		Times:    q.Times,
		Mode:     r.mode(),
	}
	for i := range hits {
		res.Memories = append(res.Memories, r.result(&hits[i]))
	}

	if err := r.addContext(ctx, res.Memories); err != nil {
		return nil, err
	}

	r.matching(ctx, res)
	r.noteOtherMaps(res.Memories)
	noteConflicts(res.Memories, hits)
	if len(res.Memories) == 0 {
		hints, err := src.Hints(ctx, q, r.set)
		if err != nil {
			return nil, err
		}
		// Where nothing passes the filters, they come first: the words have been compared with nothing.
		if r.set.Count() == 0 {
			r.notes = append(hints, r.notes...)
		} else {
			r.notes = append(r.notes, hints...)
		}
	}

	res.Total = len(res.Memories)
	res.Degraded = r.degraded
	res.Notes = r.notes
	res.Stages = r.stages
	// In JSON an answer that is not degraded has an empty list, not null.
	if res.Degraded == nil {
		res.Degraded = []string{}
	}

	return res, nil
}

// add stores the list of a signal, or adds its error to degraded.
func (r *run) add(name string, items []Ranked, notes []string, err error) error {
	if errors.Is(err, robotmem.Invalid) || errors.Is(err, robotmem.NotFound) {
		return err
	}
	if err != nil {
		r.degraded = append(r.degraded, name+": "+robotmem.Detail(err))
		return nil
	}
	r.lists = append(r.lists, list{name: name, items: items})
	r.degraded = append(r.degraded, notes...)
	r.trace(name, len(items))

	return nil
}

// signals computes the ranked lists.
func (r *run) signals(ctx context.Context) error {
	q, within := r.Query, r.set
	if q.SpatialSort != nil {
		limit := r.listDepth()
		if q.Strict() {
			limit = q.N
		}
		items, notes, err := r.src.Places(ctx, q.SpatialSort, r.set, limit)
		if err := r.add(ListPlace, items, notes, err); err != nil {
			return err
		}

		// A strict order has only the nearest n memories, so words need to rank only these.
		if q.Strict() && err == nil {
			within = r.set.only(items)
		}
	}

	if q.Like != nil {
		alike, err := r.src.Likeness(ctx, q, r.set, r.listDepth())
		if err := r.add(ListLikeness, alike.Items, alike.Notes, err); err != nil {
			return err
		}

		// Without a query, relevance is computed from the cosines of the compared texts.
		if alike.Texts != nil && q.Query == "" {
			r.usual, r.cosines = *alike.Texts, make(map[int64]float64, len(alike.Items))
			for _, item := range alike.Items {
				r.cosines[item.ID] = 1 - item.Value
			}
		}
	}

	if err := r.textSignals(ctx, within); err != nil {
		return err
	}
	if err := r.byScore(ctx); err != nil {
		return err
	}

	// The timeline ranks a request without query, place or likeness. It also replaces an empty answer if the
	// filters say which memories are meant.
	if !q.timeOrder() {
		if !r.foundNothing() || !q.filtered() || q.MinRelevance > 0 || r.Typing != nil || r.set.Count() == 0 {
			return nil
		}
		r.newest = true
		r.notes = append(r.notes, noSharedWord)
	}

	// A question such as "what went wrong yesterday" has no words left beside its time. The failures come first,
	// and the order is by time among equal outcomes.
	byOutcome := q.Narrowed && q.Query == "" && r.kind() != text.Plain
	limit := r.depth()
	if byOutcome {
		limit = max(limit, outcomeDepth)
	}

	items, err := r.src.Timeline(ctx, q, r.set, limit)
	if byOutcome {
		order := func(item Ranked) int { return outcomeOrder(r.src.Row(item.ID).Outcome, false, r.kind()) }
		slices.SortStableFunc(items, func(x, y Ranked) int { return cmp.Compare(order(y), order(x)) })
	}

	return r.add(ListTime, items, nil, err)
}

const noSharedWord = "query: no memory that passes the filters shares a word with it; " +
	"these pass the filters, newest first"

// SharesNoWord reports whether an answer has the newest memories that pass the filters, because none of them shares
// a word with the query.
func SharesNoWord(res *robotmem.RecallResponse) bool { return slices.Contains(res.Notes, noSharedWord) }

// outcomeDepth is the number of newest memories of a time that are ordered by their outcome.
const outcomeDepth = 500

// foundNothing reports whether no signal has found any memory, and none has failed.
func (r *run) foundNothing() bool {
	return len(r.lists) > 0 && !slices.ContainsFunc(r.lists, func(l list) bool { return len(l.items) > 0 })
}

// textSignals ranks by words and by vectors concurrently.
func (r *run) textSignals(ctx context.Context, within Set) error {
	var (
		words, near struct {
			items []Ranked
			err   error
		}
		ranking sync.WaitGroup
	)

	// Words are ranked in another goroutine only if this one ranks by vectors.
	rankWords := func() { words.items, words.err = r.lexical(ctx, within) }
	if len(r.Content) > 0 && r.vectors {
		ranking.Go(rankWords)
	} else if len(r.Content) > 0 {
		rankWords()
	}

	if r.vectors {
		near.items, near.err = r.src.Nearest(ctx, r.Query, r.set, r.listDepth())
		if near.err == nil {
			r.usual, near.err = r.src.Scale(ctx, r.set, near.items, r.listDepth())
		}
	}

	// r.vectors changes only after the wait, because lexical reads it.
	ranking.Wait()
	r.vectors = r.vectors && near.err == nil

	if len(r.Content) > 0 {
		// With vectors, lexical omits memories that share only stop words, and has a
		// shorter limit. If the vectors failed, rank again as without an embedder.
		if r.Embedded && !r.vectors && words.err == nil && (len(r.Stop) > 0 || r.MinRelevance > 0) {
			words.items, words.err = r.lexical(ctx, within)
		}
		if err := r.add(ListWords, words.items, nil, words.err); err != nil {
			return err
		}
	}

	if !r.Embedded {
		return nil
	}

	return r.add(ListVector, near.items, nil, near.err)
}

// lexical ranks by the words of the query. Memories that share only stop words
// with it come last, and only if there are fewer than n others and no vectors.
// With min_relevance and no other list, lexical returns all matches.
func (r *run) lexical(ctx context.Context, within Set) ([]Ranked, error) {
	limit := r.depth()
	switch {
	case r.fused():
		limit = r.listDepth()
	case r.MinRelevance > 0:
		limit = -1
	}

	items, err := r.src.Lexical(ctx, r.Query, within, r.words(), limit)

	// If the list ends within the memories that share the score of the n-th, others may have that score too. They
	// share a rank, so the newest of them come first, and a longer list is read.
	if n := len(items); n == limit && n < diversePool && items[n-1].Value == items[min(n, r.N)-1].Value {
		items, err = r.src.Lexical(ctx, r.Query, within, r.words(), diversePool)
	}
	if err != nil || len(items) >= r.N || len(r.Stop) == 0 || r.vectors {
		return items, err
	}

	more, err := r.src.Lexical(ctx, r.Query, within, Words{Terms: r.Stop}, limit)
	if err != nil {
		return nil, err
	}

	have := make(map[int64]bool, len(items))
	for _, item := range items {
		have[item.ID] = true
	}

	r.stopOnly = map[int64]bool{}

	for _, item := range more {
		if !have[item.ID] {
			items = append(items, Ranked{item.ID, 0})
			r.stopOnly[item.ID] = true
		}
	}

	return items, nil
}

// load reads the memories of hits that are not loaded yet. A hit has none afterwards if its
// memory was removed or is damaged.
func (r *run) load(ctx context.Context, hits []hit) error {
	var ids []int64

	for i := range hits {
		if h := &hits[i]; h.memory == nil && !r.unreadable[h.id] {
			ids = append(ids, h.id)
		}
	}

	if len(ids) == 0 {
		return nil
	}

	found, damaged, err := r.src.Load(ctx, r.Query, r.set, ids)
	if err != nil {
		return err
	}

	var withoutCosine []Ranked

	for i := range hits {
		h := &hits[i]
		if h.memory != nil || r.unreadable[h.id] {
			continue
		}
		if h.memory = found[h.id]; h.memory == nil {
			r.unreadable[h.id] = true
		}
		if err := damaged[h.id]; err != nil {
			r.degraded = append(r.degraded, fmt.Sprintf("memory %d: %s", h.id, robotmem.Detail(err)))
		}
		if h.memory != nil && h.cosine == nil && r.vectors {
			withoutCosine = append(withoutCosine, Ranked{ID: h.id})
		}
	}

	if len(withoutCosine) == 0 {
		return nil
	}

	// Relevance and evidence need the cosine of every hit, also of one that only other lists have found.
	near, err := r.src.Nearest(ctx, r.Query, r.set.only(withoutCosine), len(withoutCosine))
	for i := range hits {
		at := slices.IndexFunc(near, func(n Ranked) bool { return n.ID == hits[i].id })
		if at >= 0 && hits[i].cosine == nil {
			hits[i].cosine = &near[at].Value
		}
	}

	return err
}

// loadAhead loads a hit with some of those after it, unless it is loaded. ok is false if its
// memory was removed or is damaged.
func (r *run) loadAhead(ctx context.Context, hits []hit, i, n int) (ok bool, err error) {
	if hits[i].memory == nil && !r.unreadable[hits[i].id] {
		err = r.load(ctx, hits[i:min(i+n, len(hits))])
	}
	return hits[i].memory != nil, err
}

// first loads hits until it has n that exist, are not damaged and are wanted. It returns these and
// the hits after the last of them.
func (r *run) first(ctx context.Context, hits []hit, n int, wanted func(*hit) bool) (kept, rest []hit, err error) {
	kept = make([]hit, 0, min(n, len(hits)))
	for len(kept) < n && len(hits) > 0 {
		next := hits[:min(n-len(kept), len(hits))]
		if err := r.load(ctx, next); err != nil {
			return nil, nil, err
		}

		for i := range next {
			if next[i].memory != nil && wanted(&next[i]) {
				kept = append(kept, next[i])
			}
		}
		hits = hits[len(next):]
	}

	return kept, hits, nil
}

// anyHit wants every hit.
func anyHit(*hit) bool { return true }

// result returns the memory of a hit for the response.
func (r *run) result(h *hit) robotmem.Memory {
	m := *h.memory
	score, relevance := h.score, r.relevance(h)
	m.Score, m.Relevance, m.Distance, m.Found = &score, &relevance, h.distance, h.found
	// Only Get returns these fields, but for repeated sightings.
	m.Status, m.Version, m.AccessCount, m.ReturnCount, m.DecayRate = "", 0, 0, 0, 0
	if m.Sightings == 1 {
		m.Sightings = 0
	}
	m.LastAccessed, m.UpdatedAt, m.SupersededBy = nil, nil, 0
	m.ScopeFiles, m.ScopeEntity, m.UserTags = nil, nil, nil

	return m
}

// mode returns the mode of the response.
func (r *run) mode() string {
	vector := r.named(ListVector) != nil
	switch {
	case r.Query.Query == "":
		return "structured"
	case vector && r.named(ListWords) != nil:
		return "hybrid"
	case vector:
		return "vec_only"
	}

	return "bm25_only"
}

// trace records, for explain, the number of kept memories and the duration of a stage.
func (r *run) trace(stage string, kept int) {
	if !r.Explain {
		return
	}
	now := time.Now()
	ms := float64(now.Sub(r.last).Microseconds()) / 1000
	r.stages = append(r.stages, robotmem.Stage{Stage: stage, Kept: kept, MS: ms})
	r.last = now
}
