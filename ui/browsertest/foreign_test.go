package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// foreignPage is a page of another site. window.attack sends what a page may send
// to an address that it cannot read, and resolves when all of it has ended or holds a
// connection.
const foreignPage = `<!doctype html><title>elsewhere</title>
<a id="dashboard" href="NODE/">the dashboard</a> <a id="search" href="NODE/api/search?q=charger">a search</a>
<script>
const node = "NODE", ask = node + "/api/search?q=charger+";
const within = (ms, p) => Promise.race([p, new Promise((done) => setTimeout(done, ms, "open"))]);
const element = (name, attributes) => new Promise((done) => {
	const e = Object.assign(document.createElement(name), attributes);
	e.onload = e.onerror = e.onloadeddata = () => done("ended");
	document.body.append(e);
});
const form = (method, action, type) => {
	const frame = Object.assign(document.createElement("iframe"), { name: "frame" + Math.random() });
	const f = Object.assign(document.createElement("form"), { method, action, target: frame.name, enctype: type });
	f.append(Object.assign(document.createElement("input"), { name: "q", value: "charger" }));
	document.body.append(frame, f);
	return new Promise((done) => { frame.onload = () => done("ended"); f.submit(); });
};
const events = () => new Promise((done) => {
	const s = new EventSource(node + "/api/events", { withCredentials: true });
	s.onopen = () => done("open");
	s.onerror = () => { s.close(); done("refused"); };
});
const held = () => new Promise((done) => {
	fetch(node + "/api/events", { mode: "no-cors" }).then(async (r) => { window.kept = [...(window.kept ?? []), r]; done("open"); }, () => done("refused"));
});
const message = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"charger"}}}';
window.attack = async () => (await Promise.all([
	fetch(ask + "fetch", { mode: "no-cors", credentials: "include" }),
	fetch(ask + "cors", { credentials: "include" }),
	fetch(ask + "header", { headers: { "X-Mine": "1" } }),
	fetch(node + "/api/recall?query=charger", { method: "POST", mode: "no-cors" }),
	fetch(node + "/mcp", { method: "POST", mode: "no-cors", body: message }),
	fetch(node + "/mcp", { mode: "no-cors" }),
	fetch(node + "/metrics", { mode: "no-cors" }),
	fetch(node + "/api/tokens", { method: "POST", mode: "no-cors", body: '{"name":"mine"}' }),
	navigator.sendBeacon(node + "/api/learn?insight=planted", ""),
	element("img", { src: ask + "img" }),
	element("script", { src: ask + "script" }),
	element("link", { rel: "stylesheet", href: ask + "style" }),
	element("iframe", { src: ask + "frame" }),
	element("object", { data: ask + "object" }),
	element("video", { src: ask + "video" }),
	element("audio", { src: ask + "audio" }),
	form("GET", node + "/api/search", ""),
	form("POST", node + "/api/recall?query=charger", "text/plain"),
	new Promise((done) => { const w = new WebSocket(node.replace("http", "ws") + "/api/events"); w.onopen = w.onerror = w.onclose = done; }),
	events(), held(),
].map((p) => within(5000, Promise.resolve(p).catch(() => "refused"))))).length;
</script>`

// foreignOrigins: a page of another site moves no counter, stores nothing and holds no
// stream. A link on it opens the dashboard and nothing else.
func (w *world) foreignOrigins(t *testing.T) {
	n := w.serve(t, filepath.Join(t.TempDir(), "memory.db"))
	post(t, n, "/api/learn", `{"insight":"the charger is behind the door"}`)
	// A counted search shows that the counter moves.
	if res, body := n.get(t, "/api/search?q=charger"); res.StatusCode != 200 || !strings.Contains(string(body), "behind the door") {
		t.Fatalf("%s %s", res.Status, body)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.ReplaceAll(foreignPage, "NODE", n.url))
	}))
	t.Cleanup(elsewhere.Close)
	_, port, err := net.SplitHostPort(elsewhere.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, origin := range map[string]string{
		"another port of the host": elsewhere.URL, "another host": "http://localhost:" + port,
	} {
		p := w.open(t, &node{url: origin}, wide)
		p.expect("") // every request of the page is foreign
		p.goTo("/")
		if got := eval[int](p, "window.attack()"); got != 21 {
			t.Errorf("%s: %d attempts, want 21", name, got)
		}
		var stats admin.StatsResponse
		decode(t, n, "/api/stats", &stats)
		if stats.Recalls != 1 || stats.Total != 1 {
			t.Errorf("%s: %d recalls and %d memories, want 1 and 1", name, stats.Recalls, stats.Total)
		}
		if got := streams(t, n); got != 64 {
			t.Errorf("%s: %d streams are left, want 64", name, got)
		}
		p.click("#search", "")
		p.until(`document.body.innerText.includes("another origin")`)
		p.goTo("/")
		p.click("#dashboard", "")
		p.see("h1", english["home"])
		p.do(chromedp.Reload())
		p.see("h1", english["home"])
	}
	var m robotmem.Memory
	for began := time.Now(); m.ReturnCount == 0 && time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		decode(t, n, "/api/memory/1", &m) // the node stores the counts every few seconds
	}
	if m.ReturnCount != 1 {
		t.Errorf("the memory was returned %d times, want 1", m.ReturnCount)
	}
}

// streams opens streams of events until one is refused, and ends them.
func streams(t *testing.T, n *node) (opened int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ; opened < 1000; opened++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url+"/api/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return opened
		}
		if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return opened
}

func decode(t *testing.T, n *node, path string, into any) {
	t.Helper()
	res, body := n.get(t, path)
	if err := json.Unmarshal(body, into); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", path, res.Status, body)
	}
}

func post(t *testing.T, n *node, path, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, res.Status)
	}
}
