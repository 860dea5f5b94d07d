package main

import (
	"context"
	"encoding/json"
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

func main() {
	if child := os.Getenv(childRole); child != "" {
		os.Exit(runChild(child))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "torture:", err)
		}
		stop()
		os.Exit(1)
	}
}

type settings struct {
	short, json bool
	only        string
	seed        uint64
	program     string
	dir         string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&s.short, "short", false, "two minutes in all")
	flags.BoolVar(&s.json, "json", false, "print the table as JSON")
	flags.StringVar(&s.only, "only", "", "parts to run, separated by commas; all if empty")
	flags.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "of all that is random; printed, so that a run can be repeated")
	flags.StringVar(&s.program, "robotmem", "", "the program under test; built if empty")
	flags.StringVar(&s.dir, "dir", "", "where files are made; the system's folder for temporary files if empty")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(s.only)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(s.dir, "torture-")
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			_ = os.RemoveAll(work)
		}
	}()
	if s.program == "" {
		if s.program, err = build(ctx, work, stderr); err != nil {
			return err
		}
	}
	fmt.Fprintf(stderr, "seed %d\n", s.seed)
	rows, failed := torture(ctx, s, chosen, work, stderr)
	// What went wrong is judged by its files, and by the program that made them.
	kept = slices.ContainsFunc(rows, func(r row) bool { return r.Kept != "" })
	if err := report(stdout, rows, s.json); err != nil {
		return err
	}
	if failed {
		return errors.New("promises were broken; repeat the run with -seed and -only")
	}
	return ctx.Err()
}

// choose returns the parts of these names, in the order of the table.
func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var chosen []part
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(only, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
		if wanted[p.name] {
			chosen = append(chosen, p)
			delete(wanted, p.name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(names, ", "))
	}
	return chosen, nil
}

// build makes the program under test.
func build(ctx context.Context, work string, stderr io.Writer) (string, error) {
	program := filepath.Join(work, "robotmem")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/robotmem/robotmem-go/cmd/robotmem")
	cmd.Stdout, cmd.Stderr = stderr, stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building the program under test: %w", err)
	}
	return program, nil
}

type row struct {
	Name    string  `json:"name"`
	What    string  `json:"what"`
	Amount  string  `json:"amount"`
	Seconds float64 `json:"seconds"`
	Failed  string  `json:"failed,omitempty"`
	Kept    string  `json:"kept,omitempty"` // the folder of a part that did not go well
	result
}

// torture runs the parts one after the other.
func torture(ctx context.Context, s settings, chosen []part, work string, stderr io.Writer) (rows []row, failed bool) {
	for _, p := range chosen {
		if ctx.Err() != nil {
			return rows, true
		}
		// The place among all parts, so that a part does the same when it is run alone.
		place := slices.IndexFunc(parts, func(other part) bool { return other.name == p.name })
		r := &rig{amount: p.full, program: s.program, dir: filepath.Join(work, p.name), log: stderr, rand: rand.New(rand.NewPCG(s.seed, uint64(place)))}
		if s.short {
			r.amount = p.short
		}
		fmt.Fprintf(stderr, "%s: %s, %s\n", p.name, p.what, r.amount)
		start := time.Now()
		err := os.MkdirAll(r.dir, 0o700)
		if err == nil {
			err = p.run(ctx, r)
		}
		at := row{Name: p.name, What: p.what, Amount: r.amount.String(), Seconds: time.Since(start).Seconds(), result: r.result}
		switch {
		case err != nil:
			at.Failed = err.Error()
		case r.Faults < max(1, r.times):
			at.Failed = fmt.Sprintf("only %d of the faults happened", r.Faults)
		}
		if at.Failed != "" {
			fmt.Fprintf(stderr, "  failed: %s\n", at.Failed)
		}
		failed = failed || at.Failed != "" || at.Lost+at.Broken > 0
		// One that was interrupted has nothing to show.
		if at.Lost+at.Broken > 0 || at.Failed != "" && ctx.Err() == nil {
			at.Kept = r.dir
			fmt.Fprintf(stderr, "  its files are kept in %s\n", r.dir)
		} else {
			_ = os.RemoveAll(r.dir)
		}
		rows = append(rows, at)
	}
	return rows, failed
}

func report(out io.Writer, rows []row, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\thow often\tfaults\tacknowledged\tlost\tbroken\tseconds\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%.0f\t\n", r.What, r.Amount, r.Faults, r.Acknowledged, r.Lost, r.Broken, r.Seconds)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Failed != "" {
			fmt.Fprintf(out, "%s FAILED: %s\n", r.Name, r.Failed)
		}
		for _, finding := range r.Findings {
			fmt.Fprintf(out, "%s: %s\n", r.Name, finding)
		}
		if more := r.Lost + r.Broken - len(r.Findings); more > 0 {
			fmt.Fprintf(out, "%s: and %d more\n", r.Name, more)
		}
		for _, note := range r.Notes {
			fmt.Fprintf(out, "%s: %s\n", r.Name, note)
		}
	}
	return nil
}
