package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/labstack/echo/v4"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/web/oauth"
	"golang.org/x/time/rate"
)

// Options configure a server. The zero value works.
type Options struct {
	// Logger receives the causes of internal errors, and at level info a line for
	// each request; nil is silent.
	Logger *slog.Logger
	// MaxBody is the largest request body in bytes, 64 MiB if 0. It does not apply
	// to an upload as multipart/form-data, whose size the memory limits.
	MaxBody int64
	// Memory is how many bytes the bodies of all requests may take together,
	// 64 MiB if 0, and their decoded values as many again. A request that needs
	// more waits, and is refused after ten seconds.
	Memory int64
	// Timeout is how long a client may pause while it sends a body or reads an
	// answer, 30 seconds if 0. It does not limit the whole body or answer.
	Timeout time.Duration
	// MaxConns is the number of connections of a server of NewServer, 512 if 0, at least 1.
	MaxConns int
	// Rate is the number of requests per second of one token, or without tokens of
	// one address. A burst may have twice as many. 0 is no limit.
	Rate float64
	// AllowedHosts are the host names, without a port, that a request may name
	// besides the loopback names and the address that it came to.
	AllowedHosts []string
	// Tokens returns the tokens that may use the node. It is called for each request, so that a
	// revoked token is refused at once, and 20 times a second while a request is in progress,
	// which then ends. While there are tokens, every request needs one. A token that is sent is
	// checked in any case.
	Tokens func() []Token
	// Lookup returns the caller of the token with a hash, for a node that serves many tenants;
	// it takes the place of Tokens, and is called as that is. ok is false without such a token.
	// Every request needs a token then.
	Lookup func(ctx context.Context, hash [sha256.Size]byte) (c robotmem.Caller, ok bool, err error)
	// Open reports whether a request needs no token now, for a node with Lookup that only this machine
	// reaches; it is asked at each request. A request without one is made as OpenAs then.
	Open   func() bool
	OpenAs robotmem.Caller
	// TenantRate returns the requests a second that a tenant may make, 0 for any number. A burst
	// may have twice as many. It fails for a tenant that does not exist.
	TenantRate func(ctx context.Context, tenant string) (float64, error)
	// OIDC accepts the access tokens of an identity provider. Every request needs a token then. On
	// a node without Lookup, which has one memory, no tenant is asked for, and the roles that have
	// only some collections are refused.
	OIDC *OIDC
	// OAuth makes the node its own authorization server for the tokens of its Logins. Every request needs a token
	// then. The node sets Base, BasePath, Visitor, LogIn, Address and Logger. It excludes OIDC and Lookup.
	OAuth *oauth.Options
	// Secret is what the node proves to know at /api/proof, which needs no token. Without it the route does
	// not exist.
	Secret []byte
	// ManageTokens serves /api/tokens. Without it the route does not exist.
	ManageTokens TokenManager
	// Backups lists the backups of the memory for /api/backups, after making one if that is
	// asked for. Without it the route does not exist. Its errors are *robotmem.Error.
	Backups func(ctx context.Context, make bool) (*Backups, error)
	// Pause begins or ends a pause of the background work, for /api/workers. Without it the
	// routes do not exist.
	Pause func(on bool)
	// Imports takes recordings for /api/imports. Without it the routes do not exist.
	Imports Importer
	// EpisodeMCAP writes an episode as an MCAP file, for /api/sessions/{session_id}/mcap.
	// Without it the route does not exist.
	EpisodeMCAP func(ctx context.Context, w io.Writer, sessionID string) error
	// RequireToken refuses requests without a token even while there is none.
	RequireToken bool
	// Ready returns why the memory stores nothing any more, which /readyz then says; nil
	// if it does. It may be nil.
	Ready func() error
	// MCP serves /mcp. Without it the route does not exist.
	MCP http.Handler
	// Fleet serves robots below /api/fleet/; the server answers its errors. Without it the routes do
	// not exist.
	Fleet func(http.ResponseWriter, *http.Request) error
	// Metrics returns figures for /metrics beside those of the memory, for the caller in ctx. It may be nil.
	Metrics func(ctx context.Context) ([]admin.Metric, error)
	// UI holds the dashboard: index.html and the files that it loads. Without it
	// there is no dashboard.
	UI fs.FS
	// BasePath is the path below which a proxy serves the node, such as /robotmem; "" is the root.
	// Requests are taken with it and without it, because proxies keep or remove it.
	BasePath string
	// Version is the version in the OpenAPI document.
	Version string
}

const (
	maxBody      = 64 << 20
	readyTimeout = 5 * time.Second
	// wrongTokens is how many wrong tokens one address may send at once. After that
	// it may send one per second.
	wrongTokens = 10
)

