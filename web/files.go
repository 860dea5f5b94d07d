package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/ui"
)

// filesPolicy allows a page to load files of this node only: no inline scripts or
// styles, no other site, no frame around it.
const filesPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; " +
	"frame-ancestors 'none'"

// mediaTypes maps file name extensions to media types. The table of the system is not used,
// because on some machines it has text/plain for scripts.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon",
	".js": "text/javascript; charset=utf-8", ".json": "application/json", ".map": "application/json",
	".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}

type page struct {
	mediaType string
	tag       string // hash of the content
	data      []byte
}

// pages holds the files by their path. Each is read once, when it is first requested.
type pages map[string]func() page

func newPages(files fs.FS, base string) (pages, error) {
	all := pages{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all["/"+name] = sync.OnceValue(func() page { return readPage(files, name, base) })
		}
		return err
	})

	return all, err
}

func readPage(files fs.FS, name, base string) page {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		// The file is a part of the program.
		panic(err)
	}
	if base != "" && path.Ext(name) == ".html" {
		data = withBasePath(data, base)
	}
	sum := sha256.Sum256(data)

	return page{cmp.Or(mediaTypes[path.Ext(name)], "application/octet-stream"), hex.EncodeToString(sum[:16]), data}
}

// withBasePath returns the page with the base path before the paths of its files and in a meta element for its
// scripts.
func withBasePath(html []byte, base string) []byte {
	for _, attribute := range []string{`href="/`, `src="/`} {
		html = bytes.ReplaceAll(html, []byte(attribute), []byte(strings.TrimSuffix(attribute, "/")+base+"/"))
	}

	head := fmt.Appendf(nil, "<head>\n<meta name=\"robotmem-base\" content=\"%s\">", base)

	return bytes.Replace(html, []byte("<head>"), head, 1)
}

// stripBasePath removes the base path from requests that have it.
func (s *server) stripBasePath(next http.Handler) http.Handler {
	base := s.opts.BasePath
	if base == "" {
		return next
	}
	stripped := http.StripPrefix(base, next)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Some proxies keep the base path and others remove it, so a request without it is served too.
		switch {
		case r.URL.Path == base:
			http.Redirect(w, r, base+"/", http.StatusPermanentRedirect)
		case strings.HasPrefix(r.URL.Path, base+"/"):
			stripped.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// dashboard serves the files of the dashboard, and passes all other requests on. The
// app evaluates the path itself, so a browser gets index.html for any path without a
// dot that is not a route of the node.
func (s *server) dashboard(files fs.FS, next http.Handler) http.Handler {
	all, err := newPages(files, s.opts.BasePath)
	if err != nil {
		s.log.Error("reading the dashboard", "err", err)
	}

	own := map[string]bool{}
	for _, route := range s.oauthRoutes() {
		own[route.path] = true
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}

		// A script that asks for a wrong path must not get a page, so only a client that names HTML gets the app.
		if all[name] == nil && opensApp(name) && !own[name] && accepts(r, "text/html") {
			name = "/index.html"
		}
		if all[name] == nil {
			next.ServeHTTP(w, r)
			return
		}

		// The files need no token. One that is sent is checked all the same: its sender believes that it was taken.
		show := http.HandlerFunc(all[name]().serve)
		if _, sent := bearerOf(r); sent || malformed(r) {
			s.authorized(nil, show).ServeHTTP(w, r)
			return
		}
		show(w, r)
	})
}

func opensApp(name string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	return !strings.Contains(name, ".") && !slices.Contains(ownPaths, first)
}

// ownPaths are the first parts of the node's own routes.
var ownPaths = []string{"api", "mcp", "healthz", "readyz", "metrics"}

// serve answers the page, or 304 if the browser has it. File names are the same in
// all versions, so a browser must ask each time.
func (p page) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", p.mediaType)
	// The tag is weak, because the compressed and the plain answer share it.
	h.Set("ETag", `W/"`+p.tag+`"`)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept")
	h.Set("Content-Security-Policy", filesPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.data))
	})).ServeHTTP(w, r)
}

// addReference serves the API reference: Swagger UI, which shows /api/openapi.json. All of its
// files come from the program, so it works without a network.
func (s *server) addReference(e *echo.Echo) {
	files, err := newPages(ui.Reference(), s.opts.BasePath)
	if err != nil {
		s.log.Error("reading the API reference", "err", err)
	}

	for name, read := range files {
		path := "/api/reference" + name
		if name == "/index.html" {
			path = "/api/reference"
		}
		get(e, path, func(c echo.Context) error {
			read().serve(c.Response(), c.Request())
			return nil
		})
	}
}
