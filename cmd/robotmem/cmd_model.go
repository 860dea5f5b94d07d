package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

type modelCmd struct {
	List   modelListCmd   `cmd:"" help:"List the pulled models."`
	Pull   modelPullCmd   `cmd:"" help:"Fetch a model from huggingface.co, or from HF_ENDPOINT. HF_TOKEN is for gated models."`
	Remove modelRemoveCmd `cmd:"" help:"Remove a pulled model."`
	Test   modelTestCmd   `cmd:"" help:"Measure the speed of a model and the languages that it knows."`
}

// models are the models in the home.
func (a *app) models() embedding.Models {
	if a.Config.homeErr != nil {
		return embedding.Models{}
	}
	return embedding.Models{Dir: filepath.Join(a.Config.Home, "models"), Runtimes: runtimes()}
}

type modelListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

func (c *modelListCmd) Run(a *app) error {
	m := a.models()
	pulled := m.List()
	if len(pulled) == 0 && !c.JSON {
		a.note("no model is pulled, and the one in the program is used; robotmem model pull OWNER/NAME gets another")
	}

	return a.show(c.JSON, &struct {
		Dir    string             `json:"dir"`
		Models []embedding.Pulled `json:"models"`
	}{m.Dir, pulled}, nil)
}

type modelPullCmd struct {
	Name string `arg:"" name:"name" help:"OWNER/NAME or OWNER/NAME@REVISION of a static model (Model2Vec). ONNX models need a robotmem that make onnx built."`
	JSON bool   `name:"json" help:"Print the model as JSON."`
}

func (c *modelPullCmd) Run(ctx context.Context, a *app) error {
	hub := embedding.Hub{Progress: a.newProgressOf(c.Name, "bytes")}
	hub.URL, _ = a.env("HF_ENDPOINT")
	hub.Token, _ = a.env("HF_TOKEN")
	p, err := a.models().Pull(ctx, hub, c.Name)
	if err != nil {
		return err
	}

	return a.show(c.JSON, p, func(w *printed.Lines) {
		printed.Answer(w, p)
		w.Line("Measure it: robotmem model test %s", p.Name)
		w.Line("Compute the vectors of a memory again: robotmem reembed --embedder %s", shell.Quote(p.Embedder))
	})
}

type modelRemoveCmd struct {
	Name string `arg:"" name:"name" help:"OWNER/NAME, as list shows it. Memories keep the vectors that the model made."`
	JSON bool   `name:"json" help:"Print the name as JSON."`
}

func (c *modelRemoveCmd) Run(a *app) error {
	return a.showResult(c.JSON, &struct {
		Removed string `json:"removed"`
	}{c.Name}, a.models().Remove(c.Name))
}

type modelTestCmd struct {
	Name string `arg:"" optional:"" name:"name" help:"A pulled model. Default --embedder."`
	JSON bool   `name:"json" help:"Print the figures as JSON."`
}

// Run measures an embedder.
func (c *modelTestCmd) Run(ctx context.Context, a *app) error {
	if c.Name != "" {
		p, err := a.models().Get(c.Name)
		if err != nil {
			return err
		}
		a.Config.Embedder = p.Embedder
	}

	e, err := a.embedder()
	if err == nil && e == nil {
		err = invalid("embedder", "is none; name one, such as robotmem model test --embedder ollama:nomic-embed-text")
	}
	if err != nil {
		return err
	}

	for start := time.Now(); e.State() == (robotmem.EmbedderState{}) && time.Since(start) < time.Second; {
		time.Sleep(10 * time.Millisecond) // auto looks for one
	}

	t, err := eval.TryEmbedder(ctx, e)
	if err != nil {
		return err
	}

	return a.showResult(c.JSON, t, err)
}
