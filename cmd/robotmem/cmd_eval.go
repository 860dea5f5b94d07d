package main

import (
	"context"
	"errors"
	"io/fs"
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
}

type evalAnswersCmd struct {
	Half string `name:"half" enum:"dev,held,all" default:"dev" help:"Half of the questions: dev, held (to be looked at once) or all."`
	JSON bool   `name:"json" help:"Print the figures as JSON."`
}

// Run lets three robots learn in temporary files and asks their questions.
func (c *evalAnswersCmd) Run(ctx context.Context, a *app) error {
	half := c.Half
	if half == "all" {
		half = ""
	}
	res, err := eval.AskRobots(ctx, half, func(now func() time.Time) (robotmem.Service, func() error, error) {
		dir, err := os.MkdirTemp("", "robotmem-")
		if err != nil {
			return nil, nil, err
		}
		o, err := a.options(clientCLI)
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
	if err != nil {
		return err
	}
	return a.show(c.JSON, res, nil)
}

type evalSetCmd struct {
	Dir   string   `arg:"" help:"Folder with corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)."`
	Where []string `name:"where" sep:"none" placeholder:"KEY=VALUE,..." help:"Only queries whose meta has one of these values; repeatable."`
	JSON  bool     `name:"json" help:"Print the figures as JSON."`
}

// Run learns the corpus into a temporary file, asks the queries and prints the figures.
func (c *evalSetCmd) Run(ctx context.Context, a *app) error {
	var o eval.Options
	for _, text := range c.Where {
		condition, err := eval.ParseCondition(text)
		if err != nil {
			return invalid("where", "%v", err)
		}
		o.Where = append(o.Where, condition)
	}
	set, err := eval.Load(c.Dir)
	if err != nil {
		return invalid("dir", "%v", err)
	}
	res, err := c.run(ctx, a, set, o)
	if err != nil {
		return err
	}
	if res.Queries == 0 {
		return invalid("where", "leaves no query that is judged; the set has %d documents", res.Docs)
	}
	return a.show(c.JSON, res, nil)
}

func (c *evalSetCmd) run(ctx context.Context, a *app, set *eval.Set, o eval.Options) (res *eval.Result, err error) {
	err = a.inTempMemory(ctx, func(m *local.Node, path string) (err error) {
		p := a.newProgress("eval "+set.Name, 0)
		defer p.Done()
		o.Progress = func(done, total int) { p.Set(int64(done), int64(total)) }
		nodes := []*local.Node{m}
		defer func() {
			for _, node := range nodes {
				err = errors.Join(err, node.Close())
			}
		}()
		if a.hasEmbedder() {
			weights := a.Config.Weights
			defer func() { a.Config.Weights = weights }()
			for _, list := range eval.Alone {
				a.Config.Weights = list.Weights
				alone, err := a.Open(ctx, path)
				if err != nil {
					return err
				}
				nodes = append(nodes, alone)
				o.Lists = append(o.Lists, eval.List{Name: list.Name, Service: alone})
			}
		}
		o.Learnt = func(ctx context.Context) error {
			if len(nodes) > 1 {
				if err := m.Reembed(ctx, func(done, total int64) { p.Set(done, total) }); err != nil {
					return err
				}
			}
			for _, node := range nodes {
				if err := node.Warm(ctx); err != nil {
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
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "memory.db")
	m, err := a.Open(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(f(m, path), m.Close())
}
