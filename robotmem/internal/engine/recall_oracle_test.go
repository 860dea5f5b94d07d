package engine

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/embeddings"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// oracle answers recalls by a scan of all memories, without indexes and caches.
type oracle struct {
	memories []robotmem.Memory
	stems    map[int64][]string
	figures  map[string]*oracleFigures // by collection
	embedder *wordEmbedder             // nil: words only
	vectors  map[int64][]float32
	unit     func(path string) string
}

// oracleFigures are the statistics of a collection for BM25.
type oracleFigures struct {
	rows, total float64
	df          map[string]float64
}

func newOracle(t *testing.T, e *Engine, memories []robotmem.Memory, w *wordEmbedder) *oracle {
	t.Helper()
	o := &oracle{memories: memories, stems: map[int64][]string{}, figures: map[string]*oracleFigures{}, embedder: w, vectors: map[int64][]float32{}, unit: bruteUnits(memories)}
	for i := range memories {
		m := &memories[i]
		rec, err := e.records.RecordOf(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range record.Words(m.Type, m.Content, m.Summary, rec.ScopeFiles, rec.ScopeEntity) {
			for _, term := range words {
				o.stems[m.MemoryID] = append(o.stems[m.MemoryID], text.Stem(term))
			}
		}
		for _, name := range []string{"*", m.Collection} {
			f := o.figures[name]
			if f == nil {
				f = &oracleFigures{df: map[string]float64{}}
				o.figures[name] = f
			}
			f.rows++
			f.total += float64(len(o.stems[m.MemoryID]))
			for _, s := range record.Distinct(slices.Clone(o.stems[m.MemoryID])) {
				f.df[s]++
			}
		}
		if w != nil {
			v, err := embeddings.UnitVectors([][]float32{w.vector(m.Content)}, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			o.vectors[m.MemoryID] = vector.Decode(vector.Encode(v[0]))
		}
	}
	return o
}

// admits applies every filter to one memory.
func (o *oracle) admits(q *recall.Query, m *robotmem.Memory) bool {
	b := basicOf(q)
	return b.Admits(m) && hasAll(m.Tags, q.Tags) && (q.Filter == nil || q.Filter.Match(&filter.View{Memory: m, Unit: o.unit}))
}

func (o *oracle) words(q *recall.Query, admitted []*robotmem.Memory) []recall.Ranked {
	figures := o.figures[q.Collection]
	var asked []string
	for _, t := range q.Content {
		if s := text.Stem(t); !slices.Contains(asked, s) {
			asked = append(asked, s)
		}
	}
	average := figures.total / figures.rows
	p := lexical.Bm25Params(average)
	var out []recall.Ranked
	for _, m := range admitted {
		score, found := 0.0, false
		for _, s := range asked {
			f := 0.0
			for _, have := range o.stems[m.MemoryID] {
				if have == s {
					f++
				}
			}
			if f > 0 {
				found = true
				idf := max(1e-6, math.Log((figures.rows-figures.df[s]+0.5)/(figures.df[s]+0.5)))
				score += idf * f * (p.K1 + 1) / (f + p.K1*(1-p.B+p.B*float64(len(o.stems[m.MemoryID]))/average))
			}
		}
		if found {
			out = append(out, recall.Ranked{ID: m.MemoryID, Value: digits(score)})
		}
	}
	slices.SortFunc(out, recall.Larger)
	return out
}

// full is the score of words of a memory of usual length that has each word of the question once.
func (o *oracle) full(q *recall.Query) (sum float64) {
	figures, seen := o.figures[q.Collection], map[string]bool{}
	for _, t := range q.Content {
		if s := text.Stem(t); !seen[s] {
			seen[s] = true
			sum += max(1e-6, math.Log((figures.rows-figures.df[s]+0.5)/(figures.df[s]+0.5)))
		}
	}
	return sum
}

// digits rounds to twelve digits, so that sums in another order are equal.
func digits(x float64) float64 {
	if x == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-11)
	return math.Round(x/unit) * unit
}

func (o *oracle) meaning(q *recall.Query, v []float32, admitted []*robotmem.Memory) []recall.Ranked {
	var out []recall.Ranked
	for _, m := range admitted {
		sum := 0.0
		for i, x := range o.vectors[m.MemoryID] {
			sum += float64(x) * float64(v[i])
		}
		out = append(out, recall.Ranked{ID: m.MemoryID, Value: digits(sum)})
	}
	slices.SortFunc(out, recall.Larger)
	return out
}

func (o *oracle) places(s *robotmem.SpatialSort, admitted []*robotmem.Memory) []recall.Ranked {
	var out []recall.Ranked
	for _, m := range admitted {
		if d, ok := bruteDistance(m.Context, s); ok {
			out = append(out, recall.Ranked{ID: m.MemoryID, Value: d})
		}
	}
	slices.SortFunc(out, recall.Smaller)
	return out
}

// oracleVectorWeight is fixed: a computed weight could break ties in its last digit.
const oracleVectorWeight = 0.25

const oracleRRF = 60

// answer returns the ids of a recall, and the number of memories that its filters admit.
func (o *oracle) answer(t *testing.T, e *Engine, req *robotmem.RecallRequest) (ids []int64, admits int) {
	t.Helper()
	q, err := recall.Parse(req, e.Now())
	if err != nil {
		t.Fatal(err)
	}
	var admitted []*robotmem.Memory
	byID := map[int64]*robotmem.Memory{}
	for i := range o.memories {
		m := &o.memories[i]
		byID[m.MemoryID] = m
		if o.admits(q, m) {
			admitted = append(admitted, m)
		}
	}
	ids = []int64{}
	if q.Strict() {
		for _, r := range o.places(q.SpatialSort, admitted) {
			ids = append(ids, r.ID)
		}
		return ids[:min(q.N, len(ids))], len(admitted)
	}
	lists, weights := [][]recall.Ranked{}, []float64{}
	if len(q.Content) > 0 {
		lists, weights = append(lists, o.words(q, admitted)), append(weights, 1)
	}
	if o.embedder != nil {
		v, err := embeddings.UnitVectors([][]float32{o.embedder.vector(q.Query)}, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		lists, weights = append(lists, o.meaning(q, v[0], admitted)), append(weights, oracleVectorWeight)
	}
	if q.SpatialSort != nil {
		lists, weights = append(lists, o.places(q.SpatialSort, admitted)), append(weights, 1)
	}
	found := slices.ContainsFunc(lists, func(l []recall.Ranked) bool { return len(l) > 0 })
	switch {
	case len(q.Content) > 0 && len(lists[0]) == 0 && !oracleFiltered(q):
		return ids, 0 // no word is known, and the vectors of random words are not near
	case !found && oracleFiltered(q): // what passes the filters answers, newest first
		slices.SortFunc(admitted, func(a, b *robotmem.Memory) int {
			return cmp.Or(b.ObservedAt.Compare(a.ObservedAt), cmp.Compare(a.MemoryID, b.MemoryID))
		})
		for _, m := range admitted[:min(q.N, len(admitted))] {
			ids = append(ids, m.MemoryID)
		}
		return ids, len(admitted)
	}
	depth := math.MaxInt
	if len(lists) > 1 {
		depth = max(80, int(defaultRealWeight*float64(oracleRRF+q.N))-oracleRRF+20)
	}
	score := map[int64]float64{}
	for i, l := range lists {
		rank, depth := 0, depth
		if i == 0 && len(q.Content) > 0 && len(l) >= depth && l[depth-1].Value == l[q.N-1].Value {
			depth = 200 // more have this score
		}
		for n, r := range l[:min(depth, len(l))] {
			if n == 0 || i > 0 || r.Value != l[n-1].Value {
				rank = n // equal scores of words share a rank
			}
			score[r.ID] += weights[i] / float64(oracleRRF+rank+1)
		}
	}
	for id := range score {
		if env, ok := byID[id].Env.(map[string]any); ok && env["sim_or_real"] == "real" {
			score[id] *= defaultRealWeight
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), byID[b].ObservedAt.Compare(byID[a].ObservedAt), cmp.Compare(a, b))
	})
	return ids[:min(q.N, len(ids))], len(admitted)
}

