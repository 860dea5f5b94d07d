// Package bench measures how fast a memory works on this machine: facts in a file of its own, or simulated robots that
// share a site on PostgreSQL.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Report has the figures of a bench.
type Report struct {
	CPU        string    `json:"cpu"`
	Cores      int       `json:"cores"`
	Facts      int       `json:"facts"`
	Durability string    `json:"durability,omitempty"`
	Measures   []Measure `json:"measures"`
	Resident   string    `json:"resident"` // memory of the process, "" where there is no /proc
	FileBytes  int64     `json:"file_bytes,omitempty"`
}

// Measure is one kind of call. The times are of single calls; those of batches are of whole
// batches, while the rate is in rows.
type Measure struct {
	Name      string  `json:"name"`
	Calls     int     `json:"calls"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"`
}

// Least and Most bound the number of facts of a bench.
const (
	Least = 500
	Most  = 10_000_000
)

const (
	batch   = 5000
	calls   = 1000 // of each kind; fewer when there are few facts
	callers = 8
	top     = 10
)

// Open opens the memory at path with an embedder; nil is none.
type Open func(ctx context.Context, path string, embedder robotmem.Embedder) (*local.Node, error)

// Progress begins a stage of so many units and returns its meter; nil shows nothing.
type Progress func(stage, unit string, total int64) *progress.Meter

func (p Progress) begin(stage, unit string, total int64) *progress.Meter {
	if p == nil {
		return nil
	}
	return p(stage, unit, total)
}

// Facts learns n facts into a new file in a temporary folder and measures every kind of call. open decides the
// settings of the memory, and durability names the one that counts most in the report.
func Facts(ctx context.Context, n int, durability string, open Open, show Progress) (r *Report, err error) {
	r = newReport(n)
	r.Durability = durability
	dir, err := os.MkdirTemp("", "robotmem-")
	if err != nil {
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "memory.db")
	b := &bench{reopen: open, show: show, facts: eval.NewFacts(), calls: min(calls, n/10), report: r}
	if b.m, err = open(ctx, path, nil); err != nil {
		return nil, err
	}

	b.run(ctx, path)

	return r, errors.Join(b.err, b.m.Close())
}

func newReport(facts int) *Report {
	return &Report{CPU: procValue("/proc/cpuinfo", "model name", "unknown CPU"), Cores: runtime.NumCPU(), Facts: facts}
}

// bench measures. After an error its methods do nothing.
type bench struct {
	reopen Open
	show   Progress
	m      *local.Node
	err    error
	facts  *eval.Facts
	made   int
	calls  int
	report *Report
}

func (b *bench) try(f func() error) {
	if b.err == nil {
		b.err = f()
	}
}

// next makes n more facts.
func (b *bench) next(n int) []robotmem.LearnRequest {
	out := make([]robotmem.LearnRequest, n)
	for i := range out {
		out[i] = b.facts.Fact(b.made)
		b.made++
	}
	return out
}

// run measures writes, then every kind of recall.
func (b *bench) run(ctx context.Context, path string) {
	size := min(batch, b.report.Facts)
	b.measure(fmt.Sprintf("learn, batches of %d", size), (b.report.Facts+size-1)/size, 1, size, func(int) error {
		res, err := b.m.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: b.next(min(size, b.report.Facts-b.made))})
		if err == nil && res.Results[0].Error != nil {
			err = errors.New(res.Results[0].Error.Detail)
		}
		return err
	})

	for _, at := range []int{1, callers} {
		singles := b.next(b.calls * at)
		b.measure(fmt.Sprintf("learn, callers %d", at), len(singles), at, 1, func(i int) error {
			_, err := b.m.Learn(ctx, &singles[i])
			return err
		})
	}

	b.ask(ctx, "recall by words", func() robotmem.RecallRequest { return robotmem.RecallRequest{Query: b.facts.Query()} })
	b.try(func() error { return b.open(ctx, path) })
	b.measure("vectors of all facts", 1, 1, 1, func(int) error { return b.m.Reembed(ctx, func(int64, int64) {}) })
	b.try(func() error { return b.open(ctx, path) })
	b.measure("all indexes in memory", 1, 1, 1, func(int) error { return b.m.Warm(ctx) })
	rare := robotmem.Object{"task.trial": "rare"} // one fact in a thousand
	b.ask(ctx, "hybrid recall", func() robotmem.RecallRequest { return robotmem.RecallRequest{Query: b.facts.Query()} })
	b.ask(ctx, "recall by filter 0.1 %", func() robotmem.RecallRequest { return robotmem.RecallRequest{ContextFilter: rare} })
	b.ask(ctx, "recall nearest, 3-D", func() robotmem.RecallRequest { return robotmem.RecallRequest{SpatialSort: b.facts.Near()} })
	b.report.Resident = procValue("/proc/self/status", "VmRSS", "")
	b.try(func() error {
		info, err := os.Stat(path)
		if err == nil {
			b.report.FileBytes = info.Size()
		}
		return err
	})
}

// open opens the file again, with vectors that are made without a model.
func (b *bench) open(ctx context.Context, path string) error {
	if err := b.m.Close(); err != nil {
		return err
	}
	m, err := b.reopen(ctx, path, &eval.WordVectors{})
	if err == nil {
		b.m = m
	}

	return err
}

// ask measures a kind of recall, after its indexes are in memory.
func (b *bench) ask(ctx context.Context, name string, request func() robotmem.RecallRequest) {
	b.try(func() error { return b.m.Warm(ctx) })

	requests := make([]robotmem.RecallRequest, b.calls)
	for i := range requests {
		requests[i] = request()
		requests[i].N = top
	}
	b.measure(name, b.calls, 1, 1, func(i int) error {
		_, err := b.m.Recall(ctx, &requests[i])
		return err
	})
}

// measure calls f(0..n-1) from so many goroutines and times each call, which handles so many rows.
func (b *bench) measure(name string, n, callers, rows int, f func(i int) error) {
	if b.err != nil {
		return
	}

	bar := b.show.begin(name, "calls", int64(n))
	took := make([]time.Duration, n)

	var (
		next atomic.Int64
		once sync.Once
		wg   sync.WaitGroup
	)
	start := time.Now()

	for range callers {
		wg.Go(func() {
			// The callers share one counter, so that none waits for a slower one at the end.
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				begun := time.Now()
				if err := f(i); err != nil {
					once.Do(func() { b.err = fmt.Errorf("bench: %s: %w", name, err) })
					return
				}
				took[i] = time.Since(begun)
				bar.Add(1)
			}
		})
	}

	wg.Wait()
	b.report.add(name, took, float64(n*rows)/time.Since(start).Seconds())
}

// add adds a kind of call.
func (r *Report) add(name string, took []time.Duration, perSecond float64) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	quantile := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000 } // in ms
	r.Measures = append(r.Measures, Measure{name, len(took), quantile(0.5), quantile(0.95), quantile(0.99), perSecond})
}

// procValue is the value of the first "key : value" line of a file of /proc, or the fallback.
func procValue(path, key, fallback string) string {
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}

	return fallback
}
