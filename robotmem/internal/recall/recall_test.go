package recall_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

const hour = time.Hour

func timeOf(id int64) time.Duration { return time.Duration(id) }

// kitchen is a store that every signal finds something in.
func kitchen() *fakeStore {
	s := &fakeStore{vectors: map[int64][]float32{}, query: []float32{1, 0}, damaged: map[int64]bool{}, broken: map[string]error{}, shapes: map[int64]float64{}}
	at := func(x, y int, more ...string) robotmem.Object {
		c := robotmem.Object{"spatial": map[string]any{"position": []any{x, y}}}
		for _, env := range more {
			c["env"] = map[string]any{"sim_or_real": env}
		}
		n, _, err := c.Normalize("context", robotmem.MaxContext)
		if err != nil {
			panic(err)
		}
		return n
	}
	s.learn("the gripper slips on wet glass", at(0, 0))
	s.learn("a dry glass is held with 12 N", at(4, 0))
	s.learn("the door of the oven is blocked", at(1, 0))
	s.learn("wet glass in the real kitchen broke", at(9, 9, "real"))
	s.learn("it is what it is", at(50, 50))
	s.vectors[1], s.vectors[2], s.vectors[3] = []float32{0.6, 0.8}, []float32{1, 0}, []float32{0, 1}
	s.shapes[3], s.shapes[4], s.shapes[5] = 1, 1.5, 9
	return s
}

func ask(t *testing.T, s *fakeStore, req robotmem.RecallRequest, change func(*recall.Query)) (*robotmem.RecallResponse, []int64) {
	t.Helper()
	q, err := recall.Parse(&req, start.Add(1000*hour))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(q)
	}
	before := *q
	res, err := recall.Run(t.Context(), s, q, recall.Config{RealWeight: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, *q) {
		t.Errorf("the query was changed: %+v, was %+v", *q, before)
	}
	got := []int64{}
	for _, m := range res.Memories {
		got = append(got, m.MemoryID)
	}
	return res, got
}

func embedded(q *recall.Query) { q.Embedded = true }

func TestAnswers(t *testing.T) {
	here := func(mode string) *robotmem.SpatialSort {
		return &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}, Mode: mode}
	}
	for name, c := range map[string]struct {
		req    robotmem.RecallRequest
		change func(*recall.Query)
		want   []int64
		mode   string
	}{
		"words, real first":         {robotmem.RecallRequest{Query: "wet glass"}, nil, []int64{4, 1, 2}, "bm25_only"},
		"stop words only":           {robotmem.RecallRequest{Query: "what is it", N: 2}, nil, []int64{5, 3}, "bm25_only"},
		"stop words come last":      {robotmem.RecallRequest{Query: "is the oven", N: 3}, nil, []int64{3, 1, 2}, "bm25_only"},
		"filter":                    {robotmem.RecallRequest{Query: "wet glass", ContextFilter: robotmem.Object{"env.sim_or_real": "real"}}, nil, []int64{4}, "bm25_only"},
		"words and vectors":         {robotmem.RecallRequest{Query: "wet glass"}, embedded, []int64{4, 2, 1, 3}, "hybrid"},
		"vectors alone":             {robotmem.RecallRequest{Query: "tumbler"}, embedded, []int64{2, 1, 3}, "hybrid"},
		"strict place":              {robotmem.RecallRequest{SpatialSort: here("strict"), N: 3}, nil, []int64{1, 3, 2}, "structured"},
		"strict place, with words":  {robotmem.RecallRequest{Query: "glass", SpatialSort: here("strict"), N: 2}, nil, []int64{1, 3}, "bm25_only"},
		"fused place":               {robotmem.RecallRequest{Query: "dry glass", SpatialSort: here("fused"), N: 2}, nil, []int64{4, 1}, "bm25_only"},
		"newest first":              {robotmem.RecallRequest{Collection: "default", N: 3}, nil, []int64{5, 4, 3}, "structured"},
		"like a perception":         {robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: 3}}, nil, []int64{4, 5}, "structured"},
		"floor of relevance":        {robotmem.RecallRequest{Query: "gripper slips on wet glass", MinRelevance: 0.5}, nil, []int64{1}, "bm25_only"},
		"floor, vectors confirm it": {robotmem.RecallRequest{Query: "tumbler", MinRelevance: 0.5}, embedded, []int64{2}, "hybrid"},
		"diverse":                   {robotmem.RecallRequest{Query: "wet glass", Diversity: 0.9, N: 2}, nil, []int64{4, 2}, "bm25_only"},
	} {
		t.Run(name, func(t *testing.T) {
			res, got := ask(t, kitchen(), c.req, c.change)
			if !slices.Equal(got, c.want) || res.Mode != c.mode {
				t.Errorf("got %v, mode %s, %v; want %v, mode %s", got, res.Mode, res.Degraded, c.want, c.mode)
			}
		})
	}
}

