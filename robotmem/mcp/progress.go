package mcp

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// maxUnsent is how many reports wait for a client that reads slowly. Further ones are dropped.
const maxUnsent = 64

// withProgress sends the progress of a call if the client asks for it. The number of a
// notification counts the reports, because each stage of a call counts anew and the protocol
// requires a number that grows; the message has the figures. Reports come one at a time, and
// from work that may hold the database's writer, so they never wait for the client. done
// returns when all reports are sent, and ends the reporting.
func withProgress(ctx context.Context, meta *mcp.Meta) (_ context.Context, done func()) {
	if meta == nil || meta.ProgressToken == nil {
		return ctx, func() {}
	}

	unsent := make(chan map[string]any, maxUnsent)
	sent := make(chan struct{})

	// nil ends the loop. Closing the channel instead would make a late report panic.
	go func() {
		defer close(sent)

		for params := <-unsent; params != nil; params = <-unsent {
			notify(ctx, mcp.MethodNotificationProgress, params)
		}
	}()

	count := 0
	report := func(r progress.Report) {
		count++
		select {
		case unsent <- map[string]any{"progressToken": meta.ProgressToken, "progress": count, "message": describe(r)}:
		default:
		}
	}

	// A report after done stays in the channel and is not sent.
	return progress.With(ctx, report), func() { unsent <- nil; <-sent }
}

// describe returns a report in words: "rebuilding: 120 of 3000 memories".
func describe(r progress.Report) string {
	text := fmt.Sprintf("%d", r.Done)
	if r.Total > 0 {
		text += fmt.Sprintf(" of %d", r.Total)
	}
	if r.Unit != "" {
		text += " " + r.Unit
	}
	if r.Stage != "" {
		text = r.Stage + ": " + text
	}

	return text
}

// notifier sends a notification to the client of the current request. It is sent
// when notify returns, and so before the result.
type notifier interface {
	notify(mcp.JSONRPCNotification)
}

// notify sends a notification to the client of the request of ctx, if there is one.
func notify(ctx context.Context, method mcp.MCPMethod, params map[string]any) {
	n := exchangeOf(ctx).notifier
	if n == nil {
		return
	}
	n.notify(mcp.JSONRPCNotification{
		JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{
			Method: string(method), Params: mcp.NotificationParams{AdditionalFields: params},
		},
	})
}
