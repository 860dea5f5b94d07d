package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// demoCmd stores 463 real recordings of a robot arm as sessions and asks the questions of a
// controller. Every number that it prints is measured in the run.
type demoCmd struct {
	Dir  string `name:"dir" placeholder:"DIR" help:"Make the new folder of the demo below this one. Default the system's folder for temporary files."`
	Keep bool   `name:"keep" default:"true" negatable:"" help:"Leave the file, to try more on it. --no-keep removes it."`
	JSON bool   `name:"json" help:"Print it as JSON."`

	Web  bool    `name:"web" help:"Then serve the dashboard on the demo's file, until Ctrl-C."`
	Addr *string `name:"addr" placeholder:"HOST:PORT" help:"Where --web listens (ROBOTMEM_ADDR; default 127.0.0.1:7878). Port 0 takes a free one."`
	Open bool    `name:"open" help:"With --web: open a browser."`
}

// demoReport is what the demo measured.
type demoReport struct {
	DB        string                `json:"db"`
	Kept      bool                  `json:"kept"`
	Seconds   float64               `json:"seconds"`
	Lived     demoLived             `json:"lived"`
	Questions []demoQuestion        `json:"questions"`
	SessionID string                `json:"session_id"`
	Probe     int64                 `json:"probe"` // the trace of the question by trace
	Stats     *admin.StatsResponse  `json:"stats"`
	Doctor    *admin.DoctorResponse `json:"doctor"`
}

// Run runs the demo in a folder of its own. It never opens a file that exists.
func (c *demoCmd) Run(ctx context.Context, a *app) (err error) {
	if c.Dir != "" {
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			return invalid("dir", "cannot be made: %v", err)
		}
	}
	dir, err := os.MkdirTemp(c.Dir, "robotmem-demo-")
	if err != nil {
		return invalid("dir", "is not writable: %v", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
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
	if err := a.show(c.JSON, r, r.print); err != nil {
		return err
	}
	told = true
	if !c.Web {
		return nil
	}
	return c.serve(ctx, a, r)
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
	life := &demoLife{m: m, report: r, bar: a.newProgress("storing", int64(len(failures)))}
	life.live(ctx, failures)
	life.bar.Done()
	life.ask(ctx)
	r.Seconds = time.Since(began).Seconds()
	return life.err
}

// serve shows the file in the dashboard until ctx ends.
func (c *demoCmd) serve(ctx context.Context, a *app, r *demoReport) error {
	// Other settings of the user, such as tokens, are of another file.
	a.Config.DB, a.Config.URL, a.Config.Collection = r.DB, "", ""
	a.Config.Home, a.Config.Token = filepath.Dir(r.DB), ""
	if !c.JSON {
		w := &lines{w: a.Stdout}
		w.line("")
		w.line("The dashboard on this file, until Ctrl-C. Open it and search for")
		w.line("   %s", demoWords)
		w.line("Each hit says why it was found and leads to its plot. Episodes shows the sessions.")
		if w.err != nil {
			return w.err
		}
	}
	server := &webCmd{Addr: c.Addr}
	if c.Open {
		server.ready = func(address string) {
			if err := openBrowser(address); err != nil {
				fmt.Fprintf(a.Stderr, "robotmem: no browser can be started (%v); open %s yourself\n", err, address)
			}
		}
	}
	return server.Run(ctx, a)
}

// openBrowser asks the system to open an address. The browser outlives this program.
func openBrowser(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.CommandContext(context.Background(), name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// demoWidth is the width of a usual terminal, in characters.
const demoWidth = 100

func (r *demoReport) print(w *lines) {
	say := func(format string, args ...any) {
		w.line("%s", clip(oneLine(fmt.Sprintf(format, args...)), demoWidth))
	}
	l := &r.Lived
	say("A robot arm's %d recordings, lived as %d sessions in %.1f s", l.Recordings, l.Sessions, l.Seconds)
	say("   Robot Execution Failures (L. Seabra Lopes, L. Camarinha-Matos, 1999), UCI, CC BY 4.0")
	say("   force and torque at the wrist, 15 samples in 315 ms; the source names no units")
	say("   %d traces and %d facts stored, %d facts were known, %d merged", l.Perceptions, l.Facts, l.Duplicates, l.Merged)
	for i, q := range r.Questions {
		w.line("")
		say("%-*s %6.1f ms", demoWidth-10, clip(fmt.Sprintf("%d. %s", i+1, q.Question), demoWidth-11), q.MS)
		for _, text := range q.Lines {
			line := "  "
			for word := range strings.FieldsSeq(text) {
				if utf8.RuneCountInString(line+" "+word) > demoWidth {
					say("%s", line)
					line = "        "
				}
				line += " " + word
			}
			say("%s", line)
		}
	}
	s := r.Stats
	w.line("")
	say("The node: %d memories in %d collections, %d sessions, doctor: %s", s.Total, s.Collections, s.Sessions, r.Doctor.Status)
	say("   by category: %s", countsText(s.ByCategory))
	say("   one file, %s; embedder %s; the whole demo took %.1f s", sizeText(s.DBBytes), s.Embedder, r.Seconds)
	if !r.Kept {
		return
	}
	w.line("   %s", r.DB) // not clipped: the user copies it
	w.line("")
	say("Next, on the same file:")
	w.line("   go install ./cmd/robotmem    # once, if the shell knows no robotmem")
	w.line("   export ROBOTMEM_DB=%s", shellQuote(r.DB))
	w.line(`   robotmem recall "torque rising" --collection '*' --explain`)
	w.line(`   robotmem recall --collection '*' --context-filter '{"task.class":"front collision"}' --type fact`)
	w.line(`   robotmem recall --collection %s --like '{"memory_id":%d}'`, l.Collection, r.Probe)
	w.line("   robotmem data %d", r.Probe)
	w.line("   robotmem session end %s --outcome-score 1", r.SessionID)
	w.line("   robotmem web")
}