// oracleFiltered reports whether a filter is answered by what passes it.
func oracleFiltered(q *recall.Query) bool {
	return q.Filter != nil || q.SessionID != "" || q.Type != "" || q.Category != "" || len(q.Tags) > 0 || q.After != nil || q.Before != nil
}

// checkScores compares the order of a hybrid recall with the scores that all admitted
// memories have by the formula of docs/explanation/recall.md. Among many memories the search for
// vectors is not exact, and the lists that are combined are not complete.
func (o *oracle) checkScores(t *testing.T, e *Engine, req *robotmem.RecallRequest) {
	t.Helper()
	q, err := recall.Parse(req, e.Now())
	if err != nil {
		t.Fatal(err)
	}
	var admitted []*robotmem.Memory
	for i := range o.memories {
		if o.admits(q, &o.memories[i]) {
			admitted = append(admitted, &o.memories[i])
		}
	}
	words := o.words(q, admitted)
	if len(words) == 0 || len(admitted) >= 80 { // the mean of more cosines is that of a sample
		return
	}
	unit, err := embeddings.UnitVectors([][]float32{o.embedder.vector(q.Query)}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	near := o.meaning(q, unit[0], admitted)
	mean, spread := 0.0, 0.0
	for _, r := range near {
		mean += r.Value / float64(len(near))
	}
	for _, r := range near {
		spread += (r.Value - mean) * (r.Value - mean) / float64(len(near))
	}
	spread = math.Sqrt(spread)

	share := 1.0
	if full := o.full(q); full > words[0].Value {
		share = math.Sqrt((words[0].Value + 0.5) / (full + 0.5))
	}
	want := map[int64]float64{}
	for _, r := range words {
		want[r.ID] = share * r.Value / words[0].Value
	}
	for _, r := range near {
		want[r.ID] += 0.15 * (1 + min(1, 64/float64(len(near)))) * max(0, (r.Value-mean)/max(spread, 1e-4))
	}
	_, got := recalled(t, e, req)
	if len(got) != min(q.N, len(admitted)) {
		t.Errorf("%+v: %d memories of %d", req, len(got), len(admitted))
	}
	rest := maps.Clone(want)
	for _, id := range got {
		delete(rest, id)
	}
	for i, id := range got {
		after := slices.Collect(maps.Values(rest))
		for _, later := range got[i+1:] {
			after = append(after, want[later])
		}
		if len(after) > 0 && want[id] < slices.Max(after)-1e-6 {
			t.Fatalf("%+v: memory %d with score %g before one with %g", req, id, want[id], slices.Max(after))
		}
	}
}

var oracleWords = func() (words []string) {
	rng := rand.New(rand.NewPCG(11, 11))
	for range 400 {
		var b strings.Builder
		for range 2 + rng.IntN(2) {
			b.WriteString([]string{"ka", "mo", "ti", "ru", "sen", "pol", "vax", "dim", "gor", "lun"}[rng.IntN(10)])
		}
		words = append(words, b.String())
	}
	return words
}()

func oracleText(rng *rand.Rand, n int) string {
	var words []string
	for range n {
		// A few words are in nearly every text, most are in few.
		words = append(words, oracleWords[int(math.Pow(float64(len(oracleWords)), rng.Float64()))-1])
	}
	return strings.Join(words, " ")
}

// oracleFill stores n random memories and returns the active ones.
func oracleFill(t *testing.T, e *Engine, rng *rand.Rand, n int) (all []robotmem.Memory) {
	t.Helper()
	tags := []string{"red", "green", "blue"}
	for made := 0; made < n; {
		req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
		for range min(5000, n-made) {
			c := robotmem.Object{"i": rng.IntN(500), "params": map[string]any{"force": float64(rng.IntN(300)) / 10}, "task": map[string]any{"success": rng.IntN(3) > 0}}
			if rng.IntN(2) == 0 {
				c["spatial"] = map[string]any{"position": []any{rng.IntN(40), rng.IntN(40)}, "frame_id": "map"}
			}
			if rng.IntN(3) == 0 {
				c["env"] = map[string]any{"sim_or_real": "real"}
			}
			at := time.Date(2026, 1, 1, 0, 0, rng.IntN(1_000_000), 0, time.UTC)
			req.Items = append(req.Items, robotmem.LearnRequest{Insight: oracleText(rng, 3+rng.IntN(14)), Context: c,
				Collection: []string{"a", "a", "a", "b"}[rng.IntN(4)], Tags: tags[:rng.IntN(4)], ObservedAt: &at})
			made++
		}
		res, err := e.LearnBatch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range res.Results {
			if item.Error != nil {
				t.Fatal(item.Error)
			}
			switch i % 53 {
			case 0:
				_, err = e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: item.MemoryID, Reason: "test"})
			case 1:
				_, err = e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: item.MemoryID, NewContent: oracleText(rng, 8)})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for page := 1; ; page++ {
		l, err := e.List(t.Context(), &robotmem.ListRequest{Page: page, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l.Memories...)
		if len(l.Memories) < 1000 {
			return all
		}
	}
}

func oracleQuestion(rng *rand.Rand) *robotmem.RecallRequest {
	req := &robotmem.RecallRequest{Query: oracleText(rng, 1+rng.IntN(5)), Collection: []string{"a", "b", "*"}[rng.IntN(3)], N: []int{1, 5, 10, 100}[rng.IntN(4)]}
	if rng.IntN(2) == 0 {
		req.ContextFilter = []robotmem.Object{
			{"i": rng.IntN(500)}, {"i": map[string]any{"$lt": rng.IntN(60)}}, {"task.success": false},
			{"params.force": map[string]any{"$gte": float64(rng.IntN(300)) / 10}}, {"$not": robotmem.Object{"task.success": true}},
			{"$or": []any{robotmem.Object{"i": 3}, robotmem.Object{"params.force": map[string]any{"$lt": 1}}}},
		}[rng.IntN(6)]
	}
	if rng.IntN(4) == 0 {
		after := time.Date(2026, 1, 1, 0, 0, rng.IntN(1_000_000), 0, time.UTC)
		before := after.Add(time.Duration(rng.IntN(200)) * time.Hour)
		req.After, req.Before = &after, &before
	}
	if rng.IntN(4) == 0 {
		req.Tags = []string{"red", "green", "blue"}[:1+rng.IntN(3)]
	}
	if rng.IntN(3) == 0 {
		reach := float64(1 + rng.IntN(30))
		req.SpatialSort = &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{float64(rng.IntN(40)), float64(rng.IntN(40))}, MaxDistance: &reach, Mode: []string{"strict", "fused"}[rng.IntN(2)]}
	}
	return req
}

