package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// benchCmd measures facts unless it is told what else.
type benchCmd struct {
	Facts      benchFactsCmd      `cmd:"" default:"withargs" help:"How fast facts are learnt and recalled: what bench does if it is not told what to measure."`
	Perception benchPerceptionCmd `cmd:"" help:"How well a force sensor and a camera are recorded while they run."`
}

type benchFactsCmd struct {
	N       int    `name:"n" default:"100000" help:"How many facts to learn before asking (default ${default})."`
	Dir     string `name:"dir" placeholder:"DIR" type:"path" help:"Where to put the temporary file, to measure another disk."`
	Vectors bool   `name:"vectors" default:"true" negatable:"" help:"Also measure recall by meaning, with vectors of 384 numbers made without a model."`
	JSON    bool   `name:"json" help:"Print the figures as JSON."`
	Opened  string `name:"opened" hidden:"" help:"Measure a node that opens this file, which an earlier part has made."`
}

// benchReport is what was measured.
type benchReport struct {
	Machine    machine       `json:"machine"`
	Facts      int           `json:"facts"`
	Durability string        `json:"durability"`
	Measures   []measure     `json:"measures"`
	Memory     memoryFigures `json:"memory"`
	// MemoryOpened is of a node that only opened the file and asked.
	MemoryOpened memoryFigures `json:"memory_opened"`
}

const (
	benchLeast   = 500
	benchBatch   = 5000
	benchCalls   = 1000 // of each kind; fewer when there are few facts
	benchCallers = 8
	benchTop     = 10
	episode      = 200 // facts of the session that is replayed
)

