package main

import (
	"context"
	"errors"

	"github.com/robotmem/robotmem-go/robotmem"
)

type reembedCmd struct {
	JSON bool `name:"json" help:"Print the outcome as JSON."`
}

// reembedResult is what was done.
type reembedResult struct {
	Embedder string `json:"embedder"`
	Embedded int64  `json:"embedded"`
}

// Help implements kong.HelpProvider.
func (c *reembedCmd) Help() string {
	return `Recall goes on with the old vectors until the last new one is there. A run that
is interrupted is taken up where it ended by the next.

Examples:
  robotmem reembed --embedder ollama:nomic-embed-text
  robotmem reembed --embedder model2vec:models/potion-base-8M`
}

// Run moves the user's memory to the model of --embedder.
func (c *reembedCmd) Run(ctx context.Context, a *app) (err error) {
	if a.Config.URL != "" {
		return invalid("url", "reembed works on a file; leave out --url and ROBOTMEM_URL, and run it on the node's machine")
	}
	if a.Config.Embedder == "none" {
		return invalid("embedder", "is none: name the model to move to, such as --embedder ollama:nomic-embed-text")
	}
	m, err := a.OpenDefault(ctx, clientCLI)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	bar := a.newProgress("reembed", 0)
	defer bar.Done()
	var r reembedResult
	err = m.Reembed(ctx, func(done, total int64) {
		r.Embedded = done
		bar.Set(done, total)
	})
	if ctx.Err() != nil {
		return &robotmem.Error{Op: "reembed", Kind: robotmem.Unavailable, Err: errors.New("interrupted; what is done is kept, run it again to go on")}
	}
	if err != nil {
		return err
	}
	s, err := m.Stats(ctx, &robotmem.StatsRequest{})
	if err != nil {
		return err
	}
	r.Embedder = s.Embedder
	if c.JSON {
		return a.PrintJSON(r)
	}
	w := &lines{w: a.Stdout}
	w.line("%d memories embedded with %s", r.Embedded, r.Embedder)
	return w.err
}
