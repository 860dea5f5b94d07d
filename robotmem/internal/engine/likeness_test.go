package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// trace returns a random walk of some channels as CSV.
func trace(rng *rand.Rand, channels, samples int) string {
	var s strings.Builder
	at := make([]float64, channels)
	for range samples {
		for c := range at {
			at[c] += rng.NormFloat64()
			if c > 0 {
				s.WriteByte(',')
			}
			fmt.Fprintf(&s, "%.3f", at[c])
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// saveTraces stores n traces of two or three channels.
func saveTraces(t *testing.T, e *Engine, rng *rand.Rand, n int) (ids []int64) {
	t.Helper()
	for i := range n {
		at := streamStart.Add(time.Duration(i) * time.Minute)
		res := savePayload(t, e, nil, func(r *robotmem.SavePerceptionRequest) {
			r.DataBase64, r.Data, r.PerceptionType = nil, trace(rng, 2+rng.IntN(2), 20+rng.IntN(40)), "tactile"
			r.Description = []string{"a slip of the glass", "a firm grip", "a push of the button"}[rng.IntN(3)]
			r.Collection, r.ObservedAt = []string{"a", "b"}[rng.IntN(2)], &at
			r.Context = robotmem.Object{"task": map[string]any{"success": rng.IntN(2) == 0}, "i": i}
		})
		ids = append(ids, res.MemoryID)
	}
	return ids
}

// nearestByHand compares an item with every memory that admit accepts.
func nearestByHand(t *testing.T, e *Engine, it perception.Item, self int64, n int, admit func(*robotmem.Memory) bool) []int64 {
	t.Helper()
	l, err := e.List(t.Context(), &robotmem.ListRequest{Limit: 1000, Type: "perception"})
	if err != nil {
		t.Fatal(err)
	}
	kind, want, ok := perception.Features(it)
	if !ok {
		t.Fatal("the item has no features")
	}
	var found []recall.Ranked
	for i := range l.Memories {
		m := &l.Memories[i]
		if m.MemoryID == self || m.SHA256 == "" || !admit(m) {
			continue
		}
		d, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID})
		if err != nil {
			t.Fatal(err)
		}
		k, v, ok := perception.Features(perception.Item{Type: m.PerceptionType, MediaType: m.MediaType, Data: d.DataBase64, Metadata: m.Metadata})
		if ok && k == kind {
			found = append(found, recall.Ranked{ID: m.MemoryID, Value: perception.Distance(kind, want, v)})
		}
	}
	slices.SortFunc(found, recall.Smaller)
	ids := []int64{}
	for _, r := range found[:min(n, len(found))] {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestLikenessEqualsBruteForce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(7, 70))
	e := openTest(t, Options{})
	ids := saveTraces(t, e, rng, 150)
	savePayload(t, e, noise(1, 500), nil)                                                  // nothing to compare
	savePayload(t, e, nil, func(r *robotmem.SavePerceptionRequest) { r.DataBase64 = nil }) // no payload
	learnAll(t, e, "a fact")
	for i := range ids {
		if i%11 == 3 {
			if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: ids[i], Reason: "test"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	yes := func(*robotmem.Memory) bool { return true }
	middle := streamStart.Add(75 * time.Minute)
	half := 0.5
	for _, tt := range []struct {
		name  string
		req   robotmem.RecallRequest
		admit func(*robotmem.Memory) bool
	}{
		{"all", robotmem.RecallRequest{Collection: "*"}, yes},
		{"a collection", robotmem.RecallRequest{Collection: "a"}, func(m *robotmem.Memory) bool { return m.Collection == "a" }},
		{"a filter", robotmem.RecallRequest{Collection: "*", ContextFilter: robotmem.Object{"task.success": false}}, func(m *robotmem.Memory) bool { v, _ := m.Context.At("task.success"); return v == false }},
		{"a rare filter", robotmem.RecallRequest{Collection: "*", ContextFilter: robotmem.Object{"i": map[string]any{"$lt": 9}}}, func(m *robotmem.Memory) bool { return m.ObservedAt.Before(streamStart.Add(9 * time.Minute)) }},
		{"a time", robotmem.RecallRequest{Collection: "b", After: &middle}, func(m *robotmem.Memory) bool { return m.Collection == "b" && !m.ObservedAt.Before(middle) }},
		{"confidence", robotmem.RecallRequest{Collection: "*", MinConfidence: &half}, func(m *robotmem.Memory) bool { return m.Confidence >= half }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, self := range []int64{ids[0], ids[50], ids[3]} { // the last is forgotten
				m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: self})
				if err != nil {
					t.Fatal(err)
				}
				d, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: self})
				if err != nil {
					t.Fatal(err)
				}
				it := perception.Item{Type: m.PerceptionType, MediaType: m.MediaType, Data: d.DataBase64}
				for _, n := range []int{1, 5, 100} {
					req := tt.req
					req.N, req.Like = n, &robotmem.Like{MemoryID: self}
					if _, got := recalled(t, e, &req); !slices.Equal(got, nearestByHand(t, e, it, self, n, tt.admit)) {
						t.Errorf("the %d like memory %d: %v, want %v", n, self, got, nearestByHand(t, e, it, self, n, tt.admit))
					}
					req.Like = &robotmem.Like{Data: string(d.DataBase64)}
					if _, got := recalled(t, e, &req); !slices.Equal(got, nearestByHand(t, e, it, 0, n, tt.admit)) {
						t.Errorf("the %d like its data: %v, want %v", n, got, nearestByHand(t, e, it, 0, n, tt.admit))
					}
				}
			}
		})
	}
}

