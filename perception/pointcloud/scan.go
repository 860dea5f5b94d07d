package pointcloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/timeseries"
)

// Scan is one sweep of a laser scanner, as in a ROS sensor_msgs/LaserScan: angles in
// radians, 0 ahead and positive to the left, ranges in metres.
type Scan struct {
	start, increment float64
	near, far        float64 // the limits of a return; far is +Inf if unknown
	ranges           []float64
	intensities      []float64 // nil, or one per ray
	// Metadata names the unit and the frame.
	Metadata media.Metadata
}

const (
	// maxTurn bounds the angles: a sweep is one turn, plus rounding.
	maxTurn = 2 * math.Pi * 1.01
	// maxReach is beyond any sensor, and its square does not overflow.
	maxReach = 1e30
)

// NewScan returns a scan of these ranges. get returns the fields of the message:
// angle_min, angle_max, angle_increment, range_min and range_max. Intensities of
// another number than the ranges are ignored: many sensors leave the list empty.
func NewScan(get func(key string) (float64, bool), ranges, intensities []float64) (*Scan, error) {
	s := &Scan{ranges: ranges, far: math.Inf(1)}
	start, hasStart := get("angle_min")
	end, hasEnd := get("angle_max")
	increment, hasIncrement := get("angle_increment")
	if !hasStart || !hasIncrement && !hasEnd {
		return nil, errors.New("a laser scan needs angle_min and one of angle_increment and angle_max")
	}

	s.start = start

	switch {
	case hasIncrement && increment != 0:
		s.increment = increment
	case hasEnd && len(ranges) > 1:
		s.increment = (end - start) / float64(len(ranges)-1)
	}

	// Angles in degrees would look like many turns.
	if !media.Finite(s.increment) || math.Abs(s.start) > maxTurn ||
		math.Abs(s.increment)*float64(len(ranges)-1) > maxTurn {
		return nil, fmt.Errorf("the angles of %d rays go beyond one turn; they must be in radians", len(ranges))
	}

	s.near, _ = get("range_min")
	if far, _ := get("range_max"); far > 0 {
		s.far = far
	}
	if len(intensities) == len(ranges) {
		s.intensities = intensities
	}

	return s, nil
}

// returned reports whether ray i hit anything that the sensor can measure.
func (s *Scan) returned(i int) bool {
	r := s.ranges[i]
	return r > 0 && r >= s.near && r <= s.far && r < maxReach
}

func (s *Scan) angle(i int) float64 { return s.start + float64(i)*s.increment }

// Samples returns where the rays with a return end, in the order of their angles.
func (s *Scan) Samples(o media.SamplesOptions) (*media.Samples, error) {
	var hits []int

	for i := range s.ranges {
		if s.returned(i) {
			hits = append(hits, i)
		}
	}

	shown := min(o.SpacePoints(), len(hits))
	out := media.NewSpace("scan", s.Metadata, len(hits), shown)
	out.Missing = int64(len(s.ranges) - len(hits))
	if s.intensities != nil {
		out.Intensity = make(media.Numbers, shown)
	}

	for j := range shown {
		i := hits[media.Spread(j, shown, len(hits))]
		sin, cos := math.Sincos(s.angle(i))
		out.X[j], out.Y[j] = s.ranges[i]*cos, s.ranges[i]*sin
		if s.intensities != nil {
			out.Intensity[j] = s.intensities[i]
		}
	}

	return out, nil
}

// AcceptsScan reports whether the payload is JSON with the fields of a scan.
func AcceptsScan(in media.Payload) bool {
	return in.Encoding() == media.JSON && bytes.Contains(in.Data, []byte(`"ranges"`)) &&
		bytes.Contains(in.Data, []byte(`"angle_min"`))
}

// nonFinite are numbers that Python writes into JSON, which does not have them.
var nonFinite = regexp.MustCompile(`-?Infinity|NaN`)

