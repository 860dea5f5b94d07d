package jsonl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Export writes the active facts of a collection, "" for all, as learn requests. The oldest
// is first, so that an import gives ids in the same order. The memory lists the newest
// first: the pages are listed twice, and the second time from the last to the first.
// progress is called with the number of facts of each page; it may be nil.
func Export(ctx context.Context, svc robotmem.Service, w io.Writer, collection string, progress func(facts int)) error {
	pages, err := listPages(ctx, svc, collection)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	written := int64(0) // the largest id
	for _, page := range slices.Backward(pages) {
		res, err := svc.List(ctx, &page)
		if err != nil {
			return err
		}
		for _, fact := range slices.Backward(res.Memories) {
			if fact.MemoryID <= written { // a page reaches into the next one if a fact was forgotten meanwhile
				continue
			}
			written = fact.MemoryID
			line, err := robotmem.EncodeJSON(&robotmem.LearnRequest{ // without a session, which belongs to one memory
				Insight: fact.Content, Context: fact.Context, Collection: fact.Collection,
				Tags: fact.UserTags, ObservedAt: &fact.ObservedAt,
				Pinned: &fact.Pinned, Source: fact.Source,
			})
			if err != nil {
				return err
			}
			if _, err := out.Write(append(robotmem.VisibleJSON(line), '\n')); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		if progress != nil {
			progress(len(res.Memories))
		}
	}
	return out.Flush()
}

// listPages returns the requests of all pages, the newest facts first. Facts that are learnt
// meanwhile are in none of them.
func listPages(ctx context.Context, svc robotmem.Service, collection string) ([]robotmem.ListRequest, error) {
	page := robotmem.ListRequest{Limit: 1, Collection: collection, Type: "fact"}
	res, err := svc.List(ctx, &page)
	if err != nil {
		return nil, err
	}
	page = robotmem.ListRequest{Limit: listPage, Collection: collection, Type: "fact"}
	if len(res.Memories) > 0 {
		page.BeforeID = res.Memories[0].MemoryID + 1
	}
	var pages []robotmem.ListRequest
	for {
		pages = append(pages, page)
		res, err := svc.List(ctx, &page)
		if err != nil || res.Next == "" {
			return pages, err
		}
		page = robotmem.ListRequest{Limit: listPage, Collection: collection, Type: "fact", Cursor: res.Next}
	}
}