// Run learns n facts into a file of its own and measures from there.
func (c *benchFactsCmd) Run(ctx context.Context, a *app) error {
	if c.N < benchLeast || c.N > 10_000_000 {
		return invalid("n", "must be between %d and 10000000, not %d", benchLeast, c.N)
	}
	r := benchReport{Machine: thisMachine(), Facts: c.N, Durability: a.Config.Durability}
	a.Embedder = noEmbedder
	if c.Opened != "" {
		b := &bench{ctx: ctx, a: a, facts: eval.NewFacts(), calls: min(benchCalls, c.N/10), vectors: c.Vectors, report: &r}
		if err := b.opened(c.Opened); err != nil {
			return err
		}
		return a.PrintJSON(r)
	}
	err := a.inTempMemory(ctx, c.Dir, func(m *local.Node, path string) error {
		b := &bench{ctx: ctx, a: a, m: m, facts: eval.NewFacts(), calls: min(benchCalls, c.N/10), vectors: c.Vectors, report: &r}
		err := b.run(c.N, path)
		if err == nil {
			r.Memory = b.memory(path)
		}
		if err := errors.Join(err, b.m.Close()); err != nil {
			return err
		}
		return b.reopen(path)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(r)
	}
	return printBench(a, &r)
}

type bench struct {
	ctx   context.Context
	a     *app
	m     *local.Node
	facts *eval.Facts
	made  int
	calls int
	// vectors: questions are also asked by meaning.
	vectors bool
	report  *benchReport
}

func (b *bench) next() *robotmem.LearnRequest {
	f := b.facts.Fact(b.made)
	b.made++
	return &f
}

func (b *bench) run(n int, path string) error {
	if err := b.load(n); err != nil {
		return err
	}
	singles := make([]*robotmem.LearnRequest, 0, b.calls*benchCallers)
	for _, callers := range []int{1, benchCallers} {
		singles = singles[:0]
		for range b.calls * callers {
			singles = append(singles, b.next())
		}
		name := "learn"
		if callers > 1 {
			name = fmt.Sprintf("learn, %d callers", callers)
		}
		err := b.measure(name, len(singles), callers, func(i int) (int, error) {
			_, err := b.m.Learn(b.ctx, singles[i])
			return 0, err
		})
		if err != nil {
			return err
		}
	}
	if b.vectors {
		if err := b.embed(path); err != nil {
			return err
		}
	}
	if err := b.m.Warm(b.ctx); err != nil {
		return err
	}
	return b.ask()
}

// open opens the file anew, with vectors or without.
func (b *bench) open(path string, vectors bool) (err error) {
	if b.m != nil {
		err = b.m.Close()
	}
	b.a.Embedder = noEmbedder
	if vectors {
		b.a.Embedder = func() (robotmem.Embedder, error) { return &eval.WordVectors{}, nil }
	}
	if err == nil {
		b.m, err = b.a.Open(b.ctx, path)
	}
	return err
}

// embed makes the vectors of all facts.
func (b *bench) embed(path string) error {
	if err := b.open(path, true); err != nil {
		return err
	}
	bar := b.a.newProgress("vectors", 0)
	defer bar.Done()
	total, start := int64(0), time.Now()
	err := b.m.Reembed(b.ctx, func(done, all int64) {
		total = max(total, all)
		bar.Set(done, all)
	})
	if err != nil || total == 0 {
		return err
	}
	took := time.Since(start)
	b.report.Measures = append(b.report.Measures, measure{Name: "store vectors", Calls: 1, P50: millis(took), P95: millis(took), PerSecond: float64(total) / took.Seconds()})
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// load learns the facts in batches. Making them is not part of the time.
func (b *bench) load(n int) error {
	bar := b.a.newProgress("learn", int64(n))
	defer bar.Done()
	var took []time.Duration
	for b.made < n {
		req := &robotmem.LearnBatchRequest{}
		for range min(benchBatch, n-b.made) {
			req.Items = append(req.Items, *b.next())
		}
		start := time.Now()
		res, err := b.m.LearnBatch(b.ctx, req)
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		for _, item := range res.Results {
			if item.Error != nil {
				return fmt.Errorf("bench: a fact was refused: %s: %s", item.Error.Field, item.Error.Detail)
			}
		}
		bar.Add(int64(len(req.Items)))
	}
	m := summarize(fmt.Sprintf("learn, batches of %d", min(benchBatch, n)), took)
	m.PerSecond *= float64(n) / float64(len(took))
	b.report.Measures = append(b.report.Measures, m)
	return nil
}

// ask measures every kind of recall.
func (b *bench) ask() error {
	session, err := b.episode()
	if err != nil {
		return err
	}
	return b.askAll(b.kinds(session))
}

// askAll measures each kind of recall in turn.
func (b *bench) askAll(kinds []kind) error {
	for _, kind := range kinds {
		requests := make([]*robotmem.RecallRequest, b.calls)
		for i := range requests {
			requests[i] = kind.req()
		}
		// The first question loads what the others find loaded; reopen
		// measures it by itself.
		if _, err := b.m.Recall(b.ctx, requests[0]); err != nil {
			return err
		}
		err := b.measure(kind.name, b.calls, 1, func(i int) (int, error) {
			res, err := b.m.Recall(b.ctx, requests[i])
			if err != nil {
				return 0, err
			}
			return res.Total, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// kind is a kind of recall.
type kind struct {
	name string
	req  func() *robotmem.RecallRequest
}

func (b *bench) kinds(session string) []kind {
	return append(b.questions(b.name()), []kind{
		{"recall by filter 0.1 %", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: benchTop, ContextFilter: rare}
		}},
		{"recall nearest, 3-D", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: benchTop, SpatialSort: b.facts.Near()}
		}},
		{"recall by words nearest, 3-D", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: benchTop, Query: b.facts.Query(), SpatialSort: b.facts.Near()}
		}},
		{"replay of a session", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: 100, SessionID: session}
		}},
	}...)
}

// rare is the filter that one fact in a thousand passes.
var rare = robotmem.Object{"task.trial": "rare"}

func (b *bench) name() string {
	if b.vectors {
		return "hybrid recall"
	}
	return "recall by words"
}

