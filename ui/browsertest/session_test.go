package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const cursorAt = `Number(document.querySelector(".timeline [role=slider]").getAttribute("aria-valuenow"))`

func (w *world) episodeByKeys(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/sessions")
	p.see(".sessions .row-title", "fill the dishwasher")
	p.goTo("/sessions/" + w.seed.sessions[0])
	p.see(".timeline svg .item", "")
	p.until(cursorAt + ` === 95`) // where plate 9 failed
	p.see("[data-at-cursor] .row-title", "plate 9")
	p.until(`(document.querySelector(".timeline [role=slider]").focus(), true)`)
	p.key(kb.Home)
	p.until(cursorAt + ` === 0`)
	first := p.text("[data-at-cursor] h2", "At ")
	p.key(kb.ArrowRight)
	p.until("Math.abs(" + cursorAt + ` - 2) < 0.01`) // the first picture
	if second := p.text("[data-at-cursor] h2", "At "); second == first {
		t.Errorf("the panels stay at %s", first)
	}
	p.see("[data-at-cursor] figcaption", "rack seen from above, step 0")
	p.key(kb.End)
	p.until(cursorAt + ` > 170`)
	p.see("[data-at-cursor] figcaption", "rack seen from above, step 15")
	p.see("[data-at-cursor] .row-title", "plate 17")
	p.key("+")
	p.see(".transport .button", "Whole")
	p.key("0")
	p.gone(".transport .button", "Whole")

	p.click(".transport .button", "Play")
	p.until(cursorAt + ` < 170`) // from the beginning again
	p.until(cursorAt + ` > 8`)
	p.click(".transport .button", "Pause")
	p.see(".recalled", "holds wet glass")
	p.see(".recalled .mark.good", "helped")
	p.see(".facts", "12 dropped")
}

func (w *world) twoEpisodes(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/sessions?collection=kitchen")
	p.see(".sessions .row-title", "fill the dishwasher")
	for _, id := range w.seed.sessions {
		p.click(`.sessions li:has(a[href="/sessions/`+id+`"]) input`, "")
	}
	p.click(".button", "Compare the two chosen")
	p.see("h2", english["differs"])
	p.see("tbody tr", "env.light")
	p.see(".compare-two > :nth-child(2) .timeline svg .item", "")
	p.until(`(document.querySelector(".timeline [role=slider]").focus(), true)`)
	p.key(kb.Home)
	p.until(`[...document.querySelectorAll(".timeline [role=slider]")].every((s) => Number(s.getAttribute("aria-valuenow")) < 5)`)
	p.click(".head .button", "Swap")
	p.until(`new URLSearchParams(location.search).get("a") === %s`, eval[string](p, `new URLSearchParams(location.search).get("a")`))
}
