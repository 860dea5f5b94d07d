package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/embeddings"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/profile"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// source implements the interfaces of package recall for one query, from the indexes and the
// file. All methods but Lexical read through the connection, so only one goroutine may call them.
type source struct {
	*Engine
	c         *store.Conn
	words     *lexical.Index // of the snapshot's revision; nil while it is loaded
	wordsErr  error          // why it is not loaded
	embedding *embeddings.Query
	rerank    *recall.Rerank   // nil without a reranker
	subject   *profile.Subject // that the memories must name, nil if the request has no entity
	// interpreted says how numbers and places of the question were understood.
	interpreted []string
	// remarks are about conditions of the filter that may mean something else.
	remarks []string
}

var _ recall.Source = (*source)(nil)

// failed returns the error of a signal. An error without a kind is logged and explained
// for the caller.
func (s *source) failed(ctx context.Context, signal string, err error) error {
	if known := (*robotmem.Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	s.Log.Warn("signal failed", "signal", signal, "err", err)
	if ctx.Err() != nil {
		err = ctx.Err()
	}

	return robotmem.Explain(err)
}

func (s *source) Lexical(
	_ context.Context, q *recall.Query, in recall.Set, words recall.Words, limit int,
) ([]recall.Ranked, error) {
	if s.words == nil {
		return nil, s.failed(context.Background(), recall.ListWords, s.wordsErr)
	}
	return searchWords(s.words, q.Collection, in, words, s.contextWeight(), limit), nil
}

// A word that occurs in texts of every kind finds little, however rare it is among a few memories. Its
// weight is commonWeight up to fewRows memories, and grows with the logarithm of their number to 1 at
// manyRows, where its frequency is known.
const (
	commonWeight = 0.3
	fewRows      = 64
	manyRows     = 512
)

func weightOfCommon(rows int) float64 {
	grown := math.Log(float64(max(rows, 1))/fewRows) / math.Log(manyRows/fewRows)
	return commonWeight + (1-commonWeight)*min(1, max(0, grown))
}

// weightOf is the weight of a word among so many memories.
func weightOf(stem string, rows int) float64 {
	if text.Common(stem) {
		return weightOfCommon(rows)
	}
	return 1
}

// distinctStems returns the stems of terms, each once.
func distinctStems(terms []string) []string {
	stems := make([]string, 0, len(terms))
	for _, t := range terms {
		if stem := text.Stem(t); !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}

	return stems
}

// contextWeight is the weight of a word that stands in the context of a memory, beside 1 for its text.
const contextWeight = 0.7

func (s *source) contextWeight() float64 {
	if w, set := s.options.Weights[recall.Context]; set {
		return w
	}
	return contextWeight
}

// searchWords ranks the admitted memories by BM25. Past states are not in the index:
// they are scored one by one with its statistics.
func searchWords(
	index *lexical.Index, collection string, in recall.Set, words recall.Words, contextWeight float64, limit int,
) []recall.Ranked {
	stems := distinctStems(words.Terms)
	for _, stem := range slices.Clone(stems) {
		for _, part := range partsOf(index, collection, stem) {
			if !slices.Contains(stems, part) {
				stems = append(stems, part)
			}
		}
	}

	plain := stems
	weights := make([]float64, len(plain), 2*len(plain))

	rows := index.Stats(collection).Rows
	for i, stem := range plain {
		weights[i] = weightOf(stem, rows)
	}

	// A word may stand in the text of a memory or in its context. Each has posting lists of its own.
	if contextWeight > 0 {
		for i, stem := range plain {
			stems = append(stems, lexical.InContext(stem))
			weights = append(weights, contextWeight*weights[i])
		}
	}

	q := lexical.Query{
		Collection: collection, Terms: stems, Weights: weights,
		Unfinished: unfinished(words.Typing, index, collection, plain), Within: in.Present, N: max(limit, 0),
	}
	hits := index.Search(q)

	items := make([]recall.Ranked, len(hits), len(hits)+len(in.Past))
	for i, h := range hits {
		items[i] = recall.Ranked{ID: h.ID, Value: h.Score}
	}

	if len(in.Past) == 0 {
		return items
	}

	scorer := index.Scorer(q)

	for id, m := range in.Past {
		terms := text.Terms(m.Content)

		counts := termCounts(words.Typing, terms, &q)
		for _, stem := range record.ContextStems(m.Context) {
			if i := slices.Index(q.Terms, lexical.InContext(stem)); i >= 0 {
				counts[i]++
			}
		}
		if score, ok := scorer.Score(counts, len(terms)); ok {
			items = append(items, recall.Ranked{ID: id, Value: score})
		}
	}

	slices.SortFunc(items, recall.Larger)
	if limit >= 0 {
		items = items[:min(limit, len(items))]
	}

	return items
}

// A word of a question that is long and rare may be two words of the index written together
// (Dateiverwaltung, Greiferkraft): the question also asks for these.
const (
	wholeLeast = 9   // letters of such a word
	partLeast  = 4   // letters of a part
	wholeRare  = 500 // at most one of so many memories has the whole
)

// linking are the letters that German, Dutch and the Nordic languages put between parts.
var linking = []string{"", "s", "n", "e", "es", "en", "er"}

// partsOf returns the two parts of a stem that are most frequent in the index, or none.
func partsOf(index *lexical.Index, collection, stem string) (parts []string) {
	if len(stem) < wholeLeast || strings.ContainsFunc(stem,
		func(r rune) bool { return !unicode.In(r, unicode.Latin) }) ||
		index.DocumentFrequency(collection, stem)*wholeRare > index.Stats(collection).Rows {
		return nil
	}

	best := 0

	for i := partLeast; i <= len(stem)-partLeast; i++ {
		tail := index.DocumentFrequency(collection, stem[i:])
		if tail == 0 {
			continue
		}

		for _, letters := range linking {
			head, linked := strings.CutSuffix(stem[:i], letters)
			if !linked || len(head) < partLeast {
				continue
			}

			// The product prefers two frequent parts to a very frequent and a rare one.
			if n := index.DocumentFrequency(collection, head); n*tail > best {
				best, parts = n*tail, []string{head, stem[i:]}
			}
		}
	}

	return parts
}

// maxLonger limits the completions of an unfinished word.
const maxLonger = 64

// unfinished looks up the completions of the unfinished word in the index, most frequent
// first, without the words of the query.
func unfinished(typing *text.Unfinished, index *lexical.Index, collection string, asked []string) *lexical.Unfinished {
	if typing == nil {
		return nil
	}
	u := &lexical.Unfinished{}

	u.Longer = index.Frequent(collection, maxLonger, func(stem string) bool {
		return typing.Begins(stem) && !slices.Contains(asked, stem)
	})
	for _, t := range typing.Terms {
		if stem := text.Stem(t); !text.Stop(t) && slices.Contains(asked, stem) {
			u.Whole = append(u.Whole, stem)
		}
	}

	return u
}

// builtinPairs are the cosines of two texts of one robot by the built-in model, measured on nine deployments. They are
// used while too few cosines of a memory are known.
var builtinPairs = vector.Scale{Mean: 0.83, Spread: 0.025, Of: recall.LeastPairs}

// Vectors implements recall.Source.
func (s *source) Vectors(ctx context.Context, ids []int64) (map[int64][]float32, error) {
	_, m, err := s.index.Vectors.At(s.c)
	if err != nil || m.ID == 0 {
		return nil, s.failed(ctx, recall.ListVector, err)
	}
	s.c.SetInterrupt(ctx)
	out := make(map[int64][]float32, len(ids))

	err = s.index.Source(s.c, &m)(ids, func(id int64, raw []byte) error {
		if len(raw) == vector.StoredSize(m.Dims) {
			out[id] = vector.Decode(raw)
		}
		return nil
	})

	return out, s.failed(ctx, recall.ListVector, err)
}

// Full implements recall.Source.
func (s *source) Full(q *recall.Query, words recall.Words) (score float64) {
	if s.words == nil {
		return 0
	}

	rows := s.words.Stats(q.Collection).Rows
	for _, stem := range distinctStems(words.Terms) {
		found := max(s.words.DocumentFrequency(q.Collection, stem),
			s.words.DocumentFrequency(q.Collection, lexical.InContext(stem)))
		score += weightOf(stem, rows) * lexical.IDF(rows, found)
	}

	return score
}

// Holds implements recall.Source.
func (s *source) Holds(_ context.Context, q *recall.Query, in recall.Set, term string) (bool, error) {
	if s.words == nil {
		// Without the index nobody knows whether the word is unknown.
		return true, nil
	}
	stem := text.Stem(term)
	frequency := s.words.DocumentFrequency(q.Collection, stem) +
		s.words.DocumentFrequency(q.Collection, lexical.InContext(stem))
	if frequency == 0 && len(in.Past) == 0 {
		return len(partsOf(s.words, q.Collection, stem)) > 0, nil
	}
	if !q.Narrows() {
		return true, nil
	}

	return len(searchWords(s.words, q.Collection, in, recall.Words{Terms: []string{term}}, contextWeight, 1)) > 0, nil
}

// termCounts returns how often a past state holds each term of a query. Every completion of an
// unfinished word counts, because the completions from the index are of the present states.
func termCounts(typing *text.Unfinished, terms []string, q *lexical.Query) []int {
	counts := make([]int, len(q.Terms)+1)
	longer, whole := 0, false

	for _, word := range terms {
		stem := text.Stem(word)
		if i := slices.Index(q.Terms, stem); i >= 0 {
			counts[i]++
			whole = whole || q.Unfinished != nil && slices.Contains(q.Unfinished.Whole, stem)
		} else if typing != nil && typing.Begins(stem) {
			longer++
		}
	}
	if !whole {
		counts[len(q.Terms)] = longer
	}

	return counts
}

func (s *source) Nearest(
	ctx context.Context, _ *recall.Query, in recall.Set, limit int,
) (items []recall.Ranked, err error) {
	defer func() { err = s.failed(ctx, recall.ListVector, err) }()
	codes, m, err := s.index.Vectors.At(s.c)
	if err != nil {
		return nil, err
	}

	state := s.embeddings.Embedder.State()
	switch {
	case m.ID != 0 && m.Name != state.Model:
		return nil, robotmem.Errorf(robotmem.Unavailable, "",
			"the stored vectors are of %s and this node asks %s; run: robotmem reembed", m.Name, state.Model)
	case codes == nil || codes.Len() == 0:
		return nil, robotmem.Errorf(robotmem.Unavailable, "",
			"no memory has a vector yet; they are computed in the background")
	}

	unit, err := s.embedding.Get()
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "%s", robotmem.Detail(err))
	}
	if len(unit) != m.Dims {
		return nil, robotmem.Errorf(robotmem.Unavailable, "",
			"the embedder gives vectors of %d numbers, the stored ones have %d; run: robotmem reembed", len(unit),
			m.Dims)
	}

	// ctx must end a search that reads many vectors, also within one statement.
	s.c.SetInterrupt(ctx)
	hits, err := codes.Search(vector.Query{Vector: unit, Within: in.Present, N: min(limit, vector.MaxN)},
		s.index.Source(s.c, &m))
	if err != nil {
		return nil, err
	}

	items = make([]recall.Ranked, len(hits))
	for i, h := range hits {
		items[i] = recall.Ranked{ID: h.ID, Value: h.Similarity}
	}

	return items, nil
}

