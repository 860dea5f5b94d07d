package browsertest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// narrowest: no page of a month is wider than 320 px, and none asks for a picture that is not there.
func (w *world) narrowest(t *testing.T) {
	slip := w.month.slips[lastSlips-1]
	p := w.open(t, w.monthNode, look{name: "narrowest", width: 320, height: 640})
	for _, path := range []string{"/", "/incidents", "/search?q=wet+glass", "/sessions", "/sessions/" + slip, "/incident/s/" + slip, "/map", "/perceptions", "/doctor", "/memory/2"} {
		p.goTo(path)
		p.see("#main h1, #main h2", "")
		p.until(`!document.querySelector(".loading")`)
		w.audit(p, "narrowest"+strings.ReplaceAll(path, "/", "-"))
	}
}

// onPaper: a printed page has its content and neither navigation nor buttons.
func (w *world) onPaper(t *testing.T) {
	p := w.open(t, w.monthNode, wide)
	p.goTo("/incident/s/" + w.month.slips[0])
	p.see(".incident-verdict", "")
	p.do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
	p.until(`["header.top", "nav.side", ".incident-do"].every((s) => !document.querySelector(s).checkVisibility()) && document.querySelector(".incident-verdict").checkVisibility()`)
	keep(t, "month-print", w.picture(p))
}

// foreignText: a text from right to left stands so, and what was observed by the clock of a
// simulation has seconds, not a day in 1970.
func (w *world) foreignText(t *testing.T) {
	var session string
	n := w.serve(t, w.plant(t, func(p *planter) {
		session = p.begin()
		at := time.Unix(12, 0)
		p.save(session, "visual", "the log of the gripper", []byte("12:04:01 open"), "text/plain", "/log", at, nil)
		p.learnIn(session, "הכוס הרטובה החליקה", at.Add(500*time.Millisecond), robotmem.Object{"task": map[string]any{"name": "polish", "success": false}})
		do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: session, Outcome: "failure"})
	}))
	p := w.open(t, n, wide)
	p.goTo("/")
	p.see(".latest .row-title", "הכוס")
	p.until(`getComputedStyle(document.querySelector(".latest .row-title")).direction === "rtl"`)
	for path, time := range map[string]string{"/incident/s/" + session: "12.5 s", "/sessions/" + session: "12.5 s", "/sessions": "12 s"} {
		p.goTo(path)
		p.see("#main", time)
		if text := eval[string](p, `document.getElementById("main").innerText`); strings.Contains(text, "1970") {
			t.Errorf("%s names 1970:\n%s", path, text)
		}
	}
}

// smallPreviews: a drawing goes over the wire compressed.
func (w *world) smallPreviews(t *testing.T) {
	_, plain := w.node.get(t, fmt.Sprintf("/api/memory/%d/preview?width=264&height=148", w.seed.perceptions["wrench"]), "Accept", "image/*")
	res, packed := w.node.get(t, fmt.Sprintf("/api/memory/%d/preview?width=264&height=148", w.seed.perceptions["wrench"]), "Accept", "image/*", "Accept-Encoding", "gzip")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/svg+xml" || res.Header.Get("Content-Encoding") != "gzip" || len(packed) > len(plain)/2 {
		t.Errorf("%d %v: %d bytes, plain %d", res.StatusCode, res.Header, len(packed), len(plain))
	}
}

// inChinese: the check-up of a healthy node that embeds has no English sentence on the Chinese page.
func (w *world) inChinese(t *testing.T) {
	// A month of facts would take minutes to embed beside the other tests.
	db := filepath.Join(t.TempDir(), "memory.db")
	m, err := local.Open(t.Context(), db, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, insight := range []string{"12.5 N holds the wet glass", "dock B is wet in the morning", "the pads are 2 mm thick"} {
		if _, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight}); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}

	n := w.serve(t, db, "--embedder", "builtin")
	var stats admin.StatsResponse
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		if decode(t, n, "/api/stats", &stats); stats.Backlog == 0 {
			break
		}
	}
	p := w.open(t, n, look{name: "wide-zh", width: 1440, height: 900, lang: "zh"})
	p.goTo("/doctor")
	p.see(".checks", "内存向量索引")
	p.see(".checks", "每条记忆都有向量")
	sentences := eval[[]string](p, `[...document.querySelectorAll("main *")]
		.filter((e) => e.children.length === 0 && e.checkVisibility() && /[a-z]+ [a-z]+ [a-z]+/i.test(e.textContent) && !/[\u4e00-\u9fff]/.test(e.textContent))
		.map((e) => e.textContent)`)
	if len(sentences) > 0 {
		t.Errorf("the Chinese page says %q", sentences)
	}
}
