package engine

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Equal questions, as agents spell them, in JSON.
func TestEqualSpellingsOfAPlace(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learn := func(context string) int64 {
		t.Helper()
		o := robotmem.Object{}
		if err := json.Unmarshal([]byte(`{"at":`+context+`}`), &o); err != nil {
			t.Fatal(err)
		}
		res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "seen " + context, Context: o})
		if err != nil {
			t.Fatal(err)
		}
		return res.MemoryID
	}
	var want []int64
	for _, spelling := range []string{
		`[1,2,0]`, `{"x":1,"y":2,"z":0}`, `"1, 2, 0"`, `"(1,2,0)"`, `"[1.0, 2e0, -0]"`, `{"x":1,"y":2,"z":0,"theta":3}`,
		`{"position":[1,2,0],"orientation":[0,0,0,1]}`, `{"position":{"x":1,"y":2,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}`,
		`{"header":{"frame_id":"map"},"pose":{"position":{"x":1,"y":2,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`,
		`{"header":{"frame_id":"map"},"pose":{"pose":{"position":{"x":1,"y":2,"z":0}},"covariance":[0,0,0]}}`,
	} {
		want = append(want, learn(spelling))
	}
	for _, other := range []string{`"kitchen"`, `[1,null,0]`, `"1"`, `"1, two, 0"`, `{"x":1}`, `{"x":1,"y":2,"z":0,"w":1}`, `["1","2","0"]`, `"1, NaN, 0"`, `{"lat":91,"lon":0}`, `true`} {
		learn(other)
	}
	ask := func(spatial string) *robotmem.RecallResponse {
		t.Helper()
		res, err := robotmem.OpByName("recall").Call(t.Context(), e, json.RawMessage(`{"n":100,"spatial_sort":`+spatial+`}`))
		if err != nil {
			t.Fatalf("%s: %v", spatial, err)
		}
		return res.(*robotmem.RecallResponse)
	}
	found := func(res *robotmem.RecallResponse) (ids []int64) {
		for _, m := range res.Memories {
			ids = append(ids, m.MemoryID)
		}
		return ids
	}
	for _, target := range []string{`[1,2,0]`, `{"x":1,"y":2,"z":0}`, `"1, 2, 0"`, `"(1, 2, 0)"`} {
		res := ask(`{"field":"at","max_distance":0,"target":` + target + `}`)
		if diff := cmp.Diff(want, found(res)); diff != "" {
			t.Errorf("target %s (-want +got):\n%s", target, diff)
		}
	}
	flat := ask(`{"field":"at","max_distance":0,"target":[1,2]}`)
	note := []string{"spatial_sort: the target has 2 numbers, so x and y of the 3-D coordinates at at are compared"}
	if diff := cmp.Diff(want, found(flat)); diff != "" || !slices.Equal(flat.Interpreted, note) {
		t.Errorf("in the plane: %q (-want +got):\n%s", flat.Interpreted, diff)
	}
	if got := found(ask(`{"field":"at","frame_id":"map","target":[1,2,0]}`)); len(got) != 2 {
		t.Errorf("in the frame of a header: %v", got)
	}
	for target, words := range map[string]string{`"here"`: "numbers", `{"x":1}`: `{"x":1,"y":2}`, `[1,null]`: "null", `[1]`: "between 2 and 32", `{"lat":99,"lon":0}`: "lat"} {
		_, err := robotmem.OpByName("recall").Call(t.Context(), e, json.RawMessage(`{"spatial_sort":{"field":"at","target":`+target+`}}`))
		if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "spatial_sort.target") {
			t.Errorf("target %s: %v", target, err)
		}
	}
}

func TestPlacesOnEarthAreInMetres(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	munich, _ := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the depot", Context: robotmem.Object{"gps": map[string]any{"lat": 48.137154, "lon": 11.576124}}})
	berlin, _ := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the harbour", Context: robotmem.Object{"gps": map[string]any{"latitude": 52.520008, "longitude": 13.404954, "altitude": 34}}})
	antimeridian, _ := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the island", Context: robotmem.Object{"gps": map[string]any{"lat": 0, "lng": -179.999}}})
	for _, tt := range []struct {
		target string
		id     int64
		metres float64
	}{
		{`[48.137154, 11.576124]`, munich.MemoryID, 0},
		{`{"lat":52.520008,"lon":13.404954,"alt":44}`, berlin.MemoryID, 10},
		{`{"lat":52.520008,"lon":13.404954}`, berlin.MemoryID, 0},
		{`{"lat":49.137154,"lon":11.576124}`, munich.MemoryID, 111_195},
		{`{"lat":0,"lon":179.999}`, antimeridian.MemoryID, 222.4},
	} {
		res, err := robotmem.OpByName("recall").Call(t.Context(), e, json.RawMessage(`{"spatial_sort":{"field":"gps","target":`+tt.target+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		first := res.(*robotmem.RecallResponse).Memories[0]
		if first.MemoryID != tt.id || math.Abs(*first.Distance-tt.metres) > 1 {
			t.Errorf("%s: memory %d at %v m, want %d at %v m", tt.target, first.MemoryID, *first.Distance, tt.id, tt.metres)
		}
	}
	if _, ids := recalled(t, e, &robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "gps", Target: []float64{48, 11.5}, MaxDistance: new(20_000.0)}}); !slices.Equal(ids, []int64{munich.MemoryID}) {
		t.Errorf("within 20 km: %v", ids)
	}
}

// A number's meaning follows the unit that most memories of the file have at its path.
func TestTheUnitFollowsTheMemories(t *testing.T) {
	t.Parallel()
	e := quantityNode(t, 100)
	learn := func(text string, value any) int64 {
		t.Helper()
		res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Context: robotmem.Object{"reach": value}})
		if err != nil {
			t.Fatal(err)
		}
		return res.MemoryID
	}
	bare, metre := learn("bare", 120), learn("one", "0.5 m")
	ask := func(step string, limit any, interpreted string, want ...int64) {
		t.Helper()
		res, ids := recalled(t, e, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"reach": map[string]any{"$lt": limit}}})
		slices.Sort(ids)
		if !slices.Equal(ids, want) || strings.Join(res.Interpreted, "") != interpreted+", as most quantities there" {
			t.Errorf("%s: got %v %q, want %v %q", step, ids, res.Interpreted, want, interpreted)
		}
	}
	const taken = "context_filter: a number without a unit at reach is taken in "
	ask("one unit", "1 m", taken+"m", metre)
	ask("one unit, asked without", 1, taken+"m", metre)
	two, three := learn("two", "300 mm"), learn("three", "2000 millimeters")
	ask("another unit", "1 m", taken+"mm", bare, metre, two)
	ask("another unit, asked without", 1000, taken+"mm", bare, metre, two)
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: three, NewContent: "three", Context: robotmem.Object{"reach": "2 m"}}); err != nil {
		t.Fatal(err)
	}
	ask("changed back", "1 m", taken+"m", metre, two)
	past := e.Now()
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: bare, NewContent: "bare", Context: robotmem.Object{"reach": 0.25}}); err != nil {
		t.Fatal(err)
	}
	ask("a changed number", "0.4 m", taken+"m", bare, two)
	_, ids := recalled(t, e, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"reach": map[string]any{"$gt": "100 m"}}, AsOf: &past})
	if !slices.Equal(ids, []int64{bare}) {
		t.Errorf("as of then: %v", ids)
	}
}