// Scale implements recall.Source.
func (s *source) Scale(
	ctx context.Context, in recall.Set, found []recall.Ranked, limit int,
) (scale recall.Scale, err error) {
	defer func() { err = s.failed(ctx, recall.ListVector, err) }()
	codes, m, err := s.index.Vectors.At(s.c)
	if err != nil {
		return scale, err
	}

	unit, err := s.embedding.Get()
	if err != nil {
		return scale, err
	}

	sample, err := s.index.Vectors.Sample(codes, m, s.index.Source(s.c, &m))
	if err != nil {
		return scale, err
	}

	// If the hits are the whole set, their cosines are known. Otherwise a sample estimates them.
	of, usual := len(found), vector.Scale{}
	if of < min(limit, vector.MaxN) { // the whole set
		cosines := make([]float64, of)
		for i, item := range found {
			cosines[i] = item.Value
		}
		usual = vector.ScaleOf(cosines)
	} else {
		of = codes.Len()
		if in.Present != nil {
			of = min(of, int(in.Present.Count()))
		}
		usual = sample.Scale(unit, in.Present, index.SampleLeast)
	}

	pairs := pairsOf(sample, &m)

	return recall.Scale{
		Of: of, Mean: usual.Mean, Spread: usual.Spread, Pairs: pairs.Of, PairMean: pairs.Mean, PairSpread: pairs.Spread,
	}, nil
}

