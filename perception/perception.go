package perception

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception/audio"
	"github.com/robotmem/robotmem-go/perception/image"
	"github.com/robotmem/robotmem-go/perception/internal/draw"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/pointcloud"
	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/perception/timeseries"
	"github.com/robotmem/robotmem-go/perception/trajectory"
)

// Item is one perception: its bytes and what the caller knows of them.
type Item struct {
	// Type is the sense: visual, tactile, auditory, proprioceptive, procedural
	// or spatial. It is kept for the reader and decides nothing here.
	Type string
	// MediaType says how Data is encoded. If it is empty, [Sniff] decides.
	MediaType string
	// Data is the payload, or its first bytes if Size is larger than len(Data).
	// If only the first bytes are here, only what a header says is reported.
	Data []byte
	// Size is the length of the whole payload in bytes; 0 means len(Data).
	Size int64
	// Metadata is the caller's JSON object; numbers are json.Number or float64.
	// docs/reference/perceptions.md lists the keys that are read.
	Metadata map[string]any
}

// Payload returns the item in the form that the packages of the formats read.
func (it Item) Payload() media.Payload {
	mediaType := it.MediaType
	if mediaType == "" {
		mediaType = sniff(it.Data)
	}
	return media.New(mediaType, it.Data, it.Size, it.Metadata)
}

// The forms in which pictures and numbers are returned; see the package media.
type (
	// Preview is a picture of a perception.
	Preview = media.Preview
	// PreviewOptions is the size of a preview.
	PreviewOptions = media.PreviewOptions
	// Samples are the numbers of an item.
	Samples = media.Samples
	// SamplesOptions selects a part of the samples.
	SamplesOptions = media.SamplesOptions
	// Channel is one channel of a trace or a sound.
	Channel = media.Channel
	// Numbers are readings; a missing one is NaN, and null in JSON.
	Numbers = media.Numbers
)

var (
	// ErrNoPreview means that the format of an item has no preview.
	ErrNoPreview = media.ErrNoPreview
	// ErrNoSamples means that the format of an item holds no numbers.
	ErrNoSamples = media.ErrNoSamples
)

// view is a payload as one format reads it. A preview is drawn from the samples unless the view has
// a method Preview.
type view interface {
	// Summary returns "" if the bytes cannot be read.
	Summary() string
	Features() (kind string, vector []float32, ok bool)
	Samples(SamplesOptions) (*Samples, error)
}

// formats are in order: one that is proven by the first bytes comes before one that only the media
// type claims. Several may accept a payload; only the decoding shows which of them can read it.
var formats = []struct {
	accepts func(media.Payload) bool
	open    func(media.Payload) (view, error)
}{
	{image.Accepts, func(in media.Payload) (view, error) { return image.Open(in), nil }},
	{image.AcceptsPixels, func(in media.Payload) (view, error) { return image.OpenPixels(in), nil }},
	{audio.Accepts, func(in media.Payload) (view, error) { return audio.File{Payload: in}, nil }},
	{pointcloud.Accepts, func(in media.Payload) (view, error) { return pointcloud.File{Payload: in}, nil }},
	{trajectory.Accepts, func(in media.Payload) (view, error) { return trajectory.Decode(in) }},
	{pointcloud.AcceptsScan, func(in media.Payload) (view, error) { return pointcloud.DecodeScan(in) }},
	{segment.Accepts, func(in media.Payload) (view, error) { return segment.Open(in) }},
	{timeseries.Accepts, func(in media.Payload) (view, error) { return timeseries.Decode(in) }},
}

// views opens the payload in each format that accepts it.
func views(in media.Payload) iter.Seq2[view, error] {
	return func(yield func(view, error) bool) {
		for _, f := range formats {
			if f.accepts(in) && !yield(f.open(in)) {
				return
			}
		}
	}
}

// Summarize returns one line about the data, made from the data and its metadata and never from a
// description, so that a search for "Fz peak" or "640x480" finds it. The line has at most 300
// characters, is the same for the same item, and is "" for an item without data. Data that cannot
// be read is counted: "1,234 bytes of application/octet-stream".
func Summarize(it Item) string {
	if len(it.Data) == 0 {
		return ""
	}

	in := it.Payload()
	for v, err := range views(in) {
		if err != nil {
			continue
		}
		if s := v.Summary(); s != "" {
			return media.Clean(s, media.MaxSummary)
		}
	}

	return media.Clean(summarizeOther(it), media.MaxSummary)
}

