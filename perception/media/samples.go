package media

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Preview is a picture of a perception.
type Preview struct {
	MediaType     string // image/png, image/jpeg or image/svg+xml
	Data          []byte
	Width, Height int // pixels; for SVG the size of its viewBox
}

// PreviewOptions is the size of a preview. The zero value works.
type PreviewOptions struct {
	Width  int // at most so many pixels; 0 is 640
	Height int // at most so many pixels; 0 is 360
}

const maxPreviewSide = 4096

// Normal returns the options with the defaults filled in.
func (o PreviewOptions) Normal() PreviewOptions {
	return PreviewOptions{
		min(cmp.Or(max(o.Width, 0), 640), maxPreviewSide), min(cmp.Or(max(o.Height, 0), 360), maxPreviewSide),
	}
}

// ErrNoPreview means that the format of an item has no preview.
var ErrNoPreview = errors.New("there is no preview of this format")

// ErrNoSamples means that the format of an item holds no numbers.
var ErrNoSamples = errors.New("there are no numbers to draw")

// Samples are the numbers of an item, few enough to be drawn. If not all samples between from and
// to fit, a trace or a sound is divided into buckets of equal length with the smallest and the
// largest reading of each, and of points an even part is kept that includes the first and the last.
type Samples struct {
	Kind    string `json:"kind" doc:"trace, sound, cloud, trajectory or scan."`
	Total   int64  `json:"total" doc:"Samples between from and to; of a cloud, a path or a scan the points that have a position."`
	Missing int64  `json:"missing,omitempty" doc:"Points without a position, rays without a return, and messages that cannot be decoded: they are left out, and no part of total."`
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

// Channel is one channel of a trace or a sound: its values, or the minimum and
// maximum of each bucket. The full scale of a sound is 1, and its unit is "1".
type Channel struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit,omitempty" doc:"Absent when unknown."`
	Values Numbers `json:"values,omitzero" doc:"The readings; null is a missing or an infinite one."`
	Min    Numbers `json:"min,omitzero" doc:"The smallest of each bucket, when reduced; null where it has no reading."`
	Max    Numbers `json:"max,omitzero" doc:"The largest of each bucket, when reduced."`
}

// Numbers are readings. A missing one is NaN, and null in JSON, which has neither
// NaN nor infinities.
type Numbers []float64

func (n Numbers) MarshalJSON() ([]byte, error) {
	list := make([]*float64, len(n))
	for i, v := range n {
		if Finite(v) {
			list[i] = &n[i]
		}
	}

	return json.Marshal(list)
}

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

// SamplesOptions selects a part of the samples. The zero value works.
type SamplesOptions struct {
	// From and To are in seconds since the first sample, or numbers of samples from 0 if the rate
	// is unknown. Both ends belong to the part; nil is the first and the last sample. Of a
	// recording of laser scans the first scan from From on is returned. A cloud has no time.
	From, To *float64
	// Points is the number of entries at most; 0 is 2,000 for traces and sounds and
	// 50,000 for all else. With more than ten channels there are fewer.
	Points int
	Trace  bool // the numbers of messages as a trace, also of those with a pose or a scan
}

const (
	tracePoints = 2000
	spacePoints = 50_000
	// maxPoints is the largest number of entries that a caller can ask for.
	maxPoints = 200_000
	// maxReadings bounds the entries of all channels together: 32 MiB as minimum
	// and maximum, about 40 MB as JSON.
	maxReadings = 2 << 20
	// maxChannels is more than a picture can show.
	maxChannels = 1024
)

func (o SamplesOptions) points(usual int) int { return min(cmp.Or(max(o.Points, 0), usual), maxPoints) }

// SpacePoints returns the number of entries of a cloud, a path or a scan.
func (o SamplesOptions) SpacePoints() int { return o.points(spacePoints) }

// Cut returns the samples from lo up to and without hi that lie between From and
// To, of n samples whose times never fall.
func (o SamplesOptions) Cut(n int, time func(i int) float64) (lo, hi int) {
	hi = n
	if o.From != nil {
		lo = sort.Search(n, func(i int) bool { return time(i) >= *o.From })
	}
	if o.To != nil {
		hi = sort.Search(n, func(i int) bool { return time(i) > *o.To })
	}

	return lo, max(lo, hi)
}

// Spread returns entry j of k that are spread evenly over n, with k <= n. The
// first and the last are among them.
func Spread(j, k, n int) int {
	if k < 2 {
		return 0
	}
	return int(int64(j) * int64(n-1) / int64(k-1))
}

// NewSpace returns samples with room for shown of total points, in the unit and
// the frame that the metadata names.
func NewSpace(kind string, m Metadata, total, shown int) *Samples {
	const maxFrame = 256 // characters
	return &Samples{
		Kind: kind, Total: int64(total), Reduced: shown < total, Unit: m.Unit("m"), FrameID: Clean(m.Text("frame_id"),
			maxFrame),
		X: make(Numbers, shown), Y: make(Numbers, shown), Z: make(Numbers, shown),
	}
}

// Envelope keeps the smallest and the largest reading of each channel in buckets
// of equally many samples, so that no peak is lost.
type Envelope struct {
	width     int64 // samples of a bucket
	count     int64 // samples so far
	low, high []Numbers
}

// NewEnvelope returns an envelope for this number of samples.
func NewEnvelope(channels int, samples int64, o SamplesOptions) (*Envelope, error) {
	if channels > maxChannels {
		return nil, fmt.Errorf("there are %d channels; at most %d are drawn", channels, maxChannels)
	}
	limit := int64(min(o.points(tracePoints), maxReadings/channels))

	e := &Envelope{
		width: max((samples+limit-1)/limit, 1), low: make([]Numbers, channels), high: make([]Numbers, channels),
	}
	for c := range channels {
		e.low[c] = make(Numbers, 0, min(samples, limit))
		e.high[c] = make(Numbers, 0, min(samples, limit))
	}

	return e, nil
}

// Add takes one sample: a reading of each channel.
func (e *Envelope) Add(readings []float64) {
	bucket := int(e.count / e.width)
	e.count++

	for c, v := range readings {
		if !Finite(v) {
			v = math.NaN()
		}
		if bucket == len(e.low[c]) {
			e.low[c], e.high[c] = append(e.low[c], v), append(e.high[c], v)
			continue
		}
		low, high := &e.low[c][bucket], &e.high[c][bucket]
		if math.IsNaN(*low) || v < *low {
			*low = v
		}
		if math.IsNaN(*high) || v > *high {
			*high = v
		}
	}
}

// Fill writes the channels and the times of their entries, of which the first is
// sample start. name returns the name and the unit of a channel.
func (e *Envelope) Fill(out *Samples, start int, time func(i int) float64, name func(c int) (name, unit string)) {
	out.Total, out.Reduced = e.count, int64(len(e.low[0])) < e.count

	out.Time = make(Numbers, len(e.low[0]))
	for b := range out.Time {
		out.Time[b] = time(start + b*int(e.width))
	}

	out.Channels = make([]Channel, len(e.low))
	for c := range out.Channels {
		channel := &out.Channels[c]
		channel.Name, channel.Unit = name(c)
		if out.Reduced {
			channel.Min, channel.Max = e.low[c], e.high[c]
		} else {
			channel.Values = e.low[c]
		}
	}
}
