package mcp

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maxUnsent reports wait for a caller that reads slowly; more are left out.
const maxUnsent = 64

// progress passes on what a long call says of itself, under the token that its
// caller gave. The protocol wants a number that only grows, and a call may count
// each of its stages from 0: then they are added up. Reports come one at a time,
// and from work that may hold the writer, so none waits to be sent.
type progress struct {
	token  mcp.ProgressToken
	unsent chan map[string]any

	now  robotmem.Progress // the last report
	base float64           // what the counts before this one came to
	last float64           // what was sent last
	sent bool
}

// withProgress reports the progress of a call to a caller that asks for it. done
// ends that: it returns when all is sent, and nothing is from then on.
func withProgress(ctx context.Context, meta *mcp.Meta) (_ context.Context, done func()) {
	if meta == nil || meta.ProgressToken == nil {
		return ctx, func() {}
	}
	p := &progress{token: meta.ProgressToken, unsent: make(chan map[string]any, maxUnsent)}
	over, sent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		p.send(ctx, over)
	}()
	return robotmem.WithProgress(ctx, p.report), func() { close(over); <-sent }
}

func (p *progress) send(ctx context.Context, over <-chan struct{}) {
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

func (p *progress) report(r robotmem.Progress) {
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

// describe is a report in words: "looking for twins: 120 of 3000 memories".
func describe(r robotmem.Progress) string {
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