// Describe returns the summary of an item and, if its format computes both from
// one decoding, its features. kind is "" for all other formats, which says
// nothing about whether the item has features: call [Features].
func Describe(it Item) (summary, kind string, vector []float32) {
	if in := it.Payload(); image.Accepts(in) {
		img := image.Open(in)
		summary = img.Summary()
		kind, vector, _ = img.Features()
	}
	if summary == "" || kind == "" || !allFinite(vector) {
		return Summarize(it), "", nil
	}

	return media.Clean(summary, media.MaxSummary), kind, vector
}

// DecodeBytes returns an estimate of the most memory that describing an item takes. A caller that
// describes several items side by side compares it with its own limit.
func DecodeBytes(it Item) int64 {
	in := it.Payload()
	if image.Accepts(in) {
		return image.DecodeBytes(in)
	}

	// Two bytes may hold a reading, which takes a float64, its copy, and the values around it.
	const perByte = 16

	return perByte * int64(len(it.Data))
}

// FeatureRules is the version of the rules that [Features] follows. It grows with
// every change of them. Vectors of different versions must not be compared.
const FeatureRules = 7

// Features returns a vector of fixed length that describes the item, and the kind
// of the vector. [Distance] compares two vectors of one kind: the smaller the
// distance, the more alike are the items. ok is false if the item has no features.
//
//	trace/v2/<channels>  a trace of at most 256 channels: for each channel 32
//	                     readings at equal distances in time, then 32 quantiles of
//	                     its readings, all as square roots with the reading's sign
//	image/v2             a colour image: 60 DCT coefficients of the luma on a grid
//	                     of 32x32 cells, without mean and contrast; the mean; 10
//	                     coefficients of each chroma
//	depth/v2             a depth image: the same of its distances in grey
//	sound/v1             a sound: the power in 24 mel bands, 60 Hz to 8 kHz, in 8
//	                     parts of its time
//	cloud/v2             a point cloud: 65 numbers about its shape
//	scan/v1              a laser scan: the closeness of the returns in 72 sectors
//	path/v2              a trajectory: 37 numbers about the shape of its path
//
// A trace with a missing or infinite reading has none, since any number put in its place would
// decide the distance. Only the data counts and not the metadata, so that data without metadata can
// be compared. Raw samples and raw pixels need the metadata that says how to read them.
func Features(it Item) (kind string, vector []float32, ok bool) {
	in := it.Payload()
	if len(it.Data) == 0 || in.IsHead() {
		return "", nil, false
	}

	for v, err := range views(in) {
		if err != nil {
			continue
		}
		if kind, vector, ok = v.Features(); ok && allFinite(vector) {
			return kind, vector, true
		}
	}

	return "", nil, false
}

func allFinite(vector []float32) bool {
	return !slices.ContainsFunc(vector, func(v float32) bool { return !media.Finite(float64(v)) })
}

// Distance compares two vectors that [Features] returned, both of this kind. It is
// 0 for equal vectors, symmetric, and smaller the more alike the items are. The
// distance of vectors of different lengths is infinite.
func Distance(kind string, a, b []float32) float64 {
	switch {
	case strings.HasPrefix(kind, timeseries.Kind):
		return timeseries.Distance(kind, a, b)
	case strings.HasPrefix(kind, "scan/"):
		return pointcloud.ScanDistance(a, b)
	case len(a) != len(b):
		return math.Inf(1)
	}
	sum := 0.0

	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}

	return math.Sqrt(sum)
}

