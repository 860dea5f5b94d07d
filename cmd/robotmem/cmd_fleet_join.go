package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/amounts"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/serving"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type fleetJoinCmd struct {
	Site      string   `arg:"" name:"site" help:"Address of a node of the site, such as https://site.example."`
	Token     string   `name:"token" placeholder:"SECRET" help:"Token of the site, kept beside the memory. ROBOTMEM_TOKEN does the same, and no list of processes shows it."`
	Robot     string   `name:"robot" placeholder:"NAME" help:"Name of this robot at the site. Default the name of this machine."`
	Model     string   `name:"model" placeholder:"NAME" help:"Kind of robot, as in robot.model of contexts, for --trust same_model."`
	Subscribe []string `name:"subscribe" sep:"none" placeholder:"COLLECTION" help:"Keep a copy of the facts that other robots learn in this collection, * for all; repeatable."`
	Where     string   `name:"where" placeholder:"JSON" help:"Only facts that this context_filter admits, such as '{\"map\": \"hall-2\"}'."`
	Limit     int      `name:"limit" default:"10000" help:"How many facts of others are kept, the newest (default ${default})."`
	Payloads  string   `name:"payloads-sent" enum:"none,failures,all" default:"none" help:"Payloads of perceptions that are sent: none, failures or all (default ${default})."`
	Bandwidth string   `name:"bandwidth" placeholder:"SIZE" help:"Most bytes of payloads a second, such as 200kB."`
	Metered   string   `name:"metered" enum:"wait,send" default:"wait" help:"What payloads do while NetworkManager says that the link is metered: wait or send (default ${default})."`
	Trust     []string `name:"trust" sep:"none" placeholder:"RULE=FACTOR" help:"Factor of the confidence of a fact of another robot: same_model=1, other=0.8, simulation=0.5 or robot:NAME=0; repeatable."`
	Replace   bool     `name:"replace" help:"This memory takes the place of another that sends under this name."`
}

// Run asks the site whether it takes this robot, and keeps what was agreed beside the memory.
func (c *fleetJoinCmd) Run(ctx context.Context, a *app) error {
	site, err := url.Parse(strings.TrimSuffix(c.Site, "/"))
	if err != nil || site.Scheme != "http" && site.Scheme != "https" || site.Host == "" {
		return invalid("site", "must be the address of a node such as https://site.example, not %q", c.Site)
	}

	p := fleet.Peer{URL: site.String(), Token: cmp.Or(c.Token, a.Config.Token), Robot: c.Robot, Model: c.Model, Limit: c.Limit, Payloads: c.Payloads, Metered: c.Metered}
	if p.Robot == "" {
		if p.Robot, err = os.Hostname(); err != nil {
			return invalid("robot", "is required: the name of this machine is not known")
		}
	}

	if c.Limit < 1 {
		return invalid("limit", "must be 1 or more, not %d", c.Limit)
	}

	if c.Bandwidth != "" {
		if p.Bandwidth, err = amounts.Size(c.Bandwidth); err != nil {
			return invalid("bandwidth", "must be a size such as 200kB, not %q", c.Bandwidth)
		}
	}

	var where robotmem.Object
	if c.Where != "" {
		if err := json.Unmarshal([]byte(c.Where), &where); err != nil {
			return invalid("where", "is not a JSON object: %v", err)
		}
		if len(c.Subscribe) == 0 {
			return invalid("where", "narrows a subscription; add --subscribe COLLECTION, or --subscribe '*'")
		}
	}

	for _, collection := range c.Subscribe {
		p.Subscribe = append(p.Subscribe, fleet.Subscription{Collection: collection, Where: where})
	}

	if p.Trust, err = fleet.ParseTrust(c.Trust); err != nil {
		return err
	}

	return a.onFile(ctx, "site", func(m *local.Node) error {
		before, err := fleet.PeerOf(m)
		if err != nil && !errors.Is(err, robotmem.Conflict) { // that of another file is replaced
			return err
		}

		// The site knows this memory by its replica ID. Joining the same site again keeps the ID, or everything
		// would be sent again.
		p.Replica = uuid.NewString()
		if again := before != nil && before.URL == p.URL; again {
			p.Replica, p.Before, p.Token = before.Replica, before.Before, cmp.Or(p.Token, before.Token)
		}

		r := a.replicator(m, &p)
		// Save only what the site has accepted: a refused robot must not appear to have joined.
		if err := r.Greet(ctx, c.Replace); err != nil {
			return err
		}
		if err := r.Peer.Save(m); err != nil {
			return err
		}
		if err := r.ReadAnew(ctx); err != nil {
			return err
		}

		switch {
		case before == nil || before.Replica != r.Peer.Replica:
			err = r.Reset(ctx)
		// The earlier settings may have left payloads out, so look through all of them again.
		case p.Payloads != fleet.PayloadsNone:
			err = r.ResendPayloads(ctx)
		}

		if err != nil {
			return err
		}

		if host := site.Hostname(); site.Scheme == "http" && !serving.Loopback(host) {
			a.warn("warning: tokens and facts pass to " + host + " in the clear; give the site TLS and join again with https://")
		}
		a.note("joined %s as %s; robotmem web or mcp on this memory sends its changes while it runs, robotmem fleet sync does it now", p.URL, p.Robot)

		return nil
	})
}

