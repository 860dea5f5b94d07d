package engine

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// found returns the memories that a recall with a filter finds.
func found(t *testing.T, e *Engine, asked robotmem.Object) []int64 {
	t.Helper()
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{ContextFilter: asked, MinConfidence: new(float64), N: 100})
	if err != nil {
		t.Error(err)
		return nil
	}
	ids := []int64{}
	for _, m := range res.Memories {
		ids = append(ids, m.MemoryID)
	}
	slices.Sort(ids)
	return ids
}

// matching returns the memories that a filter matches one by one.
func matching(t *testing.T, e *Engine, asked robotmem.Object) []int64 {
	t.Helper()
	condition, err := filter.Parse(asked)
	if err != nil {
		t.Fatal(err)
	}
	ids := []int64{}
	for _, m := range allActive(t, e, "*") {
		if condition.Match(&filter.View{Memory: &m}) {
			ids = append(ids, m.MemoryID)
		}
	}
	slices.Sort(ids)
	return ids
}

// learnContexts learns n facts.
func learnContexts(t *testing.T, e *Engine, n int, context func(i int) robotmem.Object) (ids []int64) {
	t.Helper()
	var r robotmem.LearnBatchRequest
	for i := range n {
		r.Items = append(r.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d", i), Context: context(i)})
	}
	res, err := e.LearnBatch(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Results {
		ids = append(ids, r.MemoryID)
	}
	return ids
}

// Memories change while the first questions about a path, about places and about the
// paths read all contexts. Afterwards nothing is missing and nothing is stale.
func TestFirstQuestionsWhileMemoriesChange(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	values := func(i, v int) robotmem.Object {
		c := robotmem.Object{"at": []any{v, i}}
		for path := range 6 {
			c[fmt.Sprint("p", path)] = v
		}
		return c
	}
	ids := learnContexts(t, e, 3000, func(i int) robotmem.Object { return values(i, i%1000) })
	want := []int64{}
	for i, id := range ids {
		if i%1000 >= 994 {
			want = append(want, id)
		}
	}
	for path := range rounds.Of(2, 6) {
		asked := robotmem.Object{fmt.Sprint("p", path): map[string]any{"$gte": 994}}
		e.index.Columns.Contexts = nil
		var wg sync.WaitGroup
		wg.Go(func() { // the memories of the highest ids are read last
			for i := range 8 {
				id := ids[len(ids)-1-8*path-i]
				if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: fmt.Sprint("anew ", id, path), Context: values(i, 995)}); err != nil {
					t.Error(err)
				}
				found(t, e, robotmem.Object{"p0": 995}) // brings the columns up to date
			}
		})
		wg.Go(func() { found(t, e, asked) })
		wg.Go(func() {
			if _, err := e.Places(t.Context(), &robotmem.PlacesRequest{Field: "at"}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := e.Paths(t.Context(), &admin.PathsRequest{}); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		want = append(want, ids[len(ids)-8*path-8:len(ids)-8*path]...)
		slices.Sort(want)
		want = slices.Compact(want)
		if diff := cmp.Diff(want, found(t, e, asked)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", asked, diff)
		}
		res, err := e.Places(t.Context(), &robotmem.PlacesRequest{Field: "at", Min: []float64{994, -1}, Max: []float64{2000, 1e5}, Limit: 1000})
		if err != nil || res.Total != len(want) {
			t.Errorf("%d points, want %d (%v)", res.Total, len(want), err)
		}
	}
	checkPaths(t, e, "at the end")
}

// More paths than are kept, asked for again and again, with changes between.
func TestManyPathsAreExact(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	e := openTest(t, Options{})
	context := func(i int) robotmem.Object {
		c := robotmem.Object{}
		for path := range 40 {
			c[fmt.Sprint("p", path)] = (i + path) % 50
		}
		return c
	}
	learnContexts(t, e, 3*index.FewMemories, context)
	for round := range 2 {
		for path := range 40 {
			asked := robotmem.Object{fmt.Sprint("p", path): 7 + round}
			if diff := cmp.Diff(matching(t, e, asked), found(t, e, asked)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", asked, diff)
			}
		}
		if n := len(e.index.Columns.Contexts); n != 32 {
			t.Errorf("%d paths are kept, want 32", n)
		}
		learnContexts(t, e, 50, func(i int) robotmem.Object { return context(i + 7) })
	}
}
