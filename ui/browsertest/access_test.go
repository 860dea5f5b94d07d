package browsertest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func (w *world) languageAndThemeStay(t *testing.T) {
	p := w.open(t, w.node, wide)
	p.goTo("/")
	p.see("h1", english["home"])
	p.click(".top .button", "中文")
	p.see("h1", chinese["home"])
	p.until(`document.documentElement.lang === "zh-CN"`)
	p.click(".top .button", "主题")
	p.click(".top .button", "主题：浅色")
	p.until(`document.documentElement.dataset.theme === "dark"`)
	p.do(chromedp.Reload())
	p.see("h1", chinese["home"])
	p.until(`document.documentElement.dataset.theme === "dark"`)
	p.click(".top .button", "English")
	p.see("h1", english["home"])
}

// tokens: a node with a token shows nothing before it is given.
func (w *world) tokens(t *testing.T) {
	home := t.TempDir()
	secret, err := w.command(t.Context(), home, "token", "create", "ann").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := w.start(t, home, "web", "--db", filepath.Join(home, "memory.db"), "--addr", "127.0.0.1:0")
	for _, l := range []look{wide, narrow} {
		p := w.open(t, n, l)
		p.expect("401 (Unauthorized)")
		p.goTo("/")
		p.see("h1", "This node asks for a token")
		w.audit(p, l.name+"-login")
		p.click("input[name=token]", "")
		p.key("not-the-token\r")
		p.see(".error", "")
		w.audit(p, l.name+"-login-wrong")
		p.click("input[name=token]", "")
		p.selectAll()
		p.key(strings.TrimSpace(string(secret)) + "\r")
		p.see(".empty", english["empty"])
		p.do(chromedp.Reload())
		p.see(".empty", english["empty"])
		if cookie := eval[string](p, `document.cookie`); cookie != "" {
			t.Errorf("a script can read the cookie %s", cookie)
		}
	}
}

// nodeGone: the page says so, and goes on by itself.
func (w *world) nodeGone(t *testing.T) {
	db := filepath.Join(t.TempDir(), "memory.db")
	n := w.serve(t, db)
	p := w.open(t, n, wide)
	p.goTo("/")
	p.see(".empty", english["empty"])
	n.stop()
	p.see(".live.off", "")
	p.click("nav.side a", "Episodes")
	p.see(".error-title", "The node cannot be reached")
	w.audit(p, "wide-gone")
	w.start(t, t.TempDir(), "web", "--db", db, "--addr", strings.TrimPrefix(n.url, "http://"))
	p.until(`document.querySelector(".live:not(.off)")`)
	p.see(".empty", "No episode yet") // as the page promises
}
