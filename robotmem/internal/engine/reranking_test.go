package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/reranking"
)

// fakeReranker gives texts the score of the first of its words that they hold, or 0.
type fakeReranker struct {
	mu     sync.Mutex
	scores map[string]float64
	err    error
	state  robotmem.RerankerState
	during func(context.Context) // called while it works
	asked  [][]string
}

func (f *fakeReranker) State() robotmem.RerankerState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

func (f *fakeReranker) Rerank(ctx context.Context, _ string, texts []string) ([]float64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, texts)
	if f.during != nil {
		f.during(ctx)
	}
	out := make([]float64, len(texts))
	for i, text := range texts {
		for word, score := range f.scores {
			if strings.Contains(text, word) {
				out[i] = score
			}
		}
	}
	return out, f.err
}

func newFakeReranker(scores map[string]float64) *fakeReranker {
	return &fakeReranker{scores: scores, state: robotmem.RerankerState{Model: "rank-1 at http://127.0.0.1:8080"}}
}

const rerankedNote = "rerank: the first %d hits were reranked by rank-1 at http://127.0.0.1:8080"

// falling reports whether the scores of an answer begin with 1 and never rise.
func falling(res *robotmem.RecallResponse) bool {
	last := 1.0
	for i, m := range res.Memories {
		if i == 0 && *m.Score != 1 || *m.Score > last || *m.Score <= 0 {
			return false
		}
		last = *m.Score
	}
	return true
}

// numbered learns n facts whose order by words is that of their numbers.
func numbered(t *testing.T, e *Engine, n int) {
	t.Helper()
	for i := range n {
		learnAll(t, e, fmt.Sprintf("aisle %s lamp%d", strings.Repeat("is wide and bright ", i+1), i+1))
	}
}

func TestRerankOrdersTheFirstHits(t *testing.T) {
	t.Parallel()
	f := newFakeReranker(nil)
	e := openTest(t, Options{Reranker: f})
	numbered(t, e, 30)
	req := &robotmem.RecallRequest{Query: "aisle", N: 25, Explain: true}
	f.state.Reason = "paused"
	_, before := recalled(t, e, req)
	f.state.Reason = ""
	f.scores = map[string]float64{"lamp3": 9, "lamp19": 5, "lamp22": 100} // lamp22 is not among the first 20; lamp3 also in lamp30
	if len(f.asked) > 0 || slices.Index(before, 22) < 20 || slices.Index(before, 3) < 1 || slices.Index(before, 19) < 2 {
		t.Fatalf("asked %d times; the order without it is %v", len(f.asked), before)
	}

	res, got := recalled(t, e, req)
	want := slices.DeleteFunc(slices.Clone(before[:20]), func(id int64) bool { return id == 3 || id == 19 })
	want = slices.Concat([]int64{3, 19}, want, before[20:])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if len(f.asked) != 1 || len(f.asked[0]) != 20 {
		t.Errorf("the reranker was asked %d times, first about %d texts", len(f.asked), len(f.asked[0]))
	}
	if !falling(res) {
		t.Error("the scores do not fall from 1")
	}
	if !slices.Contains(res.Notes, fmt.Sprintf(rerankedNote, 20)) || len(res.Degraded) > 0 {
		t.Errorf("notes %v, degraded %v", res.Notes, res.Degraded)
	}
	found := res.Memories[1].Found
	if diff := cmp.Diff(robotmem.ListEntry{List: "rerank", Rank: 1, Value: 5}, found[len(found)-1]); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	at := slices.IndexFunc(res.Stages, func(s robotmem.Stage) bool { return s.Stage == "rerank" })
	if at < 1 || res.Stages[at-1].Stage != "relevant" || res.Stages[at+2].Stage != "evidence" || res.Stages[at].Kept != 30 {
		t.Errorf("stages %+v", res.Stages)
	}

	// Of three, the first comes from farther down.
	if _, got := recalled(t, e, &robotmem.RecallRequest{Query: "aisle", N: 3}); !slices.Equal(got, want[:3]) {
		t.Errorf("of 3: got %v, want %v", got, want[:3])
	}
	if _, got := recalled(t, e, &robotmem.RecallRequest{Query: "aisle", N: 1, MinRelevance: 0.01}); !slices.Equal(got, want[:1]) {
		t.Errorf("with min_relevance: got %v, want %v", got, want[:1])
	}
}

