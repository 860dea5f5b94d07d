// Package recall ranks memories. It knows no store: a [Source] evaluates filters,
// answers the signals and loads memories, on SQLite, on PostgreSQL or in a test.
//
//	parse -> filter -> signals (lexical | vector | place | likeness) -> fuse -> stages -> load
//
// [Parse] checks a request and makes a [Query] of it, which nothing changes from
// then on. [Run] reads downwards. The filter comes first and is exact; every signal
// ranks within it and does not depend on the others; nothing after the signals
// drops a memory that the filter admits, other than the cut to n, the floor of
// relevance that the caller asked for, and damage in the memory itself. A signal
// that cannot answer is named in degraded.
package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Ranked is one entry of a list, the better the earlier. Value is the list's own
// measure: a BM25 score, a cosine, a distance, a time.
type Ranked struct {
	ID    int64
	Value float64
}

// Larger orders by value, the larger first, ties by id.
func Larger(x, y Ranked) int { return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(x.ID, y.ID)) }

// Smaller orders by value, the smaller first, ties by id.
func Smaller(x, y Ranked) int { return cmp.Or(cmp.Compare(x.Value, y.Value), cmp.Compare(x.ID, y.ID)) }

// KeepSmallest adds an entry to the limit of the smallest, in order by insertion,
// which costs nothing for the many that are larger.
func KeepSmallest(items []Ranked, r Ranked, limit int) []Ranked {
	if len(items) == limit && Smaller(items[limit-1], r) <= 0 {
		return items
	}
	at, _ := slices.BinarySearchFunc(items, r, Smaller)
	items = slices.Insert(items, at, r)
	return items[:min(len(items), limit)]
}

// Set is what a filter admits. Only the Source that made it looks inside.
type Set interface {
	// Count is how many memories are in it.
	Count() int
	// Only is the part of it that is in a list.
	Only([]Ranked) Set
}

// Filter evaluates every condition of a query.
type Filter interface {
	// Filter returns the memories that a query admits, with remarks for degraded.
	Filter(ctx context.Context, q *Query) (Set, []string, error)
}

// Lexical ranks by words. It may be called while Nearest is.
type Lexical interface {
	// Lexical returns the memories of a set that hold any of the words, best
	// first, ties by id. A negative limit is none.
	Lexical(ctx context.Context, q *Query, in Set, words Words, limit int) ([]Ranked, error)
}

// Nearest ranks by meaning.
type Nearest interface {
	// Nearest returns the memories of a set whose vectors have the largest cosine
	// with the query embedding, and the cosine of an average memory.
	Nearest(ctx context.Context, q *Query, in Set, limit int) (items []Ranked, usual float64, err error)
	// Cosine is that of one memory of the set; ok is false if it has no vector.
	Cosine(ctx context.Context, q *Query, in Set, id int64) (cosine float64, ok bool, err error)
}

// Places ranks by distance.
type Places interface {
	// Places returns the memories of a set nearest to the target of the query,
	// nearest first, ties by id, with remarks for degraded.
	Places(ctx context.Context, q *Query, in Set, limit int) (items []Ranked, notes []string, err error)
}

// Likeness ranks by how alike perceptions are.
type Likeness interface {
	// Likeness returns the perceptions of a set nearest to the one in question,
	// nearest first, with remarks for degraded.
	Likeness(ctx context.Context, q *Query, in Set, limit int) (items []Ranked, notes []string, err error)
}

// Loader reads memories.
type Loader interface {
	// Timeline orders a set by time of observation: an episode from its beginning,
	// anything else newest first.
	Timeline(ctx context.Context, q *Query, in Set, limit int) ([]Ranked, error)
	// Load reads a memory of a set; nil if it is gone. A damaged one is an error of
	// kind Corrupt.
	Load(ctx context.Context, q *Query, in Set, id int64) (*robotmem.Memory, error)
	// Real reports whether a memory was sensed in the real world.
	Real(id int64) bool
	// Hints says why nothing was found, such as a path that no memory has.
	Hints(ctx context.Context, q *Query) ([]string, error)
}

// Source is a store as the pipeline sees it, within one snapshot. A signal that
// fails is named in degraded with the detail of its error, but Invalid and NotFound
// are the caller's and end the recall, as any failure to filter or to load does.
type Source interface {
	Filter
	Lexical
	Nearest
	Places
	Likeness
	Loader
}

// Config says how lists are weighed.
type Config struct {
	// Weights are what the ranked lists count when they are merged, by name; see
	// vectorWeight for the one that is not 1 unless it is set.
	Weights map[string]float64
	// RealWeight favours what was sensed in the real world.
	RealWeight float64
}

// The names of the ranked lists.
const (
	ListWords    = "bm25"
	ListVector   = "vector"
	ListPlace    = "place"
	ListLikeness = "likeness"
	ListTime     = "time"
)

