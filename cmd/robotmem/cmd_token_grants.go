package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/tokens"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// checkOAuth fails if the setting does not fit the others. Nothing is opened before.
func (c *config) checkOAuth(accepted *tokens.File, provider bool) error {
	switch {
	case !c.OAuth:
		return nil
	case c.onServer():
		return invalid("oauth", "is for a memory in a file, and this is a site on PostgreSQL; leave it out, or let an identity provider log people in with oidc_issuer")
	case provider:
		return invalid("oauth", "and oidc_issuer exclude each other: clients ask one authorization server; leave one out")
	case c.ReadOnly:
		return invalid("oauth", "stores what people allow, and --read-only changes nothing; leave one out, and give people tokens of `robotmem token create NAME --read-only`")
	case len(accepted.Logins()) == 0:
		return invalid("oauth", "needs a token with which a person logs in; make one with `robotmem token create NAME`")
	}

	return nil
}

// authorization returns the options of the authorization server of a node.
func (a *app) authorization(m *local.Node, id string, accepted *tokens.File) (*oauth.Options, error) {
	store, err := tokens.GrantsOf(accepted.Memory, id, func(err error) { a.Log.Error("no program is logged in", "err", err) })
	if err != nil {
		return nil, err
	}

	return &oauth.Options{Store: store, Logins: accepted.Logins, Audit: func(e oauth.Event) {
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
		defer cancel()
		ctx = robotmem.WithCaller(ctx, robotmem.Caller{Who: e.Grant.LoginName, Tool: robotmem.ToolREST, Client: "oauth"})
		if err := m.NoteGrant(ctx, e.Made, "grant "+e.Grant.ID+" of "+e.Grant.ClientName+": "+e.Why); err != nil {
			a.Log.Error("the audit log lacks a grant", slog.String("grant", e.Grant.ID), slog.Any("err", err))
		}
	}}, nil
}

type tokenGrantsCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// grant is one line of the list.
type grant struct {
	ID        string    `json:"id"`
	Client    string    `json:"client"`
	Redirect  string    `json:"redirect"`
	Login     string    `json:"login"`
	ReadOnly  bool      `json:"read_only"`
	Reach     string    `json:"reach"`
	Created   time.Time `json:"created"`
	Refreshed time.Time `json:"refreshed"`
	Until     time.Time `json:"until"`
}

// Run lists the grants that live.
func (c *tokenGrantsCmd) Run(ctx context.Context, a *app) error {
	accepted, store, err := a.ownGrants(ctx)
	if err != nil {
		return err
	}
	if err := accepted.Serve("", func(error) {}); err != nil {
		return err
	}

	list := []grant{}

	for _, g := range store.State().Living(time.Now(), accepted.Logins()) {
		reach := "mcp"
		if g.Everywhere {
			reach = "all"
		}
		list = append(list, grant{
			g.ID, g.ClientName, g.Redirect, g.LoginName, g.ReadOnly, reach, g.Created, g.Refreshed.Truncate(time.Second), g.Until.Truncate(time.Second),
		})
	}

	if len(list) == 0 && !c.JSON {
		a.note("no program is allowed to use the memory; with robotmem web --oauth an MCP client asks a person for it")
	}

	return a.showResult(c.JSON, &struct {
		Grants []grant `json:"grants"`
	}{list}, nil)
}

type tokenRevokeGrantCmd struct {
	ID string `arg:"" name:"id" help:"Which, as grants shows it."`
}

// Run ends a grant.
func (c *tokenRevokeGrantCmd) Run(ctx context.Context, a *app) error {
	_, store, err := a.ownGrants(ctx)
	if err != nil {
		return err
	}

	err = store.Change(func(s *oauth.State) error {
		if !s.End(c.ID) {
			return robotmem.Errorf(robotmem.NotFound, "id", "there is no grant %.100q; `robotmem token grants` shows them", c.ID)
		}
		return nil
	})
	if err == nil {
		a.note("its program has to ask a person again; running nodes refuse it from now on")
	}

	return err
}

// ownGrants are the tokens and grants of a file of this machine.
func (a *app) ownGrants(ctx context.Context) (*tokens.File, *tokens.Grants, error) {
	if a.Config.onServer() {
		return nil, nil, invalid("db", "a site on PostgreSQL has no grants: web takes --oauth for a memory in a file")
	}
	f, err := a.ownTokens(ctx)
	if err != nil {
		return nil, nil, err
	}
	store, err := tokens.GrantsOf(f.Memory, f.ID, func(error) {})

	return f, store, err
}
