package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Options configure a handler. The zero value works.
type Options struct {
	// Logger receives the causes of internal errors, and at level info a line
	// for each request; nil is silent.
	Logger *slog.Logger
	// MaxBody is the largest request body in bytes, 64 MiB if 0. It does not
	// bound an upload as multipart/form-data, which streams: the memory does.
	MaxBody int64
	// MaxAside is the largest payload in bytes that an upload may send before
	// its fields, 4 GiB if 0. Such a payload waits in a temporary file.
	MaxAside int64
	// Timeout is how long a caller may stand still while it sends a body or
	// takes an answer, 30 seconds if 0. It bounds neither as a whole.
	Timeout time.Duration
	// MaxConns is how many connections a server of NewServer holds, 512 if 0.
	MaxConns int
	// Rate is how many requests a second one token may make, or without tokens
	// one address; twice as many at once. 0 is no limit.
	Rate float64
	// AllowedHosts are the host names, without a port, that a request may name
	// beside the loopback ones and the address that it came to.
	AllowedHosts []string
	// CORSOrigins are the origins, such as https://fleet.example, whose pages
	// may use the node. * is all of them, for requests with a bearer token.
	CORSOrigins []string
	// Tokens returns those who may use the node. It is called for each request,
	// so that one taken from the list is refused at once, and once a second for
	// those that stay open, which end. From the first token on every request must
	// show one.
	Tokens func() []Token
	// RequireToken refuses requests without a token also while there is none.
	RequireToken bool
	// MCP serves /mcp; without it the route does not exist.
	MCP http.Handler
	// UI holds the dashboard, index.html and what it loads; nil is none.
	UI fs.FS
	// Version is shown by the OpenAPI document.
	Version string
}

const (
	maxBody      = 64 << 20
	maxAside     = 4 << 30
	readyTimeout = 5 * time.Second
	// wrongTokens are what one address may try at once, and then one a second.
	wrongTokens = 10
)

// streaming is a service that also passes payloads on as streams.
type streaming interface {
	robotmem.Service
	robotmem.Streams
}

type server struct {
	svc      robotmem.Service
	streams  streaming
	opts     Options
	log      *slog.Logger
	maxBody  int64
	maxAside int64
	timeout  time.Duration

	required atomic.Bool // whether tokens are asked for
	sessions logins
	tries    *limits // of wrong tokens
	rates    *limits // of all requests, nil for no limit

	events   chan struct{} // a place for each request that stays open
	stopping context.Context
	stop     context.CancelFunc // ends the streams
}

// New returns a handler that serves svc.
func New(svc robotmem.Service, opts Options) http.Handler {
	_, h := newServer(svc, opts)
	return h
}