// Where the order is not that of relevance, the reranker is not asked.
func TestRerankOnlyByRelevance(t *testing.T) {
	t.Parallel()
	f := newFakeReranker(map[string]float64{"lamp2": 7})
	e := openTest(t, Options{Reranker: f})
	for i := range 3 {
		place := robotmem.Object{"spatial": robotmem.Object{"position": []any{i, 0}}, "robot": "r1"}
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("aisle lamp%d", i+1), Context: place}); err != nil {
			t.Fatal(err)
		}
	}
	learnAll(t, e, "a zebra crossing")
	at := func(mode string) *robotmem.SpatialSort {
		return &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}, Mode: mode}
	}
	for name, req := range map[string]robotmem.RecallRequest{
		"no query":     {Collection: "default"},
		"strict place": {Query: "aisle", SpatialSort: at("strict")},
		"fused place":  {Query: "aisle", SpatialSort: at("fused")},
		"as you type":  {Query: "aisl", AsYouType: true},
		"no word":      {Query: "zeppelin", ContextFilter: robotmem.Object{"robot": "r1"}},
		"one hit":      {Query: "zebra"},
		"no hit":       {Query: "zeppelin"},
	} {
		res, _ := recalled(t, e, &req)
		if len(f.asked) > 0 || slices.ContainsFunc(res.Notes, func(s string) bool { return strings.HasPrefix(s, "rerank") }) {
			t.Errorf("%s: the reranker was asked about %v, notes %v", name, f.asked, res.Notes)
		}
		f.asked = nil
	}
	if _, got := recalled(t, e, &robotmem.RecallRequest{Query: "aisle"}); len(f.asked) != 1 || got[0] != 2 {
		t.Errorf("by relevance: got %v", got)
	}
}

// Whatever the reranker does, the answer is that without it, and says why.
func TestRerankFailures(t *testing.T) {
	t.Parallel()
	f := newFakeReranker(nil)
	e := openTest(t, Options{Reranker: f})
	numbered(t, e, 4)
	plain := openTest(t, Options{})
	numbered(t, plain, 4)
	want, wantIDs := recalled(t, plain, &robotmem.RecallRequest{Query: "aisle"})
	down := robotmem.Errorf(robotmem.Unavailable, "", "the service is down")
	hangFor := func(most time.Duration) func(context.Context) {
		return func(ctx context.Context) {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > most {
				t.Errorf("the reranker has %v, want at most %v", time.Until(deadline), most)
			}
			<-ctx.Done()
		}
	}
	stubborn := func(context.Context) { time.Sleep(1900 * time.Millisecond) }
	for _, tt := range []struct {
		name     string
		set      func()
		deadline int
		degraded string
	}{
		{"it fails", func() { f.err = down }, 0, "rerank: the service is down"},
		{"it refuses the request", func() { f.err = robotmem.Errorf(robotmem.Invalid, "query", "is wrong") }, 0, "rerank: is wrong"},
		{"it is paused", func() { f.state.Reason = "paused for another 60 s" }, 0, "rerank: paused for another 60 s"},
		{"it panics", func() { f.during = func(context.Context) { panic("no") } }, 0, "rerank: the reranker panicked; see the node's log"},
		{"it is late", func() { f.during = hangFor(300 * time.Millisecond) }, 400, "rerank: the reranker did not answer in time"},
		{"it does not look at the time", func() { f.during = stubborn }, 400, "rerank: the reranker did not answer in time"},
		{"it hangs", func() { f.during = hangFor(reranking.Limit) }, 0, "rerank: the reranker did not answer in time"},
		{"there is no time", func() { f.during = hangFor(time.Millisecond) }, 1, ""},
	} {
		f.mu.Lock()
		f.scores, f.err, f.state.Reason, f.during = map[string]float64{"lamp3": 3}, nil, "", nil
		tt.set()
		f.mu.Unlock()
		start := time.Now()
		res, got := recalled(t, e, &robotmem.RecallRequest{Query: "aisle", DeadlineMS: tt.deadline})
		took := time.Since(start)
		if tt.deadline == 1 { // the words may be late as well
			if !slices.ContainsFunc(res.Degraded, func(s string) bool { return strings.Contains(s, "deadline") || strings.HasPrefix(s, "rerank: ") }) {
				t.Errorf("%s: degraded %v", tt.name, res.Degraded)
			}
			continue
		}
		if diff := cmp.Diff(wantIDs, got); diff != "" {
			t.Errorf("%s: order (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff([]string{tt.degraded}, res.Degraded); diff != "" || !falling(res) || !slices.Equal(res.Notes, want.Notes) {
			t.Errorf("%s: notes %v, degraded (-want +got):\n%s", tt.name, res.Notes, diff)
		}
		if tt.deadline > 0 && took > 1500*time.Millisecond || took > 5*time.Second { // a busy machine wakes it late
			t.Errorf("%s: took %v", tt.name, took)
		}
	}
}

// A text that the reranker left out comes last of those it was asked about.
func TestRerankLeftOut(t *testing.T) {
	t.Parallel()
	f := newFakeReranker(map[string]float64{"lamp1": math.Inf(-1), "lamp3": -5, "lamp4": -7})
	e := openTest(t, Options{Reranker: f})
	numbered(t, e, 4)
	res, got := recalled(t, e, &robotmem.RecallRequest{Query: "aisle", Explain: true})
	if !slices.Equal(got, []int64{2, 3, 4, 1}) {
		t.Errorf("got %v, want the one that was left out last", got)
	}
	if found := res.Memories[3].Found; slices.ContainsFunc(found, func(l robotmem.ListEntry) bool { return l.List == "rerank" }) {
		t.Errorf("the one that was left out has %v", found)
	}
	if _, err := robotmem.EncodeJSON(res); err != nil {
		t.Error(err)
	}
}

// Twins are ordered by the kind of the question after the reranker, which cannot tell them apart; a memory
// does not move up because of words that the reranker has weighed already.
func TestRerankBeforeTwins(t *testing.T) {
	t.Parallel()
	f := newFakeReranker(map[string]float64{"22 bar": 5, "25 bar": 4, "dock": 9, "slowly": 1})
	e := openTest(t, Options{Reranker: f})
	then := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for i, text := range []string{"the pressure of pump 3 is 22 bar", "the pressure of pump 3 is 25 bar"} {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, ObservedAt: new(then.AddDate(0, 0, i))}); err != nil {
			t.Fatal(err)
		}
	}
	res, got := recalled(t, e, &robotmem.RecallRequest{Query: "what is the pressure of pump 3 now"})
	if !slices.Equal(got, []int64{2, 1}) || !falling(res) {
		t.Errorf("twins: got %v, want the later value first", got)
	}

	learnAll(t, e, "battery: go to the dock in bay 4", "a battery charges slowly in winter")
	question := &robotmem.RecallRequest{Query: "battery charges"}
	if _, got := recalled(t, e, question); !slices.Equal(got, []int64{3, 4}) {
		t.Errorf("got %v, want what the reranker put first", got)
	}
	f.scores = nil
	if _, got := recalled(t, e, question); !slices.Equal(got, []int64{4, 3}) {
		t.Errorf("with equal scores: got %v, want the order of the words", got)
	}
}

