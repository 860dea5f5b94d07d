package printed

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// barWidth is the length of a bar in characters.
const barWidth = 20

// Bar shows the progress of an operation on one line of a terminal. Its methods may be
// called concurrently, and on nil.
type Bar struct {
	mu    sync.Mutex
	w     io.Writer // nil after the end
	drawn bool
}

// NewBar returns a bar on a terminal.
func NewBar(w io.Writer) *Bar { return &Bar{w: w} }

// Draw shows how far the operation is.
func (p *Bar) Draw(now progress.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil {
		return
	}

	text := func(n int64) string { return fmt.Sprint(n) }
	if now.Unit == "bytes" {
		text = Size
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

// Clear removes the bar until it is drawn again, so that another text can be written.
func (p *Bar) Clear() { p.remove(false) }

// End removes the bar for good.
func (p *Bar) End() { p.remove(true) }

func (p *Bar) remove(forGood bool) {
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
