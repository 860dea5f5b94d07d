package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

type webCmd struct {
	Addr *string `name:"addr" placeholder:"HOST:PORT" help:"Where to listen (ROBOTMEM_ADDR; default 127.0.0.1:7878). Port 0 takes a free one. Loopback addresses only."`
}

const (
	readHeaderTimeout = 10 * time.Second // a client that dawdles holds no connection
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 10 * time.Second // for requests in flight at a signal
)

// Run serves until a signal comes. It prints its address once it can be asked.
func (c *webCmd) Run(ctx context.Context, a *app) (err error) {
	if a.Config.URL != "" {
		return invalid("url", "web serves a file; leave out --url and ROBOTMEM_URL, or ask the node at %s itself", a.Config.URL)
	}
	addr := a.Config.Addr
	if c.Addr != nil {
		addr = *c.Addr
	}
	if err := loopbackOnly(addr); err != nil {
		return err
	}
	m, err := a.OpenDefault(ctx, clientWeb)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	svc := inCollection(m, a.Config.Collection)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Field: "addr", Err: fmt.Errorf("%s is in use, perhaps by another robotmem web; choose another with --addr, such as --addr 127.0.0.1:0 for a free port", addr)}
	}
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Field: "addr", Err: fmt.Errorf("cannot listen: %w", err)}
	}
	tools := mcp.NewServer(svc, mcp.Options{Version: a.Version, Logger: a.Log, Address: "http://" + l.Addr().String()})
	server := &http.Server{
		Handler:           web.New(svc, web.Options{Logger: a.Log, MCP: tools.Handler(), Version: a.Version}),
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn),
	}
	fmt.Fprintf(a.Stdout, "http://%s\n", l.Addr())
	return serve(ctx, server, l)
}

// serve runs until ctx ends, then lets requests in flight finish.
func serve(ctx context.Context, s *http.Server, l net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
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

// loopbackOnly refuses an address that other machines reach: whoever reaches
// the port may use the memory.
func loopbackOnly(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return invalid("addr", "must be HOST:PORT such as 127.0.0.1:7878, not %q", addr)
	}
	ip, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return &robotmem.Error{Kind: robotmem.Forbidden, Field: "addr", Err: fmt.Errorf("%q can be reached by other machines, and this build has no access tokens; use a loopback address such as 127.0.0.1:7878, and an SSH tunnel from elsewhere", addr)}
}
