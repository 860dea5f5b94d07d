package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/mattn/go-isatty"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// barWidth is the length of a bar in characters.
const barWidth = 20

// progressBar shows the progress of an operation on one line of a terminal. Its methods may be
// called concurrently, and on nil.
type progressBar struct {
	mu    sync.Mutex
	w     io.Writer // nil after the end
	drawn bool
}

// watched returns a context whose operations show their progress on the terminal's stderr, until the
// next answer or error. Without a terminal no progress is computed.
func (a *app) watched(ctx context.Context) context.Context {
	a.bar.end()
	f, ok := a.Stderr.(*os.File)
	if !ok || a.quiet || !isatty.IsTerminal(f.Fd()) {
		return ctx
	}
	a.bar = &progressBar{w: f}

	return progress.With(ctx, a.bar.draw)
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

func (p *progressBar) draw(now progress.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil {
		return
	}

	text := func(n int64) string { return fmt.Sprint(n) }
	if now.Unit == "bytes" {
		text = printed.Size
	}

	amount := "…"
	if now.Total > 0 {
		done := min(now.Done, now.Total)
		filled := int(barWidth * done / now.Total)
		amount = fmt.Sprintf("[%s%s] %d %% of %s", strings.Repeat("#", filled), strings.Repeat(".", barWidth-filled), 100*done/now.Total, text(now.Total))
	} else if now.Done > 0 {
		amount = text(now.Done)
	}

	fmt.Fprintf(p.w, "\r\x1b[K%s %s", now.Stage, amount)
	p.drawn = true
}

// clear removes the bar until it is drawn again, so that another text can be written.
func (p *progressBar) clear() { p.remove(false) }

// end removes the bar for good.
func (p *progressBar) end() { p.remove(true) }

func (p *progressBar) remove(forGood bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
	if forGood {
		p.w = nil
	}
}
