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
)

type evalCmd struct {
	Set     evalSetCmd     `cmd:"" default:"withargs" help:"Questions of a folder in the BEIR layout (default)."`
	Answers evalAnswersCmd `cmd:"" help:"Questions of three robots about what they learnt."`
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
	Half string `name:"half" enum:"dev,held,all" default:"dev" help:"Half of the questions: dev, held (to be looked at once) or all."`
	JSON bool   `name:"json" help:"Print the figures as JSON."`
}

// Run lets three robots learn in temporary files and asks their questions.
func (c *evalAnswersCmd) Run(ctx context.Context, a *app) error {
	res, err := eval.AskRobots(ctx, c.Half, func(now func() time.Time) (robotmem.Service, func() error, error) {
		dir, err := os.MkdirTemp("", "robotmem-")
		if err != nil {
			return nil, nil, err
		}
		o, err := a.options()
		if err != nil {
			return nil, nil, err
		}
		o.Clock, o.Location = now, time.UTC
		m, err := local.Open(ctx, filepath.Join(dir, "memory.db"), o)
		if err != nil {
			return nil, nil, err
		}
		return m, func() error { return errors.Join(m.Close(), os.RemoveAll(dir)) }, nil
	})
	return a.showResult(c.JSON, res, err)
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
		weights := a.Config.Weights
		for _, way := range eval.Alone { // other ways to rank, of which words alone needs no embedder
			if !a.hasEmbedder() && way.Name != "words" {
				continue
			}
			a.Config.Weights = way.Weights
			n, err := a.Open(ctx, path)
			a.Config.Weights = weights
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
