package browsertest

import (
	"path/filepath"
	"strings"
	"testing"
)

// manageTokens: the first token closes the node and keeps this page open. A second one is
// made and revoked, and with its own token the page itself is shut out.
func (w *world) manageTokens(t *testing.T) {
	n := w.serve(t, filepath.Join(t.TempDir(), "memory.db"))
	p := w.open(t, n, wide)
	p.allow("clipboard-read", "clipboard-write")
	p.expect("401 (Unauthorized)")
	p.expect("ERR_") // the stream that the first token ends
	p.goTo("/doctor")
	p.see("section .dim", "There is no token")
	elsewhere := w.open(t, n, wide) // open before there is a token, and without one
	elsewhere.expect("401 (Unauthorized)")
	elsewhere.expect("ERR_")
	elsewhere.goTo("/search")
	elsewhere.see(".live:not(.off)", "")
	elsewhere.until(`(window.offline = 0, new MutationObserver(() => { if (document.querySelector(".live.off")) window.offline++; }).observe(document, { subtree: true, childList: true, attributes: true }), true)`)
	first := w.createToken(p, "arm-7", "It is the first token")
	p.see(".tokens th", "arm-7 (yours)")
	if eval[string](p, `navigator.clipboard.readText()`) != first || !strings.HasPrefix(first, "rmt_") {
		t.Errorf("the clipboard does not have the secret")
	}
	for secret, want := range map[string]int{"": 401, first: 200} {
		if res, body := n.get(t, "/api/stats", "Authorization", "Bearer "+secret); res.StatusCode != want {
			t.Errorf("after the first token: %s %s", res.Status, body)
		}
	}
	p.see(".live:not(.off)", "")

	// A page that was open meanwhile is asked for a token, and never says that the node is gone.
	elsewhere.until(`(history.pushState(null, "", "/incidents"), dispatchEvent(new PopStateEvent("popstate")), true)`)
	elsewhere.see("main", "token")
	if offline := eval[int](elsewhere, `window.offline ?? 0`); offline > 0 {
		t.Errorf("another page said %d times that the node does not answer", offline)
	}
	keep(t, "token-elsewhere", elsewhere.shot())
	second := w.createToken(p, "viewer", "")
	p.see(".tokens td", "never")
	if res, _ := n.get(t, "/api/stats", "Authorization", "Bearer "+second); res.StatusCode != 200 {
		t.Errorf("with the second token: %s", res.Status)
	}
	for _, l := range []look{wide, narrow, {name: "wide-dark", width: 1440, height: 900, dark: true}, {name: "narrow", width: 390, height: 844}, {name: "narrow-zh", width: 390, height: 844, lang: "zh"}} {
		v := w.open(t, n, l)
		v.expect("401 (Unauthorized)")
		v.goTo("/")
		v.click("input[name=token]", "")
		v.key(first + "\r")
		v.until(`document.querySelector("nav.side")`)
		v.goTo("/doctor")
		v.see(".tokens th", "viewer")
		w.audit(v, l.name+"-tokens")
		v.click(".tokens .button", "viewer")
		v.see("dialog", "viewer")
		w.audit(v, l.name+"-tokens-revoke")
	}
	p.click(".tokens .button", "Revoke viewer")
	p.click("dialog footer .button", "Revoke")
	p.gone(".tokens th", "viewer")
	if res, _ := n.get(t, "/api/stats", "Authorization", "Bearer "+second); res.StatusCode != 401 {
		t.Errorf("with the revoked token: %s", res.Status)
	}
	p.click(".tokens .button", "Revoke arm-7")
	p.see("dialog p", "It is the last one")
	p.click("dialog footer .button", "Revoke")
	p.gone(".tokens th", "arm-7")
	for secret, want := range map[string]int{"": 200, "Bearer " + first: 401} { // it is on a loopback address
		if res, body := n.get(t, "/api/stats", "Authorization", secret); res.StatusCode != want {
			t.Errorf("after the last token, with %q: %s %s", secret, res.Status, body)
		}
	}
}

// createToken makes a token and returns its secret.
func (w *world) createToken(p *tab, name, note string) (secret string) {
	p.t.Helper()
	p.click("section .button", "Create a token")
	p.see("dialog p", note)
	p.click("dialog input", "")
	p.key(name)
	w.audit(p, p.look.name+"-token-create")
	p.click("dialog footer .button", "Create a token")
	p.see("dialog h2", "The secret of "+name)
	w.audit(p, p.look.name+"-token-secret")
	p.click("dialog footer .button", "Copy")
	p.see(".toast", "Copied")
	secret = eval[string](p, `document.querySelector("dialog input").value`)
	p.click("dialog footer .button", "Done")
	p.gone("dialog", "")
	return secret
}