// Words and likeness are two lists, fused by rank.
func TestLikenessIsFusedWithWords(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 71))
	e := openTest(t, Options{})
	ids := saveTraces(t, e, rng, 60)
	res, got := recalled(t, e, &robotmem.RecallRequest{Query: "slip glass", Collection: "*", Like: &robotmem.Like{MemoryID: ids[7]}, N: 20, Explain: true})
	both := 0
	for i, m := range res.Memories {
		lists := map[string]int{}
		sum := 0.0
		for _, f := range m.Found {
			lists[f.List] = f.Rank
			sum += 1 / float64(oracleRRF+f.Rank+1)
		}
		if len(lists) == 2 {
			both++
		}
		first := 0.0
		for _, f := range res.Memories[0].Found {
			first += 1 / float64(oracleRRF+f.Rank+1)
		}
		if math.Abs(*m.Score-sum/first) > 1e-9 {
			t.Errorf("answer %d scores %v, its ranks %v make %v", i, *m.Score, lists, sum/first)
		}
	}
	if both == 0 || slices.Contains(got, ids[7]) || res.Mode != "bm25_only" {
		t.Errorf("%d answers are in both lists, mode %s, %v", both, res.Mode, got)
	}
}

func TestLikenessByDataOfEveryForm(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	rng := rand.New(rand.NewPCG(7, 72))
	saveTraces(t, e, rng, 20)
	var samples []byte
	for i := range 300 {
		samples = binary.LittleEndian.AppendUint32(samples, math.Float32bits(float32(math.Sin(float64(i)/9))))
	}
	raw := func(r *robotmem.SavePerceptionRequest) {
		r.MediaType, r.Metadata = "application/x-samples", robotmem.Object{"dtype": "<f4", "shape": []any{50, 6}}
	}
	want := savePayload(t, e, samples, raw).MemoryID
	savePayload(t, e, append(slices.Clone(samples[600:]), samples[:600]...), raw)
	for name, l := range map[string]*robotmem.Like{
		"raw samples":             {DataBase64: samples, MediaType: "application/x-samples", Metadata: robotmem.Object{"dtype": "<f4", "shape": []any{50, 6}}},
		"of no media type":        {DataBase64: samples, Metadata: robotmem.Object{"dtype": "float32", "shape": []any{50.0, 6.0}}},
		"the memory has the same": {MemoryID: want + 1},
	} {
		if _, ids := recalled(t, e, &robotmem.RecallRequest{Like: l, N: 1, Collection: "*"}); !slices.Equal(ids, []int64{want}) {
			t.Errorf("%s: %v, want %d", name, ids, want)
		}
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	fact, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a fact has no features"})
	if err != nil {
		t.Fatal(err)
	}
	bare := savePayload(t, e, nil, func(r *robotmem.SavePerceptionRequest) { r.DataBase64 = nil })
	blob := savePayload(t, e, noise(1, 500), nil)
	for _, tt := range []struct {
		name  string
		like  robotmem.Like
		kind  robotmem.Kind
		field string
	}{
		{"nothing", robotmem.Like{}, robotmem.Invalid, "like"},
		{"two things", robotmem.Like{MemoryID: 1, Data: "1,2\n"}, robotmem.Invalid, "like"},
		{"two sorts of data", robotmem.Like{DataBase64: []byte("1,2\n"), Data: "1,2\n"}, robotmem.Invalid, "like"},
		{"an unknown memory", robotmem.Like{MemoryID: 4711}, robotmem.NotFound, "like.memory_id"},
		{"a fact", robotmem.Like{MemoryID: fact.MemoryID}, robotmem.Invalid, "like.memory_id"},
		{"no payload", robotmem.Like{MemoryID: bare.MemoryID}, robotmem.Invalid, "like.memory_id"},
		{"bytes of no format", robotmem.Like{MemoryID: blob.MemoryID}, robotmem.Invalid, "like.memory_id"},
		{"such bytes as data", robotmem.Like{DataBase64: noise(2, 500)}, robotmem.Invalid, "like.data_base64"},
		{"prose", robotmem.Like{Data: "the glass slipped"}, robotmem.Invalid, "like.data"},
		{"a media type that is none", robotmem.Like{Data: "1,2\n3,4\n", MediaType: "a b"}, robotmem.Invalid, "like.media_type"},
		{"metadata that is no JSON", robotmem.Like{Data: "1,2\n3,4\n", Metadata: robotmem.Object{"x": math.NaN()}}, robotmem.Invalid, "like.metadata"},
	} {
		_, err := e.Recall(t.Context(), &robotmem.RecallRequest{Like: &tt.like})
		refused := (*robotmem.Error)(nil)
		if !errors.As(err, &refused) || refused.Kind != tt.kind || refused.Field != tt.field {
			t.Errorf("%s: %v, want %s of %s", tt.name, err, tt.kind, tt.field)
		}
	}
}

// Features of older rules are deleted and computed again when a node opens.
func TestFeaturesOfOlderRulesAreMadeAnew(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/memory.db"
	reopen := func() *Engine {
		t.Helper()
		e, err := openFile(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := reopen()
	rng := rand.New(rand.NewPCG(7, 73))
	ids := saveTraces(t, e, rng, 3*maintenance.FeatureBatch)
	stored := func(e *Engine) (rows []string) {
		t.Helper()
		for _, id := range ids {
			if err := e.Store.Read(t.Context(), func(c *store.Conn) error {
				f, err := c.Features(id)
				rows = append(rows, fmt.Sprint(f))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		return rows
	}
	waitComparable(t, e)
	want := stored(e)
	if err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
		return errors.Join(sqlite.FileOf(tx.Conn).Exec("UPDATE features SET kind = 'trace/2/2', vector = x'00000000'"), sqlite.FileOf(tx.Conn).Exec("UPDATE counters SET value = value - 1 WHERE name = 'feature_rules'"))
	}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = reopen()
	defer e.Close()
	waitFor(t, func() bool { return !slices.Contains(stored(e), "<nil>") && slices.Equal(stored(e), want) })
	healthy(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	// The current ones are kept.
	e = reopen()
	defer e.Close()
	if s, err := e.Stats(t.Context(), nil); err != nil || s.ToCompare != 0 || !slices.Equal(stored(e), want) {
		t.Errorf("opened again, %d wait: %v", s.ToCompare, err)
	}
}

// An interrupted repair leaves perceptions without features. A node that runs at the
// same time reports them and computes their features.
func TestFeaturesThatAnotherProcessDroppedAreMadeAnew(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	ids := saveTraces(t, e, rand.New(rand.NewPCG(5, 6)), 12)
	like := &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: ids[0]}, Collection: "*", MinConfidence: new(float64), N: 100}
	recall := func() *robotmem.RecallResponse {
		t.Helper()
		res, err := e.Recall(t.Context(), like)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	waitFor(t, func() bool { recall(); return !e.maintenance.Behind.Load() })
	want := recall()
	if want.Total == 0 || len(want.Degraded) > 0 {
		t.Fatalf("%d are alike, degraded %v", want.Total, want.Degraded)
	}
	// A node is not notified of a write of another process.
	if err := e.Store.Write(t.Context(), (*store.Tx).DropFeatures); err != nil {
		t.Fatal(err)
	}
	if res := recall(); res.Total < want.Total && len(res.Degraded) == 0 {
		t.Errorf("%d of %d are found, and nothing is said", res.Total, want.Total)
	}
	waitFor(t, func() bool { return recall().Total == want.Total })
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come about in 20 s")
		}
	}
}

// BenchmarkLikeness measures recall by likeness among 20,000 traces of six channels.
func BenchmarkLikeness(b *testing.B) {
	e := openTest(b, Options{})
	const n, numbers = 20_000, 6 * 64
	rng := rand.New(rand.NewPCG(7, 74))
	manyPerceptions(b, e, n)
	err := e.Store.Write(b.Context(), func(tx *store.Tx) error {
		vector := make([]float32, numbers)
		for id := range int64(n) {
			for i := range vector {
				vector[i] = float32(rng.NormFloat64())
			}
			if err := tx.InsertFeatures(id+1, &record.Features{Kind: "trace/v2/6", Vector: vector}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	early := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	for name, req := range map[string]*robotmem.RecallRequest{
		"all":   {Like: &robotmem.Like{MemoryID: 7}},
		"few":   {Like: &robotmem.Like{MemoryID: 7}, Before: &early},
		"fused": {Like: &robotmem.Like{MemoryID: 7}, Query: "frame 12"},
	} {
		req.MinConfidence = new(float64)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				res, err := e.Recall(b.Context(), req)
				if err != nil || res.Total != 5 {
					b.Fatal(res, err)
				}
			}
		})
	}
}

// Features that are not those of the bytes are named.
func TestDoctorNamesOtherFeatures(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a trace of force", DataBase64: []byte("t,Fz\n0,-1\n0.1,-62\n0.2,-3\n")}); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"", "kind = 'trace/v9/1'", "vector = zeroblob(length(vector))"} {
		if change != "" {
			if err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec("UPDATE features SET " + change) }); err != nil {
				t.Fatal(err)
			}
		}
		res, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
		if err != nil || res.Healthy != (change == "") {
			t.Errorf("%q: healthy %t, %v", change, res.Healthy, err)
		}
	}
}
