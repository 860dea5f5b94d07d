package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"
)

const (
	// warmUp is the number of queries before the measurement. The time of the first
	// one is reported separately.
	warmUp = 10
	// If a query takes longer than slow, fewer queries are measured.
	slow    = 200 * time.Millisecond
	slowAsk = 20
)

// progress reports the progress of a task. It is safe for concurrent use.
type progress func(what string, done, total int)

// clock measures the time of a load, without the pauses.
type clock struct {
	progress progress
	took     time.Duration
	since    time.Time // zero while paused
}

func (c *clock) resume() {
	if c.since.IsZero() {
		c.since = time.Now()
	}
}

func (c *clock) pause() {
	if !c.since.IsZero() {
		c.took += time.Since(c.since)
		c.since = time.Time{}
	}
}

func (c *clock) unpaid(f func()) {
	c.pause()
	defer c.resume()
	f()
}

// result is one line of the table.
type result struct {
	Engine    string  `json:"engine"`
	What      string  `json:"what"`
	LoadS     float64 `json:"load_s"` // of the engine, equal in all of its lines
	Questions int     `json:"questions"`
	FirstMS   float64 `json:"first_ms"` // the first query of this kind
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	// Found is the fraction of the correct results that were found, 0 to 1: of ten, or
	// of all matches if there are fewer.
	Found float64 `json:"found"`
	// Bytes is the growth of the process's memory by loading the engine; 0 if it cannot be read.
	Bytes int64 `json:"bytes,omitempty"`
	// Slower is P50MS divided by that of the node for the same correct results; 0 if
	// the node has none.
	Slower float64 `json:"times_slower,omitempty"`

	kind kind
	rare bool
}

// compare runs the engines one after the other.
func compare(ctx context.Context, engines []candidate, c *corpus, p progress) ([]result, error) {
	t := newTruth(c, p)
	var all []result
	for _, candidate := range engines {
		some, err := measure(ctx, candidate, c, t, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", candidate.name, err)
		}
		all = append(all, some...)
	}
	for i := range all {
		ours := slices.IndexFunc(all, func(r result) bool {
			return (r.Engine == nodeName || r.Engine == nodeWordsName) && r.kind.question() == all[i].kind.question() && r.rare == all[i].rare
		})
		if ours >= 0 {
			all[i].Slower = all[i].P50MS / all[ours].P50MS
		}
	}
	return all, nil
}

// measure loads an engine and measures each of its ways.
func measure(ctx context.Context, candidate candidate, c *corpus, t *truth, p progress) (all []result, err error) {
	named := func(what string, done, total int) { p(candidate.name+": "+what, done, total) }
	e := candidate.open()
	defer func() { err = errors.Join(err, e.close()) }()
	debug.FreeOSMemory()
	before := residentBytes()
	load := &clock{progress: named}
	load.resume()
	err = e.load(ctx, c, load)
	load.pause()
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	debug.FreeOSMemory()
	bytes := max(0, residentBytes()-before)
	for _, w := range e.ways() {
		want, err := t.of(w.kind, w.rare)
		if err != nil {
			return nil, err
		}
		r, err := ask(ctx, w, c, want, named)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.what, err)
		}
		r.Engine, r.LoadS, r.Bytes = candidate.name, load.took.Seconds(), bytes
		all = append(all, r)
	}
	return all, nil
}

// ask runs all queries in one way, one at a time.
func ask(ctx context.Context, w way, c *corpus, want []right, p progress) (result, error) {
	r := result{What: w.what, kind: w.kind, rare: w.rare}
	debug.FreeOSMemory() // so that the garbage of the last way is not collected during this one
	var longest time.Duration
	for i := range min(warmUp, len(c.questions)) {
		start := time.Now()
		if _, err := w.ask(ctx, &c.questions[i]); err != nil {
			return r, fmt.Errorf("question %q: %w", c.questions[i].text, err)
		}
		took := time.Since(start)
		if i == 0 {
			r.FirstMS = millis(took)
		} else {
			longest = max(longest, took)
		}
	}
	questions := c.questions
	if longest > slow {
		questions = questions[:min(slowAsk, len(questions))]
	}
	took := make([]float64, 0, len(questions))
	found, wanted := 0, 0
	for i := range questions {
		start := time.Now()
		answer, err := w.ask(ctx, &questions[i])
		took = append(took, millis(time.Since(start)))
		if err != nil {
			return r, fmt.Errorf("question %q: %w", questions[i].text, err)
		}
		found += want[i].found(answer)
		wanted += want[i].want
		p(w.what, i+1, len(questions))
	}
	slices.Sort(took)
	r.Questions, r.P50MS, r.P95MS = len(took), percentile(took, 50), percentile(took, 95)
	r.Found = float64(found) / float64(max(wanted, 1))
	return r, nil
}

// percentile returns a percentile of sorted values by the nearest rank.
func percentile(sorted []float64, p int) float64 {
	return sorted[max(0, int(math.Ceil(float64(len(sorted)*p)/100))-1)]
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
