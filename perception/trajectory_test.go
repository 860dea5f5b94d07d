package perception_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/trajectory"
)

const tum = "# timestamp tx ty tz qx qy qz qw\n1305031102.1758 1.5 -2 0.25 0 0 0 1\n1305031102.2758 1.75 -2 0.25 0.5 0.5 0.5 0.5\n1305031103.1758 4.5 2 0.25 0 0 0.7071 0.7071\n"

func TestDecodeTrajectory(t *testing.T) {
	half := math.Sqrt(0.5)
	tests := []struct {
		name string
		item perception.Item
		want trajectory.Trajectory
	}{
		{"tum", perception.Item{Data: []byte(tum)}, trajectory.Trajectory{
			Times:        []float64{1305031102.1758, 1305031102.2758, 1305031103.1758},
			Positions:    [][3]float64{{1.5, -2, 0.25}, {1.75, -2, 0.25}, {4.5, 2, 0.25}},
			Orientations: [][4]float64{{0, 0, 0, 1}, {0.5, 0.5, 0.5, 0.5}, {0, 0, half, half}}}},
		{"tum, a stamp twice", perception.Item{Data: []byte("1 1 2 3 0 0 0 1\n1 1 2 4 0 0 0 1\n2 1 2 4 0 0 0 1\n")}, trajectory.Trajectory{
			Times: []float64{1, 1, 2}, Positions: [][3]float64{{1, 2, 3}, {1, 2, 4}, {1, 2, 4}}, Orientations: [][4]float64{{3: 1}, {3: 1}, {3: 1}},
		}},
		{"tum by media type", perception.Item{MediaType: "text/x-tum", Data: []byte("0 1 2 3 0 0 0 2\n1 1 2 4 0 0 0 2\n")}, trajectory.Trajectory{
			Times: []float64{0, 1}, Positions: [][3]float64{{1, 2, 3}, {1, 2, 4}}, Orientations: [][4]float64{{0, 0, 0, 1}, {0, 0, 0, 1}}}},
		{"table", csvItem("t,x,y\n0,1,2\n0.5,3,4\n"), trajectory.Trajectory{Times: []float64{0, 0.5}, Positions: [][3]float64{{1, 2, 0}, {3, 4, 0}}}},
		{"table with yaw and units", csvItem("time_ms;X (m);Y (m);yaw\n0;1;2;0\n500;3;4;3.14159265358979\n"), trajectory.Trajectory{
			Times: []float64{0, 0.5}, Positions: [][3]float64{{1, 2, 0}, {3, 4, 0}}, Orientations: [][4]float64{{0, 0, 0, 1}, {0, 0, 1, 0}}}},
		{"table without a pose's position", csvItem("x,y\n1,2\nnan,3\n4,5\n"), trajectory.Trajectory{Positions: [][3]float64{{1, 2, 0}, {4, 5, 0}}}},
		{"json", jsonItem(`{"frame":{"a":[1]},"poses":[{"position":[1,2,3],"orientation":[0,0,0,1],"stamp":1.5},{"position":[4,5],"orientation":[0,0,1,0],"stamp":2}]}`), trajectory.Trajectory{
			Times: []float64{1.5, 2}, Positions: [][3]float64{{1, 2, 3}, {4, 5, 0}}, Orientations: [][4]float64{{0, 0, 0, 1}, {0, 0, 1, 0}}}},
		{"ros path", jsonItem(`{"poses":[{"header":{"stamp":{"sec":1,"nanosec":500000000}},"pose":{"position":{"x":1,"y":2,"z":3},"orientation":{"x":0,"y":0,"z":0,"w":1}}},
			{"header":{"stamp":{"sec":2,"nanosec":0}},"pose":{"position":{"x":4,"y":5,"z":6},"orientation":{"x":0,"y":0,"z":0,"w":1}}}]}`), trajectory.Trajectory{
			Times: []float64{1.5, 2}, Positions: [][3]float64{{1, 2, 3}, {4, 5, 6}}, Orientations: [][4]float64{{0, 0, 0, 1}, {0, 0, 0, 1}}}},
		{"json list, times that fall", jsonItem(`[{"position":[1,2,3],"stamp":2},{"position":[4,5,6],"stamp":1}]`), trajectory.Trajectory{Positions: [][3]float64{{1, 2, 3}, {4, 5, 6}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := trajectory.Decode(test.item.Payload())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*got, test.want, cmpopts.EquateApprox(0, 1e-9), cmpopts.IgnoreUnexported(trajectory.Trajectory{})); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

func TestDecodeTrajectoryRefuses(t *testing.T) {
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"image", perception.Item{MediaType: "image/png", Data: []byte("x")}, "image/png is not read as a trajectory"},
		{"eight channels", csvItem("1,2,3,4,5,6,7,8\n2,2,3,4,5,6,7,8\n"), "it is neither TUM nor KITTI"},
		{"unit vectors, time that stands", csvItem("1 2 3 4 0 0 0 1\n1 2 3 4 0 0 0 1\n"), "it is neither TUM nor KITTI"},
		{"one line that is no unit", csvItem(strings.Replace(tum[strings.LastIndex(tum, "#")+2:][strings.Index(tum[strings.LastIndex(tum, "#")+2:], "\n")+1:], "0.5 0.5 0.5 0.5", "0.5 0.5 0.5 0.6", 1)), "it is neither TUM nor KITTI"},
		{"forces", csvItem("x (N),y (N)\n1,2\n3,4\n"), `position in "N"`},
		{"more columns", csvItem("x,y,torque\n1,2,3\n3,4,5\n"), "names more than"},
		{"another kind", with(csvItem("x,y\n1,2\n3,4\n"), map[string]any{"kind": "imu"}), `kind "imu"`},
		{"ragged", csvItem("x,y\n1,2\n3\n"), "has 1 fields where the lines above have 2"},
		{"one pose", csvItem("x,y\n1,2\n"), "at least two poses"},
		{"a word", csvItem("x,y\n1,2\n1,up\n"), `line 3: field 2 is not a number: "up"`},
		{"declared, seven", perception.Item{MediaType: "text/x-tum", Data: []byte("1 2 3 4 5 6 7\n")}, "has 7 numbers where a pose has 8"},
		{"json without", jsonItem(`{"samples":[1]}`), "no poses"},
		{"json, no list", jsonItem(`{"poses":1}`), "not a list"},
		{"json, no position", jsonItem(`{"poses":[{"stamp":1}]}`), "pose 1 has no position"},
		{"json, five numbers", jsonItem(`[{"position":[1,2,3,4,5]}]`), "more than four"},
		{"json, cut", jsonItem(`[{"position":[1,2]},{"position":[1,2]}`), "does not end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := trajectory.Decode(test.item.Payload()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestSummarizeTrajectories(t *testing.T) {
	long := tumItem(family(t, pathFamilies, "straight")(newRandom(1), 200), 20)
	long.Data, long.Size = long.Data[:len(long.Data)*9/10], int64(len(long.Data))
	late := strings.Builder{}
	for i := range 80 { // only the last line is no quaternion
		fmt.Fprintf(&late, "%d 1 2 3 0 0 %d 1\n", i, i/79)
	}
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"tum", perception.Item{Data: []byte(tum)}, "trajectory, 3 poses over 1.00 s, 5.1 m path, ends 5 m from its start, within 3 x 4 x 0 m"},
		{"eight channels", perception.Item{Data: []byte(late.String())}, "8-channel trace, 80 samples, channel 1 peak 79 at sample 80"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := perception.Summarize(test.item); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
	if got := perception.Summarize(long); !strings.HasPrefix(got, "text, beginning: 0.0000 0.00000") {
		t.Errorf("got %q of a head", got)
	}
}

// pathFamilies are motions, each drawn by n points, in metres.
var pathFamilies = map[string]func(r *rand.Rand, n int) [][3]float64{
	"straight":     path(func(u float64) (x, y, z float64) { return 3 * u, 0, 0 }),
	"circle":       path(func(u float64) (x, y, z float64) { return math.Cos(2 * math.Pi * u), math.Sin(2 * math.Pi * u), 0 }),
	"half circle":  path(func(u float64) (x, y, z float64) { return math.Cos(math.Pi * u), math.Sin(math.Pi * u), 0 }),
	"square":       path(polygon([2]float64{0, 0}, [2]float64{2, 0}, [2]float64{2, 2}, [2]float64{0, 2}, [2]float64{0, 0})),
	"figure eight": path(func(u float64) (x, y, z float64) { return math.Sin(2 * math.Pi * u), math.Sin(4*math.Pi*u) / 2, 0 }),
	"lawnmower":    path(lawnmower),
	"spiral": path(func(u float64) (x, y, z float64) {
		return u * math.Cos(6*math.Pi*u), u * math.Sin(6*math.Pi*u), 0
	}),
	"helix": path(func(u float64) (x, y, z float64) { return math.Cos(6 * math.Pi * u), math.Sin(6 * math.Pi * u), 2 * u }),
	"there and back": path(func(u float64) (x, y, z float64) {
		return 2 - 4*math.Abs(u-0.5), 0, 0
	}),
	"left turn": path(polygon([2]float64{0, 0}, [2]float64{2, 0}, [2]float64{2, 2})),
	"pick and place": path(func(u float64) (x, y, z float64) {
		switch {
		case u < 0.3:
			return 0, 0, u / 0.3 * 0.8
		case u < 0.7:
			return (u - 0.3) / 0.4 * 1.2, 0, 0.8
		}
		return 1.2, 0, (1 - u) / 0.3 * 0.8
	}),
}

func path(at func(u float64) (x, y, z float64)) func(r *rand.Rand, n int) [][3]float64 {
	return func(_ *rand.Rand, n int) [][3]float64 {
		out := make([][3]float64, n)
		for i := range out {
			x, y, z := at(float64(i) / float64(n-1))
			out[i] = [3]float64{x, y, z}
		}
		return out
	}
}

func polygon(corners ...[2]float64) func(u float64) (x, y, z float64) {
	return func(u float64) (x, y, z float64) {
		at := u * float64(len(corners)-1)
		i := min(int(at), len(corners)-2)
		f, a, b := at-float64(i), corners[i], corners[i+1]
		return a[0] + f*(b[0]-a[0]), a[1] + f*(b[1]-a[1]), 0
	}
}

func lawnmower(u float64) (x, y, z float64) {
	var corners [][2]float64
	for row := range 6 {
		left, right := [2]float64{0, 0.5 * float64(row)}, [2]float64{3, 0.5 * float64(row)}
		if row%2 == 1 {
			left, right = right, left
		}
		corners = append(corners, left, right)
	}
	return polygon(corners...)(u)
}

// tumItem is the path at an even pace, over so many seconds.
func tumItem(points [][3]float64, seconds float64) perception.Item {
	var b strings.Builder
	for i, p := range points {
		fmt.Fprintf(&b, "%.4f %.5f %.5f %.5f 0 0 0 1\n", seconds*float64(i)/float64(len(points)-1), p[0], p[1], p[2])
	}
	return perception.Item{Data: []byte(b.String())}
}

func TestNearestPathHasTheSameShape(t *testing.T) {
	members := map[string][]perception.Item{}
	r := newRandom(21)
	for _, name := range sortedKeys(pathFamilies) {
		for range 12 {
			points := pathFamilies[name](r, 60+r.IntN(600))
			noise, scale := 0.01*r.Float64(), 0.7+0.8*r.Float64()
			turn := rotation(r)
			for i, p := range points {
				for axis := range p {
					points[i][axis] = 5 + scale*(turn[axis][0]*p[0]+turn[axis][1]*p[1]+turn[axis][2]*p[2]) + noise*r.NormFloat64()
				}
			}
			members[name] = append(members[name], tumItem(points, 10+50*r.Float64()))
		}
	}
	const want = 0.95
	got := leaveOneOut(t, members, "path/v2")
	if got < want {
		t.Errorf("got accuracy %.3f, want %.2f", got, want)
	}
	t.Logf("accuracy %.3f", got)
}

// rotation is one about a random axis.
func rotation(r *rand.Rand) [3][3]float64 {
	x, y, z, w := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	n := math.Sqrt(x*x + y*y + z*z + w*w)
	x, y, z, w = x/n, y/n, z/n, w/n
	return [3][3]float64{
		{1 - 2*(y*y+z*z), 2 * (x*y - z*w), 2 * (x*z + y*w)},
		{2 * (x*y + z*w), 1 - 2*(x*x+z*z), 2 * (y*z - x*w)},
		{2 * (x*z - y*w), 2 * (y*z + x*w), 1 - 2*(x*x+y*y)},
	}
}

func TestStandingStillHasNoFeatures(t *testing.T) {
	if kind, _, ok := perception.Features(perception.Item{Data: []byte("0 1 2 3 0 0 0 1\n1 1 2 3 0 0 0 1\n")}); ok && strings.HasPrefix(kind, "path/") {
		t.Errorf("got features %s", kind)
	}
}

func FuzzTrajectory(f *testing.F) {
	for _, data := range []string{
		tum, "t,x,y,yaw\n0,1,2,0\n1,2,3,1\n", "x y\n1e29 -1e29\n1 1\n",
		`{"poses":[{"position":[1,2,3],"orientation":[0,0,0,1],"stamp":1},{"position":{"x":1,"y":2},"stamp":{"sec":2}}]}`,
		`[{"pose":{"position":[0,0,0]}},{"pose":{"position":[1,1,1e-300]}}]`, `{"steps":[{"action":"reach"},{"action":"grasp"}]}`,
	} {
		for _, mediaType := range []string{"", "text/x-tum", "text/csv", "application/json"} {
			f.Add([]byte(data), mediaType)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, mediaType string) {
		item := perception.Item{Data: data, MediaType: mediaType}
		got, err := trajectory.Decode(item.Payload())
		if err != nil {
			return
		}
		n := len(got.Positions)
		if n < 2 || got.Times != nil && len(got.Times) != n || got.Orientations != nil && len(got.Orientations) != n {
			t.Fatalf("got %d positions, %d times, %d orientations", n, len(got.Times), len(got.Orientations))
		}
		checkFace(t, item)
	})
}
