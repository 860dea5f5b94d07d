package main

import (
	"context"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// watched returns a context whose operations show their progress on the terminal's stderr, until the
// next answer or error. Without a terminal no progress is computed.
func (a *app) watched(ctx context.Context) context.Context {
	a.bar.End()
	f, ok := a.Stderr.(*os.File)
	if !ok || a.quiet || !isatty.IsTerminal(f.Fd()) {
		return ctx
	}
	a.bar = printed.NewBar(f)

	return progress.With(ctx, a.bar.Draw)
}

// newProgress shows the progress of work that counts itself. total 0 is unknown.
func (a *app) newProgress(label, unit string, total int64) *progress.Meter {
	m := progress.Of(a.watched(context.Background()))
	m.Stage(label, unit, total)
	return m
}

// newProgressOf is newProgress for work that tells how much of a total is done.
func (a *app) newProgressOf(label, unit string) func(done, total int64) {
	m := a.newProgress(label, unit, 0)
	return func(done, total int64) {
		m.Set(progress.Report{Stage: label, Unit: unit, Done: done, Total: total})
	}
}

// counter counts the bytes that are written to it as done.
type counter struct{ *progress.Meter }

func (c counter) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}
