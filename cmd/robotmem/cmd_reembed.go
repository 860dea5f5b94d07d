package main

import (
	"context"
	"errors"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type reembedCmd struct {
	JSON bool `name:"json" help:"Print the outcome as JSON."`
}

// Run moves the user's memory to the model of --embedder.
func (c *reembedCmd) Run(ctx context.Context, a *app) error {
	if a.Config.Embedder == "none" {
		return invalid("embedder", "is none: name the model to move to, such as --embedder ollama:nomic-embed-text")
	}
	return a.UseFile(ctx, "reembed", func(m *local.Node) error { return c.run(ctx, a, m) })
}

func (c *reembedCmd) run(ctx context.Context, a *app, m *local.Node) error {
	show := a.newProgressOf("reembed", "memories")

	var r struct {
		Embedder string `json:"embedder"`
		Embedded int64  `json:"embedded"`
	}
	err := m.Reembed(ctx, func(done, total int64) {
		r.Embedded = done
		show(done, total)
	})
	if ctx.Err() != nil {
		return &robotmem.Error{Op: "reembed", Kind: robotmem.Unavailable, Err: errors.New("interrupted; what is done is kept, run it again to go on")}
	}
	if err != nil {
		return err
	}

	s, err := m.Stats(ctx, &admin.StatsRequest{})
	if err != nil {
		return err
	}

	r.Embedder = s.Embedder

	return a.show(c.JSON, r, func(w *printed.Lines) { w.Line("%d memories embedded with %s", r.Embedded, r.Embedder) })
}
