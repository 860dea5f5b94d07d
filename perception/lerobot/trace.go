package lerobot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	maxNames  = 16 << 10 // bytes of channel names in the metadata
	maxVideos = 32       // in the metadata of a trace
	// signals is the trace of all single numbers.
	signals = "signals"
)

// traces returns the perceptions of an episode: one for each vector and one for all single numbers.
func (rd *reader) traces(s span) []importing.Perception {
	videos := rd.im.videos(s.episode)
	var out []importing.Perception
	var single []*column
	for _, c := range rd.columns {
		switch {
		case c.isImage:
		case c.tooLong:
			rd.im.report.Skip(fmt.Sprintf("episode %d, %s", s.episode.index, c.key), fmt.Sprintf("the trace has more than %d bytes", maxTrace), s.rows)
		case c.feature.width == 1 && perceptionType(c.key) == "":
			single = append(single, c)
		default:
			out = append(out, rd.trace(s, c.key, c.typ, c.feature.Shape, c.feature.channels(), c.samples, videos))
		}
	}
	if len(single) > 0 {
		wide, _ := npy.Lookup("<f8")
		keys := make([]string, len(single))
		for i, c := range single {
			keys[i] = c.key
		}
		out = append(out, rd.trace(s, signals, wide, nil, keys, interleave(single, s.rows), videos))
	}
	return out
}

// trace copies the samples, since the next episode reuses their memory.
func (rd *reader) trace(s span, key string, typ npy.Type, shape []int64, channels []string, samples []byte, videos map[string]any) importing.Perception {
	width := int64(len(samples)/typ.Size) / s.rows
	meta := map[string]any{
		"feature": key, "dtype": "<" + typ.Code, "shape": []int64{s.rows, width}, "rate_hz": rd.im.in.RateHz,
	}
	if len(shape) > 1 {
		meta["frame_shape"] = shape
	}
	if size := len(strings.Join(channels, "")); channels != nil && size < maxNames {
		meta["channels"] = channels
	}
	if len(videos) > 0 {
		meta["videos"] = videos
	}
	return importing.Perception{
		Origin: rd.origin(s.episode, key), Type: cmp.Or(perceptionType(key), "proprioceptive"), MediaType: media.TypeSamples,
		Description: rd.describe(s.episode, fmt.Sprintf("%s, %d samples of %d channels at %.6g Hz", words(key), s.rows, width, rd.im.in.RateHz)),
		Data:        bytes.Clone(samples), Metadata: meta, Context: rd.context, Messages: int(s.rows),
	}
}

// perceptionType returns the type by the name of the feature, "" for values that are neither
// sensed nor commanded, such as next.reward.
func perceptionType(key string) string {
	lower := strings.ToLower(key)
	contains := func(word string) bool { return strings.Contains(lower, word) }
	switch {
	case slices.ContainsFunc([]string{"force", "torque", "wrench", "tactile", "touch"}, contains):
		return "tactile"
	case lower == "action" || strings.HasPrefix(lower, "action."):
		return "procedural"
	case strings.HasPrefix(lower, "observation."):
		return "proprioceptive"
	}
	return ""
}

func (c *column) at(i int64) float64 { return c.typ.Float(c.samples[int(i)*c.typ.Size:]) }

// interleave returns the samples of columns with one channel as one trace.
func interleave(columns []*column, rows int64) []byte {
	out := make([]byte, 0, int(rows)*len(columns)*8)
	for i := range rows {
		for _, c := range columns {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(c.at(i)))
		}
	}
	return out
}

// outcome returns nil if it is unknown: see the package documentation.
func (rd *reader) outcome() *float64 {
	var success, reward *float64
	for _, c := range rd.columns {
		if c.feature.width != 1 || len(c.samples) == 0 || c.tooLong {
			continue
		}
		n := int64(len(c.samples) / c.typ.Size)
		switch c.key {
		case "next.success":
			success = new(0.0)
			for i := range n {
				if c.at(i) == 1 {
					*success = 1
				}
			}
		case "next.reward":
			if last := c.at(n - 1); last >= 0 && last <= 1 {
				reward = &last
			}
		}
	}
	return cmp.Or(success, reward)
}

// videos returns by camera which video of the dataset shows the episode, and which seconds of it.
func (im *importer) videos(e episode) map[string]any {
	out := map[string]any{}
	for _, key := range im.in.sortedKeys {
		v, ok := e.videos[key]
		if !ok || len(out) == maxVideos {
			continue
		}
		if !media.Finite(v.from + v.to) { // JSON cannot hold it
			v.from, v.to = 0, 0
		}
		out[key] = map[string]any{"origin": im.origin(im.in.videoFile(key, v)), "from_s": v.from, "to_s": v.to}
	}
	return out
}

func (rd *reader) describe(e episode, what string) string {
	robot := ""
	if rd.im.in.Robot != nil {
		robot = ", " + words(importing.Cut(*rd.im.in.Robot, maxKey))
	}
	line := fmt.Sprintf("%s, episode %d of %s%s", what, e.index, words(rd.im.o.Name), robot)
	if rd.task != "" {
		line = strings.TrimRight(rd.task, ".") + ": " + line
	}
	return importing.Cut(line, importing.MaxDescription)
}

// words returns "observation images wrist left" for "observation.images.wrist_left".
func words(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-/", r) }), " ")
}
