package main

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

type fleetRobotsCmd struct {
	Stale time.Duration `name:"stale" placeholder:"DURATION" help:"Only robots that were not seen for this time, such as 1h."`
	JSON  bool          `name:"json" help:"Print it as JSON."`
}

// Run lists the robots of the tenant.
func (c *fleetRobotsCmd) Run(ctx context.Context, a *app) error {
	if c.Stale < 0 {
		return invalid("stale", "must be a time such as 1h, not %v", c.Stale)
	}

	return a.atSite(ctx, func(s *site.Site) error {
		robots, err := s.Robots(ctx, a.tenant(), c.Stale)
		if err != nil {
			return err
		}

		return a.show(c.JSON, &struct {
			Robots []site.Robot `json:"robots"`
		}{robots}, func(w *printed.Lines) { printed.FleetRobots(w, robots, time.Now()) })
	})
}