// Likeness alone and a place alone sort by distance: the weight of real memories does not move
// the farther one up.
func TestDistanceAloneIsTheOrder(t *testing.T) {
	s := kitchen()
	s.shapes[1] = 1.2
	if _, got := ask(t, s, robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: 3}}, nil); !slices.Equal(got, []int64{1, 4, 5}) {
		t.Errorf("like 3: got %v, want the nearest first", got)
	}
	if _, got := ask(t, s, robotmem.RecallRequest{Query: "glass", Like: &robotmem.Like{MemoryID: 3}, N: 1}, nil); !slices.Equal(got, []int64{4}) {
		t.Errorf("glass like 3: got %v, want the real one first", got)
	}
}

// What cannot be answered is named, and everything else is answered.
func TestDegraded(t *testing.T) {
	s := kitchen()
	s.broken[recall.ListVector] = robotmem.Errorf(robotmem.Unavailable, "", "the vectors are still being read")
	res, got := ask(t, s, robotmem.RecallRequest{Query: "wet glass is", N: 5}, embedded)
	if !slices.Equal(res.Degraded, []string{"vector: the vectors are still being read"}) || res.Mode != "bm25_only" {
		t.Errorf("degraded %v, mode %s", res.Degraded, res.Mode)
	}
	if _, want := ask(t, kitchen(), robotmem.RecallRequest{Query: "wet glass is", N: 5}, nil); !slices.Equal(got, want) {
		t.Errorf("without vectors got %v; a store without an embedder answers %v", got, want)
	}
	s.broken[recall.ListWords] = errors.New("out of memory")
	if res, got := ask(t, s, robotmem.RecallRequest{Query: "wet glass"}, embedded); len(got) != 0 || len(res.Degraded) != 2 {
		t.Errorf("without any list: %v, degraded %v", got, res.Degraded)
	}
}

// A damaged memory is named; the next takes its place.
func TestDamagedMemory(t *testing.T) {
	s := kitchen()
	s.damaged[4] = true
	for _, req := range []robotmem.RecallRequest{{Query: "wet glass", N: 2}, {Query: "wet glass", N: 2, MinRelevance: 0.05}, {Query: "wet glass", N: 2, Diversity: 0.5}} {
		res, got := ask(t, s, req, nil)
		if !slices.Equal(got, []int64{1, 2}) || !slices.Equal(res.Degraded, []string{"memory 4: its text does not match its checksum"}) {
			t.Errorf("%+v: got %v, degraded %v", req, got, res.Degraded)
		}
	}
}

// What is wrong with the question ends the recall.
func TestWrongQuestion(t *testing.T) {
	q, err := recall.Parse(&robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: 77}}, start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recall.Run(t.Context(), kitchen(), q, recall.Config{RealWeight: 1}); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if _, err := recall.Parse(&robotmem.RecallRequest{}, start); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("an empty request: %v", err)
	}
}

// A deadline that ends after the lists are there takes nothing from the answer.
func TestDeadlineAfterTheLists(t *testing.T) {
	q, err := recall.Parse(&robotmem.RecallRequest{Query: "wet glass"}, start)
	if err != nil {
		t.Fatal(err)
	}
	q.Embedded = true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := recall.Run(ctx, kitchen(), q, recall.Config{RealWeight: 1})
	if err != nil || res.Mode != "hybrid" || len(res.Memories) != 4 {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestScoresAndStages(t *testing.T) {
	res, _ := ask(t, kitchen(), robotmem.RecallRequest{Query: "wet glass", Explain: true}, embedded)
	if *res.Memories[0].Score != 1 || !slices.IsSortedFunc(res.Memories, func(a, b robotmem.Memory) int { return -int(1e9 * (*a.Score - *b.Score)) }) {
		t.Errorf("scores are not from 1 downwards")
	}
	var names []string
	for _, s := range res.Stages {
		names = append(names, s.Stage)
	}
	if want := []string{"filter", "bm25", "vector", "text", "fuse", "relevant", "instructions", "evidence", "diverse", "nearest", "load"}; !slices.Equal(names, want) {
		t.Errorf("stages %v, want %v", names, want)
	}
}

// On another map than the asking episode's the coordinates mean something else.
func TestOtherMapIsNamed(t *testing.T) {
	s := kitchen()
	s.memories[0].Context["spatial"].(map[string]any)["map_id"] = "hall"
	res, _ := ask(t, s, robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}}, N: 1}, func(q *recall.Query) { q.MapID = "kitchen" })
	if want := "place: 1 answers lie on another map (hall) than the session (kitchen); ask for one with map_id"; !slices.Equal(res.Degraded, []string{want}) {
		t.Errorf("degraded %v", res.Degraded)
	}
}

// A vector counts like a word only when it says nearly the same.
func TestVectorWeight(t *testing.T) {
	if low, high := recall.VectorWeight(0.4), recall.VectorWeight(0.95); low > 0.11 || high < 0.9 {
		t.Errorf("weights %v and %v", low, high)
	}
}

// A value may become empty when its ".0" goes.
func TestContextsOfOddTexts(t *testing.T) {
	odd := robotmem.Object{"code": ".0", "dock": "west"}
	if same, differ, values := recall.CompareContexts(odd, robotmem.Object{"code": ".0", "dock": "east"}); same != 1 || differ != 1 || values != 0 {
		t.Errorf("%d the same, %d different, %d other values; want 1, 1, 0", same, differ, values)
	}
}
