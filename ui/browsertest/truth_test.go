package browsertest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// forces are the numbers before "N" in a text.
var forces = regexp.MustCompile(`(\d+(?:\.\d+)?)(?: … (\d+(?:\.\d+)?))? N\b`)

func forcesIn(t *testing.T, text string) []float64 {
	t.Helper()
	var out []float64
	for _, m := range forces.FindAllStringSubmatch(text, -1) {
		for _, s := range m[1:] {
			if s == "" {
				continue
			}
			f, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, f)
		}
	}
	return out
}

// oneAdvice: the page of a slip recommends one force, that of advise, in its headline, its bars
// and the lesson that it proposes; and the force is one that held.
func (w *world) oneAdvice(t *testing.T) {
	p := w.open(t, w.monthNode, wide)
	p.goTo("/incident/s/" + w.month.slips[lastSlips-1])
	p.see(".incident-verdict .bad", "slipped")
	headline := p.text(".incident-verdict .good", "held") // the word of a success, which comes later
	marked := p.text(".incident-bars li:has(.mark.good) .number", " N ")
	keep(t, "month-incident", w.picture(p))

	// None of the forces that slipped held at another time, so no number of the red part is one that held.
	slipped := p.text(".incident-verdict .bad", "slipped")
	for _, f := range forcesIn(t, slipped) {
		if f >= leastHold {
			t.Errorf("%q names %g N, which held", slipped, f)
		}
	}
	share := regexp.MustCompile(`slipped (\d+) of (\d+)`).FindStringSubmatch(slipped)
	if share == nil || share[1] != share[2] {
		t.Errorf("%q, want a range that slipped each time", slipped)
	}

	tried := forcesIn(t, strings.Split(headline, ":")[0])
	if len(tried) != 1 {
		t.Fatalf("the headline is %q, want one force to try", headline)
	}
	for _, f := range forcesIn(t, headline) {
		if f < leastHold || f > mostHold {
			t.Errorf("the headline %q names %g N, want %g to %g N", headline, f, leastHold, mostHold)
		}
	}
	if bar := forcesIn(t, marked); len(bar) == 0 || tried[0] < bar[0] || tried[0] > bar[len(bar)-1] {
		t.Errorf("the headline suggests %g N, and the bar %q is marked", tried[0], marked)
	}
	if _, bar, _ := strings.Cut(headline, ": "); bar != marked {
		t.Errorf("the headline counts %q, the marked bar %q", bar, marked)
	}
	if marks := p.count(".incident-bars:has(figcaption) .mark.good"); marks != 2 { // grip_force and approach_speed
		t.Errorf("%d values are marked, want one for each parameter", marks)
	}

	p.click(".incident-do .button", "Write the lesson")
	lesson := eval[string](p, `document.querySelector("dialog textarea").value`)
	if !strings.Contains(lesson, headline) {
		t.Errorf("the lesson is %q, want the advice %q", lesson, headline)
	}
	if context := eval[string](p, `[...document.querySelectorAll("dialog textarea")].at(-1).value`); !strings.Contains(context, fmt.Sprintf("%g N", tried[0])) {
		t.Errorf("the context of the lesson is %s, want %g N", context, tried[0])
	}
}

