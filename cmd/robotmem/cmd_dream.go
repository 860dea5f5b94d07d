package main

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/agent"
	"github.com/robotmem/robotmem-go/robotmem/agent/model"
	"github.com/robotmem/robotmem-go/robotmem/agent/workers"
)

// dreamCmd dreams by default.
type dreamCmd struct {
	Run      dreamRunCmd      `cmd:"" default:"withargs" help:"Dream once (default): at night, on the dock, or whenever nobody asks."`
	Status   dreamStatusCmd   `cmd:"" help:"Show what language models have taken, and the caps."`
	Pause    dreamPauseCmd    `cmd:"" help:"Ask no language model until it is resumed, also in running nodes and proxies."`
	Resume   dreamResumeCmd   `cmd:"" help:"Let language models work again."`
	Proposed dreamProposedCmd `cmd:"" help:"List the rules that a model proposes."`
	Confirm  dreamConfirmCmd  `cmd:"" help:"Make a proposal a rule."`
	Reject   dreamRejectCmd   `cmd:"" help:"Forget a proposal; restore brings it back."`
}

type dreamRunCmd struct {
	Captions bool `name:"captions" help:"Also describe images, which needs a model that sees."`
	Calls    int  `name:"calls" default:"60" placeholder:"N" help:"Most calls of the model in this dream (default ${default})."`
	Again    bool `name:"again" help:"Look again at what earlier dreams have looked at."`
	JSON     bool `name:"json" help:"Print the answer as JSON."`
}

// Run dreams.
func (c *dreamRunCmd) Run(ctx context.Context, a *app) error {
	if c.Calls < 1 {
		return invalid("calls", "must be 1 or more, not %d", c.Calls)
	}

	llm, err := a.languageModel()
	if err != nil {
		return err
	}
	if llm == nil {
		a.note("without a language model only patterns are found; name one with ROBOTMEM_LLM=ollama:MODEL")
	}

	r := workers.NewReport()

	err = a.Use(ctx, func(node robotmem.Node) error {
		done, err := a.dreamt(c.Again)
		if err != nil {
			return err
		}
		d := &workers.Dream{
			Workers:    &workers.Workers{Node: node, Model: llm, Log: a.Log},
			Collection: orDefault(a.Config.Collection), Done: done, Captions: c.Captions, Most: c.Calls,
		}

		return d.Run(ctx, r)
	})
	if err != nil {
		return err
	}

	return a.show(c.JSON, r, func(w *printed.Lines) { printed.Dream(w, r) })
}

// dreamt opens the record of what earlier dreams of this memory have examined.
func (a *app) dreamt(again bool) (workers.Done, error) {
	name, err := a.memoryName()
	if err != nil {
		return nil, err
	}
	path := ""
	if a.Config.Home != "" && !a.Config.ReadOnly {
		path = filepath.Join(a.Config.Home, "dreams", agent.Key(name)+".done")
	}

	return workers.OpenDone(path, again)
}

// dreamWhenIdle dreams whenever nothing has changed for the time of the settings.
func (a *app) dreamWhenIdle(ctx context.Context, node robotmem.Service) {
	if a.Config.idle == 0 || a.Config.ReadOnly {
		return
	}

	llm, err := a.languageModel()
	if err != nil {
		a.Log.Error("the node does not dream", "error", err)
		return
	}
	done, err := a.dreamt(false)
	if err != nil {
		a.Log.Error("the node does not dream", "error", err)
		return
	}

	d := &workers.Dream{
		Workers: &workers.Workers{Node: node, Model: llm, Log: a.Log}, Collection: orDefault(a.Config.Collection), Done: done,
	}
	workers.WhenIdle(ctx, d, a.Config.idle)
}

type dreamStatusCmd struct {
	JSON bool `name:"json" help:"Print the answer as JSON."`
}

// Run shows the ledger.
func (c *dreamStatusCmd) Run(a *app) error {
	use, err := a.ledger().Use()
	if err == nil && use == nil {
		l := a.ledger()
		use = &admin.LanguageModelUse{CapCalls: l.Caps.Calls, CapTokens: l.Caps.Tokens, CapSeconds: l.Caps.Seconds, Tasks: []admin.LanguageModelTask{}}
	}

	return a.showResult(c.JSON, &struct {
		Model string                  `json:"model"`
		Use   *admin.LanguageModelUse `json:"use"`
	}{cmp.Or(a.Config.LLM, "none"), use}, err)
}

type dreamPauseCmd struct{}

// Run pauses.
func (c *dreamPauseCmd) Run(a *app) error { return pause(a.ledger(), true) }

type dreamResumeCmd struct{}

// Run resumes.
func (c *dreamResumeCmd) Run(a *app) error { return pause(a.ledger(), false) }

func pause(l *model.Ledger, on bool) error {
	if l.Path == "" {
		return invalid("home", "there is no home folder; set ROBOTMEM_HOME")
	}
	return l.Pause(on)
}

type dreamProposedCmd struct {
	JSON bool `name:"json" help:"Print the answer as JSON."`
}

// Run lists the proposals.
func (c *dreamProposedCmd) Run(ctx context.Context, a *app) error {
	return a.Use(ctx, func(node robotmem.Node) error {
		res, err := workers.Proposals(ctx, node, cmp.Or(a.Config.Collection, robotmem.AllCollections))
		return a.showResult(c.JSON, res, err)
	})
}

type dreamConfirmCmd struct {
	ID   int64 `arg:"" name:"memory-id" help:"The memory_id of the proposal."`
	JSON bool  `name:"json" help:"Print the answer as JSON."`
}

// Run confirms a proposal.
func (c *dreamConfirmCmd) Run(ctx context.Context, a *app) error {
	return a.Use(ctx, func(node robotmem.Node) error {
		m, err := workers.Confirm(ctx, node, c.ID)
		return a.showResult(c.JSON, settled("confirmed", m), err)
	})
}

type dreamRejectCmd struct {
	ID     int64  `arg:"" name:"memory-id" help:"The memory_id of the proposal."`
	Reason string `name:"reason" required:"" help:"Why it is wrong; the audit log keeps it."`
	JSON   bool   `name:"json" help:"Print the answer as JSON."`
}

// Run rejects a proposal.
func (c *dreamRejectCmd) Run(ctx context.Context, a *app) error {
	return a.Use(ctx, func(node robotmem.Node) error {
		m, err := workers.Reject(ctx, node, c.ID, c.Reason)
		return a.showResult(c.JSON, settled("rejected", m), err)
	})
}

// settled is the answer about a proposal.
func settled(status string, m *robotmem.Memory) any {
	if m == nil {
		return nil
	}

	return &struct {
		Status   string `json:"status"`
		MemoryID int64  `json:"memory_id"`
		Content  string `json:"content"`
	}{status, m.MemoryID, m.Content}
}
