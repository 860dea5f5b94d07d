package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
)

// demoCmd lives through 463 real recordings of a robot arm and asks what a
// controller would ask. Everything that it prints is measured in the run.
type demoCmd struct {
	Dir  string `name:"dir" placeholder:"DIR" help:"Make the demo's fresh folder below this one. Default the system's folder for temporary files."`
	Keep bool   `name:"keep" default:"true" negatable:"" help:"Leave the file, to try more on it. --no-keep removes it."`
	JSON bool   `name:"json" help:"Print it as JSON."`

	Web  bool    `name:"web" help:"Then serve the dashboard on the demo's file, until Ctrl-C."`
	Addr *string `name:"addr" placeholder:"HOST:PORT" help:"Where --web listens (ROBOTMEM_ADDR; default 127.0.0.1:7878). Port 0 takes a free one."`
	Open bool    `name:"open" help:"With --web: open a browser."`
}

// demoReport is what the demo found out.
type demoReport struct {
	DB        string                   `json:"db"`
	Kept      bool                     `json:"kept"`
	Seconds   float64                  `json:"seconds"`
	Lived     demoLived                `json:"lived"`
	Words     demoWords                `json:"words"`
	Filter    demoFilter               `json:"filter"`
	Likeness  demoLikeness             `json:"likeness"`
	SessionID string                   `json:"session_id"`
	Briefing  robotmem.Briefing        `json:"briefing"`
	BriefMS   float64                  `json:"briefing_ms"`
	Stats     *robotmem.StatsResponse  `json:"stats"`
	Doctor    *robotmem.DoctorResponse `json:"doctor"`
}

// Run implements the command.
func (c *demoCmd) Run(ctx context.Context, a *app) (err error) {
	dir, err := c.folder()
	if err != nil {
		return err
	}
	told := false
	defer func() {
		if !told || !c.Keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	r := &demoReport{DB: filepath.Join(dir, "memory.db"), Kept: c.Keep}
	if err := r.run(ctx, a); err != nil {
		return err
	}
	tell := r.print
	if c.JSON {
		tell = func(a *app) error { return a.PrintJSON(r) }
	}
	if err := tell(a); err != nil {
		return err
	}
	told = true
	if !c.Web {
		return nil
	}
	return c.serve(ctx, a, r)
}

// folder is a new one on every run: the demo never opens a file that is there.
func (c *demoCmd) folder() (string, error) {
	if c.Dir != "" {
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			return "", invalid("dir", "cannot be made: %v", err)
		}
	}
	dir, err := os.MkdirTemp(c.Dir, "robotmem-demo-")
	if err != nil {
		return "", invalid("dir", "is not writable: %v", err)
	}
	return filepath.Abs(dir)
}

func (r *demoReport) run(ctx context.Context, a *app) (err error) {
	began := time.Now()
	failures, err := robotfailures.Load()
	if err != nil {
		return fmt.Errorf("the demo's data: %w", err)
	}
	m, err := a.Open(ctx, r.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()

	life := &demoLife{m: m, report: &r.Lived, bar: a.newProgress("living", int64(len(failures)))}
	err = life.live(ctx, failures)
	life.bar.Done()
	if err != nil {
		return err
	}
	asker := &demoAsker{m: m, experiences: life.experiences}
	if err := asker.ask(ctx, r); err != nil {
		return err
	}
	if r.Stats, err = m.Stats(ctx, &robotmem.StatsRequest{}); err != nil {
		return err
	}
	if r.Doctor, err = m.Doctor(ctx, &robotmem.DoctorRequest{}); err != nil {
		return err
	}
	r.Seconds = time.Since(began).Seconds()
	return nil
}
