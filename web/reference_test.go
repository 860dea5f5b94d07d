package web_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

func TestReferencePage(t *testing.T) {
	h := web.New(&stub{}, web.Options{Version: "v1.2.3"})
	res := do(h, "GET", "/api/reference", "")
	page := bodyOf(t, res)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(page, "v1.2.3") {
		t.Fatalf("%s %v", res.Status, res.Header)
	}
	policy := res.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "style-src 'self'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for _, op := range robotmem.Ops() {
		for _, want := range []string{`<article id="` + op.Name + `">`, `href="#` + op.Name + `"`, "<code>" + op.Path() + "</code>", html.EscapeString(op.Title)} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %s", op.Name, want)
			}
		}
		for _, field := range op.Fields() {
			if !strings.Contains(page, "<code>"+field+"</code>") {
				t.Errorf("%s: field %s is not there", op.Name, field)
			}
		}
	}
	for _, want := range []string{
		"1 to 100", "<code>5</code>", "application/problem+json", "<code>409</code>", // ranges, defaults, errors
		"curl http://127.0.0.1:7878/api/recall \\\n  --json &#39;{\n  &#34;query&#34;", "-F file=@force.csv",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// The page leads nowhere that is not there, and works without a script and
// without a network.
func TestReferenceIsWholeInItself(t *testing.T) {
	h := web.New(&stub{}, web.Options{})
	page := bodyOf(t, do(h, "GET", "/api/reference", ""))
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("two places are called %s", m[1])
		}
	}
	links := regexp.MustCompile(` (?:href|src)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 2*len(robotmem.Ops()) {
		t.Errorf("%d links: the test looks in the wrong place", len(links))
	}
	for _, m := range links {
		target := m[1]
		if id, here := strings.CutPrefix(target, "#"); here {
			if ids[id] == 0 {
				t.Errorf("%s leads nowhere", target)
			}
		} else if res := do(h, "GET", target, ""); res.StatusCode != 200 {
			t.Errorf("%s: %s", target, res.Status)
		}
	}
	for _, banned := range []string{"<script", " style=", " onclick", "//fonts"} {
		if strings.Contains(page, banned) {
			t.Errorf("the page has %s", banned)
		}
	}
	css := do(h, "GET", "/api/reference.css", "")
	if body := bodyOf(t, css); css.Header.Get("Content-Type") != "text/css; charset=utf-8" || strings.Contains(body, "url(") || !strings.Contains(body, "prefers-color-scheme: dark") {
		t.Errorf("style sheet: %v", css.Header)
	}
}
