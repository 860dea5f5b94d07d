package mcp

import (
	"context"
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
	// completionPage is how many of the newest memories or episodes are looked at.
	completionPage = 1000
)

// completer completes arguments from the contents of the memory. It implements
// both of the library's providers.
type completer struct{ *Server }

// CompletePromptArgument completes an argument of a prompt.
func (c completer) CompletePromptArgument(ctx context.Context, _ string, arg mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, arg.Name, arg.Value, given.Arguments["collection"])
}

// CompleteResourceArgument completes a variable of a resource template.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if arg.Name != "id" {
		return &mcp.Completion{}, nil
	}
	return c.complete(ctx, uri, arg.Value, "")
}

// complete returns the candidates that begin with what was typed, ignoring case.
func (c completer) complete(ctx context.Context, what, typed, collection string) (_ *mcp.Completion, err error) {
	defer c.recovered(ctx, &err)
	values, more, err := c.candidates(ctx, what, collection)
	if err != nil {
		return nil, c.shown(ctx, err)
	}
	values = slices.DeleteFunc(values, func(v string) bool {
		return len(v) < len(typed) || !strings.EqualFold(v[:len(typed)], typed)
	})
	res := &mcp.Completion{Values: values[:min(len(values), maxCompletions)], HasMore: more || len(values) > maxCompletions}
	if !more {
		res.Total = len(values)
	}
	return res, nil
}

// candidates returns the values of an argument, the newest first. more means that there are others.
func (c completer) candidates(ctx context.Context, what, collection string) (values []string, more bool, err error) {
	list := &robotmem.ListRequest{Collection: collection, Limit: completionPage}
	switch what {
	case "collection":
		res, err := c.svc.Collections(ctx, &admin.CollectionsRequest{})
		if err != nil {
			return nil, false, err
		}
		for _, col := range res.Collections {
			values = append(values, col.Collection)
		}
		return values, false, nil
	case "session_id", sessionTemplate:
		res, err := c.svc.Sessions(ctx, &robotmem.SessionsRequest{Limit: completionPage})
		if err != nil {
			return nil, false, err
		}
		for _, e := range res.Sessions {
			values = append(values, e.SessionID)
		}
		return values, res.Total > completionPage, nil
	case dataTemplate, previewTemplate:
		list.Type = "perception"
	case "tag", memoryTemplate:
	default:
		return nil, false, nil
	}
	res, err := c.svc.List(ctx, list)
	if err != nil {
		return nil, false, err
	}
	for _, m := range res.Memories {
		if what != "tag" {
			values = append(values, strconv.FormatInt(m.MemoryID, 10))
			continue
		}
		for _, tag := range m.Tags {
			if !slices.Contains(values, tag) {
				values = append(values, tag)
			}
		}
	}
	return values, res.Total > completionPage, nil
}
