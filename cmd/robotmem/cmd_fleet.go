package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/amounts"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/sitetokens"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/site"
	"github.com/robotmem/robotmem-go/web"
)

type fleetCmd struct {
	Join      fleetJoinCmd      `cmd:"" help:"Experimental: send what this memory stores to a site, and keep a copy of what other robots learn."`
	Leave     fleetLeaveCmd     `cmd:"" help:"Experimental: forget the site."`
	Sync      fleetSyncCmd      `cmd:"" help:"Experimental: send and fetch now."`
	Status    fleetStatusCmd    `cmd:"" help:"Experimental: show the site, and how many changes are not sent yet."`
	Conflicts fleetConflictsCmd `cmd:"" help:"Experimental: list the memories that a robot and the site have both changed."`
	Settle    fleetSettleCmd    `cmd:"" help:"Experimental: end a conflict: one side stands, or both do."`
	Purges    fleetPurgesCmd    `cmd:"" help:"Experimental: list the purges that some robots have not confirmed."`
	Robots    fleetRobotsCmd    `cmd:"" help:"Experimental: list the robots of a site, and what is not in sync."`
	Forget    fleetForgetCmd    `cmd:"" name:"forget-robot" help:"Experimental: take a robot that is gone for good out of the list of robots. Its memories stay."`
	Tenant    fleetTenantCmd    `cmd:"" help:"Experimental: make, list and limit the tenants of a site."`
	Token     fleetTokenCmd     `cmd:"" help:"Experimental: make, list and revoke the tokens of a tenant."`
}

type fleetTenantCmd struct {
	Create fleetTenantCreateCmd `cmd:"" help:"Make a tenant, whose memory no other tenant reaches."`
	List   fleetTenantListCmd   `cmd:"" help:"List the tenants of the site with their limits."`
	Limit  fleetTenantLimitCmd  `cmd:"" help:"Set or take away limits of a tenant, and its rule for conflicts; running nodes follow within two seconds."`
}

type fleetTenantCreateCmd struct {
	Name string `arg:"" name:"name" help:"1 to 64 letters, digits, dots, dashes and underscores."`
}

// Run makes the tenant.
func (c *fleetTenantCreateCmd) Run(ctx context.Context, a *app) error {
	return a.atSite(ctx, func(s *site.Site) error { return s.CreateTenant(ctx, c.Name) })
}

type fleetTenantListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run lists the tenants.
func (c *fleetTenantListCmd) Run(ctx context.Context, a *app) error {
	return a.atSite(ctx, func(s *site.Site) error {
		list, err := s.Tenants(ctx)
		return a.showResult(c.JSON, &struct {
			Tenants []site.Tenant `json:"tenants"`
		}{append([]site.Tenant{}, list...)}, err)
	})
}

type fleetTenantLimitCmd struct {
	Name      string `arg:"" name:"name" help:"The tenant."`
	Memories  string `name:"memories" placeholder:"N" help:"Most memories of any status; none takes the limit away."`
	Bytes     string `name:"payload-bytes" placeholder:"SIZE" help:"Most bytes of payloads, such as 200GB; none takes the limit away."`
	PerSecond string `name:"per-second" placeholder:"N" help:"Most requests a second to each node; none takes the limit away."`
	Conflicts string `name:"conflicts" placeholder:"RULE" help:"How later conflicts are settled: ask (an operator settles them), site, both, or newest by the clocks of robot and site."`
	JSON      bool   `name:"json" help:"Print it as JSON."`
}

// Run sets the limits that are given and prints all.
func (c *fleetTenantLimitCmd) Run(ctx context.Context, a *app) error {
	l, err := amounts.Limits(c.Memories, c.Bytes, c.PerSecond)
	if err != nil {
		return err
	}
	l.ConflictRule = c.Conflicts

	return a.atSite(ctx, func(s *site.Site) error {
		t, err := s.Limit(ctx, c.Name, l)
		return a.showResult(c.JSON, &t, err)
	})
}

type fleetTokenCmd struct {
	Create fleetTokenCreateCmd `cmd:"" help:"Make a token of a tenant and print its secret, which is shown once and not kept."`
	List   fleetTokenListCmd   `cmd:"" help:"List the tokens of a tenant."`
	Revoke fleetTokenRevokeCmd `cmd:"" help:"Take a token away; every node of the site refuses it within two seconds, also in a request."`
}

