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

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
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
	Words     demoWords             `json:"words"`
	Filter    demoFilter            `json:"filter"`
	Likeness  demoLikeness          `json:"likeness"`
	SessionID string                `json:"session_id"`
	Briefing  robotmem.Briefing     `json:"briefing"`
	BriefMS   float64               `json:"briefing_ms"`
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
	if err := a.show(c.JSON, r, func(w *lines) { r.print(w, a.Config.Durability) }); err != nil {
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
	life := &demoLife{m: m, report: r, bar: a.newProgress("storing", int64(len(failures))), known: map[string]map[string]int{}}
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
		w.line("   %s", r.Words.Query)
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

func (r *demoReport) print(w *lines, durability string) {
	say := func(format string, args ...any) {
		w.line("%s", clip(oneLine(fmt.Sprintf(format, args...)), demoWidth))
	}
	// A title has the time of its question at the right.
	title := func(text string, ms float64) {
		w.line("")
		say("%-*s %6.1f ms", demoWidth-10, clip(text, demoWidth-11), ms)
	}
	answers := func(list []demoAnswer) {
		for _, a := range list {
			line := fmt.Sprintf("   [%d]", a.MemoryID)
			for word := range strings.FieldsSeq(oneLine(a.Content)) {
				if len(line)+1+len(word) > demoWidth {
					say("%s", line)
					line = "        "
				}
				line += " " + word
			}
			say("%s", line)
		}
	}
	l := &r.Lived
	say("A robot arm's %d recordings, lived as %d sessions in %.1f s", l.Recordings, l.Sessions, l.Seconds)
	say("   Robot Execution Failures (L. Seabra Lopes, L. Camarinha-Matos, 1999), UCI, CC BY 4.0")
	say("   force and torque at the wrist, 15 samples in 315 ms; the source names no units")
	w.line("")
	say("   %-42s %10s %10s %10s", "task", "recordings", "succeeded", "sessions")
	for _, t := range l.Tasks {
		say("   %-42s %10d %10d %10d", t.Name, t.Recordings, t.Successes, t.Sessions)
	}
	w.line("")
	say("   %d traces and %d facts stored, %d facts were known, %d merged", l.Perceptions, l.Facts, l.Duplicates, l.Merged)
	say("   a write, durability %s: p50 %.1f ms, p99 %.1f ms", durability, l.Writes.P50MS, l.Writes.P99MS)
	say("   Before a trace was stored, the robot asked for the most similar one that it knew.")
	say("   It had the same class %d times of %d (%.0f %%; by chance %.0f %%). p50 %.1f ms, p99 %.1f ms.",
		l.Foreseen.Right, l.Foreseen.Of, 100*l.Foreseen.share(), 100*l.Chance, l.Asks.P50MS, l.Asks.P99MS)

	q := &r.Words
	title(fmt.Sprintf("1. In words: %q, in all tasks", q.Query), q.QueryMS)
	answers(q.Answers)
	say("   In %d of %d the torque rises, %d of %d are of that task.", q.Rising, len(q.Answers), q.RightJob, len(q.Answers))

	f := &r.Filter
	title(fmt.Sprintf("2. By structure: task.class is one of the %d kinds of collision", len(f.Classes)), f.QueryMS)
	say("   %d of %d collisions found with %d questions, %d of anything else.", f.Found, f.Known, f.Questions, f.Others)
	say("   With params.peak_force above %.0f as well:", f.Above)
	answers(f.Hardest)
	say("   The rarest class, %s: %d of %d found among %d.", f.Rarest, f.RareFound, f.RareKnown, l.Perceptions)

	k := &r.Likeness
	title(fmt.Sprintf("3. By trace: most like [%d], %s in %s", k.Probe.MemoryID, k.Probe.Class, k.Probe.Task), k.QueryMS)
	for _, a := range k.Nearest {
		say("   %-6s %5.2f away  %-16s peak force %v, peak torque %v, torque %s", fmt.Sprintf("[%d]", a.MemoryID),
			a.Away, a.Class, a.Params["peak_force"], a.Params["peak_torque"], a.Trend)
	}
	say("   %d of the %d nearest share its class. With each of the %d traces as the question: %.0f %%",
		k.Same, len(k.Nearest), k.Asks.N, 100*k.All.share())
	say("   (by chance %.0f %%), p50 %.1f ms, p99 %.1f ms.", 100*k.Chance, k.Asks.P50MS, k.Asks.P99MS)

	title("4. A new session begins: its briefing", r.BriefMS)
	for s := range strings.Lines(r.Briefing.Text) {
		say("   %s", strings.TrimSpace(s))
	}

	s := r.Stats
	w.line("")
	say("5. The node: %d memories in %d collections, %d sessions, %d questions answered, %d without a hit",
		s.Total, s.Collections, s.Sessions, s.Recalls, s.ZeroHits)
	say("   by type: %s; by category: %s", countsText(s.ByType), countsText(s.ByCategory))
	say("   doctor: %s; one file, %s; embedder %s; the whole demo took %.1f s", r.Doctor.Status, sizeText(s.DBBytes), s.Embedder, r.Seconds)
	if !r.Kept {
		return
	}
	w.line("   %s", r.DB) // not clipped: the user copies it
	w.line("")
	say("Next, on the same file:")
	w.line("   go install ./cmd/robotmem    # once, if the shell knows no robotmem")
	w.line("   export ROBOTMEM_DB=%s", shellQuote(r.DB))
	w.line(`   robotmem recall "torque rising" --collection '*' --explain`)
	w.line(`   robotmem recall --collection '*' --context-filter '{"task.class":%q}' --type fact`, f.Rarest)
	w.line(`   robotmem recall --collection %s --like '{"memory_id":%d}'`, l.Tasks[0].Collection, k.Probe.MemoryID)
	w.line("   robotmem data %d", k.Probe.MemoryID)
	w.line("   robotmem session end %s --outcome-score 1", r.SessionID)
	w.line("   robotmem web")
}
