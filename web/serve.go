package web

import (
	"cmp"
	"container/list"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	readHeaderTimeout = 10 * time.Second // a client that dawdles holds no connection
	idleTimeout       = 2 * time.Minute
	maxHeader         = 64 << 10 // bytes; a filter in a query takes a few thousand
	maxConns          = 512      // half of the 1,024 files that a process may open by default
	maxStreams        = 100      // requests at once of one HTTP/2 connection
	pingAfter         = 30 * time.Second
)

// NewServer returns a server of svc with every guard: those of New, and those
// that belong to connections. Its Shutdown ends the streams of events.
func NewServer(svc robotmem.Service, opts Options) *http.Server {
	s, h := newServer(svc, opts)
	conns := &connections{max: cmp.Or(opts.MaxConns, maxConns), idle: list.New(), at: map[net.Conn]*list.Element{}}
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnState:         conns.state,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, SendPingTimeout: pingAfter, PingTimeout: pingAfter, WriteByteTimeout: s.timeout},
	}
	srv.RegisterOnShutdown(s.stop)
	return srv
}

// connections keeps what is open within max, so that callers who only hold
// connections take neither files nor memory from those who ask. For one more
// than max the one that has been idle longest is closed; if all are at work,
// the new one.
type connections struct {
	max int

	mu   sync.Mutex // guards what follows
	open int
	idle *list.List // of net.Conn, that which has been idle longest first
	at   map[net.Conn]*list.Element
}

// state follows a connection; it is the ConnState of a server.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if surplus := c.follow(conn, state); surplus != nil {
		if t, ok := surplus.(*tls.Conn); ok {
			surplus = t.NetConn() // no farewell, which may wait for the other side
		}
		_ = surplus.Close()
	}
}

// follow counts a connection and returns the one to close, if any. A new one
// counts as idle until its first request has come.
func (c *connections) follow(conn net.Conn, state http.ConnState) (surplus net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.at[conn]; e != nil {
		c.idle.Remove(e)
		delete(c.at, conn)
	}
	switch state {
	case http.StateNew:
		c.open++
		if c.open > c.max {
			surplus = conn
			if oldest := c.idle.Front(); oldest != nil {
				surplus = oldest.Value.(net.Conn)
				c.idle.Remove(oldest)
				delete(c.at, surplus)
			}
		}
		if surplus != conn {
			c.at[conn] = c.idle.PushBack(conn)
		}
	case http.StateIdle:
		c.at[conn] = c.idle.PushBack(conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	return surplus
}