// replicator returns the replicator of a memory, which says which program it is.
func (a *app) replicator(m *local.Node, p *fleet.Peer) *fleet.Replicator {
	r := fleet.NewReplicator(m, *p, nil, a.Log)
	r.Version = a.Version

	return r
}

type fleetLeaveCmd struct {
	DropCopies bool `name:"drop-copies" help:"Also forget the facts of other robots, those of earlier sites too. Works again after the memory has left."`
	Purge      bool `name:"purge" help:"With --drop-copies: delete them permanently, also those that were forgotten before."`
	JSON       bool `name:"json" help:"Print the answer as JSON."`
}

// Run forgets the site. What was sent stays there.
func (c *fleetLeaveCmd) Run(ctx context.Context, a *app) error {
	if c.Purge && !c.DropCopies {
		return invalid("purge", "deletes the facts of other robots: add --drop-copies")
	}
	if err := a.existing(); err != nil {
		return err
	}

	return a.onFile(ctx, "fleet", func(m *local.Node) error {
		left, err := fleet.LeaveSite(ctx, m, fleet.LeaveOptions{DropCopies: c.DropCopies, Purge: c.Purge})
		if err != nil {
			return err
		}
		return a.show(c.JSON, left, func(w *printed.Lines) { printed.FleetLeft(w, left) })
	})
}

type fleetSyncCmd struct {
	JSON bool `name:"json" help:"Print the answer as JSON."`
}

// Run sends and fetches once.
func (c *fleetSyncCmd) Run(ctx context.Context, a *app) error {
	return a.withPeer(ctx, func(m *local.Node, p *fleet.Peer) error {
		r := a.replicator(m, p)
		if err := r.Once(ctx); err != nil {
			return err
		}
		return a.showFleet(ctx, c.JSON, r)
	})
}

type fleetStatusCmd struct {
	JSON bool `name:"json" help:"Print the answer as JSON."`
}

// Run shows the site and how many changes wait.
func (c *fleetStatusCmd) Run(ctx context.Context, a *app) error {
	return a.withPeer(ctx, func(m *local.Node, p *fleet.Peer) error {
		return a.showFleet(ctx, c.JSON, a.replicator(m, p))
	})
}

func (a *app) showFleet(ctx context.Context, asJSON bool, r *fleet.Replicator) error {
	s, err := r.Status(ctx)
	if err != nil {
		return err
	}

	return a.show(asJSON, s, func(w *printed.Lines) { printed.FleetStatus(w, &s) })
}

// onFile calls f with the memory's file, without an embedder.
func (a *app) onFile(ctx context.Context, flag string, f func(*local.Node) error) error {
	if a.Config.onServer() {
		return invalid("db", "is that of a site; a robot joins with the file of its own memory: leave --db out, or name the file")
	}
	a.Config.Embedder = "none"
	return a.UseFile(ctx, flag, f)
}

// withPeer calls f with the memory and its site.
func (a *app) withPeer(ctx context.Context, f func(*local.Node, *fleet.Peer) error) error {
	if err := a.existing(); err != nil {
		return err
	}

	return a.onFile(ctx, "fleet", func(m *local.Node) error {
		p, err := fleet.PeerOf(m)
		if err == nil && p == nil {
			err = notFound("fleet", "this memory has joined no site; run robotmem fleet join URL")
		}
		if err != nil {
			return err
		}

		return f(m, p)
	})
}
