package local

import (
	"context"
	"encoding/json"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// maxRecalled bounds the memories that a session's answer lists as recalled.
const maxRecalled = 1000

// Session implements Service.
func (e *Node) Session(ctx context.Context, req *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	r := *req
	if err := robotmem.Validate("session", &r); err != nil {
		return nil, err
	}
	pending := e.tallies.creditOf(r.SessionID)
	res := &robotmem.SessionResponse{}
	err := e.Store.Read(ctx, func(c *store.Conn) error { return e.readSession(c, r.SessionID, pending, res) })
	if err != nil {
		return nil, sqlite.Wrap("session", err)
	}
	return res, nil
}

// readSession fills res. pending are memories that were recalled for the
// episode and are not in the file yet.
func (e *Node) readSession(c *store.Conn, id string, pending []int64, res *robotmem.SessionResponse) error {
	s, err := c.Session(id)
	if err != nil {
		return err
	}
	res.Session = s.Session
	if res.Recalled, err = c.RecalledFor(id, pending, maxRecalled, e.Now()); err != nil {
		return err
	}
	if res.Streams, err = c.Streams(id); err != nil {
		return err
	}
	if s.Summary != "" {
		res.Summary = &robotmem.SessionSummary{}
		return json.Unmarshal([]byte(s.Summary), res.Summary)
	}
	until := e.Now()
	if s.EndedAt != nil {
		until = *s.EndedAt
	}
	sum, err := c.SummarizeSession(&s.Session, until, s.OutcomeScore, 0)
	if err != nil {
		return err
	}
	sum.EndedAt, sum.Recalled = s.EndedAt, max(sum.Recalled, len(res.Recalled))
	if s.Status == "ended" || sum.Facts+sum.Perceptions+sum.Recalled+len(sum.Streams) > 0 {
		res.Summary = &sum
	}
	return nil
}
