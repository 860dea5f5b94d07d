package main

import (
	"context"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/collected"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/serving"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/syncing"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/attach"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

type mcpCmd struct {
	Hooks    bool   `name:"hooks" help:"Let the hooks of this user's agents ask this process, which has the memory open."`
	Tools    string `name:"tools" enum:"all,minimal" default:"all" placeholder:"all|minimal" help:"Which tools the model gets: all, or only those that store and recall: learn, recall, save_perception, forget, update, start_session, end_session."`
	Warnings string `name:"warnings" placeholder:"URL" help:"Tell the client at once of the warnings of a robot: the address that robotmem attach --listen prints."`
}

// Run serves until stdin ends or a signal comes. Requests that were accepted are answered and
// stored before the file is closed.
func (c *mcpCmd) Run(ctx context.Context, a *app) error {
	a.serves = clientMCP
	options := mcp.Options{Version: a.Version, Logger: a.Log, Minimal: c.Tools == "minimal"}
	if c.Warnings != "" {
		if err := attach.CheckAddress(c.Warnings); err != nil {
			return err
		}
		options.Warnings = func(ctx context.Context, tell func(string, any)) {
			attach.FollowWarnings(ctx, c.Warnings, func(w attach.Warning) { tell(w.Text, w) },
				func(err error) { a.Log.Warn("no warnings of the robot", "error", err) })
		}
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		defer serving.InBackground(ctx, func(ctx context.Context) { a.makeBackups(ctx, m) })()
		defer serving.InBackground(ctx, func(ctx context.Context) { a.syncing.Run(ctx, m, a.Config.onServer(), a.Version, a.Log) })()
		if c.Hooks {
			defer serving.InBackground(ctx, func(ctx context.Context) { a.serveHooks(ctx, m) })()
		}
		s := mcp.NewServer(collected.In(syncing.Joined(m, a.Config.onServer()), a.Config.Collection), options)

		return s.ServeStdio(ctx, a.Stdin, a.Stdout)
	})
}

type openapiCmd struct{}

// Run prints the document that a node of this binary answers at /api/openapi.json.
func (*openapiCmd) Run(a *app) error { return a.PrintJSON(web.OpenAPI(a.Version)) }
