package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// memory asks the node for a memory, past the page.
func (w *world) memory(t *testing.T, id int64) (m struct {
	Content string `json:"content"`
	Status  string `json:"status"`
	Version int    `json:"version"`
	Pinned  bool   `json:"pinned"`
}) {
	t.Helper()
	res, body := w.node.get(t, "/api"+memoryPath(id))
	if err := json.Unmarshal(body, &m); err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %v: %s", res.Status, err, body)
	}
	return m
}

func (w *world) forgetAndUndo(t *testing.T) {
	id := w.learn(t, "the conveyor stops when the red lamp is on")
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(id))
	p.click(".memory-do .button", "Forget")
	p.see("dialog", "Forget this memory?")
	p.until(`document.activeElement.matches("dialog input")`)
	p.click("dialog footer .button", "Forget") // no reason yet: the form keeps it
	p.see("dialog", "Forget this memory?")
	p.click("dialog input", "")
	p.key("the lamp is amber")
	w.audit(p, "wide-forget-dialog")
	p.click("dialog footer .button", "Forget")
	p.see(".toast", "Forgotten")
	p.see(".notice", english["forgotten"])
	p.see(".reason", "the lamp is amber")
	if m := w.memory(t, id); m.Status != "invalidated" {
		t.Errorf("the memory is %s", m.Status)
	}
	w.audit(p, "wide-forget-toast")
	p.click(".toast .button", "Undo")
	p.see(".memory-do .button", "Forget")
	p.gone(".notice", "")
	if m := w.memory(t, id); m.Status != "active" {
		t.Errorf("after undo the memory is %s", m.Status)
	}
}

// hiddenCharacters are shown as code points, and the form that changes a text has it as it is.
func (w *world) hiddenCharacters(t *testing.T) {
	const text = "the crate\u202e etarc eht \U000E0041\u200bis red 👩\u200d🔧"
	id := w.learn(t, text)
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(id))
	p.see("h1", `the crate\u{202e} etarc eht \u{e0041}\u{200b}is red 👩`+"\u200d🔧")
	p.click(".memory-do .button", "Edit")
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	p.until(fmt.Sprintf(`document.querySelector("dialog textarea").value === %s`, data))
}

func (w *world) editAndUndo(t *testing.T) {
	id := w.learn(t, "the drawer needs 14 N to open", "--context", `{"params":{"pull":"14 N"}}`)
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(id))
	p.click(".memory-do .button", "Edit")
	p.click("dialog textarea", "")
	p.selectAll()
	p.key("the drawer needs 17 N to open")
	w.audit(p, "wide-edit-dialog")
	p.click("dialog footer .button", "Save")
	p.see(".toast", "Saved as version 2")
	p.see(".diff del", "14")
	p.see(".diff ins", "17")
	p.see("h1", "17 N")
	p.click(".toast .button", "Undo")
	p.see("h1", "14 N")
	if m := w.memory(t, id); m.Content != "the drawer needs 14 N to open" || m.Version != 3 {
		t.Errorf("after undo the memory is %+v", m)
	}

	p.key("e") // the same by its key; what is no JSON is refused with a reason
	p.click("dialog textarea.mono", "")
	p.key("{")
	p.click("dialog footer .button", "Save")
	p.see("dialog .error", "not a JSON object")
	p.key(kb.Escape)
	p.until(`!document.querySelector("dialog")`)
}

func (w *world) pin(t *testing.T) {
	id := w.learn(t, "the second shelf of the rack holds bolts")
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(id))
	p.click(".memory-do .button", "Pin")
	p.see(".memory-do [aria-pressed=true]", "")
	p.see(".toast", "Pinned")
	if !w.memory(t, id).Pinned {
		t.Error("the node has not pinned it")
	}
	p.click(".toast .button", "Undo")
	p.gone(".memory-do [aria-pressed=true]", "")
	if w.memory(t, id).Pinned {
		t.Error("the node has it pinned still")
	}
}

