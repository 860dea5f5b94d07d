package robotmemtest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
	{"PosesThatLookTheSameWay", func(t *testing.T, s robotmem.Service) {
		const half = 0.7071068
		at := func(text string, position any, more object) int64 {
			pose := object{"position": position}
			for k, v := range more {
				pose[k] = v
			}
			return learn(t, s, text, object{"spatial": object{"pose": pose}})
		}

		// The same quarter turn to the left, in each spelling; then one to the right, and none.
		left := []int64{
			at("by a list", []any{0, 0, 0}, object{"orientation": []any{0, 0, half, half}}),
			at("by an object", object{"x": 0, "y": 1, "z": 0}, object{"orientation": object{"x": 0, "y": 0, "z": half, "w": half}}),
			at("with w first", []any{0, 2, 0}, object{"orientation_wxyz": []any{half, 0, 0, half}}),
			at("by the other sign", []any{0, 3, 0}, object{"orientation": []any{0, 0, -half, -half}}),
			at("by an angle", []any{0, 4, 0}, object{"yaw": math.Pi / 2}),
			at("in degrees", []any{0, 5}, object{"heading_deg": 90}),
			at("in the plane", object{"x": 0, "y": 6, "theta": math.Pi/2 - 4*math.Pi}, nil),
			at("as a transform", []any{[]any{0, -1, 0, 0}, []any{1, 0, 0, 7}, []any{0, 0, 1, 0}, []any{0, 0, 0, 1}}, nil),
		}
		right := at("to the right", []any{0, 8, 0}, object{"orientation": []any{0, 0, -half, half}})
		at("somewhere", []any{0, 9, 0}, nil)

		ask := func(change func(*robotmem.SpatialSort)) *robotmem.RecallResponse {
			spot := &robotmem.SpatialSort{Field: "spatial.pose", Target: []float64{0, 0, 0}}
			change(spot)
			return recall(t, s, &robotmem.RecallRequest{SpatialSort: spot, N: 20})
		}
		res := ask(func(p *robotmem.SpatialSort) { p.Heading, p.MaxAngle = new(1.5), new(0.1) })
		equal(t, "by heading", ids(res.Memories), left)

		for _, want := range []string{"1 coordinates at spatial.pose are left out, because no orientation", "1 coordinates at spatial.pose are left out, because they look another way"} {
			if !strings.Contains(strings.Join(res.Interpreted, "\n"), want) {
				t.Errorf("%q does not say %q", res.Interpreted, want)
			}
		}

		res = ask(func(p *robotmem.SpatialSort) { p.Heading, p.MaxAngle = new(math.Pi/2+8*math.Pi), new(1e-3) })
		equal(t, "after some turns", ids(res.Memories), left)
		res = ask(func(p *robotmem.SpatialSort) { p.Orientation, p.MaxAngle = []float64{0, 0, half, half}, new(0.01) })
		equal(t, "by orientation", ids(res.Memories), left)
		res = ask(func(p *robotmem.SpatialSort) { p.Heading = new(-math.Pi / 2) })
		equal(t, "within 45 degrees", ids(res.Memories), []int64{right})

		// A hand that was rolled by 180 degrees about x has the same heading, and another orientation.
		rolled := at("rolled", []any{0, 0, 1}, object{"orientation": []any{1, 0, 0, 0}})
		res = ask(func(p *robotmem.SpatialSort) { p.Heading, p.MaxAngle = new(0.0), new(0.1) })
		equal(t, "heading of a rolled pose", ids(res.Memories), []int64{rolled})
		res = ask(func(p *robotmem.SpatialSort) { p.Orientation, p.MaxAngle = []float64{0, 0, 0, 1}, new(3.0) })
		if slices.Contains(ids(res.Memories), rolled) {
			t.Error("a pose that is turned by 180 degrees is within 172")
		}
	}},
	{"AnglesWrap", func(t *testing.T, s robotmem.Service) {
		wrapped := learn(t, s, "elbow up", object{"joints": []any{6.2, 1, 1, 1, 1, -3.1}})
		learn(t, s, "elbow down", object{"joints": []any{1, 1, 1, 1, 1, 1}})
		spot := robotmem.SpatialSort{Field: "joints", Target: []float64{0, 1, 1, 1, 1, 3.1}, MaxDistance: new(0.2), Angular: true}
		res := recall(t, s, &robotmem.RecallRequest{SpatialSort: &spot})
		if equal(t, "by the shorter way", ids(res.Memories), []int64{wrapped}); math.Abs(*res.Memories[0].Distance-0.1176) > 1e-3 {
			t.Errorf("the distance is %v", *res.Memories[0].Distance)
		}
	}},
	{"ObjectsInAList", func(t *testing.T, s robotmem.Service) {
		scene := learn(t, s, "two cups and a glass", object{"objects": []any{
			object{"name": "cup", "position": []any{1, 1, 0}}, object{"name": "cup", "position": []any{5, 1, 0}},
			"a word", object{"name": "glass", "position": []any{9, 1, 0}, "frame_id": "map"},
		}})
		other := learn(t, s, "a plate", object{"objects": []any{object{"name": "plate", "position": []any{7, 1, 0}}}})
		at := func(x float64, frame string) *robotmem.RecallResponse {
			return recall(t, s, &robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{
				Field: "objects.position", Target: []float64{x, 1, 0}, FrameID: frame,
			}})
		}

		for _, tt := range []struct {
			x     float64
			frame string
			want  []int64
			near  float64
		}{
			{1, "", []int64{scene, other}, 0}, {5.5, "", []int64{scene, other}, 0.5}, {7, "", []int64{other, scene}, 0},
			{9, "", []int64{scene, other}, 0}, {1, "map", []int64{scene}, 8},
		} {
			res := at(tt.x, tt.frame)
			if equal(t, fmt.Sprint(tt.x, tt.frame), ids(res.Memories), tt.want); *res.Memories[0].Distance != tt.near {
				t.Errorf("%v: the nearest is %v away", tt.x, *res.Memories[0].Distance)
			}
		}
		// A list that became shorter is no longer found at its end.
		edited, err := s.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: scene, Context: object{"objects": []any{object{"position": []any{1, 1, 0}}}}})
		if err != nil {
			t.Fatal(err)
		}
		res := at(9, "")
		equal(t, "after an update", ids(res.Memories), []int64{other, edited.MemoryID})
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
