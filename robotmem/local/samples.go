package local

import (
	"context"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Samples implements Service.
func (e *Node) Samples(ctx context.Context, req *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	r := *req
	if err := robotmem.Validate("samples", &r); err != nil {
		return nil, err
	}
	if r.From != nil && r.To != nil && *r.From > *r.To {
		return nil, sqlite.Wrap("samples", robotmem.Errorf(robotmem.Invalid, "to", "must not be before from (%v), not %v", *r.From, *r.To))
	}
	var item perception.Item
	err := e.Store.Read(ctx, func(c *store.Conn) error {
		m, err := c.Memory(r.MemoryID, e.Now())
		if err == nil {
			item, err = e.Store.Item(c, m)
		}
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("samples", err)
	}
	s, err := perception.MakeSamples(item, perception.SamplesOptions{From: r.From, To: r.To, Points: r.Points})
	if err != nil {
		return nil, sqlite.Wrap("samples", robotmem.Errorf(robotmem.NotFound, "memory_id", "no samples can be read of memory %d: %v; data returns its bytes", r.MemoryID, err))
	}
	return &robotmem.SamplesResponse{MemoryID: r.MemoryID, Samples: *s}, nil
}
