package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/serving"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/web"
)

// hookCmd answers the hook of a coding agent.
type hookCmd struct {
	Event   string   `arg:"" optional:"" help:"The event, if the client does not say it in its JSON."`
	Client  string   `name:"client" placeholder:"NAME" help:"claude-code, codex, cursor, gemini or vscode. Default: what the JSON tells."`
	Exclude []string `name:"exclude" sep:"none" placeholder:"GLOB" help:"Files whose uses are not recorded, such as *.env; repeatable."`
	NoAsk   bool     `name:"no-ask" help:"Do not ask the agent for the outcome of its work."`
}

// hookTime is how long a client waits for its hook at most, and endTime how long for that of the end, for which no agent
// waits. What is not stored by then is stored by a later hook, or by a node that serves hooks.
const (
	hookTime = 260 * time.Millisecond
	endTime  = 1200 * time.Millisecond
)

// Run reads the client's JSON on stdin, and writes its answer on stdout. It never fails: the client would show the
// error to its user, or stop its agent.
func (c *hookCmd) Run(ctx context.Context, a *app) error {
	a.quiet = true // nobody reads notes
	e, err := agent.Read(a.Stdin, c.Client, c.Event)
	if err != nil {
		a.Log.Warn("hook", "error", err)
		return nil
	}
	if e.Kind == agent.Other {
		a.Log.Debug("hook: nothing is remembered of this event", "event", e.Name)
		return nil
	}

	limit := hookTime
	if e.Kind == agent.End {
		limit = endTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// What does not heed ctx, such as a slow disk, ends like a process that is killed, which loses nothing.
	const grace = 30 * time.Millisecond
	defer time.AfterFunc(limit+grace, func() { os.Exit(0) }).Stop()

	h := &agent.Hooks{Collection: a.Config.Collection, Exclude: c.Exclude, AskNever: c.NoAsk, Log: a.Log}
	name, err := a.memoryName()
	if err == nil {
		h.Folder = a.journals(name)
		err = c.answer(ctx, a, h, e, name)
	}
	if err != nil {
		a.Log.Warn("hook", "event", e.Name, "error", err)
	}

	return nil
}

// answer finds a node that serves the memory, or else opens its file.
func (c *hookCmd) answer(ctx context.Context, a *app, h *agent.Hooks, e *agent.Event, name string) error {
	handle := func(node robotmem.Service) error {
		h.Node = node
		answer, err := h.Handle(ctx, e)
		if text, encodeErr := answer.JSON(e); encodeErr == nil && len(text) > 0 {
			_, _ = a.Stdout.Write(text)
		}
		return err
	}

	// The journal alone needs no memory.
	if e.Kind == agent.Tool || e.Kind == agent.Said {
		return handle(nil)
	}
	if over := agent.Dial(ctx, name); over != nil && a.Config.URL == "" {
		return handle(client.New("http://localhost", client.Options{HTTP: over}))
	}

	return a.Use(ctx, func(m robotmem.Node) error { return handle(m) })
}

// journals is the folder of what agents do until it is stored in a memory.
func (a *app) journals(name string) string {
	return filepath.Join(a.Config.Home, "agents", agent.Key(name))
}

// memoryName names the memory of the settings, for its journals and sockets.
func (a *app) memoryName() (string, error) {
	if a.Config.URL != "" || a.Config.onServer() {
		return a.Config.URL + a.Config.DB + "\x00" + a.Config.Tenant, nil
	}
	path, err := a.Config.dbPath()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}

	return filepath.Abs(path)
}

// serveHooks lets the hooks of this user's agents ask a node that has the memory open.
func (a *app) serveHooks(ctx context.Context, svc robotmem.Node) {
	name, err := a.memoryName()
	if err != nil {
		a.Log.Warn("hooks cannot ask this node", "error", err)
		return
	}
	l, err := agent.Listen(name)
	if err != nil {
		a.Log.Warn("hooks cannot ask this node", "error", err)
		return
	}

	h := &agent.Hooks{Node: svc, Collection: a.Config.Collection, Folder: a.journals(name), Log: a.Log}
	defer serving.InBackground(ctx, h.Sweep)()
	server := web.NewServer(svc, web.Options{Logger: a.Log, Version: a.Version, MaxConns: 32})
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); err != nil && err != http.ErrServerClosed {
		a.Log.Warn("hooks cannot ask this node any more", "error", err)
	}
	_ = os.Remove(l.Addr().String())
}
