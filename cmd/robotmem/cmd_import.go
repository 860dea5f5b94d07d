package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/local"

	"github.com/robotmem/robotmem-go/robotmem"
)

type importCmd struct {
	File           string `arg:"" help:"A file of learn requests, one a line (- is stdin); a recording (MCAP, rosbag2); a LeRobot dataset; a folder of sensor files; an archive of export --archive; a memory.db of the Python robotmem; or Markdown, exported or written by hand. What it is shows by what it holds."`
	DryRun         bool   `name:"dry-run" help:"Archives, memory.db, notes: check all of it and say what would become of it; store nothing."`
	KeepDuplicates bool   `name:"keep-duplicates" help:"Facts: store every line, also those that say what is known."`
	JSON           bool   `name:"json" help:"Print the counts as JSON."`

	perceptionFlags `embed:""`
	pythonFlags     `embed:""`
}

// importCounts is what became of the lines.
type importCounts struct {
	Lines      int64 `json:"lines"`
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Bad        int64 `json:"bad"`
}

// importer is one run. Its state file says how far the file has been learnt,
// so that a second run goes on where the first was interrupted.
type importer struct {
	a     *app
	m     robotmem.Service
	op    *robotmem.Op
	lines *lineReader
	bar   *progress
	state *importState // nil for stdin, which cannot be read again
	keep  bool
	importCounts
}

// Run imports perceptions from what is no file of lines. From lines it learns
// in batches. A bad line is reported and left out. A
// signal ends it after the batch that is under way.
func (c *importCmd) Run(ctx context.Context, a *app) error {
	ctx = robotmem.WithCaller(ctx, robotmem.Caller{Who: local.OSUser(), Tool: robotmem.ToolImport})
	kind, err := a.source(ctx, c.File)
	if err != nil {
		return err
	}
	switch kind {
	case sourceArchive:
		return c.archive(ctx, a)
	case sourcePython:
		return c.python(ctx, a)
	case sourceMarkdown:
		return c.markdown(ctx, a)
	}
	if c.DryRun {
		return invalid("dry-run", "is for archives, memory.db files and notes; %s is none", c.File)
	}
	if kind != sourceFacts {
		return c.perceptionFlags.run(ctx, a, kind, c.File, c.JSON)
	}
	in, name, size := a.Stdin, "stdin", int64(0)
	var state *importState
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return invalid("file", "%v", err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return invalid("file", "%v", err)
		}
		if state, err = a.openImportState(f, c.KeepDuplicates); err != nil {
			return err
		}
		in, name, size = f, c.File, info.Size()
	}
	return a.Use(ctx, func(m node) error {
		r := &importer{
			a: a, m: inCollection(m, a.Config.Collection), op: robotmem.OpByName("learn_batch"),
			bar: a.newProgress("import", size).inBytes(), state: state, keep: c.KeepDuplicates,
		}
		defer r.bar.Done()
		start := time.Now()
		resumed, err := r.resume(ctx, in)
		if err != nil {
			return err
		}
		err = r.run(ctx)
		r.bar.Done()
		if err != nil {
			return r.stopped(name, err)
		}
		return r.finish(c.JSON, resumed, time.Since(start))
	})
}

// resume goes to where an earlier run ended and returns how many lines that
// run did.
func (r *importer) resume(ctx context.Context, in io.Reader) (int64, error) {
	if r.state == nil || r.state.End == 0 {
		r.lines = newLineReader(in, 0, 0)
		return 0, nil
	}
	s := r.state
	r.importCounts = s.Counts
	if _, err := in.(io.Seeker).Seek(s.Start, io.SeekStart); err != nil {
		return 0, fmt.Errorf("going to where the last import ended: %w", err)
	}
	r.lines = newLineReader(in, s.Start, r.Lines)
	b, err := r.read()
	if err != nil {
		return 0, err
	}
	stored, err := s.stored(ctx, r.m, b)
	if err != nil {
		return 0, err
	}
	if stored > 0 {
		r.Lines += b.count
		r.Created += stored
		r.Bad += int64(len(b.bad)+len(b.items)) - stored
		s.done(b, r.importCounts)
	} else if _, err := in.(io.Seeker).Seek(s.Start, io.SeekStart); err != nil {
		return 0, fmt.Errorf("going to where the last import ended: %w", err)
	} else {
		r.lines = newLineReader(in, s.Start, r.Lines)
	}
	r.bar.Add(s.Start)
	fmt.Fprintf(r.a.Stderr, "robotmem: import: going on after line %d\n", r.Lines)
	return r.Lines, nil
}

