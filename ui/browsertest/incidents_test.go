package browsertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	manyIncidents = 300
	// homeLimit is what Home may take on its way, with the answers and pictures of the node.
	homeLimit = 130 << 10
)

// hall plants facts of other robots and incidents of three arms, five kinds of them in turn;
// each second episode has a trace. The newest incidents are those of a glass.
func (p *planter) hall() {
	var batch []robotmem.LearnRequest
	for i := range otherFacts {
		batch = append(batch, robotmem.LearnRequest{
			Insight: fmt.Sprintf("aisle %d shelf %d holds part %d", i%97, i%211, i), Collection: "warehouse",
			Context: robotmem.Object{"params": map[string]any{"shelf": i % 211}},
		})
		if len(batch) == 1000 {
			do(p, p.m.LearnBatch, &robotmem.LearnBatchRequest{Items: batch})
			batch = nil
		}
	}
	kinds := []struct{ task, said string }{
		{"climb ramp", "wheel stalled on the ramp at %d A"}, {"open door", "door stayed closed after %d s"},
		{"pick mug", "gripper missed the mug by %d mm"}, {"", "localisation lost after %d m"}, {"hold glass", "wet glass slipped at %d N"},
	}
	now := time.Now()
	for i := range manyIncidents {
		kind, at := kinds[i%len(kinds)], now.Add(-time.Duration(manyIncidents-i)*30*time.Minute)
		task := map[string]any{}
		if kind.task != "" {
			task["name"] = kind.task
		}
		about := robotmem.Object{"robot": map[string]any{"id": fmt.Sprintf("arm-%d", i%3)}, "task": task}
		session := do(p, p.m.StartSession, &robotmem.StartSessionRequest{Collection: "hall", Context: about}).SessionID
		if i%2 == 1 {
			p.save(session, "tactile", "force at the wrist", []byte("t,fz\n0,9\n0.5,8.8\n1,5\n"), "text/csv", "/wrist/ft", at.Add(-time.Second), nil)
		}
		p.learnIn(session, fmt.Sprintf(kind.said, i), at, robotmem.Object{
			"robot": about["robot"], "task": map[string]any{"name": kind.task, "success": false}, "spatial": map[string]any{"position": []any{float64(i % 7), 2.0}, "frame_id": "map"},
		})
		do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: new(0.1)})
	}
	bare := do(p, p.m.StartSession, &robotmem.StartSessionRequest{Collection: "bare"}).SessionID
	do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: bare, OutcomeScore: new(0.0)})
}

func (p *planter) learnIn(session, said string, at time.Time, about robotmem.Object) {
	do(p, p.m.Learn, &robotmem.LearnRequest{Insight: said, SessionID: session, ObservedAt: &at, Context: about})
}

