package mcp

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// maxUnsent is how many reports wait for a client that reads slowly. Further ones
// are dropped.
const maxUnsent = 64

// progressSender sends the progress of a call under the token that the client gave. The
// protocol requires a number that only grows, but a call may count each of its
// stages from 0, so the counts of the stages are added up. Reports come one at a
// time, and from work that may hold the database's writer, so report never waits
// for the client.
type progressSender struct {
	token  mcp.ProgressToken
	unsent chan map[string]any

	now  progress.Report // the last report
	base float64         // sum of the stages before the current one
	last float64         // the number that was sent last
	sent bool
}

// withProgress reports the progress of a call if the client asks for it. done
// returns when all reports are sent, and ends the reporting.
func withProgress(ctx context.Context, meta *mcp.Meta) (_ context.Context, done func()) {
	if meta == nil || meta.ProgressToken == nil {
		return ctx, func() {}
	}
	p := &progressSender{token: meta.ProgressToken, unsent: make(chan map[string]any, maxUnsent)}
	over, sent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		p.send(ctx, over)
	}()
	return progress.With(ctx, p.report), func() { close(over); <-sent }
}

func (p *progressSender) send(ctx context.Context, over <-chan struct{}) {
	for {
		select {
		case params := <-p.unsent:
			notify(ctx, mcp.MethodNotificationProgress, params)
		case <-over:
			for len(p.unsent) > 0 {
				notify(ctx, mcp.MethodNotificationProgress, <-p.unsent)
			}
			return
		}
	}
}

func (p *progressSender) report(r progress.Report) {
	if r.Unit != p.now.Unit || r.Done < p.now.Done {
		p.base = p.last
	}
	p.now = r
	done := p.base + float64(r.Done)
	if p.sent && done <= p.last {
		return
	}
	p.last, p.sent = done, true
	params := map[string]any{"progressToken": p.token, "progress": done, "message": describe(r)}
	if r.Total > 0 {
		params["total"] = p.base + float64(r.Total)
	}
	select {
	case p.unsent <- params:
	default:
	}
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

type notifierKey struct{}

func withNotifier(ctx context.Context, n notifier) context.Context {
	return context.WithValue(ctx, notifierKey{}, n)
}

// notify sends a notification to the client of the request of ctx, if there is
// one.
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
