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
	pages, lasts, err := listPages(ctx, svc, collection)
	if err != nil {
		return err
	}

	out := bufio.NewWriterSize(w, 1<<20)
	written := int64(0) // the largest id

	for i, page := range slices.Backward(pages) {
		var facts []robotmem.Memory

		for more := true; more; {
			res, err := svc.List(ctx, &page)
			if err != nil {
				return err
			}
			facts = append(facts, res.Memories...)
			// A page is longer if a fact was restored meanwhile.
			more = res.Next != "" && len(facts) > 0 && facts[len(facts)-1].MemoryID > lasts[i]
			page = robotmem.ListRequest{Limit: listPage, Collection: collection, Type: "fact", Cursor: res.Next}
		}

		for _, fact := range slices.Backward(facts) {
			// A page reaches into the next one if a fact was forgotten meanwhile.
			if fact.MemoryID <= written {
				continue
			}
			written = fact.MemoryID

			// The id of the session is left out, because another memory does not have that session.
			line, err := robotmem.EncodeJSON(&robotmem.LearnRequest{
				Insight:    fact.Content,
				Context:    fact.Context,
				Collection: fact.Collection,
				Tags:       fact.UserTags,
				ObservedAt: &fact.ObservedAt,
				Pinned:     &fact.Pinned,
				Source:     fact.Source,
				Outcome:    statedOutcome(&fact),
			})
			if err != nil {
				return err
			}
			if _, err := out.Write(append(robotmem.VisibleJSON(line), '\n')); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		if progress != nil {
			progress(len(facts))
		}
	}

	return out.Flush()
}

// statedOutcome returns the outcome that the caller stated. Any other is read again from the fact.
func statedOutcome(m *robotmem.Memory) string {
	if m.OutcomeSource != "caller" {
		return ""
	}
	return m.Outcome
}

// listPages returns the requests of all pages, the newest facts first, and the id of the last fact of
// each. Facts that are learnt meanwhile are in none of them.
func listPages(
	ctx context.Context, svc robotmem.Service, collection string,
) (pages []robotmem.ListRequest, lasts []int64, err error) {
	page := robotmem.ListRequest{Limit: 1, Collection: collection, Type: "fact"}
	res, err := svc.List(ctx, &page)
	if err != nil {
		return nil, nil, err
	}

	page = robotmem.ListRequest{Limit: listPage, Collection: collection, Type: "fact"}
	if len(res.Memories) > 0 {
		page.BeforeID = res.Memories[0].MemoryID + 1
	}

	last := page.BeforeID
	for {
		res, err := svc.List(ctx, &page)
		// A page of unreadable facts alone is empty.
		if err == nil && len(res.Memories) > 0 {
			last = res.Memories[len(res.Memories)-1].MemoryID
		}
		pages, lasts = append(pages, page), append(lasts, last)
		if err != nil || res.Next == "" {
			return pages, lasts, err
		}
		page = robotmem.ListRequest{Limit: listPage, Collection: collection, Type: "fact", Cursor: res.Next}
	}
}
