package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/amounts"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/collected"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/limits"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/serving"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/syncing"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/tokens"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/imports"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/robotmem/site"
	"github.com/robotmem/robotmem-go/ui"
	"github.com/robotmem/robotmem-go/web"
)

type webCmd struct {
	Addr       *string  `name:"addr" placeholder:"HOST:PORT" help:"Where to listen (ROBOTMEM_ADDR; default 127.0.0.1:7878). Port 0 takes a free one. An address that other machines reach needs a token." mapstructure:"addr,omitempty"`
	TLSCert    *string  `name:"tls-cert" placeholder:"FILE" help:"Certificate chain as PEM, for HTTPS (ROBOTMEM_TLS_CERT)." mapstructure:"tls_cert,omitempty"`
	TLSKey     *string  `name:"tls-key" placeholder:"FILE" help:"Its private key as PEM (ROBOTMEM_TLS_KEY)." mapstructure:"tls_key,omitempty"`
	AllowHost  []string `name:"allow-host" sep:"none" placeholder:"NAME" help:"Name that callers may know this node by, beside localhost and its address; repeatable (ROBOTMEM_ALLOW_HOST)." mapstructure:"allow_host,omitempty"`
	OAuth      *bool    `name:"oauth" negatable:"" help:"Let remote MCP clients log in: a person allows them access with a token of token create (ROBOTMEM_OAUTH)." mapstructure:"oauth,omitempty"`
	UntilStdin bool     `name:"until-stdin-ends" help:"End when standard input does, as when the program that started the node has ended." mapstructure:"-"`
	BasePath   *string  `name:"base-path" placeholder:"PATH" help:"Path below which a proxy serves this node, such as /robotmem (ROBOTMEM_BASE_PATH). Requests may come with it and without it." mapstructure:"base_path,omitempty"`
	Open       *bool    `name:"open" negatable:"" help:"Serve a site without tokens: until its tenant has one, every program of this machine may do everything in it (ROBOTMEM_OPEN). Not for an address that other machines reach." mapstructure:"open,omitempty"`
	Rate       *string  `name:"rate" placeholder:"N" help:"Requests a second of each token or address, 0 for no limit (ROBOTMEM_RATE). Default 100, on a loopback address 0." mapstructure:"rate,omitempty"`
}

// defaultRate lets a page load a hundred thumbnails at once, and stops a client that calls in a loop.
const defaultRate = 100