// incidents: Home opens with them, and their list has filters, groups and pages that stand in
// the address.
func (w *world) incidents(t *testing.T) {
	n := w.serve(t, w.plant(t, (*planter).hall))
	const row = "[data-incident] .row-title"
	p := w.open(t, n, wide)
	var fastest float64
	for range 3 {
		p.watchFor(row)
		p.goTo("/")
		p.see(row, "")
		at := eval[float64](p, "window.contentAt")
		if fastest == 0 || at < fastest {
			fastest = at
		}
	}
	first := w.open(t, n, wide) // nothing is kept from another load
	first.goTo("/")
	first.see(".activity svg", "")
	first.until(`[...document.querySelectorAll(".latest img")].every((i) => i.complete)`)
	var total float64
	first.mu.Lock()
	for _, b := range first.bytes {
		total += b
	}
	first.mu.Unlock()
	t.Logf("Home with %d facts and %d incidents: content after %.0f ms, %.1f KiB in all", otherFacts, manyIncidents, fastest, total/1024)
	if fastest > firstView || total == 0 || total > homeLimit {
		t.Errorf("content after %.0f ms, %.0f bytes", fastest, total)
	}
	if at := eval[string](p, `document.querySelector("main h1").parentElement.nextElementSibling.querySelector("section").className`); !strings.Contains(at, "latest") {
		t.Errorf("under the title of Home stands %q", at)
	}
	p.see(".latest .row-title", "Failed; nothing says why")
	p.see(".latest .row-title", "wet glass slipped at 299 N")
	p.see(".latest .incident-groups a", "60 times in 6 days")

	p.click(".latest header a", "All incidents")
	p.see(".list-total", "301 incidents")
	if got := p.count(row); got != 50 {
		t.Errorf("%d rows on the first page", got)
	}
	p.click(".pager a", "Next")
	p.see(".list-total", "51 to 100")
	p.goTo("/incidents?page=7")
	p.see(".list-total", "301 to 301")
	if got := p.count(row); got != 1 {
		t.Errorf("%d rows on the last page", got)
	}
	p.click(".pager a", "Previous")
	p.see(".list-total", "251 to 300")

	choose := func(label, value string) {
		t.Helper()
		p.see(".list-filters .field", label)
		p.until(`((s) => { s.value = %s; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })([...document.querySelectorAll(".list-filters .field")].find((f) => f.innerText.startsWith(%s)).querySelector("select"))`, value, label)
	}
	choose("Robot", "arm-1")
	p.see(".list-total", "100 incidents")
	choose("Task", "hold glass")
	p.see(".list-total", "20 incidents")
	p.until(`document.title.includes("hold glass") && document.title.includes("arm-1")`)
	for _, part := range []string{"robot=arm-1", "task=hold+glass"} {
		if !strings.Contains(p.path(), part) {
			t.Errorf("the address %s lacks %s", p.path(), part)
		}
	}
	choose("Order", "repeats")
	p.until(`document.querySelector(%s).innerText.startsWith("wet glass slipped at 289")`, row)
	p.click(".list-total a", "Show all")
	p.see(".list-total", "301 incidents")
	p.click(".incident-groups a", "gripper missed")
	p.see(".list-total", "60 incidents")
	p.until(`[...document.querySelectorAll(%s)].every((e) => e.innerText.startsWith("gripper missed"))`, row)
	p.see("[data-incident]", "60th time in 6 days")
	p.goTo("/incidents?words=GLASS+slipped&after=24h")
	p.see(".list-total", "10 incidents") // every 150 minutes
	p.goTo("/incidents?words=zeppelin")
	p.see(".empty", "No incident matches")
	p.goTo("/incidents?state=open&sort=place")
	p.see(".list-total", "301 incidents")
	p.click(row, "")
	p.until(`location.pathname.startsWith("/incident/s/")`)
	p.see("h1", "")

	// Mark one as resolved: an ordinary fact.
	p.goTo("/incidents?words=slipped+at+299")
	p.click(row, "299")
	p.click(".button", "Mark as resolved")
	p.click("dialog footer .button", "Save")
	p.gone("dialog", "")
	p.goTo("/incidents?state=resolved")
	p.see(".list-total", "1 incident")

	p.goTo("/incidents?collection=hall&state=open")
	p.see(row, "")
	p.until(`[...document.querySelectorAll(".row-thumb")].filter((i) => i.getBoundingClientRect().bottom < innerHeight).every((i) => i.complete)`)
	forREADME(p, "dashboard-incidents")
	for _, l := range []look{wide, narrow, {name: "narrow-zh", width: 390, height: 844, lang: "zh"}, {name: "wide-dark", width: 1440, height: 900, dark: true}} {
		v := w.open(t, n, l)
		for name, path := range map[string]string{"home": "/", "list": "/incidents?collection=hall", "episodes": "/sessions?sort=place"} {
			v.goTo(path)
			v.see("main .row-title", "")
			w.audit(v, l.name+"-incidents-"+name)
		}
	}
	p.goTo("/sessions?outcome=failure&robot=arm-2&words=ramp")
	p.see(".list-total", "20 episodes")
	p.goTo("/sessions?page=11")
	p.see(".sessions .row-title", "")
	p.goTo("/incidents")
	p.see(row, "")
	n.stop()
	p.see(".live.off", "")
	p.click(".pager a", "Next")
	p.see(".error-title", "The node cannot be reached")
}

