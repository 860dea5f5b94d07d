package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/tokens"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token and print its secret, which is shown once and not kept. It is for all nodes that serve the file of --db."`
	List   tokenListCmd   `cmd:"" help:"List the tokens of the file."`
	Adopt  tokenAdoptCmd  `cmd:"" help:"Keep the tokens that were copied here together with the file. Those who hold them can then read this copy too."`
	Revoke tokenRevokeCmd `cmd:"" help:"Take a token away; a running node refuses it at once. Without the last token a node on a loopback address is open again."`
	Grants tokenGrantsCmd `cmd:"" help:"List the programs that people have allowed to use the memory (web --oauth)."`

	RevokeGrant tokenRevokeGrantCmd `cmd:"" name:"revoke-grant" help:"End what was allowed to a program; a running node refuses it at once."`
}

type tokenCreateCmd struct {
	Name string `arg:"" name:"name" help:"What it is for; 1 to 64 letters, digits, dots, dashes and underscores. With --read-only it is for operations that change nothing."`
}

// Run prints the secret and nothing else on the standard output.
func (c *tokenCreateCmd) Run(ctx context.Context, a *app, g *globals) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	secret, err := f.Create(ctx, web.Token{Name: c.Name, ReadOnly: g.ReadOnly})
	if err != nil {
		return err
	}
	a.note("nodes that serve %s require a token from now on, also running ones", f.Memory.DB())
	a.note("keep this secret, it is not shown again; send it as Authorization: Bearer, or set ROBOTMEM_TOKEN")
	fmt.Fprintln(a.Stdout, secret)

	return nil
}

type tokenListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run lists the tokens without their secrets.
func (c *tokenListCmd) Run(ctx context.Context, a *app) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	list, err := f.List(ctx)
	if err == nil && len(list) == 0 && !c.JSON {
		a.note("there is no token: only programs of this machine reach the memory; robotmem token create NAME makes one")
	}

	return a.showResult(c.JSON, &struct {
		Tokens []web.Token `json:"tokens"`
	}{append([]web.Token{}, list...)}, err)
}

type tokenAdoptCmd struct{}

// Run makes the tokens of another file those of this one.
func (c *tokenAdoptCmd) Run(ctx context.Context, a *app) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	n, err := f.Adopt()
	if err == nil {
		a.note("nodes that serve %s accept the %d tokens of %s from now on", f.Memory.DB(), n, f.Path)
	}

	return err
}

type tokenRevokeCmd struct {
	Name string `arg:"" name:"name" help:"Which, as list shows it."`
}

// Run removes the token.
func (c *tokenRevokeCmd) Run(ctx context.Context, a *app) error {
	f, err := a.ownTokens(ctx)
	if err != nil {
		return err
	}
	if err = f.Revoke(ctx, c.Name); err != nil {
		return err
	}
	a.note("nodes that serve %s refuse it from now on", f.Memory.DB())
	if left, err := f.List(ctx); err == nil && len(left) == 0 {
		a.warn("it was the last token; nodes on a loopback address are open to every program of this machine now, " +
			"others refuse all; robotmem token create NAME closes them")
	}

	return nil
}

// ownTokens are the tokens of a file of this machine.
func (a *app) ownTokens(ctx context.Context) (*tokens.File, error) {
	if a.Config.URL != "" {
		return nil, invalid("url", "tokens are kept on the machine of the node; leave out --url and ROBOTMEM_URL, or run this there")
	}
	f, err := a.Config.tokens()
	if err == nil && !a.Config.onServer() {
		f.ID = local.FileID(ctx, f.Memory)
	}

	return f, err
}

// tokens returns the tokens of the file of the settings.
func (c *config) tokens() (*tokens.File, error) {
	db, err := c.dbPath()
	if err != nil {
		return nil, err
	}
	if c.onServer() {
		db = filepath.Join(c.Home, "fleet")
	}

	old := "" // the list of earlier versions
	if c.homeErr == nil {
		old = filepath.Join(c.Home, "tokens.yaml")
	}

	return tokens.Of(db, old)
}

// openTokens reads the tokens that web accepts.
func openTokens(c *config, failed func(error)) (*tokens.File, error) {
	f, err := c.tokens()
	if err != nil {
		return nil, err
	}

	return f, f.Serve(c.Token, failed)
}
