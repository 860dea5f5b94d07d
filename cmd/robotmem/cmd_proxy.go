package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/serving"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/model"
	"github.com/robotmem/robotmem-go/robotmem/agent/proxy"
	"github.com/robotmem/robotmem-go/robotmem/agent/workers"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type proxyCmd struct {
	Upstream      string   `name:"upstream" required:"" placeholder:"URL" help:"The server of the language model with its API of OpenAI, such as http://localhost:11434/v1 of Ollama."`
	Addr          string   `name:"addr" default:"127.0.0.1:7879" placeholder:"HOST:PORT" help:"Where to listen (default ${default}). Port 0 takes a free one. An address that other machines reach needs ROBOTMEM_PROXY_TOKEN."`
	Conversations string   `name:"conversations" default:"chat" placeholder:"NAME" help:"Collection of the turns and facts of conversations (default ${default}). What every conversation may recall is in --collection."`
	TopK          int      `name:"top-k" default:"5" placeholder:"N" help:"Memories that a question is given, 0 to 100 (default ${default}); a request may say memory_top_k."`
	Threshold     float64  `name:"score-threshold" placeholder:"X" help:"Lowest relevance of a memory, 0 to 1. Default: what fits well enough; a request may say memory_score_threshold."`
	Recency       float64  `name:"recency-weight" default:"0.2" placeholder:"X" help:"How much newer memories are preferred, 0 to 1 (default ${default}); a request may say memory_recency_weight."`
	MaxTurns      int      `name:"max-turns" default:"500" placeholder:"N" help:"Turns of a conversation that stay; older ones are forgotten, and restore brings them back. 0 keeps all (default ${default})."`
	AllowHost     []string `name:"allow-host" sep:"none" placeholder:"NAME" help:"Name by which clients may call the proxy, beside localhost; repeatable."`
}

// Run serves until a signal comes. It prints the address once it accepts connections.
func (c *proxyCmd) Run(ctx context.Context, a *app) error {
	upstream, err := url.Parse(c.Upstream)
	if err != nil || upstream.Scheme != "http" && upstream.Scheme != "https" || upstream.Host == "" {
		return invalid("upstream", "must be an http:// or https:// URL such as http://localhost:11434/v1, not %q", c.Upstream)
	}

	const mostK = 100
	switch {
	case c.TopK < 0 || c.TopK > mostK:
		return invalid("top-k", "must be 0 to %d, not %d", mostK, c.TopK)
	case !(c.Threshold >= 0 && c.Threshold <= 1):
		return invalid("score-threshold", "must be 0 to 1, not %v", c.Threshold)
	case !(c.Recency >= 0 && c.Recency <= 1):
		return invalid("recency-weight", "must be 0 to 1, not %v", c.Recency)
	case c.MaxTurns < 0:
		return invalid("max-turns", "must be 0 or more, not %d", c.MaxTurns)
	}

	onlyLocal, err := serving.OnlyLocal(c.Addr)
	if err != nil {
		return err
	}

	const shortest = 16
	if token := a.Config.ProxyToken; token != "" && len(token) < shortest {
		return invalid("proxy_token", "must have at least %d characters", shortest)
	}
	if !onlyLocal && a.Config.ProxyToken == "" {
		return &robotmem.Error{Kind: robotmem.Forbidden, Field: "addr", Err: fmt.Errorf("%q can be reached by other machines, and who reaches the proxy reads the memory; set ROBOTMEM_PROXY_TOKEN, which clients send in the header X-Robotmem-Token, or use 127.0.0.1", c.Addr)}
	}

	llm, err := a.languageModel()
	if err != nil {
		return err
	}

	return a.Use(ctx, func(node robotmem.Node) error {
		// What the token of a node does not allow is said now, and not in the log of the first turn.
		_, err := node.List(ctx, &robotmem.ListRequest{Collection: c.Conversations, Limit: 1})
		if errors.Is(err, robotmem.Forbidden) || errors.Is(err, robotmem.Invalid) {
			return err
		}

		o := proxy.Options{
			Node: node, Upstream: upstream, Collection: c.Conversations, Global: orDefault(a.Config.Collection),
			TopK: c.TopK, Recency: c.Recency, Threshold: c.Threshold, MaxTurns: c.MaxTurns,
			Token: a.Config.ProxyToken, Hosts: c.AllowHost, Log: a.Log,
		}
		if llm != nil {
			done, err := a.dreamt(false)
			if err != nil {
				return err
			}
			o.After = workers.Chat(&workers.Workers{Node: node, Model: llm, Log: a.Log}, done)
		}
		if m, ok := node.(*local.Node); ok {
			defer serving.InBackground(ctx, func(ctx context.Context) { _ = m.Warm(ctx) })()
		}

		return c.serve(ctx, a, proxy.New(o))
	})
}

func (c *proxyCmd) serve(ctx context.Context, a *app, p *proxy.Proxy) (err error) {
	defer func() { err = errors.Join(err, p.Close()) }()

	l, err := serving.Listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout, "http://"+l.Addr().String()+"/v1")
	if text := whatIsStored(a.Config.ReadOnly, a.Config.LLM); text != "" {
		a.note("%s", text)
	}

	const headers = 10 * time.Second

	return serving.Serve(ctx, &http.Server{Handler: p, ReadHeaderTimeout: headers}, l)
}

// whatIsStored tells whoever starts a proxy what it does not do, "" if it does all.
func whatIsStored(readOnly bool, llm string) string {
	switch {
	case readOnly:
		return "the memory is read-only: it is recalled, and no turn is stored"
	case llm == "" || llm == "none":
		return "turns are stored and recalled; for facts and summaries name a model: ROBOTMEM_LLM=ollama:MODEL"
	}

	return ""
}

func orDefault(collection string) string {
	if collection == "" || collection == robotmem.AllCollections {
		return robotmem.DefaultCollection
	}
	return collection
}

// ledger counts what language models take on this machine, for all memories of the user.
func (a *app) ledger() *model.Ledger {
	c := &a.Config
	l := &model.Ledger{Caps: model.Caps{Calls: c.LLMCalls, Tokens: c.LLMTokens, Seconds: c.LLMSeconds}}
	if c.Home != "" {
		l.Path = filepath.Join(c.Home, "language-model.json")
	}

	return l
}

// languageModel opens the language model of the settings, nil for none.
func (a *app) languageModel() (model.Model, error) {
	c := &a.Config
	m, err := model.Open(strings.TrimSpace(c.LLM), model.Options{OllamaURL: c.OllamaURL, OpenAIURL: c.OpenAIURL, OpenAIKey: c.OpenAIKey})
	if err != nil || m == nil {
		return nil, err
	}
	if c.Home == "" {
		return nil, invalid("llm", "needs a home folder for its ledger; set ROBOTMEM_HOME")
	}

	return &model.Metered{Model: m, Ledger: a.ledger()}, nil
}
