package browsertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const titles = "[data-found] .row-title"

// ids are the memories on the page, in their order.
func (p *tab) ids() []int64 {
	p.t.Helper()
	return eval[[]int64](p, `[...document.querySelectorAll("[data-found] [data-memory]")].map((e) => Number(e.dataset.memory))`)
}

func (w *world) searchAsOneTypes(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/")
	p.see("h1", english["home"])
	p.key("/")
	p.until(`document.activeElement.matches("[data-search]")`)
	p.key("wet" + kb.Enter)
	p.see(titles+" mark", "wet")
	if got := p.path(); got != "/search?q=wet" {
		t.Errorf("the address is %s", got)
	}
	p.until(`document.activeElement.matches("[data-search]") && document.activeElement.value === "wet"`)

	p.key(kb.End + " plat")
	p.until(`location.search === "?q=wet+plat"`)
	p.see(titles+" mark", "plate") // a word that is begun finds
	p.see(".stages summary", "")
	p.see(".why-list", "words #1")

	p.key(kb.ArrowDown)
	p.until(`document.activeElement === document.querySelectorAll(%s)[0]`, titles)
	p.key("j")
	p.until(`document.activeElement === document.querySelectorAll(%s)[1]`, titles)
	p.key("jk")
	p.until(`document.activeElement === document.querySelectorAll(%s)[1]`, titles)
	second := p.ids()[1]
	p.key(kb.Enter)
	p.until(`location.pathname === "/memory/" + %s`, second)
	p.see("h2", english["history"])

	p.key("gs")
	p.until(`location.pathname === "/search"`)
}

// choose takes an option of a select, by its label and the option's beginning.
func (p *tab) choose(label, option string) {
	p.t.Helper()
	const selects = `[...document.querySelectorAll("label.field")].find((l) => l.querySelector("select") && l.firstElementChild.textContent.trim() === %s)?.querySelector("select")`
	p.until(`[...(`+selects+`?.options ?? [])].some((o) => o.text.startsWith(%s))`, label, option)
	p.until(`((s) => {
		s.focus();
		s.value = [...s.options].find((o) => o.text.startsWith(%s)).value;
		s.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})(`+selects+`)`, option, label)
}

func (w *world) filtersByClicking(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/")
	p.click("nav.side a", "Search")
	p.see("h2", english["newest"])
	every := func(what string, expression string) {
		t.Helper()
		p.until(`((rows) => rows.length > 0 && rows.every((r) => ` + expression + `))([...document.querySelectorAll("[data-found] .row")])`)
		t.Logf("%s: %d rows", what, len(p.ids()))
	}
	p.choose("Collection", kitchen)
	every("a collection", `r.querySelector(".row-facts").textContent.includes("kitchen")`)
	p.click(".segments label", "failed")
	every("an outcome", `r.querySelector(".mark.bad")`)
	p.choose("Path of the context", "task.name")
	p.click(".values .chip", "reach")
	every("a value", `r.textContent.includes("reached shelf position")`)
	p.see(".given-chip", "task.name = reach")

	p.choose("Path of the context", "params.slip")
	p.click(".between input[name=least]", "")
	p.key("3 mm")
	p.click(".between .button", "Add")
	p.see(".given-chip", "params.slip ≥ 3 mm")
	every("a range", `/slip=[3-9]/.test(r.textContent)`)
	narrowed := p.ids()

	p.click(titles, "reached shelf")
	p.see("h2", english["history"])
	p.until(`(history.back(), true)`)
	p.see(".given-chip", "params.slip ≥ 3 mm")
	p.see(".given-chip", "failed")
	p.see(titles, "reached shelf")
	if got := p.ids(); !slices.Equal(got, narrowed) {
		t.Errorf("after going back the page shows %v, before it showed %v", got, narrowed)
	}

	p.click(".given-chip", "Remove params.slip ≥ 3 mm")
	p.gone(".given-chip", "params.slip")
	p.until(`document.querySelectorAll("[data-found] .row").length > %s`, len(narrowed))
	p.click(".given .button", "Clear all")
	p.gone(".given-chip", "")
	p.see("h2", english["newest"])
}

// copiesThatWork runs what the page says the same question is elsewhere.
func (w *world) copiesThatWork(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.allow("clipboard-read", "clipboard-write")
	p.goTo(`/search?q=reached shelf&collection=kitchen&outcome=failed&after=2020-01-01&place={"field":"spatial.position","target":[1,1,0.8],"radius":1.5,"frame":"map"}`)
	p.see(titles, "reached")
	shown := p.ids()
	copied := func(how string) string {
		t.Helper()
		p.until(`navigator.clipboard.writeText("").then(() => true)`)
		p.click(".copy-as button", how)
		p.until(`navigator.clipboard.readText().then((s) => s.length > 0)`)
		return eval[string](p, `navigator.clipboard.readText()`)
	}

	var mcp struct {
		Method string `json:"method"`
		Params struct {
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal([]byte(copied("MCP")), &mcp); err != nil || mcp.Method != "tools/call" || mcp.Params.Name != "recall" || mcp.Params.Arguments["query"] != "reached shelf" {
		t.Errorf("as MCP: %+v, %v", mcp, err)
	}

	out, err := exec.CommandContext(t.Context(), "sh", "-c", copied("curl")).Output()
	if err != nil {
		t.Fatalf("as curl: %v", err)
	}
	var answer struct {
		Memories []struct {
			ID int64 `json:"memory_id"`
		} `json:"memories"`
	}
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Memories) == 0 {
		t.Fatalf("as curl: %v: %s", err, out)
	}
	for i, m := range answer.Memories {
		if m.ID != shown[i] {
			t.Errorf("curl answers %v, the page shows %v", answer.Memories, shown)
			break
		}
	}

	snippet := "package main\n\nimport (\n\t\"context\"\n\t\"time\"\n\n\t\"github.com/robotmem/robotmem-go/robotmem\"\n)\n\nvar _ = time.Now\n\nfunc ask(ctx context.Context, m robotmem.Service) (*robotmem.RecallResponse, error) {\n" +
		copied("Go") + "\n\treturn res, err\n}\n\nfunc main() { _ = ask }\n"
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(snippet), 0o644); err != nil {
		t.Fatal(err)
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", file)
	vet.Dir = w.root
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("as Go: %v\n%s\n%s", err, out, snippet)
	}
}

// learn has another process teach the node's file, and returns the memory's id.
func (w *world) learn(t *testing.T, insight string, more ...string) int64 {
	t.Helper()
	out := w.run(t, append([]string{"learn", "--db", w.seed.db, "--collection", kitchen, "--json", insight}, more...)...)
	var res struct {
		ID int64 `json:"memory_id"`
	}
	if err := json.Unmarshal([]byte(out), &res); err != nil || res.ID == 0 {
		t.Fatalf("learn answers %s, %v", strings.TrimSpace(out), err)
	}
	return res.ID
}

func memoryPath(id int64) string { return "/memory/" + strconv.FormatInt(id, 10) }

// anotherProcessIsSeen: what the command line writes appears on open pages.
func (w *world) anotherProcessIsSeen(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/search")
	p.see("h2", english["newest"])
	p.until(`(window.notReloaded = true)`)
	p.until(`document.querySelector(".live:not(.off)")`)
	id := w.learn(t, "the lamp over bench four flickers at 50 Hz")
	p.see(titles, "bench four")
	w.run(t, "forget", "--db", w.seed.db, strconv.FormatInt(id, 10), "--reason", "the lamp was mended")
	p.gone(titles, "bench four")
	if !eval[bool](p, `!!window.notReloaded`) {
		t.Error("the page was loaded anew")
	}
}