type server struct {
	svc     robotmem.Node
	opts    Options
	log     *slog.Logger
	maxBody int64
	timeout time.Duration
	memory  memoryPools

	sessions logins
	tries    *limits       // of wrong tokens
	rates    *limits       // of all requests, nil for no limit
	tenants  *limits       // of the requests of each tenant, which has its own rate
	oidc     *provider     // nil without one
	oauth    *oauth.Server // nil if the node is no authorization server

	mu           sync.Mutex     // guards openRequests
	openRequests map[string]int // number of requests that stay open, by client
	openTotal    int            // requests that stay open, of all clients; mu guards it
	maxOpen      int
	stopping     context.Context
	stop         context.CancelFunc // ends the requests that stay open
}

// routes returns the handler of all routes, without the guards.
func (s *server) routes() http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = s.fail

	for _, op := range robotmem.Ops() {
		path := strings.NewReplacer("{", ":", "}", "").Replace(op.Path())
		handle := s.operation(op)

		// These carry bytes or stay open. Every other operation is only JSON in and out.
		switch op.Name {
		case "data":
			handle = s.data(op)
		case "preview":
			handle = s.preview(op)
		case "save_perception":
			handle = s.save(op)
		case "changes":
			handle = s.longPoll(handle)
		}

		handle = requireRight(op, handle)
		if op.Method() == http.MethodGet {
			get(e, path, handle)
		} else {
			e.Add(op.Method(), path, handle)
		}
	}

	doc := OpenAPI(s.opts.Version)
	get(e, "/api/openapi.json", func(c echo.Context) error { return writeJSON(c, doc) })
	get(e, "/api/whoami", s.whoami)
	get(e, "/", func(c echo.Context) error {
		return writeJSON(c, map[string]string{
			"name":      "robotmem",
			"openapi":   "/api/openapi.json",
			"reference": "/api/reference",
		})
	})
	get(e, "/healthz", func(c echo.Context) error { return writeJSON(c, map[string]string{"status": "ok"}) })
	get(e, "/readyz", s.ready)
	get(e, "/metrics", s.metrics())
	if s.opts.EpisodeMCAP != nil {
		get(e, "/api/sessions/:session_id/mcap", s.sessionMCAP)
	}

	e.GET("/api/events", s.events)
	e.POST("/login", s.login)
	e.POST("/logout", s.logout)
	if s.opts.ManageTokens != nil {
		// Listing also needs a token that may write, because a caller who may create tokens has every right.
		get(e, "/api/tokens", requireAdmin("tokens", s.listTokens))
		e.POST("/api/tokens", requireAdmin("create_token", s.createToken))
		e.DELETE("/api/tokens/:name", requireAdmin("revoke_token", s.revokeToken))
	}

	// The operations below are not in Ops, so each has an Op of its own. Without Hints.ReadOnly it requires the right to
	// write.
	if s.opts.Backups != nil {
		get(e, "/api/backups", requireRight(&robotmem.Op{Name: "backups"}, s.backups(false)))
		e.POST("/api/backups", requireRight(&robotmem.Op{Name: "make_backup"}, s.backups(true)))
	}

	if s.opts.Pause != nil {
		e.POST("/api/workers/pause", requireRight(&robotmem.Op{Name: "pause_workers"}, s.pause(true)))
		e.POST("/api/workers/resume", requireRight(&robotmem.Op{Name: "resume_workers"}, s.pause(false)))
	}

	if s.opts.Imports != nil {
		s.addImports(e)
	}

	if s.opts.Fleet != nil {
		e.Match([]string{http.MethodGet, http.MethodPost}, "/api/fleet/*", requireRight(&robotmem.Op{Name: "fleet"}, func(c echo.Context) error {
			return s.opts.Fleet(c.Response(), c.Request())
		}))
	}

	if s.opts.Secret != nil {
		get(e, proofPath, s.proof)
	}

	if s.oidc != nil {
		get(e, metadataPath, s.metadata(""))
		get(e, metadataPath+"/mcp", s.metadata("/mcp"))
	}

	for _, route := range s.oauthRoutes() {
		e.Match(route.methods, route.path, route.handle)
	}

	s.addReference(e)
	if s.opts.MCP != nil {
		e.Match([]string{http.MethodGet, http.MethodPost, http.MethodDelete}, "/mcp", s.mcp)
	}

	return e
}

// get adds a route for GET, and for HEAD, which probes and proxies send.
func get(e *echo.Echo, path string, handle echo.HandlerFunc) {
	e.Match([]string{http.MethodGet, http.MethodHead}, path, handle)
}

