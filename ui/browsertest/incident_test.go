package browsertest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const (
	glassEpisodes = 28
	otherFacts    = 20_000
	glassSeconds  = 8 // of force at 1 kHz in each episode
	slipAt        = 5 // seconds after the trace begins
)

// glass is a file of a gripper that lifts wet glass: 28 episodes, of which those
// at 9 N slip and those at 12.5 N hold, and facts of other robots.
type glass struct {
	db            string
	slip, earlier string  // episodes
	began         float64 // of the slip, in seconds since the epoch
}

func newGlass(t *testing.T) *glass {
	t.Helper()
	g := &glass{db: filepath.Join(t.TempDir(), "memory.db")}
	m, err := local.Open(t.Context(), g.db, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &planter{t: t, m: m, s: &seed{}}
	var batch []robotmem.LearnRequest
	for i := range otherFacts {
		batch = append(batch, robotmem.LearnRequest{
			Insight: fmt.Sprintf("aisle %d shelf %d holds part %d", i%97, i%211, i), Collection: "warehouse",
			Context: robotmem.Object{"params": map[string]any{"shelf": i % 211}},
		})
		if len(batch) == 500 {
			do(p, p.m.LearnBatch, &robotmem.LearnBatchRequest{Items: batch})
			batch = nil
		}
	}
	began := time.Now().Add(-6 * 24 * time.Hour).Truncate(time.Second).UTC()
	for i := range glassEpisodes {
		force := 12.5
		if i%9 == 0 { // the first, the 10th, the 19th, and the last
			force = 9
		}
		at := began.Add(time.Duration(i) * 5 * time.Hour)
		id := p.lift(i, force, at)
		if force == 9 {
			g.earlier, g.slip, g.began = g.slip, id, float64(at.Unix())
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return g
}

// lift is one episode: a picture every second, the force at 1 kHz, and what came of it.
func (p *planter) lift(nth int, force float64, began time.Time) string {
	held := force > 10
	about := robotmem.Object{
		"task":  map[string]any{"name": "lift the wet glass"},
		"robot": map[string]any{"id": "arm7"},
		"env":   map[string]any{"light": []string{"day", "night"}[nth%2]},
	}
	session := do(p, p.m.StartSession, &robotmem.StartSessionRequest{Collection: kitchen, Context: about}).SessionID
	outcome := robotmem.Object{
		"params":  map[string]any{"grip_force": fmt.Sprintf("%g N", force)},
		"task":    map[string]any{"name": "lift the wet glass", "success": held},
		"spatial": map[string]any{"position": []any{0.4, 0.1 + 0.01*float64(nth%5), 0.05}, "frame_id": "table"},
	}
	p.save(session, "tactile", fmt.Sprintf("grip force of lift %d", nth+1), gripCSV(nth, force), "text/csv", "/gripper/force", began,
		robotmem.Object{"units": "N", "duration_s": glassSeconds})
	for i := range glassSeconds {
		p.save(session, "visual", fmt.Sprintf("glass in the gripper, lift %d, %d s", nth+1, i), glassJPEG(i, held), "image/jpeg", "/camera/wrist", began.Add(time.Duration(i)*time.Second), nil)
	}
	when := began.Add(slipAt*time.Second + 200*time.Millisecond)
	said := fmt.Sprintf("grip_force=%g N held the wet glass, lift %d", force, nth+1)
	if !held {
		said = fmt.Sprintf("the wet glass slipped at grip_force=%g N, lift %d", force, nth+1)
	}
	do(p, p.m.Learn, &robotmem.LearnRequest{Insight: said, SessionID: session, ObservedAt: &when, Context: outcome})
	score := 0.0
	if held {
		score = 1
	}
	do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: &score})
	return session
}

// gripCSV rises to its force and, at 9 N, loses the glass at slipAt.
func gripCSV(nth int, force float64) []byte {
	var b strings.Builder
	b.WriteString("t,Fx,Fy,Fz\n")
	for i := range glassSeconds * 1000 {
		t := float64(i) / 1000
		f := force * (1 - math.Exp(-2*t))
		if force < 10 && t > slipAt {
			f = force * (0.15 + 0.25*math.Exp(-6*(t-slipAt))*math.Abs(math.Sin(60*(t-slipAt))))
		}
		s := math.Sin(float64(i+nth*37)/11) * 0.12
		b.WriteString(strconv.FormatFloat(t, 'f', 3, 64))
		for _, v := range []float64{0.4*s + 0.1*float64(nth%3), -0.7 * s, f + s} {
			b.WriteByte(',')
			b.WriteString(strconv.FormatFloat(v, 'f', 4, 64))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// glassJPEG is a gripper around a glass, which lies lower once it slipped.
func glassJPEG(second int, held bool) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 320, 240))
	drop := 0
	if !held && second >= slipAt {
		drop = 60
	}
	for y := range 240 {
		for x := range 320 {
			c := color.RGBA{R: uint8(70 + y/3), G: uint8(80 + y/4), B: uint8(95 + second*4), A: 255}
			if x > 130 && x < 190 && y > 70+drop && y < 180+drop {
				c = color.RGBA{R: 190, G: 220, B: 235, A: 255}
			}
			if y > 40 && y < 130 && (x > 105 && x < 130 || x > 190 && x < 215) {
				c = color.RGBA{R: 45, G: 48, B: 55, A: 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err) // memory does not fail
	}
	return b.Bytes()
}

// traceAt is the time under the cursor of a plot, in seconds from its first sample.
const traceAt = `Number(document.querySelector('[data-stream="/gripper/force"] .trace-plot')?.getAttribute("aria-valuenow"))`

// slip walks from the incident to what to do about it.
func (w *world) slip(t *testing.T) {
	seeding := time.Now()
	g := newGlass(t)
	t.Logf("%d episodes and %d facts of others are stored in %.1f s", glassEpisodes, otherFacts, time.Since(seeding).Seconds())
	n := w.serve(t, g.db)
	p := w.open(t, n, wide)
	p.allow("clipboard-read", "clipboard-write")
	p.goTo("/")
	p.click(".row-title", "the wet glass slipped at grip_force=9 N, lift 28") // the one click
	p.see("h1", "the wet glass slipped at grip_force=9 N, lift 28")
	p.until(`location.pathname === %s`, "/incident/s/"+g.slip)
	p.see(".incident-verdict .good", "12.5 N held 24 of 24")
	p.see(".incident-verdict .bad", "9 N slipped 4 of 4")
	p.until(`document.title.startsWith("the wet glass slipped")`)

	p.see(`[data-stream="/gripper/force"] figcaption`, "covers this moment")
	p.until(inked(`[data-stream='/gripper/force'] canvas`))
	p.until(traceAt + ` > 5.19 && ` + traceAt + ` < 5.21`)
	p.until(`document.querySelector('[data-stream="/camera/wrist"] img')?.naturalWidth === 320`)
	p.see(`.incident-overlay`, "Fz, N")
	p.until(inked(`.incident-overlay canvas`))
	p.see(".incident-differs tr", "params.grip_force")
	p.see(".incident-similar li", "")
	if first := eval[string](p, `document.querySelector(".incident-similar li").dataset.session`); first != g.earlier {
		t.Errorf("the first similar incident is %s, want the earlier slip %s", first, g.earlier)
	}
	forREADME(p, "dashboard-incident")

	// The cursor and the zoom stand in the address, and a copy of it brings them back.
	p.until(`(document.querySelector('[data-stream="/gripper/force"] .trace-plot').focus(), true)`)
	p.key("++")
	p.until(`new URLSearchParams(location.search).get("zoom")`)
	p.do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift)))
	p.until(traceAt + ` < 5.19`)
	p.until(`Math.abs(Number(new URLSearchParams(location.search).get("at")) - %s - `+traceAt+`) < 0.001`, g.began)
	p.click(".incident-do .button", "Copy link")
	link := eval[string](p, `navigator.clipboard.readText()`)
	at, zoom := eval[float64](p, traceAt), eval[string](p, `new URLSearchParams(location.search).get("zoom")`)
	other := w.open(t, n, wide)
	other.goTo(strings.TrimPrefix(link, n.url))
	other.see(`[data-stream="/gripper/force"] .trace-head`, "Whole trace")
	other.until(`Math.abs(`+traceAt+` - %s) < 0.001`, at)
	other.until(`new URLSearchParams(location.search).get("zoom") === %s`, zoom)

	// Another success is one step of the history, and the way back leads to the first.
	p.until(`((s) => { s.value = s.options[1].value; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector("main .select select"))`)
	p.until(`new URLSearchParams(location.search).get("with")`)
	p.until(`(history.back(), true)`)
	p.until(`!new URLSearchParams(location.search).get("with")`)

	// The choice of streams stays with the collection.
	p.click(".stream-layout summary", "")
	p.click(".stream-layout label", "/camera/wrist")
	p.gone(`[data-stream="/camera/wrist"] figcaption`, "")
	p.goTo("/incident/s/" + g.earlier)
	p.see(`[data-stream="/gripper/force"] figcaption`, "")
	p.gone(`[data-stream="/camera/wrist"] figcaption`, "")

	// What resolves it is a fact.
	p.click(".button", "Mark as resolved")
	p.click("dialog .button", "Save")
	p.see(".toast", "Stored as")
	p.see(".incident-head .mark.good", "Resolved")

	w.mcapInPython(t, n, g.slip, "('/robotmem/traces/", fmt.Sprintf(", %d)", glassSeconds*1000), fmt.Sprintf("('/robotmem/images', %d)", glassSeconds), "('/robotmem/facts', 1)")
	for _, l := range []look{wide, narrow, {name: "wide-dark", width: 1440, height: 900, dark: true}, {name: "narrow", width: 390, height: 844}, {name: "wide-zh", width: 1440, height: 900, lang: "zh"}} {
		p := w.open(t, n, l)
		p.goTo("/incident/s/" + g.slip)
		p.see(".incident-verdict .good", "12.5 N")
		p.see(".incident-differs tr", "params.grip_force")
		p.until(inked(`.incident-overlay canvas`))
		p.until(`(document.querySelector('[data-stream="/camera/wrist"]').scrollIntoView(), true)`)
		p.until(`document.querySelector('[data-stream="/camera/wrist"] img')?.naturalWidth === 320`)
		p.until(`(scrollTo(0, 0), true)`)
		w.audit(p, l.name+"-incident")
	}
}

