package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/demo"
)

// demoCmd stores 463 real recordings of a robot arm as sessions and asks the questions of a
// controller. Every number that it prints is measured in the run.
type demoCmd struct {
	Dir  string  `name:"dir" placeholder:"DIR" help:"Make the new folder of the demo below this one. Default the system's folder for temporary files."`
	JSON bool    `name:"json" help:"Print it as JSON."`
	Web  bool    `name:"web" help:"Then serve the dashboard on the demo's file, until Ctrl-C."`
	Addr *string `name:"addr" placeholder:"HOST:PORT" help:"Where --web listens, as of robotmem web (ROBOTMEM_ADDR)."`
}

// Run runs the demo in a folder of its own. It never opens a file that exists.
func (c *demoCmd) Run(ctx context.Context, a *app) (err error) {
	dir, err := filepath.Abs(cmp.Or(c.Dir, os.TempDir()))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		dir, err = os.MkdirTemp(dir, "robotmem-demo-")
	}
	if err != nil {
		return invalid("dir", "is not writable: %v", err)
	}

	r := &demo.Report{DB: filepath.Join(dir, "memory.db")}
	m, err := a.Open(ctx, r.DB)
	if err == nil {
		err = errors.Join(r.Run(ctx, m), m.Close())
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	if err := a.show(c.JSON, r, r.Print); err != nil || !c.Web {
		return err
	}

	// The user's other settings, such as tokens, belong to another file.
	a.Config.DB, a.Config.URL, a.Config.Collection = r.DB, "", ""
	a.Config.Home, a.Config.Token = dir, ""

	return (&webCmd{Addr: c.Addr}).Run(ctx, a)
}
