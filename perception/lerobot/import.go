package lerobot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importing"
)

// Range is the episodes from First to Last, inclusive.
type Range struct{ First, Last int64 }

// Options chooses what of a dataset is imported. The zero value works.
type Options struct {
	// Name is the name of the dataset. It is part of every origin: the same name means
	// the same dataset. "" is the name of the folder.
	Name string
	// Episodes chooses episodes; empty means all.
	Episodes []Range
	// ImageRate is how many images per second are stored of a camera whose images are in the data
	// files, besides the first and the last of an episode. 0 is 1; less than 0 stores none.
	ImageRate float64
	// Progress is called after each episode, in frames.
	Progress func(importing.Progress)
}

func (o *Options) wants(episode int64) bool {
	return len(o.Episodes) == 0 || slices.ContainsFunc(o.Episodes, func(r Range) bool { return r.First <= episode && episode <= r.Last })
}

type importer struct {
	ctx    context.Context // of the call of Import
	root   *os.Root
	sink   importing.Sink
	o      Options
	in     *info
	tasks  map[int64]string
	report *importing.Report
	total  int64 // frames wanted
	done   int64 // of them, imported or skipped
	failed error // of the sink or the context; it ends the import
}

// Import stores the dataset in the folder. It fails if the folder is not a dataset in a known
// format or if the sink fails. The report lists damage within the dataset; everything else
// is stored.
func Import(ctx context.Context, folder string, sink importing.Sink, o Options) (*importing.Report, error) {
	root, err := importing.OpenFolder(folder, &o.Name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	im := &importer{ctx: ctx, root: root, sink: sink, o: o, report: new(importing.Report)}
	if im.in, err = readInfo(root); err != nil {
		return nil, err
	}
	if im.tasks, err = readTasks(root); err != nil {
		im.report.Break("meta/tasks", err, 1)
	}
	episodes, err := readEpisodes(root, im.in, func(what string, err error) { im.report.Break(what, err, 1) })
	if err != nil {
		return nil, fmt.Errorf("meta/episodes: %w", err)
	}
	im.checkTotals(episodes)
	for _, f := range im.files(episodes) {
		if im.failed = ctx.Err(); im.failed == nil {
			im.importFile(f)
		}
		if im.failed != nil {
			return im.report, im.failed
		}
	}
	return im.report, nil
}

func readInfo(root *os.Root) (*info, error) {
	const name = "meta/info.json"
	data, err := importing.ReadFile(root, name, maxInfo)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing; the folder is not a LeRobot dataset: %w", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in, err := parseInfo(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return in, nil
}

func (im *importer) checkTotals(episodes []episode) {
	frames := int64(0)
	for _, e := range episodes {
		frames += e.length
		if im.o.wants(e.index) {
			im.total += e.length
		}
	}
	if n := int64(len(episodes)); n != im.in.Episodes || frames != im.in.Frames {
		im.report.Break("meta/info.json", fmt.Errorf("it claims %d episodes of %d frames; meta/episodes lists %d of %d", im.in.Episodes, im.in.Frames, n, frames), 1)
	}
}

// dataFile is a parquet file with the episodes that the metadata names for it.
type dataFile struct {
	name     string
	episodes map[int64]episode
	wanted   bool
}

// files returns the data files with wanted episodes, in order of their first episode.
func (im *importer) files(episodes []episode) []*dataFile {
	byName := map[string]*dataFile{}
	var out []*dataFile
	for _, e := range episodes {
		name := im.in.dataFile(e)
		f := byName[name]
		if f == nil {
			f = &dataFile{name: name, episodes: map[int64]episode{}}
			byName[name] = f
			out = append(out, f)
		}
		f.episodes[e.index] = e
		f.wanted = f.wanted || im.o.wants(e.index)
	}
	return slices.DeleteFunc(out, func(f *dataFile) bool { return !f.wanted })
}

// span is the rows of an episode in a data file.
type span struct {
	episode     episode
	first, rows int64
}

// importFile reads a data file twice: first the column of episode indexes, to find the
// episodes that agree with the metadata, then the rows of those.
func (im *importer) importFile(f *dataFile) {
	lost := int64(0)
	for _, e := range f.episodes {
		if im.o.wants(e.index) {
			lost += e.length
		}
	}
	t, file, err := openFile(im.root, f.name)
	if err != nil {
		im.report.Break(f.name, err, lost)
		return
	}
	defer file.Close()
	runs, err := scanRuns(t)
	if err != nil {
		im.report.Break(f.name, err, lost)
		return
	}
	im.importSpans(t, f.name, im.spans(f, runs))
}

type run struct{ episode, first, rows int64 }

func scanRuns(t table) ([]run, error) {
	column := t.leaf("episode_index")
	if column == nil {
		return nil, errors.New("there is no column episode_index")
	}
	var runs []run
	row, index := int64(0), int64(0)
	err := t.all([]*parquet.Column{column}, func(_ int, v parquet.Value) (err error) {
		index, err = integer(v)
		return err
	}, func() error {
		if n := len(runs); n == 0 || runs[n-1].episode != index {
			if n == maxEpisodes {
				return fmt.Errorf("there are more than %d episodes", maxEpisodes)
			}
			runs = append(runs, run{index, row, 0})
		}
		runs[len(runs)-1].rows++
		row++
		return nil
	})
	return runs, err
}

// spans returns the wanted episodes that agree with the metadata, in order of their rows. It
// reports the others.
func (im *importer) spans(f *dataFile, runs []run) []span {
	found, rows := map[int64]int{}, map[int64]int64{}
	for _, r := range runs {
		found[r.episode]++
		rows[r.episode] += r.rows
		if _, listed := f.episodes[r.episode]; !listed {
			im.report.Skip(f.name, "frames of an episode that meta/episodes does not list for this file", r.rows)
		}
	}
	for _, index := range slices.Sorted(maps.Keys(f.episodes)) {
		e := f.episodes[index]
		if im.o.wants(index) && (found[index] != 1 || rows[index] != e.length) {
			im.report.Break(fmt.Sprintf("episode %d", index), fmt.Errorf("meta/episodes claims %d frames in one piece; %s has %d in %d", e.length, f.name, rows[index], found[index]), e.length)
		}
	}
	var out []span
	for _, r := range runs {
		e, listed := f.episodes[r.episode]
		if listed && im.o.wants(r.episode) && found[r.episode] == 1 && r.rows == e.length {
			out = append(out, span{e, r.first, r.rows})
		}
	}
	return out
}

// importSpans reads the row groups that hold the spans.
func (im *importer) importSpans(t table, name string, spans []span) {
	rd := im.newReader(t, name)
	row := int64(0)
	// pending drops the spans before the row and reports whether there are more.
	pending := func() bool {
		for len(spans) > 0 && spans[0].first+spans[0].rows <= row {
			spans = spans[1:]
		}
		return len(spans) > 0
	}
	for g := range t.Metadata().RowGroups {
		end := row + t.Metadata().RowGroups[g].NumRows
		if !pending() {
			return
		}
		if spans[0].first >= end {
			row = end
			continue
		}
		err := t.rows(g, rd.leaves, rd.value, func() error {
			wanted, at := pending() && spans[0].first <= row, row
			row++
			if !wanted {
				rd.clear()
				return nil
			}
			return rd.frame(spans[0], at-spans[0].first)
		})
		if im.failed != nil {
			return
		}
		if err != nil {
			// Other row groups may be undamaged.
			lost := int64(0)
			for len(spans) > 0 && spans[0].first < end {
				lost += spans[0].rows
				spans = spans[1:]
			}
			im.report.Break(name, fmt.Errorf("row group %d: %w", g, err), lost)
			rd.clear()
		}
		row = end
	}
}

func (im *importer) origin(parts ...string) string {
	return importing.Origin("lerobot/" + im.o.Name + "/" + strings.Join(parts, "/"))
}
