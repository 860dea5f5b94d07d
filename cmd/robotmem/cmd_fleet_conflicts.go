package main

import (
	"context"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

type fleetConflictsCmd struct {
	Robot string `name:"robot" placeholder:"NAME" help:"Only those of this robot."`
	JSON  bool   `name:"json" help:"Print it as JSON."`
}

// Run lists the open conflicts of the tenant.
func (c *fleetConflictsCmd) Run(ctx context.Context, a *app) error {
	return a.atSite(ctx, func(s *site.Site) error {
		list, err := s.Conflicts(ctx, a.tenant(), c.Robot)
		if err != nil {
			return err
		}

		return a.show(c.JSON, &struct {
			Conflicts []site.Conflict `json:"conflicts"`
		}{list}, func(w *printed.Lines) { printed.FleetConflicts(w, list) })
	})
}

type fleetSettleCmd struct {
	ID   int64  `arg:"" name:"id" help:"The number of the conflict, as conflicts shows it."`
	Keep string `name:"keep" required:"" enum:"site,robot,both" placeholder:"SIDE" help:"Whose state stands: site, robot, or both as two facts."`
	JSON bool   `name:"json" help:"Print it as JSON."`
}

// Run settles a conflict.
func (c *fleetSettleCmd) Run(ctx context.Context, a *app) error {
	return a.atSite(ctx, func(s *site.Site) error {
		err := s.Settle(ctx, a.tenant(), c.ID, c.Keep)
		return a.showResult(c.JSON, &struct {
			ID   int64  `json:"id"`
			Kept string `json:"kept"`
		}{c.ID, c.Keep}, err)
	})
}

type fleetPurgesCmd struct {
	UID  string `name:"uid" placeholder:"UID" help:"Only that of this memory."`
	JSON bool   `name:"json" help:"Print it as JSON."`
}

// Run lists the purges that some robots have not confirmed.
func (c *fleetPurgesCmd) Run(ctx context.Context, a *app) error {
	return a.atSite(ctx, func(s *site.Site) error {
		list, err := s.UnconfirmedPurges(ctx, a.tenant(), c.UID)
		if err != nil {
			return err
		}

		return a.show(c.JSON, &struct {
			Purges []site.Purge `json:"purges"`
		}{list}, func(w *printed.Lines) { printed.FleetPurges(w, list) })
	})
}
