// Package progress reports how far a long operation has come: a caller passes a function
// with With, and the operation finds its Meter with Of.
package progress

import (
	"context"
	"sync"
	"time"
)

// Report says how far a long operation has come.
type Report struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total" doc:"0 when it is not known."`
	Unit  string `json:"unit" doc:"Of both: bytes, memories, payloads, items or stages."`
	Stage string `json:"stage" doc:"What is being done."`
}

// reportPause is the least time between two reports of one stage.
const reportPause = 100 * time.Millisecond

// With lets operations that take long say how far they have come:
// doctor, repair, retain, learn_batch and end_session do. report is called at
// the beginning of each stage and then at most ten times a second, by one
// goroutine at a time, in order; it must not block for long, since the work
// waits for it. It is a hint: nothing else depends on it.
func With(ctx context.Context, report func(Report)) context.Context {
	return context.WithValue(ctx, progressKey{}, &Meter{report: report})
}

type progressKey struct{}

// Meter gathers the progress of one call and passes it to the function of
// With. A nil Meter does nothing, so that work which nobody watches pays a
// comparison.
type Meter struct {
	report func(Report)

	mu   sync.Mutex // guards the fields below, and is held while report runs
	now  Report
	told time.Time
}

// Of returns the meter that With has put into ctx, nil if there is
// none.
func Of(ctx context.Context) *Meter {
	m, _ := ctx.Value(progressKey{}).(*Meter)
	return m
}

// Stage begins a part of the work. total 0 is unknown.
func (m *Meter) Stage(name, unit string, total int64) {
	if m == nil {
		return
	}
	m.Set(Report{Total: total, Unit: unit, Stage: name})
}

// Step begins a part of work that is counted in parts, done of which are over.
func (m *Meter) Step(name string, done, total int64) {
	if m == nil {
		return
	}
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

// Set reports progress as another node counted it.
func (m *Meter) Set(p Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	begins := p.Stage != m.now.Stage || m.told.IsZero()
	m.now = p
	m.tell(begins)
}

// tell reports, unless it did a moment ago. The caller holds the lock.
func (m *Meter) tell(always bool) {
	if now := time.Now(); always || now.Sub(m.told) >= reportPause {
		m.told = now
		m.report(m.now)
	}
}
