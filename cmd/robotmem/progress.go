package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

const (
	progressEvery = 100 * time.Millisecond // redrawing more often only flickers
	progressWidth = 24
)

// progressBar is a bar on one line of a terminal. Elsewhere it draws nothing. Its methods may be
// called concurrently.
type progressBar struct {
	mu    sync.Mutex
	w     io.Writer // nil draws nothing
	now   progress.Report
	first int64 // done before this run, which is no part of the rate
	start time.Time
	drawn time.Time
}

// newProgress starts a bar on the terminal's stderr, in the place of an earlier one. It is there
// until the next answer or error. total 0 is unknown.
func (a *app) newProgress(label string, total int64) *progressBar {
	a.bar.Done()
	p := &progressBar{now: progress.Report{Stage: label, Total: total}, start: time.Now()}
	if f, ok := a.Stderr.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		p.w = f
	}
	a.bar = p
	return p
}

// inBytes shows the amounts as sizes.
func (p *progressBar) inBytes() *progressBar { p.now.Unit = "bytes"; return p }

// Add counts n more as done.
func (p *progressBar) Add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Done += n
	p.redraw()
}

func (p *progressBar) redraw() {
	if p.w != nil && time.Since(p.drawn) >= progressEvery {
		p.draw()
	}
}

// Write counts the bytes of p as done.
func (p *progressBar) Write(b []byte) (int, error) {
	p.Add(int64(len(b)))
	return len(b), nil
}

// Set sets the amount that is done and the total.
func (p *progressBar) Set(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.Total == 0 {
		p.first = done
	}
	p.now.Done, p.now.Total = done, total
	p.redraw()
}

// Report shows the progress of an operation of the memory.
func (p *progressBar) Report(now progress.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.Stage != now.Stage {
		p.start = time.Now() // its rate is its own
	}
	p.now = now
	if p.w != nil {
		p.draw()
	}
}

// watched returns a context whose operations draw a bar on the terminal's stderr. Without a
// terminal no progress is computed.
func (a *app) watched(ctx context.Context) context.Context {
	bar := a.newProgress("", 0)
	if bar.w != nil {
		ctx = progress.With(ctx, bar.Report)
	}
	return ctx
}

// Clear removes the bar until it is drawn again, so that a line can be written.
func (p *progressBar) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && !p.drawn.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = time.Time{}
	}
}

// Done removes the bar, if there is one.
func (p *progressBar) Done() {
	if p == nil {
		return
	}
	p.Clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.w = nil
}

func (p *progressBar) draw() {
	p.drawn = time.Now()
	now := p.now
	text := func(n int64) string { return fmt.Sprint(n) }
	if now.Unit == "bytes" {
		text = sizeText
	}
	rate := text(int64(float64(now.Done-p.first) / max(time.Since(p.start).Seconds(), 1e-3)))
	line := fmt.Sprintf("%s %s, %s/s", now.Stage, text(now.Done), rate)
	if now.Done == 0 && now.Total == 0 {
		line = now.Stage + " …"
	}
	if now.Total > 0 {
		part := min(float64(now.Done)/float64(now.Total), 1)
		filled := int(part * progressWidth)
		line = fmt.Sprintf("%s [%s%s] %3.0f %% of %s, %s/s", now.Stage,
			strings.Repeat("#", filled), strings.Repeat(".", progressWidth-filled), 100*part, text(now.Total), rate)
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}
