package main

import (
	"context"
	"io"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// collected is a Service with another default collection. Operations that read all collections
// by default still do.
type collected struct {
	node
	name string
}

// node is a memory with payloads as streams.
type node interface {
	robotmem.Service
	robotmem.Streams
}

// inCollection gives m another default collection; name "" changes nothing.
func inCollection(m node, name string) node {
	if name == "" {
		return m
	}
	return &collected{m, name}
}

// LocalNow implements robotmem.Zoned.
func (c *collected) LocalNow() time.Time {
	if z, ok := c.node.(robotmem.Zoned); ok {
		return z.LocalNow()
	}
	return time.Now()
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
	return c.node.Learn(ctx, &r)
}

func (c *collected) LearnBatch(ctx context.Context, req *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	r := *req
	r.Items = append([]robotmem.LearnRequest(nil), req.Items...)
	for i := range r.Items {
		c.set(&r.Items[i].Collection, r.Items[i].SessionID)
	}
	return c.node.LearnBatch(ctx, &r)
}

func (c *collected) Recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	r := *req
	c.set(&r.Collection, "")
	return c.node.Recall(ctx, &r)
}

func (c *collected) SavePerception(ctx context.Context, req *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	r := *req
	c.set(&r.Collection, r.SessionID)
	return c.node.SavePerception(ctx, &r)
}

func (c *collected) StartSession(ctx context.Context, req *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	r := *req
	c.set(&r.Collection, "")
	return c.node.StartSession(ctx, &r)
}

func (c *collected) SavePerceptionFrom(ctx context.Context, req *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	r := *req
	c.set(&r.Collection, r.SessionID)
	return c.node.SavePerceptionFrom(ctx, &r, data)
}