func (w *world) restore(t *testing.T) {
	id := w.learn(t, "the fridge door seals badly on the left")
	w.run(t, "forget", "--db", w.seed.db, fmt.Sprint(id), "--reason", "it was the freezer")
	p := w.open(t, w.node, narrow)
	p.goTo(memoryPath(id))
	p.see(".notice", english["forgotten"])
	p.click(".memory-do .button", "Restore")
	p.see(".memory-do .button", "Forget")
	if m := w.memory(t, id); m.Status != "active" {
		t.Errorf("the memory is %s", m.Status)
	}
	p.see(".versions", "it was the freezer")
}

func (w *world) conflictsBothWays(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo(memoryPath(w.seed.conflict[0]))
	p.click(".notice.warn a", fmt.Sprintf("[%d]", w.seed.conflict[1]))
	p.until(`location.pathname === %s`, memoryPath(w.seed.conflict[1]))
	p.click(".notice.warn a", fmt.Sprintf("[%d]", w.seed.conflict[0]))
	p.until(`location.pathname === %s`, memoryPath(w.seed.conflict[0]))

	p.goTo(memoryPath(w.seed.merged))
	p.see(".notice", english["merged"])
	p.click(".notice a", "[")
	p.see(".memory-do .button", "Forget")
}

// byKeyboardAlone goes from the search to a memory and its window without a
// mouse, and sees at each step where it is.
func (w *world) byKeyboardAlone(t *testing.T) {
	w.learn(t, "the ladle hangs left of the sink") // the only hit: other tests change the order of more
	p := w.open(t, w.node, wide)
	p.goTo("/search?q=ladle")
	p.see(titles, "ladle")
	p.until(`(document.activeElement.blur(), true)`)
	var way []string
	for range 15 {
		p.key(kb.Tab)
		step := eval[struct {
			Name    string  `json:"name"`
			Outline float64 `json:"outline"`
			Hidden  bool    `json:"hidden"`
		}](p, `((e) => {
			const frame = e.matches("input") ? e.closest(".find, .segments label, .select") ?? e : e;
			const style = getComputedStyle(frame);
			const box = e.getBoundingClientRect();
			return {
				name: e.getAttribute("aria-label") ?? e.innerText.trim().slice(0, 24),
				outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
				hidden: box.width === 0 || box.bottom < 0 || box.right < 0,
			};
		})(document.activeElement)`)
		if step.Outline == 0 || step.Hidden {
			t.Errorf("%q has the focus, and nothing shows it: %+v", step.Name, step)
		}
		way = append(way, step.Name)
	}
	order := strings.Join(way, " > ")
	t.Logf("Tab goes %s", order)
	last := -1
	for _, name := range []string{"Skip to the content", "robotmem", "Keys", "Home", "Search", "Doctor"} {
		at := strings.Index(order, name)
		if at < last {
			t.Errorf("%q comes out of order in %s", name, order)
		}
		last = max(at, last)
	}

	p.key(kb.Tab) // out of the field, where letters are letters
	p.key("j")
	p.until(`document.activeElement === document.querySelectorAll(%s)[0]`, titles)
	p.key(kb.Enter)
	p.see("h2", english["history"])
	for tries := 0; !eval[bool](p, `document.activeElement.matches("button") && document.activeElement.textContent.includes("Forget")`); tries++ {
		if tries == 8 { // the focus has gone on into the memory, past the frame
			p.fatalf("Tab does not come to Forget")
		}
		p.key(kb.Tab)
	}
	p.key(kb.Enter)
	p.until(`document.activeElement.matches("dialog input")`)
	p.key(kb.Escape)
	p.until(`!document.querySelector("dialog")`)
	p.until(`document.activeElement.matches("button") && document.activeElement.textContent.includes("Forget")`)
	p.key("x")
	p.see("dialog", "Forget this memory?")
	p.key(kb.Escape)
	p.until(`!document.querySelector("dialog")`)
	p.key("?")
	p.see("dialog", "Keys")
	p.key(kb.Escape)
	p.until(`!document.querySelector("dialog")`)
}
