package browsertest

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const (
	heavySeconds  = 60
	heavyPictures = 200
	crowd         = 10_000 // perceptions of one episode
	// Bounds for busy machines; the test prints what it measures.
	slowestPlot    = 15000.0 // milliseconds to the first plot
	slowestScrub   = 10.0    // frames a second
	scrubSeconds   = 3
	scrubPerSecond = 60 // moves of the mouse
)

func (w *world) plant(t *testing.T, f func(p *planter)) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "memory.db")
	m, err := local.Open(t.Context(), db, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f(&planter{t: t, m: m, s: &seed{}})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return db
}

func (p *planter) begin() string {
	return do(p, p.m.StartSession, &robotmem.StartSessionRequest{Collection: kitchen, Context: robotmem.Object{"task": map[string]any{"name": "polish"}}}).SessionID
}

func (p *planter) fail(session, said string, at time.Time) {
	do(p, p.m.Learn, &robotmem.LearnRequest{Insight: said, SessionID: session, ObservedAt: &at, Context: robotmem.Object{"task": map[string]any{"name": "polish", "success": false}}})
}

// sixAxes is a minute of a wrench at 1 kHz.
func sixAxes() []byte {
	var b strings.Builder
	b.WriteString("t,Fx,Fy,Fz,Tx,Ty,Tz\n")
	for i := range heavySeconds * 1000 {
		t := float64(i) / 1000
		b.WriteString(strconv.FormatFloat(t, 'f', 3, 64))
		for k := range 6 {
			b.WriteByte(',')
			b.WriteString(strconv.FormatFloat(10*math.Sin(t*float64(k+1))+math.Sin(float64(i*(k+3)))*0.4, 'f', 3, 64))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// incidentFigures measures the page of a long episode: how soon its plot stands,
// and by the browser's own trace how many frames are drawn while one scrubs.
func (w *world) incidentFigures(t *testing.T) {
	var session string
	began := time.Now().Add(-time.Hour).Truncate(time.Second).UTC()
	db := w.plant(t, func(p *planter) {
		session = p.begin()
		p.save(session, "tactile", "wrench of the polisher", sixAxes(), "text/csv", "/wrist/ft", began, robotmem.Object{"kind": "wrench", "units": map[string]any{"force": "N", "torque": "Nm"}, "duration_s": heavySeconds})
		for i := range heavyPictures {
			p.save(session, "visual", fmt.Sprintf("picture %d", i), glassJPEG(i, i < 100), "image/jpeg", "/camera/wrist", began.Add(time.Duration(i)*300*time.Millisecond), nil)
		}
		p.save(session, "auditory", "the polisher squeaks", chirpWAV(4), "audio/wav", "/microphone", began.Add(28*time.Second), robotmem.Object{"duration_s": 4})
		p.fail(session, "the polisher jammed", began.Add(30*time.Second))
	})
	n := w.serve(t, db)
	n.get(t, "/api/sessions/"+session)
	p := w.open(t, n, wide)
	const plot = `[data-stream="/wrist/ft"] canvas`
	p.watchFor(plot)
	p.goTo("/incident/s/" + session)
	p.see(`[data-stream="/microphone"] audio`, "")
	p.until(inked(`[data-stream='/wrist/ft'] canvas`))
	p.until(`document.querySelector('[data-stream="/camera/wrist"] img')?.naturalWidth > 0`)
	first := eval[float64](p, `window.contentAt`)

	var mu sync.Mutex
	var frames []float64 // microseconds
	done := make(chan struct{})
	if err := chromedp.Listen(p.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, v := range ev.Value {
				var e struct {
					Name string
					TS   float64
				}
				if json.Unmarshal(v, &e) == nil && e.Name == "DrawFrame" {
					frames = append(frames, e.TS)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	}); err != nil {
		t.Fatal(err)
	}
	box := eval[[]float64](p, `((b) => [b.left, b.width, b.top + b.height / 2])(document.querySelector('[data-stream="/wrist/ft"] .u-over').getBoundingClientRect())`)
	p.do(call(tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{"disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame", "disabled-by-default-devtools.timeline"}}}))
	scrubbed := time.Now()
	tick := time.NewTicker(time.Second / scrubPerSecond)
	defer tick.Stop()
	for i := 0; time.Since(scrubbed) < scrubSeconds*time.Second; i++ {
		<-tick.C
		share := 0.5 + 0.45*math.Sin(float64(i)/40)
		p.mouse(input.DispatchMouseEventTypeMouseMoved, box[0]+box[1]*share, box[2], false)
	}
	took := time.Since(scrubbed).Seconds()
	p.do(call(tracing.End, struct{}{}))
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the trace of the browser does not end")
	}
	mu.Lock()
	defer mu.Unlock()
	rate := float64(len(frames)) / took
	t.Logf("a minute of six axes at 1 kHz, %d pictures and 4 s of sound: first plot after %.0f ms, %.1f frames a second while scrubbing", heavyPictures, first, rate)
	if first == 0 || first > slowestPlot {
		t.Errorf("the first plot stands after %.0f ms", first)
	}
	if rate < slowestScrub {
		t.Errorf("%.1f frames a second while scrubbing", rate)
	}
}

// oddEpisodes opens incidents whose recordings are not as they should be.
func (w *world) oddEpisodes(t *testing.T) {
	var crowded, odd string
	began := time.Now().Add(-2 * time.Hour).Truncate(time.Second).UTC()
	db := w.plant(t, func(p *planter) {
		crowded = p.begin()
		for i := range crowd {
			at := began.Add(time.Duration(i) * 100 * time.Millisecond)
			do(p, p.m.SavePerception, &robotmem.SavePerceptionRequest{Description: fmt.Sprintf("pose %d", i), PerceptionType: "proprioceptive", SessionID: crowded, Source: fmt.Sprintf("/robot%d/pose", i%3), ObservedAt: &at})
		}
		p.fail(crowded, "the polisher got lost", began.Add(crowd*100*time.Millisecond))

		odd = p.begin()
		p.save(odd, "tactile", "readings without a time", []byte("Fx,Fy\n1,2\n3,4\n2,1\n5,0\n"), "text/csv", "/timeless", began, nil)
		p.save(odd, "tactile", "a sensor that fails now and then", []byte("t,Fx\n0,1\n0.5,NaN\n1,2\n1.5,\n4,3\n4.5,inf\n5,1\n"), "text/csv", "/gaps", began, nil)
		p.save(odd, "tactile", "force by the clock of another computer", wrenchCSV(1), "text/csv", "/other_clock", began.Add(-9*time.Hour), nil)
		p.save(odd, "visual", "a picture that was cut off", picturePNG(1)[:40], "image/png", "/camera/cut", began.Add(time.Second), nil)
		p.fail(odd, "the polisher fell", began.Add(2*time.Second))
	})
	n := w.serve(t, db)
	p := w.open(t, n, wide)
	p.goTo("/incident/s/" + crowded)
	p.see("h1", "the polisher got lost")
	p.see(`[data-stream="/robot0/pose"] figcaption`, "pose 9999")
	p.see(".empty", "Saved without bytes")

	p.goTo("/incident/s/" + odd)
	p.see("h1", "the polisher fell")
	p.see(`[data-stream="/gaps"] .trace-panel`, "Force")
	p.until(inked(`[data-stream='/gaps'] canvas`))
	p.see(`[data-stream="/timeless"] .trace-head`, "rate unknown")
	p.until(`(document.querySelector('[data-stream="/other_clock"]').scrollIntoView(), true)`)
	p.see(`[data-stream="/other_clock"] figcaption`, "another clock?")
	p.until(`(document.querySelector('[data-stream="/camera/cut"]').scrollIntoView(), true)`)
	p.see(`[data-stream="/camera/cut"]`, "cannot be decoded")
	p.gone(".loading", "")
	w.audit(p, "wide-incident-odd")

	// The node stops while the page is open: what was read stays.
	n.stop()
	p.see(".live-text", "The node does not answer")
	p.see("h1", "the polisher fell")
	p.until(`(document.querySelector('[data-stream="/gaps"]').scrollIntoView(), true)`)
	p.until(inked(`[data-stream='/gaps'] canvas`))
	p.click(".button", "Write the lesson")
	p.click("dialog .button", "Save")
	p.see("dialog .error-title", "cannot be reached")
}
