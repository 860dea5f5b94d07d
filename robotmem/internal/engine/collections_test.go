package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// TestSeveralCollections asks for two of three collections.
func TestSeveralCollections(t *testing.T) {
	n := openNode(t, local.Options{})
	ids := map[string]int64{}
	for _, collection := range []string{"a", "b", "c"} {
		for i, text := range []string{"the cup slips below 8 N", "corridor is blocked"} {
			res, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text + " " + collection, Collection: collection,
				Context: robotmem.Object{"task": map[string]any{"name": "carry", "success": i == 0}, "spatial": map[string]any{"position": []any{1.0, 2.0}}}})
			if err != nil {
				t.Fatal(err)
			}
			ids[fmt.Sprint(collection, i)] = res.MemoryID
		}
		if _, err := n.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: collection}); err != nil {
			t.Fatal(err)
		}
	}
	idsOf := func(memories []robotmem.Memory) (out []int64) {
		for _, m := range memories {
			out = append(out, m.MemoryID)
		}
		slices.Sort(out)
		return out
	}
	cups := []int64{ids["a0"], ids["c0"]}
	for set, want := range map[string][]int64{"a,c": cups, "c,a": cups, "a,a,c": cups, "a,none": {ids["a0"]}, "none,nothing": nil, "a": {ids["a0"]}} {
		for name, r := range map[string]*robotmem.RecallRequest{
			"words": {Query: "cup slips", Collection: set}, "filter": {ContextFilter: robotmem.Object{"task.success": true}, Collection: set},
		} {
			res, err := n.Recall(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := idsOf(res.Memories); !slices.Equal(got, want) {
				t.Errorf("%s in %s: got %v, want %v", name, set, got, want)
			}
		}
	}
	const set = "a,c"
	for _, bad := range []string{"a,", ",a", "a,*", "*,a", "a, c", "a,ä"} {
		_, err := n.List(t.Context(), &robotmem.ListRequest{Collection: bad})
		if robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "x y z", Collection: set}); robotmem.KindOf(err) != robotmem.Invalid {
		t.Errorf("a fact in two collections: %v", err)
	}
	list, err := n.List(t.Context(), &robotmem.ListRequest{Collection: set})
	if err != nil || list.Total != 4 || slices.Contains(idsOf(list.Memories), ids["b0"]) {
		t.Errorf("list: %+v %v", list, err)
	}
	sessions, err := n.Sessions(t.Context(), &robotmem.SessionsRequest{Collection: set})
	if err != nil || sessions.Total != 2 || sessions.Sessions[0].Collection == "b" || sessions.Sessions[1].Collection == "b" {
		t.Errorf("sessions: %+v %v", sessions, err)
	}
	places, err := n.Places(t.Context(), &robotmem.PlacesRequest{Collection: set, Field: "spatial.position"})
	if err != nil || places.Total != 4 {
		t.Errorf("places: %+v %v", places, err)
	}
	sums, err := n.Aggregate(t.Context(), &robotmem.AggregateRequest{GroupBy: []string{"collection"}, Collection: set})
	if err != nil || len(sums.Groups) != 2 {
		t.Errorf("aggregate: %+v %v", sums, err)
	}
	advice, err := n.Advise(t.Context(), &robotmem.AdviseRequest{ContextFilter: robotmem.Object{"task.name": "carry"}, Collection: set})
	if err != nil || advice.Attempts != 4 {
		t.Errorf("advise: %+v %v", advice, err)
	}
	activity, err := n.Activity(t.Context(), &admin.ActivityRequest{Collection: set, Days: 1, Bucket: "day"})
	if err != nil || activity.Buckets[0].Facts != 4 || activity.Buckets[0].Failures != 2 {
		t.Errorf("activity: %+v %v", activity, err)
	}
	categories, err := n.Categories(t.Context(), &admin.CategoriesRequest{Collection: set})
	count := int64(0)
	for _, c := range categories.Categories {
		count += c.Count
	}
	if err != nil || count != 4 {
		t.Errorf("categories: %+v %v", categories, err)
	}
}
