package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Set is one data set.
type Set struct {
	Name    string
	Docs    []Item
	Queries []Item
	Judged  map[string]Judged // by query id
}

// Item is a document or a query. Only documents have a title.
type Item struct {
	ID    string         `json:"_id"`
	Title string         `json:"title"`
	Text  string         `json:"text"`
	Meta  map[string]any `json:"meta"`
}

// Load reads the data set in dir.
func Load(dir string) (*Set, error) {
	s := &Set{Name: filepath.Base(filepath.Clean(dir)), Judged: map[string]Judged{}}
	files := os.DirFS(dir)

	var err error
	if s.Docs, err = readItems(files, "corpus.jsonl"); err != nil {
		return nil, err
	}
	if s.Queries, err = readItems(files, "queries.jsonl"); err != nil {
		return nil, err
	}

	qrels := "qrels.tsv"
	if _, err := fs.Stat(files, qrels); errors.Is(err, fs.ErrNotExist) {
		qrels = "qrels/test.tsv"
	}

	first := true
	err = readLines(files, qrels, func(line []byte) error {
		err := s.judge(string(line))
		// The first line may be a header, which cannot be read as a judgement.
		if first {
			err = nil
		}
		first = false

		return err
	})

	return s, err
}

// judge reads one line of qrels: query-id, corpus-id, score.
func (s *Set) judge(line string) error {
	cells := strings.Split(strings.TrimRight(line, "\r"), "\t")
	if len(cells) != 3 {
		return fmt.Errorf("want 3 cells separated by tabs, got %d", len(cells))
	}
	grade, err := strconv.Atoi(strings.TrimSpace(cells[2]))
	if err != nil {
		return fmt.Errorf("the score %q is not a whole number", cells[2])
	}
	if s.Judged[cells[0]] == nil {
		s.Judged[cells[0]] = Judged{}
	}
	s.Judged[cells[0]][cells[1]] = grade

	return nil
}

// readItems reads a JSON object from each line of a file.
func readItems(files fs.FS, path string) (all []Item, err error) {
	err = readLines(files, path, func(line []byte) error {
		var item Item
		dec := json.NewDecoder(bytes.NewReader(line))
		// Numbers in meta keep their spelling.
		dec.UseNumber()
		if err := dec.Decode(&item); err != nil {
			return err
		}
		if item.ID == "" {
			return errors.New("_id is missing")
		}
		all = append(all, item)

		return nil
	})

	return all, err
}

// readLines calls f for each line that is not blank. Its errors name the file and the line.
func readLines(files fs.FS, path string, f func([]byte) error) error {
	file, err := files.Open(path)
	if err != nil {
		return err
	}

	defer func() { _ = file.Close() }()

	// A document is one line, so the default limit of a Scanner is too small.
	const maxLine = 64 << 20

	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)

	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%s line %d: %w", path, n, err)
		}
	}

	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}

	return nil
}

// collectionIn returns the collection that meta names as its "conv", the conversation; "" if it names none.
func collectionIn(meta map[string]any) string {
	v, ok := meta["conv"]
	if !ok || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
