package browsertest

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// drive is testdata/drive.mcap, imported: what is where and when is in testdata/drive.py.
const driveStart = 1_778_750_000

// importDrive serves a memory of its own that holds the recording alone, and returns the session.
func (w *world) importDrive(t *testing.T) (n *node, session string) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "memory.db")
	w.run(t, "import", filepath.Join(w.root, "ui/browsertest/testdata/drive.mcap"), "--db", db, "--robot", "amr3")
	n = w.serve(t, db)
	_, body := n.get(t, "/api/sessions")
	var all struct {
		Sessions []struct {
			SessionID string `json:"session_id"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal(body, &all); err != nil || len(all.Sessions) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	return n, all.Sessions[0].SessionID
}

const (
	odomPlot = `[data-stream="/odom"] .trace-panel[aria-label="Channels, m/s"]`
	odomAt   = `Number(document.querySelector('[data-stream="/odom"] .trace-plot')?.getAttribute("aria-valuenow"))`
)

// stream brings a stream of the episode into the window, where it is read, and waits for it.
func (p *tab) stream(name string) {
	p.t.Helper()
	figure := `document.querySelector('[data-stream="` + name + `"]')`
	p.until(`(` + figure + `?.scrollIntoView(), ` + figure + `?.querySelector(".trace, .messages-head, .video, .transforms, .notice"))`)
}

// recording: an imported recording is shown at its own time and place, topic by topic.
func (w *world) recording(t *testing.T) {
	n, session := w.importDrive(t)
	p := w.open(t, n, wide)
	p.goTo("/sessions")
	p.see(".sessions .row-facts", "14 May 2026")
	p.click(".sessions .row-title", "drive.mcap")
	p.see("h1", "amr3: drive.mcap")
	p.see("main header", "14 May 2026, 09:13:20")
	p.see("main header", "in 8s")
	p.until(`document.title.includes("14 May 2026, 09:13:20")`)

	// What belongs to no moment stands beside the axis, which begins with the first message.
	p.see(".timeline-outside a", "/tf_static")
	p.see(".timeline-outside a", "/robot_description")
	p.see(".timeline-outside a", "its topics")
	p.gone(".timeline .lane", "tf_static")
	if off := eval[float64](p, `((x) => Math.abs(x(".tick line", "x1") - x("rect.item", "x")))((s, a) => Number(document.querySelector(".timeline " + s).getAttribute(a)))`); off > 0.01 {
		t.Errorf("the first tick is %.2f pixels from the first message", off)
	}

	// The velocity of /odom, over the whole topic.
	p.stream("/odom")
	p.see(odomPlot+" .trace-legend", "linear.x")
	p.until(inked(strings.ReplaceAll(odomPlot, `"`, `\"`) + " canvas"))
	p.see(`[data-stream="/odom"] .trace-head`, "160 samples over 8 s")
	p.until(`(document.querySelector('[data-stream="/odom"] .trace-plot').focus(), true)`)
	p.key(kb.Home)
	p.see(odomPlot+" .trace-legend b", "0.3 m/s")
	p.key("++")
	p.until(`new URLSearchParams(location.search).get("zoom")`)
	p.key(kb.ArrowRight)
	p.until(`Math.abs(Number(new URLSearchParams(location.search).get("at")) - %s - `+odomAt+`) < 0.001`, driveStart)
	at, zoom := eval[float64](p, odomAt), eval[string](p, `new URLSearchParams(location.search).get("zoom")`)
	other := w.open(t, n, wide)
	other.goTo(strings.TrimPrefix(eval[string](p, `location.href`), n.url))
	other.see("h1", "amr3: drive.mcap")
	other.stream("/odom")
	other.until(`Math.abs(`+odomAt+` - %s) < 0.001`, at)
	other.until(`new URLSearchParams(location.search).get("zoom") === %s`, zoom)
	p.key("0")

	w.tableOfMessages(p)
	w.transforms(p)
	w.movingVideo(p)
	p.until(`(scrollTo(0, 0), true)`)
	forREADME(p, "dashboard-recording")
	w.audit(p, "wide-recording")

	// The robot stands where /amcl_pose says: at (5, 7) in map when the recording begins.
	p.goTo("/map?field=spatial.pose.position&frame=map&dims=3&at=5,7,0&radius=0.5")
	p.see(".near .row-title", "/amcl_pose")
	p.see(".near-distance", "0")
	_, body := n.get(t, "/api/memories?limit=50")
	var all struct {
		Memories []struct {
			Content    string
			Type       string
			ObservedAt string `json:"observed_at"`
			Spatial    *struct {
				Pose struct {
					FrameID  string `json:"frame_id"`
					Position []float64
				}
			}
		}
	}
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	placed, facts := 0, 0
	for _, m := range all.Memories {
		if m.Spatial == nil {
			continue // the list of topics
		}
		placed++
		// What the recording reports stands where the robot was then.
		limit := 0.3
		if m.Type == "fact" {
			facts++
			limit = 2.2
		}
		if at := m.Spatial.Pose.Position; m.Spatial.Pose.FrameID != "map" || math.Abs(at[0]-5) > limit || math.Abs(at[1]-7) > 0.3 || !strings.HasPrefix(m.ObservedAt, "2026-05-14T09:13:2") {
			t.Errorf("%s is at %v in %s at %s", m.Content, at, m.Spatial.Pose.FrameID, m.ObservedAt)
		}
	}
	if placed != 13 || facts != 3 {
		t.Errorf("%d memories have a place, %d of them facts: want all ten topics and what three of them report", placed, facts)
	}
	w.mcapInPython(t, n, session, "('/odom', 160)", "('/amcl_pose', 8)", "('/wrist/wrench', 800)", "('/camera/h264', 80)")

	for _, l := range []look{narrow, {name: "narrow-zh", width: 390, height: 844, lang: "zh"}, {name: "wide-dark", width: 1440, height: 900, dark: true}} {
		p := w.open(t, n, l)
		p.goTo("/sessions/" + session)
		for _, name := range []string{"/wrist/wrench", "/camera/h264", "/odom", "/tf", "/diagnostics", "/rosout"} {
			p.stream(name)
		}
		p.see(".messages-table td", "motor left")
		p.until(`document.querySelector('[data-stream="/camera/h264"] :is(canvas[data-shown="55"], .notice)')`) // the last failure, at second 5.5
		p.until(`(scrollTo(0, 0), true)`)
		w.audit(p, l.name+"-recording")
	}
}

// tableOfMessages: diagnostics with their levels; a click on a row moves the cursor of the page.
func (w *world) tableOfMessages(p *tab) {
	p.t.Helper()
	const rows = `[data-stream="/diagnostics"] tbody tr`
	p.stream("/diagnostics")
	p.see(rows+" .mark.bad", "ERROR")
	if all := p.count(rows); all != 16 {
		p.t.Errorf("%d rows, want those of 8 messages with two states each", all)
	}
	p.until(`((s) => { s.value = "2"; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector('[data-stream="/diagnostics"] select'))`)
	p.until(`document.querySelectorAll(%s).length === 1`, rows)
	p.click(rows+" td", "over temperature")
	p.until(`Math.abs(` + odomAt + ` - 5) < 0.001`)
	p.stream("/rosout")
	p.see(`[data-stream="/rosout"] tr[aria-current] td`, "goal 4 reached")
}

// transforms: the tree with what is fixed, and the motion of one frame in another.
func (w *world) transforms(p *tab) {
	p.t.Helper()
	p.stream("/tf")
	p.see(`[data-stream="/tf"] [data-frame="base_link"] [data-frame="laser"]`, "fixed")
	p.see(`[data-stream="/tf"] .trace-legend b`, "6.5 m") // base_link in map at second 5
	within := func(frame string) {
		p.until(`((s) => { s.value = %s; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelectorAll('[data-stream="/tf"] select')[1])`, frame)
	}
	within("odom")
	p.see(`[data-stream="/tf"] .trace-legend b`, "1.5 m")
	within("laser")
	p.see(`[data-stream="/tf"] section p`, "-0.2, 0, 0 m")
}

// movingVideo: the image follows the cursor; the bar of the video has moved to the right.
func (w *world) movingVideo(p *tab) {
	p.t.Helper()
	p.stream("/camera/h264")
	if eval[bool](p, `document.querySelector('[data-stream="/camera/h264"] .notice') !== null`) {
		p.t.Log("this browser decodes no H.264; the page says so")
		return
	}
	const canvas = `document.querySelector('[data-stream="/camera/h264"] canvas')`
	const bar = `((c) => { const row = c.getContext("2d").getImageData(0, c.height / 2, c.width, 1).data; for (let x = 0; x < c.width; x++) if (row[4 * x] > 128) return x; return -1; })(` + canvas + `)`
	for _, second := range []float64{5, 1.5, 7.9} {
		page, _, _ := strings.Cut(p.path(), "?")
		p.goTo(fmt.Sprintf("%s?at=%.1f", page, driveStart+second))
		p.stream("/camera/h264")
		p.until(canvas + `?.dataset.shown === "` + fmt.Sprint(math.Round(second*10)) + `"`)
		if at, want := eval[float64](p, bar), math.Floor(second*10*140/80); math.Abs(at-want) > 3 {
			p.t.Errorf("second %v: the bar begins at pixel %v, want %v", second, at, want)
		}
	}
}
