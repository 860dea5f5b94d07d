package robotmemtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

func number(s string) any { return json.Number(s) }

// pathsOf returns the paths of a response by name.
func pathsOf(t *testing.T, s robotmem.Service, r *admin.PathsRequest) map[string]admin.ContextPath {
	t.Helper()
	res := do(t, s.Paths, r)
	if res.Total != len(res.Paths) {
		t.Errorf("total %d of %d paths", res.Total, len(res.Paths))
	}
	out := map[string]admin.ContextPath{}

	for i, p := range res.Paths {
		if i > 0 && res.Paths[i-1].Path >= p.Path {
			t.Errorf("%q comes after %q", p.Path, res.Paths[i-1].Path)
		}
		out[p.Path] = p
	}

	return out
}

var pathCases = []testCase{
	{"EveryPathOfActiveMemories", func(t *testing.T, s robotmem.Service) {
		equal(t, "of nothing", pathsOf(t, s, &admin.PathsRequest{}), map[string]admin.ContextPath{})
		learn(t, s, "the first grip",
			object{
				"params": object{"force": 12.5, "speed": "0.2 m/s"}, "task": object{"success": true}, "at": []any{1, 2},
			})
		learn(t, s, "the second grip",
			object{
				"params": object{"force": -3, "speed": "50 cm/s"}, "task": object{"success": false, "note": nil},
				"empty": object{},
			})
		learn(t, s, "the third grip",
			object{"params": object{"force": "unknown", "torque": object{"value": 2, "unit": "N m"}}})
		gone := learn(t, s, "a grip that never was", object{"params": object{"force": 99}, "mistake": 1})
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: gone, Reason: "measured with another hand"})
		created(t, s,
			&robotmem.LearnRequest{
				Insight: "elsewhere", Collection: "other",
				Context: object{"elsewhere": "yes", "params": object{"force": 5}},
			})
		want := map[string]admin.ContextPath{
			"at":    {Path: "at", Memories: 1, Kinds: []string{"list"}},
			"empty": {Path: "empty", Memories: 1, Kinds: []string{"object"}},
			"params.force": {
				Path: "params.force", Memories: 3, Kinds: []string{"number", "text"}, Min: new(-3.0), Max: new(12.5),
			},
			"params.speed": {
				Path: "params.speed", Memories: 2, Kinds: []string{"text"}, Min: new(0.2), Max: new(0.5), Unit: "m/s",
			},
			"params.torque": {
				Path: "params.torque", Memories: 1, Kinds: []string{"number"}, Min: new(2.0), Max: new(2.0),
				Unit: "N·m",
			},
			"params.torque.unit": {Path: "params.torque.unit", Memories: 1, Kinds: []string{"text"}},
			"params.torque.value": {
				Path: "params.torque.value", Memories: 1, Kinds: []string{"number"}, Min: new(2.0), Max: new(2.0),
				Unit: "N·m",
			},
			"task.note":    {Path: "task.note", Memories: 1, Kinds: []string{"null"}},
			"task.success": {Path: "task.success", Memories: 2, Kinds: []string{"bool"}},
		}
		equal(t, "of one collection", pathsOf(t, s, &admin.PathsRequest{Collection: "default"}), want)
		all := pathsOf(t, s, &admin.PathsRequest{})
		equal(t, "in all collections", len(all), len(want)+1)
		equal(t, "of all collections", all["params.force"].Memories, int64(4))
		equal(t, "of no collection", pathsOf(t, s, &admin.PathsRequest{Collection: "none"}),
			map[string]admin.ContextPath{})
	}},
	{"FollowsEveryChange", func(t *testing.T, s robotmem.Service) {
		memories := func(path string) int64 { return pathsOf(t, s, &admin.PathsRequest{})[path].Memories }
		first := learn(t, s, "the first grip", object{"a": 1})
		second := learn(t, s, "the second grip", object{"a": 2})
		equal(t, "learnt", memories("a"), int64(2))
		do(t, s.Update,
			&robotmem.UpdateRequest{
				MemoryID: first, NewContent: "the first grip, corrected", Context: object{"b": "x"},
			})
		equal(t, "a after an update", memories("a"), int64(1))
		equal(t, "b after an update", memories("b"), int64(1))
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: second, Reason: "wrong"})
		equal(t, "forgotten", memories("a"), int64(0))
		if _, ok := try(t, s.Restore, &robotmem.MemoryRequest{MemoryID: second}); ok {
			equal(t, "restored", memories("a"), int64(1))
		}
		learn(t, s, "the third grip", object{"c": 2})
		equal(t, "new path", memories("c"), int64(1))
	}},
	{"Prefix", func(t *testing.T, s robotmem.Service) {
		learn(t, s, "a grip", object{"params": object{"force": 1, "speed": 2}, "paramset": 3, "task": 4})

		for prefix, want := range map[string]int{"": 4, "param": 3, "params.": 2, "params.f": 1, "force": 0} {
			equal(t, "begin with "+prefix, len(pathsOf(t, s, &admin.PathsRequest{Prefix: prefix})), want)
		}
	}},
	{"OwnFieldsAreLeftOut", func(t *testing.T, s robotmem.Service) {
		learn(t, s, "a grip", object{"category": "mine", "confidence": 7, "robot": object{"category": "arm"}})
		equal(t, "paths", pathsOf(t, s, &admin.PathsRequest{}), map[string]admin.ContextPath{
			"robot.category": {Path: "robot.category", Memories: 1, Kinds: []string{"text"}}})
	}},
	{"ValuesOfOnePath", func(t *testing.T, s robotmem.Service) {
		for i, v := range []any{"cup", "bolt", "cup", 7, 7.5, true, nil, []any{1}, "cup", 7.0} {
			learn(t, s, "seen in trial "+string(rune('a'+i)),
				object{"seen": v, "trial": i, "weight": object{"value": 500, "unit": "g"}})
		}

		values := func(path string) []admin.PathValue {
			t.Helper()
			return pathsOf(t, s, &admin.PathsRequest{Path: path})[path].Values
		}
		equal(t, "values", values("seen"), []admin.PathValue{
			{Value: "cup", Memories: 3}, {Value: number("7"), Memories: 2}, {Value: number("7.5"), Memories: 1},
			{Value: "bolt", Memories: 1}, {Value: nil, Memories: 1}, {Value: true, Memories: 1}})
		equal(t, "quantities", values("weight"), []admin.PathValue{{Value: "0.5 kg", Memories: 10}})
		if got := len(pathsOf(t, s, &admin.PathsRequest{Path: "nowhere"})); got != 0 {
			t.Errorf("%d paths that are not there", got)
		}
		if got := values("trial"); len(got) != 10 || got[0].Value != number("0") {
			t.Errorf("of equally frequent ones: %+v, want the smaller first", got)
		}
		if p := pathsOf(t, s, &admin.PathsRequest{})["seen"]; p.Values != nil {
			t.Errorf("the list of all paths has values: %+v", p.Values)
		}

		for _, v := range values("weight") { // a filter must find each of the returned values
			got := recalled(t, s, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"weight": v.Value}, N: 100})
			equal(t, "found by the filter", len(got), int(v.Memories))
		}
	}},
	{"AtMostFiftyValues", func(t *testing.T, s robotmem.Service) {
		var r robotmem.LearnBatchRequest
		for i := range 60 {
			r.Items = append(r.Items,
				robotmem.LearnRequest{
					Insight: "trial", Context: object{"n": i, "long": string(make([]rune, 1024+i%2, 2000))},
				})
		}
		do(t, s.LearnBatch, &r)
		equal(t, "values", len(pathsOf(t, s, &admin.PathsRequest{Path: "n"})["n"].Values), 50)
	}},
	{"BadRequestsAreInvalid", func(t *testing.T, s robotmem.Service) {
		long := string(make([]byte, 1025))
		refused(t, s.Paths, &admin.PathsRequest{Collection: "no such name"}, robotmem.Invalid, "collection")
		refused(t, s.Paths, &admin.PathsRequest{Path: long}, robotmem.Invalid, "path", "1024")
		refused(t, s.Paths, &admin.PathsRequest{Prefix: long}, robotmem.Invalid, "prefix", "1024")
	}},
}

