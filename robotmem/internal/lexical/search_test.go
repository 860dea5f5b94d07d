package lexical_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bits-and-blooms/bitset"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// history applies the same changes to an index and to a model of it.
type history struct {
	name                   string
	seed                   uint64
	ids                    int // identifiers to draw from; 0 is ascending, each once
	words, collections     int
	batches, batch, remove int
	params                 func(float64) lexical.Params
	dead                   int // limit of compaction; 0 is the default
}

func TestSearchEqualsTheModel(t *testing.T) {
	for _, h := range []history{
		{name: "ascending", seed: 1, words: 300, collections: 1, batches: 4, batch: 2500},
		{name: "few words, ties everywhere", seed: 2, ids: 3000, words: 12, collections: 1, batches: 6, batch: 800, remove: 100},
		{name: "replaced again and again", seed: 3, ids: 1200, words: 400, collections: 1, batches: 12, batch: 900, remove: 50},
		{name: "compacted often", seed: 4, ids: 900, words: 500, collections: 2, batches: 12, batch: 600, remove: 80, dead: 50},
		{name: "three collections", seed: 5, ids: 3000, words: 800, collections: 3, batches: 10, batch: 600, remove: 150},
		{name: "hundreds of collections", seed: 6, ids: 2500, words: 300, collections: 300, batches: 6, batch: 500, remove: 100, dead: 4},
		{name: "no saturation, no lengths", seed: 7, ids: 2000, words: 200, collections: 2, batches: 5, batch: 600, remove: 60,
			params: func(float64) lexical.Params { return lexical.Params{} }},
		{name: "parameters by the mean length", seed: 8, ids: 2500, words: 500, collections: 4, batches: 8, batch: 500, remove: 60,
			params: func(a float64) lexical.Params { return lexical.Params{K1: 0.5 + a/20, B: min(1, a/25)} }},
	} {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			h.run(t)
		})
	}
}

func (h history) run(t *testing.T) {
	if h.params == nil {
		h.params = fts5
	}
	c := newCorpus(h.seed, h.words)
	x := lexical.New(h.params)
	m := &model{docs: map[int64]lexical.Document{}, params: h.params}
	next, compacted := 0, 0
	for i := range h.batches {
		if h.dead > 0 {
			x.SetLimit(h.dead)
		}
		var put []lexical.Document
		for range h.batch {
			id := next
			if next++; h.ids > 0 {
				id = c.r.IntN(h.ids)
			}
			put = append(put, lexical.Document{ID: int64(id), Collection: fmt.Sprint("c", c.r.IntN(h.collections)), Terms: c.text()})
		}
		for part := range slices.Chunk(put, 60) {
			var remove []int64
			for range h.remove * len(part) / h.batch {
				remove = append(remove, int64(c.r.IntN(h.ids)))
			}
			before := x.Dead()
			x.Apply(part, remove)
			if x.Dead() < before {
				compacted++
			}
			m.apply(part, remove)
		}
		for range rounds.Of(15, 40) {
			h.compare(t, c, x, m)
		}
		if i%3 == 1 {
			x = thaw(t, x.Freeze(), h.params)
		}
	}
	if h.dead > 0 && compacted == 0 {
		t.Error("no change led to a compaction")
	}
}

