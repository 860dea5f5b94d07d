package perception

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// scan is one sweep of a laser scanner, as a sensor_msgs/LaserScan has it:
// angles in radians, 0 ahead and positive to the left, ranges in metres.
type scan struct {
	start, increment float64
	near, far        float64 // what counts as a return; far is +Inf when unknown
	ranges           []float64
	intensities      []float64 // nil or one per ray
}

// returned tells whether ray i hit anything that the sensor can measure.
func (s *scan) returned(i int) bool {
	r := s.ranges[i]
	return r > 0 && r >= s.near && r <= s.far && r < maxReach
}

func (s *scan) angle(i int) float64 { return s.start + float64(i)*s.increment }

// span is the angle that the rays cover, a whole turn if they leave out no more
// than a ray.
func (s *scan) span() float64 {
	n, step := float64(len(s.ranges)), math.Abs(s.increment)
	const whole = 2 * math.Pi
	if span := (n - 1) * step; n*step < whole-step/2 {
		return span
	}
	return whole
}

// maxTurns bounds the angles: a sweep is one turn, with what rounding adds.
const maxTurns = 2 * math.Pi * 1.01

// scanObject is the JSON form; like a trace's nothing is decoded before its size
// is known.
type scanObject struct {
	AngleMin       *float64        `json:"angle_min"`
	AngleMax       *float64        `json:"angle_max"`
	AngleIncrement *float64        `json:"angle_increment"`
	RangeMin       *float64        `json:"range_min"`
	RangeMax       *float64        `json:"range_max"`
	Ranges         json.RawMessage `json:"ranges"`
	Intensities    json.RawMessage `json:"intensities"`
}

// nonFinite are numbers that Python writes and JSON has not.
var nonFinite = regexp.MustCompile(`-?Infinity|NaN`)

func isScan(it Item) bool {
	switch it.encoding() {
	case jsonText:
		return bytes.Contains(it.Data, []byte(`"ranges"`)) && bytes.Contains(it.Data, []byte(`"angle_min"`))
	case textTable, freeText, npyArray:
		kind, _ := it.Metadata["kind"].(string)
		return strings.EqualFold(kind, "laser_scan")
	}
	return false
}

// decodeScan reads a JSON object with the keys of a LaserScan, or one row or
// column of numbers with metadata kind laser_scan and the angles beside it. A
// range that is null, NaN or infinite is a ray without a return.
func decodeScan(it Item) (*scan, error) {
	if onlyHead(it) {
		return nil, fmt.Errorf("only the first %d of %d bytes of the scan are here", len(it.Data), it.Size)
	}
	if it.encoding() == jsonText {
		return decodeScanJSON(it.Data)
	}
	series, err := decodeSeries(Item{MediaType: it.MediaType, Data: it.Data})
	if err != nil {
		return nil, err
	}
	if series.width != 1 && series.len() != 1 {
		return nil, fmt.Errorf("a scan is one row or one column, not %d by %d", series.len(), series.width)
	}
	var o scanObject
	for key, place := range map[string]**float64{
		"angle_min": &o.AngleMin, "angle_max": &o.AngleMax, "angle_increment": &o.AngleIncrement,
		"range_min": &o.RangeMin, "range_max": &o.RangeMax,
	} {
		if v, ok := number(it.Metadata[key]); ok {
			*place = &v
		}
	}
	return o.scan(series.values)
}

func decodeScanJSON(data []byte) (*scan, error) {
	if !json.Valid(data) {
		data = nonFinite.ReplaceAll(data, []byte("null"))
	}
	var o scanObject
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("the JSON object is no laser scan: %w", err)
	}
	if len(o.Ranges) == 0 {
		return nil, errors.New("the JSON object has no ranges")
	}
	series, err := decodeMatrix(o.Ranges)
	if err != nil {
		return nil, err
	}
	if series.width != 1 {
		return nil, errors.New("the ranges are no flat list")
	}
	s, err := o.scan(series.values)
	if err != nil {
		return nil, err
	}
	// Many sensors have none and leave the list empty.
	if levels, err := decodeMatrix(o.Intensities); err == nil {
		s.takeIntensities(levels.values)
	}
	return s, nil
}

func (s *scan) takeIntensities(levels []float64) {
	if len(levels) == len(s.ranges) {
		s.intensities = levels
	}
}

func (o scanObject) scan(ranges []float64) (*scan, error) {
	s := &scan{ranges: ranges, far: math.Inf(1)}
	if o.AngleMin == nil || o.AngleIncrement == nil && o.AngleMax == nil {
		return nil, errors.New("a laser scan needs angle_min and one of angle_increment and angle_max")
	}
	s.start = *o.AngleMin
	switch {
	case o.AngleIncrement != nil && *o.AngleIncrement != 0:
		s.increment = *o.AngleIncrement
	case o.AngleMax != nil && len(ranges) > 1:
		s.increment = (*o.AngleMax - s.start) / float64(len(ranges)-1)
	}
	if !finite(s.increment) || math.Abs(s.start) > maxTurns || math.Abs(s.increment)*float64(len(ranges)-1) > maxTurns {
		return nil, fmt.Errorf("the angles of %d rays go beyond one turn; they are in radians", len(ranges))
	}
	if o.RangeMin != nil {
		s.near = *o.RangeMin
	}
	if o.RangeMax != nil && *o.RangeMax > 0 {
		s.far = *o.RangeMax
	}
	return s, nil
}

var scanFormat = format{
	name:      "scan",
	accepts:   isScan,
	summarize: summarizeScan,
	kinds:     []string{"scan/"},
	features:  scanFeatures,
	distance:  scanDistance,
	preview:   previewScan,
	samples:   scanSamples,
}

// summarizeScan writes "laser scan, 360 rays over 270°, nearest 0.42 m at -12°,
// 17 rays without return".
func summarizeScan(it Item) string {
	s, err := decodeScan(it)
	if err != nil {
		return ""
	}
	line := "laser scan, " + plural(uint64(len(s.ranges)), "ray") + " over " + degrees(s.span())
	nearest, missing := -1, uint64(0)
	for i, r := range s.ranges {
		switch {
		case !s.returned(i):
			missing++
		case nearest < 0 || r < s.ranges[nearest]:
			nearest = i
		}
	}
	if nearest >= 0 {
		line += ", nearest " + figure(s.ranges[nearest]) + " " + lengthUnit(it) + " at " + degrees(math.Remainder(s.angle(nearest), 2*math.Pi))
	}
	if missing > 0 {
		line += ", " + plural(missing, "ray") + " without return"
	}
	return line
}