// requireRight refuses a caller who may not use the operation, before the body is read.
func requireRight(op *robotmem.Op, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := op.Allowed(c.Request().Context()); err != nil {
			return err
		}
		return next(c)
	}
}

// ready reports whether the memory can be read, and written unless it is read-only. It needs no token, so it uses the
// cheapest operation.
func (s *server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()

	// With Lookup there is a memory for each tenant, and this request has no tenant.
	if s.opts.Lookup == nil {
		if _, err := s.svc.Changes(ctx, &admin.ChangesRequest{}); err != nil {
			return err
		}
	}
	if s.opts.Ready != nil {
		if err := s.opts.Ready(); err != nil {
			return err
		}
	}

	return writeJSON(c, map[string]string{"status": "ready"})
}

// operation serves an operation.
func (s *server) operation(op *robotmem.Op) echo.HandlerFunc {
	return func(c echo.Context) error {
		request, err := s.request(c, op)
		if err != nil {
			return err
		}

		// A client that accepts both types gets JSON.
		if r := c.Request(); accepts(r, "text/event-stream") && !accepts(r, "application/json") {
			return s.streamed(c, op, request)
		}
		res, err := op.Call(c.Request().Context(), s.svc, request)

		return answer(c, res, err)
	}
}

const (
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeader         = 64 << 10 // bytes; a filter in a query takes a few thousand
	maxConns          = 512      // half of the 1,024 files that a process may open by default
	maxStreams        = 100      // concurrent requests of one HTTP/2 connection
	pingAfter         = 30 * time.Second
)

// NewServer returns a server with a handler that serves svc and limits for
// connections. Its Shutdown ends the streams of events.
func NewServer(svc robotmem.Node, opts Options) *http.Server {
	s := &server{
		svc:          svc,
		opts:         opts,
		log:          cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		maxBody:      cmp.Or(opts.MaxBody, maxBody),
		timeout:      cmp.Or(opts.Timeout, bodyTimeout),
		sessions:     newLogins(),
		tries:        newLimits(1, wrongTokens),
		tenants:      newLimits(rate.Inf, 0),
		oidc:         newProvider(opts.OIDC, opts.Lookup != nil),
		memory:       newMemoryPools(cmp.Or(opts.Memory, DefaultMemory)),
		openRequests: map[string]int{},
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.oauth = s.newOAuth()
	if opts.Rate > 0 {
		s.rates = newLimits(rate.Limit(opts.Rate), int(math.Ceil(2*opts.Rate)))
	}

	// Streams and waits hold a connection each. Only half of the connections may be held in this way, so that the other
	// half answers requests.
	most := max(cmp.Or(opts.MaxConns, maxConns), 1)
	conns := newConnections(most)
	s.maxOpen = max(most/2, 1)

	srv := &http.Server{
		Handler:           s.stripBasePath(s.guard(s.routes())),
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnState:         conns.state,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams,
			SendPingTimeout:      pingAfter,
			PingTimeout:          pingAfter,
			WriteByteTimeout:     s.timeout,
		},
	}

	// Shutdown waits for requests to end, and these would not end by themselves.
	srv.RegisterOnShutdown(s.stop)

	return srv
}

// connections limits the open connections to max, so that clients that only hold
// connections use up neither files nor memory. For a connection over max, it closes
// the connection that has been idle longest, or the new one if none is idle.
type connections struct {
	max int

	mu   sync.Mutex // guards the fields below
	open int
	idle *simplelru.LRU[net.Conn, struct{}]
}

func newConnections(limit int) *connections {
	// It evicts nothing, because idle connections are open ones, and fails only for a size below 1.
	idle, _ := simplelru.NewLRU[net.Conn, struct{}](2*limit, nil)
	return &connections{max: limit, idle: idle}
}

// state follows a connection. It is the ConnState of a server.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if surplus := c.track(conn, state); surplus != nil {
		if t, ok := surplus.(*tls.Conn); ok {
			// tls.Conn.Close may wait for the client.
			surplus = t.NetConn()
		}
		_ = surplus.Close()
	}
}

// track counts a connection and returns the connection to close, nil for none. A
// new connection is idle until its first request.
func (c *connections) track(conn net.Conn, state http.ConnState) (surplus net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle.Remove(conn)

	switch state {
	case http.StateNew:
		c.open++
		if c.open > c.max {
			// A refused connection is counted too: its StateClosed follows.
			oldest, _, ok := c.idle.RemoveOldest()
			if !ok {
				return conn
			}
			surplus = oldest
		}
		c.idle.Add(conn, struct{}{})
	case http.StateIdle:
		c.idle.Add(conn, struct{}{})
	case http.StateClosed, http.StateHijacked:
		c.open--
	}

	return surplus
}
