package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// benchCmd measures facts by default.
type benchCmd struct {
	Facts benchFactsCmd `cmd:"" default:"withargs" help:"How fast facts are learnt and recalled (default)."`
}

type benchFactsCmd struct {
	N       int    `name:"n" default:"100000" help:"How many facts to learn before asking (default ${default})."`
	Dir     string `name:"dir" placeholder:"DIR" type:"path" help:"Where to put the temporary file, to measure another disk."`
	Vectors bool   `name:"vectors" default:"true" negatable:"" help:"Also measure recall by meaning, with vectors of 384 numbers made without a model."`
	JSON    bool   `name:"json" help:"Print the figures as JSON."`
}

// benchReport is what was measured.
type benchReport struct {
	Machine    machine       `json:"machine"`
	Facts      int           `json:"facts"`
	Durability string        `json:"durability"`
	Measures   []measure     `json:"measures"`
	Memory     memoryFigures `json:"memory"`
}

// measure is one kind of call. The times are of single calls; those of batches are of whole
// batches, while the rate is in rows.
type measure struct {
	Name      string  `json:"name"`
	Calls     int     `json:"calls"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	PerSecond float64 `json:"per_second"`
}

const (
	benchLeast   = 500
	benchBatch   = 5000
	benchCalls   = 1000 // of each kind; fewer when there are few facts
	benchCallers = 8
	benchTop     = 10
	benchEpisode = 200 // facts of the session that is replayed
)

// Run learns n facts into a new file and measures.
func (c *benchFactsCmd) Run(ctx context.Context, a *app) error {
	if c.N < benchLeast || c.N > 10_000_000 {
		return invalid("n", "must be between %d and 10000000, not %d", benchLeast, c.N)
	}
	r := &benchReport{Machine: thisMachine(), Facts: c.N, Durability: a.Config.Durability}
	b := &bench{a: a, facts: eval.NewFacts(), calls: min(benchCalls, c.N/10), vectors: c.Vectors, name: "recall by words", report: r}
	if c.Vectors {
		b.name = "hybrid recall"
	}
	a.Embedder = noEmbedder
	err := a.inTempMemory(ctx, c.Dir, func(m *local.Node, path string) error {
		b.m = m
		b.run(ctx, path)
		return errors.Join(b.err, b.m.Close())
	})
	if err != nil {
		return err
	}
	return a.show(c.JSON, r, r.print)
}

func (r *benchReport) print(w *lines) {
	w.line("%d facts, durability %s, on %s, %d cores, %s, %s", r.Facts, r.Durability, r.Machine.CPU, r.Machine.Cores, r.Machine.Go, r.Machine.Platform)
	w.line("")
	table(w, "\tcalls\tp50 ms\tp95 ms\tper second", r.Measures, func(m measure) []any {
		return []any{m.Name, m.Calls, fmt.Sprintf("%.3f", m.P50), fmt.Sprintf("%.3f", m.P95), fmt.Sprintf("%.0f", m.PerSecond)}
	})
	w.line("")
	w.line("memory %s resident, %s heap; file %s", sizeText(r.Memory.RSSBytes), sizeText(r.Memory.HeapBytes), sizeText(r.Memory.FileBytes))
}

// bench measures. After an error its methods do nothing.
type bench struct {
	a       *app
	m       *local.Node
	err     error
	facts   *eval.Facts
	made    int
	calls   int
	vectors bool   // questions are also asked by meaning
	name    string // of a recall
	report  *benchReport
}

func (b *bench) try(f func() error) {
	if b.err == nil {
		b.err = f()
	}
}

// next makes n more facts.
func (b *bench) next(n int, session string) []robotmem.LearnRequest {
	out := make([]robotmem.LearnRequest, n)
	for i := range out {
		out[i] = b.facts.Fact(b.made)
		out[i].SessionID = session
		b.made++
	}
	return out
}

// run measures writes, then every kind of recall.
func (b *bench) run(ctx context.Context, path string) {
	b.load(ctx, b.report.Facts)
	for _, callers := range []int{1, benchCallers} {
		singles := b.next(b.calls*callers, "")
		name := "learn"
		if callers > 1 {
			name = fmt.Sprintf("learn, %d callers", callers)
		}
		b.measure(name, len(singles), callers, func(i int) error {
			_, err := b.m.Learn(ctx, &singles[i])
			return err
		})
	}
	if b.vectors {
		b.embed(ctx, path)
	}
	b.try(func() error { return b.m.Warm(ctx) })
	session := ""
	b.try(func() error {
		s, err := b.m.StartSession(ctx, &robotmem.StartSessionRequest{})
		if err != nil {
			return err
		}
		session = s.SessionID
		_, err = b.m.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: b.next(benchEpisode, session)})
		return err
	})
	b.measure("open and first recall", 1, 1, func(int) error {
		if err := b.open(ctx, path, b.vectors); err != nil {
			return err
		}
		return b.recall(ctx, &robotmem.RecallRequest{Query: b.facts.Query(), N: benchTop})
	})
	b.measure("open, all indexes in memory", 1, 1, func(int) error { return b.m.Warm(ctx) })
	b.ask(ctx, b.name, func() robotmem.RecallRequest { return robotmem.RecallRequest{Query: b.facts.Query()} })
	b.ask(ctx, b.name+", filter 0.1 %", func() robotmem.RecallRequest {
		return robotmem.RecallRequest{Query: b.facts.Query(), ContextFilter: rare}
	})
	b.ask(ctx, "recall by filter 0.1 %", func() robotmem.RecallRequest { return robotmem.RecallRequest{ContextFilter: rare} })
	b.ask(ctx, "recall nearest, 3-D", func() robotmem.RecallRequest { return robotmem.RecallRequest{SpatialSort: b.facts.Near()} })
	b.ask(ctx, "replay of a session", func() robotmem.RecallRequest { return robotmem.RecallRequest{N: 100, SessionID: session} })
	if b.err == nil {
		b.report.Memory = b.memory(path)
	}
	if b.vectors {
		b.try(func() error { return b.open(ctx, path, false) })
		b.try(func() error { return b.m.Warm(ctx) })
		b.ask(ctx, "recall by words", func() robotmem.RecallRequest { return robotmem.RecallRequest{Query: b.facts.Query()} })
	}
}

// load learns the facts in batches. The time excludes making them.
func (b *bench) load(ctx context.Context, n int) {
	bar := b.a.newProgress("learn", int64(n))
	defer bar.Done()
	var took []time.Duration
	total := time.Duration(0)
	for b.made < n && b.err == nil {
		req := &robotmem.LearnBatchRequest{Items: b.next(min(benchBatch, n-b.made), "")}
		start := time.Now()
		res, err := b.m.LearnBatch(ctx, req)
		if err != nil {
			b.err = err
			return
		}
		took = append(took, time.Since(start))
		total += time.Since(start)
		for _, item := range res.Results {
			if item.Error != nil {
				b.err = fmt.Errorf("bench: a fact was refused: %s: %s", item.Error.Field, item.Error.Detail)
			}
		}
		bar.Add(int64(len(req.Items)))
	}
	b.add(fmt.Sprintf("learn, batches of %d", min(benchBatch, n)), took, float64(n)/total.Seconds())
}

// open opens the file again, with vectors or without.
func (b *bench) open(ctx context.Context, path string, vectors bool) (err error) {
	if b.m != nil {
		err = b.m.Close()
	}
	b.a.Embedder = noEmbedder
	if vectors {
		b.a.Embedder = func() (robotmem.Embedder, error) { return &eval.WordVectors{}, nil }
	}
	if err != nil {
		return err
	}
	m, err := b.a.Open(ctx, path)
	if err == nil {
		b.m = m
	}
	return err
}

// embed makes the vectors of all facts.
func (b *bench) embed(ctx context.Context, path string) {
	b.try(func() error { return b.open(ctx, path, true) })
	bar := b.a.newProgress("vectors", 0)
	defer bar.Done()
	total, start := int64(0), time.Now()
	b.try(func() error {
		return b.m.Reembed(ctx, func(done, all int64) {
			total = max(total, all)
			bar.Set(done, all)
		})
	})
	if took := time.Since(start); b.err == nil && total > 0 {
		b.add("store vectors", []time.Duration{took}, float64(total)/took.Seconds())
	}
}

// rare is the filter that one fact in a thousand passes.
var rare = robotmem.Object{"task.trial": "rare"}

// ask measures a kind of recall, whose N is benchTop unless it is set.
func (b *bench) ask(ctx context.Context, name string, request func() robotmem.RecallRequest) {
	requests := make([]robotmem.RecallRequest, b.calls)
	for i := range requests {
		requests[i] = request()
		requests[i].N = cmp.Or(requests[i].N, benchTop)
	}
	b.measure(name, b.calls, 1, func(i int) error { return b.recall(ctx, &requests[i]) })
}

func (b *bench) recall(ctx context.Context, req *robotmem.RecallRequest) error {
	_, err := b.m.Recall(ctx, req)
	return err
}

// measure calls f(0..n-1) from so many goroutines and times each call.
func (b *bench) measure(name string, n, callers int, f func(i int) error) {
	if b.err != nil {
		return
	}
	bar := b.a.newProgress(name, int64(n))
	defer bar.Done()
	took := make([]time.Duration, n)
	var next atomic.Int64
	var once sync.Once
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Go(func() {
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
	if b.err == nil {
		b.add(name, took, float64(n)/time.Since(start).Seconds())
	}
}

func (b *bench) add(name string, took []time.Duration, perSecond float64) {
	b.report.Measures = append(b.report.Measures, measure{name, len(took), quantile(took, 0.5), quantile(took, 0.95), perSecond})
}

// quantile is in milliseconds, 0 without times.
func quantile(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return millis(sorted[int(q*float64(len(sorted)-1))])
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// machine is what the figures were measured on.
type machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisMachine() machine {
	return machine{procValue("/proc/cpuinfo", "model name", "unknown CPU"), runtime.NumCPU(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// memoryFigures are bytes.
type memoryFigures struct {
	RSSBytes  int64 `json:"rss_bytes"`  // of the process; what Go holds where there is no /proc
	HeapBytes int64 `json:"heap_bytes"` // live objects
	FileBytes int64 `json:"file_bytes"` // with its log
}

// memory reads the figures while all that the questions needed is loaded.
func (b *bench) memory(path string) memoryFigures {
	b.facts = eval.NewFacts() // so that only the heap of the memory is counted
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m := memoryFigures{HeapBytes: int64(stats.HeapAlloc), RSSBytes: int64(stats.Sys - stats.HeapReleased)}
	kib, _, _ := strings.Cut(procValue("/proc/self/status", "VmRSS", ""), " ")
	if n, err := strconv.ParseInt(kib, 10, 64); err == nil {
		m.RSSBytes = n << 10
	}
	files, _ := filepath.Glob(path + "*") // the path of a temporary folder is a valid pattern
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			m.FileBytes += info.Size()
		}
	}
	return m
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
