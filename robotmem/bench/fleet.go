package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// FleetOptions say what robots do, and where.
type FleetOptions struct {
	Server   string // the URL of a PostgreSQL server; "" starts one for the time of the bench
	Robots   int    // that share the memory: each writes every 10 s, one in ten asks every second
	Memories int    // that they share before
	Seconds  int    // that they work
	Options  local.Options
	Program  string // robotmem itself, which runs as a node; "" leaves robots over HTTP out
	Progress Progress
}

// FleetReport has the figures of a bench with robots.
type FleetReport struct {
	Report
	Server         string      `json:"server"`
	Robots         int         `json:"robots"`
	Seconds        int         `json:"seconds"`
	Nodes          int         `json:"nodes"`
	BytesPerMemory int64       `json:"bytes_per_memory"` // in the database, with indexes and vectors
	HTTP           *HTTPReport `json:"http,omitempty"`
}

const (
	fleetNodes   = 2
	fleetBatch   = 500 // items that a robot's sync sends at once
	writeEvery   = 10 * time.Second
	askEvery     = time.Second
	askers       = 10 // one robot in so many asks
	fleetDropped = time.Minute
)

// Fleet measures robots on the PostgreSQL server at o.Server, or on a server of its own.
func Fleet(ctx context.Context, o FleetOptions) (*FleetReport, error) {
	r := &FleetReport{Report: *newReport(o.Memories), Server: "of --db", Robots: o.Robots, Seconds: o.Seconds, Nodes: fleetNodes}
	b := &fleetBench{
		bench: bench{show: o.Progress, facts: eval.NewFacts(), report: &r.Report}, FleetReport: r, options: o.Options, program: o.Program,
	}
	if o.Server != "" {
		return r, b.onServer(ctx, o.Server)
	}

	r.Server = "of its own"

	return r, withPostgres(ctx, func(url string, pid int) error {
		b.serverPID = pid
		return b.onServer(ctx, url)
	})
}

// fleetBench measures the nodes of one tenant.
type fleetBench struct {
	bench
	*FleetReport
	options   local.Options
	program   string
	serverPID int        // of the PostgreSQL server of the bench, 0 for another one
	mu        sync.Mutex // guards facts
	nodes     []*local.Node
}

// onServer measures in a new tenant, which it deletes, also after an interrupt.
func (b *fleetBench) onServer(ctx context.Context, url string) (err error) {
	o := site.Options{Options: b.options, Tenant: "bench-" + uuid.NewString()}
	if o.Payloads, err = os.MkdirTemp("", "robotmem-"); err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	defer func() { err = errors.Join(err, os.RemoveAll(o.Payloads)) }()
	site, err := site.Connect(ctx, url, o)
	if err != nil {
		return err
	}

	defer site.Close()
	before, err := site.Bytes(ctx)
	if err != nil {
		return err
	}

	defer func() {
		err = errors.Join(err, b.close())
		// Delete the tenant even after an interrupt, which has ended ctx.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), fleetDropped)
		defer cancel()
		err = errors.Join(err, site.DropTenant(limited, o.Tenant))
	}()
	b.try(func() error { return b.open(ctx, url, o) })
	b.fill(ctx)
	// The nodes are opened again with an embedder, so that filling them and computing vectors are measured apart.
	o.Embedder = &eval.WordVectors{}
	b.try(func() error { return b.open(ctx, url, o) })
	b.measure("vectors of all memories", 1, 1, b.Facts, func(int) error { return b.nodes[0].Reembed(ctx, func(int64, int64) {}) })
	b.measure("indexes of a node in memory", len(b.nodes), 1, 1, func(i int) error { return b.nodes[i].Warm(ctx) })
	b.measure("first question by a filter", len(b.nodes), 1, 1, func(i int) error { return filtered(ctx, b.nodes[i]) })
	b.measure("first hybrid question", len(b.nodes), 1, 1, func(i int) error { return b.hybrid(ctx, b.nodes[i]) })
	b.try(func() error {
		after, err := site.Bytes(ctx)
		b.BytesPerMemory = (after - before) / int64(b.Facts)
		return err
	})
	b.try(func() error { return b.work(ctx) })
	if b.program != "" {
		b.try(func() error { return b.overHTTP(ctx, site, url, o.Tenant) })
	}
	b.report.Resident = procValue("/proc/self/status", "VmRSS", "")

	return b.err
}

