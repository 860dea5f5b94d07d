package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mattn/go-isatty"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// progressLine shows the progress of an operation on one line of a terminal. Its methods may be
// called concurrently, and on nil.
type progressLine struct {
	mu    sync.Mutex
	w     io.Writer // nil after the end
	drawn bool
}

// watched returns a context whose operations show their progress on the terminal's stderr, until the
// next answer or error. Without a terminal no progress is computed.
func (a *app) watched(ctx context.Context) context.Context {
	a.line.end()
	f, ok := a.Stderr.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return ctx
	}
	a.line = &progressLine{w: f}
	return progress.With(ctx, a.line.draw)
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

func (l *progressLine) draw(now progress.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return
	}
	text := func(n int64) string { return fmt.Sprint(n) }
	if now.Unit == "bytes" {
		text = sizeText
	}
	amount := "…"
	if now.Total > 0 {
		amount = fmt.Sprintf("%d %% of %s", 100*min(now.Done, now.Total)/now.Total, text(now.Total))
	} else if now.Done > 0 {
		amount = text(now.Done)
	}
	fmt.Fprintf(l.w, "\r\x1b[K%s %s", now.Stage, amount)
	l.drawn = true
}

// clear removes the line until it is drawn again, so that another can be written.
func (l *progressLine) clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil && l.drawn {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.drawn = false
	}
}

// end removes the line for good.
func (l *progressLine) end() {
	if l == nil {
		return
	}
	l.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w = nil
}
