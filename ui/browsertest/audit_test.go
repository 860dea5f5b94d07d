package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// keep writes an artefact and returns where it is.
func keep(t *testing.T, name string, picture []byte) string {
	t.Helper()
	dir := os.Getenv("ROBOTMEM_ARTIFACTS")
	if dir == "" {
		dir = "../../artifacts"
	}
	name = strings.NewReplacer("/", "-", " ", "_").Replace(name)
	ending := ".png"
	if bytes.HasPrefix(picture, []byte{0xff, 0xd8}) {
		ending = ".jpg"
	}
	file := filepath.Join(dir, "browser", name+ending)
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		t.Error(err)
	}
	return file
}

// finding is what axe-core has against a page.
type finding struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// audit checks what every view owes: no page wider than its window, nothing that
// keeps people out. It keeps a picture of the whole page.
func (w *world) audit(p *tab, name string) {
	p.t.Helper()
	picture := w.picture(p)
	keep(p.t, name, picture)
	size := eval[[]float64](p, `[document.documentElement.scrollWidth, innerWidth]`)
	if size[0] > size[1] {
		// What makes the page narrower when it is away, the innermost first.
		widest := eval[[]string](p, `[...document.querySelectorAll("main *, header *, nav *")].reverse().filter((e) => {
			const [before, shown] = [document.documentElement.scrollWidth, e.style?.display];
			if (!e.style) return false;
			e.style.display = "none";
			const less = document.documentElement.scrollWidth < before;
			e.style.display = shown;
			return less;
		}).slice(0, 5).map((e) => e.outerHTML.slice(0, 160))`)
		p.t.Errorf("%s: the page is %g px wide in a window of %g: %s", name, size[0], size[1], strings.Join(widest, "\n"))
	}
	if w.axe == "" {
		return
	}
	if !eval[bool](p, `!!window.axe`) {
		p.do(chromedp.Evaluate[chromedp.Void](w.axe + ";undefined"))
	}
	found := eval[[]finding](p, `axe.run(document, { resultTypes: ["violations"], preload: false }).then((r) => r.violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 6).map((n) => n.target.join(" ") + " " + n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")) })))`)
	for _, f := range found {
		p.t.Errorf("%s: axe: %s (%s): %s\n\t%s", name, f.ID, f.Impact, f.Help, strings.Join(f.Nodes, "\n\t"))
	}
}

// tallest is how much of a page goes on a picture, in pixels.
const tallest = 4000

// picture is the whole page, as in a window that is as tall.
func (w *world) picture(p *tab) []byte {
	p.t.Helper()
	height := eval[int64](p, `document.querySelector("dialog") ? 0 : document.documentElement.scrollHeight`)
	if height > p.look.height {
		p.do(chromedp.EmulateViewport(p.look.width, min(height, tallest)))
		defer p.do(chromedp.EmulateViewport(p.look.width, p.look.height))
	}
	return p.capture(page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(85))}) // a PNG takes longer to compress and to send
}

// shot is the window.
func (p *tab) shot() []byte {
	p.t.Helper()
	return p.capture(page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng, OptimizeForSpeed: new(true)})
}

func (p *tab) capture(params page.CaptureScreenshotParams) []byte {
	p.t.Helper()
	res, err := chromedp.Call(p.ctx, page.CaptureScreenshot, params)
	if err != nil {
		p.fatalf("screenshot: %v", err)
	}
	return res.Data
}