// Run serves until a signal comes. It prints the address of the node once the node accepts connections.
func (c *webCmd) Run(ctx context.Context, a *app) (err error) {
	set := &a.Config
	if set.URL != "" {
		return invalid("url", "web serves a file; leave out --url and ROBOTMEM_URL, or ask the node at %s itself", set.URL)
	}
	if err := mapstructure.Decode(c, set); err != nil {
		return err
	}

	onlyLocal, err := serving.OnlyLocal(set.Addr)
	if err != nil {
		return err
	}

	accepted, err := openTokens(set, func(err error) { a.Log.Error("tokens are as they were", "err", err) })
	if err != nil {
		return err
	}

	provider, err := set.oidc()
	if err != nil {
		return err
	}
	// Checked before anything is opened: an open node in a network gives the memory to everybody. A site asks for
	// tokens itself.
	if !set.onServer() && !onlyLocal && len(accepted.Tokens()) == 0 && provider == nil {
		return &robotmem.Error{Kind: robotmem.Forbidden, Field: "addr", Err: fmt.Errorf("%q can be reached by other machines, and there is no token; make one with `robotmem token create NAME`, or use a loopback address such as 127.0.0.1:7878", set.Addr)}
	}

	options, err := webOptions(set, onlyLocal)
	if err != nil {
		return err
	}

	options.OIDC = provider
	if set.Open && !set.onServer() {
		return invalid("open", "is for a site on PostgreSQL; a memory in a file is open on a loopback address while it has no token, so leave it out")
	}
	if set.Open && (!onlyLocal || provider != nil) {
		return invalid("open", "is for a node on a loopback address, such as 127.0.0.1:7878, without an identity provider; make a token with `robotmem fleet token create NAME` instead")
	}
	if err := set.checkOAuth(accepted, provider != nil); err != nil {
		return err
	}
	if options.MaxConns, err = limits.MaxConns(); err != nil {
		return err
	}

	tlsConfig, err := serving.TLS(set.TLSCert, set.TLSKey)
	if err != nil {
		return err
	}

	if c.UntilStdin {
		working, stop := context.WithCancel(ctx)
		defer stop()

		go func() {
			_, _ = io.Copy(io.Discard, a.Stdin)
			stop()
		}()
		ctx = working
	}

	a.serves = clientWeb
	if set.onServer() {
		return a.serveSite(ctx, &options, onlyLocal, tlsConfig)
	}

	m, err := a.OpenDefault(ctx)
	if err != nil {
		return err
	}
	// returnHeap sets the memory limit of Go. It must not replace a limit that the user gave.
	if set.Memory == "" && os.Getenv("GOMEMLIMIT") == "" {
		afterCollection(returnHeap)
	}
	if !set.ReadOnly {
		defer accepted.WriteUses()
	}

	defer func() { err = errors.Join(err, m.Close()) }()
	defer serving.InBackground(ctx, func(ctx context.Context) { a.makeBackups(ctx, m) })()
	defer serving.InBackground(ctx, func(ctx context.Context) { a.syncing.Run(ctx, m, a.Config.onServer(), a.Version, a.Log) })()
	defer serving.InBackground(ctx, func(ctx context.Context) { a.dreamWhenIdle(ctx, m) })()
	// Load the indexes now, so that the first question does not wait for them.
	defer serving.InBackground(ctx, func(ctx context.Context) {
		if err := m.Warm(ctx); err != nil && ctx.Err() == nil {
			a.Log.Warn("the indexes are not in memory yet", "err", err)
		}
		debug.FreeOSMemory() // what loading has left
	})()
	// Only now, after the file was opened, its id is certain: tokens that were copied together with another file
	// are refused.
	id, err := m.FileID(ctx)
	if err != nil {
		return err
	}
	if err := accepted.BelongTo(id); err != nil {
		return err
	}

	svc := collected.In(syncing.Joined(m, a.Config.onServer()), set.Collection)
	// The node works without a secret, for example on a read-only disk.
	if options.Secret, err = tokens.Secret(accepted.Memory.Secret()); err != nil {
		a.Log.Warn("this node cannot prove to other programs that it serves the file", "err", err)
	}

	options.RequireToken, options.Tokens, options.ManageTokens = !onlyLocal, accepted.Tokens, accepted
	if set.OAuth {
		if options.OAuth, err = a.authorization(m, id, accepted); err != nil {
			return err
		}
	}
	options.Backups = func(ctx context.Context, make bool) (*web.Backups, error) { return a.backups(ctx, m, make) }
	options.EpisodeMCAP = func(ctx context.Context, w io.Writer, session string) error {
		_, err := sensors.ExportMCAP(ctx, svc, w, sensors.ExportOptions{Session: session})
		return err
	}
	if set.imports >= 0 {
		received := imports.Open(imports.Options{
			Node: svc, Memory: m.Files().DB(), FileID: id, Limit: set.imports, ReadOnly: m.ReadOnly(), Log: a.Log,
		})
		defer func() { err = errors.Join(err, received.Close()) }()
		options.Imports = received
	}
	options.Ready, options.Pause, options.Metrics = m.Ready, m.Pause, a.syncing.Metrics
	options.Memory = m.Memory().Part(web.DefaultMemory)

	return a.serveOver(ctx, svc, &options, onlyLocal, tlsConfig)
}

