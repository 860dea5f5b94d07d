package jsonl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// State is a small JSON file, BASE.import-KEY, that names the batch under way. It is synced
// before the batch is sent. After an interruption everything before Start is stored and
// nothing after End is. A batch is stored whole or not at all, so the memory itself says
// whether it holds the batch between the two.
//
// The key depends on the path, the size and the first bytes of the imported file and on the
// settings of the import. Another file, or one that has changed, begins with its first line.
//
// The name of the file does not prove that the memory is still the one that was imported into:
// a backup may have been restored, or another memory may be there or at the same URL. Last is
// the proof. A memory that has it has all lines before Start, because ids rise.
type State struct {
	path string

	Start  int64     `json:"start"`
	End    int64     `json:"end"`
	Counts Counts    `json:"counts"` // as of Start
	After  int64     `json:"after"`  // the largest memory id before the batch
	Last   *learntID `json:"last,omitempty"`
}

// learntID is the memory with the largest id that holds a line of the file.
type learntID struct {
	MemoryID int64  `json:"memory_id"`
	UID      string `json:"uid"`
}

const (
	headBytes = 64 << 10
	listPage  = 1000
)

// OpenState reads the state of an interrupted import of f, or makes a new one that is not on
// disk yet. The file of the state is beside base, the path of a memory. Imports with different
// settings, such as another collection, have different states.
func OpenState(f *os.File, base, settings string) (*State, error) {
	path, err := filepath.Abs(f.Name())
	if err != nil {
		return nil, err
	}

	info, err := f.Stat()
	if err != nil {
		return nil, err
	}

	// The first bytes stand for the file: hashing all of a large one would take longer than the import.
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n%s\n", path, info.Size(), settings)
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, headBytes)); err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "file", "%v", err)
	}

	place, err := files.Resolve(base)
	if err != nil {
		return nil, err
	}

	s := &State{path: place.ImportState(hex.EncodeToString(h.Sum(nil)[:8]))}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}

	if err := json.Unmarshal(data, s); err != nil || s.Start < 0 || s.Start > s.End || s.End > info.Size() {
		return nil, robotmem.Errorf(robotmem.Invalid, "file", "%s, the state of an interrupted import, "+
			"cannot be read; remove it to import from the first line again", s.path)
	}

	return s, nil
}

// resume decides where an import goes on, and returns that as a text, "" for an import that begins. A memory that
// does not hold the lines before Start gets them again. With keepDuplicates it may hold a part of them, which would
// then be stored twice, so the import is refused with Conflict.
func (s *State) resume(ctx context.Context, svc robotmem.Service, keepDuplicates bool) (note string, err error) {
	if s.Start == 0 {
		return "", nil
	}

	held, err := s.held(ctx, svc)
	switch {
	case err != nil:
		return "", fmt.Errorf("looking for the lines that an interrupted import stored: %w", err)
	case held:
		return fmt.Sprintf("going on after line %d", s.Counts.Lines), nil
	case keepDuplicates:
		return "", robotmem.Errorf(robotmem.Conflict, "file", "the memory no longer holds the %d lines that an "+
			"interrupted import stored; remove %s to import from the first line again", s.Counts.Lines, s.path)
	}

	note = fmt.Sprintf("the memory no longer holds the %d lines that an interrupted import stored; "+
		"beginning with the first line", s.Counts.Lines)
	*s = State{path: s.path}

	return note, nil
}

// held reports whether the memory holds what the import has stored in it.
func (s *State) held(ctx context.Context, svc robotmem.Service) (bool, error) {
	// No line was stored, or an earlier version wrote the state.
	if s.Last == nil {
		return true, nil
	}

	m, err := svc.Get(ctx, &robotmem.MemoryRequest{MemoryID: s.Last.MemoryID})
	if errors.Is(err, robotmem.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}

	return m.UID == s.Last.UID, nil
}

// learnt notes the memory of a line.
func (s *State) learnt(r *robotmem.LearnResponse) {
	if s.Last == nil || r.MemoryID > s.Last.MemoryID {
		s.Last = &learntID{r.MemoryID, r.UID}
	}
}

// begin records the batch that is about to be sent.
func (s *State) begin(ctx context.Context, svc robotmem.Service, b *batch, counts Counts, keepDuplicates bool) error {
	s.Start, s.End, s.Counts = b.start, b.end, counts
	if keepDuplicates {
		newest, err := svc.List(ctx, &robotmem.ListRequest{Limit: 1, Status: "all"})
		if err != nil {
			return err
		}
		if s.After = 0; len(newest.Memories) > 0 {
			s.After = newest.Memories[0].MemoryID
		}
	}

	return s.save()
}

// stored counts the lines of the batch under way that the memory holds.
func (s *State) stored(ctx context.Context, svc robotmem.Service, b *batch) (n int64, err error) {
	texts := map[string]bool{}

	for _, line := range b.items {
		var item robotmem.LearnRequest
		if json.Unmarshal(line, &item) == nil {
			texts[strings.TrimSpace(item.Insight)] = true
		}
	}

	// The newest memories come first, so the loop ends at the last one from before the batch.
	for cursor := ""; ; {
		res, err := svc.List(ctx, &robotmem.ListRequest{Cursor: cursor, Limit: listPage, Status: "all", Type: "fact"})
		if err != nil {
			return 0, err
		}

		for _, known := range res.Memories {
			if known.MemoryID <= s.After {
				return n, nil
			}
			if texts[known.Content] {
				n++
			}
		}
		if cursor = res.Next; cursor == "" {
			return n, nil
		}
	}
}

// save replaces the state on disk and syncs it.
func (s *State) save() error {
	data, _ := json.Marshal(s) // of whole numbers
	f, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}

	return nil
}

// Remove deletes the file of the state. Call it when the import has ended and its counts were
// reported: until then the state keeps a repeated import from storing lines twice.
func (s *State) Remove() error {
	if err := os.Remove(s.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
