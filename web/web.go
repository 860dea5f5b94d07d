package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Options configure a handler. The zero value works.
type Options struct {
	// Logger receives the causes of internal errors; nil is silent.
	Logger *slog.Logger
	// MaxBody is the largest request body in bytes, 64 MiB if 0. It does not
	// bound an upload as multipart/form-data, which streams: the memory does.
	MaxBody int64
	// MaxAside is the largest payload in bytes that an upload may send before
	// its fields, 4 GiB if 0. Such a payload waits in a temporary file.
	MaxAside int64
	// AllowedHosts are the host names, without a port, that a request may name
	// beside the loopback ones.
	AllowedHosts []string
	// MCP serves /mcp; without it the route does not exist.
	MCP http.Handler
	// Version is shown by the OpenAPI document.
	Version string
}

const (
	maxBody      = 64 << 20
	maxAside     = 4 << 30
	readyTimeout = 5 * time.Second
)

// streaming is a service that also passes payloads on as streams.
type streaming interface {
	robotmem.Service
	robotmem.Streams
}

type server struct {
	svc      robotmem.Service
	streams  streaming
	log      *slog.Logger
	maxBody  int64
	maxAside int64
}

// New returns a handler that serves svc.
func New(svc robotmem.Service, opts Options) http.Handler {
	s := &server{
		svc:      svc,
		log:      cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		maxBody:  cmp.Or(opts.MaxBody, maxBody),
		maxAside: cmp.Or(opts.MaxAside, maxAside),
	}
	var ok bool
	if s.streams, ok = svc.(streaming); !ok {
		s.streams = whole{svc, s.maxBody}
	}
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
		}
		e.Add(op.Method(), path, handle)
		if op.Method() == http.MethodGet {
			e.HEAD(path, handle)
		}
	}
	doc := openAPI(opts.Version)
	e.GET("/api/openapi.json", func(c echo.Context) error { return writeJSON(c, http.StatusOK, doc) })
	e.GET("/", func(c echo.Context) error { return writeJSON(c, http.StatusOK, index(opts.MCP != nil)) })
	e.GET("/healthz", func(c echo.Context) error {
		return writeJSON(c, http.StatusOK, health{Status: "ok"})
	})
	e.GET("/readyz", s.ready)
	e.GET("/metrics", s.metrics())
	addReference(e, opts.Version)
	if opts.MCP != nil {
		e.Any("/mcp", echo.WrapHandler(opts.MCP))
	}
	return s.guard(e, opts.AllowedHosts)
}

type health struct {
	Status string `json:"status"`
}

// ready answers whether the memory itself can be read.
func (s *server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	if _, err := s.svc.Stats(ctx, &robotmem.StatsRequest{}); err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, health{Status: "ready"})
}

// operation serves one row of the table.
func (s *server) operation(op *robotmem.Op) echo.HandlerFunc {
	return func(c echo.Context) error {
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
