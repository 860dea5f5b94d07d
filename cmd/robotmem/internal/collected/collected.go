// Package collected gives a memory another default collection.
package collected

import (
	"context"
	"io"

	"github.com/robotmem/robotmem-go/robotmem"
)

// collected is a Service with another default collection. Operations that read all collections
// by default still do.
type collected struct {
	robotmem.Node
	robotmem.Zoned
	name string
}

// In gives m another default collection; name "" changes nothing.
func In(m robotmem.Node, name string) robotmem.Node {
	if name == "" {
		return m
	}
	// Both kinds of nodes, a file and a client, implement Zoned.
	return &collected{m, m.(robotmem.Zoned), name}
}

// set sets the collection of a copy of a request. A request with a session belongs to the
// collection of the session.
func (c *collected) set(collection *string, session string) {
	if *collection == "" && session == "" {
		*collection = c.name
	}
}

func (c *collected) Learn(ctx context.Context, req *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	r := *req
	c.set(&r.Collection, r.SessionID)
	return c.Node.Learn(ctx, &r)
}

func (c *collected) LearnBatch(ctx context.Context, req *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	r := *req

	r.Items = append([]robotmem.LearnRequest(nil), req.Items...)
	for i := range r.Items {
		c.set(&r.Items[i].Collection, r.Items[i].SessionID)
	}

	return c.Node.LearnBatch(ctx, &r)
}

func (c *collected) Recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	r := *req
	c.set(&r.Collection, "")
	return c.Node.Recall(ctx, &r)
}

func (c *collected) SavePerception(ctx context.Context, req *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	r := *req
	c.set(&r.Collection, r.SessionID)
	return c.Node.SavePerception(ctx, &r)
}

func (c *collected) StartSession(ctx context.Context, req *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	r := *req
	c.set(&r.Collection, "")
	return c.Node.StartSession(ctx, &r)
}

func (c *collected) SavePerceptionFrom(ctx context.Context, req *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	r := *req
	c.set(&r.Collection, r.SessionID)
	return c.Node.SavePerceptionFrom(ctx, &r, data)
}
