package browsertest

import (
	"testing"
	"time"
)

// newUser lives what the README promises: from the demo to an understood
// failure. The machine's own seconds are printed; a reader's come on top.
func (w *world) newUser(t *testing.T) {
	began := time.Now()
	n := w.start(t, t.TempDir(), "demo", "--web", "--addr", "127.0.0.1:0", "--dir", t.TempDir())
	step := func(what string) { t.Logf("%5.1f s: %s", time.Since(began).Seconds(), what) }
	step("the demo has lived 463 recordings and serves them")
	p := w.open(t, n, wide)
	p.goTo("/")
	p.click(".home-columns .row-title", "failed")
	step("the first failure is open")
	p.see("h1", "failed")
	p.see("h2", "In the same moment")
	p.click("section .row-title", "wrench at the wrist")
	w.seePlot(p)
	step("its plot is there")
	p.key("gh")
	p.see("h1", english["home"])
	p.key("/")
	p.key("collision in tool torque falling\r")
	p.see(titles, "collision in tool")
	p.see(".why-list", "words #1")
	p.see(".why", "relevant")
	p.click(".stages summary", "")
	p.see(".stages li", "bm25")
	step("why it is recalled")
	p.click(titles, "observed that")
	p.see("h2", english["history"])
	p.click("section a", "The whole episode")
	p.see(".timeline svg .item", "")
	p.see("h2", "What it recalled")
	step("what was learnt, in its episode")
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// seePlot waits until a curve is drawn.
func (w *world) seePlot(p *tab) {
	p.t.Helper()
	p.until(`[...document.querySelectorAll("main canvas, main img")].some((e) => e.tagName === "IMG" ? e.complete && e.naturalWidth > 200 : e.width > 200)`)
}