// DecodeScan reads a laser scan: a JSON object with the fields of a LaserScan. A range that is null,
// NaN or infinite is a ray without a return. The lists are decoded only after their size is known.
func DecodeScan(in media.Payload) (*Scan, error) {
	if err := in.Whole(); err != nil {
		return nil, err
	}

	data := in.Data
	// Only invalid JSON is changed: in valid JSON the words can only be part of a text.
	if !json.Valid(data) {
		data = nonFinite.ReplaceAll(data, []byte("null"))
	}

	var o map[string]json.RawMessage
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("the JSON object is no laser scan: %w", err)
	}
	if len(o["ranges"]) == 0 {
		return nil, errors.New("the JSON object has no ranges")
	}

	ranges, err := timeseries.ParseMatrix(o["ranges"])
	if err != nil {
		return nil, err
	}
	if ranges.Width != 1 {
		return nil, errors.New("the ranges are no flat list")
	}

	var intensities []float64
	if series, err := timeseries.ParseMatrix(o["intensities"]); err == nil {
		intensities = series.Values
	}

	s, err := NewScan(func(key string) (v float64, ok bool) {
		return v, bytes.IndexAny(o[key], "-0123456789") == 0 && json.Unmarshal(o[key], &v) == nil
	}, ranges.Values, intensities)
	if err == nil {
		s.Metadata = in.Metadata
	}

	return s, err
}

// Summary returns "laser scan, 360 rays over 270°, nearest 0.42 m at -12°, 17 rays without return".
func (s *Scan) Summary() string {
	line := "laser scan, " + media.Plural(int64(len(s.ranges)), "ray") + " over " +
		degrees(math.Abs(s.increment)*float64(len(s.ranges)-1))
	nearest, missing := -1, int64(0)

	for i, r := range s.ranges {
		switch {
		case !s.returned(i):
			missing++
		case nearest < 0 || r < s.ranges[nearest]:
			nearest = i
		}
	}

	if nearest >= 0 {
		line += ", nearest " + media.Figure(s.ranges[nearest]) + " " + s.Metadata.Unit("m") + " at " +
			degrees(math.Remainder(s.angle(nearest), 2*math.Pi))
	}
	if missing > 0 {
		line += ", " + media.Plural(missing, "ray") + " without return"
	}

	return line
}

// degrees formats an angle in radians, "-12°".
func degrees(radians float64) string {
	d := math.Round(radians*180/math.Pi) + 0 // not "-0"
	return strconv.FormatFloat(d, 'f', 0, 64) + "°"
}

// The features of a scan, kind scan/v1, are 72 sectors of 5° around the sensor, from
// straight behind to the left: the mean closeness of the returns in each, 1/(1+r) with
// r in metres, so that a step nearby counts for more than one far away, and 0 without
// a return. The distance is the least over all turns of one scan against the other in
// sectors, since a robot that faces another way is in the same place.
const (
	scanKind = "scan/v1"
	sectors  = 72
	// minReturns is the least number of returns with a scene.
	minReturns = 8
)

// Features returns a vector of the kind scan/v1.
func (s *Scan) Features() (kind string, vector []float32, ok bool) {
	var sum, n [sectors]float64
	returns := 0

	for i, r := range s.ranges {
		if !s.returned(i) {
			continue
		}
		turn := s.angle(i)/(2*math.Pi) + 0.5
		sector := int((turn - math.Floor(turn)) * sectors)
		// Rounding may give the sector after the last one.
		sum[sector%sectors] += 1 / (1 + r)
		n[sector%sectors]++
		returns++
	}

	if returns < minReturns {
		return "", nil, false
	}

	vector = make([]float32, sectors)
	for i := range vector {
		vector[i] = float32(sum[i] / max(n[i], 1))
	}

	return scanKind, vector, true
}

// ScanDistance compares two vectors of the kind scan/v1.
func ScanDistance(a, b []float32) float64 {
	best := math.Inf(1)
	if len(a) != len(b) {
		return best
	}

	for shift := range a {
		sum := 0.0

		for i := range a {
			j := i + shift
			if j >= len(b) {
				j -= len(b)
			}
			d := float64(a[i]) - float64(b[j])
			// The sum only grows, so this turn can no longer win.
			if sum += d * d; sum >= best {
				break
			}
		}
		best = min(best, sum)
	}

	return math.Sqrt(best)
}
