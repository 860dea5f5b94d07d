package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

type evalCmd struct {
	Dir   string   `arg:"" help:"Folder with corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)."`
	Where []string `name:"where" sep:"none" placeholder:"KEY=VALUE,..." help:"Only queries whose meta has one of these values; repeatable."`
	JSON  bool     `name:"json" help:"Print the figures as JSON."`
}

// Run learns the corpus into a file of its own, asks the queries and prints
// the figures.
func (c *evalCmd) Run(ctx context.Context, a *app) error {
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
	var res *eval.Result
	err = a.inTempMemory(ctx, "", func(m *robotmem.Engine, _ string) error {
		p := a.newProgress("eval "+set.Name, 0)
		defer p.Done()
		o.Progress = func(done, total int) { p.Set(int64(done), int64(total)) }
		res, err = eval.Run(ctx, m, set, o)
		return err
	})
	if err != nil {
		return err
	}
	if res.Queries == 0 {
		return invalid("where", "leaves no query that is judged; the set has %d documents", res.Docs)
	}
	if c.JSON {
		return a.PrintJSON(res)
	}
	return printEval(a, res)
}

func printEval(a *app, r *eval.Result) error {
	w := &lines{w: a.Stdout}
	w.line("%s: %d documents, %d queries", r.Set, r.Docs, r.Queries)
	if r.Cut > 0 {
		w.line("  warning: %d documents were cut to the 16 KiB of one memory", r.Cut)
	}
	if r.Refused > 0 {
		w.line("  warning: %d documents could not be learnt", r.Refused)
	}
	if r.Unjudged > 0 {
		w.line("  warning: %d queries were skipped, nothing says what answers them", r.Unjudged)
	}
	w.line("  hit@1    %.3f", r.Hit1)
	w.line("  R@10     %.3f", r.Recall10)
	w.line("  MRR      %.3f", r.MRR)
	w.line("  nDCG@10  %.3f", r.NDCG10)
	w.line("  learnt in %.1f s, %.2f ms a query", r.LearnS, r.QueryMS)
	return w.err
}

// inTempMemory calls f with a new memory in a folder below parent, "" for the
// system's own, that is removed afterwards. The user's file is not touched.
func (a *app) inTempMemory(ctx context.Context, parent string, f func(m *robotmem.Engine, path string) error) (err error) {
	dir, err := os.MkdirTemp(parent, "robotmem-")
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
