package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/embeddings"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// wordEmbedder adds random vectors of the words (random indexing): texts with the same
// words have a high similarity. A test may set its fields.
type wordEmbedder struct {
	model string
	dims  int

	mu     sync.Mutex
	err    error // what Embed fails with
	state  robotmem.EmbedderState
	refuse string            // texts that hold it are Invalid
	hang   chan struct{}     // Embed waits until it is closed
	texts  int               // embedded so far
	same   map[string]string // what a text is embedded as
}

func newWordEmbedder(model string, dims int) *wordEmbedder {
	return &wordEmbedder{model: model, dims: dims, state: robotmem.EmbedderState{Model: model}}
}

func (w *wordEmbedder) State() robotmem.EmbedderState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

func (w *wordEmbedder) Embed(ctx context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	w.mu.Lock()
	err, refuse, hang := w.err, w.refuse, w.hang
	w.texts += len(texts)
	w.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return nil, robotmem.Errorf(robotmem.Unavailable, "", "the model did not answer in time")
		}
	}
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, s := range texts {
		if refuse != "" && strings.Contains(s, refuse) {
			return nil, robotmem.Errorf(robotmem.Invalid, "", "text %d cannot be embedded", i)
		}
		out[i] = w.vector(s)
	}
	return out, nil
}

func (w *wordEmbedder) vector(s string) []float32 {
	v := make([]float32, w.dims)
	v[0] = 0.01
	if other, ok := w.same[s]; ok {
		s = other
	}
	for _, word := range strings.Fields(strings.ToLower(s)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w.model + word))
		rng := rand.New(rand.NewPCG(1, h.Sum64()))
		for d := range v {
			v[d] += float32(rng.NormFloat64())
		}
	}
	return v
}

func (w *wordEmbedder) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// embedded waits until every memory has a vector and the indexes equal the tables.
func embedded(t *testing.T, e *Engine) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		s, err := e.Stats(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Backlog == 0 && s.Embedder != "none" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %d without a vector: %+v", s.Backlog, s)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func learnAll(t *testing.T, e *Engine, insights ...string) {
	t.Helper()
	for i, s := range insights {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: s, Context: robotmem.Object{"i": i}}); err != nil {
			t.Fatal(err)
		}
	}
}

func recalled(t *testing.T, e *Engine, req *robotmem.RecallRequest) (*robotmem.RecallResponse, []int64) {
	t.Helper()
	res, err := e.Recall(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	ids := []int64{}
	for _, m := range res.Memories {
		ids = append(ids, m.MemoryID)
	}
	return res, ids
}

func TestHybridFindsByMeaning(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four", "door blocked")
	embedded(t, e)
	res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass", N: 1, Explain: true})
	if res.Mode != "hybrid" || len(res.Degraded) != 0 || !slices.Equal(ids, []int64{1}) {
		t.Fatalf("mode %s, degraded %v, ids %v", res.Mode, res.Degraded, ids)
	}
	var lists []string
	for _, f := range res.Memories[0].Found {
		lists = append(lists, f.List)
	}
	if !slices.Equal(lists, []string{"text", "bm25", "vector"}) {
		t.Errorf("found by %v", lists)
	}
	// A query without words is still answered by vectors.
	res, _ = recalled(t, e, &robotmem.RecallRequest{Query: "!?", N: 1})
	if res.Mode != "vec_only" || res.Total != 1 {
		t.Errorf("mode %s, total %d", res.Mode, res.Total)
	}
	s, _ := e.Stats(t.Context(), nil)
	if s.Embedder != "test:words" {
		t.Errorf("embedder %q", s.Embedder)
	}
}

// A memory without a payload is like those whose texts mean the same, within the filter.
func TestLikeAFact(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	w.err = robotmem.Errorf(robotmem.Unavailable, "", "not yet")
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four", "wet glass slips from the gripper", "door blocked",
		"lidar sees a mirror", "a pallet fell over", "charging took an hour", "the map has a new wall", "camera is dirty", "wheel squeaks")
	like := &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: 1}, N: 2}
	if _, err := e.Recall(t.Context(), like); !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "no vector") {
		t.Errorf("before it has a vector: %v", err)
	}
	w.set(func() { w.err = nil })
	embedded(t, e)
	res, ids := recalled(t, e, like)
	if len(ids) != 2 || ids[0] != 3 || !strings.Contains(strings.Join(res.Interpreted, " "), "meaning of its text") {
		t.Errorf("like 1: %v, %q", ids, res.Interpreted)
	}
	if near, far := *res.Memories[0].Relevance, *res.Memories[1].Relevance; near < far+0.1 {
		t.Errorf("relevance %.2f and %.2f", near, far)
	}
	after := res.Memories[0].ObservedAt.Add(time.Nanosecond)
	if _, ids := recalled(t, e, &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: 1}, After: &after}); slices.Contains(ids, 1) || slices.Contains(ids, 2) || slices.Contains(ids, 3) {
		t.Errorf("within a filter: %v", ids)
	}
	plain := openTest(t, Options{})
	learnAll(t, plain, "a fact")
	if _, err := plain.Recall(t.Context(), like); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("without a model: %v", err)
	}
}