func (s *source) Around(in recall.Set, ids []int64, n int) map[int64]recall.Around {
	return s.index.Columns.Around(ids, n, in.Present)
}

// Places implements recall.Source. It compares every coordinate, so the result is exact.
func (s *source) Places(
	ctx context.Context, at *robotmem.SpatialSort, in recall.Set, limit int,
) (items []recall.Ranked, notes []string, err error) {
	near, err := s.index.Columns.Near(s.c, at, in.Present, limit)
	if err != nil {
		return nil, nil, s.failed(ctx, recall.ListPlace, err)
	}

	for id, m := range in.Past {
		for _, p := range filter.PlacesFor(at, m.Context) {
			near.Frames[p.Frame+"\x00"+p.MapID] = true
			near.Flat = near.Flat || len(p.XYZ) > len(at.Target)
			near.Raised = near.Raised || len(p.XYZ) < len(at.Target)
			if d, ok := filter.DistanceTo(at, p.XYZ, p.Frame); ok {
				near.Items = append(near.Items, recall.Ranked{ID: id, Value: d})
			}
		}
	}

	if len(near.Frames) > 1 {
		notes = append(notes,
			fmt.Sprintf("place: coordinates of %d different frames or maps were compared; name one with frame_id or map_id", len(near.Frames)))
	}
	if near.Flat {
		s.interpreted = append(s.interpreted,
			fmt.Sprintf("spatial_sort: the target has 2 numbers, so x and y of the 3-D coordinates at %s are compared",
				at.Field))
	}

	if near.Raised {
		s.interpreted = append(s.interpreted,
			fmt.Sprintf("spatial_sort: some coordinates at %s have 2 numbers, and are compared in x and y", at.Field))
	}
	if near.Other > 0 {
		s.interpreted = append(s.interpreted, fmt.Sprintf("spatial_sort: %d memories are left out: their coordinates at %s do not have the %d numbers of the target", near.Other, at.Field, len(at.Target)))
	}

	if near.Still > 0 {
		s.interpreted = append(s.interpreted, fmt.Sprintf("spatial_sort: %d coordinates at %s are left out, because no orientation is stored beside them", near.Still, at.Field))
	}

	if near.Away > 0 {
		s.interpreted = append(s.interpreted, fmt.Sprintf("spatial_sort: %d coordinates at %s are left out, because they look another way than asked for", near.Away, at.Field))
	}

	slices.SortFunc(near.Items, recall.Smaller)
	// The nearest coordinates of a memory count.
	seen := map[int64]bool{}
	near.Items = slices.DeleteFunc(near.Items,
		func(r recall.Ranked) bool { again := seen[r.ID]; seen[r.ID] = true; return again })

	return near.Items[:min(limit, len(near.Items))], notes, nil
}

