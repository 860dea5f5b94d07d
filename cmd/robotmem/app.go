package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/screen"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/syncing"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// app has the streams, the settings and the functions that open a memory. Every command gets
// it. A command is a struct with
//
//	Run(ctx context.Context, a *app) error
//
// whose ctx ends at the first SIGINT or SIGTERM. The answer goes to Stdout, all else to Stderr or Log.
type app struct {
	Version string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Config  config
	Log     *slog.Logger
	// Embedder is the embedder; nil opens that of the settings.
	Embedder robotmem.Embedder

	parser *kong.Kong
	files  map[string][]byte // what settings name, by setting, once it is read
	asJSON bool              // the command line asks for JSON
	// embedTime limits the time that a command spends on vectors at its end. 0 means the constant of that name.
	embedTime time.Duration
	quiet     bool   // no notes on Stderr
	color     string // auto, always or never
	serves    string // the type of client that this process serves while it runs, "" for a command
	env       func(string) (string, bool)
	bar       *printed.Bar       // the last one, nil before the first
	spoken    func(error) string // spells an error for the command line; nil before an operation is asked
	closers   []io.Closer
	syncing   syncing.Sync // with the site of the memory
}

// Types of clients, as sessions record them.
const (
	clientCLI = "cli"
	clientMCP = "mcp_direct"
	clientWeb = "web"
)

// Open opens the memory at path with the settings of the command line.
func (a *app) Open(ctx context.Context, path string) (*local.Node, error) {
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	if err = a.addModels(&o); err != nil {
		return nil, err
	}
	if !site.IsURL(path) {
		return local.Open(ctx, path, o)
	}
	folder, err := a.Config.payloadFolder()
	if err != nil {
		return nil, err
	}

	return site.Open(ctx, path, site.Options{Options: o, Tenant: a.Config.Tenant, Payloads: folder})
}

// options are the settings for a memory, without the embedder and the reranker.
func (a *app) options() (o local.Options, err error) {
	o = local.Options{
		ReadOnly:   a.Config.ReadOnly,
		Create:     a.Config.Create,
		Durability: local.Durability(a.Config.Durability), Secrets: a.Config.Secrets,
		AllowPaths: a.Config.AllowPath,
		ClientType: cmp.Or(a.serves, clientCLI),
		Logger:     a.Log,
		Weights:    maps.Clone(a.Config.Weights),
		Fusion:     a.Config.Fusion,
		Memory:     a.Config.memory,
		ModelUse:   a.ledger().Use,
	}
	limitHeap(o.Memory)
	// Only long-running processes and the command retain evict.
	if a.serves != "" {
		o.Retention = a.Config.retention
	}

	// The weight of real-world data is not that of a ranked list, and the memory refuses names of lists that it
	// does not know.
	if real, ok := o.Weights["real"]; ok {
		o.RealWeight = real
		delete(o.Weights, "real")
	}

	if o.Taxonomy, err = a.settingsFile("taxonomy", a.Config.Taxonomy); err != nil {
		return o, err
	}
	if o.Entities, err = a.settingsFile("entities", a.Config.Entities); err != nil {
		return o, err
	}
	if err := local.CheckEntities(o.Entities); err != nil {
		err = invalid("entities", "%s: %s", a.Config.Entities, robotmem.Detail(err))
		if _, given := a.Config.given["entities"]; given {
			return o, err
		}

		// Nobody has asked for it in this call.
		fmt.Fprintln(a.Stderr, "robotmem: warning:", robotmem.Detail(err)+"; its names are left out")
		o.Entities = nil
	}

	return o, nil
}

// settingsFile returns the bytes of the file that a setting names, nil if it names none. Standard input can be read once.
func (a *app) settingsFile(name, path string) ([]byte, error) {
	if path == "" || a.files[name] != nil {
		return a.files[name], nil
	}

	data, err := stdin.ReadFile(path, a.Stdin)
	if err == nil {
		a.files[name] = data
	} else if !stdin.Interrupted(err) {
		err = invalid(name, "%s cannot be read: %s", path, robotmem.Reason(err))
	}

	return data, err
}

// addModels opens the embedder and the reranker of the settings.
func (a *app) addModels(o *local.Options) (err error) {
	if o.Embedder, err = a.embedder(); err == nil {
		o.Reranker, err = a.reranker()
	}
	return err
}

// reranker opens the reranker of the settings.
func (a *app) reranker() (robotmem.Reranker, error) {
	c := &a.Config
	o := embedding.Options{RerankerModel: c.RerankerModel, RerankerKey: c.RerankerKey, Logger: a.Log}
	r, err := embedding.OpenReranker(c.Reranker, o)
	if closer, ok := r.(io.Closer); ok {
		a.closers = append(a.closers, closer)
	}

	return r, err
}

// embedder opens the embedder of the settings.
func (a *app) embedder() (robotmem.Embedder, error) {
	if a.Embedder != nil {
		return a.Embedder, nil
	}
	c := &a.Config
	e, err := embedding.Open(c.Embedder, embedding.Options{
		Models: a.models().Dir, OllamaURL: c.OllamaURL, OpenAIURL: c.OpenAIURL, OpenAIKey: c.OpenAIKey, CPU: c.EmbedCPU,
		Runtimes: runtimes(), Logger: a.Log,
	})
	if closer, ok := e.(io.Closer); ok {
		a.closers = append(a.closers, closer)
	}

	return e, err
}

