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
