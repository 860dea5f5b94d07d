package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type benchCmd struct {
	Facts benchFactsCmd `cmd:"" default:"withargs" help:"Facts in a file of its own (default)."`
	Fleet benchFleetCmd `cmd:"" help:"Simulated robots that share the memory of a PostgreSQL server."`
}

type benchFactsCmd struct {
	N    int  `name:"n" default:"100000" help:"How many facts to learn before asking (default ${default})."`
	JSON bool `name:"json" help:"Print the figures as JSON."`
}

// benchReport has the figures of a bench.
type benchReport struct {
	CPU        string    `json:"cpu"`
	Cores      int       `json:"cores"`
	Facts      int       `json:"facts"`
	Durability string    `json:"durability,omitempty"`
	Measures   []measure `json:"measures"`
	Resident   string    `json:"resident"` // memory of the process, "" where there is no /proc
	FileBytes  int64     `json:"file_bytes,omitempty"`
}

// measure is one kind of call. The times are of single calls; those of batches are of whole
// batches, while the rate is in rows.
type measure struct {
	Name      string  `json:"name"`
	Calls     int     `json:"calls"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"`
}

const (
	benchLeast   = 500
	benchBatch   = 5000
	benchCalls   = 1000 // of each kind; fewer when there are few facts
	benchCallers = 8
	benchTop     = 10
)

// Run learns n facts into a new file and measures.
func (c *benchFactsCmd) Run(ctx context.Context, a *app) error {
	if c.N < benchLeast || c.N > 10_000_000 {
		return invalid("n", "must be between %d and 10000000, not %d", benchLeast, c.N)
	}
	r := &benchReport{CPU: procValue("/proc/cpuinfo", "model name", "unknown CPU"), Cores: runtime.NumCPU(), Facts: c.N, Durability: a.Config.Durability}
	b := &bench{a: a, facts: eval.NewFacts(), calls: min(benchCalls, c.N/10), report: r}
	// Models would measure themselves rather than the memory.
	a.Config.Embedder, a.Config.Reranker = "none", ""
	err := a.inTempMemory(ctx, func(m *local.Node, path string) error {
		b.m = m
		b.run(ctx, path)
		return errors.Join(b.err, b.m.Close())
	})

	return a.showResult(c.JSON, r, err)
}

// bench measures. After an error its methods do nothing.
type bench struct {
	a      *app
	m      *local.Node
	err    error
	facts  *eval.Facts
	made   int
	calls  int
	report *benchReport
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
	size := min(benchBatch, b.report.Facts)
	b.measure(fmt.Sprintf("learn, batches of %d", size), (b.report.Facts+size-1)/size, 1, size, func(int) error {
		res, err := b.m.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: b.next(min(size, b.report.Facts-b.made))})
		if err == nil && res.Results[0].Error != nil {
			err = errors.New(res.Results[0].Error.Detail)
		}
		return err
	})

	for _, callers := range []int{1, benchCallers} {
		singles := b.next(b.calls * callers)
		b.measure(fmt.Sprintf("learn, callers %d", callers), len(singles), callers, 1, func(i int) error {
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
	b.a.Embedder = &eval.WordVectors{}
	m, err := b.a.Open(ctx, path)
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
		requests[i].N = benchTop
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

	bar := b.a.newProgress(name, "calls", int64(n))
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
func (r *benchReport) add(name string, took []time.Duration, perSecond float64) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	quantile := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000 } // in ms
	r.Measures = append(r.Measures, measure{name, len(took), quantile(0.5), quantile(0.95), quantile(0.99), perSecond})
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