// list is what one signal found, best first.
type list struct {
	name  string
	items []Ranked
}

// hit is a memory on its way to the answer.
type hit struct {
	id       int64
	score    float64
	distance *float64
	cosine   *float64 // to the query embedding, where it was worked out
	found    []robotmem.ListEntry
	memory   *robotmem.Memory // once loaded
}

// run is one recall under way.
type run struct {
	*Query
	Config
	src      Source
	set      Set
	lists    []list
	usual    float64 // the cosine of an average memory with the query embedding
	vectors  bool    // the list of vectors is expected, or there
	degraded []string
	// stopOnly are the memories that share nothing but stop words with the query:
	// no weight lifts them above one that shares more.
	stopOnly map[int64]bool
	damaged  map[int64]bool
	trace    tracer
}

// Run answers a query from a source. It fails with *robotmem.Error, or as the
// source does.
func Run(ctx context.Context, src Source, q *Query, config Config) (*robotmem.RecallResponse, error) {
	r := &run{Query: q, Config: config, src: src, vectors: q.Embedded, degraded: slices.Clone(q.notes), damaged: map[int64]bool{}}
	r.trace = tracer{on: q.Explain, last: time.Now()}
	set, notes, err := src.Filter(ctx, q)
	if err != nil {
		return nil, err
	}
	r.set, r.degraded = set, append(r.degraded, notes...)
	r.trace.add("filter", r.set.Count())
	if err := r.signals(ctx); err != nil {
		return nil, err
	}
	// From here on the answer is on its way: a deadline no longer stops it.
	ctx = context.WithoutCancel(ctx)
	hits := r.fuse()
	r.trace.add("fuse", len(hits))
	if hits, err = r.loadForRanking(ctx, hits); err != nil {
		return nil, err
	}
	r.trace.add("relevant", len(hits))
	for _, s := range stages {
		hits = s.run(r, hits)
		r.trace.add(s.name, len(hits))
	}
	if hits, err = r.cut(ctx, hits); err != nil {
		return nil, err
	}
	normalizeScores(hits)
	res := &robotmem.RecallResponse{Memories: make([]robotmem.Memory, 0, len(hits)), Times: q.Times, Mode: r.mode()}
	for i := range hits {
		res.Memories = append(res.Memories, r.answer(&hits[i]))
	}
	r.nameOtherMaps(res.Memories)
	if len(res.Memories) == 0 {
		hints, err := src.Hints(ctx, q)
		if err != nil {
			return nil, err
		}
		r.degraded = append(r.degraded, hints...)
	}
	res.Total, res.Degraded, res.Stages = len(res.Memories), r.degraded, r.trace.stages
	if res.Degraded == nil {
		res.Degraded = []string{}
	}
	return res, nil
}

// add takes in the list of a signal, or names in degraded why there is none.
func (r *run) add(name string, items []Ranked, notes []string, err error) error {
	if errors.Is(err, robotmem.Invalid) || errors.Is(err, robotmem.NotFound) {
		return err
	}
	if err != nil {
		r.degraded = append(r.degraded, name+": "+detail(err))
		return nil
	}
	r.lists, r.degraded = append(r.lists, list{name, items}), append(r.degraded, notes...)
	r.trace.add(name, len(items))
	return nil
}

func detail(err error) string {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e.Detail()
	}
	return err.Error()
}

// signals asks each source of a ranked list.
func (r *run) signals(ctx context.Context) error {
	q, within := r.Query, r.set
	if q.SpatialSort != nil {
		limit := r.listDepth()
		if q.Strict() {
			limit = q.N
		}
		items, notes, err := r.src.Places(ctx, q, r.set, limit)
		if err := r.add(ListPlace, items, notes, err); err != nil {
			return err
		}
		if q.Strict() && err == nil {
			within = r.set.Only(items)
		}
	}
	if q.Like != nil {
		items, notes, err := r.src.Likeness(ctx, q, r.set, r.listDepth())
		if err := r.add(ListLikeness, items, notes, err); err != nil {
			return err
		}
	}
	if err := r.textSignals(ctx, within); err != nil {
		return err
	}
	if !q.timeOrder() {
		return nil
	}
	items, err := r.src.Timeline(ctx, q, r.set, r.depth())
	return r.add(ListTime, items, nil, err)
}