// backupsAndCleanup: each says what it will do before it does, and so does a pause.
func (w *world) backupsAndCleanup(t *testing.T) {
	n := w.serve(t, w.plant(t, func(p *planter) {
		p.save(p.begin(), "visual", "the tray", glassJPEG(1, true), "image/jpeg", "/camera/wrist", time.Now().Add(-time.Hour), nil)
	}))
	p := w.open(t, n, wide)
	p.goTo("/doctor")
	p.see(".backups", "There is no backup in")
	p.click(".backups .button", "Back up now")
	p.see("dialog", "is written to")
	w.audit(p, "wide-backup-dialog")
	p.click("dialog footer .button", "Cancel")
	p.see(".backups", "There is no backup in")
	p.click(".backups .button", "Back up now")
	p.click("dialog footer .button", "Back up now")
	p.see(".toast", "is made and verified")
	p.see(".backup-list code", "robotmem backup restore")
	p.see(".backup-list code", "--to")

	p.until(`((i) => { i.value = "0.0000001"; i.dispatchEvent(new Event("input", { bubbles: true })); return true; })(document.querySelector(".budget input"))`)
	p.click(".button", "Preview cleanup")
	p.see(".evictions li", "visual")
	p.click(".button", "Remove them")
	p.see("dialog", "deleted from the disk for good")
	w.audit(p, "wide-cleanup-dialog")
	p.click("dialog footer .button", "Remove them")
	p.see(".toast", "Payloads removed: 1")
	p.click(".button", "Pause")
	p.see("dialog", "until you resume them or the node starts again")
	w.audit(p, "wide-pause-dialog")
	p.click("dialog footer .button", "Pause")
	p.see(".facts dd", "paused")
	p.do(chromedp.Reload())
	p.click(".button", "Resume")
	p.see(".toast", "goes on")
	p.gone(".facts dd", "paused")
	for _, l := range []look{narrow, {name: "narrow-zh", width: 390, height: 844, lang: "zh"}} {
		v := w.open(t, n, l)
		v.goTo("/doctor")
		v.see(".backup-list code", "robotmem backup restore")
		w.audit(v, l.name+"-operations")
	}
}

// twoFingers: a pinch zooms a plot, one finger moves its cursor.
func (w *world) twoFingers(t *testing.T) {
	p := w.open(t, w.node, narrow)
	p.goTo(memoryPath(w.seed.perceptions["wrench"]))
	p.until(inked(".trace-plot canvas"))
	p.until(`(document.querySelector(".trace-plot").scrollIntoView({ block: "center", behavior: "instant" }), true)`)
	box := eval[[]float64](p, `((b) => [b.left, b.top, b.width, b.height])(document.querySelector(".trace-plot .u-over").getBoundingClientRect())`)
	y := box[1] + box[3]/2
	touch := func(kind input.DispatchTouchEventType, shares ...float64) {
		points := []*input.TouchPoint{}
		for i, s := range shares {
			points = append(points, &input.TouchPoint{X: box[0] + box[2]*s, Y: y, ID: new(float64(i))})
		}
		p.do(call(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}))
	}
	touch("touchStart", 0.4, 0.6)
	for _, by := range []float64{0.05, 0.1, 0.2} {
		touch("touchMove", 0.4-by, 0.6+by)
	}
	touch("touchEnd")
	p.see(".trace-tools .button", "Whole")
	p.until(`((s) => s.ariaValueMax - s.ariaValueMin < 1.2)(document.querySelector(".trace-plot"))`)
}
