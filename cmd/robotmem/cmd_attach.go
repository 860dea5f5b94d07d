package main

import (
	"context"
	"crypto/tls"
	"net/http"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/live"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/attach"
)

type attachCmd struct {
	URL string `arg:"" name:"url" help:"Where the robot is reached: ws://robot:8765 of foxglove_bridge, or another server of the Foxglove WebSocket protocol."`
	live.Flags
	live.Rules
}

// Run follows the robot until a signal comes.
func (c *attachCmd) Run(ctx context.Context, a *app) error {
	if err := c.Check(c.URL); err != nil {
		return err
	}
	o := c.Options()

	var err error
	if o.Rules, err = c.Read(); err != nil {
		return err
	}

	web := attach.FoxgloveOptions{Header: http.Header{}}
	for name, value := range c.Header {
		web.Header.Set(name, value)
	}
	if c.Insecure {
		web.TLS = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // asked for
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		defer inBackground(ctx, func(ctx context.Context) { a.replicate(ctx, m) })()
		p := &live.Printer{Out: a.Stdout, JSON: c.JSON}
		o.Node, o.Collection, o.Log = a.joined(m), a.Config.Collection, a.Log
		o.Sink = &sensors.Sink{Node: m, Collection: a.Config.Collection, Savers: 1}
		o.OnWarning, o.OnIncident = p.Warning, p.Incident
		if err := p.Serve(ctx, c.Listen, func(url string) { a.note("attach: %s/events has the warnings", url) }); err != nil {
			return err
		}
		a.note("attach: following %s; Ctrl-C ends it", c.URL)
		report, err := attach.Run(ctx, attach.NewFoxglove(c.URL, web), o)

		return a.showResult(c.JSON, report, err)
	})
}
