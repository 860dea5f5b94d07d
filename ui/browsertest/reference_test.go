package browsertest

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// reference: Swagger UI shows every operation in both themes and runs one, under
// the policy of the dashboard.
func (w *world) reference(t *testing.T) {
	looks := []look{wide, narrow}
	if testing.Short() {
		looks = looks[:1]
	}
	for _, l := range looks {
		p := w.open(t, w.node, l)
		p.goTo("/api/reference")
		p.see(".opblock-summary-path", "/api/recall")
		if got, least := p.count(".opblock"), len(robotmem.Ops()); got < least {
			t.Errorf("%d operations, want %d or more", got, least)
		}
		if dark := eval[bool](p, `getComputedStyle(document.body).backgroundColor === "rgb(28, 32, 34)"`); dark != l.dark {
			t.Errorf("%s: the page is dark: %t", l.name, dark)
		}
		keep(t, l.name+"-reference", p.shot())
		if testing.Short() {
			continue
		}
		p.click(".opblock-summary-control", "/api/recall")
		p.see(".opblock-description", "Find")
		p.click(".try-out__btn", "Try it out")
		p.click(".execute", "Execute")
		p.see(".live-responses-table .response-col_status", "200")
		keep(t, l.name+"-reference-recall", p.shot())
	}
}
