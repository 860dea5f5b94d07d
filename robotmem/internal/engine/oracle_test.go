package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// The indexes are compared with a scan of all rows.

// empty is the content of a new memory file.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "robotmem-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "memory.db")
	e, err := openFile(context.Background(), path, Options{})
	if err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// patience is how long a node of a test waits for a lock. The machine may be busy.
const patience = time.Minute

// NewFile returns the path of an empty memory. A copy takes a tenth of the time of all
// migrations.
func NewFile(t testing.TB, o Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	if o.Disk != nil {
		return path
	}
	data, err := empty()
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func openTest(t testing.TB, o Options, edits ...fileOption) *Engine {
	t.Helper()
	e, err := openFile(context.Background(), NewFile(t, o), o, edits...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// randomMemories fills a node and returns its memories.
func randomMemories(t *testing.T, e *Engine, rng *rand.Rand, n int) []robotmem.Memory {
	t.Helper()
	words := []string{"gripper", "wet", "glass", "slips", "holds", "torque", "battery", "aisle", "blocked", "door", "must never", "because", "not", "pose", "drift"}
	var req robotmem.LearnBatchRequest
	req.KeepDuplicates = true
	for i := range n {
		var s string
		for range 3 + rng.IntN(6) {
			s += words[rng.IntN(len(words))] + " "
		}
		c := robotmem.Object{"i": i % 50, "params": map[string]any{"force": []any{rng.IntN(30), float64(rng.IntN(300)) / 10, "12 N", nil, true}[rng.IntN(5)]}}
		if rng.IntN(3) > 0 {
			c["task"] = map[string]any{"success": rng.IntN(2) == 0, "name": words[rng.IntN(4)], "note": map[string]any{"a.b": rng.IntN(3)}}
		}
		if rng.IntN(2) == 0 {
			p := []any{rng.IntN(20), float64(rng.IntN(200)) / 10}
			if rng.IntN(2) == 0 {
				p = append(p, rng.IntN(5))
			}
			c["spatial"] = map[string]any{"position": p, "frame_id": []string{"map", "odom"}[rng.IntN(2)]}
		}
		at := time.Date(2026, 1, 1, 0, 0, rng.IntN(100_000), 0, time.UTC)
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: s + fmt.Sprint(i%7), Context: c, Collection: []string{"a", "b"}[rng.IntN(2)], ObservedAt: &at})
	}
	res, err := e.LearnBatch(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Results {
		if res.Results[i].Error != nil {
			t.Fatal(res.Results[i].Error)
		}
		if i%17 == 0 {
			if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: res.Results[i].MemoryID, Reason: "test"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var all []robotmem.Memory
	for page := 1; ; page++ {
		l, err := e.List(t.Context(), &robotmem.ListRequest{Page: page, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l.Memories...)
		if len(l.Memories) < 1000 {
			break
		}
	}
	if len(all) < n*9/10 {
		t.Fatalf("%d of %d memories are active", len(all), n)
	}
	return all
}

func randomFilter(rng *rand.Rand, depth int) robotmem.Object {
	value := func() any {
		return []any{rng.IntN(30), float64(rng.IntN(300)) / 10, "12 N", nil, true, false, "gripper", map[string]any{"a.b": rng.IntN(3)}, []any{1, 2.5}}[rng.IntN(9)]
	}
	path := []string{"params.force", "task.success", "task.name", "i", "missing.path", "task.note", "task.note.a.b", "spatial", "spatial.frame_id", "category", "confidence", "observed_at", "task"}[rng.IntN(13)]
	switch k := rng.IntN(10); {
	case depth > 0 && k == 0:
		return robotmem.Object{"$and": []any{randomFilter(rng, depth-1), randomFilter(rng, depth-1)}}
	case depth > 0 && k == 1:
		return robotmem.Object{"$or": []any{randomFilter(rng, depth-1), randomFilter(rng, depth-1)}}
	case depth > 0 && k == 2:
		return robotmem.Object{"$not": randomFilter(rng, depth-1)}
	case k == 3:
		return robotmem.Object{path: map[string]any{"$exists": rng.IntN(2) == 0}}
	case k == 4:
		return robotmem.Object{path: map[string]any{[]string{"$in", "$nin"}[rng.IntN(2)]: []any{value(), value(), value()}}}
	case k == 5:
		return robotmem.Object{path: value()}
	case k == 6 && path == "observed_at":
		return robotmem.Object{path: map[string]any{"$lt": "2026-01-01T10:00:00+01:00"}}
	}
	op := []string{"$eq", "$ne", "$lt", "$lte", "$gt", "$gte"}[rng.IntN(6)]
	if path == "confidence" {
		return robotmem.Object{path: map[string]any{op: 0.8 + float64(rng.IntN(4))/20}}
	}
	return robotmem.Object{path: map[string]any{op: value()}}
}

func TestFiltersEqualBruteForce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine and many memories: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(7, 7))
	now := time.Now()
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	all := randomMemories(t, e, rng, rounds.Of(1200, 3000))
	unit := bruteUnits(all)
	nonEmpty, filters := 0, rounds.Of(60, 600)
	for i := range filters {
		asked := randomFilter(rng, 3)
		node, err := filter.Parse(asked)
		if errors.Is(err, robotmem.Invalid) && strings.Contains(err.Error(), "no time") {
			continue // a quantity as a bound of a time
		}
		if err != nil {
			t.Fatalf("%v: %v", asked, err)
		}
		var want []int64
		for _, m := range all {
			v := filter.View{Memory: &m, Unit: unit}
			if node.Match(&v) {
				want = append(want, m.MemoryID)
			}
		}
		var got []int64
		if i%2 == 0 {
			e.index.Columns.Contexts = nil // half of the filters may use the columns of earlier ones
		}
		err = e.Store.Read(t.Context(), func(c *store.Conn) error {
			q := &recall.Query{RecallRequest: robotmem.RecallRequest{Collection: "*", MinConfidence: new(float64), N: 1}, Filter: node, Now: now}
			set, _, err := (&source{Engine: e, c: c}).Filter(t.Context(), q)
			if err != nil {
				return err
			}
			for _, m := range e.index.Columns.ObservedTimes(set.Present) {
				got = append(got, m.ID)
			}
			return nil
		})
		if errors.Is(err, robotmem.Invalid) {
			continue // a text as a bound where all values are numbers
		}
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("asked %d %v: %d wanted, %d found", i, asked, len(want), len(got))
		}
		if len(want) > 0 && len(want) < len(all) {
			nonEmpty++
		}
	}
	if nonEmpty < filters/6 {
		t.Errorf("only %d filters divided the memories", nonEmpty)
	}
}

// The cached sets reflect every kind of change.
func TestKeptFiltersFollowChanges(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	ask := func(want ...int64) {
		t.Helper()
		for range 2 { // first without, then with the column in memory
			res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Collection: "*", ContextFilter: robotmem.Object{"params.force": map[string]any{"$gt": 10}}, N: 100})
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, m := range res.Memories {
				got = append(got, m.MemoryID)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
	// Above FewMemories the index is used.
	for i := range index.FewMemories + 10 {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "filler", Context: robotmem.Object{"i": i}}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	force := func(f int) robotmem.Object { return robotmem.Object{"params": map[string]any{"force": f}} }
	a, _ := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "strong", Context: force(12)})
	ask(a.MemoryID)
	b, _ := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "weak", Context: force(2)})
	ask(a.MemoryID)
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: b.MemoryID, NewContent: "stronger", Context: force(20)}); err != nil {
		t.Fatal(err)
	}
	ask(a.MemoryID, b.MemoryID)
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: a.MemoryID, NewContent: "weaker", Context: force(1)}); err != nil {
		t.Fatal(err)
	}
	ask(b.MemoryID)
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: b.MemoryID, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	ask()
}

