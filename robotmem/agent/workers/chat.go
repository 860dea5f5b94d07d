package workers

import (
	"context"
	"errors"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/agent/proxy"
)

// Chat lets workers read the conversations of a proxy. What they have read is done for dreams, too, which read what is left.
func Chat(w *Workers, done Done) proxy.After { return &chat{w, done} }

type chat struct {
	*Workers
	done Done
}

// Turn implements proxy.After.
func (c *chat) Turn(ctx context.Context, t *proxy.Turn) {
	r := &Report{}
	err := c.Extract(ctx, &Source{
		Text: t.Text, UID: t.UID, Collection: t.Collection, Conversation: t.Conversation,
	}, r)
	if err == nil && r.Failed == 0 && !r.Spent {
		err = c.done.Add(nameOf([]string{TaskExtract, t.UID, t.Collection}))
	}
	c.tell(err, r, "facts of a turn", t.MemoryID)
}

// Summarise implements proxy.After.
func (c *chat) Summarise(ctx context.Context, collection, conversation string) {
	r := &Report{}
	c.tell(c.Workers.Summarise(ctx, collection, conversation, r), r, "a summary", 0)
}

func (c *chat) tell(err error, r *Report, what string, id int64) {
	if err != nil && !errors.Is(err, context.Canceled) {
		c.log().Warn(what+" is not stored", "memory_id", id, "error", err)
	}
	if r.Asked > 0 {
		c.log().Info(what, "memory_id", id, "asked", r.Asked, "added", len(r.Added), "linked", len(r.Linked), "replaced", len(r.Replaced),
			"known", r.Known, "refused", r.Refused, "why", r.Why)
	}
}

// WhenIdle dreams until ctx ends, each time that the memory has not changed for so long.
func WhenIdle(ctx context.Context, d *Dream, idle time.Duration) {
	const checks = 10 // within the time

	var (
		last   int64 = -1
		since        = time.Now()
		dreamt int64 = -1 // the state after the last dream
		every        = time.NewTicker(max(idle/checks, time.Second))
	)
	defer every.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}

		now, err := counter(ctx, d.Node)
		if err != nil {
			continue
		}
		if now != last {
			last, since = now, time.Now()
		}
		if now == dreamt || time.Since(since) < idle {
			continue
		}

		r := &Report{}
		if err := d.Run(ctx, r); err != nil && ctx.Err() == nil {
			d.log().Warn("a dream has ended early", "error", err)
		}
		d.log().Info("dreamt", "asked", r.Asked, "added", len(r.Added), "linked", len(r.Linked), "refused", r.Refused, "remaining", r.Remaining)

		// What the dream itself has stored is no reason for another.
		if dreamt, err = counter(ctx, d.Node); err == nil && r.Remaining == 0 {
			last = dreamt
		} else {
			dreamt, since = -1, time.Now()
		}
	}
}

func counter(ctx context.Context, node robotmem.Service) (int64, error) {
	res, err := node.Changes(ctx, &admin.ChangesRequest{})
	if err != nil {
		return 0, err
	}

	return res.Change, nil
}
