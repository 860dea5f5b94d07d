// Package progress reports the progress of long operations through a context.
package progress

import (
	"context"
	"sync"
	"time"
)

// Report is the progress of a long operation.
type Report struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total" doc:"0 if unknown."`
	Unit  string `json:"unit" doc:"Unit of done and total: bytes, memories, payloads, items or stages."`
	Stage string `json:"stage" doc:"The current step."`
}

// reportPause is the least time between two reports of one stage.
const reportPause = 100 * time.Millisecond

// With returns a context whose long operations (doctor, repair, retain,
// learn_batch and end_session) call report. They call it at the beginning of
// each stage and then at most ten times per second, in order and never
// concurrently. report must return quickly, because the operation waits for it.
func With(ctx context.Context, report func(Report)) context.Context {
	return context.WithValue(ctx, progressKey{}, &Meter{report: report})
}

type progressKey struct{}

// Meter counts the progress of one call and passes it to the function given to
// With. All methods accept a nil Meter and then do nothing.
type Meter struct {
	report func(Report)

	mu   sync.Mutex // guards the fields below, and is held while report runs
	now  Report
	told time.Time
}

// Of returns the meter that With has put into ctx, or nil.
func Of(ctx context.Context) *Meter {
	m, _ := ctx.Value(progressKey{}).(*Meter)
	return m
}

// Stage begins a stage of the work. A total of 0 means unknown.
func (m *Meter) Stage(name, unit string, total int64) {
	m.Set(Report{Total: total, Unit: unit, Stage: name})
}

// Step begins the stage number done of total stages, counted from 0.
func (m *Meter) Step(name string, done, total int64) {
	m.Set(Report{Done: done, Total: total, Unit: "stages", Stage: name})
}

// Add counts n more as done.
func (m *Meter) Add(n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Done += n
	m.tell(false)
}

// Set reports progress that another node has counted.
func (m *Meter) Set(p Report) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	begins := p.Stage != m.now.Stage || m.told.IsZero()
	m.now = p
	m.tell(begins)
}

// tell calls report, at most once per progressPause unless always is set. The
// caller holds the lock.
func (m *Meter) tell(always bool) {
	if now := time.Now(); always || now.Sub(m.told) >= reportPause {
		m.told = now
		m.report(m.now)
	}
}
