package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/ui"
	"github.com/robotmem/robotmem-go/web"
)

type webCmd struct {
	Addr       *string  `name:"addr" placeholder:"HOST:PORT" help:"Where to listen (ROBOTMEM_ADDR; default 127.0.0.1:7878). Port 0 takes a free one. An address that other machines reach needs a token."`
	TLSCert    *string  `name:"tls-cert" placeholder:"FILE" help:"Certificate chain as PEM, for HTTPS (ROBOTMEM_TLS_CERT)."`
	TLSKey     *string  `name:"tls-key" placeholder:"FILE" help:"Its private key as PEM (ROBOTMEM_TLS_KEY)."`
	AllowHost  []string `name:"allow-host" sep:"none" placeholder:"NAME" help:"Name that callers may know this node by, beside localhost and its address; repeatable (ROBOTMEM_ALLOW_HOST)."`
	CORSOrigin []string `name:"cors-origin" sep:"none" placeholder:"ORIGIN" help:"Origin whose pages may use this node, such as https://fleet.example; repeatable, * is all, with a token (ROBOTMEM_CORS_ORIGIN)."`
	Rate       *float64 `name:"rate" placeholder:"N" help:"Requests a second of each token or address, 0 for no limit (ROBOTMEM_RATE). Default 100, on a loopback address 0."`

	// ready is told the address once it can be asked.
	ready func(address string) `kong:"-"`
}

const (
	shutdownTimeout = 10 * time.Second // for requests in flight at a signal
	// defaultRate lets a page with a hundred thumbnails load at once, and stops
	// a loop that has gone wild.
	defaultRate = 100
)

// Run serves until a signal comes. It prints its address once it can be asked.
func (c *webCmd) Run(ctx context.Context, a *app) (err error) {
	if a.Config.URL != "" {
		return invalid("url", "web serves a file; leave out --url and ROBOTMEM_URL, or ask the node at %s itself", a.Config.URL)
	}
	set := c.settings(&a.Config)
	tokens, err := openTokens(&a.Config, func(err error) { a.Log.Error("tokens are as they were", "err", err) })
	if err != nil {
		return err
	}
	local, err := localOnly(set.addr)
	if err != nil {
		return err
	}
	if !local && len(tokens.Tokens()) == 0 {
		return &robotmem.Error{Kind: robotmem.Forbidden, Field: "addr", Err: fmt.Errorf("%q can be reached by other machines, and there is no token; make one with `robotmem token create NAME`, or use a loopback address such as 127.0.0.1:7878", set.addr)}
	}
	options, err := set.options(local)
	if err != nil {
		return err
	}
	tlsConfig, err := set.tls()
	if err != nil {
		return err
	}
	m, err := a.OpenDefault(ctx, clientWeb)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	defer warm(ctx, a, m)()
	svc := inCollection(m, a.Config.Collection)
	l, err := listen(ctx, set.addr)
	if err != nil {
		return err
	}
	scheme := "http://"
	if tlsConfig != nil {
		scheme = "https://"
	} else if !local {
		fmt.Fprintln(a.Stderr, "robotmem: tokens pass over the network in the clear; give --tls-cert and --tls-key, or put a proxy with TLS in front")
	}
	tools := mcp.NewServer(svc, mcp.Options{Version: a.Version, Logger: a.Log, Address: scheme + l.Addr().String()})
	options.Logger, options.Version, options.UI = a.Log, a.Version, ui.Files()
	options.MCP, options.Tokens, options.RequireToken = tools.Handler(), tokens.Tokens, !local
	server := web.NewServer(svc, options)
	server.TLSConfig = tlsConfig
	fmt.Fprintf(a.Stdout, "%s%s\n", scheme, l.Addr())
	if c.ready != nil {
		c.ready(scheme + l.Addr().String())
	}
	return serve(ctx, server, l)
}

// warm reads the indexes in the background: whoever serves will be asked, and
// the first question should not wait. The returned func ends it.
func warm(ctx context.Context, a *app, m *local.Node) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		if err := m.Warm(ctx); err != nil && ctx.Err() == nil {
			a.Log.Warn("the indexes are not in memory yet", "err", err)
		}
	})
	return func() {
		cancel()
		reading.Wait()
	}
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Field: "addr", Err: fmt.Errorf("%s is in use, perhaps by another robotmem web; choose another with --addr, such as --addr 127.0.0.1:0 for a free port", addr)}
	}
	if err != nil {
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Field: "addr", Err: fmt.Errorf("cannot listen: %w", err)}
	}
	return l, nil
}

// serve runs until ctx ends, then lets requests in flight finish.
func serve(ctx context.Context, s *http.Server, l net.Listener) error {
	ended := make(chan error, 1)
	go func() {
		if s.TLSConfig != nil {
			ended <- s.ServeTLS(l, "", "")
			return
		}
		ended <- s.Serve(l)
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := s.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close() // requests that hang are cut off
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
