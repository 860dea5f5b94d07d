package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/robotmem/robotmem-go/web"
)

const fromBrowser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestDashboardIsServed(t *testing.T) {
	h := web.NewServer(&stub{}, web.Options{UI: dashboardFiles}).Handler
	page, app := string(dashboardFiles["index.html"].Data), string(dashboardFiles["app.js"].Data)
	for _, tt := range []struct {
		name, method, path, accept string
		status                     int
		mediaType, body            string // body "" is any
	}{
		{"a browser at the root", "GET", "/", fromBrowser, 200, "text/html; charset=utf-8", page},
		{"a program at the root", "GET", "/", "Accept: */*", 200, "application/json", ""},
		{"JSON at the root", "GET", "/", "Accept: application/json", 200, "application/json", ""},
		{"a path of the app", "GET", "/search", fromBrowser, 200, "text/html; charset=utf-8", page},
		{"a deep path of the app", "GET", "/memory/7", fromBrowser, 200, "text/html; charset=utf-8", page},
		{"the app's page for logging in", "GET", "/login", fromBrowser, 200, "text/html; charset=utf-8", page},
		{"a path of the app for a program", "GET", "/search", "Accept: */*", 404, "application/problem+json", ""},
		{"a file", "GET", "/app.js", "Accept: */*", 200, "text/javascript; charset=utf-8", app},
		{"a file's head", "HEAD", "/app.js", "Accept: */*", 200, "text/javascript; charset=utf-8", ""},
		{"a missing file", "GET", "/nope.js", fromBrowser, 404, "application/problem+json", ""},
		{"a way out", "GET", "/../go.mod", fromBrowser, 404, "application/problem+json", ""},
		{"an unknown route", "GET", "/api/nope", fromBrowser, 404, "application/problem+json", ""},
		{"a route", "GET", "/healthz", fromBrowser, 200, "application/json", ""},
		{"MCP", "GET", "/mcp", fromBrowser, 404, "application/problem+json", ""},
		{"a change of a file", "POST", "/app.js", "Accept: */*", 404, "application/problem+json", ""},
	} {
		res := do(h, tt.method, tt.path, "", tt.accept)
		body := bodyOf(t, res)
		if res.StatusCode != tt.status || res.Header.Get("Content-Type") != tt.mediaType || tt.body != "" && body != tt.body {
			t.Errorf("%s: %s, %s: %.100s", tt.name, res.Status, res.Header.Get("Content-Type"), body)
		}
		if tt.method == "HEAD" && body != "" {
			t.Errorf("%s: %q", tt.name, body)
		}
	}
	for _, path := range []string{"/", "/app.js"} {
		h := do(h, "GET", path, "", fromBrowser).Header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self';", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if !strings.HasPrefix(h.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		for _, banned := range []string{"unsafe", "http:", "*"} {
			if strings.Contains(h.Get("Content-Security-Policy"), banned) {
				t.Errorf("%s: the policy allows %s", path, banned)
			}
		}
	}
}

func TestDashboardFilesAreSentOnce(t *testing.T) {
	files := fstest.MapFS{"index.html": {Data: []byte("x")}, "app.js": {Data: dashboardFiles["app.js"].Data}}
	h := web.NewServer(&stub{}, web.Options{UI: files}).Handler
	plain := do(h, "GET", "/app.js", "")
	small := do(h, "GET", "/app.js", "", "Accept-Encoding: br, gzip;q=0.8")
	if got := small.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding %q", got)
	}
	if plain.Header.Get("Content-Encoding") != "" || !strings.HasPrefix(plain.Header.Get("ETag"), "W/") {
		t.Errorf("plain: %v, compressed: %v", plain.Header, small.Header)
	}
	if got := unzip(t, bodyOf(t, small)); got != bodyOf(t, plain) {
		t.Errorf("unpacked: %.100q", got)
	}
	if res := do(h, "GET", "/app.js", "", "Accept-Encoding: gzip;q=0"); res.Header.Get("Content-Encoding") != "" {
		t.Error("gzip was refused and came")
	}
	if res := do(h, "GET", "/", "", fromBrowser, "Accept-Encoding: gzip"); res.Header.Get("Content-Encoding") != "" {
		t.Error("one byte was compressed")
	}
	for _, have := range []string{plain.Header.Get("ETag"), small.Header.Get("ETag"), strings.TrimPrefix(plain.Header.Get("ETag"), "W/"), `"other", ` + small.Header.Get("ETag"), "*"} {
		for _, coding := range []string{"gzip", "identity"} {
			res := do(h, "GET", "/app.js", "", "If-None-Match: "+have, "Accept-Encoding: "+coding)
			if res.StatusCode != 304 || bodyOf(t, res) != "" {
				t.Errorf("having %s: %s", have, res.Status)
			}
		}
	}
	files["app.js"] = &fstest.MapFile{Data: []byte("another version")}
	if res := do(web.NewServer(&stub{}, web.Options{UI: files}).Handler, "GET", "/app.js", "", "If-None-Match: "+plain.Header.Get("ETag")); res.StatusCode != 200 {
		t.Errorf("of another version: %s", res.Status)
	}
}

func unzip(t *testing.T, data string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestLongAnswersAreCompressed(t *testing.T) {
	h := web.NewServer(&stub{}, web.Options{}).Handler
	plain := do(h, "GET", "/api/openapi.json", "")
	small := do(h, "GET", "/api/openapi.json", "", "Accept-Encoding: gzip")
	if plain.Header.Get("Content-Encoding") != "" || small.Header.Get("Content-Encoding") != "gzip" || small.Header.Get("Vary") == "" {
		t.Fatalf("plain: %v, compressed: %v", plain.Header, small.Header)
	}
	if body := bodyOf(t, small); unzip(t, body) != bodyOf(t, plain) || len(body) > 60_000 {
		t.Errorf("%d bytes do not unpack to the same", len(body))
	}
	for _, refused := range []string{"gzip;q=0", "br, GZIP ; Q=0.0", "identity", ""} {
		if res := do(h, "GET", "/api/openapi.json", "", "Accept-Encoding: "+refused); res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%q got gzip", refused)
		}
	}
	if res := do(h, "GET", "/healthz", "", "Accept-Encoding: gzip"); res.Header.Get("Content-Encoding") != "" {
		t.Error("a short answer was compressed")
	}
}

// Answers with ranges are not compressed, even if they are text.
func TestPayloadsAreNotCompressed(t *testing.T) {
	e, ts := serveNodePayload(t)
	res, body := ask(t, "GET", ts+"/api/memory/1/data", nil, "Accept-Encoding: gzip")
	if res.Header.Get("Content-Encoding") != "" || !bytes.Equal(body, e) {
		t.Errorf("%v: %d bytes", res.Header, len(body))
	}
	res, body = ask(t, "GET", ts+"/api/memory/1/data", nil, "Accept-Encoding: gzip", "Range: bytes=2-3")
	if res.StatusCode != http.StatusPartialContent || !bytes.Equal(body, e[2:4]) {
		t.Errorf("%s: %q", res.Status, body)
	}
}
