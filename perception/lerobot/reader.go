package lerobot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importing"
)

const (
	maxTrace   = 64 << 20 // bytes of one trace
	maxPicture = 64 << 20
	// maxWaiting bounds the pictures that are held before they are saved.
	maxWaiting = 16 << 20
)

// bookkeeping are the columns that every dataset has and that place a frame.
var bookkeeping = map[string]bool{"timestamp": true, "frame_index": true, "episode_index": true, "index": true, "task_index": true}

// track is a feature that is read from the data files.
type track struct {
	key     string
	feature feature
	picture bool
	wide    bool      // float64 samples, else float32
	now     []float64 // the frame being read
	pixels  []byte    // likewise, of a picture: valid until the next frame
	samples []byte    // little-endian, of the episode so far
	over    bool      // samples would be more than maxTrace
}

// reader turns rows into the perceptions of one episode after another.
type reader struct {
	im      *importer
	tracks  []*track
	leaves  []*parquet.Column // of tracks, and the last of taskOf if there is one
	task    int64
	hasTask bool

	session string
	known   bool // the episode was imported before
	context map[string]any
	said    string // the task in words
	waiting []importing.Perception
	held    int // bytes in waiting
}

func (im *importer) newReader(t *table, file string) *reader {
	rd := &reader{im: im}
	for _, key := range im.in.sortedKeys {
		f := im.in.Features[key]
		wide, numeric := f.isNumeric()
		tr := &track{key: key, feature: f, wide: wide}
		var leaf *parquet.Column
		switch {
		case f.Type == "video" || bookkeeping[key]:
			continue
		case f.Type == "image":
			tr.picture, leaf = true, t.leaf(key, "bytes")
		case numeric:
			leaf = t.leaf(key)
		default:
			im.report.Skip(key, fmt.Sprintf("the type %.40s is not read", f.Type), 1)
			continue
		}
		if leaf == nil {
			im.report.Skip(key, "there is no such column in "+file, 1)
			continue
		}
		rd.tracks, rd.leaves = append(rd.tracks, tr), append(rd.leaves, leaf)
	}
	if leaf := t.leaf("task_index"); leaf != nil {
		rd.leaves, rd.hasTask = append(rd.leaves, leaf), true
	}
	return rd
}

// value takes one value of the frame being read.
func (rd *reader) value(column int, v parquet.Value) (err error) {
	if column == len(rd.tracks) {
		rd.task, err = integer(v)
		return err
	}
	tr := rd.tracks[column]
	if tr.picture {
		if !v.IsNull() {
			tr.pixels = v.ByteArray()
		}
		return nil
	}
	if len(tr.now) == tr.feature.width {
		return fmt.Errorf("a frame has more than the %d numbers that meta/info.json claims", tr.feature.width)
	}
	n, ok := reading(v)
	if !ok {
		n = math.NaN()
	}
	tr.now = append(tr.now, n)
	return nil
}

func (rd *reader) clear() {
	for _, tr := range rd.tracks {
		tr.now, tr.pixels = tr.now[:0], nil
	}
}

// frame takes over the frame whose values were read: the i-th of the episode.
func (rd *reader) frame(s span, i int64) error {
	defer rd.clear()
	if i == 0 {
		if err := rd.begin(s.episode); err != nil {
			return err
		}
	}
	if !rd.known {
		for _, tr := range rd.tracks {
			if err := rd.take(tr, s, i); err != nil {
				return err
			}
		}
	}
	if i == s.rows-1 {
		return rd.end(s)
	}
	return nil
}

func (rd *reader) take(tr *track, s span, i int64) error {
	if tr.picture {
		return rd.picture(tr, s, i)
	}
	if len(tr.now) != tr.feature.width {
		return fmt.Errorf("column %s: frame %d of episode %d has %d numbers; meta/info.json claims %d", tr.key, i, s.episode.index, len(tr.now), tr.feature.width)
	}
	size := 4
	if tr.wide {
		size = 8
	}
	if tr.over = tr.over || len(tr.samples)+size*len(tr.now) > maxTrace; tr.over {
		return nil
	}
	for _, n := range tr.now {
		if tr.wide {
			tr.samples = binary.LittleEndian.AppendUint64(tr.samples, math.Float64bits(n))
		} else {
			tr.samples = binary.LittleEndian.AppendUint32(tr.samples, math.Float32bits(float32(n)))
		}
	}
	return nil
}