// open opens the nodes, again if they are open.
func (b *fleetBench) open(ctx context.Context, url string, o site.Options) error {
	if err := b.close(); err != nil {
		return err
	}

	for range fleetNodes {
		n, err := site.Open(ctx, url, o)
		if err != nil {
			return err
		}
		b.nodes = append(b.nodes, n)
	}

	return nil
}

func (b *fleetBench) close() (err error) {
	for _, n := range b.nodes {
		err = errors.Join(err, n.Close())
	}
	b.nodes = nil
	return err
}

// fact makes a fact of a robot.
func (b *fleetBench) fact(robot int) *robotmem.LearnRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	req := b.next(1)[0]
	req.Context["robot"] = map[string]any{"id": fmt.Sprintf("robot-%d", robot)}
	return &req
}

// fill learns the shared memories as syncs of robots do, to the nodes in turn.
func (b *fleetBench) fill(ctx context.Context) {
	size := min(fleetBatch, b.Facts)
	b.measure(fmt.Sprintf("sync, batches of %d", size), (b.Facts+size-1)/size, fleetNodes, size, func(i int) error {
		items := make([]robotmem.LearnRequest, min(size, b.Facts-i*size))
		for k := range items {
			items[k] = *b.fact(i % b.Robots)
		}
		res, err := b.nodes[i%len(b.nodes)].LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: items, KeepDuplicates: true})
		if err == nil && res.Results[0].Error != nil {
			err = errors.New(res.Results[0].Error.Detail)
		}

		return err
	})
}

// hybrid asks by words and meaning.
func (b *fleetBench) hybrid(ctx context.Context, n *local.Node) error {
	b.mu.Lock()
	query := b.facts.Query()
	b.mu.Unlock()
	res, err := n.Recall(ctx, &robotmem.RecallRequest{Query: query, N: top})
	if err == nil && len(res.Degraded) > 0 {
		err = fmt.Errorf("bench: hybrid recall: %s", res.Degraded[0])
	}

	return err
}

// filtered asks for what one memory in a thousand has.
func filtered(ctx context.Context, n *local.Node) error {
	_, err := n.Recall(ctx, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"task.trial": "rare"}, N: top})
	return err
}

// call is one kind of call of a robot.
type call struct {
	name  string
	every time.Duration
	do    func(ctx context.Context, n *local.Node) error

	mu   sync.Mutex
	took []time.Duration
}

// work lets the robots write and ask. The time of a call is from when it was due, so that a call
// that waits for the one before counts its wait.
func (b *fleetBench) work(ctx context.Context) error {
	write := &call{name: "learn", every: writeEvery}
	hybrid := &call{name: "hybrid recall", every: askEvery, do: b.hybrid}
	filtered := &call{name: "recall by filter 0.1 %", every: askEvery, do: filtered}
	length := time.Duration(b.Seconds) * time.Second
	bar := b.show.begin("robots at work", "seconds", int64(b.Seconds))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	var wg sync.WaitGroup
	start := time.Now()

	repeat := func(c *call, n *local.Node, do func(context.Context, *local.Node) error) {
		wg.Go(func() {
			// Each robot has a phase of its own. Otherwise all would write in the same instant.
			for due := start.Add(rand.N(c.every)); due.Sub(start) < length; due = due.Add(c.every) { //nolint:gosec // a phase
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Until(due)):
				}
				if err := do(ctx, n); err != nil {
					stop(fmt.Errorf("bench: %s: %w", c.name, err))
					return
				}
				c.mu.Lock()
				c.took = append(c.took, time.Since(due))
				c.mu.Unlock()
			}
		})
	}
	for robot := range b.Robots {
		n := b.nodes[robot%len(b.nodes)]
		repeat(write, n, func(ctx context.Context, n *local.Node) error {
			_, err := n.Learn(ctx, b.fact(robot))
			return err
		})
		if robot%askers != 0 {
			continue
		}
		ask := hybrid
		if robot/askers%2 == 1 {
			ask = filtered
		}
		repeat(ask, b.nodes[robot/askers/2%len(b.nodes)], ask.do)
	}

	wg.Go(func() { countSeconds(ctx, bar, start, length) })
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	for _, c := range []*call{write, hybrid, filtered} {
		b.report.add(c.name, c.took, float64(len(c.took))/time.Since(start).Seconds())
	}

	return nil
}

// countSeconds moves a bar each second until ctx or the length of the work ends.
func countSeconds(ctx context.Context, bar *progress.Meter, began time.Time, length time.Duration) {
	for tick := time.Tick(time.Second); time.Since(began) < length; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			bar.Add(1)
		}
	}
}
