package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// memoriesByPlace: a place picked on the map finds what lies round it, and is
// the same question in the search.
func (w *world) memoriesByPlace(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/map")
	p.see("h1", english["map"])
	p.see(".map-caption", "60")
	p.until(inked(".map-figure canvas"))
	box := eval[[]float64](p, `((b) => [b.left, b.top, b.width, b.height])(document.querySelector(".map-figure canvas").getBoundingClientRect())`)
	p.click(".map-figure canvas", "")
	p.see(".near .row-title", "reached shelf")
	p.see(".coordinates", "")
	all := p.count(".near li")
	radius := `input[min="0"][type=number]`
	p.click(".coordinates "+radius, "")
	p.selectAll()
	p.key("0.6" + kb.Tab)
	p.until(`((n) => n > 0 && n !== %s)(document.querySelectorAll(".near:not(.older) li").length) && [...document.querySelectorAll(".near-distance")].every((d) => Number(d.innerText) <= 0.6)`, all)
	t.Logf("%d memories within the first radius, %d within 0.6 m, on a plane of %.0f px", all, p.count(".near li"), box[2])
	within := p.count(".near li")
	p.click(".map-actions a", "")
	p.until(`location.pathname === "/search"`)
	p.see(".given-chip", "within 0.6")
	p.until(`document.querySelectorAll(%s).length === %s`, titles, within)

	p.goTo("/map")
	p.choose("Coordinates", "spatial.position · frame odom")
	p.see(".map-caption", "20")
	p.see(".map-figure [role]", fmt.Sprint(20))
}

// placeForASearch: the filters of the search pick a place on the map too.
func (w *world) placeForASearch(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/search?collection=kitchen")
	p.see(".why", "time") // the results, beside which the button moves
	p.click(".filters .button", "Pick on the map")
	p.see("dialog canvas", "")
	p.until(inked("canvas"))
	w.audit(p, "wide-pick-place")
	p.click("dialog canvas", "")
	p.click("dialog footer .button", "Use this place")
	p.gone("dialog", "")
	p.see(".given-chip", "spatial.position")
	p.see(".why", "away")
}