type fleetTokenCreateCmd struct {
	Name        string   `arg:"" name:"name" help:"What it is for; 1 to 64 letters, digits, dots, dashes and underscores."`
	Role        string   `name:"role" placeholder:"ROLE" default:"robot" help:"robot: its own memories, in its collections. operator: every operation. admin: also the tokens of the tenant. reader: what changes nothing."`
	Robot       string   `name:"robot" placeholder:"NAME" help:"The robot that it is for, which its memories name. Default: the name of the token."`
	Collections []string `name:"collections" placeholder:"NAME" help:"Collections that a robot or a reader has, with commas or repeated; * is all."`
}

// Run prints the secret and nothing else on the standard output.
func (c *fleetTokenCreateCmd) Run(ctx context.Context, a *app, g *globals) error {
	// It takes one value: of several, all but the last would be lost.
	if g.Collection != nil {
		return invalid("collection", "is for commands that work in one; name those of the token with --collections, such as --collections %s,shared", *g.Collection)
	}

	spec := site.TokenSpec{Name: c.Name, Role: c.Role, Robot: c.Robot, Collections: c.Collections}
	if spec.Role == robotmem.RoleRobot {
		spec.Robot = cmp.Or(spec.Robot, c.Name)
	}

	return a.atSite(ctx, func(s *site.Site) error {
		secret, err := s.CreateToken(ctx, a.tenant(), spec)
		if err != nil {
			return err
		}
		a.note("keep this secret, it is not shown again; send it as Authorization: Bearer, or set ROBOTMEM_TOKEN")
		fmt.Fprintln(a.Stdout, secret)

		return nil
	})
}

type fleetTokenListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run lists the tokens without their secrets.
func (c *fleetTokenListCmd) Run(ctx context.Context, a *app) error {
	return a.atSite(ctx, func(s *site.Site) error {
		list, err := s.Tokens(ctx, a.tenant())
		return a.showResult(c.JSON, &struct {
			Tokens []site.Token `json:"tokens"`
		}{append([]site.Token{}, list...)}, err)
	})
}

type fleetTokenRevokeCmd struct {
	Name string `arg:"" name:"name" help:"Which, as list shows it."`
}

// Run takes the token away.
func (c *fleetTokenRevokeCmd) Run(ctx context.Context, a *app) error {
	return a.atSite(ctx, func(s *site.Site) error { return s.RevokeToken(ctx, a.tenant(), c.Name) })
}

// openSite connects to the PostgreSQL server of --db.
func (a *app) openSite(ctx context.Context) (*site.Site, error) {
	if !site.IsURL(a.Config.DB) {
		return nil, invalid("db", "must be the URL of the PostgreSQL server of the site, such as postgres://robotmem@db1,db2/robotmem")
	}
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	// Models take time and memory. Commands that only manage tenants and tokens need none.
	if a.serves != "" {
		if err = a.addModels(&o); err != nil {
			return nil, err
		}
	}
	folder, err := a.Config.payloadFolder()
	if err != nil {
		return nil, err
	}

	return site.Connect(ctx, a.Config.DB, site.Options{Options: o, Tenant: a.Config.Tenant, Payloads: folder})
}

// tenant returns the tenant of the settings, or the default one.
func (a *app) tenant() string { return cmp.Or(a.Config.Tenant, site.DefaultTenant) }

func (a *app) atSite(ctx context.Context, f func(*site.Site) error) error {
	s, err := a.openSite(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s)
}

// readyTime limits the wait of /readyz for the server.
const readyTime = 5 * time.Second

// admit sets who may use a node that serves a site.
func admit(o *web.Options, s *site.Site) {
	o.Lookup, o.TenantRate, o.ManageTokens = s.Caller, s.Rate, sitetokens.Of(s)
	o.Ready = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
		defer cancel()
		return s.Ready(ctx)
	}
}

// oidc returns the identity provider of the settings, nil without one.
func (c *config) oidc() (*web.OIDC, error) {
	if c.OIDCIssuer == "" {
		return nil, nil
	}
	issuer, err := url.Parse(c.OIDCIssuer)
	if err != nil || issuer.Scheme != "https" && issuer.Scheme != "http" || issuer.Host == "" {
		return nil, invalid("oidc_issuer", "must be the URL of the identity provider, as its tokens name it, not %q", c.OIDCIssuer)
	}
	if c.OIDCAudience == "" {
		return nil, invalid("oidc_audience", "is required with oidc_issuer: what an access token for this node is for")
	}

	return &web.OIDC{
		Issuer: c.OIDCIssuer, Audience: c.OIDCAudience, Resource: c.OIDCResource, TenantClaim: c.OIDCTenantClaim, RoleClaim: c.OIDCRoleClaim,
		Scopes: strings.Fields(c.OIDCScopes),
	}, nil
}