func (s *source) Likeness(
	ctx context.Context, q *recall.Query, in recall.Set, limit int,
) (found recall.Alike, err error) {
	defer func() { err = s.failed(ctx, recall.ListLikeness, err) }()
	want, err := s.wantedFeatures(q)
	if err != nil {
		return found, err
	}
	if want == nil {
		return s.likeText(ctx, q.Like.MemoryID, in, limit)
	}

	// A repair by another process may have dropped the features.
	if err := s.maintenance.NoticeDropped(s.c); err != nil {
		return found, err
	}

	err = s.index.Features.Each(s.c, want.Kind, len(want.Vector), func(id int64, vector []float32) {
		if _, past := in.Past[id]; id != want.Self && (past || in.Present.Test(uint(id))) {
			found.Items = recall.KeepSmallest(found.Items,
				recall.Ranked{ID: id, Value: perception.Distance(want.Kind, want.Vector, vector)}, limit)
		}
	})

	// Counting the backlog scans all perceptions, so it is done only if some may wait.
	if err != nil || !s.maintenance.Behind.Load() {
		return found, err
	}

	n, err := s.c.FeatureBacklog()
	if n > 0 {
		found.Notes = append(found.Notes,
			fmt.Sprintf("likeness: %d perceptions wait to be compared and are not among the answers", n))
	}

	return found, err
}

// likeText returns the memories whose texts mean the most similar to that of a memory, with the distance of
// the vectors, 1 - cosine.
func (s *source) likeText(ctx context.Context, id int64, in recall.Set, limit int) (found recall.Alike, err error) {
	nothing := robotmem.Errorf(robotmem.Invalid, "like.memory_id",
		"memory %d has nothing to compare by: no image, trace, sound, cloud or trajectory, and its text has no vector (yet)",
		id)
	codes, m, err := s.index.Vectors.At(s.c)
	if err != nil {
		return found, err
	}
	if m.ID == 0 || codes == nil || codes.Len() == 0 {
		return found, nothing
	}

	stored, err := s.Vectors(ctx, []int64{id})
	if err != nil {
		return found, err
	}

	wanted := stored[id]
	if wanted == nil {
		return found, nothing
	}

	// The memory itself is the nearest hit and is removed below.
	s.c.SetInterrupt(ctx)
	hits, err := codes.Search(vector.Query{Vector: wanted, Within: in.Present, N: min(limit+1, vector.MaxN)},
		s.index.Source(s.c, &m))
	if err != nil {
		return found, err
	}

	sample, err := s.index.Vectors.Sample(codes, m, s.index.Source(s.c, &m))
	if err != nil {
		return found, err
	}

	pairs := pairsOf(sample, &m)
	found.Texts = &recall.Scale{
		Of: codes.Len(), Mean: pairs.Mean, Spread: pairs.Spread, Pairs: pairs.Of, PairMean: pairs.Mean,
		PairSpread: pairs.Spread,
	}

	s.interpreted = append(s.interpreted, fmt.Sprintf("like: memory %d is compared by the meaning of its text", id))
	for _, h := range hits {
		if h.ID != id && len(found.Items) < limit {
			found.Items = append(found.Items, recall.Ranked{ID: h.ID, Value: max(0, 1-h.Similarity)})
		}
	}

	return found, nil
}