// close closes the embedders and rerankers of this run.
func (a *app) close() {
	a.bar.End()

	for _, c := range a.closers {
		if err := c.Close(); err != nil {
			a.Log.Warn("closing", "err", err)
		}
	}
}

// hasEmbedder reports whether the settings name one.
func (a *app) hasEmbedder() bool {
	return a.Embedder != nil || a.Config.Embedder != "none" && (a.Config.Embedder != "auto" || embedding.BuiltinModel() != "")
}

// OpenDefault opens the memory of the settings: --db, or memory.db in the home.
func (a *app) OpenDefault(ctx context.Context) (*local.Node, error) {
	path, err := a.Config.dbPath()
	if err != nil {
		return nil, err
	}
	isNew := !a.Config.onServer() && !exists(path)
	dir := filepath.Dir(path)
	folder := !exists(dir)

	// A mistyped --db must not make a tree of folders either. The usual place may be spelt out.
	above := filepath.Dir(dir)
	if isNew && folder && !exists(above) && a.Config.given["db"] != 0 && dir != a.Config.Home {
		return nil, notFound("db", "there is no folder %s for %s; correct the path, or make it: mkdir -p %s",
			above, filepath.Join(filepath.Base(dir), filepath.Base(path)), shell.Quote(dir))
	}

	m, err := a.Open(ctx, path)
	if err == nil && isNew {
		// A mistyped --db must not look like an empty memory.
		a.note("new memory %s", path)
		if a.Config.given["db"] == 0 && !a.asJSON {
			a.sayFirst(path, folder)
		}
	}

	return m, err
}

// sayFirst tells somebody who has begun what was made, how to look at it and how to undo it.
func (a *app) sayFirst(path string, folder bool) {
	made := path + "*"
	if folder {
		made = filepath.Dir(path)
	}
	a.note("look at it with: robotmem list, or robotmem web for a page in the browser; " +
		"robotmem config show names all settings")
	a.note("undo with: rm -r %s", strings.ReplaceAll(shell.Quote(made), "*'", "'*"))
}

// existing fails if the memory does not exist. It is for commands that only read: with a
// mistyped --db they would make an empty memory and succeed.
func (a *app) existing() error {
	if a.Config.URL != "" || a.Config.onServer() {
		return nil
	}
	path, err := a.Config.dbPath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return notFound("db", "there is no memory at %s; pass --db", path)
	}

	return nil
}

// Use calls f with the memory of the settings, a file or a node at --url, and closes it.
func (a *app) Use(ctx context.Context, f func(robotmem.Node) error) error {
	if a.Config.URL != "" {
		return f(client.New(a.Config.URL, client.Options{Token: a.Config.Token}))
	}
	m, err := a.OpenDefault(ctx)
	if err != nil {
		return err
	}
	err = f(m)
	if err == nil {
		// Without this a memory that only commands use would never get vectors.
		limited, cancel := context.WithTimeout(ctx, cmp.Or(a.embedTime, embedTime))
		defer cancel()
		if err := m.EmbedStored(limited); err != nil && limited.Err() == nil {
			a.Log.Warn("computing vectors", "err", err)
		}
	}
	// The error of f is first: it says more than that of Close.
	return errors.Join(err, m.Close())
}

// embedTime limits the time in which a command that has stored memories computes their vectors, and importEmbedTime that
// of one that has stored many. A running node, or the next one, computes those that are left.
const (
	embedTime       = 300 * time.Millisecond
	importEmbedTime = 8 * time.Second
)

// UseFile calls f with the memory's file. No node does this over HTTP; flag asked for it.
func (a *app) UseFile(ctx context.Context, flag string, f func(*local.Node) error) error {
	if a.Config.URL != "" {
		return invalid(flag, "works on the memory's file, not through a node: leave --url out and run it where the file is; a running node need not stop for it")
	}
	// Without --url the node is a local one.
	return a.Use(ctx, func(m robotmem.Node) error { return f(m.(*local.Node)) })
}

// note says something on Stderr that is no error. --quiet leaves it out.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.bar.Clear()
		fmt.Fprintf(a.Stderr, "robotmem: "+format+"\n", args...)
	}
}

// warn says something on Stderr that --quiet does not leave out.
func (a *app) warn(text string) {
	a.bar.Clear()
	fmt.Fprintln(a.Stderr, "robotmem: "+text)
}

// show ends the progress bar and prints an answer, as JSON or as text.
func (a *app) show(asJSON bool, answer any, text func(*printed.Lines)) error {
	a.bar.End()
	if asJSON {
		return a.PrintJSON(answer)
	}
	w := printed.To(a.Stdout, screen.Of(a.Stdout, a.color, a.env))
	if text == nil {
		text = func(w *printed.Lines) { printed.Answer(w, answer) }
	}
	text(w)

	return w.Err()
}

// showResult prints what was made, unless that failed.
func (a *app) showResult(asJSON bool, made any, failed error) error {
	if failed != nil {
		return failed
	}
	return a.show(asJSON, made, nil)
}

// PrintJSON writes v as REST answers it: one line, in which only hidden characters are escaped.
func (a *app) PrintJSON(v any) error {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(robotmem.VisibleJSON(data), '\n'))
	return err
}

// invalid is an error for bad input that the command itself detects.
func invalid(field, format string, args ...any) *robotmem.Error {
	return robotmem.Errorf(robotmem.Invalid, field, format, args...)
}

func notFound(field, format string, args ...any) *robotmem.Error {
	return robotmem.Errorf(robotmem.NotFound, field, format, args...)
}
