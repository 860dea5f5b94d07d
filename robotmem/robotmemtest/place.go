package robotmemtest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func near(target ...float64) *robotmem.SpatialSort {
	return &robotmem.SpatialSort{Field: "spatial.position", Target: target}
}

func placed(at ...any) object { return object{"spatial": object{"position": at}} }

var placeCases = []testCase{
	{"NearestFirst", func(t *testing.T, s robotmem.Service) {
		far := learn(t, s, "seen in the hall", placed(10, 0, 0))
		c := learn(t, s, "seen behind the door", placed(0, 2, 0))
		a := learn(t, s, "seen at the sink", placed(0, 0, 0))
		b := learn(t, s, "seen on the table", placed(1, 0, 0))
		b2 := learn(t, s, "seen above the floor", placed(0, 0, 1))
		flat := learn(t, s, "seen on the map", placed(0.5, 0))
		learn(t, s, "seen nowhere", nil)
		learn(t, s, "seen somewhere", object{"spatial": object{"position": "kitchen"}})
		learn(t, s, "seen in four dimensions", placed(0, 0, 0, 0))
		learn(t, s, "seen badly", placed(0, nil, 0))

		for name, tt := range map[string]struct {
			r    robotmem.RecallRequest
			want []int64
		}{
			"by place alone": {robotmem.RecallRequest{SpatialSort: near(0, 0, 0), N: 6}, []int64{a, flat, b, b2, c, far}},
			"whatever the words": {
				robotmem.RecallRequest{SpatialSort: near(0, 0, 0), Query: "quartz"}, []int64{a, flat, b, b2, c},
			},
			"words do not reorder": {
				robotmem.RecallRequest{SpatialSort: near(0, 0, 0), Query: "hall"}, []int64{a, flat, b, b2, c},
			},
			"the n nearest":      {robotmem.RecallRequest{SpatialSort: near(9, 0, 0), N: 2}, []int64{far, b}},
			"a tie at the cut":   {robotmem.RecallRequest{SpatialSort: near(0, 0, 0), N: 3}, []int64{a, flat, b}},
			"two dimensions":     {robotmem.RecallRequest{SpatialSort: near(0, 0)}, []int64{a, b2, flat, b, c}},
			"the edge is within": {robotmem.RecallRequest{SpatialSort: within(1, 0, 0, 0)}, []int64{a, flat, b, b2}},
			"zero is a distance": {robotmem.RecallRequest{SpatialSort: within(0, 0, 0, 0)}, []int64{a}},
			"no field of that name": {
				robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "spatial.pose", Target: []float64{0, 0, 0}}},
				[]int64{},
			},
			"other filters still do": {
				robotmem.RecallRequest{
					SpatialSort:   near(0, 0, 0),
					ContextFilter: robotmem.Object{"spatial.position": object{"$exists": false}},
				},
				[]int64{},
			},
		} {
			equal(t, name, recalled(t, s, &tt.r), tt.want)
		}

		res := recall(t, s, &robotmem.RecallRequest{SpatialSort: near(0, 0, 0)})
		for i, want := range []float64{0, 0.5, 1, 1, 2} {
			if d := res.Memories[i].Distance; d == nil || *d != want {
				t.Errorf("distance %v, want %v", d, want)
			}
		}

		equal(t, "mode", res.Mode, "structured")
	}},
	{"ExactUnderAFilter", func(t *testing.T, s robotmem.Service) {
		rng := rand.New(rand.NewPCG(1, 2))

		type point struct {
			id   int64
			d    float64
			even bool
		}

		var points []point

		for i := range 200 {
			x, y, z := rng.Float64()*4, rng.Float64()*4, rng.Float64()*4
			ctx := placed(x, y, z)
			ctx["even"] = i%2 == 0
			points = append(points,
				point{
					learn(t, s, fmt.Sprintf("point number %d", i), ctx),
					math.Sqrt((x-2)*(x-2) + (y-2)*(y-2) + (z-2)*(z-2)), i%2 == 0,
				})
		}

		slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.d, b.d) })

		var want []int64
		for _, p := range points {
			if p.even && len(want) < 10 {
				want = append(want, p.id)
			}
		}

		equal(t, "ten nearest",
			recalled(t, s,
				&robotmem.RecallRequest{
					SpatialSort: near(2, 2, 2), ContextFilter: robotmem.Object{"even": true}, N: 10,
				}),
			want)
	}},
	{"FusedIsOneMoreList", func(t *testing.T, s robotmem.Service) {
		words := learn(t, s, "wet glass on a shelf", placed(50, 0, 0))
		place := learn(t, s, "battery is charged here", placed(0.1, 0, 0))
		both := learn(t, s, "wet glass slips from the hand while it rains outside", placed(0, 0, 0))
		spot := near(0, 0, 0)
		spot.Mode = "fused"
		res := recall(t, s, &robotmem.RecallRequest{Query: "wet glass", SpatialSort: spot})
		if len(res.Memories) != 3 || res.Memories[0].MemoryID != both || *res.Memories[0].Score != 1 {
			t.Errorf("got %v, want %d, which both lists hold, first with score 1", ids(res.Memories), both)
		}
		equal(t, "all", sortedIDs(ids(res.Memories)), []int64{words, place, both})
	}},
	{"Frames", func(t *testing.T, s robotmem.Service) {
		in := func(frame, m string, at ...any) object {
			return object{"spatial": object{"position": at, "frame_id": frame, "map_id": m}}
		}
		world := learn(t, s, "in the world frame", in("world", "floor-1", 0, 0))
		odom := learn(t, s, "in the odometry frame", in("odom", "floor-1", 1, 0))

		upstairs := learn(t, s, "in the world frame upstairs", in("world", "floor-2", 2, 0))
		for _, tt := range []struct {
			frame, m string
			want     []int64
			mixed    bool
		}{
			{"world", "", []int64{world, upstairs}, true},
			{"world", "floor-2", []int64{upstairs}, false},
			{"odom", "", []int64{odom}, false},
			{"nowhere", "", []int64{}, false},
			{"", "", []int64{world, odom, upstairs}, true},
		} {
			spot := near(0, 0)
			spot.FrameID, spot.MapID = tt.frame, tt.m
			res := recall(t, s, &robotmem.RecallRequest{SpatialSort: spot})
			equal(t, "frame "+tt.frame+tt.m, ids(res.Memories), tt.want)
			if tt.frame == "" && len(res.Degraded) == 0 {
				t.Error("places of several frames were compared without a word")
			}
			if !tt.mixed && len(res.Degraded) != 0 {
				t.Errorf("frame %s: degraded %v", tt.frame, res.Degraded)
			}
		}
	}},
	{"InTheSpellingsOfRobots", func(t *testing.T, s robotmem.Service) {
		var want []int64
		for _, at := range []any{
			[]any{1, 2, 0}, "1, 2, 0", object{"x": 1, "y": 2, "z": 0},
			object{"pose": object{"position": object{"x": 1, "y": 2, "z": 0}, "orientation": []any{0, 0, 0, 1}}},
		} {
			want = append(want, learn(t, s, fmt.Sprintf("seen at %v", at), object{"at": at}))
		}
		res := recall(t, s,
			&robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "at", Target: []float64{1, 2}, MaxDistance: new(0.0)}})
		equal(t, "in the plane", ids(res.Memories), want)
		equal(t, "interpreted", res.Interpreted,
			[]string{"spatial_sort: the target has 2 numbers, so x and y of the 3-D coordinates at at are compared"})

		for _, at := range []any{[]any{5, 2}, object{"x": 5, "y": 2, "theta": 1.5}, object{"pose": object{"x": 5, "y": 2}},
			[]any{[]any{0, -1, 0, 5}, []any{1, 0, 0, 2}, []any{0, 0, 1, 0}, []any{0, 0, 0, 1}}} {
			learn(t, s, fmt.Sprintf("in the plane at %v", at), object{"at": at})
		}
		res = recall(t, s,
			&robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "at", Target: []float64{5, 2, 0}, MaxDistance: new(0.5)}})
		equal(t, "in space", len(res.Memories), 4)
		equal(t, "interpreted in space", res.Interpreted, []string{"spatial_sort: some coordinates at at have 2 numbers, and are compared in x and y"})
		learn(t, s, "a survey mark", object{"mark": object{"easting": 500123.5, "northing": 4649776, "zone": "33T"}})
		learn(t, s, "an arm with seven joints", object{"joints": []any{0, 0, 0, 0, 0, 0, 0}})
		res = recall(t, s, &robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{
			Field: "mark", Target: []float64{500123.5, 4649777}, MaxDistance: new(2.0), FrameID: "UTM 33T",
		}})
		equal(t, "in a zone", len(res.Memories), 1)

		depot := learn(t, s, "the depot",
			object{"gps": object{"lat": 48.137154, "lon": 11.576124}, "joints": []any{0, 0, 0, 0, 0, 0}})
		res = recall(t, s,
			&robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "gps", Target: []float64{49.137154, 11.576124}}})
		if equal(t, "on the globe", ids(res.Memories), []int64{depot}); math.Abs(*res.Memories[0].Distance-111_195) > 1 {
			t.Errorf("a degree of latitude is %v m", *res.Memories[0].Distance)
		}
		joints := robotmem.SpatialSort{Field: "joints", Target: []float64{0, 3, 0, 4, 0, 0}}
		res = recall(t, s, &robotmem.RecallRequest{SpatialSort: &joints})
		equal(t, "joints", *res.Memories[0].Distance, 5.0)
		equal(t, "other joints", res.Interpreted, []string{"spatial_sort: 1 memories are left out: their coordinates at joints do not have the 6 numbers of the target"})
	}},
	{"BadPlacesAreInvalid", func(t *testing.T, s robotmem.Service) {
		bad := func(change func(*robotmem.SpatialSort), field string) {
			t.Helper()
			spot := near(0, 0)
			change(spot)
			refused(t, s.Recall, &robotmem.RecallRequest{SpatialSort: spot}, robotmem.Invalid, field)
		}
		bad(func(p *robotmem.SpatialSort) { p.Target = nil }, "spatial_sort.target")
		bad(func(p *robotmem.SpatialSort) { p.Target = []float64{1} }, "spatial_sort.target")
		bad(func(p *robotmem.SpatialSort) { p.Target = make([]float64, 33) }, "spatial_sort.target")
		bad(func(p *robotmem.SpatialSort) { p.MaxDistance = new(-1.0) }, "spatial_sort.max_distance")
		bad(func(p *robotmem.SpatialSort) { p.Mode = "sideways" }, "spatial_sort.mode")
	}},
}

func within(limit float64, target ...float64) *robotmem.SpatialSort {
	spot := near(target...)
	spot.MaxDistance = &limit
	return spot
}