// serveSite serves the tenants of a site to those who show a token. With --open, it serves one tenant to the programs
// of this machine until the tenant has a token.
func (a *app) serveSite(ctx context.Context, options *web.Options, onlyLocal bool, tlsConfig *tls.Config) (err error) {
	opened, err := a.openSite(ctx)
	if err != nil {
		return err
	}

	defer opened.Close()
	// Before the tenant is opened, which would make it.
	if !a.Config.Open && options.OIDC == nil {
		if err := opened.RequireToken(ctx, a.Config.Tenant); err != nil {
			return err
		}
	}

	n, err := opened.Node(ctx, a.tenant())
	if err != nil {
		return err
	}

	options.Memory = n.Memory().Part(web.DefaultMemory)
	// The node was only opened to check the tenant and to read its budget. The guard opens the memories of callers.
	if err := n.Close(); err != nil {
		return err
	}

	guard := opened.Guard()
	defer func() { err = errors.Join(err, guard.Close()) }()
	admit(options, opened)
	options.Fleet, options.Metrics = site.Handler(guard.Robots), guard.Metrics
	if !a.Config.Open {
		options.RequireToken = true
		return a.serveOver(ctx, guard, options, onlyLocal, tlsConfig)
	}

	options.Open = opened.OpenUntilToken(ctx, a.tenant(), a.Log)
	options.OpenAs = robotmem.Caller{Tenant: a.tenant(), Role: robotmem.RoleAdmin}
	if options.Open() {
		a.warn("every program of this machine may do everything in the tenant " + a.tenant() + ", until it has a token")
	}

	return a.serveOver(ctx, collected.In(guard, a.Config.Collection), options, onlyLocal, tlsConfig)
}

// serveOver listens and serves until ctx ends.
func (a *app) serveOver(ctx context.Context, svc robotmem.Node, options *web.Options, onlyLocal bool, tlsConfig *tls.Config) error {
	l, err := serving.Listen(ctx, a.Config.Addr)
	if err != nil {
		return err
	}
	address := "http://" + l.Addr().String()
	if tlsConfig != nil {
		address = "https://" + l.Addr().String()
	} else if !onlyLocal {
		a.warn("tokens pass over the network in the clear; give --tls-cert and --tls-key, or put a proxy with TLS in front")
	}
	tools := mcp.NewServer(svc, mcp.Options{Version: a.Version, Logger: a.Log, Address: address})
	options.Logger, options.Version, options.UI = a.Log, a.Version, ui.Files()
	options.MCP = tools.Handler()
	server := web.NewServer(svc, *options)
	server.TLSConfig = tlsConfig
	// The listener already accepts connections, so a program that waits for this line can connect at once.
	fmt.Fprintln(a.Stdout, address)

	return serving.Serve(ctx, server, l)
}

// basePaths matches the paths below which a proxy may serve a node.
var basePaths = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// webOptions are the limits of a node, which are less strict if only this machine reaches it.
func webOptions(s *config, local bool) (o web.Options, err error) {
	if !local {
		o.Rate = defaultRate
	}

	if s.Rate != "" {
		if o.Rate, err = strconv.ParseFloat(s.Rate, 64); err != nil || !(o.Rate >= 0 && o.Rate <= amounts.MaxRate) {
			return o, invalid("rate", "must be 0 to %d requests a second, not %q", amounts.MaxRate, s.Rate)
		}
	}

	for _, host := range s.AllowHost {
		if _, _, err := net.SplitHostPort(host); err == nil || host == "" {
			return o, invalid("allow-host", "must be a name without a port, such as arm-7.local, not %q", host)
		}
	}

	if o.BasePath = strings.TrimSuffix(s.BasePath, "/"); o.BasePath != "" && !basePaths.MatchString(o.BasePath) {
		return o, invalid("base-path", "must be a path such as /robotmem, of letters, digits and . _ - ~ between slashes, not %q", s.BasePath)
	}

	o.AllowedHosts = s.AllowHost
	if host, _, _ := net.SplitHostPort(s.Addr); host != "" {
		// The capacity is cut, so that append does not write into the list of the settings.
		o.AllowedHosts = append(o.AllowedHosts[:len(s.AllowHost):len(s.AllowHost)], host)
	}

	return o, nil
}