// An update removes the old text's vector before the new one exists.
func TestUpdatedTextIsNotFoundByItsOldMeaning(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four")
	embedded(t, e)
	w.set(func() { w.err = robotmem.Errorf(robotmem.Unavailable, "", "gone"); w.state.Reason = "" })
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1, NewContent: "nothing of the kind"}); err != nil {
		t.Fatal(err)
	}
	w.set(func() { w.err = nil })
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		m, err := c.PresentModel()
		if err != nil {
			return err
		}
		n, err := sqlite.FileOf(c).Number("SELECT count(*) FROM vectors_" + strconv.FormatInt(m.ID, 10) + " v JOIN memories m ON m.id = v.memory_id WHERE m.id = 1 AND m.version = 1")
		if n != 0 {
			t.Error("the old text's vector is still there")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	embedded(t, e)
	_, ids := recalled(t, e, &robotmem.RecallRequest{Query: "nothing of the kind", N: 1})
	if !slices.Equal(ids, []int64{1}) {
		t.Errorf("found %v by the new text", ids)
	}
}

func TestEmbedderFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		break_ func(w *wordEmbedder)
		want   string
	}{
		"cooling":   {func(w *wordEmbedder) { w.state.Reason = "the service is down; next try in 58 s" }, "vector: the service is down"},
		"failing":   {func(w *wordEmbedder) { w.err = robotmem.Errorf(robotmem.Unavailable, "", "connection refused") }, "vector: connection refused"},
		"dimension": {func(w *wordEmbedder) { w.dims = 32 }, "vector: the embedder gives vectors of 32 numbers, the stored ones have 64; run: robotmem reembed"},
		"model":     {func(w *wordEmbedder) { w.state.Model = "test:other" }, "vector: the stored vectors are of test:words and this node asks test:other; run: robotmem reembed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWordEmbedder("test:words", 64)
			e := openTest(t, Options{Embedder: w})
			learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four")
			embedded(t, e)
			w.set(func() { tt.break_(w) })
			res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass", N: 1})
			if res.Mode != "bm25_only" || !slices.Equal(ids, []int64{1}) || len(res.Degraded) != 1 || !strings.HasPrefix(res.Degraded[0], tt.want) {
				t.Errorf("mode %s, ids %v, degraded %q, want %q", res.Mode, ids, res.Degraded, tt.want)
			}
			learnAll(t, e, "learnt while the embedder fails")
		})
	}
}

func TestDeadlineNamesTheVector(t *testing.T) {
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	hang := make(chan struct{})
	defer close(hang)
	w.set(func() { w.hang = hang })
	start := time.Now()
	res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass", DeadlineMS: 700})
	if took := time.Since(start); took > embeddings.QueryLimit/2 {
		t.Errorf("it took %v", took)
	}
	if res.Mode != "bm25_only" || !slices.Equal(ids, []int64{1}) || !slices.Equal(res.Degraded, []string{"vector: the embedder did not answer before the deadline"}) {
		t.Errorf("mode %s, ids %v, degraded %q", res.Mode, ids, res.Degraded)
	}
}

// A text that the model refuses does not prevent the vectors of others.
func TestRefusedTextIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	w.refuse = "poison"
	e := openTest(t, Options{Embedder: w})
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("fact number %d of the gripper", i))
	}
	texts[37] = "poison in the middle"
	learnAll(t, e, texts...)
	embedded(t, e)
	if n := e.index.Vectors.Codes.Len(); n != 99 {
		t.Errorf("%d codes, want 99", n)
	}
	res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "poison", N: 1})
	if res.Mode != "bm25_only" || !slices.Equal(ids, []int64{38}) {
		t.Errorf("mode %s, ids %v: a question that is refused is asked by words", res.Mode, ids)
	}
}