func (b *bench) questions(name string) []kind {
	return []kind{
		{name, func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{Query: b.facts.Query(), N: benchTop}
		}},
		{name + ", filter 0.1 %", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{Query: b.facts.Query(), N: benchTop, ContextFilter: rare}
		}},
	}
}

// episode learns the session that is replayed.
func (b *bench) episode() (string, error) {
	s, err := b.m.StartSession(b.ctx, &robotmem.StartSessionRequest{})
	if err != nil {
		return "", err
	}
	req := &robotmem.LearnBatchRequest{}
	for range episode {
		item := *b.next()
		item.SessionID = s.SessionID
		req.Items = append(req.Items, item)
	}
	_, err = b.m.LearnBatch(b.ctx, req)
	return s.SessionID, err
}

// reopen measures, in a process of its own, the way from a closed file to the
// first answer, and what such a node needs.
func (b *bench) reopen(path string) error {
	args := []string{"bench", "--json", "--n", fmt.Sprint(b.report.Facts), "--opened", path, "--durability", b.report.Durability}
	if !b.vectors {
		args = append(args, "--no-vectors")
	}
	program, err := exec.LookPath(os.Args[0])
	if err != nil {
		return err
	}
	child := exec.CommandContext(b.ctx, program, args...)
	child.Stderr = b.a.Stderr
	out, err := child.Output()
	if err != nil {
		return fmt.Errorf("bench: the node that opens the file: %w", err)
	}
	var r benchReport
	if err := json.Unmarshal(out, &r); err != nil {
		return fmt.Errorf("bench: the node that opens the file: %w", err)
	}
	b.report.Measures = append(b.report.Measures, r.Measures...)
	b.report.MemoryOpened = r.Memory
	return nil
}

// opened is what reopen starts.
func (b *bench) opened(path string) (err error) {
	err = b.measure("open and first recall", 1, 1, func(int) (int, error) {
		if err := b.open(path, b.vectors); err != nil {
			return 0, err
		}
		res, err := b.m.Recall(b.ctx, &robotmem.RecallRequest{Query: b.facts.Query(), N: benchTop})
		if err != nil {
			return 0, err
		}
		return res.Total, nil
	})
	if err == nil {
		err = b.measure("open, all indexes in memory", 1, 1, func(int) (int, error) { return 0, b.m.Warm(b.ctx) })
	}
	if err == nil {
		err = b.askAll(b.questions(b.name() + ", opened"))
	}
	if err != nil {
		return err
	}
	b.report.Memory = b.memory(path)
	if !b.vectors {
		return b.m.Close()
	}
	if err := b.open(path, false); err != nil {
		return err
	}
	if err = b.m.Warm(b.ctx); err == nil {
		err = b.askAll(b.questions("recall by words"))
	}
	return errors.Join(err, b.m.Close())
}

// memory reads the figures while everything that the questions needed is
// loaded.
func (b *bench) memory(path string) memoryFigures {
	b.facts = eval.NewFacts() // so that only the memory's own heap is counted
	runtime.GC()
	m := processMemory()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		return m
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			m.FileBytes += info.Size()
		}
	}
	return m
}

func printBench(a *app, r *benchReport) error {
	w := &lines{w: a.Stdout}
	w.line("%d facts, durability %s, on %s", r.Facts, r.Durability, r.Machine)
	w.line("")
	w.table("\tcalls\tp50 ms\tp95 ms\tper second", len(r.Measures), func(i int) string {
		m := r.Measures[i]
		return fmt.Sprintf("%s\t%d\t%.3f\t%.3f\t%.0f", m.Name, m.Calls, m.P50, m.P95, m.PerSecond)
	})
	w.line("")
	if r.MemoryOpened.RSSBytes > 0 {
		w.line("after opening %s resident, %s heap", sizeText(r.MemoryOpened.RSSBytes), sizeText(r.MemoryOpened.HeapBytes))
	}
	w.line("memory %s resident, %s heap; file %s", sizeText(r.Memory.RSSBytes), sizeText(r.Memory.HeapBytes), sizeText(r.Memory.FileBytes))
	return w.err
}
