package site

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// A robot sends its token and its facts to the address of its site only, and takes nothing for an
// acknowledgement that is none.
func TestWhatIsNoSiteGetsAndAcknowledgesNothing(t *testing.T) {
	var stolen atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stolen.Add(1)
		_, _ = w.Write([]byte(`{"upto":9,"memories":{}}`))
	}))
	t.Cleanup(other.Close)
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		says   string
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "redirects to " + other.URL},
		"an empty object": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) }, "has no upto"},
		"a page":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`<html>`)) }, "no JSON object"},
		"another number": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"protocol":2,"upto":9999,"memories":{}}`))
		}, "another push"},
	} {
		t.Run(name, func(t *testing.T) {
			site := httptest.NewServer(http.HandlerFunc(tt.answer))
			t.Cleanup(site.Close)
			r := newRobot(t, &testSite{url: site.URL}, "arm", func(p *fleet.Peer) { p.Token = "rmt_secret" }, local.Options{})
			r.learns(t, "a fact", nil)
			if err := r.Push(t.Context()); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("push: %v, want %q", err, tt.says)
			}
			if s, err := r.Status(t.Context()); err != nil || s.Waiting == 0 || s.Sent != 0 {
				t.Errorf("%+v %v: the fact counts as sent", s, err)
			}
		})
	}
	if n := stolen.Load(); n != 0 {
		t.Errorf("another origin was asked %d times", n)
	}
}

// A node that keeps its memory in a file has no routes of the protocol. The error says so, and what a site is.
func TestANodeOfAFileIsNoSite(t *testing.T) {
	n, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	srv := httptest.NewServer(web.NewServer(n, web.Options{}).Handler)
	t.Cleanup(srv.Close)
	r := newRobot(t, &testSite{url: srv.URL}, "arm", nil, local.Options{})
	r.learns(t, "a fact", nil)
	for name, call := range map[string]func() error{
		"join": func() error { return r.Greet(t.Context(), false) },
		"push": func() error { return r.Push(t.Context()) },
	} {
		if err := call(); !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "keeps its memory in a file") || !strings.Contains(err.Error(), "--db postgres://") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
