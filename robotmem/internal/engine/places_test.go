package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// bruteMap computes the response to a request by reading every context.
func bruteMap(memories []robotmem.Memory, r *robotmem.PlacesRequest) (points []admin.PlacePoint, cells map[[2]int]int64, fields map[fieldKey]int64) {
	fields, cells = map[fieldKey]int64{}, map[[2]int]int64{}
	for _, m := range memories {
		if r.Category != "" && m.Category != r.Category || r.ContextFilter != nil && m.Context["even"] != true {
			continue
		}
		places := filter.Places(m.Context, func(string, any) bool { return true })
		for _, p := range places {
			fields[fieldKey{p.Path, p.Frame, p.MapID, len(p.XYZ)}]++
			x, y := p.XYZ[0], p.XYZ[1]
			if p.Path != r.Field || r.FrameID != "" && p.Frame != r.FrameID || r.MapID != "" && p.MapID != r.MapID ||
				x < r.Min[0] || y < r.Min[1] || x > r.Max[0] || y > r.Max[1] {
				continue
			}
			at := admin.PlacePoint{MemoryID: m.MemoryID, X: x, Y: y, Type: m.Type, Category: m.Category, ObservedAt: m.ObservedAt, Summary: m.Summary}
			if len(p.XYZ) == 3 {
				at.Z = &p.XYZ[2]
			}
			if m.Outcome == "success" || m.Outcome == "failure" {
				at.Success = new(m.Outcome == "success")
			}
			points = append(points, at)
			side := max(r.Max[0]-r.Min[0], r.Max[1]-r.Min[1]) / float64(r.Grid)
			last := r.Grid - 1
			cells[[2]int{min(last, int((x-r.Min[0])/side)), min(last, int((y-r.Min[1])/side))}]++
		}
	}
	return points, cells, fields
}

type fieldKey struct {
	path, frame, mapID string
	dims               int
}

func TestPlacesAreThoseOfTheContexts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	e := openTest(t, Options{})
	r := robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := range 600 {
		section := map[string]any{}
		if i%5 > 0 {
			section["position"] = []any{rng.Float64()*20 - 10, rng.Float64() * 8, rng.Float64()}[:2+rng.IntN(2)]
		}
		if i%3 > 0 {
			section["frame_id"] = []string{"map", "odom"}[rng.IntN(2)]
		}
		if i%4 > 0 {
			section["map_id"] = []string{"hall", "lab"}[rng.IntN(2)]
		}
		r.Items = append(r.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("seen in look %d", i),
			Context: robotmem.Object{"spatial": section, "goal": []any{i, i % 7}, "even": i%2 == 0, "task": map[string]any{"success": []any{true, false, "no"}[rng.IntN(3)]}}})
	}
	if _, err := e.LearnBatch(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	for id := int64(1); id < 600; id += 9 {
		if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "wrong"}); err != nil {
			t.Fatal(err)
		}
	}
	all := allActive(t, e, "*")
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 { // a list is newest first
		all[i], all[j] = all[j], all[i]
	}
	for name, r := range map[string]robotmem.PlacesRequest{
		"all":      {Field: "spatial.position"},
		"frame":    {Field: "spatial.position", FrameID: "odom"},
		"map":      {Field: "spatial.position", MapID: "lab"},
		"both":     {Field: "spatial.position", FrameID: "map", MapID: "hall"},
		"filter":   {Field: "spatial.position", ContextFilter: robotmem.Object{"even": true}},
		"category": {Field: "spatial.position", Category: all[0].Category},
		"goal":     {Field: "goal"},
	} {
		t.Run(name, func(t *testing.T) {
			r.Min, r.Max, r.Grid, r.Limit = []float64{-7.5, 1}, []float64{6, 6.25}, 9, 20_000
			points, cells, fields := bruteMap(all, &r)
			res, err := e.Places(t.Context(), &r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(points, res.Points); diff != "" || len(points) == 0 {
				t.Errorf("points (-want +got):\n%s", diff)
			}
			got := map[[2]int]int64{}
			for _, c := range res.Cells {
				got[[2]int{int((c.X-r.Min[0])/res.Cell + 0.5), int((c.Y-r.Min[1])/res.Cell + 0.5)}] = c.Memories
			}
			if diff := cmp.Diff(cells, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			for _, f := range res.Fields {
				if want := fields[fieldKey{f.Field, f.FrameID, f.MapID, f.Dims}]; f.Memories != want {
					t.Errorf("%+v: want %d memories", f, want)
				}
			}
			if len(res.Fields) != len(fields) {
				t.Errorf("got %d fields, want %d", len(res.Fields), len(fields))
			}
		})
	}
}