// nearestSuccess: a slip is compared with a success of the same task and object, although a mug
// that is held by the same force has the nearer trace. The channel that shows the slip stands
// before those of noise, and the force, which the facts tell, before other differences.
func (w *world) nearestSuccess(t *testing.T) {
	p := w.open(t, w.monthNode, wide)
	p.goTo("/incident/s/" + w.month.slips[lastSlips-1])
	p.see(".incident-overlay", "")
	if chosen := eval[string](p, `document.querySelector("main .select select").selectedOptions[0].textContent`); !strings.Contains(chosen, "held the wet glass") {
		t.Errorf("the slip of the wet glass is compared with %q", chosen)
	}
	if first := eval[string](p, `document.querySelector(".incident-overlay .trace-legend b").textContent`); first != "Fz, N" {
		t.Errorf("the first channel is %s, want Fz, N", first)
	}
	p.see(".incident-differs tr", "params.grip_force")
	keep(t, "month-nearest", w.picture(p))
	rows := eval[[][]string](p, `[...document.querySelectorAll(".incident-differs tbody tr")].map((r) => [...r.children].map((c) => c.textContent))`)
	if !strings.HasPrefix(rows[0][0], "params.") {
		t.Errorf("the first difference is %v, want a parameter", rows[0])
	}
	for _, r := range rows {
		if r[0] == "object" {
			t.Errorf("the success is of another object: %v", r)
		}
		if r[0] == "params.grip_force" && (r[1] != "9.0 N" || forcesIn(t, r[2])[0] < leastHold) {
			t.Errorf("the forces are %v, want 9.0 N and one that held", r)
		}
	}

	// The page that compares both episodes reads what their facts say, too.
	p.click("main a", "Both episodes")
	p.see("h1", english["compare"])
	p.see("tbody th", "params.grip_force")
	keep(t, "month-compare", w.picture(p))
	force := eval[[]string](p, `[...[...document.querySelectorAll("tbody tr")].find((r) => r.firstChild.textContent === "params.grip_force").children].map((c) => c.textContent)`)
	if force[1] != "9.0 N" || forcesIn(t, force[2])[0] < leastHold {
		t.Errorf("the page of both says %v, want 9.0 N and a force that held", force)
	}
}

// fewLines: Home has one line for each robot and task, those of failed episodes first, and what
// happened repeatedly is named without the numbers in which it differs.
func (w *world) fewLines(t *testing.T) {
	n := w.serve(t, w.plant(t, func(p *planter) {
		for i, a := range []attempt{
			{robot: "arm-7", task: "pick", object: "wet glass", force: 9}, {robot: "arm-7", task: "pick", object: "wet glass", force: 9.5},
			{robot: "arm-3", task: "wipe", object: "table", force: 4},
		} {
			p.pick(rand.New(rand.NewPCG(1, 1)), a, time.Now().Add(-time.Duration(9-i)*time.Hour))
		}
		for i := range 40 { // newer, and outside of episodes
			at := time.Now().Add(-time.Duration(i+1) * time.Minute)
			do(p, p.m.Learn, &robotmem.LearnRequest{Insight: fmt.Sprintf("belt 3 jammed at %d parts", i), Collection: shop, ObservedAt: &at, Context: robotmem.Object{
				"robot": map[string]any{"id": "arm-9"}, "task": map[string]any{"name": "feed", "success": false},
			}})
		}
	}))
	p := w.open(t, n, wide)
	p.goTo("/")
	p.see(".latest .row-title", "")
	lines := eval[[]string](p, `[...document.querySelectorAll(".latest [data-incident]")].map((e) => e.innerText.replace(/\s+/g, " "))`)
	if len(lines) != 3 || !strings.Contains(lines[0], "arm-3") || !strings.Contains(lines[1], "failed episodes: 2") || !strings.Contains(lines[2], "failed facts: 40") {
		t.Errorf("the lines are %q, want arm-3, arm-7 with 2 episodes, arm-9 with 40 facts", lines)
	}
	if groups := p.text(".latest .incident-groups b", "jammed"); groups != "belt … jammed at … parts" {
		t.Errorf("the group is %q, want it without numbers", groups)
	}
	keep(t, "home-lines", w.picture(p))
	p.click(".latest .chip", "failed facts: 40")
	p.see(".list-total", "40 incidents")
	p.goTo("/incidents")
	p.see("[data-incident]", "")
	if first := eval[string](p, `document.querySelector("[data-incident]").innerText`); strings.Contains(first, "jammed") {
		t.Errorf("the first incident is %q, want a failed episode", first)
	}
}

