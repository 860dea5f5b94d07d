package browsertest

import (
	"os"
	"path/filepath"
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
	p.click("[data-incident] .row-title", "failed")
	step("the first failure is open")
	p.see("h1", "failed")
	p.see("h2", "What to do")
	p.see("h2", "Earlier failures like it")
	p.see(".trace-panel", "Force")
	p.see(".trace-panel", "Torque")
	p.until(inked("canvas"))
	step("its plot is there")
	p.until(`(scrollTo(0, 0), [...document.querySelectorAll(".row-thumb")].every((i) => i.complete))`)
	forREADME(p, "dashboard-failure")
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
	p.until(`(scrollTo(0, 0), [...document.querySelectorAll(".row-thumb")].filter((i) => i.getBoundingClientRect().bottom < innerHeight).every((i) => i.complete))`)
	forREADME(p, "dashboard-search")
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

// largestPicture is what the README asks of whoever reads it, in bytes.
const largestPicture = 300 << 10

// forREADME takes a picture of the window into the folder that
// ROBOTMEM_PICTURES names, relative to the module, if it names one.
func forREADME(p *tab, name string) {
	p.t.Helper()
	picture := p.shot()
	keep(p.t, name, picture)
	if len(picture) > largestPicture {
		p.t.Errorf("%s takes %d bytes", name, len(picture))
	}
	dir := os.Getenv("ROBOTMEM_PICTURES")
	if dir == "" {
		return
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("../..", dir)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		p.t.Error(err)
	}
}
