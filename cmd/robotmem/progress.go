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
	label string
	total int64
	done  int64
	first int64 // done before this run, which is no part of the rate
	text  func(int64) string
	start time.Time
	drawn time.Time
}

// newProgress starts a bar on the terminal's stderr, in the place of an earlier one. It is there
// until the next answer or error. total 0 is unknown.
func (a *app) newProgress(label string, total int64) *progressBar {
	a.bar.Done()
	p := &progressBar{label: label, total: total, text: numberText, start: time.Now()}
	if f, ok := a.Stderr.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		p.w = f
	}
	a.bar = p
	return p
}

func numberText(n int64) string { return fmt.Sprint(n) }

// inBytes shows the amounts as sizes.
func (p *progressBar) inBytes() *progressBar { p.text = sizeText; return p }

// Add counts n more as done.
func (p *progressBar) Add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
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
	if p.total == 0 {
		p.first = done
	}
	p.done, p.total = done, total
	p.redraw()
}

// Report shows the progress of an operation of the memory.
func (p *progressBar) Report(now progress.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.label != now.Stage {
		p.label, p.start = now.Stage, time.Now() // its rate is its own
		p.text = numberText
		if now.Unit == "bytes" {
			p.text = sizeText
		}
	}
	p.done, p.total = now.Done, now.Total
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
	rate := float64(p.done-p.first) / max(time.Since(p.start).Seconds(), 1e-3)
	line := fmt.Sprintf("%s %s, %s/s", p.label, p.text(p.done), p.text(int64(rate)))
	if p.done == 0 && p.total == 0 {
		line = p.label + " …"
	}
	if p.total > 0 {
		part := min(float64(p.done)/float64(p.total), 1)
		filled := int(part * progressWidth)
		line = fmt.Sprintf("%s [%s%s] %3.0f %% of %s, %s/s", p.label,
			strings.Repeat("#", filled), strings.Repeat(".", progressWidth-filled), 100*part, p.text(p.total), p.text(int64(rate)))
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}
