package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// attemptsOf learns n attempts of three tasks.
func attemptsOf(t testing.TB, n int) *local.Node {
	t.Helper()
	m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	r := rand.New(rand.NewPCG(1, 1))
	objects, surfaces := []string{"glass", "mug", "box"}, []string{"wood", "steel", "cloth"}
	var items []robotmem.LearnRequest
	for i := range n {
		object, wet, force := objects[i%3], r.IntN(2) == 0, float64(r.IntN(200))/10+2
		need := 6 + 2*float64(i%3)
		if wet {
			need += 3
		}
		success := force > need && force < need+6 && r.IntN(10) > 0
		word := map[bool]string{true: "wet", false: "dry"}[wet]
		items = append(items, robotmem.LearnRequest{
			Insight: fmt.Sprintf("attempt %d: pick %s %s with %.1f N", i, word, object, force), Collection: "arm",
			Context: robotmem.Object{
				"params": map[string]any{"grip_force": fmt.Sprintf("%.1f N", force), "speed": r.IntN(3)},
				"task":   map[string]any{"name": "pick", "success": success}, "object": object, "wet": wet, "surface": surfaces[r.IntN(3)],
				"robot": map[string]any{"id": "arm7", "firmware": "2.1"}, "spatial": map[string]any{"position": []any{r.Float64(), r.Float64(), 0}},
			},
		})
	}
	for len(items) > 0 {
		part := items[:min(len(items), 5000)]
		if _, err := m.LearnBatch(t.Context(), &robotmem.LearnBatchRequest{Items: part}); err != nil {
			t.Fatal(err)
		}
		items = items[len(part):]
	}
	return m
}

func TestAdvise(t *testing.T) {
	t.Parallel()
	m := attemptsOf(t, 600)
	for _, r := range []robotmem.AdviseRequest{
		{Query: "pick wet glass", Collection: "arm"},
		{Collection: "arm", ContextFilter: robotmem.Object{"wet": true, "object": "glass"}},
	} {
		res, err := m.Advise(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(show(res))
		force, _ := res.Suggestion.Parameters["params.grip_force"].(string)
		if x := number(force); x < 9 || x > 15 || !strings.HasSuffix(force, " N") || res.Evidence != "good" {
			t.Errorf("suggests %q with %s evidence", force, res.Evidence)
		}
	}
}

func TestAdviseTakesTheNamedTask(t *testing.T) {
	t.Parallel()
	m := attemptsOf(t, 30)
	for task, want := range map[string]int{"pick": 30, "pick glass": 10, "dock": 0} {
		res, err := m.Advise(t.Context(), &robotmem.AdviseRequest{Task: task, Collection: "arm"})
		if err != nil || res.Attempts != want {
			t.Errorf("%s: got %s, %v; want %d attempts", task, show(res), err, want)
		}
	}
}

// What reached the place asked for is suggested, whatever it was meant for and however it
// was judged.
func TestAdviseHowToReachAPlace(t *testing.T) {
	t.Parallel()
	m := attemptsOf(t, 1)
	for i := range 30 {
		speed := 0.2 + 0.8*float64(i*7%30)/30
		moved := []any{2 * speed, 0.5 * speed, 0}
		if i%10 == 9 {
			moved = nil // not seen
		}
		if _, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("throw %d with speed %.3f", i, speed), Collection: "throws", Context: robotmem.Object{
			"params": map[string]any{"speed": speed}, "spatial": map[string]any{"moved": moved}, "task": map[string]any{"success": false}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []float64{0.33, 0.5, 0.81} {
		reach := 0.4
		r := robotmem.AdviseRequest{Collection: "throws", Goal: "near", SpatialSort: &robotmem.SpatialSort{
			Field: "spatial.moved", Target: []float64{2 * want, 0.5 * want, 0}, MaxDistance: &reach}}
		res, err := m.Advise(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := res.Suggestion.Parameters["params.speed"].(float64); math.Abs(got-want) > 0.01 || res.Attempts != 27 {
			t.Errorf("speed %v of %d attempts, want %v of 27", got, res.Attempts, want)
		}
	}
	reach := 0.4
	far := robotmem.AdviseRequest{Collection: "throws", Goal: "near", SpatialSort: &robotmem.SpatialSort{Field: "spatial.moved", Target: []float64{9, 9, 0}, MaxDistance: &reach}}
	if res, err := m.Advise(t.Context(), &far); err != nil || res.Suggestion != nil || !slices.Contains(res.Notes, "no suggestion: all 27 attempts ended beyond max_distance") {
		t.Errorf("far away: %s, %v", show(res), err)
	}
	_, err := m.Advise(t.Context(), &robotmem.AdviseRequest{Collection: "throws", Goal: "near"})
	if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "goal: near needs spatial_sort") {
		t.Errorf("without a place: %v", err)
	}
}

func number(s string) (x float64) {
	if _, err := fmt.Sscan(s, &x); err != nil {
		return -1
	}
	return x
}

func show(v any) string {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func BenchmarkAdvise(b *testing.B) {
	m, within := attemptsOf(b, 100_000), 0.3
	for _, r := range []robotmem.AdviseRequest{
		{Query: "pick wet glass", Collection: "arm"},
		{Collection: "arm", ContextFilter: robotmem.Object{"wet": true, "object": "glass"}},
		{Collection: "arm"},
		{Collection: "arm", Explore: true},
		{Collection: "arm", SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0.3, 0.4, 0}, MaxDistance: &within}},
		{Collection: "arm", SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0.3, 0.4, 0}}},
	} {
		b.Run(show(r), func(b *testing.B) {
			var times []float64
			for b.Loop() {
				res, err := m.Advise(b.Context(), &r)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, res.QueryMS)
			}
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "p50-ms")
		})
	}
}

