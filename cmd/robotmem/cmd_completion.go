package main

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/complete"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/operations"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/mcp/clients"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish. The first lines of the script say where it belongs."`
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	_, err := io.WriteString(a.Stdout, complete.Script(c.Shell))
	return err
}

// completeWord is what the scripts call: robotmem __complete SHELL WORDS...
const completeWord = "__complete"

// completing returns the shell and the words that a script passes.
func completing(args []string) (shellAndWords []string, asked bool) {
	if len(args) < 2 || args[0] != completeWord {
		return nil, false
	}
	return args[1:], true
}

// completeTime limits the wait of somebody who has pressed the tab key.
const completeTime = time.Second

// complete prints what may stand at the cursor.
func (a *app) complete(ctx context.Context, parser *kong.Kong, ops operations.Commands, words []string) error {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	showSettings(parser.Model.Node)
	known := &completions{ctx: ctx, a: a, root: parser.Model.Node, ops: ops, words: words[1:]}
	complete.Answer(a.Stdout, words[0], words[1:], func(words []string) ([]complete.Candidate, bool) {
		return complete.Line(parser.Model, words, known.values)
	})

	return nil
}

// completions are the values that this program knows.
type completions struct {
	ctx   context.Context
	a     *app
	root  *kong.Node
	ops   operations.Commands
	words []string
}

// fixed are the values of settings that are no enumerations of the grammar, because their errors say more.
var fixed = map[string][]string{
	"durability": {"full", "normal"},
	"log-level":  {"debug", "info", "warn", "error"},
	"embedder":   {"auto", "none"},
}

func (c *completions) values(command string, v *kong.Value) ([]complete.Candidate, bool) {
	switch {
	case v.Name == "collection":
		return c.collections(), true
	case v.Name == "session-id" || v.Name == "for-session":
		return c.sessions(), true
	case v.Flag == nil && v.Name == "command":
		return c.commands(), true
	case v.Flag == nil && v.Name == "client":
		return c.clients(), true
	case fixed[v.Name] != nil:
		return candidates(fixed[v.Name]), true
	}

	if op := c.ops[command]; op != nil {
		if f, ok := op.Field(v.Name); ok {
			one := oneOf(f.Tag.Get("validate"))
			return candidates(one), one != nil
		}
	}

	return nil, false
}

// oneOf are the values that a rule of validation lists.
func oneOf(rule string) []string {
	_, list, found := strings.Cut(rule, "oneof=")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(list, ",")

	return strings.Fields(list)
}

func candidates(words []string) (found []complete.Candidate) {
	for _, word := range words {
		found = append(found, complete.Candidate{Text: word})
	}
	return found
}

func (c *completions) clients() (found []complete.Candidate) {
	for i := range clients.All {
		found = append(found, complete.Candidate{Text: clients.All[i].Name})
	}
	return found
}

// commands are the words of commands, after those that are there.
func (c *completions) commands() (found []complete.Candidate) {
	n := c.root

	for _, word := range c.words[1 : len(c.words)-1] {
		at := slices.IndexFunc(n.Children, func(child *kong.Node) bool { return child.Name == word })
		if at < 0 {
			return nil
		}
		n = n.Children[at]
	}

	for _, child := range n.Children {
		found = append(found, complete.Candidate{Text: child.Name, Help: child.Help})
	}

	return found
}

func (c *completions) collections() (found []complete.Candidate) {
	c.ask(func(m robotmem.Node) {
		res, err := m.Collections(c.ctx, &admin.CollectionsRequest{})
		if err != nil {
			return
		}

		for _, one := range res.Collections {
			found = append(found, complete.Candidate{Text: one.Collection})
		}
	})

	return found
}

// completeSessions is how many of the newest episodes are offered.
const completeSessions = 50

func (c *completions) sessions() (found []complete.Candidate) {
	c.ask(func(m robotmem.Node) {
		res, err := m.Sessions(c.ctx, &robotmem.SessionsRequest{Limit: completeSessions})
		if err != nil {
			return
		}

		for _, s := range res.Sessions {
			found = append(found, complete.Candidate{Text: s.SessionID, Help: s.Collection + ", " + printed.Time(s.CreatedAt)})
		}
	})

	return found
}

// ask asks the memory that the words choose, if there is one. It stores nothing and says nothing.
func (c *completions) ask(f func(robotmem.Node)) {
	g := &globals{}

	for i, word := range c.words {
		name, value, assigned := strings.Cut(word, "=")
		if !assigned && i+1 < len(c.words)-1 {
			value = c.words[i+1]
		}
		if setting := map[string]**string{"--db": &g.DB, "--url": &g.URL, "--tenant": &g.Tenant, "--config": &g.Config}[name]; setting != nil {
			*setting = &value
		}
	}

	var err error
	if c.a.Config, err = loadConfig(g, c.a.env); err != nil || c.a.existing() != nil {
		return
	}

	c.a.Log, c.a.Config.Embedder, c.a.Config.Reranker = slog.New(slog.DiscardHandler), "none", ""
	c.a.Config.ReadOnly = !c.a.Config.onServer()
	_ = c.a.Use(c.ctx, func(m robotmem.Node) error { // a memory that cannot be asked has no candidates
		f(m)
		return nil
	})
}
