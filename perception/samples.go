package perception

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
)

// Samples are the numbers of an item, few enough to be drawn: all between from
// and to where there is room for them, else of a trace or a sound the smallest
// and the largest of each of equal buckets, and of points an even part with the
// first and the last.
type Samples struct {
	Kind    string `json:"kind" doc:"trace, sound, cloud, trajectory or scan."`
	Total   int64  `json:"total" doc:"Samples between from and to; of a cloud, a path or a scan the points that have a position."`
	Missing int64  `json:"missing,omitempty" doc:"Points without a position and rays without a return: they are left out, and no part of total."`
	Reduced bool   `json:"reduced" doc:"Not every sample is here: ask for less time, or more points."`

	Time      Numbers   `json:"time,omitzero" doc:"When each entry was, in time_unit since the first sample; of a bucket when it begins."`
	TimeUnit  string    `json:"time_unit,omitempty" doc:"s, or sample (numbers from 0) when the rate is unknown."`
	RateHz    float64   `json:"rate_hz,omitempty" doc:"Samples per second, the mean where they are uneven; absent when unknown."`
	DurationS float64   `json:"duration_s,omitempty" doc:"How long the whole lasts; absent when unknown."`
	Channels  []Channel `json:"channels,omitzero" doc:"Of a trace or a sound."`

	Unit      string   `json:"unit,omitempty" doc:"Of x, y and z: m unless the metadata names another."`
	FrameID   string   `json:"frame_id,omitempty" doc:"The frame of x, y and z, if it is named."`
	X         Numbers  `json:"x,omitzero" doc:"Of a scan in the sensor's frame: x ahead, y left."`
	Y         Numbers  `json:"y,omitzero"`
	Z         Numbers  `json:"z,omitzero"`
	Intensity Numbers  `json:"intensity,omitzero" doc:"As recorded."`
	RGB       []uint32 `json:"rgb,omitzero" doc:"0xRRGGBB."`
	QX        Numbers  `json:"qx,omitzero" doc:"The orientation of each pose as a unit quaternion."`
	QY        Numbers  `json:"qy,omitzero"`
	QZ        Numbers  `json:"qz,omitzero"`
	QW        Numbers  `json:"qw,omitzero"`
}

// Channel is one channel of a trace or a sound: values, or the min and max of
// buckets. A sound's full scale is 1, and so is its unit.
type Channel struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit,omitempty" doc:"Absent when unknown."`
	Values Numbers `json:"values,omitzero" doc:"The readings; null is a missing or an infinite one."`
	Min    Numbers `json:"min,omitzero" doc:"The smallest of each bucket, when reduced; null where it has no reading."`
	Max    Numbers `json:"max,omitzero" doc:"The largest of each bucket, when reduced."`
}

// Numbers are readings, NaN where there is none: null in JSON, which has neither
// NaN nor infinities.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (n Numbers) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 2+8*len(n)), '[')
	for i, v := range n {
		if i > 0 {
			out = append(out, ',')
		}
		switch size := math.Abs(v); {
		case !finite(v):
			out = append(out, "null"...)
		case size != 0 && (size < 1e-6 || size >= 1e21): // as encoding/json does
			out = strconv.AppendFloat(out, v, 'e', -1, 64)
		default:
			out = strconv.AppendFloat(out, v, 'f', -1, 64)
		}
	}
	return append(out, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Numbers) UnmarshalJSON(data []byte) error {
	var list []*float64
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*n = slices.Grow((*n)[:0], len(list))
	for _, v := range list {
		if v == nil {
			v = new(math.NaN())
		}
		*n = append(*n, *v)
	}
	return nil
}

// SamplesOptions is the part that is wanted. The zero value works.
type SamplesOptions struct {
	// From and To are in seconds since the first sample, or numbers of samples
	// (from 0) where the rate is unknown; both belong to the part. nil is the
	// first and the last. Of a recording of scans the first sweep from From on is
	// taken. A cloud has no time.
	From, To *float64
	// Points is how many entries there may be; 0 is 2,000 for traces and sounds,
	// 50,000 for all else. Of more than ten channels there are fewer.
	Points int
}

const (
	tracePoints = 2000
	spacePoints = 50_000
	// maxSamplePoints bounds what a caller asks for.
	maxSamplePoints = 200_000
	// maxSampleReadings bounds the entries of all channels together: 32 MiB as
	// smallest and largest, some 40 MB as JSON.
	maxSampleReadings = 2 << 20
	// maxSampleChannels is beyond what can be told apart in any picture.
	maxSampleChannels = 1024
)

func (o SamplesOptions) points(usual int) int {
	if o.Points <= 0 {
		return usual
	}
	return min(o.Points, maxSamplePoints)
}

// cut is the samples from (and with) lo to hi of n, whose times never fall.
func (o SamplesOptions) cut(n int, time func(i int) float64) (lo, hi int) {
	hi = n
	if o.From != nil {
		lo = sort.Search(n, func(i int) bool { return time(i) >= *o.From })
	}
	if o.To != nil {
		hi = sort.Search(n, func(i int) bool { return time(i) > *o.To })
	}
	return lo, max(lo, hi)
}

// ErrNoSamples says that an item holds no numbers to draw.
var ErrNoSamples = errors.New("there are no numbers to draw")

// MakeSamples reads the numbers of an item: of a trace or an MCAP segment of one
// topic, a sound, a point cloud, a trajectory, a laser scan. The error wraps
// [ErrNoSamples] when the format has none, and else says what is wrong with the
// bytes. The same item and options give the same numbers.
func MakeSamples(it Item, o SamplesOptions) (*Samples, error) {
	if onlyHead(it) {
		return nil, fmt.Errorf("the payload of %d bytes is too large to decode; only its first %d are read", it.Size, len(it.Data))
	}
	var first error
	for _, f := range formats {
		if f.samples == nil || !f.accepts(it) {
			continue
		}
		s, err := f.samples(it, o)
		if err == nil {
			return s, nil
		}
		if first == nil {
			first = err
		}
		if errors.Is(err, ErrNoSamples) {
			break
		}
	}
	if first == nil {
		first = ErrNoSamples
	}
	return nil, first
}

// pictureSamples keeps an array of pixels from being read as a trace.
func pictureSamples(Item, SamplesOptions) (*Samples, error) {
	return nil, fmt.Errorf("%w in a picture; preview shows it", ErrNoSamples)
}
