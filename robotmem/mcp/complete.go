package mcp

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

const (
	// maxCompletions is the limit of the protocol.
	maxCompletions = 100
	// completionPage is how many memories or episodes one query reads, and
	// maxCompletionPages how many queries a completion may take.
	completionPage     = 1000
	maxCompletionPages = 10
)

// completer completes arguments from the contents of the memory. It implements
// both of the library's providers.
type completer struct{ *Server }

// CompletePromptArgument completes an argument of a prompt.
func (c completer) CompletePromptArgument(ctx context.Context, prompt string, arg mcp.CompleteArgument, given mcp.CompleteContext) (_ *mcp.Completion, err error) {
	defer c.recovered(ctx, &err)
	switch arg.Name {
	case "collection":
		return c.answer(ctx)(c.collections(ctx, arg.Value))
	case "tag":
		return c.answer(ctx)(c.tags(ctx, arg.Value, given.Arguments["collection"]))
	case "session_id":
		return c.answer(ctx)(c.sessions(ctx, arg.Value))
	}
	return &mcp.Completion{}, nil
}

// CompleteResourceArgument completes a variable of a resource template.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (_ *mcp.Completion, err error) {
	defer c.recovered(ctx, &err)
	if arg.Name != "id" {
		return &mcp.Completion{}, nil
	}
	switch uri {
	case memoryTemplate:
		return c.answer(ctx)(c.memories(ctx, arg.Value, ""))
	case dataTemplate, previewTemplate:
		return c.answer(ctx)(c.memories(ctx, arg.Value, "perception"))
	case sessionTemplate:
		return c.answer(ctx)(c.sessions(ctx, arg.Value))
	}
	return &mcp.Completion{}, nil
}

// answer returns a completion with at most maxCompletions values. more means that
// not all candidates were read, so that the total is not known.
func (c completer) answer(ctx context.Context) func(values []string, more bool, err error) (*mcp.Completion, error) {
	return func(values []string, more bool, err error) (*mcp.Completion, error) {
		if err != nil {
			return nil, c.shown(ctx, err)
		}
		res := &mcp.Completion{Values: values[:min(len(values), maxCompletions)], HasMore: more || len(values) > maxCompletions}
		if !more {
			res.Total = len(values)
		}
		return res, nil
	}
}

func (c completer) collections(ctx context.Context, typed string) (values []string, more bool, err error) {
	res, err := c.svc.Collections(ctx, &admin.CollectionsRequest{})
	if err != nil {
		return nil, false, err
	}
	for _, col := range res.Collections {
		if begins(col.Collection, typed) {
			values = append(values, col.Collection)
		}
	}
	return values, false, nil
}

// tags returns the tags of the newest memories, the most frequent first.
func (c completer) tags(ctx context.Context, typed, collection string) (values []string, more bool, err error) {
	res, err := c.svc.List(ctx, &robotmem.ListRequest{Collection: collection, Limit: completionPage})
	if err != nil {
		return nil, false, err
	}
	count := map[string]int{}
	for _, m := range res.Memories {
		for _, tag := range m.Tags {
			if begins(tag, typed) {
				count[tag]++
			}
		}
	}
	values = slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	return values, res.Total > int64(len(res.Memories)), nil
}

// sessions returns the ids of episodes, the newest first.
func (c completer) sessions(ctx context.Context, typed string) (values []string, more bool, err error) {
	for page := 1; ; page++ {
		res, err := c.svc.Sessions(ctx, &robotmem.SessionsRequest{Page: page, Limit: completionPage})
		if err != nil {
			return nil, false, err
		}
		for _, e := range res.Sessions {
			if begins(e.SessionID, typed) {
				values = append(values, e.SessionID)
			}
		}
		switch {
		case int64(page)*completionPage >= res.Total:
			return values, false, nil
		case page == maxCompletionPages || len(values) > maxCompletions:
			return values, true, nil
		}
	}
}

// memories returns the ids that begin with the typed digits: shorter ids first, and
// of one length the newest first. For 12 that is 12, then 129 to 120, then 1299 to
// 1200.
func (c completer) memories(ctx context.Context, typed, kind string) (values []string, more bool, err error) {
	newest, err := c.svc.List(ctx, &robotmem.ListRequest{Type: kind, Limit: maxCompletions + 1})
	if err != nil || len(newest.Memories) == 0 {
		return nil, false, err
	}
	if typed == "" {
		return idsFrom(newest, 0), newest.Total > int64(len(newest.Memories)), nil
	}
	low, err := strconv.ParseInt(typed, 10, 64)
	if err != nil || low < 1 || typed[0] < '1' || typed[0] > '9' {
		return nil, false, nil //nolint:nilerr // not the beginning of an id
	}
	for width := int64(1); low <= newest.Memories[0].MemoryID; low, width = low*10, width*10 {
		res, err := c.svc.List(ctx, &robotmem.ListRequest{Type: kind, BeforeID: low + width, Limit: maxCompletions + 1})
		if err != nil {
			return nil, false, err
		}
		values = append(values, idsFrom(res, low)...)
		if len(values) > maxCompletions {
			return values, true, nil
		}
	}
	return values, false, nil
}

func idsFrom(res *robotmem.ListResponse, low int64) []string {
	var ids []string
	for _, m := range res.Memories {
		if m.MemoryID >= low {
			ids = append(ids, strconv.FormatInt(m.MemoryID, 10))
		}
	}
	return ids
}

func begins(value, typed string) bool {
	return len(value) >= len(typed) && strings.EqualFold(value[:len(typed)], typed)
}
