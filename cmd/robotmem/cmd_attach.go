package main

import (
	"context"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/live"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/serving"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/syncing"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/attach"
)

type attachCmd struct {
	URL string `arg:"" name:"url" help:"Where the robot is reached: ws://robot:8765 of foxglove_bridge, or another server of the Foxglove WebSocket protocol; mavlink:udp:0.0.0.0:14550 for a vehicle of MAVLink (also udpout and tcp)."`
	live.Flags
	live.Rules
}

// Run follows the robot until a signal comes.
func (c *attachCmd) Run(ctx context.Context, a *app) error {
	if err := c.Check(); err != nil {
		return err
	}
	from, err := c.Source(c.URL)
	if err != nil {
		return err
	}
	o := c.Options()
	o.Namespace = c.Namespace
	if o.Rules, err = c.Read(); err != nil {
		return err
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		defer serving.InBackground(ctx, func(ctx context.Context) { a.syncing.Run(ctx, m, a.Config.onServer(), a.Version, a.Log) })()
		p := &live.Printer{Out: a.Stdout, JSON: c.JSON}
		o.Node, o.Collection, o.Log = syncing.Joined(m, a.Config.onServer()), a.Config.Collection, a.Log
		o.Sink = &sensors.Sink{Node: m, Collection: a.Config.Collection, Savers: 1}
		o.OnWarning, o.OnIncident = p.Warning, p.Incident
		if err := p.Serve(ctx, c.Listen, func(url string) { a.note("attach: %s/events has the warnings", url) }); err != nil {
			return err
		}
		a.note("attach: following %s; Ctrl-C ends it", c.URL)
		report, err := attach.Run(ctx, from, o)

		return a.showResult(c.JSON, report, err)
	})
}
