package lerobot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/media"
)

const maxTrace = 64 << 20 // bytes of one trace

// indexColumns are the columns of every dataset that say which frame a row is.
var indexColumns = map[string]bool{"timestamp": true, "frame_index": true, "episode_index": true, "index": true, "task_index": true}

// column is a feature that is read from the data files.
type column struct {
	key     string
	feature feature
	typ     npy.Type  // of the samples: float64 or float32
	values  []float64 // of the current frame
	samples []byte    // little-endian, of the episode so far
	tooLong bool      // samples would be more than maxTrace
}

// reader turns rows into the perceptions of one episode after another.
type reader struct {
	*importer
	file    *dataFile
	columns []*column
	fields  []field // of columns, and that of index
	index   int64   // of the episode of the current row

	current episode
	listed  bool  // in meta/episodes, for this file
	rows    int64 // of the episode so far
	context map[string]any
	task    string
}

func (im *importer) newReader(t table, file *dataFile) (*reader, error) {
	rd := &reader{importer: im, file: file}
	index := t.leaf("episode_index")
	if index == nil {
		return nil, errors.New("there is no column episode_index")
	}
	rd.fields = []field{{index, whole(&rd.index)}}
	for _, key := range im.in.sortedKeys {
		f := im.in.Features[key]
		c := &column{key: key, feature: f}
		var numeric bool
		c.typ, numeric = npy.Lookup(f.samples())
		leaf := t.leaf(key)
		switch {
		case f.isCamera() || indexColumns[key]:
		case !numeric:
			im.report.Skip(key, fmt.Sprintf("the type %.40s is not read", f.Type), 1)
		case leaf == nil:
			im.report.Skip(key, "the column is missing in "+file.name, 1)
		default:
			rd.columns, rd.fields = append(rd.columns, c), append(rd.fields, field{leaf, c.set})
		}
	}
	return rd, nil
}

// set takes a value of the current frame.
func (c *column) set(v parquet.Value) error {
	if len(c.values) == c.feature.width {
		return fmt.Errorf("a frame has more than the %d numbers that meta/info.json claims", c.feature.width)
	}
	n, ok := number(v)
	if !ok {
		n = math.NaN()
	}
	c.values = append(c.values, n)
	return nil
}

func (rd *reader) clear() {
	for _, c := range rd.columns {
		c.values = c.values[:0]
	}
}

// row adds the current row to its episode.
func (rd *reader) row() error {
	defer rd.clear()
	if rd.rows == 0 || rd.current.index != rd.index {
		if rd.failed = cmp.Or(rd.ctx.Err(), rd.end()); rd.failed != nil {
			return rd.failed
		}
		rd.begin()
	}
	if rd.listed && rd.o.wants(rd.index) && rd.rows < rd.current.length {
		for _, c := range rd.columns {
			if err := rd.add(c, rd.current, rd.rows); err != nil {
				return err
			}
		}
	}
	rd.rows++
	return nil
}

func (rd *reader) add(c *column, e episode, i int64) error {
	if len(c.values) != c.feature.width {
		return fmt.Errorf("column %s: frame %d of episode %d has %d numbers; meta/info.json claims %d", c.key, i, e.index, len(c.values), c.feature.width)
	}
	if c.tooLong = c.tooLong || len(c.samples)+c.typ.Size*len(c.values) > maxTrace; c.tooLong {
		return nil
	}
	for _, n := range c.values {
		if c.typ.Size == 8 {
			c.samples = binary.LittleEndian.AppendUint64(c.samples, math.Float64bits(n))
		} else {
			c.samples = binary.LittleEndian.AppendUint32(c.samples, math.Float32bits(float32(n)))
		}
	}
	return nil
}

// leaveOut leaves out the current episode, unless all of its rows were read before the damage.
func (rd *reader) leaveOut() {
	rd.clear()
	if rd.listed && rd.rows != rd.current.length {
		rd.disagree(rd.current, rd.file, rd.rows)
		rd.rows, rd.listed = 0, false
	}
}

func (rd *reader) begin() {
	rd.current, rd.listed = rd.file.episodes[rd.index]
	delete(rd.file.episodes, rd.index)
	rd.current.index = rd.index
	rd.task = importing.Cut(strings.Join(rd.current.tasks, "; "), maxTaskBytes)
	rd.context = map[string]any{"env": map[string]any{"dataset": rd.o.Name, "episode_index": rd.index}}
	if rd.task != "" {
		rd.context["task"] = map[string]any{"description": rd.task}
	}
	if rd.in.Robot != nil {
		rd.context["robot"] = map[string]any{"type": importing.Cut(*rd.in.Robot, maxKey)}
	}
	for _, c := range rd.columns {
		c.samples, c.tooLong = c.samples[:0], false
	}
}

