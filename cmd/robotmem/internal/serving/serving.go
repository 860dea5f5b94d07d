// Package serving listens and serves HTTP until a program ends.
package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// TLS returns the certificate and its key, nil without both for plain HTTP.
func TLS(cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "tls-cert", "%q and --tls-key %q are not a certificate and its key: %v", cert, key, err)
	}

	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// OnlyLocal reports whether only this machine reaches the address.
func OnlyLocal(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, robotmem.Errorf(robotmem.Invalid, "addr", "must be HOST:PORT such as 127.0.0.1:7878, not %q", addr)
	}
	return Loopback(host), nil
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// InBackground runs f until the returned func is called, which waits for it.
func InBackground(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)

	var running sync.WaitGroup
	running.Go(func() { f(ctx) })

	return func() {
		cancel()
		running.Wait()
	}
}

// Listen listens at an address. It fails with Unavailable, and says what to do if another program does.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Field: "addr", Err: fmt.Errorf("%s is in use, perhaps by another robotmem web; choose another with --addr, such as --addr 127.0.0.1:0 for a free port", addr)}
	}
	if err != nil {
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Field: "addr", Err: fmt.Errorf("cannot listen: %w", err)}
	}

	return l, nil
}

// shutdownTimeout is for requests in flight at a signal.
const shutdownTimeout = 10 * time.Second

// Serve runs until ctx ends, then lets requests in flight finish.
func Serve(ctx context.Context, s *http.Server, l net.Listener) error {
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
		// Requests that hang are cut off.
		err = s.Close()
	}

	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}

	return err
}