func (r *importer) run(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := r.read()
		if err != nil {
			return err
		}
		if b.count == 0 {
			return nil
		}
		// What is under way is finished, so that it is known what was stored.
		if err := r.learn(context.WithoutCancel(ctx), b); err != nil {
			return err
		}
		r.bar.Add(b.end - b.start)
	}
}

// learn stores one batch and counts what became of it.
func (r *importer) learn(ctx context.Context, b *importBatch) error {
	if r.state != nil {
		if err := r.state.begin(ctx, r.m, b, r.importCounts); err != nil {
			return err
		}
	}
	counts := r.importCounts
	counts.Lines += b.count
	for _, bad := range b.bad {
		r.report(bad.line, bad.reason)
	}
	counts.Bad += int64(len(b.bad))
	if len(b.items) > 0 {
		request, err := b.request(r.keep)
		if err != nil {
			return err
		}
		answer, err := r.op.Call(ctx, r.m, request)
		if err != nil {
			return err
		}
		for i, item := range answer.(*robotmem.LearnBatchResponse).Results {
			switch {
			case item.Error == nil && item.Status == "created":
				counts.Created++
			case item.Error == nil:
				counts.Duplicates++
			case exitCodes[item.Error.Kind] == exitCodes[robotmem.Unavailable] && item.Error.Kind != robotmem.Conflict,
				item.Error.Kind == robotmem.Corrupt:
				return &robotmem.Error{Op: "import", Kind: item.Error.Kind, Err: errors.New(item.Error.Detail)}
			default:
				e := &robotmem.Error{Field: item.Error.Field, Kind: item.Error.Kind, Err: errors.New(item.Error.Detail)}
				r.report(b.numbers[i], e.Error())
				counts.Bad++
			}
		}
	}
	r.importCounts = counts
	if r.state != nil {
		r.state.done(b, counts)
	}
	return nil
}

func (r *importer) report(line int64, reason string) {
	r.bar.Clear()
	fmt.Fprintf(r.a.Stderr, "robotmem: import: line %d: %s\n", line, oneLine(reason))
}

// stopped says how to go on after an interruption or a failure.
func (r *importer) stopped(name string, err error) error {
	how := "run the same command again to go on"
	if r.state == nil {
		how = "what was learnt is recognised when the same lines come again"
		if r.keep {
			how = fmt.Sprintf("go on with the lines after line %d", r.Lines)
		}
	} else if serr := r.state.save(); serr != nil {
		err = errors.Join(err, serr)
	}
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitCodes[robotmem.Unavailable], err: fmt.Errorf("import: stopped after line %d of %s; %s", r.Lines, name, how)}
	}
	return fmt.Errorf("import: after line %d of %s: %w; %s", r.Lines, name, err, how)
}

func (r *importer) finish(asJSON bool, resumed int64, took time.Duration) error {
	rate := float64(r.Lines-resumed) / max(took.Seconds(), 1e-6)
	var err error
	if asJSON {
		err = r.a.PrintJSON(r.importCounts)
	} else {
		_, err = fmt.Fprintf(r.a.Stdout, "imported %d lines: %d created, %d duplicates, %d bad, in %.1f s (%.0f lines/s)\n",
			r.Lines, r.Created, r.Duplicates, r.Bad, took.Seconds(), rate)
	}
	// Only once it was said: who has not heard it runs the import again, and the
	// state keeps that from doubling anything.
	if r.state != nil {
		err = errors.Join(err, r.state.remove())
	}
	if err == nil && r.Bad > 0 {
		return &exitError{code: exitCodes[robotmem.Invalid]}
	}
	return err
}