func (rd *reader) origin(e episode, parts ...string) string {
	return rd.importer.origin(append([]string{fmt.Sprintf("episode/%06d", e.index)}, parts...)...)
}

// end saves the episode, unless it does not agree with the metadata.
func (rd *reader) end() error {
	e, rows := rd.current, rd.rows
	rd.rows = 0
	switch {
	case rows == 0: // there was none
		return nil
	case !rd.listed:
		rd.report.Skip(rd.file.name, "frames of an episode that meta/episodes does not list for this file", rows)
		return nil
	case !rd.o.wants(e.index):
		return nil
	case rows != e.length:
		rd.disagree(e, rd.file, rows)
		return nil
	}
	if err := rd.save(e); err != nil {
		return err
	}
	rd.done += e.length
	if rd.o.Progress != nil {
		rd.o.Progress(importing.Progress{Done: rd.done, Total: rd.total})
	}
	return nil
}

// save stores an episode as a session.
func (rd *reader) save(e episode) error {
	session, err := rd.sink.Start(rd.ctx, importing.Session{Origin: rd.origin(e), Context: rd.context})
	if errors.Is(err, importing.ErrEnded) {
		rd.report.Ended++
		rd.report.Skip(fmt.Sprintf("episode %d", e.index), "imported before", e.length)
		return nil
	}
	if err != nil {
		return err
	}
	traces := rd.traces(e)
	stored, err := rd.sink.Save(rd.ctx, session, traces)
	if err == nil {
		err = rd.sink.End(rd.ctx, session, rd.outcome())
	}
	if err != nil {
		return err
	}
	rd.report.Perceptions += len(traces)
	rd.report.Stored += stored
	rd.report.Known += len(traces) - stored
	rd.report.Sessions++
	rd.report.Messages += e.length
	return nil
}

const (
	maxNames = 16 << 10 // bytes of channel names in the metadata
	// signals is the trace of all single numbers.
	signals = "signals"
)

// traces returns the perceptions of an episode: one for each vector and one for all single numbers.
func (rd *reader) traces(e episode) []importing.Perception {
	var out []importing.Perception
	var single []*column
	for _, c := range rd.columns {
		switch {
		case c.tooLong:
			rd.report.Skip(fmt.Sprintf("episode %d, %s", e.index, c.key), fmt.Sprintf("the trace has more than %d bytes", maxTrace), e.length)
		case c.feature.width == 1 && perceptionType(c.key) == "":
			single = append(single, c)
		default:
			out = append(out, rd.trace(e, c.key, c.typ, c.feature.Shape, c.feature.channels(), c.samples))
		}
	}
	if len(single) > 0 {
		wide, _ := npy.Lookup("<f8")
		keys := make([]string, len(single))
		for i, c := range single {
			keys[i] = c.key
		}
		out = append(out, rd.trace(e, signals, wide, nil, keys, interleave(single, e.length)))
	}
	return out
}

// trace copies the samples, since the next episode reuses their memory.
func (rd *reader) trace(e episode, key string, typ npy.Type, shape []int64, channels []string, samples []byte) importing.Perception {
	width := int64(len(samples)/typ.Size) / e.length
	meta := map[string]any{
		"feature": key, "dtype": "<" + typ.Code, "shape": []int64{e.length, width}, "rate_hz": rd.in.RateHz,
	}
	if len(shape) > 1 {
		meta["frame_shape"] = shape
	}
	if size := len(strings.Join(channels, "")); channels != nil && size < maxNames {
		meta["channels"] = channels
	}
	return importing.Perception{
		Origin: rd.origin(e, key), Type: cmp.Or(perceptionType(key), "proprioceptive"), MediaType: media.TypeSamples,
		Description: rd.describe(e, fmt.Sprintf("%s, %d samples of %d channels at %.6g Hz", words(key), e.length, width, rd.in.RateHz)),
		Data:        bytes.Clone(samples), Metadata: meta, Context: rd.context, Messages: int(e.length),
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

func (rd *reader) describe(e episode, what string) string {
	robot := ""
	if rd.in.Robot != nil {
		robot = ", " + words(importing.Cut(*rd.in.Robot, maxKey))
	}
	line := fmt.Sprintf("%s, episode %d of %s%s", what, e.index, words(rd.o.Name), robot)
	if rd.task != "" {
		line = strings.TrimRight(rd.task, ".") + ": " + line
	}
	return importing.Cut(line, importing.MaxDescription)
}

// words returns "observation images wrist left" for "observation.images.wrist_left".
func words(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-/", r) }), " ")
}
