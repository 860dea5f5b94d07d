package browsertest

import "testing"

// deepCheckAndRepair: both show how far they are. That may last milliseconds
// here, so an observer keeps what was seen.
func (w *world) deepCheckAndRepair(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/doctor")
	p.see(".verdict", "Healthy")
	p.see("td.bad", "24") // drops of both episodes
	watch := func() {
		p.until(`(window.progressSeen = false, new MutationObserver(() => {
			if (document.querySelector("main progress")) window.progressSeen = true;
		}).observe(document.querySelector("main"), { childList: true, subtree: true }), true)`)
	}
	watch()
	p.click(".head .button", "Check every payload")
	p.until(`window.progressSeen && !document.querySelector("main progress")`)
	p.see(".checks", "all of them read and compared")

	p.click(".head .button", "Rebuild indexes")
	p.see("dialog", "Rebuild every index?")
	w.audit(p, "wide-repair-dialog")
	p.click("dialog footer .button", "Cancel")
	p.gone("dialog", "")
	p.until(`(window.progressSeen = false, true)`)
	p.click(".head .button", "Rebuild indexes")
	p.click("dialog footer .button", "Rebuild indexes")
	p.see(".toast", "Rebuilt:")
	if !eval[bool](p, `window.progressSeen`) {
		t.Error("the repair showed no progress")
	}
	p.see(".verdict", "Healthy")
	p.see(".card", "This node has no budget")
}