// compare compares the answers to a query, and the statistics, of both.
func (h history) compare(t *testing.T, c *corpus, x *lexical.Index, m *model) {
	t.Helper()
	ids := max(h.ids, h.batches*h.batch)
	q := lexical.Query{Collection: lexical.All, Terms: c.question()}
	if c.r.IntN(3) > 0 {
		q.Collection = fmt.Sprint("c", c.r.IntN(h.collections+1)) // the last is unknown
	}
	if c.r.IntN(2) == 0 {
		q.Within = c.within(ids)
	}
	if c.r.IntN(2) == 0 {
		c.unfinished(&q)
	}
	q.N = []int{0, 1, 2, 10, 50, 200, ids}[c.r.IntN(7)]
	want := m.search(q)
	if diff := gocmp.Diff(x.Search(q), want); diff != "" {
		admitted := "all"
		if q.Within != nil {
			admitted = fmt.Sprint(q.Within.Count())
		}
		t.Fatalf("%s %v %v within %s, %d best (-got +want):\n%s", q.Collection, q.Terms, q.Unfinished, admitted, q.N, diff)
	}
	scorer := x.Scorer(q)
	for _, hit := range want[:min(3, len(want))] {
		d := m.docs[hit.ID]
		if score, ok := scorer.Score(m.counts(q, d), len(d.Terms)); score != hit.Score || !ok {
			t.Fatalf("Scorer(%s, %v) scores document %d %v, %t, want %v", q.Collection, q.Terms, hit.ID, score, ok, hit.Score)
		}
	}
	if got, want := x.Stats(q.Collection), m.stats(q.Collection); got != want {
		t.Fatalf("Stats(%s) = %v, want %v", q.Collection, got, want)
	}
	if got, want := x.DocumentFrequency(q.Collection, q.Terms[0]), m.df(q.Collection, q.Terms[0]); got != want {
		t.Fatalf("DocumentFrequency(%s, %s) = %d, want %d", q.Collection, q.Terms[0], got, want)
	}
	id := int64(c.r.IntN(ids))
	d, want2 := m.docs[id]
	collection, length, ok := x.Find(id)
	if ok != want2 || collection != d.Collection || length != len(d.Terms) {
		t.Fatalf("Find(%d) = %s, %d, %t, want %s, %d, %t", id, collection, length, ok, d.Collection, len(d.Terms), want2)
	}
	if got := x.Terms(id); ok && !gocmp.Equal(got, termCounter(d)) || !ok && got != nil {
		t.Fatalf("Terms(%d) = %v, want %v", id, got, termCounter(d))
	}
}

