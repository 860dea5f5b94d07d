package lerobot

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importing"
)

// mediaSamples is an array of numbers without a header: metadata names its dtype
// (as NumPy does), its shape and its rate.
const mediaSamples = "application/x-samples"

const (
	maxNames  = 16 << 10 // bytes of channel names in the metadata
	maxVideos = 32       // named in the metadata of a trace
	// signals joins the single numbers of a frame.
	signals = "signals"
)

// traces are the perceptions of an episode that was read: one for each vector,
// one for all numbers that stand alone.
func (rd *reader) traces(s span) ([]importing.Perception, error) {
	videos, err := rd.videos(s.episode)
	if err != nil {
		return nil, err
	}
	var out []importing.Perception
	var single []*track
	for _, tr := range rd.tracks {
		switch {
		case tr.picture:
		case tr.over:
			rd.im.report.Skip(fmt.Sprintf("episode %d, %s", s.episode.index, tr.key), fmt.Sprintf("the trace has more than %d bytes", maxTrace), s.rows)
		case tr.feature.width == 1 && sense(tr.key) == "":
			single = append(single, tr)
		default:
			out = append(out, rd.trace(s, tr.key, tr.wide, tr.feature.Shape, tr.feature.channels(), tr.samples, videos))
		}
	}
	if len(single) > 0 {
		out = append(out, rd.trace(s, signals, true, nil, keys(single), join(single, s.rows), videos))
	}
	return out, nil
}

// trace describes samples; they are copied, since the next episode reuses them.
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
	kind := sense(key)
	if kind == "" {
		kind = "proprioceptive"
	}
	return importing.Perception{
		Origin: rd.origin(s.episode, key), Type: kind, MediaType: mediaSamples,
		Description: rd.describe(s.episode, fmt.Sprintf("%s, %d samples of %d channels at %.6g Hz", words(key), s.rows, width, rd.im.in.RateHz)),
		Data:        append([]byte(nil), samples...), Metadata: meta, Context: rd.context, Messages: int(s.rows),
	}
}

// sense is the perception's type by the name of its feature, "" for what is
// neither sensed nor commanded (next.reward).
func sense(key string) string {
	lower := strings.ToLower(key)
	for _, word := range []string{"force", "torque", "wrench", "tactile", "touch"} {
		if strings.Contains(lower, word) {
			return "tactile"
		}
	}
	switch {
	case lower == "action" || strings.HasPrefix(lower, "action."):
		return "procedural"
	case strings.HasPrefix(lower, "observation."):
		return "proprioceptive"
	}
	return ""
}

func keys(tracks []*track) []string {
	out := make([]string, len(tracks))
	for i, tr := range tracks {
		out[i] = tr.key
	}
	return out
}

// at is the i-th sample of a track with one channel.
func (tr *track) at(i int64) float64 {
	if tr.wide {
		return math.Float64frombits(binary.LittleEndian.Uint64(tr.samples[i*8:]))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(tr.samples[i*4:])))
}

// join puts tracks of one channel side by side.
func join(tracks []*track, rows int64) []byte {
	out := make([]byte, 0, int(rows)*len(tracks)*8)
	for i := range rows {
		for _, tr := range tracks {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(tr.at(i)))
		}
	}
	return out
}

// outcome is how the episode went, nil when nothing tells.
func (rd *reader) outcome() *float64 {
	var success, reward *float64
	for _, tr := range rd.tracks {
		if tr.feature.width != 1 || len(tr.samples) == 0 || tr.over {
			continue
		}
		size := int64(4)
		if tr.wide {
			size = 8
		}
		n := int64(len(tr.samples)) / size
		switch tr.key {
		case "next.success":
			score := 0.0
			for i := range n {
				if tr.at(i) == 1 {
					score = 1
				}
			}
			success = &score
		case "next.reward":
			if last := tr.at(n - 1); last >= 0 && last <= 1 {
				reward = &last
			}
		}
	}
	if success != nil {
		return success
	}
	return reward
}

// videos names the films that show the episode.
func (rd *reader) videos(e episode) (map[string]any, error) {
	out := map[string]any{}
	for _, key := range rd.im.in.sortedKeys {
		v, ok := e.videos[key]
		if !ok || len(out) == maxVideos {
			continue
		}
		path, err := rd.im.in.videoFile(key, e, v)
		if err != nil {
			return nil, err
		}
		out[key] = map[string]any{"origin": rd.im.origin(path), "from_s": finite(v.from), "to_s": finite(v.to)}
	}
	return out, nil
}

// finite keeps metadata writable as JSON.
func finite(s float64) float64 {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return 0
	}
	return s
}

func (rd *reader) describe(e episode, what string) string {
	robot := ""
	if rd.im.in.Robot != nil {
		robot = ", " + words(importing.Cut(*rd.im.in.Robot, maxKey))
	}
	line := fmt.Sprintf("%s, episode %d of %s%s", what, e.index, words(rd.im.o.Name), robot)
	if rd.said != "" {
		line = strings.TrimRight(rd.said, ".") + ": " + line
	}
	return importing.Cut(line, importing.MaxDescription)
}

// words makes a name readable: "observation.images.wrist_left" is "observation
// images wrist left".
func words(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-/", r) }), " ")
}

// importVideos stores each film once, with the episodes that are in it.
func (im *importer) importVideos(episodes []episode) error {
	type film struct {
		camera, path string
		parts        []map[string]any
	}
	var films []*film
	byPath := map[string]*film{}
	for _, e := range episodes {
		if !im.o.wants(e.index) {
			continue
		}
		for _, key := range im.in.sortedKeys {
			v, ok := e.videos[key]
			if !ok {
				continue
			}
			path, err := im.in.videoFile(key, e, v)
			if err != nil {
				im.report.Break(key, err, 1)
				continue
			}
			f := byPath[path]
			if f == nil {
				f = &film{camera: key, path: path}
				byPath[path] = f
				films = append(films, f)
			}
			f.parts = append(f.parts, map[string]any{"episode_index": e.index, "from_s": finite(v.from), "to_s": finite(v.to)})
		}
	}
	for _, f := range films {
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
	file, size, err := openRegular(im.root, path)
	if err != nil {
		im.report.Break(path, err, 1)
		return nil
	}
	file.Close()
	if size == 0 {
		im.report.Skip(path, "empty", 1)
		return nil
	}
	meta := map[string]any{"feature": camera, "rate_hz": im.in.RateHz, "episodes": parts}
	if text, err := json.Marshal(meta); err != nil || len(text) > importing.MaxMetadata/2 {
		delete(meta, "episodes") // each episode's traces name it, too
	}
	return im.report.Save(im.ctx, im.sink, "", importing.Perception{
		Origin: im.origin(path), Type: "visual", MediaType: "video/mp4", Size: size,
		Description: fmt.Sprintf("film of %s, %d episodes of %s", words(camera), len(parts), words(im.o.Name)),
		Open: func() (io.ReadCloser, error) {
			f, _, err := openRegular(im.root, path)
			return f, err
		},
		Metadata: meta, Context: map[string]any{"env": map[string]any{"dataset": im.o.Name}}, Messages: 1,
	})
}
