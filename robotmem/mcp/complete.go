package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// maxCompletions is the limit of the protocol.
const maxCompletions = 100

// completer completes names of collections and ids of episodes. It implements both of the
// library's providers.
type completer struct{ *Server }

// CompletePromptArgument completes an argument of a prompt.
func (c completer) CompletePromptArgument(ctx context.Context, _ string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, arg.Name, arg.Value)
}

// CompleteResourceArgument completes a variable of a resource template.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, uri, arg.Value)
}

// complete returns the candidates that begin with what was typed. Those of episodes are the newest.
func (c completer) complete(ctx context.Context, what, typed string) (_ *mcp.Completion, err error) {
	defer c.recovered(ctx, &err)
	var values []string
	switch what {
	case "collection":
		res, err := c.svc.Collections(ctx, &admin.CollectionsRequest{})
		if err != nil {
			return nil, c.shown(ctx, err)
		}
		for _, col := range res.Collections {
			values = append(values, col.Collection)
		}
	case "session_id", sessionTemplate:
		res, err := c.svc.Sessions(ctx, &robotmem.SessionsRequest{Limit: maxCompletions})
		if err != nil {
			return nil, c.shown(ctx, err)
		}
		for _, e := range res.Sessions {
			values = append(values, e.SessionID)
		}
	}
	values = slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, typed) })
	return &mcp.Completion{Values: values[:min(len(values), maxCompletions)], HasMore: len(values) > maxCompletions}, nil
}
