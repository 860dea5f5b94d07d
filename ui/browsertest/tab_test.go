package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// look is how a page is seen.
type look struct {
	name          string
	width, height int64
	dark          bool
	lang          string // as the dashboard keeps it; "" leaves the browser's
}

var (
	wide   = look{name: "wide", width: 1440, height: 900}
	narrow = look{name: "narrow-dark", width: 390, height: 844, dark: true}
)

// tab is a page of a browser without memory of other tabs: storage, cookies and
// cache are its own.
type tab struct {
	t      *testing.T
	ctx    context.Context
	origin string
	node   *node
	look   look

	mu       sync.Mutex
	wrong    []string // what the console, the network and the CSP complained about
	expected []string // parts of complaints that the test provokes
	bytes    map[string]float64
	urls     map[network.RequestID]string
}

// open makes a tab that sees pages of the node. When its test ends, anything
// that went wrong in it fails the test.
func (w *world) open(t *testing.T, n *node, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(w.browser, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx, origin: n.url, node: n, look: l, bytes: map[string]float64{}, urls: map[network.RequestID]string{}}
	t.Cleanup(func() {
		p.report()
		cancel()
	})
	if err := chromedp.Listen(ctx, p.heard); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	p.do(
		call(network.Enable, network.EnableParams{}),
		call(log.Enable, struct{}{}),
		chromedp.EmulateViewport(l.width, l.height),
		call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}}),
	)
	if l.lang != "" {
		p.do(call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: fmt.Sprintf("localStorage.setItem('robotmem.lang', %q)", l.lang),
		}))
	}
	return p
}

// call is a command of the protocol as a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// heard takes what the browser reports of the page.
func (p *tab) heard(ev any) {
	switch ev := ev.(type) {
	case *log.EventEntryAdded:
		if l := ev.Entry.Level; (l == log.EntryLevelError || l == log.EntryLevelWarning) && !strings.Contains(ev.Entry.Text, "GPU stall due to ReadPixels") {
			p.complain("%s: %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if ev.Type != runtime.ConsoleAPICalledTypeError && ev.Type != runtime.ConsoleAPICalledTypeWarning && ev.Type != runtime.ConsoleAPICalledTypeAssert {
			return
		}
		var text []string
		for _, a := range ev.Args {
			text = append(text, string(a.Value)+a.Description)
		}
		p.complain("console.%s: %s", ev.Type, strings.Join(text, " "))
	case *runtime.EventExceptionThrown:
		d := ev.ExceptionDetails
		text := d.Text
		if d.Exception != nil {
			text += " " + d.Exception.Description
		}
		p.complain("exception: %s at %s:%d", text, d.URL, d.LineNumber+1)
	case *network.EventRequestWillBeSent:
		p.mu.Lock()
		p.urls[ev.RequestID] = ev.Request.URL
		p.mu.Unlock()
		if u := ev.Request.URL; !strings.HasPrefix(u, p.origin) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
			p.complain("a request to another origin: %s", u)
		}
	case *network.EventLoadingFinished:
		p.mu.Lock()
		p.bytes[p.urls[ev.RequestID]] += ev.EncodedDataLength
		p.mu.Unlock()
	case *network.EventLoadingFailed:
		if !ev.Canceled {
			p.mu.Lock()
			url := p.urls[ev.RequestID]
			p.mu.Unlock()
			p.complain("%s: %s %s", url, ev.ErrorText, ev.BlockedReason)
		}
	}
}

func (p *tab) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// expect names a part of complaints that the test itself brings about.
func (p *tab) expect(part string) { p.expected = append(p.expected, part) }

// report says what went wrong on the page since it was last asked.
func (p *tab) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	wrong := p.wrong
	p.wrong = nil
next:
	for _, text := range wrong {
		if p.node.gone.Load() && strings.Contains(text, "net::ERR_") {
			continue
		}
		for _, part := range p.expected {
			if strings.Contains(text, part) {
				continue next
			}
		}
		p.t.Errorf("the browser complains: %s", text)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.fatalf("%v", err)
	}
}

// fatalf ends the test with a picture of how the page looked.
func (p *tab) fatalf(format string, args ...any) {
	p.t.Helper()
	p.t.Logf("at %s", p.path())
	if picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot()); err == nil {
		p.t.Logf("the page is in %s", keep(p.t, "failed-"+p.t.Name(), picture))
	}
	p.t.Fatalf(format, args...)
}

// goTo loads an address of the node.
func (p *tab) goTo(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.origin + path))
}

// path is the address now, without the node's.
func (p *tab) path() string {
	at, err := chromedp.Run(p.ctx, chromedp.Location())
	if err != nil {
		return err.Error()
	}
	return strings.TrimPrefix(at, p.origin)
}

// eval runs an expression in the page.
func eval[T any](p *tab, format string, args ...any) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script(format, args), chromedp.EvalAwaitPromise))
	if err != nil {
		p.fatalf("%s: %v", script(format, args), err)
	}
	return v
}

// script fills in %s with JSON, which is also JavaScript.
func script(format string, args []any) string {
	for i, a := range args {
		text, err := json.Marshal(a)
		if err != nil {
			panic(err) // strings and numbers of a test
		}
		args[i] = string(text)
	}
	return fmt.Sprintf(format, args...)
}

