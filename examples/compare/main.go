// Compare runs the same queries on the same rows with this node and with other search libraries
// for Go, on one machine and in one process, one after the other. It compares every result with
// a scan of all rows. README.md describes the limits of the comparison.
//
//	go run -tags sqlite_fts5 . --n 100000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		stop()
		os.Exit(1)
	}
}

const (
	minRows, maxRows = 100, 2_000_000
	maxQuestions     = 10_000
)

func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(log)
	n := flags.Int("n", 100_000, "how many `rows`")
	questions := flags.Int("questions", 200, "how many `questions` of each kind")
	only := flags.String("only", "", "`engines` to run, comma separated; all if empty")
	asJSON := flags.Bool("json", false, "write JSON instead of a table")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("what is %q? there are flags only; see --help", flags.Arg(0))
	case *n < minRows || *n > maxRows:
		return fmt.Errorf("--n is %d, want %d to %d", *n, minRows, maxRows)
	case *questions < 1 || *questions > maxQuestions:
		return fmt.Errorf("--questions is %d, want 1 to %d", *questions, maxQuestions)
	}
	engines, left, err := choose(*only)
	if err != nil {
		return err
	}
	for _, s := range left {
		fmt.Fprintln(log, "left out:", s)
	}
	r := report{Machine: thisMachine(), Rows: *n, Dims: dims, LeftOut: left}
	p := printProgress(log)
	c, err := newCorpus(ctx, *n, *questions, p)
	if err != nil {
		return err
	}
	if r.Results, err = compare(ctx, engines, c, p); err != nil {
		return err
	}
	if *asJSON {
		return r.writeJSON(out)
	}
	return r.writeText(out)
}

// progressEvery is the least time between two lines of progress.
const progressEvery = 2 * time.Second

// printProgress writes a line every progressEvery, and a last line for each task that had one.
func printProgress(w io.Writer) progress {
	var mu sync.Mutex // guards the variables below
	task, shown, last := "", false, time.Now()
	return func(what string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if what != task {
			task, shown = what, false
		}
		if time.Since(last) < progressEvery && (done < total || !shown) {
			return
		}
		fmt.Fprintf(w, "%s: %d of %d\n", what, done, total)
		shown, last = true, time.Now()
	}
}