// weakAdvice: whether the steel plate slips depends on neither parameter. The page says that the evidence is weak,
// and its headline recommends no value that failed in most attempts.
func (w *world) weakAdvice(t *testing.T) {
	var plates admin.IncidentsResponse
	decode(t, w.monthNode, "/api/incidents?words=steel+plate", &plates)
	if len(plates.Incidents) == 0 {
		t.Fatal("no steel plate slipped")
	}
	p := w.open(t, w.monthNode, wide)
	p.goTo("/incident/s/" + plates.Incidents[0].SessionID)
	p.see(".incident-doubt", "may be chance")
	p.see(".incident-answer", "Suggested together: approach_speed")
	keep(t, "month-weak", w.picture(p))
	share := regexp.MustCompile(`(held|slipped) (\d+) of (\d+)`)
	if said := p.text(".incident-verdict", ""); said != "" {
		for _, m := range share.FindAllStringSubmatch(said, -1) {
			n, of := number(t, m[2]), number(t, m[3])
			if 2*n < of {
				t.Errorf("the headline %q counts less than half of the attempts", said)
			}
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// apart: one fact of an episode tells what is attempted, a later one how it went. The page of the slip, the nearest
// success and the advice name the force all the same.
func (w *world) apart(t *testing.T) {
	var slip string
	n := w.serve(t, w.plant(t, func(p *planter) {
		random := rand.New(rand.NewPCG(3, 1))
		for i, force := range []float64{12, 12.5, 13, 12, 12.5, 9, 9.5, 9} {
			held := force > 11
			began := time.Now().Add(-time.Duration(24-i) * time.Hour).Truncate(time.Second).UTC()
			slip = do(p, p.m.StartSession, &robotmem.StartSessionRequest{Collection: shop, StartedAt: &began}).SessionID
			p.save(slip, "tactile", "wrench of the wrist", pickCSV(random, attempt{force: force, held: held}), "text/csv", "/wrist/ft", began,
				robotmem.Object{"kind": "wrench", "units": map[string]any{"force": "N", "torque": "Nm"}, "duration_s": 3})
			p.learnIn(slip, fmt.Sprintf("gripping with %g N, try %d", force, i), began.Add(time.Second), robotmem.Object{
				"params": map[string]any{"grip_force": fmt.Sprintf("%.1f N", force)}, "task": map[string]any{"name": "pick"},
			})
			said, outcome := fmt.Sprintf("it held, try %d", i), "success"
			if !held {
				said, outcome = fmt.Sprintf("it slipped, try %d", i), "failure"
			}
			p.learnIn(slip, said, began.Add(2800*time.Millisecond), robotmem.Object{"task": map[string]any{"name": "pick", "success": held}})
			do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: slip, Outcome: outcome, EndedAt: new(began.Add(3 * time.Second))})
		}
	}))
	p := w.open(t, n, wide)
	p.goTo("/incident/s/" + slip)
	p.see(".incident-verdict .bad", "9 N slipped 2 of 2")
	p.see(".incident-bars li:has(.chip)", "9 N")
	p.see(".incident-differs tr", "params.grip_force")
	row := eval[[]string](p, `[...document.querySelector(".incident-differs tbody tr").children].map((c) => c.textContent)`)
	if row[0] != "params.grip_force" || row[1] != "9.0 N" || forcesIn(t, row[2])[0] < leastHold {
		t.Errorf("the first difference is %q, want 9.0 N and a force that held", row)
	}
	keep(t, "apart", w.picture(p))
}

// repeatsOfObjects: Home counts how often the glass slipped, without the plates that did.
func (w *world) repeatsOfObjects(t *testing.T) {
	slips := 0
	var all admin.IncidentsResponse
	decode(t, w.monthNode, "/api/incidents?limit=100", &all)
	for _, i := range all.Incidents {
		if strings.Contains(i.Said, "wet glass") {
			slips++
		}
	}
	p := w.open(t, w.monthNode, wide)
	p.goTo("/")
	p.see(".latest .incident-groups a", fmt.Sprintf("the wet glass slipped at grip_force=… N\n%d times", slips))
	p.see(".latest .incident-groups a", "the steel plate slipped")
	keep(t, "month-home", w.picture(p))
}