// The same fact again is another attempt; a perception of an episode is none if a fact of the
// episode tells of the attempt.
func TestAdviseCountsAttempts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	m, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	what := func(force float64, held bool) robotmem.Object {
		return robotmem.Object{"params": map[string]any{"grip_force": force}, "task": map[string]any{"name": "lift", "success": held}}
	}
	learn := func(session string, force float64, held bool, times int) {
		for range times {
			if _, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("grip_force=%g, held: %v", force, held), Context: what(force, held), SessionID: session}); err != nil {
				t.Fatal(err)
			}
		}
	}
	sense := func(session string, force float64, held bool) {
		if _, err := m.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "force at the finger", Data: fmt.Sprintf("t,fz\n0,%g\n1,2", force), Context: what(force, held), SessionID: session}); err != nil {
			t.Fatal(err)
		}
	}
	begun, err := m.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	learn("", 12, true, 9)
	learn("", 12, false, 1)
	learn(begun.SessionID, 8, false, 2)
	sense(begun.SessionID, 8, false)
	sense("", 14, true) // alone
	check := func(m *local.Node) {
		t.Helper()
		res, err := m.Advise(t.Context(), &robotmem.AdviseRequest{Task: "lift"})
		if err != nil {
			t.Fatal(err)
		}
		got := map[any][2]float64{}
		for _, v := range res.Parameters[0].Values {
			got[v.Value] = [2]float64{v.Attempts, *v.Successes}
			if sorted := slices.Compact(slices.Sorted(slices.Values(v.MemoryIDs))); len(sorted) != len(v.MemoryIDs) {
				t.Errorf("%v names a memory twice: %v", v.Value, v.MemoryIDs)
			}
		}
		want := map[any][2]float64{8.0: {2, 0}, 12.0: {10, 9}, 14.0: {1, 1}}
		if !maps.Equal(got, want) || res.Attempts != 13 {
			t.Errorf("attempts and successes by force are %v, want %v; %d attempts", got, want, res.Attempts)
		}
	}
	check(m)
	if err := m.Close(); err != nil { // writes the columns
		t.Fatal(err)
	}
	if m, err = local.Open(t.Context(), path, local.Options{}); err != nil {
		t.Fatal(err)
	}
	check(m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