func TestReembed(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/m.db"
	open := func(w *wordEmbedder) *Engine {
		e, err := openFile(t.Context(), path, Options{Embedder: w})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := newWordEmbedder("test:first", 64)
	a := open(first)
	defer a.Close()
	var texts []string
	for i := range 700 {
		texts = append(texts, fmt.Sprintf("fact number %d of the gripper", i))
	}
	learnAll(t, a, texts...)
	embedded(t, a)

	second := newWordEmbedder("test:second", 32)
	b := open(second)
	defer b.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Reembed(ctx, func(done, total int64) {
		if total != 700 {
			t.Errorf("total %d", total)
		}
		if done > 0 {
			cancel()
		}
	})
	if !errors.Is(err, robotmem.Unavailable) {
		t.Fatalf("interrupted: %v", err)
	}
	if res, _ := recalled(t, a, &robotmem.RecallRequest{Query: "gripper 3"}); res.Mode != "hybrid" {
		t.Errorf("meanwhile the first node answers %s %v", res.Mode, res.Degraded)
	}
	before := second.texts
	last := int64(0)
	if err := b.Reembed(t.Context(), func(done, total int64) { last = total }); err != nil {
		t.Fatal(err)
	}
	if last >= 700 || second.texts-before >= 700 {
		t.Errorf("the second run began anew: total %d, %d texts", last, second.texts-before)
	}
	embedded(t, b)
	res, ids := recalled(t, b, &robotmem.RecallRequest{Query: "fact number 77 of the gripper", N: 1})
	if res.Mode != "hybrid" || !slices.Equal(ids, []int64{78}) {
		t.Errorf("mode %s, degraded %v, ids %v", res.Mode, res.Degraded, ids)
	}
	res, _ = recalled(t, a, &robotmem.RecallRequest{Query: "gripper 3"})
	if res.Mode != "bm25_only" || len(res.Degraded) != 1 || !strings.Contains(res.Degraded[0], "reembed") {
		t.Errorf("the first node answers %s %v", res.Mode, res.Degraded)
	}
	err = b.Store.Read(t.Context(), func(c *store.Conn) error {
		all, err := c.Models()
		if len(all) != 1 || all[0].Name != "test:second" {
			t.Errorf("models %+v", all)
		}
		tables, terr := sqlite.FileOf(c).Number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name LIKE 'vectors\\_%' ESCAPE '\\'")
		if tables != 1 {
			t.Errorf("%d tables of vectors", tables)
		}
		return errors.Join(err, terr)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A memory with the same meaning in other words is relevant, and its list has the same
// weight as that of the words; if the nearest vector is far, the words decide the order.
func TestNearMeaningCountsLikeAWord(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	w.same = map[string]string{"hold the slippery tumbler": "carry a wet glass"}
	e := openTest(t, Options{Embedder: w})
	var texts []string
	for i := range 30 {
		texts = append(texts, fmt.Sprintf("the tumbler in rack %d was counted", i))
	}
	learnAll(t, e, append(texts, "carry a wet glass")...)
	embedded(t, e)
	res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "hold the slippery tumbler", N: 1, MinRelevance: 0.8})
	if res.Mode != "hybrid" || !slices.Equal(ids, []int64{31}) {
		t.Errorf("found %v, mode %s %v", ids, res.Mode, res.Degraded)
	}
}

// A recall that waits for its query embedding holds no connection.
func TestWaitingForAVectorBlocksNobody(t *testing.T) {
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	hang := make(chan struct{})
	w.set(func() { w.hang = hang })
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() { recalled(t, e, &robotmem.RecallRequest{Query: "wet glass"}) })
	}
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	if _, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 1}); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > embeddings.QueryLimit/4 {
		t.Errorf("a get took %v beside recalls that wait", took)
	}
	close(hang)
	waiting.Wait()
}

// Whoever computes vectors for a moment, such as a command that ends, does not wait for the page of another.
func TestADeadlineEndsTheWaitForAPageOfVectors(t *testing.T) {
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	hang := make(chan struct{})
	w.set(func() { w.hang = hang })
	learnAll(t, e, "the drill slips on steel")
	time.Sleep(5 * embeddings.Gather) // until the worker has begun
	working := func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		return e.Embed(limited)
	}

	ended := make(chan error, 2)
	go func() { ended <- working(t.Context()) }()
	go func() { ended <- working(t.Context()) }()
	for range 2 {
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the vectors are there while the model hangs")
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a deadline of 100 ms has not ended the wait")
		}
	}
	close(hang)
	embedded(t, e)
}

// A pause holds the vectors of new memories, and what they wait for is seen; recall, and a
// reembedding that was asked for, go on.
func TestAPauseHoldsTheBackgroundWork(t *testing.T) {
	w := newWordEmbedder("words", 32)
	e := openTest(t, Options{Embedder: w})
	learn := func(text string) {
		t.Helper()
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: text}); err != nil {
			t.Fatal(err)
		}
	}
	learn("the cup holds at 9 N")
	embedded(t, e)
	e.Pause(true)
	e.Pause(true) // twice is once
	before := w.texts
	learn("the bowl holds at 11 N")
	time.Sleep(5 * embeddings.Gather)
	s, err := e.Stats(t.Context(), nil)
	if err != nil || s.Backlog != 1 || s.Workers[0].Status != "paused" || s.Workers[1].Status != "paused" || s.Workers[2].Status != "off" {
		t.Errorf("while paused: %d wait, %+v, %v", s.Backlog, s.Workers, err)
	}
	w.set(func() {
		if w.texts != before {
			t.Errorf("%d texts were embedded while paused", w.texts-before)
		}
	})
	found, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "bowl"})
	if err != nil || found.Total == 0 || !strings.Contains(found.Memories[0].Content, "bowl") {
		t.Errorf("recall while paused: %+v, %v", found, err)
	}
	e.Pause(false)
	embedded(t, e)
	e.Pause(true)
	if err := e.Reembed(t.Context(), func(int64, int64) {}); err != nil {
		t.Error(err)
	}
	if _, err := e.Repair(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil { // the workers end although they wait
		t.Error(err)
	}
}
