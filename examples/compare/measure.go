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
	// warmUp is how many questions are asked before any is timed. The first of
	// them is reported by itself.
	warmUp = 10
	// A way whose questions take longer than slow is asked fewer of them.
	slow    = 200 * time.Millisecond
	slowAsk = 20
)

// progress is called with how much of something is done. It is safe for
// concurrent use.
type progress func(what string, done, total int)

// clock times a load, apart from what does not belong to it.
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
	LoadS     float64 `json:"load_s"` // of the engine, the same in all its lines
	Questions int     `json:"questions"`
	FirstMS   float64 `json:"first_ms"` // the first question of this kind
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	// Found is how many of the right answers came, 0 to 1: the right ten, or
	// fewer where fewer match.
	Found float64 `json:"found"`
	// Bytes is what the process holds more once the engine is loaded; 0 where
	// that cannot be read.
	Bytes int64 `json:"bytes,omitempty"`
	// Slower is P50MS over that of the node for the same right answers; 0
	// without one.
	Slower float64 `json:"times_slower,omitempty"`

	kind kind
	rare bool
}

// compare runs one engine after the other, each alone in the process.
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

// measure loads an engine and asks it in each of its ways.
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

// ask asks all questions in one way, one at a time.
func ask(ctx context.Context, w way, c *corpus, want []right, p progress) (result, error) {
	r := result{What: w.what, kind: w.kind, rare: w.rare}
	debug.FreeOSMemory() // what was made for the last way is not collected in this one
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

// percentile of sorted values by the nearest rank.
func percentile(sorted []float64, p int) float64 {
	return sorted[max(0, int(math.Ceil(float64(len(sorted)*p)/100))-1)]
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