// mcapInPython downloads an episode and counts its messages by topic as Python reads them.
func (w *world) mcapInPython(t *testing.T, n *node, session string, wants ...string) {
	t.Helper()
	res, data := n.get(t, "/api/sessions/"+session+"/mcap")
	if res.StatusCode != 200 || !strings.Contains(res.Header.Get("Content-Disposition"), ".mcap") {
		t.Fatalf("the download answers %d %v", res.StatusCode, res.Header)
	}
	file := filepath.Join(t.TempDir(), "episode.mcap")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), w.mcapPython(t), "-c", `
import sys
from mcap.reader import make_reader
with open(sys.argv[1], "rb") as f:
    topics = {}
    for _, channel, message in make_reader(f).iter_messages():
        topics[channel.topic] = topics.get(channel.topic, 0) + 1
print(sorted(topics.items()))`, file).CombinedOutput()
	if err != nil {
		t.Fatalf("Python does not read the file: %v\n%s", err, out)
	}
	for _, want := range wants {
		if !strings.Contains(string(out), want) {
			t.Errorf("Python reads %s, want %s", out, want)
		}
	}
}

// mcapPython is a Python with the package mcap, in an environment that later runs use again.
func (w *world) mcapPython(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(w.root, "bin/mcap")
	python := filepath.Join(dir, "bin/python")
	if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
		return python
	}
	if _, err := exec.LookPath("python3"); err != nil {
		missing(t, "no python3 here; apt-get install python3-venv")
	}
	for _, args := range [][]string{{"python3", "-m", "venv", dir}, {python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mcap==1.3.0"}} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			missing(t, "%v: %v\n%s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return python
}
