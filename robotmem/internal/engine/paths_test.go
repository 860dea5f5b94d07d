package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
)

// brutePaths counts the paths of memories by reading their contexts.
func brutePaths(memories []robotmem.Memory) map[string]int64 {
	counts := map[string]int64{}
	for _, m := range memories {
		seen := map[string]bool{}
		eachPath("", m.Context, func(path string) { seen[path] = true })
		for path := range seen {
			if !filter.OwnField(path) {
				counts[path]++
			}
		}
	}
	return counts
}

// eachPath visits the paths of values, of empty objects and of objects that are a
// quantity.
func eachPath(prefix string, m map[string]any, visit func(string)) {
	for key, v := range m {
		object, isObject := v.(map[string]any)
		if _, _, measured := filter.QuantityOf(v); !isObject || len(object) == 0 || measured {
			visit(prefix + key)
		}
		eachPath(prefix+key+".", object, visit)
	}
}

func allActive(t *testing.T, e *Engine, collection string) (all []robotmem.Memory) {
	t.Helper()
	for page := 1; ; page++ {
		res, err := e.List(t.Context(), &robotmem.ListRequest{Collection: collection, Limit: 1000, Page: page})
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, res.Memories...); len(all) >= int(res.Total) {
			return all
		}
	}
}

func checkPaths(t *testing.T, e *Engine, when string) {
	t.Helper()
	for _, collection := range []string{"*", "default", "other"} {
		res, err := e.Paths(t.Context(), &admin.PathsRequest{Collection: collection})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, p := range res.Paths {
			got[p.Path] = p.Memories
		}
		if diff := cmp.Diff(brutePaths(allActive(t, e, collection)), got); diff != "" {
			t.Errorf("%s, collection %s (-want +got):\n%s", when, collection, diff)
		}
	}
}

// A context with dots in its keys has one path in two spellings.
func oddContext(rng *rand.Rand, i int) robotmem.Object {
	c := robotmem.Object{}
	for range 1 + rng.IntN(4) {
		key := fmt.Sprintf("k%d", rng.IntN(12))
		switch rng.IntN(7) {
		case 0:
			c[key] = rng.IntN(5)
		case 1:
			c[key] = fmt.Sprintf("%d N", rng.IntN(5))
		case 2:
			c[key] = map[string]any{"value": rng.IntN(5), "unit": "kg"}
		case 3:
			c[key], c[key+".a"] = map[string]any{"a": 1}, rng.IntN(3)
		case 4:
			c[key] = rng.IntN(2) == 0
		case 5:
			c[key] = []any{i, 2}
		case 6:
			c[key] = []any{map[string]any{}, nil, "text"}[rng.IntN(3)]
		}
	}
	return c
}

// The paths equal those from reading every context, before and after changes by this
// node and another, both in steps small enough for an update of the index and larger
// ones.
func TestPathsAreThoseOfTheContexts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	e := openTest(t, Options{})
	other, err := openFile(t.Context(), e.Store.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var ids []int64
	learn := func(by *Engine, n int) {
		t.Helper()
		r := robotmem.LearnBatchRequest{KeepDuplicates: true}
		for i := range n {
			r.Items = append(r.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d", i), Context: oddContext(rng, i), Collection: []string{"", "other"}[rng.IntN(2)]})
		}
		res, err := by.LearnBatch(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Results {
			ids = append(ids, r.MemoryID)
		}
	}
	checkPaths(t, e, "empty")
	learn(e, 300)
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "one path, twice", Context: robotmem.Object{"rare": map[string]any{"a": 1}, "rare.a": 2}}); err != nil {
		t.Fatal(err)
	}
	checkPaths(t, e, "at first")
	for round := range 4 {
		by := []*Engine{e, other}[round%2]
		for range 20 {
			id := ids[rng.IntN(len(ids))]
			var err error
			if rng.IntN(2) == 0 {
				_, err = by.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: fmt.Sprintf("fact %d anew", id), Context: oddContext(rng, int(id))})
			} else {
				_, err = by.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "wrong"})
			}
			if err != nil && robotmem.KindOf(err) != robotmem.Conflict {
				t.Fatal(err)
			}
		}
		learn(by, 30)
		checkPaths(t, e, fmt.Sprint("round ", round))
	}
	e.index.Columns.Contexts = nil
	checkPaths(t, e, "read anew")
	if _, err := e.Repair(t.Context(), &admin.RepairRequest{}); err != nil {
		t.Fatal(err)
	}
	checkPaths(t, e, "repaired")
}

// Values and range of one path equal those from reading every context.
func TestValuesAreThoseOfTheContexts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	e := openTest(t, Options{})
	r := robotmem.LearnBatchRequest{KeepDuplicates: true}
	counts, low, high := map[string]int64{}, 1e9, -1e9
	for i := range 500 {
		v := float64(rng.IntN(90)) - 40 + 0.5*float64(rng.IntN(2))
		counts[fmt.Sprint(v)]++
		low, high = min(low, v), max(high, v)
		r.Items = append(r.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d", i), Context: robotmem.Object{"v": v}})
	}
	if _, err := e.LearnBatch(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	res, err := e.Paths(t.Context(), &admin.PathsRequest{Path: "v"})
	if err != nil || len(res.Paths) != 1 {
		t.Fatal(res, err)
	}
	p := res.Paths[0]
	if *p.Min != low || *p.Max != high {
		t.Errorf("got %v to %v, want %v to %v", *p.Min, *p.Max, low, high)
	}
	if len(p.Values) != index.MaxValues || !slices.IsSortedFunc(p.Values, func(a, b admin.PathValue) int { return int(b.Memories - a.Memories) }) {
		t.Errorf("got %d values %v, want the %d most frequent in order", len(p.Values), p.Values, index.MaxValues)
	}
	more := 0
	for _, v := range p.Values {
		if want := counts[fmt.Sprint(v.Value)]; v.Memories != want {
			t.Errorf("%v: got %d, want %d", v.Value, v.Memories, want)
		}
	}
	for _, n := range counts {
		if n > p.Values[index.MaxValues-1].Memories {
			more++
		}
	}
	if more > index.MaxValues {
		t.Errorf("%d values are more frequent than the last of %d", more, index.MaxValues)
	}
}

// Concurrent calls: no data race, and no path is lost.
func TestPathsWhileLearning(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i := range 30 {
				if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d of %d", i, g), Context: robotmem.Object{fmt.Sprintf("p%d", i): i}}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 30 {
				if _, err := e.Paths(t.Context(), &admin.PathsRequest{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	checkPaths(t, e, "at the end")
}

// A path whose quantities are texts and objects has one range in their unit.
func TestPathOfQuantitiesInTwoSpellings(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 3 {
		for _, force := range []any{map[string]any{"value": 10 + i, "unit": "N"}, fmt.Sprintf("%d N", 103+i), i} {
			if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d %v", i, force), Context: robotmem.Object{"force": force}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	res, err := e.Paths(t.Context(), &admin.PathsRequest{Path: "force"})
	if err != nil || len(res.Paths) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if p := res.Paths[0]; p.Unit != "N" || p.Min == nil || *p.Min != 10 || *p.Max != 105 || p.Memories != 9 {
		t.Errorf("%+v: want 10 to 105 N of 9 memories", p)
	}
}
