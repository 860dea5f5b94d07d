package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// importState is a small JSON file beside the memory, <db>.import-<key>, that
// names the batch under way. It is synced before the batch is sent and removed
// at the end. After an interruption the file says that everything before Start
// is stored and nothing after End is; whether the batch between is, the memory
// is asked (stored), because a batch is stored whole or not at all.
//
// The key is made of the path, the size and the first bytes of the imported
// file, so that another file, or one that has changed, starts anew.
type importState struct {
	path string
	keep bool

	Start  int64        `json:"start"`
	End    int64        `json:"end"`
	Counts importCounts `json:"counts"` // as of Start
	After  int64        `json:"after"`  // the largest memory id before the batch
}

const (
	headBytes = 64 << 10
	listPage  = 1000
)

// openImportState reads the state of an interrupted import of f, or makes a
// new one that is not on disk yet.
func (a *app) openImportState(f *os.File, keep bool) (*importState, error) {
	path, err := filepath.Abs(f.Name())
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n%t\n%s\n%s\n", path, info.Size(), keep, a.Config.Collection, a.Config.URL)
	if _, err := io.Copy(h, io.LimitReader(f, headBytes)); err != nil {
		return nil, invalid("file", "%v", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	base := filepath.Join(a.Config.Home, "node") // of a node elsewhere
	if a.Config.URL == "" {
		if base, err = a.Config.dbPath(); err != nil {
			return nil, err
		}
	}
	s := &importState{path: fmt.Sprintf("%s.import-%x", base, h.Sum(nil)[:8]), keep: keep}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, s); err != nil || s.Start < 0 || s.Start > s.End || s.End > info.Size() {
		return nil, invalid("file", "%s, which says how far this import has come, cannot be read; remove it to import from the first line again", s.path)
	}
	return s, nil
}

// begin records the batch that is about to be sent.
func (s *importState) begin(ctx context.Context, m robotmem.Service, b *importBatch, counts importCounts) error {
	s.Start, s.End, s.Counts = b.start, b.end, counts
	if s.keep {
		newest, err := m.List(ctx, &robotmem.ListRequest{Limit: 1, Status: "all"})
		if err != nil {
			return err
		}
		if s.After = 0; len(newest.Memories) > 0 {
			s.After = newest.Memories[0].MemoryID
		}
	}
	return s.save()
}

// done moves past a batch that was answered.
func (s *importState) done(b *importBatch, counts importCounts) {
	s.Start, s.End, s.Counts = b.end, b.end, counts
}

// stored counts the lines of the batch under way that the memory holds. Without
// keep none need be: what is known is recognised when it is sent again.
func (s *importState) stored(ctx context.Context, m robotmem.Service, b *importBatch) (n int64, err error) {
	if !s.keep || s.Start == s.End {
		return 0, nil
	}
	texts := map[string]bool{}
	for _, line := range b.items {
		var item robotmem.LearnRequest
		if json.Unmarshal(line, &item) == nil {
			texts[strings.TrimSpace(item.Insight)] = true
		}
	}
	for page := 1; ; page++ {
		res, err := m.List(ctx, &robotmem.ListRequest{Page: page, Limit: listPage, Status: "all", Type: "fact"})
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
		if len(res.Memories) < listPage {
			return n, nil
		}
	}
}

// save replaces the state on disk and waits until it is there.
func (s *importState) save() error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
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

func (s *importState) remove() error {
	err := os.Remove(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