// pairsOf is the scale of the cosines of two stored texts.
func pairsOf(sample *vector.Sample, m *store.Model) vector.Scale {
	if pairs := sample.Pairs(); pairs.Of >= recall.LeastPairs || !embeddings.Builtin(m.Name) {
		return pairs
	}
	return builtinPairs
}

// wantedFeatures returns the features of the memory or the data in like, nil for a memory without any.
func (s *source) wantedFeatures(q *recall.Query) (*record.Features, error) {
	l := q.Like
	if l.MemoryID == 0 {
		field, data := "like.data_base64", l.DataBase64
		if l.Data != "" {
			field, data = "like.data", []byte(l.Data)
		}
		mediaType, err := perception.Sniff(data, l.MediaType)
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "like.media_type", "%v", err)
		}
		metadata, _, err := l.Metadata.Normalize("like.metadata", record.MaxMetadata)
		if err != nil {
			return nil, err
		}
		f := record.FeaturesOf(perception.Item{Type: q.PerceptionType, MediaType: mediaType, Data: data, Metadata: metadata})
		if f.Kind == "" {
			return nil, robotmem.Errorf(robotmem.Invalid, field,
				"is %s, which cannot be compared; give an image, a trace, a sound, a cloud or a trajectory", mediaType)
		}

		return f, nil
	}

	m, err := s.c.Memory(l.MemoryID, q.Now)
	if errors.Is(err, robotmem.NotFound) {
		return nil, robotmem.Errorf(robotmem.NotFound, "like.memory_id", "there is no memory %d", l.MemoryID)
	}
	if err != nil {
		return nil, err
	}

	f, err := s.c.Features(l.MemoryID)
	if err != nil {
		return nil, err
	}

	if f == nil && m.SHA256 != "" { // not computed yet
		item, err := s.Store.Item(s.c, m)
		if err != nil {
			return nil, err
		}
		f = record.FeaturesOf(item)
	}

	if f == nil || f.Kind == "" {
		return nil, nil
	}

	f.Self = l.MemoryID

	return f, nil
}

func (s *source) Timeline(_ context.Context, q *recall.Query, in recall.Set, limit int) ([]recall.Ranked, error) {
	moments := s.index.Columns.ObservedTimes(in.Present)
	for id, m := range in.Past {
		moments = append(moments, store.TimedID{ID: id, NS: m.ObservedAt.UnixNano()})
	}
	slices.SortFunc(moments, store.TimedID.Compare)

	// An episode is read from its beginning, anything else from the newest memory backwards.
	if q.SessionID == "" {
		slices.Reverse(moments)
	}

	items := make([]recall.Ranked, min(len(moments), limit))
	for i := range items {
		items[i] = recall.Ranked{ID: moments[i].ID, Value: float64(moments[i].NS) / 1e9}
	}

	return items, nil
}

func (s *source) Load(
	ctx context.Context, q *recall.Query, in recall.Set, ids []int64,
) (found map[int64]*robotmem.Memory, damaged map[int64]error, err error) {
	var current []int64

	for _, id := range ids {
		if in.Past[id] == nil {
			current = append(current, id)
		}
	}

	// The present state of a memory that changed since as_of must not be shown.
	s.c.SetInterrupt(ctx)
	if found, damaged, err = s.c.FindEach(current, q.Now); err != nil {
		return nil, nil, err
	}

	for _, id := range ids {
		if past := in.Past[id]; past != nil {
			found[id] = past
		}
	}

	return found, damaged, nil
}

func (s *source) Row(id int64) recall.Row {
	row, _ := s.index.Columns.Row(id)
	return recall.Row{Observed: row.Observed, Real: row.Real(), Outcome: row.Outcome.String()}
}
