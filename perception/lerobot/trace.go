package lerobot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	maxNames  = 16 << 10 // bytes of channel names in the metadata
	maxVideos = 32       // in the metadata of a trace
	// signals is the trace of all single numbers.
	signals = "signals"
)

// traces returns the perceptions of an episode: one for each vector and one for all single numbers.
func (rd *reader) traces(s span) ([]importing.Perception, error) {
	shown, err := rd.im.videos(s.episode)
	if err != nil {
		return nil, err
	}
	videos := map[string]any{}
	for _, v := range shown[:min(len(shown), maxVideos)] {
		v.part["origin"] = rd.im.origin(v.path)
		videos[v.camera] = v.part
	}
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
			out = append(out, rd.trace(s, c.key, c.wide, c.feature.Shape, c.feature.channels(), c.samples, videos))
		}
	}
	if len(single) > 0 {
		keys := make([]string, len(single))
		for i, c := range single {
			keys[i] = c.key
		}
		out = append(out, rd.trace(s, signals, true, nil, keys, interleave(single, s.rows), videos))
	}
	return out, nil
}

// trace copies the samples, since the next episode reuses their memory.
func (rd *reader) trace(s span, key string, wide bool, shape []int64, channels []string, samples []byte, videos map[string]any) importing.Perception {
	dtype, size := "<f4", int64(4)
	if wide {
		dtype, size = "<f8", 8
	}
	width := int64(len(samples)) / size / s.rows
	meta := map[string]any{
		"feature": key, "dtype": dtype, "shape": []int64{s.rows, width}, "rate_hz": rd.im.in.RateHz,
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

func (c *column) at(i int64) float64 {
	if c.wide {
		return math.Float64frombits(binary.LittleEndian.Uint64(c.samples[i*8:]))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(c.samples[i*4:])))
}

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
		n := int64(len(c.samples)) / c.size()
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

// shown is a part of a video that shows an episode.
type shown struct {
	camera, path string
	part         map[string]any // from_s and to_s, the seconds in the file
}

// videos returns where which videos show the episode, in order of the cameras.
func (im *importer) videos(e episode) ([]shown, error) {
	var out []shown
	for _, key := range im.in.sortedKeys {
		v, ok := e.videos[key]
		if !ok {
			continue
		}
		path, err := im.in.videoFile(key, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out = append(out, shown{key, path, map[string]any{"from_s": finite(v.from), "to_s": finite(v.to)}})
	}
	return out, nil
}

// finite returns 0 for a number that JSON cannot hold.
func finite(seconds float64) float64 {
	if !media.Finite(seconds) {
		return 0
	}
	return seconds
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

// importVideos stores each video once, with the episodes that it shows.
func (im *importer) importVideos(episodes []episode) error {
	type videoFile struct {
		camera, path string
		parts        []map[string]any
	}
	var files []*videoFile
	byPath := map[string]*videoFile{}
	for _, e := range episodes {
		if !im.o.wants(e.index) {
			continue
		}
		videos, err := im.videos(e)
		if err != nil {
			im.report.Break(fmt.Sprintf("episode %d", e.index), err, 1)
		}
		for _, v := range videos {
			f := byPath[v.path]
			if f == nil {
				f = &videoFile{camera: v.camera, path: v.path}
				byPath[v.path] = f
				files = append(files, f)
			}
			v.part["episode_index"] = e.index
			f.parts = append(f.parts, v.part)
		}
	}
	for _, f := range files {
		if err := im.importVideo(f.camera, f.path, f.parts); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) importVideo(camera, path string, parts []map[string]any) error {
	if !im.o.Videos {
		im.report.Skip(path, "videos are not asked for", 1)
		return nil
	}
	file, info, err := importing.OpenFile(im.root, path)
	if err != nil {
		im.report.Break(path, err, 1)
		return nil
	}
	file.Close()
	if info.Size() == 0 {
		im.report.Skip(path, "empty", 1)
		return nil
	}
	meta := map[string]any{"feature": camera, "rate_hz": im.in.RateHz, "episodes": parts}
	if text, err := json.Marshal(meta); err != nil || len(text) > importing.MaxMetadata/2 {
		delete(meta, "episodes") // the traces of each episode name it, too
	}
	return im.report.Save(im.ctx, im.sink, "", importing.Perception{
		Origin: im.origin(path), Type: "visual", MediaType: "video/mp4", Size: info.Size(),
		Description: fmt.Sprintf("film of %s, %d episodes of %s", words(camera), len(parts), words(im.o.Name)),
		Open: func() (io.ReadCloser, error) {
			f, _, err := importing.OpenFile(im.root, path)
			return f, err
		},
		Metadata: meta, Context: map[string]any{"env": map[string]any{"dataset": im.o.Name}}, Messages: 1,
	})
}
