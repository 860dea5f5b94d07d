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

type fleetForgetCmd struct {
	Name string `arg:"" name:"name" help:"The robot, as fleet robots shows it."`
	Yes  bool   `name:"yes" help:"Also one that was seen in the last hour. If it still runs it comes back by itself."`
	JSON bool   `name:"json" help:"Print it as JSON."`
}

// Run forgets the robot and names the tokens with which it could come back.
func (c *fleetForgetCmd) Run(ctx context.Context, a *app) error {
	unseen := site.UnseenTime
	if c.Yes {
		unseen = 0
	}

	return a.atSite(ctx, func(s *site.Site) error {
		if err := s.ForgetRobot(ctx, a.tenant(), c.Name, unseen); err != nil {
			return err
		}

		tokens, err := s.Tokens(ctx, a.tenant())
		if err != nil {
			return err
		}
		valid := []string{}

		for i := range tokens {
			if tokens[i].Robot == c.Name {
				valid = append(valid, tokens[i].Name)
				a.note("it may come back with the token %s; robotmem fleet token revoke %[1]s --tenant %s takes it away", tokens[i].Name, a.tenant())
			}
		}

		return a.showResult(c.JSON, &struct {
			Forgotten string   `json:"forgotten"`
			Tokens    []string `json:"tokens"` // that are still valid
		}{c.Name, valid}, nil)
	})
}
