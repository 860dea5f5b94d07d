package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

// notifier sends a notification to the caller of the request at hand, before
// notify returns and so before the result.
type notifier interface {
	notify(mcp.JSONRPCNotification)
}

type notifierKey struct{}

func withNotifier(ctx context.Context, n notifier) context.Context {
	return context.WithValue(ctx, notifierKey{}, n)
}

// notify does nothing where nobody can be told.
func notify(ctx context.Context, method mcp.MCPMethod, params map[string]any) {
	n, ok := ctx.Value(notifierKey{}).(notifier)
	if !ok {
		return
	}
	n.notify(mcp.JSONRPCNotification{
		JSONRPC:      mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{Method: string(method), Params: mcp.NotificationParams{AdditionalFields: params}},
	})
}