// until waits for an expression to be true.
func (p *tab) until(format string, args ...any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	expression := script(format, args)
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")", chromedp.EvalAwaitPromise))
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			p.fatalf("%s has not become true (%v)", expression, err)
		case <-time.After(40 * time.Millisecond):
		}
	}
}

// finder is the script function find(selector, text): the first visible element
// of a selector that holds a text, a whole one before a part.
const finder = `((selector, text) => {
	const seen = [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility() && e.getClientRects().length > 0);
	const said = (e) => [e.innerText?.trim(), e.textContent?.trim(), e.getAttribute("aria-label"), e.getAttribute("placeholder")];
	return seen.find((e) => said(e).includes(text)) ?? seen.find((e) => said(e).some((s) => s?.includes(text)));
})(%s, %s)`

// see waits until an element of the selector that holds the text is there.
func (p *tab) see(selector, text string) {
	p.t.Helper()
	p.until(finder, selector, text)
}

// gone waits until there is none.
func (p *tab) gone(selector, text string) {
	p.t.Helper()
	p.until("!"+finder, selector, text)
}

// text is what an element says, once it is there.
func (p *tab) text(selector, text string) string {
	p.t.Helper()
	p.see(selector, text)
	return eval[string](p, finder+".innerText", selector, text)
}

func (p *tab) count(selector string) int {
	p.t.Helper()
	return eval[int](p, "document.querySelectorAll(%s).length", selector)
}

// click presses the mouse on an element, where a user would: in its middle, and
// only if nothing lies above it.
func (p *tab) click(selector, text string) {
	p.t.Helper()
	p.see(selector, text)
	p.until(`((e) => {
		e.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
		const box = e.getClientRects()[0];
		const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
		const moved = e.wasAt !== box.x + " " + box.y; // by what loads above it
		e.wasAt = box.x + " " + box.y;
		return !moved && !e.disabled && top && (e.contains(top) || top.contains(e) && top.tagName === "LABEL");
	})(`+finder+`)`, selector, text)
	box := eval[[]float64](p, `((e) => { const b = e.getClientRects()[0]; return [b.x + b.width / 2, b.y + b.height / 2]; })(`+finder+`)`, selector, text)
	p.do(chromedp.MouseClickXY(box[0], box[1]))
}

// key presses keys, one after the other. A key that makes a letter says so in
// its first event, so that a page which takes the key also keeps the letter out.
func (p *tab) key(keys string) {
	p.t.Helper()
	for _, r := range keys {
		for _, ev := range kb.Encode(r) {
			if ev.Type == input.DispatchKeyEventTypeChar {
				continue
			}
			if ev.Type != input.DispatchKeyEventTypeKeyUp && kb.Keys[r] != nil && kb.Keys[r].Print {
				ev.Type, ev.Text, ev.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, kb.Keys[r].Text, kb.Keys[r].Unmodified
			}
			p.do(call(input.DispatchKeyEvent, *ev))
		}
	}
}

// selectAll marks the text of the field that has the focus.
func (p *tab) selectAll() {
	p.t.Helper()
	p.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// mouse sends one event of the mouse.
func (p *tab) mouse(kind input.DispatchMouseEventType, x, y float64, pressed bool) {
	p.t.Helper()
	params := input.DispatchMouseEventParams{Type: kind, X: x, Y: y}
	if pressed {
		params.Button, params.Buttons, params.ClickCount = input.MouseButtonLeft, 1, 1
	}
	p.do(call(input.DispatchMouseEvent, params))
}

// drag moves the pressed mouse in steps, as a hand does.
func (p *tab) drag(x1, y1, x2, y2 float64) {
	p.t.Helper()
	p.mouse(input.DispatchMouseEventTypeMouseMoved, x1, y1, false)
	p.mouse(input.DispatchMouseEventTypeMousePressed, x1, y1, true)
	for i := 1.0; i <= 8; i++ {
		p.mouse(input.DispatchMouseEventTypeMouseMoved, x1+(x2-x1)*i/8, y1+(y2-y1)*i/8, true)
	}
	p.mouse(input.DispatchMouseEventTypeMouseReleased, x2, y2, true)
}

// allow grants the page a permission.
func (p *tab) allow(names ...string) {
	p.t.Helper()
	for _, name := range names {
		_, err := chromedp.CallBrowser(p.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			Origin: p.origin, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
		})
		if err != nil {
			p.fatalf("permission %s: %v", name, err)
		}
	}
}

// in runs a part of a test in the same tab under a name of its own.
func (p *tab) in(t *testing.T, name string, f func()) {
	t.Run(name, func(t *testing.T) {
		outer := p.t
		p.t = t
		defer func() {
			p.report()
			p.t = outer
		}()
		f()
	})
}

// watchFor has pages keep when an element first stood on them, as
// window.contentAt in milliseconds since the navigation began.
func (p *tab) watchFor(selector string) {
	p.t.Helper()
	p.do(call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script(`
		new MutationObserver((_, o) => {
			if (!document.querySelector(%s)) return;
			window.contentAt = performance.now();
			o.disconnect();
		}).observe(document, { childList: true, subtree: true })`, []any{selector})}))
}

// wire is how many bytes each file of the dashboard took on its way, as
// compressed, with its head.
func (p *tab) wire() map[string]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]float64{}
	for url, n := range p.bytes {
		if path := strings.TrimPrefix(url, p.origin); !strings.HasPrefix(path, "/api/") {
			out[path] += n
		}
	}
	return out
}