// 2,000 memories and 50 queries with filters, places, times and tags, in CI 20,000 and 200.
// Recall by words returns the ids of the oracle in the same order, and so does recall
// with vectors if the filter admits a small set; otherwise it returns at least 0.99 of
// the oracle's first ten.
func TestRecallEqualsBruteForce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine and many memories: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(12, 12))
	path := t.TempDir() + "/m.db"
	w := newWordEmbedder("test:words", 64)
	hybrid, err := openFile(t.Context(), path, Options{Embedder: w, Weights: map[string]float64{"vector": oracleVectorWeight, "evidence": 0}, Fusion: recall.FusionRRF}, fast)
	if err != nil {
		t.Fatal(err)
	}
	defer hybrid.Close()
	all, questions := oracleFill(t, hybrid, rng, rounds.Of(2_000, 20_000)), rounds.Of(50, 200)
	embedded(t, hybrid)
	plain, err := openFile(t.Context(), path, Options{Weights: map[string]float64{"evidence": 0}})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if err := plain.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	scored, err := openFile(t.Context(), path, Options{Embedder: w, Weights: map[string]float64{"evidence": 0}, RealWeight: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer scored.Close()
	if err := scored.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	byWords, byBoth := newOracle(t, plain, all, nil), newOracle(t, hybrid, all, w)
	answered, small, wanted, found := 0, 0, 0, 0
	for i := range questions {
		req := oracleQuestion(rng)
		want, _ := byWords.answer(t, plain, req)
		_, got := recalled(t, plain, req)
		if !slices.Equal(got, want) {
			t.Fatalf("question %d %+v: got %v, want %v", i, req, got, want)
		}
		if len(want) > 0 {
			answered++
		}
		if req.SpatialSort == nil {
			byBoth.checkScores(t, scored, req)
		}
		want, admits := byBoth.answer(t, hybrid, req)
		_, got = recalled(t, hybrid, req)
		if admits <= 400 {
			small++
			if !slices.Equal(got, want) {
				t.Fatalf("question %d %+v, hybrid within %d: got %v, want %v", i, req, admits, got, want)
			}
			continue
		}
		for _, id := range want[:min(10, len(want))] {
			wanted++
			if slices.Contains(got, id) {
				found++
			}
		}
	}
	t.Logf("%d questions had an answer, %d left a small set; hybrid found %d of %d", answered, small, found, wanted)
	if answered < questions*3/4 || small < questions*3/20 || wanted < questions*5/2 {
		t.Error("the questions are too easy")
	}
	if float64(found) < 0.99*float64(wanted) {
		t.Errorf("hybrid found %d of %d", found, wanted)
	}
}
