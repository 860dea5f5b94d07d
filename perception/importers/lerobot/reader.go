package lerobot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	maxTrace  = 64 << 20  // bytes of one trace
	maxTraces = 512 << 20 // bytes of all traces of an episode together
)

// indexColumns are the columns of every dataset that say which frame a row is.
var indexColumns = map[string]bool{
	"timestamp": true, "frame_index": true, "episode_index": true, "index": true, "task_index": true,
}

// column is a feature that is read from the data files.
type column struct {
	key     string
	feature feature
	values  []float64 // of the current frame
	samples []float64 // of the episode so far
}

// reader turns rows into the perceptions of one episode after another.
type reader struct {
	*importer
	file    *dataFile
	columns []*column
	fields  []field // of columns, and that of index
	index   int64   // of the episode of the current row

	current episode
	listed  bool  // in the metadata, for this file
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

	// The buffer of a column grows to its longest episode and is reused, so the longest one decides about the
	// memory.
	longest := int64(0) // frames
	for _, e := range file.episodes {
		longest = max(longest, e.length)
	}

	left := int64(maxTraces)

	for _, key := range im.in.sortedKeys {
		f := im.in.Features[key]
		c := &column{key: key, feature: f}

		leaf := t.leaf(key)
		switch {
		case f.isCamera() || indexColumns[key]:
		case !numericTypes[f.Type]:
			im.report.Skip(key, fmt.Sprintf("the type %.40s is not read", f.Type), 1)
		case leaf == nil:
			im.report.Skip(key, "the column is missing in "+file.name, 1)
		case 8*longest*int64(f.width) > maxTrace:
			im.report.Skip(key, fmt.Sprintf("an episode of %s has a trace of more than %d bytes", file.name, maxTrace),
				1)
		case 8*longest*int64(f.width) > left:
			im.report.Skip(key,
				fmt.Sprintf("the traces of an episode of %s take more than %d bytes together", file.name, maxTraces), 1)
		default:
			left -= 8 * longest * int64(f.width)
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
	// The rows of an episode are adjacent: another index ends it. After damage rows is 0, and the index begins
	// again.
	if rd.rows == 0 || rd.current.index != rd.index {
		if rd.failed = cmp.Or(rd.ctx.Err(), rd.end()); rd.failed != nil {
			return rd.failed
		}
		rd.begin()
	}
	if rd.listed && rd.o.wants(rd.index) && rd.rows < rd.current.length {
		for _, c := range rd.columns {
			if len(c.values) != c.feature.width {
				return fmt.Errorf("column %s: frame %d of episode %d has %d numbers; meta/info.json claims %d", c.key,
					rd.rows, rd.index, len(c.values), c.feature.width)
			}
			c.samples = append(c.samples, c.values...)
		}
	}
	rd.rows++

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
	// Rows of the episode that appear again later are then not listed, and are reported.
	delete(rd.file.episodes, rd.index)
	rd.current.index = rd.index
	rd.task = importers.Cut(strings.Join(rd.current.tasks, "; "), maxTaskBytes)
	rd.context = map[string]any{"env": map[string]any{"dataset": rd.o.Name, "episode_index": rd.index}}
	if rd.task != "" {
		rd.context["task"] = map[string]any{"description": rd.task}
	}
	if rd.in.Robot != nil {
		rd.context["robot"] = map[string]any{"type": importers.Cut(*rd.in.Robot, maxKey)}
	}

	for _, c := range rd.columns {
		c.samples = c.samples[:0]
	}
}

// origin returns the origin of an episode, or with a part that of a trace.
func (rd *reader) origin(e episode, part string) string {
	return importers.Origin(fmt.Sprintf("lerobot/%s/episode/%06d%s", rd.o.Name, e.index, part))
}

// end saves the episode, unless it does not agree with the metadata.
func (rd *reader) end() error {
	e, rows := rd.current, rd.rows

	// Reset before the checks, since the next row must begin an episode whatever they find.
	rd.rows = 0
	switch {
	case rows == 0: // there was none
		return nil
	case !rd.listed:
		rd.report.Skip(rd.file.name, "frames of an episode that "+rd.in.layout.episodes+" does not list for this file", rows)
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
		rd.o.Progress(importers.Progress{Done: rd.done, Total: rd.total})
	}

	return nil
}

// save stores an episode as a session.
func (rd *reader) save(e episode) error {
	session, err := rd.sink.Start(rd.ctx, importers.Session{Origin: rd.origin(e, ""), Context: rd.context})
	if errors.Is(err, importers.ErrEnded) {
		rd.report.Ended++
		rd.report.Skip(fmt.Sprintf("episode %d", e.index), "imported before", e.length)
		return nil
	}

	if err != nil {
		return err
	}

	var traces []importers.Perception
	for _, c := range rd.columns {
		traces = append(traces, rd.trace(e, c))
	}

	stored, err := rd.sink.Save(rd.ctx, session, traces)
	if err == nil {
		// An ended session is never imported again, so it ends only after all traces are stored.
		err = rd.sink.End(rd.ctx, session, importers.Ending{Outcome: rd.outcome()})
	}
	if err != nil {
		return err
	}

	rd.report.Perceptions += len(traces)
	rd.report.Stored += stored
	rd.report.Sessions++
	rd.report.Messages += e.length

	return nil
}

const maxNames = 16 << 10 // bytes of channel names in the metadata

func (rd *reader) trace(e episode, c *column) importers.Perception {
	data, _ := binary.Append(nil, binary.LittleEndian, c.samples) // numbers have a fixed size
	meta := map[string]any{
		"feature": c.key, "dtype": "<f8", "shape": []int64{e.length, int64(c.feature.width)}, "rate_hz": rd.in.RateHz,
	}
	channels := c.feature.channels()
	// The names of 65,536 numbers would exceed the limit of the metadata. The trace is of use without them.
	if size := len(strings.Join(channels, "")); channels != nil && size < maxNames {
		meta["channels"] = channels
	}

	return importers.Perception{
		Origin: rd.origin(e, "/"+c.key), Type: perceptionType(c.key), MediaType: media.TypeSamples,
		Description: rd.describe(e,
			fmt.Sprintf("%s, %d samples of %s at %.6g Hz", words(c.key), e.length,
				media.Plural(int64(c.feature.width), "channel"), rd.in.RateHz)),
		Data: data, Metadata: meta, Context: rd.context, Messages: int(e.length),
	}
}

// perceptionType returns the type by the name of the feature.
func perceptionType(key string) string {
	lower := strings.ToLower(key)

	contains := func(word string) bool { return strings.Contains(lower, word) }
	switch {
	case slices.ContainsFunc([]string{"force", "torque", "wrench", "tactile", "touch"}, contains):
		return "tactile"
	case lower == "action" || strings.HasPrefix(lower, "action."):
		return "procedural"
	}

	return "proprioceptive"
}

// outcome returns nil if it is unknown: see the package documentation.
func (rd *reader) outcome() *float64 {
	var success, reward *float64

	for _, c := range rd.columns {
		if c.feature.width != 1 || len(c.samples) == 0 {
			continue
		}

		switch c.key {
		case "next.success":
			// Success in any frame counts, but of the rewards only that of the last frame.
			success = new(0.0)
			if slices.Contains(c.samples, 1) {
				*success = 1
			}
		case "next.reward":
			if last := c.samples[len(c.samples)-1]; last >= 0 && last <= 1 {
				reward = &last
			}
		}
	}

	return cmp.Or(success, reward)
}

func (rd *reader) describe(e episode, what string) string {
	robot := ""
	if rd.in.Robot != nil {
		robot = ", " + words(importers.Cut(*rd.in.Robot, maxKey))
	}
	line := fmt.Sprintf("%s, episode %d of %s%s", what, e.index, words(rd.o.Name), robot)
	if rd.task != "" {
		line = strings.TrimRight(rd.task, ".") + ": " + line
	}

	return importers.Cut(line, importers.MaxDescription)
}

// words returns "observation images wrist left" for "observation.images.wrist_left".
func words(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-/", r) }), " ")
}
