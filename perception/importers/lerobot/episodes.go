package lerobot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importers"
)

const (
	maxTaskBytes = 4 << 10
	maxTasks     = 64      // of an episode
	maxIndex     = 1 << 40 // of frames, files and chunks
)

type episode struct {
	index       int64
	tasks       []string
	length      int64 // frames
	chunk, file int64 // of its data
	from, to    int64 // frames of the dataset
}

// check compares the numbers of an episode with the limits and with each other.
func (e *episode) check() error {
	switch {
	case e.index < 0 || e.index > maxIndex || e.chunk < 0 || e.chunk > maxIndex || e.file < 0 || e.file > maxIndex:
		return fmt.Errorf("index %d, chunk %d or file %d is out of range", e.index, e.chunk, e.file)
	case e.length < 1 || e.length > maxIndex:
		return fmt.Errorf("its length is %d frames", e.length)
	case e.from < 0 || e.to > maxIndex || e.to-e.from != e.length:
		return fmt.Errorf("dataset_from_index %d to dataset_to_index %d are not its %d frames", e.from, e.to, e.length)
	}

	return nil
}

// readEpisodes reads meta/episodes/*/*.parquet, or meta/episodes.jsonl of version 2, in order of the index.
// It leaves out wrong rows and damaged files and reports them.
func (im *importer) readEpisodes() ([]episode, error) {
	seen := map[int64]bool{}

	var out []episode
	add := func(e episode) error {
		err := e.check()
		if err == nil && seen[e.index] {
			err = errors.New("it is listed twice")
		}
		if err != nil {
			im.report.Break(fmt.Sprintf("episode %d", e.index), err, 1)
			return nil
		}
		// Too many episodes are an error of the whole file, while a wrong row is only reported: add returns nil for
		// it.
		if len(out) == maxEpisodes {
			return fmt.Errorf("there are more than %d episodes", maxEpisodes)
		}
		seen[e.index] = true
		out = append(out, e)

		return nil
	}

	if im.in.layout == layoutV2 {
		err := im.episodeLines(add)
		slices.SortFunc(out, func(a, b episode) int { return int(a.index - b.index) })

		return out, err
	}

	folder := im.in.layout.episodes
	names, err := fs.Glob(im.root.FS(), folder+"/*/*.parquet") // in order
	if err == nil && len(names) == 0 {
		err = errors.New(folder + " holds no chunk-000/file-000.parquet")
	}

	for _, name := range names {
		if err := im.episodeTable(name, add); err != nil {
			// The others are read nevertheless.
			im.report.Break(name, err, 1)
		}
	}

	slices.SortFunc(out, func(a, b episode) int { return int(a.index - b.index) })

	return out, err
}

// maxLine bounds a line of meta/episodes.jsonl, in bytes.
const maxLine = 1 << 20

// episodeLines reads meta/episodes.jsonl: {"episode_index": 0, "tasks": ["..."], "length": 250}. A line that cannot be
// read is reported.
func (im *importer) episodeLines(add func(episode) error) error {
	f, _, err := importers.OpenFile(im.root, im.in.layout.episodes)
	if err != nil {
		return err
	}

	defer f.Close()

	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)

	from := int64(0)

	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}

		var one struct {
			Index  *int64   `json:"episode_index"`
			Length int64    `json:"length"`
			Tasks  []string `json:"tasks"`
		}
		err := json.Unmarshal(lines.Bytes(), &one)
		if err == nil && one.Index == nil {
			err = errors.New("it has no episode_index")
		}
		if err != nil {
			im.report.Break(fmt.Sprintf("%s, line %d", im.in.layout.episodes, n), err, 1)
			continue
		}

		e := episode{index: *one.Index, length: one.Length, chunk: *one.Index / im.in.ChunkSize, from: from, to: from + one.Length}
		for _, task := range one.Tasks[:min(len(one.Tasks), maxTasks)] {
			if task = strings.TrimSpace(importers.Cut(task, maxTaskBytes)); task != "" {
				e.tasks = append(e.tasks, task)
			}
		}
		if err := add(e); err != nil {
			return err
		}
		// An absurd length is reported, and must not make the places of the others absurd.
		from += min(max(one.Length, 0), maxIndex/maxEpisodes)
	}

	// The episodes of the lines before are imported nevertheless.
	if err := lines.Err(); err != nil {
		im.report.Break(im.in.layout.episodes, err, 1)
	}

	return nil
}

func (im *importer) episodeTable(name string, add func(episode) error) error {
	t, f, err := openFile(im.root, name)
	if err != nil {
		return err
	}

	defer f.Close()

	var (
		e       episode
		fields  []field
		missing []string
	)
	column := func(name string, set func(parquet.Value) error) {
		// Collect all missing columns first, so that one error names them all.
		if c := t.leaf(name); c != nil {
			fields = append(fields, field{c, set})
			return
		}
		missing = append(missing, name)
	}
	column("episode_index", whole(&e.index))
	column("length", whole(&e.length))
	column("data/chunk_index", whole(&e.chunk))
	column("data/file_index", whole(&e.file))
	column("dataset_from_index", whole(&e.from))
	column("dataset_to_index", whole(&e.to))
	column("tasks", func(v parquet.Value) error {
		if task := text(v); task != "" && len(e.tasks) < maxTasks {
			e.tasks = append(e.tasks, task)
		}
		return nil
	})
	if len(missing) > 0 {
		return fmt.Errorf("the column %.200s is missing", strings.Join(missing, ", "))
	}

	for g := range t.Metadata().RowGroups {
		err := t.rows(g, fields, func() error {
			err := add(e)
			// The numbers are overwritten by each row, the tasks of a list are appended.
			e.tasks = nil
			return err
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// whole returns what puts a whole number into its place.
func whole(into *int64) func(parquet.Value) error {
	return func(v parquet.Value) error {
		switch v.Kind() {
		case parquet.Int64:
			*into = v.Int64()
		case parquet.Int32:
			*into = int64(v.Int32())
		default:
			// Null has a kind of its own.
			return errors.New("has a value that is not a whole number")
		}

		return nil
	}
}

// text returns a copy of a string, "" for other values.
func text(v parquet.Value) string {
	if v.Kind() != parquet.ByteArray {
		return ""
	}
	b := v.ByteArray()
	return strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), maxTaskBytes)]), ""))
}
