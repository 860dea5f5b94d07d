package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// longLists: a search says where its best answers stand without a low number as a verdict, gives
// more than the first fifty, and the way back leads to where a list was left.
func (w *world) longLists(t *testing.T) {
	n := w.serve(t, w.month.db, "--embedder", "builtin")
	p := w.open(t, n, wide)
	p.goTo("/search?q=grip+the+wet+glass&collection=shop&type=fact")
	p.see(".why-list", "text #1")
	if tall := eval[[]string](p, `[...document.querySelectorAll(".why-list")].filter((e) => e.getBoundingClientRect().height > 28).map((e) => e.outerHTML)`); len(tall) > 0 {
		t.Errorf("%d chips take two lines: %s", len(tall), tall[0])
	}
	if low := eval[[]string](p, `[...document.querySelectorAll(".why-score")].map((e) => e.innerText).filter((s) => s.includes("relevant") && parseFloat(s) < 50)`); len(low) > 0 {
		t.Errorf("%d answers say %q, a low number as if it were a verdict", len(low), strings.TrimSpace(low[0]))
	}
	p.until(`document.querySelectorAll(%s).length === 50`, titles)
	p.click(".more .button", "More")
	p.until(`document.querySelectorAll(%s).length === 100`, titles)
	p.see(".more", "the best 100")
	keep(t, "month-search", p.shot())

	for _, list := range []struct{ path, row string }{
		{"/search?q=the+wet+glass&collection=shop&rows=100", titles},
		{"/incidents", "[data-incident] .row-title"},
	} {
		p.goTo(list.path)
		p.until(`document.querySelectorAll(%s).length >= 15`, list.row)
		p.until(`(scrollTo(0, 700), scrollY === 700)`)
		p.until(`history.state?.y === 700`)
		p.until(`((e) => (e.click(), true))([...document.querySelectorAll(%s)].find((e) => e.getBoundingClientRect().top > 200))`, list.row)
		p.see(".memory-head, .incident", "")
		p.until(`scrollY === 0`)
		p.until(`(history.back(), true)`)
		p.until(`document.querySelectorAll(%s).length >= 15 && Math.abs(scrollY - 700) < 2`, list.row)
	}
}

// keysInLists: j and k walk through every list.
func (w *world) keysInLists(t *testing.T) {
	p := w.open(t, w.monthNode, wide)
	slip := w.month.slips[lastSlips-1]
	for _, path := range []string{"/", "/incidents", "/sessions", "/search", "/sessions/" + slip, "/incident/s/" + slip, "/map?at=0.4,0.1,0.8&radius=0.5"} {
		p.goTo(path)
		p.see("#main a.row-title", "")
		p.until(`document.querySelectorAll("#main a.row-title, #main .incident-groups a").length > 0 && (document.activeElement?.blur(), true)`)
		p.key("jj")
		p.until(`document.activeElement.matches("#main a.row-title, #main .incident-groups a")`)
		p.until(`((now) => (window.wasAt = now, now !== undefined))(document.activeElement)`)
		p.key("k")
		if p.count("#main a.row-title") > 1 {
			p.until(`document.activeElement !== window.wasAt && document.activeElement.matches("#main a.row-title, #main .incident-groups a")`)
		}
	}
}

// covered: the page of a failed fact draws the trace that covers its moment, though it began before.
func (w *world) covered(t *testing.T) {
	p := w.open(t, w.monthNode, wide)
	p.goTo("/incident/s/" + w.month.slips[0])
	fact := eval[string](p, fmt.Sprintf(`(async () => {
		const res = await fetch("/api/sessions/%s/memories");
		return String((await res.json()).memories.find((m) => m.type === "fact").memory_id);
	})()`, w.month.slips[0]))
	p.goTo("/memory/" + fact)
	p.see("h1", "slipped")
	p.see("main .trace-panel", "Force")
	p.until(inked(".trace-panel canvas"))
	p.see("main .row-title", "wrench of the wrist")

	// A dry mug that is held by the same force says nothing of the glass.
	p.see(".row-title", "held the wet glass")
	if others := eval[[]string](p, `[...document.querySelectorAll(".row-title")].map((e) => e.textContent).filter((s) => s.includes("held the") && !s.includes("wet glass"))`); len(others) > 0 {
		t.Errorf("what worked in such a case is %q, want successes with the glass", others)
	}
	keep(t, "month-memory", w.picture(p))
}

// episodesByFacts: the list of episodes tells the task and the outcome that their facts know, and finds them by both.
func (w *world) episodesByFacts(t *testing.T) {
	p := w.open(t, w.monthNode, wide)
	p.goTo("/sessions")
	p.see(".sessions .row-summary", "the wet glass slipped at grip_force=9.0 N")
	first := eval[[]string](p, `[...document.querySelectorAll(".sessions li")].slice(0, 3).map((e) => e.querySelector(".row-title").innerText + ": " + e.querySelector(".row-summary")?.innerText)`)
	for _, said := range first { // those of last night
		if said != "pick: the wet glass slipped at grip_force=9.0 N" {
			t.Errorf("an episode of last night says %q", said)
		}
	}
	keep(t, "month-sessions", w.picture(p))
	p.goTo("/sessions?task=wipe&outcome=failure")
	p.see(".sessions .row-summary", "left a stain")
	p.gone(".sessions .row-summary", "slipped")
	p.goTo("/sessions?words=steel+plate&outcome=failure")
	p.see(".sessions .row-summary", "the steel plate slipped")
	p.gone(".sessions .row-summary", "glass")
	p.goTo("/sessions/" + w.month.slips[0])
	p.see("h1", "arm-7: pick")
}