// mapped learns a fact at a place.
func mapped(t *testing.T, s robotmem.Service, insight string, success any, at ...any) int64 {
	t.Helper()
	return created(t, s, &robotmem.LearnRequest{Insight: insight, ObservedAt: &day,
		Context: object{"spatial": object{"position": at, "frame_id": "map"}, "task": object{"success": success}}})
}

const position = "spatial.position"

func pointIDs(points []admin.PlacePoint) []int64 {
	out := []int64{}
	for _, p := range points {
		out = append(out, p.MemoryID)
	}
	return out
}

var mapCases = []testCase{
	{"FieldsThatHoldCoordinates", func(t *testing.T, s robotmem.Service) {
		res := do(t, s.Places, &robotmem.PlacesRequest{})
		equal(t, "of nothing", res,
			&admin.PlacesResponse{
				Fields: []admin.PlaceField{}, Points: []admin.PlacePoint{}, Cells: []admin.PlaceCell{},
			})
		mapped(t, s, "at the sink", true, 1, 2, 0.5)
		mapped(t, s, "at the door", true, -1, 4, 0)
		mapped(t, s, "on the plan", true, 7, 8)
		learn(t, s, "in the yard", object{"goal": []any{3, 4}, "frame_id": "odom", "map_id": "yard"})
		do(t, s.Forget,
			&robotmem.ForgetRequest{MemoryID: mapped(t, s, "far away", true, 99, 99, 99), Reason: "it was not"})
		equal(t, "fields", do(t, s.Places, &robotmem.PlacesRequest{}).Fields, []admin.PlaceField{
			{
				Field: position, FrameID: "map", Dims: 3, Memories: 2, Min: []float64{-1, 2, 0},
				Max: []float64{1, 4, 0.5},
			},
			{
				Field: "goal", FrameID: "odom", MapID: "yard", Dims: 2, Memories: 1, Min: []float64{3, 4},
				Max: []float64{3, 4},
			},
			{Field: position, FrameID: "map", Dims: 2, Memories: 1, Min: []float64{7, 8}, Max: []float64{7, 8}},
		})
	}},
	{"PointsSayWhatTheyAre", func(t *testing.T, s robotmem.Service) {
		won := mapped(t, s, "at the sink", true, 1, 2, 0)
		lost := mapped(t, s, "at the door", false, 3, 4)
		open := mapped(t, s, "at the window", "perhaps", 5, 6, 7)

		res := do(t, s.Places, &robotmem.PlacesRequest{Field: position})
		for i := range res.Points {
			if p := &res.Points[i]; p.Category == "" || p.Summary == "" {
				t.Errorf("point %d: category %q, summary %q", p.MemoryID, p.Category, p.Summary)
			} else {
				p.Category, p.Summary = "", ""
			}
		}

		equal(t, "points", res.Points, []admin.PlacePoint{
			{MemoryID: won, X: 1, Y: 2, Z: new(0.0), Type: "fact", Success: new(true), ObservedAt: day},
			{MemoryID: lost, X: 3, Y: 4, Type: "fact", Success: new(false), ObservedAt: day},
			{MemoryID: open, X: 5, Y: 6, Z: new(7.0), Type: "fact", ObservedAt: day},
		})
		if res.Total != 3 || res.Sampled || len(res.Cells) != 0 || res.Cell != 0 {
			t.Errorf("got %d points, sampled %v, cells %v of side %v", res.Total, res.Sampled, res.Cells, res.Cell)
		}
	}},
	{"FiltersOfRecall", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "default")
		in := func(frame, m string) object {
			return object{"spatial": object{"position": []any{1, 1}, "frame_id": frame, "map_id": m}, "i": 1}
		}
		a := created(t, s,
			&robotmem.LearnRequest{Insight: "seen in the hall", Context: in("map", "hall"), ObservedAt: at(0)})
		b := created(t, s,
			&robotmem.LearnRequest{
				Insight: "you must never enter the lab", Context: in("map", "lab"), ObservedAt: at(time.Hour),
				SessionID: session,
			})
		c := created(t, s,
			&robotmem.LearnRequest{
				Insight: "elsewhere", Collection: "other", Context: in("odom", "lab"), ObservedAt: at(2 * time.Hour),
			})

		p := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{
				Description: "a look at it", Context: object{"spatial": object{"position": []any{2, 2}}},
				ObservedAt: at(3 * time.Hour),
			}).MemoryID
		for name, tt := range map[string]struct {
			r    robotmem.PlacesRequest
			want []int64
		}{
			"all":        {robotmem.PlacesRequest{}, []int64{a, b, c, p}},
			"collection": {robotmem.PlacesRequest{Collection: "other"}, []int64{c}},
			"session":    {robotmem.PlacesRequest{SessionID: session}, []int64{b}},
			"type":       {robotmem.PlacesRequest{Type: "perception"}, []int64{p}},
			"category":   {robotmem.PlacesRequest{Category: "constraint"}, []int64{b}},
			"after":      {robotmem.PlacesRequest{After: at(2 * time.Hour)}, []int64{c, p}},
			"before":     {robotmem.PlacesRequest{Before: at(time.Hour)}, []int64{a}},
			"context_filter": {
				robotmem.PlacesRequest{ContextFilter: robotmem.Object{"i": object{"$exists": false}}}, []int64{p},
			},
			"frame":         {robotmem.PlacesRequest{FrameID: "map"}, []int64{a, b}},
			"map":           {robotmem.PlacesRequest{MapID: "lab"}, []int64{b, c}},
			"box":           {robotmem.PlacesRequest{Min: []float64{0, 0}, Max: []float64{1, 1}}, []int64{a, b, c}},
			"open box":      {robotmem.PlacesRequest{Min: []float64{1.5, 0}}, []int64{p}},
			"no such field": {robotmem.PlacesRequest{Field: "goal"}, []int64{}},
		} {
			if tt.r.Field == "" {
				tt.r.Field = position
			}
			res := do(t, s.Places, &tt.r)
			equal(t, name, pointIDs(res.Points), tt.want)
			equal(t, name+": total", res.Total, len(tt.want))
		}
	}},
	{"SampleIsEvenAndCellsCountAll", func(t *testing.T, s robotmem.Service) {
		var r robotmem.LearnBatchRequest
		for i := range 100 {
			r.Items = append(r.Items, robotmem.LearnRequest{Insight: "seen here",
				Context: object{
					"spatial": object{"position": []any{i % 10, i / 10}}, "task": object{"success": i%4 == 0},
				}})
		}

		var ids []int64
		for _, res := range do(t, s.LearnBatch, &r).Results {
			ids = append(ids, res.MemoryID)
		}

		res := do(t, s.Places,
			&robotmem.PlacesRequest{Field: position, Limit: 20, Grid: 2, Min: []float64{0, 0}, Max: []float64{9, 9}})

		var want []int64
		for i := 0; i < 100; i += 5 {
			want = append(want, ids[i])
		}

		equal(t, "sample", pointIDs(res.Points), want)
		if res.Total != 100 || !res.Sampled || res.Cell != 4.5 {
			t.Errorf("total %d, sampled %v, side %v; want 100, true, 4.5", res.Total, res.Sampled, res.Cell)
		}

		var cells []admin.PlaceCell

		for _, y := range []float64{0, 4.5} {
			for _, x := range []float64{0, 4.5} {
				c := admin.PlaceCell{X: x, Y: y}

				for i := range 100 {
					px, py := float64(i%10), float64(i/10)
					if (px >= 4.5) == (x > 0) && (py >= 4.5) == (y > 0) {
						c.Memories++
						if i%4 == 0 {
							c.Successes++
						} else {
							c.Failures++
						}
					}
				}
				cells = append(cells, c)
			}
		}

		equal(t, "cells", res.Cells, cells)
		equal(t, "again", do(t, s.Places, &robotmem.PlacesRequest{Field: position, Limit: 20}).Points, res.Points)
	}},
	{"OnePlaceIsOneCell", func(t *testing.T, s robotmem.Service) {
		mapped(t, s, "at the sink", true, 3, 4)
		mapped(t, s, "at the sink again", false, 3, 4)
		res := do(t, s.Places, &robotmem.PlacesRequest{Field: position, Grid: 8})
		equal(t, "cells", res.Cells, []admin.PlaceCell{{X: 3, Y: 4, Memories: 2, Successes: 1, Failures: 1}})
	}},
	{"TheWidestBox", func(t *testing.T, s robotmem.Service) {
		mapped(t, s, "at one end", true, -1.7e308, 0)
		mapped(t, s, "at the other end", true, 1.7e308, 1)
		res := do(t, s.Places, &robotmem.PlacesRequest{Field: position, Grid: 1})
		if len(res.Cells) != 1 || res.Cells[0].Memories != 2 {
			t.Errorf("one cell for all: got %+v", res.Cells)
		}
		if res = do(t, s.Places, &robotmem.PlacesRequest{Field: position, Grid: 4}); len(res.Cells) != 2 ||
			res.Cells[1].X <= 0 {
			t.Errorf("four cells: got %+v, want the first and the last", res.Cells)
		}
	}},
	{"BadMapsAreInvalid", func(t *testing.T, s robotmem.Service) {
		for field, r := range map[string]*robotmem.PlacesRequest{
			"limit":          {Limit: 20_001},
			"grid":           {Grid: 257},
			"min":            {Min: []float64{1}},
			"max":            {Min: []float64{1, 1}, Max: []float64{2, 0}},
			"type":           {Type: "dream"},
			"session_id":     {SessionID: " seven"},
			"collection":     {Collection: "no such name"},
			"context_filter": {ContextFilter: robotmem.Object{"a": object{"$near": 1}}},
		} {
			refused(t, s.Places, r, robotmem.Invalid, field)
		}
		refused(t, s.Places, &robotmem.PlacesRequest{Limit: -1}, robotmem.Invalid, "limit", "20000")
		refused(t, s.Places, &robotmem.PlacesRequest{Grid: -1}, robotmem.Invalid, "grid", "256")
		refused(t, s.Places, &robotmem.PlacesRequest{SessionID: "01980c2e-0000-7000-8000-000000000000"},
			robotmem.NotFound, "session_id")
	}},
}
