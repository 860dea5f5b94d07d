package browsertest

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// plots: a six-axis plot has units, one cursor over its panels, and zoom.
func (w *world) plots(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(w.seed.perceptions["wrench"]))
	p.see(".trace-panel", "Force, N")
	p.see(".trace-panel", "Torque, Nm")
	p.until(inked("canvas"))
	const slider = `document.querySelectorAll(".trace-plot")`
	p.until(`(` + slider + `[0].focus(), true)`)
	p.key(kb.End)
	p.until(`[...` + slider + `].every((s) => Number(s.getAttribute("aria-valuenow")) > 1.9)`)
	p.see(".trace-channel", "N")
	p.key(kb.Home)
	p.until(`[...` + slider + `].every((s) => Number(s.getAttribute("aria-valuenow")) < 0.1)`)

	box := eval[[]float64](p, `((b) => [b.left, b.top, b.width, b.height])(document.querySelector(".trace-plot canvas").getBoundingClientRect())`)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, box[0]+box[2]*0.6, box[1]+box[3]/2, false)
	p.until(`[...` + slider + `].every((s) => Number(s.getAttribute("aria-valuenow")) > 0.5)`)
	p.drag(box[0]+box[2]*0.4, box[1]+box[3]/2, box[0]+box[2]*0.7, box[1]+box[3]/2)
	p.see(".trace-tools .button", "Whole")
	p.until(slider + `[0].ariaValueMax - ` + slider + `[0].ariaValueMin < 1.2`)
	p.click(".trace-tools .button", "Whole")
	p.until(slider + `[0].ariaValueMax - ` + slider + `[0].ariaValueMin > 1.9`)
	p.click(".trace-tools .button", "Show numbers")
	p.see("table", "Fz")
}

// inked is true once a canvas shows more than one colour.
func inked(selector string) string {
	return `[...document.querySelectorAll("main ` + selector + `")].some((c) => {
		if (!c.width || !c.height) return false;
		const copy = new OffscreenCanvas(c.width, c.height).getContext("2d");
		copy.drawImage(c, 0, 0);
		return new Set(new Uint32Array(copy.getImageData(0, 0, c.width, c.height).data.buffer)).size > 2;
	})`
}

// colours counts what a part of the window shows: a canvas of WebGL gives its
// pixels to nobody but the screen.
func (p *tab) colours(selector string) int {
	p.t.Helper()
	p.until(`(document.querySelector(%s)?.scrollIntoView({ block: "center", behavior: "instant" }), true)`, selector)
	shot, err := chromedp.Run(p.ctx, chromedp.Screenshot(chromedp.CSS(selector)))
	if err != nil {
		p.fatalf("%v", err)
	}
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.fatalf("%v", err)
	}
	seen := map[[3]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

// space: clouds, scans and paths are drawn in three dimensions.
func (w *world) space(t *testing.T) {
	p := w.open(t, w.node, wide)
	for _, kind := range []string{"pcd", "mug", "trajectory", "scan"} {
		p.in(t, kind, func() {
			p.goTo(memoryPath(w.seed.perceptions[kind]))
			p.see(".space-view canvas", "")
			p.gone(".space-view .loading", "")
			p.see(".space-scale", "m")
			if n := p.colours(".space-view"); n < 30 {
				p.t.Errorf("the view shows %d colours", n)
			}
			p.see(".space p", map[string]string{"pcd": "6,000 points", "mug": "2,000 points", "trajectory": "60 poses", "scan": "points"}[kind])
		})
	}
	p.goTo(memoryPath(w.seed.perceptions["trajectory"]))
	p.see(".space-view canvas", "")
	before := p.text(".space-path .number", "")
	p.until(`(document.querySelector(".space-path input").focus(), true)`)
	p.key(kb.ArrowRight)
	p.until(`document.querySelector(".space-path .number").innerText !== %s`, before)
}

// sound: the player plays, and the playhead goes with it.
func (w *world) sound(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(w.seed.perceptions["sound"]))
	p.see("audio", "")
	p.until(`document.querySelector("audio").readyState >= 1`)
	if d := eval[float64](p, `document.querySelector("audio").duration`); d < 1.9 || d > 2.1 {
		t.Errorf("it lasts %g s, want 2", d)
	}
	p.until(`document.querySelector(".sound-picture img").naturalWidth > 0`)
	p.until(inked("canvas"))
	p.until(`(document.querySelector(".sound .trace-plot").focus(), true)`)
	p.key(" ")
	p.until(`document.querySelector("audio").currentTime > 0.2`)
	p.until(`document.querySelector(".sound-head")`)
	p.until(`Number(document.querySelector(".sound .trace-plot").getAttribute("aria-valuenow")) > 0.1`)
}

// bytesAndText: what nobody knows is shown byte by byte, a page at a time.
func (w *world) bytesAndText(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(w.seed.perceptions["blob"]))
	p.see(".hex-page", "MCU1")
	p.see(".hex", "0 to 4,095 of 5,000")
	p.click(".hex-jump .button", "Next page")
	p.see(".hex-page", "00001000")
	p.click(".hex-jump input", "")
	p.key("0x10\r")
	p.until(`document.querySelector(".hex-page").innerText.startsWith("00000010")`)
	p.selectAll()
	p.key("900000\r")
	p.see(".hex-bad", "An offset is a number")

	p.goTo(memoryPath(w.seed.perceptions["text"]))
	p.see(".text-page", "slip 3.2 mm")
	p.goTo(memoryPath(w.seed.perceptions["depth"]))
	p.until(`document.querySelector(".picture img")?.naturalWidth > 0`)
	p.goTo(memoryPath(w.seed.perceptions["image"]))
	p.until(`document.querySelector(".picture img")?.naturalWidth === 320`)
	p.click(".picture-tools .button", "1:1")
	p.see(".alike-list a", "rack seen from above")
	res, body := w.node.get(t, eval[string](p, `new URL(document.querySelector("a[download]").href).pathname`))
	if res.StatusCode != 200 || !bytes.Equal(body, picturePNG(7)) {
		t.Errorf("the download answers %s with %d bytes", res.Status, len(body))
	}
}

// gallery: perceptions are found by what they look like.
func (w *world) gallery(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/perceptions?collection=kitchen")
	p.see(".gallery-title", "log of the gripper")
	p.until(`[...document.querySelectorAll(".gallery img")].slice(0, 6).every((i) => i.complete && i.naturalWidth > 0)`)
	p.goTo("/perceptions?alike=" + memoryPath(w.seed.perceptions["wrench"])[len("/memory/"):])
	p.see(".gallery-reference", "")
	p.see(".gallery-title", "wrist wrench while placing a plate")
}
