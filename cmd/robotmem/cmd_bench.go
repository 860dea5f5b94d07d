package main

import (
	"context"
	"os"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/bench"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

type benchCmd struct {
	Facts benchFactsCmd `cmd:"" default:"withargs" help:"Facts in a file of its own (default)."`
	Fleet benchFleetCmd `cmd:"" help:"Simulated robots that share the memory of a PostgreSQL server."`
}

type benchFactsCmd struct {
	N         int  `name:"n" default:"100000" help:"How many facts to learn before asking (default ${default})."`
	Encrypted bool `name:"encrypted" help:"Encrypt the file, with a key of its own."`
	JSON      bool `name:"json" help:"Print the figures as JSON."`
}

// Run learns n facts into a new file and measures.
func (c *benchFactsCmd) Run(ctx context.Context, a *app) error {
	if c.N < bench.Least || c.N > bench.Most {
		return invalid("n", "must be between %d and %d, not %d", bench.Least, bench.Most, c.N)
	}

	// Models would measure themselves rather than the memory.
	a.Config.Embedder, a.Config.Reranker = "none", ""
	if c.Encrypted {
		key, _, err := local.NewKey()
		if err != nil {
			return err
		}
		if ctx, err = local.WithKey(ctx, key); err != nil {
			return err
		}
	}

	r, err := bench.Facts(ctx, c.N, a.Config.Durability,
		func(ctx context.Context, path string, embedder robotmem.Embedder) (*local.Node, error) {
			a.Embedder = embedder
			return a.Open(ctx, path)
		}, a.newProgress)

	return a.showResult(c.JSON, r, err)
}

type benchFleetCmd struct {
	Robots   int  `name:"robots" default:"1000" help:"How many robots share the memory (default ${default}): each writes every 10 s, one in ten asks every second."`
	Memories int  `name:"memories" default:"100000" help:"How many memories they share before (default ${default})."`
	Seconds  int  `name:"seconds" default:"30" help:"How long they work (default ${default})."`
	JSON     bool `name:"json" help:"Print the figures as JSON."`
}

// Run measures on the server of --db, or without one on a server of its own.
func (c *benchFleetCmd) Run(ctx context.Context, a *app) error {
	if c.Robots < 1 || c.Robots > 100_000 {
		return invalid("robots", "must be between 1 and 100000, not %d", c.Robots)
	}
	if c.Memories < bench.Least || c.Memories > bench.Most {
		return invalid("memories", "must be between %d and %d, not %d", bench.Least, bench.Most, c.Memories)
	}
	if c.Seconds < 1 || c.Seconds > 86_400 {
		return invalid("seconds", "must be between 1 and 86400, not %d", c.Seconds)
	}

	o := bench.FleetOptions{Robots: c.Robots, Memories: c.Memories, Seconds: c.Seconds, Progress: a.newProgress}
	if site.IsURL(a.Config.DB) {
		o.Server = a.Config.DB
	}

	var err error
	if o.Options, err = a.options(); err != nil {
		return err
	}
	if o.Program, err = os.Executable(); err != nil {
		return err
	}

	r, err := bench.Fleet(ctx, o)

	return a.showResult(c.JSON, r, err)
}
