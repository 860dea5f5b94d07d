package lerobot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/robotmem/robotmem-go/perception/importers"
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
	// Progress is called after each episode, in frames.
	Progress func(importers.Progress)
}

func (o *Options) wants(episode int64) bool {
	return len(o.Episodes) == 0 ||
		slices.ContainsFunc(o.Episodes, func(r Range) bool { return r.First <= episode && episode <= r.Last })
}

type importer struct {
	ctx    context.Context // of the call of Import
	root   *os.Root
	sink   importers.Sink
	o      Options
	in     *info
	report *importers.Report
	total  int64 // frames wanted
	done   int64 // of them, imported or skipped
	failed error // of the sink or the context; it ends the import
}

// Import stores the dataset in the folder. It fails if the folder is not a dataset in a known
// format or if the sink fails. The report lists damage within the dataset; everything else
// is stored.
func Import(ctx context.Context, folder string, sink importers.Sink, o Options) (*importers.Report, error) {
	full, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}

	o.Name = cmp.Or(o.Name, filepath.Base(full))
	// The root refuses links within the dataset that lead out of it.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}

	defer root.Close()
	im := &importer{ctx: ctx, root: root, sink: sink, o: o, report: new(importers.Report)}
	if im.in, err = readInfo(root); err != nil {
		return nil, err
	}

	episodes, err := im.readEpisodes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", im.in.layout.episodes, err)
	}

	im.checkTotals(episodes)

	for _, f := range im.files(episodes) {
		if im.failed = cmp.Or(im.failed, ctx.Err()); im.failed != nil {
			break
		}
		if err := im.importFile(f); err != nil {
			im.report.Break(f.name, err, f.frames)
		}
	}

	return im.report, im.failed
}

func readInfo(root *os.Root) (*info, error) {
	const name = "meta/info.json"
	data, err := importers.ReadFile(root, name, maxInfo)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing; the folder is not a LeRobot dataset: %w", name, err)
	}

	var in *info
	if err == nil {
		in, err = parseInfo(data)
	}
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
	// A difference is only reported: each episode is checked against its own rows later.
	if n := int64(len(episodes)); n != im.in.Episodes || frames != im.in.Frames {
		im.report.Break("meta/info.json",
			fmt.Errorf("it claims %d episodes of %d frames; %s lists %d of %d", im.in.Episodes, im.in.Frames,
				im.in.layout.episodes, n, frames),
			1)
	}
}

// dataFile is a parquet file with the episodes that the metadata names for it.
type dataFile struct {
	name     string
	episodes map[int64]episode // that were not read yet
	frames   int64             // of wanted episodes
}

// files returns the data files with wanted episodes, in order of their first episode.
func (im *importer) files(episodes []episode) []*dataFile {
	byName := map[string]*dataFile{}

	var out []*dataFile

	for _, e := range episodes {
		name := im.in.layout.dataFile(&e)
		f := byName[name]
		if f == nil {
			f = &dataFile{name: name, episodes: map[int64]episode{}}
			byName[name] = f
			out = append(out, f)
		}
		// Episodes that are not wanted are listed, too, so that their rows are not reported as unknown.
		f.episodes[e.index] = e
		if im.o.wants(e.index) {
			f.frames += e.length
		}
	}

	return slices.DeleteFunc(out, func(f *dataFile) bool { return f.frames == 0 })
}

// importFile imports the episodes of a data file. The rows of an episode follow one another.
func (im *importer) importFile(f *dataFile) error {
	t, file, err := openFile(im.root, f.name)
	if err != nil {
		return err
	}

	defer file.Close()
	rd, err := im.newReader(t, f)
	if err != nil {
		return err
	}

	for g := range t.Metadata().RowGroups {
		err := t.rows(g, rd.fields, rd.row)
		if im.failed != nil {
			return nil
		}
		// Other row groups may be undamaged.
		if err != nil {
			im.report.Break(f.name, fmt.Errorf("row group %d: %w", g, err), 1)
			rd.leaveOut()
		}
	}

	if im.failed = rd.end(); im.failed != nil {
		return nil
	}

	// The reader removes each episode that it begins. Those that remain have no rows in the file.
	for _, index := range slices.Sorted(maps.Keys(f.episodes)) {
		im.disagree(f.episodes[index], f, 0)
	}

	return nil
}

// disagree reports a wanted episode with another number of rows than the metadata claims.
func (im *importer) disagree(e episode, f *dataFile, rows int64) {
	if !im.o.wants(e.index) {
		return
	}
	im.report.Break(fmt.Sprintf("episode %d", e.index),
		fmt.Errorf("%s claims %d consecutive frames; %s has %d", im.in.layout.episodes, e.length, f.name, rows), e.length)
}
