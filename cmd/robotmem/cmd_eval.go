package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

type evalCmd struct {
	Set     evalSetCmd     `cmd:"" default:"withargs" help:"Questions of a folder in the BEIR layout (default)."`
	Answers evalAnswersCmd `cmd:"" help:"Questions about what the robots of eleven deployments learnt in a week; each deployment is judged by a setting chosen on the others."`
	Own     evalOwnCmd     `cmd:"" help:"Questions made from your own memories: half of the words of a sentence."`
}

type evalOwnCmd struct {
	N    int    `name:"n" default:"1000" help:"How many of the newest facts, up to 1000."`
	Seed uint64 `name:"seed" default:"1" help:"Another seed drops other words."`
	JSON bool   `name:"json" help:"Print the figures as JSON."`
}

// Run copies the newest facts into a temporary file and asks for them there.
func (c *evalOwnCmd) Run(ctx context.Context, a *app) error {
	if err := a.existing(); err != nil {
		return err
	}

	embedder := a.Config.Embedder
	a.Config.Embedder = "none" // to read the facts
	set := &eval.Set{}
	err := a.Use(ctx, func(m robotmem.Node) error {
		res, err := m.List(ctx, &robotmem.ListRequest{Type: "fact", Collection: a.Config.Collection, Limit: c.N})
		if err == nil {
			set = eval.OwnSet(res.Memories, c.Seed)
		}
		return err
	})
	a.Config.Embedder = embedder
	if err == nil && len(set.Queries) == 0 {
		err = invalid("db", "no memory has a sentence that is long enough for a question; learn some first")
	}
	if err != nil {
		return err
	}

	res, err := (&evalSetCmd{}).run(ctx, a, set)

	return a.showResult(c.JSON, res, err)
}

type evalAnswersCmd struct {
	Robots bool   `name:"robots" help:"Ask the older set instead: three robots in four weeks."`
	Half   string `name:"half" enum:"dev,held,all" default:"dev" help:"With --robots, half of the questions: dev, held (to be looked at once) or all."`
	Wrong  bool   `name:"wrong" help:"Also list the questions that were not answered well."`
	JSON   bool   `name:"json" help:"Print the figures as JSON."`
}

// Run lets robots learn in temporary files and asks their questions.
func (c *evalAnswersCmd) Run(ctx context.Context, a *app) error {
	embedder, err := a.embedder()
	if err != nil {
		return err
	}

	reranker, err := a.reranker()
	if err != nil {
		return err
	}

	open := func(s eval.Setting) eval.OpenAt {
		return func(now func() time.Time) (robotmem.Service, func() error, error) {
			dir, err := os.MkdirTemp("", "robotmem-")
			if err != nil {
				return nil, nil, err
			}
			o, err := a.options()
			if err != nil {
				return nil, nil, err
			}
			// The questions have the time of the data set, so that the results depend on neither the day nor the
			// zone of this machine.
			o.Clock, o.Location, o.Embedder, o.Reranker = now, time.UTC, embedder, reranker
			if s.Weights != nil {
				o.Weights = s.Weights
			}
			m, err := local.Open(ctx, filepath.Join(dir, "memory.db"), o)
			if err != nil {
				return nil, nil, err
			}

			return m, func() error { return errors.Join(m.Close(), os.RemoveAll(dir)) }, nil
		}
	}
	if c.Robots {
		res, err := eval.AskRobots(ctx, c.Half, open(eval.Setting{}))
		return a.showResult(c.JSON, res, err)
	}

	m := progress.Of(ctx)
	res, err := eval.LeaveOneOut(ctx, open, func(done, all int) {
		m.Set(progress.Report{Done: int64(done), Total: int64(all), Unit: "deployments", Stage: "asking"})
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(res)
	}

	return res.Print(a.Stdout, c.Wrong)
}

type evalSetCmd struct {
	Dir  string `arg:"" help:"Folder with corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)."`
	JSON bool   `name:"json" help:"Print the figures as JSON."`
}

// Run learns the corpus into a temporary file, asks the queries and prints the figures.
func (c *evalSetCmd) Run(ctx context.Context, a *app) error {
	set, err := eval.Load(c.Dir)
	if err != nil {
		return invalid("dir", "%v", err)
	}
	res, err := c.run(ctx, a, set)
	if err == nil && res.Queries == 0 {
		err = invalid("dir", "has %d documents, but no judged query", res.Docs)
	}

	return a.showResult(c.JSON, res, err)
}

func (c *evalSetCmd) run(ctx context.Context, a *app, set *eval.Set) (res *eval.Result, err error) {
	err = a.inTempMemory(ctx, func(m *local.Node, path string) (err error) {
		show := a.newProgressOf("eval "+set.Name, "texts")

		var o eval.Options
		o.Progress = func(done, total int) { show(int64(done), int64(total)) }

		var nodes []*local.Node

		weights, reranker := a.Config.Weights, a.Config.Reranker
		// These nodes rank in other ways, to compare with. Only ranking by words needs no embedder.
		for _, way := range eval.Alone {
			if !a.hasEmbedder() && way.Name != "words" {
				continue
			}
			a.Config.Weights, a.Config.Reranker = way.Weights, ""
			n, err := a.Open(ctx, path)
			a.Config.Weights, a.Config.Reranker = weights, reranker
			if err != nil {
				return err
			}
			defer func() { _ = n.Close() }()
			o.Lists = append(o.Lists, eval.List{Name: way.Name, Service: n})
			nodes = append(nodes, n)
		}

		o.Learnt = func(ctx context.Context) error {
			if a.hasEmbedder() {
				if err := m.Reembed(ctx, show); err != nil {
					return err
				}
			}

			for _, n := range append(nodes, m) {
				if err := n.Warm(ctx); err != nil {
					return err
				}
			}

			return nil
		}
		res, err = eval.Run(ctx, m, set, o)

		return err
	})

	return res, err
}

// inTempMemory calls f with a new memory in a temporary folder.
func (a *app) inTempMemory(ctx context.Context, f func(m *local.Node, path string) error) (err error) {
	dir, err := os.MkdirTemp("", "robotmem-")
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "memory.db")
	m, err := a.Open(ctx, path)
	if err != nil {
		return err
	}

	return errors.Join(f(m, path), m.Close())
}