// No snapshot and no connection is held while the reranker works: what it is asked about may change.
func TestRerankHoldsNothing(t *testing.T) {
	t.Parallel()
	f := newFakeReranker(map[string]float64{"lamp2": 5, "lamp3": 9, "lamp4": 6})
	e := openTest(t, Options{Reranker: f})
	numbered(t, e, 4)
	f.during = func(ctx context.Context) {
		for id, why := range map[int64]string{1: "was removed", 3: "was wrong"} {
			if _, err := e.Forget(ctx, &robotmem.ForgetRequest{MemoryID: id, Reason: why}); err != nil {
				t.Error(err)
			}
		}
		learnAll(t, e, "aisle lamp5")
		var all sync.WaitGroup
		for range 40 { // more than there are connections
			all.Go(func() {
				if _, err := e.Get(ctx, &robotmem.MemoryRequest{MemoryID: 2}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	res, got := recalled(t, e, &robotmem.RecallRequest{Query: "aisle"})
	if !slices.Equal(got, []int64{5, 4, 2}) || len(res.Degraded) > 0 {
		t.Errorf("got %v, degraded %v, want the new one at its place and the others as the reranker says", got, res.Degraded)
	}
}

func TestDoctorNamesTheReranker(t *testing.T) {
	t.Parallel()
	f := newFakeReranker(nil)
	e := openTest(t, Options{Reranker: f})
	check := func(e *Engine) (found admin.Check) {
		d, err := e.Doctor(t.Context(), nil)
		if err != nil || !d.Healthy {
			t.Fatal(d, err)
		}
		for _, c := range d.Checks {
			if c.Name == "reranker" {
				found = c
			}
		}
		return found
	}
	if got, want := check(e), (admin.Check{
		Name: "reranker", Status: "ok", Detail: "rank-1 at http://127.0.0.1:8080 answers", Code: "reranker_answers",
		Values: []string{"rank-1 at http://127.0.0.1:8080"},
	}); !cmp.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want := admin.Check{Name: "reranker", Status: "warn", Detail: "the service is down", Remedy: "recall keeps its own order meanwhile; see that its service runs"}
	f.err = robotmem.Errorf(robotmem.Unavailable, "", "the service is down")
	if got := check(e); !cmp.Equal(got, want) {
		t.Errorf("it does not answer: got %+v, want %+v", got, want)
	}
	f.err, f.state.Reason, f.asked = nil, "the service is down", nil
	if got := check(e); !cmp.Equal(got, want) || len(f.asked) > 0 {
		t.Errorf("it is paused: got %+v, want %+v; it was asked about %v", got, want, f.asked)
	}
	if got := check(openTest(t, Options{})); !cmp.Equal(got, admin.Check{}) {
		t.Errorf("without one: got %+v", got)
	}
}
