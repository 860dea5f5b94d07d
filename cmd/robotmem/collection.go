package main

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
)

// collected is a Service whose callers mean name where they name no
// collection. Readers that look into all collections still do.
type collected struct {
	robotmem.Service
	name string
}

// inCollection gives m another default collection; name "" changes nothing.
func inCollection(m robotmem.Service, name string) robotmem.Service {
	if name == "" {
		return m
	}
	return &collected{m, name}
}

// set fills the collection of a request, which was copied from the caller's.
// What belongs to a session is in the session's collection.
func (c *collected) set(collection *string, session string) {
	if *collection == "" && session == "" {
		*collection = c.name
	}
}

func (c *collected) Learn(ctx context.Context, req *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	r := *req
	c.set(&r.Collection, r.SessionID)
	return c.Service.Learn(ctx, &r)
}

func (c *collected) LearnBatch(ctx context.Context, req *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	r := *req
	r.Items = append([]robotmem.LearnRequest(nil), req.Items...)
	for i := range r.Items {
		c.set(&r.Items[i].Collection, r.Items[i].SessionID)
	}
	return c.Service.LearnBatch(ctx, &r)
}

func (c *collected) Recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	r := *req
	c.set(&r.Collection, "")
	return c.Service.Recall(ctx, &r)
}

func (c *collected) SavePerception(ctx context.Context, req *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	r := *req
	c.set(&r.Collection, r.SessionID)
	return c.Service.SavePerception(ctx, &r)
}

func (c *collected) StartSession(ctx context.Context, req *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	r := *req
	c.set(&r.Collection, "")
	return c.Service.StartSession(ctx, &r)
}