// textSignals ranks by words and by vectors, side by side.
func (r *run) textSignals(ctx context.Context, within Set) error {
	type answer struct {
		items []Ranked
		err   error
	}
	words := make(chan answer, 1)
	ask := func() { items, err := r.lexical(ctx, within); words <- answer{items, err} }
	var near answer
	if len(r.Content) > 0 && r.vectors {
		go ask()
	} else if len(r.Content) > 0 {
		ask()
	}
	if r.vectors {
		near.items, r.usual, near.err = r.src.Nearest(ctx, r.Query, r.set, r.listDepth())
	}
	var got answer
	if len(r.Content) > 0 {
		got = <-words
	}
	r.vectors = r.vectors && near.err == nil // not before: lexical reads it
	if len(r.Content) > 0 {
		// Beside vectors the list of words leaves out what shares only stop words,
		// and ends where other lists take over. Without them it is what it is on a
		// node without an embedder.
		if r.Embedded && !r.vectors && got.err == nil && (len(r.Stop) > 0 || r.MinRelevance > 0) {
			got.items, got.err = r.lexical(ctx, within)
		}
		if err := r.add(ListWords, got.items, nil, got.err); err != nil {
			return err
		}
	}
	if !r.Embedded {
		return nil
	}
	return r.add(ListVector, near.items, nil, near.err)
}

// lexical ranks by the words of the query. Memories that share only stop words
// with it come after all others, and only where no other list finds more. With a
// floor of relevance and no other list to merge, the list goes on to the last
// match.
func (r *run) lexical(ctx context.Context, within Set) ([]Ranked, error) {
	limit := r.depth()
	switch {
	case r.fused():
		limit = r.listDepth()
	case r.MinRelevance > 0:
		limit = -1
	}
	items, err := r.src.Lexical(ctx, r.Query, within, r.words(), limit)
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

// load reads the memory of a hit, once. ok is false for one that is gone or
// damaged.
func (r *run) load(ctx context.Context, h *hit) (ok bool, err error) {
	if h.memory != nil || r.damaged[h.id] {
		return h.memory != nil, nil
	}
	h.memory, err = r.src.Load(ctx, r.Query, r.set, h.id)
	if errors.Is(err, robotmem.Corrupt) {
		r.damaged[h.id] = true
		r.degraded = append(r.degraded, fmt.Sprintf("memory %d: %s", h.id, detail(err)))
		return false, nil
	}
	if err != nil || h.memory == nil {
		return false, err
	}
	if h.cosine == nil && r.vectors {
		cosine, has, err := r.src.Cosine(ctx, r.Query, r.set, h.id)
		if err != nil {
			return false, err
		}
		if has {
			h.cosine = &cosine
		}
	}
	return true, nil
}

// loadForRanking loads what ranking looks at: with a floor of relevance it goes
// down the hits until enough have passed, with diversity it loads the best.
func (r *run) loadForRanking(ctx context.Context, hits []hit) ([]hit, error) {
	enough := r.N
	if r.Diversity > 0 {
		enough = max(enough, diversePool)
	}
	if r.MinRelevance == 0 && r.Diversity == 0 {
		return hits, nil
	}
	kept := hits[:0]
	for i := range hits {
		if r.MinRelevance > 0 && len(kept) == enough {
			break
		}
		h := hits[i]
		if i < enough || r.MinRelevance > 0 {
			ok, err := r.load(ctx, &h)
			if err != nil {
				return nil, err
			}
			if !ok || r.MinRelevance > 0 && r.relevance(&h) < r.MinRelevance {
				continue
			}
		}
		kept = append(kept, h)
	}
	return kept, nil
}

// cut loads hits until n of them are there.
func (r *run) cut(ctx context.Context, hits []hit) ([]hit, error) {
	kept := make([]hit, 0, min(r.N, len(hits)))
	for i := range hits {
		if len(kept) == r.N {
			break
		}
		h := hits[i]
		ok, err := r.load(ctx, &h)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, h)
		}
	}
	r.trace.add("load", len(kept))
	return kept, nil
}

// answer is the memory as the caller sees it.
func (r *run) answer(h *hit) robotmem.Memory {
	m := *h.memory
	score, relevance := h.score, r.relevance(h)
	m.Score, m.Relevance, m.Distance, m.Found = &score, &relevance, h.distance, h.found
	// What is asked for by id stays out of a list of answers.
	m.Status, m.Version, m.Sightings, m.AccessCount, m.ReturnCount, m.DecayRate = "", 0, 0, 0, 0, 0
	m.LastAccessed, m.UpdatedAt, m.ScopeFiles, m.ScopeEntity, m.SupersededBy, m.UserTags = nil, nil, nil, nil, 0, nil
	return m
}

// mode says what an answer was found by.
func (r *run) mode() string {
	has := func(name string) bool {
		for _, l := range r.lists {
			if l.name == name {
				return true
			}
		}
		return false
	}
	switch {
	case r.Query.Query == "":
		return "structured"
	case has(ListVector) && has(ListWords):
		return "hybrid"
	case has(ListVector):
		return "vec_only"
	}
	return "bm25_only"
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
	t.stages = append(t.stages, robotmem.Stage{Stage: stage, Kept: kept, MS: float64(now.Sub(t.last).Microseconds()) / 1000})
	t.last = now
}
