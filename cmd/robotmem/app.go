package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// app is what every command is given: the streams, the settings, and the ways
// to reach a memory. A command is a struct with
//
//	Run(ctx context.Context, a *app) error
//
// whose ctx ends at the first SIGINT or SIGTERM. Stdout carries the answer and
// nothing else; everything else goes to Stderr or Log.
type app struct {
	Version string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Config  config
	Log     *slog.Logger
	// Embedder opens what finds by meaning; the settings' own if nil.
	Embedder func() (robotmem.Embedder, error)

	env     func(string) (string, bool)
	closers []io.Closer
}

// exitError ends the program with a code and, when err is set, a message.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// Who asks, as sessions record it.
const (
	clientCLI = "cli"
	clientMCP = "mcp_direct"
	clientWeb = "web"
)

// Open opens the memory at path with the settings of the command line.
func (a *app) Open(ctx context.Context, path string) (*local.Node, error) {
	return a.open(ctx, path, clientCLI)
}

func (a *app) open(ctx context.Context, path, clientType string) (*local.Node, error) {
	o, err := a.options(path, clientType)
	if err != nil {
		return nil, err
	}
	if o.Embedder, err = a.embedder(); err != nil {
		return nil, err
	}
	return local.Open(ctx, o)
}

// options are the settings of the command line for a memory, but its embedder.
func (a *app) options(path, clientType string) (o local.Options, err error) {
	o = local.Options{
		Path:       path,
		ReadOnly:   a.Config.ReadOnly,
		Durability: local.Durability(a.Config.Durability),
		AllowPaths: a.Config.AllowPath,
		ClientType: clientType,
		Logger:     a.Log,
		Weights:    maps.Clone(a.Config.Weights),
	}
	if clientType != clientCLI { // a command of a moment leaves it to a node or to retain
		if o.Retention, err = parseRetention(a.Config.Retention, a.Config.MinFree); err != nil {
			return o, err
		}
	}
	if real, ok := o.Weights["real"]; ok {
		o.RealWeight = real
		delete(o.Weights, "real")
	}
	if a.Config.Taxonomy != "" {
		rules, err := os.ReadFile(a.Config.Taxonomy)
		if err != nil {
			return o, invalid("taxonomy", "cannot be read: %v", err)
		}
		o.Taxonomy = rules
	}
	return o, nil
}

// embedder opens what finds by meaning.
func (a *app) embedder() (robotmem.Embedder, error) {
	if a.Embedder != nil {
		return a.Embedder()
	}
	c := &a.Config
	e, err := embedding.Open(c.Embedder, embedding.Options{OllamaURL: c.OllamaURL, OpenAIURL: c.OpenAIURL, OpenAIKey: c.OpenAIKey, Runtimes: runtimes(), Logger: a.Log})
	if closer, ok := e.(io.Closer); ok {
		a.closers = append(a.closers, closer)
	}
	return e, err
}

// close ends what the memories of this run were opened with.
func (a *app) close() {
	for _, c := range a.closers {
		if err := c.Close(); err != nil {
			a.Log.Warn("closing", "err", err)
		}
	}
}

// hasEmbedder reports whether the settings name one; auto may find none.
func (a *app) hasEmbedder() bool {
	return a.Embedder != nil || a.Config.Embedder != "none" && a.Config.Embedder != "auto"
}

func noEmbedder() (robotmem.Embedder, error) { return nil, nil }

// OpenDefault opens the user's own memory: --db, or memory.db in the home.
func (a *app) OpenDefault(ctx context.Context, clientType string) (*local.Node, error) {
	path, err := a.Config.dbPath()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	m, err := a.open(ctx, path, clientType)
	if err == nil && isNew {
		// A mistyped --db would otherwise look like an empty memory.
		fmt.Fprintf(a.Stderr, "robotmem: new memory %s\n", path)
	}
	return m, err
}

// existing refuses a memory that is not there, for what only reads one: a
// mistyped --db would otherwise make an empty one and succeed.
func (a *app) existing() error {
	if a.Config.URL != "" {
		return nil
	}
	path, err := a.Config.dbPath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return &robotmem.Error{Kind: robotmem.NotFound, Field: "db", Err: fmt.Errorf("there is no memory at %s; pass --db", path)}
	}
	return nil
}

// Use calls f with the memory that the settings name, a file or a node at
// --url, and closes it.
func (a *app) Use(ctx context.Context, f func(node) error) error {
	return a.useAs(ctx, clientCLI, f)
}

func (a *app) useAs(ctx context.Context, clientType string, f func(node) error) error {
	if a.Config.URL != "" {
		return f(client.New(a.Config.URL, client.Options{Token: a.Config.Token}))
	}
	m, err := a.OpenDefault(ctx, clientType)
	if err != nil {
		return err
	}
	// An error of the work itself says more than one of closing after it.
	return errors.Join(f(m), m.Close())
}

// PrintJSON writes v as REST answers it: one line, characters as they are.
func (a *app) PrintJSON(v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(data)
	return err
}

// encode is an answer as one line of JSON.
func encode(v any) ([]byte, error) {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// invalid is bad input that the command line sees before the memory does.
func invalid(field, format string, args ...any) *robotmem.Error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: field, Err: fmt.Errorf(format, args...)}
}
