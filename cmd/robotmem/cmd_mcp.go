package main

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem/mcp"
)

type mcpCmd struct{}

// Run serves until stdin ends or a signal comes. What was accepted by then is
// answered and stored before the file is closed.
func (c *mcpCmd) Run(ctx context.Context, a *app) error {
	return a.useAs(ctx, clientMCP, func(m node) error {
		s := mcp.NewServer(inCollection(m, a.Config.Collection), mcp.Options{Version: a.Version, Logger: a.Log})
		return s.ServeStdio(ctx, a.Stdin, a.Stdout)
	})
}
