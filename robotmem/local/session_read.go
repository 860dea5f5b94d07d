package local

import (
	"context"
	"encoding/json"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// maxRecalled bounds the memories that a session's answer lists as recalled.
const maxRecalled = 1000

// Session implements Service.
func (e *Engine) Session(ctx context.Context, req *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	r := *req
	if err := robotmem.Validate("session", &r); err != nil {
		return nil, err
	}
	pending := e.tallies.creditOf(r.SessionID)
	res := &robotmem.SessionResponse{}
	err := e.store.read(ctx, func(c *conn) error { return e.readSession(c, r.SessionID, pending, res) })
	if err != nil {
		return nil, sqlite.Wrap("session", err)
	}
	return res, nil
}

// readSession fills res. pending are memories that were recalled for the
// episode and are not in the file yet.
func (e *Engine) readSession(c *conn, id string, pending []int64, res *robotmem.SessionResponse) error {
	s, stored, err := c.sessionWhole(id)
	if err != nil {
		return err
	}
	res.Session = *s
	if res.Recalled, err = c.recalledFor(id, pending, maxRecalled, e.now()); err != nil {
		return err
	}
	if res.Streams, err = c.streams(id); err != nil {
		return err
	}
	if stored != "" {
		res.Summary = &robotmem.SessionSummary{}
		return json.Unmarshal([]byte(stored), res.Summary)
	}
	until := e.now()
	if s.EndedAt != nil {
		until = *s.EndedAt
	}
	sum, err := c.summarizeSession(s, until, s.OutcomeScore, 0)
	if err != nil {
		return err
	}
	sum.EndedAt, sum.Recalled = s.EndedAt, max(sum.Recalled, len(res.Recalled))
	if s.Status == "ended" || sum.Facts+sum.Perceptions+sum.Recalled+len(sum.Streams) > 0 {
		res.Summary = &sum
	}
	return nil
}
