package recall_test

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// fakeStore is a whole store in memory: no SQL, no index, a pass over all memories
// for every signal. It shows what another store has to bring.
type fakeStore struct {
	memories []robotmem.Memory // ids from 1, in order
	vectors  map[int64][]float32
	query    []float32         // the query embedding
	damaged  map[int64]bool    // memories that cannot be read
	broken   map[string]error  // signals that fail, by list
	shapes   map[int64]float64 // what perceptions look like
	loads    int               // memories that were read
}

var _ recall.Source = (*fakeStore)(nil)

// learn adds a memory and returns its id.
func (s *fakeStore) learn(content string, context robotmem.Object) int64 {
	m := robotmem.Memory{MemoryID: int64(len(s.memories) + 1), Type: "fact", Content: content, Context: context, Collection: "default", Confidence: 1}
	m.ObservedAt = start.Add(hour * timeOf(m.MemoryID))
	s.memories = append(s.memories, m)
	return m.MemoryID
}

func (s *fakeStore) Holds(_ context.Context, _ *recall.Query, in recall.Set, term string) (bool, error) {
	for id := range in.Present.EachSet() {
		if slices.ContainsFunc(text.Terms(s.memories[id-1].Content), func(t string) bool { return text.Stem(t) == text.Stem(term) }) {
			return true, nil
		}
	}
	return false, nil
}

func (s *fakeStore) Filter(_ context.Context, q *recall.Query) (recall.Set, []string, error) {
	out := recall.Set{Present: bitset.New(0)}
	for i := range s.memories {
		m := &s.memories[i]
		switch {
		case q.Collection != "*" && q.Collection != m.Collection:
		case q.After != nil && m.ObservedAt.Before(*q.After):
		case q.Before != nil && !m.ObservedAt.Before(*q.Before):
		case q.Filter != nil && !q.Filter.Match(&filter.View{Memory: m}):
		default:
			out.Present.Set(uint(m.MemoryID))
		}
	}
	return out, nil, nil
}

// rank gives each memory of a set a value, and sorts those that have one.
func (s *fakeStore) rank(in recall.Set, limit int, order func(x, y recall.Ranked) int, value func(*robotmem.Memory) (float64, bool)) []recall.Ranked {
	var items []recall.Ranked
	for id := range in.Present.EachSet() {
		if v, ok := value(&s.memories[id-1]); ok {
			items = append(items, recall.Ranked{ID: int64(id), Value: v})
		}
	}
	slices.SortFunc(items, order)
	if limit >= 0 {
		items = items[:min(limit, len(items))]
	}
	return items
}

// Lexical counts each word once, the rarer the more.
func (s *fakeStore) Lexical(_ context.Context, _ *recall.Query, in recall.Set, words recall.Words, limit int) ([]recall.Ranked, error) {
	holds := func(m *robotmem.Memory, term string) bool {
		return slices.ContainsFunc(text.Terms(m.Content), func(t string) bool { return text.Stem(t) == text.Stem(term) })
	}
	weight := map[string]float64{}
	for _, term := range words.Terms {
		n := 0.0
		for i := range s.memories {
			if holds(&s.memories[i], term) {
				n++
			}
		}
		weight[term] = math.Log(1 + float64(len(s.memories))/(n+1))
	}
	return s.rank(in, limit, recall.Larger, func(m *robotmem.Memory) (sum float64, found bool) {
		for term, w := range weight {
			if holds(m, term) {
				sum, found = sum+w, true
			}
		}
		return sum, found
	}), s.broken[recall.ListWords]
}

func (s *fakeStore) Nearest(_ context.Context, _ *recall.Query, in recall.Set, limit int) ([]recall.Ranked, error) {
	return s.rank(in, limit, recall.Larger, func(m *robotmem.Memory) (float64, bool) {
		return s.cosine(m.MemoryID)
	}), s.broken[recall.ListVector]
}

func (s *fakeStore) Scale(context.Context, recall.Set, []recall.Ranked, int) (recall.Scale, error) {
	return recall.Scale{Of: 4, Mean: 0.3, Spread: 0.2, Pairs: 100, PairMean: 0.7, PairSpread: 0.1}, nil
}