func thaw(t *testing.T, f *lexical.Frozen, params func(float64) lexical.Params) *lexical.Index {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	x, err := lexical.Read(&b, params)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The N best are a prefix of all matches, which are computed in another way, at
// a size at which most postings are never looked at.
func TestBestAreThePrefixOfAll(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	n := rounds.Of(8_000, 60_000)
	s := newSpeech(3)
	x := lexical.New(fts5)
	docs := s.texts(1, n)
	for i := range docs {
		if i%7 == 0 {
			docs[i].Terms = docs[s.r.IntN(i+1)].Terms
		}
	}
	s.r.Shuffle(n, func(i, j int) { docs[i].ID, docs[j].ID = docs[j].ID, docs[i].ID })
	x.Apply(docs, nil)
	x.Apply(docs[n/2:n/2+n/10], []int64{1, 2, 3, 4, 5})
	for range rounds.Of(40, 150) {
		q := lexical.Query{Collection: "default", Terms: s.question()}
		if s.r.IntN(2) == 0 {
			q.Unfinished = &lexical.Unfinished{Whole: q.Terms[:1]}
			q.Unfinished.Longer = x.Frequent("default", 20, func(stem string) bool {
				return strings.HasPrefix(stem, q.Terms[0][:1]) && !slices.Contains(q.Terms, stem)
			})
		}
		if s.r.IntN(2) == 0 {
			q.Within = bitset.New(0)
			share := []float64{0.001, 0.01, 0.1, 0.9}[s.r.IntN(4)]
			for id := range n {
				if s.r.Float64() < share {
					q.Within.Set(uint(id))
				}
			}
		}
		all := x.Search(q)
		for _, q.N = range []int{1, 3, 10, 40, 200, 1000} {
			if diff := gocmp.Diff(x.Search(q), all[:min(q.N, len(all))]); diff != "" {
				t.Fatalf("%v, %d best (-got +want):\n%s", q.Terms, q.N, diff)
			}
		}
	}
}

func TestSearchFindsNothing(t *testing.T) {
	x := lexical.New(fts5)
	ask := func(why string, q lexical.Query) {
		t.Helper()
		if got := x.Search(q); got != nil {
			t.Errorf("%s: %v, want nothing", why, got)
		}
	}
	ask("empty index", lexical.Query{Collection: lexical.All, Terms: []string{"grip"}})
	x.Apply([]lexical.Document{{ID: 1, Collection: "a", Terms: []string{"grip", "slip"}}, {ID: -2, Collection: "a", Terms: []string{"grip"}}, {ID: 3, Collection: "b", Terms: nil}}, nil)
	ask("no terms", lexical.Query{Collection: "a"})
	ask("unknown collection", lexical.Query{Collection: "c", Terms: []string{"grip"}})
	ask("only in another collection", lexical.Query{Collection: "b", Terms: []string{"grip"}})
	ask("nothing admitted", lexical.Query{Collection: "a", Terms: []string{"grip"}, Within: bitset.New(8)})
	ask("negative identifiers pass no filter", lexical.Query{Collection: "a", Terms: []string{"grip"}, Within: bitset.New(0).Set(2)})
	if got := x.Search(lexical.Query{Collection: "a", Terms: []string{"grip"}}); len(got) != 2 {
		t.Errorf("without a filter %v, want both", got)
	}
	x.Apply(nil, []int64{1, -2, 3, 99})
	ask("all removed", lexical.Query{Collection: lexical.All, Terms: []string{"grip"}})
	if got := x.Collections(); len(got) != 0 {
		t.Errorf("collections %v, want none", got)
	}
}

// The length of a document is limited, in whatever way it comes to its score.
func TestLengthsAreLimited(t *testing.T) {
	long := func(n int) []string { return slices.Repeat([]string{"grip"}, n) }
	x := lexical.New(fts5)
	x.Apply([]lexical.Document{{ID: 1, Collection: "a", Terms: long(70_000)}, {ID: 2, Collection: "a", Terms: long(4)}, {ID: 3, Collection: "a", Terms: []string{"slip"}}}, nil)
	q := lexical.Query{Collection: "a", Terms: []string{"grip"}}
	for _, x := range []*lexical.Index{x, thaw(t, x.Freeze(), fts5)} {
		if got, want := x.Stats("a").Terms, int64(65_535+4+1); got != want {
			t.Errorf("%d terms, want %d", got, want)
		}
		for _, hit := range x.Search(q) {
			n := map[int64]int{1: 70_000, 2: 4}[hit.ID]
			if score, _ := x.Scorer(q).Score([]int{n}, n); score != hit.Score {
				t.Errorf("a text of %d terms is scored %v outside of the index and %v in it", n, score, hit.Score)
			}
		}
		x.Apply(nil, []int64{1})
		if got := x.Stats("a").Terms; got != 5 {
			t.Errorf("%d terms are left, want 5", got)
		}
	}
}

func TestCompactionEndsAndFreesMemory(t *testing.T) {
	x := lexical.New(fts5)
	x.SetLimit(100)
	s := newSpeech(5)
	docs := s.texts(1, 2000)
	for i := range docs[:900] {
		docs[i].Terms = append(docs[i].Terms, fmt.Sprint("only here ", i))
	}
	x.Apply(docs, nil)
	stems := x.Stems()
	for i := range docs[:900] {
		x.Apply(nil, []int64{docs[i].ID})
	}
	for range 1000 {
		x.Apply([]lexical.Document{docs[1999]}, nil)
	}
	if dead := x.Dead(); dead > 1000 {
		t.Errorf("%d dead documents beside 1100 living ones", dead)
	}
	if got := x.Stems(); got > stems-700 {
		t.Errorf("%d of %d stems are left when 900 have lost their only document", got, stems)
	}
}
