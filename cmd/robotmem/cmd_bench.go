package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

type benchCmd struct {
	N    int    `name:"n" default:"100000" help:"How many facts to learn before asking (default ${default})."`
	Dir  string `name:"dir" placeholder:"DIR" type:"path" help:"Where to put the temporary file, to measure another disk."`
	JSON bool   `name:"json" help:"Print the figures as JSON."`
}

// benchReport is what was measured.
type benchReport struct {
	Machine    machine       `json:"machine"`
	Facts      int           `json:"facts"`
	Durability string        `json:"durability"`
	Measures   []measure     `json:"measures"`
	Memory     memoryFigures `json:"memory"`
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
func (c *benchCmd) Run(ctx context.Context, a *app) error {
	if c.N < benchLeast || c.N > 10_000_000 {
		return invalid("n", "must be between %d and 10000000, not %d", benchLeast, c.N)
	}
	r := benchReport{Machine: thisMachine(), Facts: c.N, Durability: a.Config.Durability}
	err := a.inTempMemory(ctx, c.Dir, func(m *robotmem.Engine, path string) error {
		b := &bench{ctx: ctx, a: a, m: m, facts: newFactMaker(), calls: min(benchCalls, c.N/10), report: &r}
		if err := b.run(c.N); err != nil {
			return err
		}
		r.Memory = b.memory(path)
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
	ctx    context.Context
	a      *app
	m      *robotmem.Engine
	facts  *factMaker
	made   int
	calls  int
	report *benchReport
}

func (b *bench) next() *robotmem.LearnRequest {
	f := b.facts.fact(b.made)
	b.made++
	return &f
}

func (b *bench) run(n int) error {
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
	return b.ask()
}

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
	rare := robotmem.Object{"task.trial": "rare"}
	kinds := []struct {
		name string
		req  func() *robotmem.RecallRequest
	}{
		{"recall by words", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{Query: b.facts.query(), N: benchTop}
		}},
		{"recall by words, filter 0.1 %", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{Query: b.facts.query(), N: benchTop, ContextFilter: rare}
		}},
		{"recall by filter 0.1 %", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: benchTop, ContextFilter: rare}
		}},
		{"recall nearest, 3-D", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: benchTop, SpatialSort: b.near()}
		}},
		{"recall by words nearest, 3-D", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: benchTop, Query: b.facts.query(), SpatialSort: b.near()}
		}},
		{"replay of a session", func() *robotmem.RecallRequest {
			return &robotmem.RecallRequest{N: 100, SessionID: session}
		}},
	}
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

func (b *bench) near() *robotmem.SpatialSort {
	f := b.facts
	return &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{f.num(0, placeSide), f.num(0, placeSide), f.num(0, placeSide/10)}}
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

// reopen measures the way from a closed file to the first answer.
func (b *bench) reopen(path string) error {
	if err := b.m.Close(); err != nil {
		return err
	}
	return b.measure("open and first recall", 1, 1, func(int) (int, error) {
		m, err := b.a.Open(b.ctx, path)
		if err != nil {
			return 0, err
		}
		res, err := m.Recall(b.ctx, &robotmem.RecallRequest{Query: b.facts.query(), N: benchTop})
		if cerr := m.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return 0, err
		}
		return res.Total, nil
	})
}

// memory reads the figures while everything that the questions needed is
// loaded.
func (b *bench) memory(path string) memoryFigures {
	b.facts = newFactMaker() // so that only the memory's own heap is counted
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
	w.line("memory %s resident, %s heap; file %s", sizeText(r.Memory.RSSBytes), sizeText(r.Memory.HeapBytes), sizeText(r.Memory.FileBytes))
	return w.err
}
