package lerobot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of meta/info.json.
const (
	maxInfo     = 4 << 20 // bytes
	maxFeatures = 1024
	maxWidth    = 1 << 16 // numbers in a vector of one frame
	maxRateHz   = 1e6
	maxKey      = 128 // bytes
	maxEpisodes = 1 << 20
)

// layout is where a version of the format keeps its files.
type layout struct {
	dataPath string // as info.json has it
	episodes string // the file or the folder that lists them
}

// layouts are those of the versions that are read. Of version 2 each episode is a file, and of version 3 a file has
// the rows of several.
var (
	layoutV2 = layout{"data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet", "meta/episodes.jsonl"}
	layoutV3 = layout{"data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet", "meta/episodes"}
)

// dataFile returns the name of the file with the rows of an episode.
func (l *layout) dataFile(e *episode) string {
	if *l == layoutV2 {
		return fmt.Sprintf("data/chunk-%03d/episode_%06d.parquet", e.chunk, e.index)
	}
	return fmt.Sprintf("data/chunk-%03d/file-%03d.parquet", e.chunk, e.file)
}

// info is the part of meta/info.json that is read.
type info struct {
	Version    string             `json:"codebase_version"`
	Robot      *string            `json:"robot_type"`
	Episodes   int64              `json:"total_episodes"`
	Frames     int64              `json:"total_frames"`
	RateHz     float64            `json:"fps"`
	DataPath   string             `json:"data_path"`
	ChunkSize  int64              `json:"chunks_size"` // episodes in a chunk of version 2
	Features   map[string]feature `json:"features"`
	sortedKeys []string
	layout     layout
}

// feature is a column of the data, or a camera.
type feature struct {
	Type  string          `json:"dtype"`
	Shape []int64         `json:"shape"`
	Names json.RawMessage `json:"names"`
	width int             // numbers in a frame
}

func parseInfo(data []byte) (*info, error) {
	in := new(info)
	if err := json.Unmarshal(data, in); err != nil {
		return nil, err
	}

	switch {
	case in.Version == "v2.0" || in.Version == "v2.1":
		in.layout = layoutV2
	case strings.HasPrefix(in.Version, "v3."):
		in.layout = layoutV3
	}

	switch {
	case in.layout == layout{}:
		return nil, fmt.Errorf("the dataset has the format %.20q; v2.0, v2.1 and v3 are read", in.Version)
	case in.layout == layoutV2 && (in.ChunkSize < 1 || in.ChunkSize > maxIndex):
		return nil, fmt.Errorf("chunks_size is %d; give the number of episodes in a chunk", in.ChunkSize)
	case !(in.RateHz > 0 && in.RateHz <= maxRateHz):
		return nil, fmt.Errorf("fps is %v; give a rate above 0 and up to %v", in.RateHz, float64(maxRateHz))
	case in.DataPath != in.layout.dataPath:
		return nil, fmt.Errorf("data_path is %.200q; %s is read, which LeRobot writes", in.DataPath, in.layout.dataPath)
	case len(in.Features) == 0 || len(in.Features) > maxFeatures:
		return nil, fmt.Errorf("there are %d features; 1 to %d are read", len(in.Features), maxFeatures)
	}

	in.sortedKeys = slices.Sorted(maps.Keys(in.Features))
	for _, key := range in.sortedKeys {
		f := in.Features[key]
		if len(key) > maxKey || !utf8.ValidString(key) {
			return nil, fmt.Errorf("the feature %.100q has a name of %d bytes; up to %d of UTF-8 are read", key,
				len(key), maxKey)
		}
		if err := f.setWidth(); err != nil {
			return nil, fmt.Errorf("feature %.100q: %w", key, err)
		}
		// f is a copy, and only the copy has the width.
		in.Features[key] = f
	}

	return in, nil
}

// setWidth sets the width to the product of the sides. It fails for a shape that is not read.
func (f *feature) setWidth() error {
	f.width = 1
	for _, n := range f.Shape {
		if n < 1 || n > maxWidth {
			return fmt.Errorf("shape %v has a side of %d; 1 to %d are read", f.Shape, n, maxWidth)
		}
		// The width stays 1: the pixels are not imported, and their number is not limited.
		if f.isCamera() {
			continue
		}
		f.width *= int(n)
		if f.width > maxWidth {
			return fmt.Errorf("shape %v is more than %d numbers a frame", f.Shape, maxWidth)
		}
	}

	return nil
}

func (f *feature) isCamera() bool { return f.Type == "image" || f.Type == "video" }

// numericTypes are the types of features that are traces.
var numericTypes = map[string]bool{
	"float16": true, "float32": true, "float64": true, "bool": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint8": true, "uint16": true, "uint32": true, "uint64": true,
}

// channels returns the names of the numbers. In the file they are a list, or an object of lists
// ({"motors": [...]}) or of positions ({"delta_x": 0, ...}). It returns nil if not each number has a name.
func (f *feature) channels() []string {
	var (
		list   []string
		groups map[string][]string
		places map[string]int
	)
	switch {
	case json.Unmarshal(f.Names, &list) == nil:
	case json.Unmarshal(f.Names, &groups) == nil && len(groups) == 1:
		// Several groups have no order in a JSON object, so their names cannot be assigned to the numbers.
		list = slices.Concat(slices.Collect(maps.Values(groups))...)
	case json.Unmarshal(f.Names, &places) == nil && len(places) == f.width:
		list = make([]string, f.width)
		for name, i := range places {
			if i >= 0 && i < f.width {
				list[i] = name
			}
		}
	default:
		return nil
	}

	if len(list) != f.width || slices.Contains(list, "") {
		return nil
	}

	return list
}