func (s *fakeStore) Vectors(context.Context, []int64) (map[int64][]float32, error) {
	return s.vectors, nil
}

func (s *fakeStore) Full(_ *recall.Query, words recall.Words) float64 {
	return float64(len(words.Terms))
}

func (s *fakeStore) cosine(id int64) (sum float64, ok bool) {
	v, ok := s.vectors[id]
	for i := range v {
		sum += float64(v[i]) * float64(s.query[i])
	}
	return sum, ok
}

func (s *fakeStore) Around(in recall.Set, ids []int64, n int) map[int64]recall.Around {
	out := map[int64]recall.Around{}
	for _, id := range ids {
		m, a := &s.memories[id-1], recall.Around{}
		for other := id - 1; m.SessionID != "" && other > 0 && len(a.Before) < n; other-- {
			if s.memories[other-1].SessionID == m.SessionID {
				a.Before = append(a.Before, other)
			}
		}
		for other := id + 1; m.SessionID != "" && other <= int64(len(s.memories)) && len(a.After) < n; other++ {
			if s.memories[other-1].SessionID == m.SessionID {
				a.After = append(a.After, other)
			}
		}
		if m.SessionID != "" {
			out[id] = a
		}
	}
	return out
}

func (s *fakeStore) Places(_ context.Context, at *robotmem.SpatialSort, in recall.Set, limit int) ([]recall.Ranked, []string, error) {
	return s.rank(in, limit, recall.Smaller, func(m *robotmem.Memory) (float64, bool) {
		places := filter.Places(m.Context, func(string, any) bool { return true })
		for _, p := range places {
			if p.Path == at.Field {
				d := math.Hypot(p.XYZ[0]-at.Target[0], p.XYZ[1]-at.Target[1])
				return d, at.MaxDistance == nil || d <= *at.MaxDistance
			}
		}
		return 0, false
	}), nil, s.broken[recall.ListPlace]
}

func (s *fakeStore) Likeness(_ context.Context, q *recall.Query, in recall.Set, limit int) (recall.Alike, error) {
	asked, ok := s.shapes[q.Like.MemoryID]
	if !ok {
		return recall.Alike{}, robotmem.Errorf(robotmem.NotFound, "like.memory_id", "there is no memory %d", q.Like.MemoryID)
	}
	items := s.rank(in, limit, recall.Smaller, func(m *robotmem.Memory) (float64, bool) {
		shape, ok := s.shapes[m.MemoryID]
		return math.Abs(shape - asked), ok && m.MemoryID != q.Like.MemoryID
	})
	return recall.Alike{Items: items, Notes: []string{"likeness: 1 perceptions wait to be compared and are not among the answers"}}, nil
}

func (s *fakeStore) Timeline(_ context.Context, q *recall.Query, in recall.Set, limit int) ([]recall.Ranked, error) {
	newestFirst := func(x, y recall.Ranked) int { return cmp.Compare(y.Value, x.Value) }
	return s.rank(in, limit, newestFirst, func(m *robotmem.Memory) (float64, bool) {
		return float64(m.ObservedAt.Unix()), true
	}), nil
}

func (s *fakeStore) Load(_ context.Context, _ *recall.Query, _ recall.Set, ids []int64) (found map[int64]*robotmem.Memory, damaged map[int64]error, err error) {
	found, damaged = map[int64]*robotmem.Memory{}, map[int64]error{}
	for _, id := range ids {
		if s.damaged[id] {
			damaged[id] = robotmem.Errorf(robotmem.Corrupt, "", "its text does not match its checksum")
			continue
		}
		m := s.memories[id-1]
		s.loads++
		found[id] = &m
	}
	return found, damaged, nil
}

func (s *fakeStore) Row(id int64) recall.Row {
	m := &s.memories[id-1]
	v, _ := m.Context.At("env.sim_or_real")
	return recall.Row{Observed: m.ObservedAt.UnixNano(), Real: v == "real", Outcome: cmp.Or(m.Outcome, "unknown")}
}

func (s *fakeStore) Hints(context.Context, *recall.Query, recall.Set) ([]string, error) {
	return []string{"collection: default holds nothing"}, nil
}