func TestPlacesEqualBruteForce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine and many memories: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(8, 8))
	e := openTest(t, Options{})
	all := randomMemories(t, e, rng, rounds.Of(800, 2000))
	for range rounds.Of(50, 100) {
		s := &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{float64(rng.IntN(20)), float64(rng.IntN(20))}}
		if rng.IntN(2) == 0 {
			s.Target = append(s.Target, 2)
		}
		if rng.IntN(2) == 0 {
			limit := float64(rng.IntN(8))
			s.MaxDistance = &limit
		}
		if rng.IntN(2) == 0 {
			s.FrameID = "odom"
		}
		n := 1 + rng.IntN(100)
		var want []recall.Ranked
		for _, m := range all {
			if d, ok := bruteDistance(m.Context, s); ok && m.Collection == "a" {
				want = append(want, recall.Ranked{ID: m.MemoryID, Value: d})
			}
		}
		slices.SortFunc(want, recall.Smaller)
		want = want[:min(n, len(want))]
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Collection: "a", SpatialSort: s, N: n})
		if err != nil {
			t.Fatal(err)
		}
		var got []recall.Ranked
		for _, m := range res.Memories {
			got = append(got, recall.Ranked{ID: m.MemoryID, Value: *m.Distance})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: got %v, want %v", s, got, want)
		}
	}
}
