package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
)

// manyPaths is a memory whose contexts have paths of their own, as keys that hold an id make them.
func manyPaths(t testing.TB, memories, each int) *Engine {
	t.Helper()
	e := openTest(t, Options{})
	for from := 0; from < memories; from += 500 {
		var items []robotmem.LearnRequest
		for i := from; i < min(from+500, memories); i++ {
			params := map[string]any{}
			for k := range each {
				params[fmt.Sprintf("m%d_k%d", i, k)] = k
			}
			params["force"] = i
			items = append(items, robotmem.LearnRequest{Insight: fmt.Sprintf("attempt %d of the gripper at shelf %d", i, i%97), Context: robotmem.Object{"params": params}})
		}
		if _, err := e.LearnBatch(t.Context(), &robotmem.LearnBatchRequest{Items: items, KeepDuplicates: true}); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func BenchmarkPathsOfManyKeys(b *testing.B) {
	e := manyPaths(b, 2000, 90)
	for _, r := range []*admin.PathsRequest{{}, {Prefix: "params.m17_"}, {Path: "params.force"}} {
		if _, err := e.Paths(b.Context(), r); err != nil { // reads the columns
			b.Fatal(err)
		}
		b.Run("prefix="+r.Prefix+",path="+r.Path, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Paths(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The paths that are described are the first ones, in order, also after more were learnt between two questions.
func TestMorePathsThanAreDescribed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	e := manyPaths(t, 120, 90)
	var want []string
	for i := range 120 {
		for k := range 90 {
			want = append(want, fmt.Sprintf("params.m%d_k%d", i, k))
		}
	}
	want = append(want, "params.force")
	check := func(r *admin.PathsRequest, want []string) {
		t.Helper()
		res, err := e.Paths(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		var got []string
		for _, p := range res.Paths {
			got = append(got, p.Path)
		}
		if described := want[:min(len(want), index.MaxPaths)]; res.Total != len(want) || !slices.Equal(got, described) {
			t.Errorf("%+v: %d paths in all and %d described, want %d and %d in order", r, res.Total, len(got), len(want), len(described))
		}
	}
	of := func(prefix string) (found []string) {
		for _, path := range want {
			if strings.HasPrefix(path, prefix) {
				found = append(found, path)
			}
		}
		return found
	}
	for range 2 {
		check(&admin.PathsRequest{}, slices.Clone(want))
		check(&admin.PathsRequest{Prefix: "params.m1"}, of("params.m1"))
		check(&admin.PathsRequest{Prefix: "params.m119_k89"}, of("params.m119_k89"))
		check(&admin.PathsRequest{Prefix: "zzz"}, nil)
		check(&admin.PathsRequest{Path: "params.force"}, []string{"params.force"})
		check(&admin.PathsRequest{Path: "params.m1"}, nil)
		check(&admin.PathsRequest{Path: "params.force", Prefix: "params.m"}, nil)
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "one more attempt", Context: robotmem.Object{"a": 1, "params": map[string]any{"m119_k89x": 2}, "zz": true}}); err != nil {
			t.Fatal(err)
		}
		want = append(want, "a", "params.m119_k89x", "zz")
	}
}
