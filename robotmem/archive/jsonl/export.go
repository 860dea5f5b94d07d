package jsonl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Export writes the active facts of a collection, "" for all, as learn requests. The oldest
// is first, so that an import gives ids in the same order. The memory lists the newest
// first: the pages are kept in a temporary file and copied from the last to the first.
// progress is called with the number of facts of each page; it may be nil.
func Export(ctx context.Context, svc robotmem.Service, w io.Writer, collection string, progress func(facts int)) (err error) {
	pages, err := os.CreateTemp("", "robotmem-export-*")
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	// Where the system can remove an open file, a killed process leaves none.
	early := os.Remove(pages.Name())
	defer func() {
		err = errors.Join(err, pages.Close())
		if early != nil {
			err = errors.Join(err, os.Remove(pages.Name()))
		}
	}()
	ends, err := writePages(ctx, svc, pages, collection, progress)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	for i, end := range slices.Backward(ends) {
		start := int64(0)
		if i > 0 {
			start = ends[i-1]
		}
		if _, err := io.Copy(out, io.NewSectionReader(pages, start, end-start)); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	return out.Flush()
}

// writePages writes every page, the oldest fact of the page first, and returns the offset at
// which each page ends. Pages are requested by cursor: a fact that is learnt or forgotten
// meanwhile moves no other fact to another page.
func writePages(ctx context.Context, svc robotmem.Service, w io.Writer, collection string, progress func(facts int)) (ends []int64, err error) {
	req := &robotmem.ListRequest{Limit: listPage, Collection: collection, Type: "fact"}
	for end := int64(0); ; {
		res, err := svc.List(ctx, req)
		if err != nil {
			return nil, err
		}
		var lines []byte
		for _, fact := range slices.Backward(res.Memories) {
			line, err := robotmem.EncodeJSON(learnRequest(&fact))
			if err != nil {
				return nil, err
			}
			lines = append(append(lines, robotmem.VisibleJSON(line)...), '\n')
		}
		if _, err := w.Write(lines); err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		end += int64(len(lines))
		ends = append(ends, end)
		if progress != nil {
			progress(len(res.Memories))
		}
		if req.Cursor = res.Next; req.Cursor == "" {
			return ends, nil
		}
	}
}

// learnRequest is the request that learns a fact again. It names no session: a session
// belongs to one memory.
func learnRequest(m *robotmem.Memory) *robotmem.LearnRequest {
	return &robotmem.LearnRequest{
		Insight: m.Content, Context: m.Context, Collection: m.Collection,
		Tags: m.UserTags, ObservedAt: &m.ObservedAt,
		Pinned: &m.Pinned, Source: m.Source,
	}
}