// MakePreview draws the item: a smaller copy of an image, a plot of a trace, the
// spectrogram of a sound, a cloud or a trajectory from above. The same item and
// options give the same picture. The error wraps [ErrNoPreview] if the format has
// no preview, and otherwise says what is wrong with the bytes.
func MakePreview(it Item, o PreviewOptions) (*Preview, error) {
	return firstOf(it, "draw", ErrNoPreview, func(v view) (*Preview, error) {
		if drawn, ok := v.(interface {
			Preview(PreviewOptions) (*Preview, error)
		}); ok {
			return drawn.Preview(o.Normal())
		}
		s, err := v.Samples(SamplesOptions{Points: draw.Points, Trace: true})
		if err != nil {
			return nil, err
		}

		return draw.Samples(s, o.Normal())
	})
}

// firstOf calls do for each format that accepts the item, and returns the first result. If all fail, it
// returns the first error. If no format accepts the item, it returns the error none. An item that is
// known to have no samples, such as a picture, is not read as anything else.
func firstOf[T any](it Item, verb string, none error, do func(view) (*T, error)) (*T, error) {
	in := it.Payload()
	if in.IsHead() {
		return nil, fmt.Errorf("the payload of %d bytes is too large to %s; only its first %d are read", it.Size, verb,
			len(it.Data))
	}

	var first error

	for v, err := range views(in) {
		if err == nil {
			var made *T
			if made, err = do(v); err == nil {
				return made, nil
			}
		}
		first = cmp.Or(first, err)
		if errors.Is(err, ErrNoSamples) {
			break
		}
	}

	return nil, cmp.Or(first, none)
}

// MakeSamples reads the numbers of an item: of a trace or an MCAP segment of one
// topic, a sound, a point cloud, a trajectory, a laser scan. The same item and
// options give the same numbers. The error wraps [ErrNoSamples] if the format has
// no numbers, and otherwise says what is wrong with the bytes.
func MakeSamples(it Item, o SamplesOptions) (*Samples, error) {
	return firstOf(it, "decode", ErrNoSamples, func(v view) (*Samples, error) { return v.Samples(o) })
}

// summarizeOther returns the summary of an item that none of the formats can read.
func summarizeOther(it Item) string {
	in := it.Payload()
	if s := summarizeText(in); s != "" && in.Encoding() != media.Opaque {
		return s
	}
	s := media.Plural(max(in.Size, int64(len(in.Data))), "byte") + " of " + media.Clean(in.Type, maxMediaType)
	if in.IsHead() {
		// Its beginning alone is not all that a format needs.
		return s
	}
	// The formats that accept the bytes say why they cannot read them. A preview collects the first such error.
	if _, err := MakePreview(it, PreviewOptions{}); err != nil && !errors.Is(err, ErrNoPreview) {
		s += ", not read: " + err.Error()
	}

	return s
}

// SenseOf returns the type of an item that has none, from its summary: auditory for sounds,
// spatial for point clouds, scans and trajectories, tactile for a wrench, proprioceptive for other
// traces, procedural for text, otherwise visual.
func SenseOf(mediaType, summary string) string {
	for _, s := range []struct{ has, sense string }{
		{"image", "visual"}, {"audio/", "auditory"}, {"point cloud", "spatial"}, {"laser scan", "spatial"}, {
			"trajectory", "spatial",
		}, {media.TypePCD, "spatial"}, {media.TypePLY, "spatial"},
		{"-axis wrench", "tactile"}, {"-channel", "proprioceptive"}, {"joint", "proprioceptive"}, {
			"text, ", "procedural",
		},
	} {
		what, _, _ := strings.Cut(summary, ", ")
		if strings.HasPrefix(mediaType, s.has) || strings.Contains(what+", ", s.has) {
			return s.sense
		}
	}

	return "visual"
}

// summarizeText quotes the beginning of the text. It counts the lines if all of them are here.
func summarizeText(in media.Payload) string {
	const maxQuote = 200 // characters
	data := in.WholeLines()
	if !utf8.Valid(data) || in.Encoding() == media.JSON && !json.Valid(data) {
		return ""
	}
	begin := media.Clean(string(data[:min(len(data), 4*media.MaxSummary)]), maxQuote)
	if begin == "" {
		return ""
	}
	if in.IsHead() {
		return "text, beginning: " + begin
	}
	lines := bytes.Count(bytes.TrimSpace(data), []byte("\n")) + 1

	return "text, " + media.Plural(int64(lines), "line") + ": " + begin
}