// begin starts the session of an episode. The sink's errors end the import.
func (rd *reader) begin(e episode) error {
	im := rd.im
	if im.failed = im.ctx.Err(); im.failed != nil {
		return im.failed
	}
	rd.said = strings.Join(e.tasks, "; ")
	if rd.said == "" && rd.hasTask {
		rd.said = im.tasks[rd.task]
	}
	rd.said = importing.Cut(rd.said, maxTaskBytes)
	rd.context = map[string]any{"env": map[string]any{"dataset": im.o.Name, "episode_index": e.index}}
	if rd.said != "" {
		rd.context["task"] = map[string]any{"description": rd.said}
	}
	if im.in.Robot != nil {
		rd.context["robot"] = map[string]any{"type": importing.Cut(*im.in.Robot, maxKey)}
	}
	for _, tr := range rd.tracks {
		tr.samples, tr.over = tr.samples[:0], false
	}
	rd.waiting, rd.held, rd.known = nil, 0, false
	id, err := im.sink.Start(im.ctx, importing.Session{Origin: rd.origin(e), Context: rd.context})
	if rd.known = errors.Is(err, importing.ErrEnded); rd.known {
		im.report.Ended++
		im.report.Skip(fmt.Sprintf("episode %d", e.index), "imported before", e.length)
		return nil
	}
	rd.session, im.failed = id, err
	return err
}

func (rd *reader) origin(e episode, parts ...string) string {
	return rd.im.origin(append([]string{fmt.Sprintf("episode/%06d", e.index)}, parts...)...)
}

// keeps tells whether the picture of frame i of n is one to keep.
func (rd *reader) keeps(i, n int64) bool {
	rate := rd.im.o.ImageRate
	if rate < 0 {
		return false
	}
	if rate == 0 {
		rate = 1
	}
	every := max(1, math.Round(rd.im.in.RateHz/rate))
	return i == n-1 || math.Mod(float64(i), every) == 0
}

func (rd *reader) picture(tr *track, s span, i int64) error {
	e, im := s.episode, rd.im
	switch {
	case !rd.keeps(i, s.rows):
		return nil
	case len(tr.pixels) == 0:
		im.report.Skip(tr.key, "the picture is not in the data file", 1)
		return nil
	case len(tr.pixels) > maxPicture:
		im.report.Skip(tr.key, fmt.Sprintf("the picture has more than %d bytes", maxPicture), 1)
		return nil
	}
	seconds := float64(i) / im.in.RateHz
	rd.waiting = append(rd.waiting, importing.Perception{
		Origin: rd.origin(e, tr.key, fmt.Sprintf("%06d", i)), Type: "visual",
		Description: rd.describe(e, fmt.Sprintf("%s at %.6g s", words(tr.key), seconds)),
		Data:        bytes.Clone(tr.pixels), Context: rd.context, Messages: 1,
		Metadata: map[string]any{"feature": tr.key, "frame_index": i, "timestamp_s": seconds},
	})
	if rd.held += len(tr.pixels); rd.held > maxWaiting {
		return rd.flush()
	}
	return nil
}

func (rd *reader) flush() error {
	im := rd.im
	im.failed = im.report.Save(im.ctx, im.sink, rd.session, rd.waiting...)
	rd.waiting, rd.held = nil, 0
	return im.failed
}

// end saves the traces of an episode and closes its session.
func (rd *reader) end(s span) error {
	im := rd.im
	im.done += s.rows
	if !rd.known {
		traces, err := rd.traces(s)
		if err != nil {
			return err
		}
		rd.waiting = append(rd.waiting, traces...)
		if err := rd.flush(); err != nil {
			return err
		}
		if im.failed = im.sink.End(im.ctx, rd.session, rd.outcome()); im.failed != nil {
			return im.failed
		}
		im.report.Sessions++
		im.report.Messages += s.rows
	}
	if im.o.Progress != nil {
		im.o.Progress(importing.Progress{Done: im.done, Total: im.total, What: fmt.Sprintf("episode %d", s.episode.index)})
	}
	return nil
}