func newServer(svc robotmem.Service, opts Options) (*server, http.Handler) {
	s := &server{
		svc:      svc,
		opts:     opts,
		log:      cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		maxBody:  cmp.Or(opts.MaxBody, maxBody),
		maxAside: cmp.Or(opts.MaxAside, maxAside),
		timeout:  cmp.Or(opts.Timeout, bodyTimeout),
		sessions: logins{all: map[[sha256.Size]byte]login{}},
		tries:    newLimits(1, wrongTokens),
		events:   make(chan struct{}, maxEvents),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	if opts.Rate > 0 {
		s.rates = newLimits(rate.Limit(opts.Rate), int(math.Ceil(2*opts.Rate)))
	}
	s.tokens() // one that is there now is asked for even if it goes before the first request
	var ok bool
	if s.streams, ok = svc.(streaming); !ok {
		s.streams = whole{svc, s.maxBody}
	}
	return s, s.guard(s.routes())
}

// routes are all that the node answers, behind the guards.
func (s *server) routes() http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = s.fail
	for _, op := range robotmem.Ops() {
		path := strings.NewReplacer("{", ":", "}", "").Replace(op.Path())
		handle := s.operation(op)
		switch op.Name {
		case "data":
			handle = s.data(op)
		case "preview":
			handle = s.preview(op)
		case "save_perception":
			handle = s.save(op)
		case "changes":
			handle = s.waiting(handle)
		}
		handle = allowed(op, handle)
		if op.Method() == http.MethodGet {
			get(e, path, handle)
		} else {
			e.Add(op.Method(), path, handle)
		}
	}
	doc := openAPI(s.opts.Version)
	get(e, "/api/openapi.json", func(c echo.Context) error { return writeJSON(c, http.StatusOK, doc) })
	get(e, "/api/whoami", s.whoami)
	get(e, "/", func(c echo.Context) error { return writeJSON(c, http.StatusOK, index(s.opts.MCP != nil)) })
	get(e, "/healthz", func(c echo.Context) error { return writeJSON(c, http.StatusOK, health{Status: "ok"}) })
	get(e, "/readyz", s.ready)
	get(e, "/metrics", s.metrics())
	e.GET("/api/events", s.changed)
	e.POST("/login", s.login)
	e.POST("/logout", s.logout)
	s.addReference(e)
	if s.opts.MCP != nil {
		e.Match([]string{http.MethodGet, http.MethodPost, http.MethodDelete}, "/mcp", echo.WrapHandler(s.opts.MCP))
	}
	return e
}

// get answers GET, and HEAD as probes and proxies send it.
func get(e *echo.Echo, path string, handle echo.HandlerFunc) {
	e.Match([]string{http.MethodGet, http.MethodHead}, path, handle)
}

// allowed refuses a caller who may not use the operation before its body is
// read.
func allowed(op *robotmem.Op, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := op.Allowed(c.Request().Context()); err != nil {
			return err
		}
		return next(c)
	}
}

type health struct {
	Status string `json:"status"`
}

// ready answers whether the memory itself can be read. It asks for no token, so
// it reads what costs the least.
func (s *server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	if _, err := s.svc.Changes(ctx, &robotmem.ChangesRequest{}); err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, health{Status: "ready"})
}

// operation serves one row of the table.
func (s *server) operation(op *robotmem.Op) echo.HandlerFunc {
	return func(c echo.Context) error {
		if wantsEvents(c.Request()) {
			request, err := s.request(c, op)
			if err != nil {
				return err
			}
			return s.streamed(c, op, request)
		}
		res, err := s.call(c, op)
		if err != nil {
			return err
		}
		return writeJSON(c, http.StatusOK, res)
	}
}

func (s *server) call(c echo.Context, op *robotmem.Op) (any, error) {
	request, err := s.request(c, op)
	if err != nil {
		return nil, err
	}
	return op.Call(c.Request().Context(), s.svc, request)
}

type route struct {
	Op     string `json:"op,omitempty"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Title  string `json:"title"`
}

// index lists what is served.
func index(mcp bool) any {
	var routes []route
	for _, op := range robotmem.Ops() {
		routes = append(routes, route{op.Name, op.Method(), op.Path(), op.Title})
	}
	routes = append(routes,
		route{"", http.MethodGet, "/api/openapi.json", "Description of the API"},
		route{"", http.MethodGet, "/api/events", "Changes of the memory, as they come"},
		route{"", http.MethodGet, "/api/whoami", "Whose token this is"},
		route{"", http.MethodPost, "/login", "Take a token and set a cookie"},
		route{"", http.MethodPost, "/logout", "Forget the cookie"},
		route{"", http.MethodGet, "/healthz", "The process answers"},
		route{"", http.MethodGet, "/readyz", "The memory answers"},
		route{"", http.MethodGet, "/metrics", "Figures in the format of Prometheus"},
	)
	if mcp {
		routes = append(routes, route{"", http.MethodPost, "/mcp", "Model Context Protocol"})
	}
	return struct {
		Name   string  `json:"name"`
		Routes []route `json:"routes"`
	}{"robotmem", routes}
}
