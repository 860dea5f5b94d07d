package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// scenario is one kind of fault.
type scenario struct {
	name  string
	what  string // as the table shows it
	full  amount // of a run without -short
	short amount // of a run with -short, which leaves the scenario out if this is empty
	run   func(ctx context.Context, r *rig) error
}

// amount is a number of faults, or a time to keep making them.
type amount struct {
	times int
	time  time.Duration
}

func (a amount) String() string {
	if a.times > 0 {
		return fmt.Sprintf("%d×", a.times)
	}
	return fmt.Sprintf("%.0f s", a.time.Seconds())
}

func times(n int) amount { return amount{times: n} }

func seconds(n time.Duration) amount { return amount{time: n * time.Second} }

// scenarios are the rows of the table.
var scenarios = []scenario{
	{"power", "power cuts", times(2000), times(150), power},
	{"encrypted", "power cuts of an encrypted memory", times(500), times(60), encrypted},
	{"full", "full disk", seconds(60), seconds(8), full},
	{"small", "disk full at open, migrate, purge", times(90), times(6), small},
	{"stall", "stalled disk and embedder, at 1 kHz", seconds(30), seconds(6), stall},
	{"kill", "SIGKILL at work, backup, restore, purge, migrate", times(1000), times(20), kill},
	{"versions", "the previous release on the same file", times(20), times(0), versions},
	{"crowd", "many processes on one file", seconds(600), seconds(15), crowd},
	{"hostile", "hostile messages over stdio", seconds(120), seconds(8), hostile},
	{"soak", "hostile bodies and slow clients beside honest callers over HTTP", seconds(600), seconds(10), soak},
	{"backup", "backups and restores under load", times(50), times(2), backups},
	{"stop", "SIGSTOP of the holder of a lock", times(10), times(1), stop},
	{"flips", "bits flipped in the files", times(10_000), times(2000), flips},
	{"log", "bits flipped in the log of a killed node", times(2000), times(200), flips},
}

func main() {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(runChild(role))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	flags.SetOutput(stderr)
	short := flags.Bool("short", false, "two minutes in all")
	only := flags.String("only", "", "scenarios to run, separated by commas; all if empty")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "random seed; printed, so that a run can be repeated")
	program := flags.String("robotmem", "", "the program under test; built if empty")
	previous := flags.String("previous", "", "the program of the previous release; built from its commit if empty")
	if err := flags.Parse(args); err != nil {
		return err
	}

	work, err := os.MkdirTemp("", "torture-")
	if err != nil {
		return err
	}

	if *program == "" {
		*program = filepath.Join(work, "robotmem")
		build := exec.CommandContext(ctx, "go", "build", "-o", *program, "github.com/robotmem/robotmem-go/cmd/robotmem")
		build.Stdout, build.Stderr = stderr, stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building the program under test: %w", err)
		}
	}

	fmt.Fprintf(stderr, "seed %d\n", *seed)

	var rows []*rig
	failed := false

	for i, s := range scenarios {
		chosen := *only == "" || slices.Contains(strings.Split(*only, ","), s.name)
		tooLong := *short && s.short == (amount{})
		if !chosen || tooLong {
			continue
		}

		r := &rig{
			scenario: s, amount: s.full, program: *program, previous: *previous, dir: filepath.Join(work, s.name),
			log: stderr, rand: rand.New(rand.NewPCG(*seed, uint64(i))),
		}
		if *short {
			r.amount = s.short
		}
		r.runScenario(ctx)
		failed = failed || r.failed != nil || r.violations() > 0
		rows = append(rows, r)
	}

	err = report(stdout, rows)
	passed := !failed && len(rows) > 0
	// The files of failed scenarios are kept, but not those of an interrupted run.
	if passed || ctx.Err() != nil {
		return errors.Join(err, ctx.Err(), os.RemoveAll(work))
	}

	return errors.Join(err,
		errors.New("a scenario failed, broke a promise, or none was run; repeat it with -seed and -only"))
}

// runScenario runs the scenario of the rig. It keeps the files of a scenario that fails.
func (r *rig) runScenario(ctx context.Context) {
	fmt.Fprintf(r.log, "%s: %s, %s\n", r.name, r.what, r.amount)
	start := time.Now()
	r.failed = os.MkdirAll(r.dir, 0o700)
	if r.failed == nil {
		r.failed = r.run(ctx, r)
	}
	r.took = time.Since(start)
	// A scenario that is limited by time and not by times must have made at least one fault.
	if r.failed == nil && r.faults < max(1, r.times) {
		r.failed = fmt.Errorf("only %d of the faults happened", r.faults)
	}
	if r.failed == nil && r.violations() == 0 {
		r.failed = os.RemoveAll(r.dir)
	} else {
		fmt.Fprintf(r.log, "  its files are kept in %s\n", r.dir)
	}
}

func report(out io.Writer, rows []*rig) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\thow often\tfaults\tacknowledged\tlost\tbroken\tseconds\t")

	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%.0f\t\n", r.what, r.amount, r.faults, r.acknowledged, r.lostWrites,
			r.brokenPromises, r.took.Seconds())
	}

	if err := w.Flush(); err != nil {
		return err
	}

	for _, r := range rows {
		if r.failed != nil {
			fmt.Fprintf(out, "%s FAILED: %v\n", r.name, r.failed)
		}
		if more := r.violations() - len(r.findings); more > 0 {
			r.findings = append(r.findings, fmt.Sprintf("and %d more", more))
		}

		for _, text := range append(r.findings, r.notes...) {
			fmt.Fprintf(out, "%s: %s\n", r.name, text)
		}
	}

	return nil
}
