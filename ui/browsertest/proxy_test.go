package browsertest

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// behindProxy: below a path of a reverse proxy every link, request, file and the stream of changes
// stay below it. The proxy serves nothing else, so that whatever leaves the path is a complaint.
func (w *world) behindProxy(t *testing.T) {
	db := w.plant(t, func(p *planter) {
		p.learn("grip_force=12.5 N holds wet glass", robotmem.Object{"spatial": map[string]any{"position": []any{1.2, 0.4, 0.8}}}, nil)
		session := p.begin()
		p.save(session, "tactile", "force at the wrist", wrenchCSV(1), "text/csv", "/wrist/ft", time.Now(), robotmem.Object{"kind": "wrench"})
		p.save(session, "spatial", "the shelf as a coloured cloud", cloudPCD(), "application/vnd.pcd", "/cloud", time.Now(), nil)
		p.fail(session, "the wet glass slipped", time.Now())
	})
	n := w.serve(t, db, "--base-path", "/robotmem/")
	target, err := url.Parse(n.url)
	if err != nil {
		t.Fatal(err)
	}
	for name, strip := range map[string]bool{"a proxy that keeps the path": false, "a proxy that removes it": true} {
		t.Run(name, func(t *testing.T) {
			proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(target)
				r.Out.Host = r.In.Host
				path, below := strings.CutPrefix(r.In.URL.Path, "/robotmem/")
				switch {
				case !below:
					r.Out.URL.Path = "/api/nothing-but-robotmem" // 404
				case strip:
					r.Out.URL.Path = "/" + path
				}
			}})
			t.Cleanup(proxy.Close)
			p := w.open(t, &node{url: proxy.URL}, wide)
			p.goTo("/robotmem/")
			p.see(".latest .row-title", "the wet glass slipped")
			p.see(".live", "Live")
			p.click(".side a", "Search")
			p.until(`location.pathname === "/robotmem/search"`)
			p.see(".row-title", "12.5 N holds")
			if href := eval[string](p, `document.querySelector("[data-found] .row-title").getAttribute("href")`); !strings.HasPrefix(href, "/robotmem/memory/") {
				t.Errorf("a link goes to %s", href)
			}
			p.click("[data-found] .row-title", "12.5 N holds")
			p.see("h1", "12.5 N holds")
			p.until(`location.pathname.startsWith("/robotmem/memory/")`)
			p.until(`(history.back(), true)`)
			p.until(`location.pathname === "/robotmem/search"`)
			p.key("ge")
			p.click(".sessions .row-title", "polish")
			p.until(inked(".trace-panel canvas"))
			p.goTo("/robotmem/perceptions")
			p.click(".gallery-title", "the shelf")
			p.see(".space-scale", "")
			p.goTo("/robotmem/search")
			p.see("h2", english["newest"])
			p.until(`document.querySelector(".live:not(.off)")`)
			w.run(t, "learn", "--db", db, "a change that the stream tells of, behind "+name)
			p.see(titles, "behind "+name)
		})
	}
}
